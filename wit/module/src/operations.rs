//! The operations by number. Numbers are never given again; new ones are added at the end.
//!
//! | number | operation | handle | argument | answer |
//! |---|---|---|---|---|
//! | 0 | new cluster | none | settings | `{"handle": H}` |
//! | 1 | close | cluster or simulation | nothing | `true` |
//! | 2 | apply | cluster | objects, each JSON text behind a record separator (RFC 7464) | a list of findings per object |
//! | 3 | submit | cluster | as for apply | as for apply |
//! | 4 | delete | cluster | `{"kind", "namespace", "name"}` | whether there was one |
//! | 5 | get | cluster | as for delete | the object or `null` |
//! | 6 | allocate | cluster | a question, or a list of them | an answer, or a list of them |
//! | 7 | fits | cluster | as for allocate | as `Fits::to_json`, or a list of them |
//! | 8 | inquire | cluster | an inquiry | `{"answer": ..}` or `{"findings": [..]}` |
//! | 9 | run | cluster | nothing | a report |
//! | 10 | fork | cluster | nothing | `{"handle": H}` |
//! | 11 | evaluate | none | a question about a selector | its answer |
//! | 12 | validate | none | a question about manifests | its answer |
//! | 13 | new simulation | none | `{"settings", "nowMillis"}` | `{"handle": H}` |
//! | 14 | simulate | simulation | `{"call", "argument"}` | the call's answer |
//! | 15 | read | none | a text of YAML or JSON documents | `{"objects": [..], "findings": [..]}` |
//! | 16 | answer | none | index, defaults and line of a batch, each behind a record separator | the answer to the line |
//! | 17 | commit | cluster | `{"fork": F}`, the handle of a fork | whether it was taken over; if so, the fork is closed |
//! | 18 | revert | fork | nothing | whether it is a fork, and is now as it was made |
//! | 19 | prepare | cluster | a question | `{"prepared": P}`, which stands for the question in allocate and fits, with `nodes` and `inUse` where they are others |
//! | 20 | forget | cluster | `{"prepared": P}` | whether there was one |
//! | 21 | allocate known | cluster | a question about claims that are in the cluster | an answer |
//! | 22 | allocate each | cluster | as for allocate known | a list of answers, one per claim until one finds no place |
//!
//! What cannot be read, a handle of nothing and an argument in no buffer included, is answered with `{"status": "unreadable", "findings": [..]}`.

use std::collections::BTreeMap;

use apportion_core::control_plane::Simulation;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::evaluate::evaluate;
use apportion_core::finding::{Code, Finding, ObjectRef};
use apportion_core::wire;
use serde_json::{Value, json};

use crate::manifests;

/// Clusters and simulations by handle.
#[derive(Default)]
pub(crate) struct Held {
    clusters: BTreeMap<u32, Engine>,
    simulations: BTreeMap<u32, Simulation>,
    last: u32,
}

impl Held {
    /// A handle that was never given.
    fn next(&mut self) -> Result<u32, Vec<Finding>> {
        self.last = self.last.checked_add(1).ok_or_else(|| bad("handle", "all handles were given"))?;
        Ok(self.last)
    }

    fn keep(&mut self, engine: Engine) -> Result<Value, Vec<Finding>> {
        let handle = self.next()?;
        self.clusters.insert(handle, engine);
        Ok(json!({ "handle": handle }))
    }

    fn cluster(&mut self, handle: u32) -> Result<&mut Engine, Vec<Finding>> {
        self.clusters.get_mut(&handle).ok_or_else(|| bad("handle", "the handle is that of no cluster"))
    }

    /// Has a cluster take over the facts of a fork, which is closed by it.
    fn commit(&mut self, handle: u32, asked: &Value) -> Result<bool, Vec<Finding>> {
        let fork = asked.get("fork").and_then(Value::as_u64).and_then(|fork| u32::try_from(fork).ok());
        let fork = fork.filter(|fork| *fork != handle && self.clusters.contains_key(fork));
        let fork = fork.ok_or_else(|| bad("fork", "the handle is that of no other cluster"))?;
        self.cluster(handle)?;
        let Some(taken) = self.clusters.remove(&fork) else {
            return Ok(false);
        };
        let is_taken = self.cluster(handle)?.commit(&taken);
        if !is_taken {
            self.clusters.insert(fork, taken);
        }
        Ok(is_taken)
    }
}

/// Makes one call; the answer is a JSON text.
pub(crate) fn call(held: &mut Held, op: u32, handle: u32, argument: Option<Vec<u8>>) -> String {
    argument
        .ok_or_else(|| bad("", "the argument is longer than its buffer, or in none"))
        .and_then(|argument| answer(held, op, handle, argument))
        .unwrap_or_else(|findings| json!({ "status": "unreadable", "findings": findings }).to_string())
}

fn answer(held: &mut Held, op: u32, handle: u32, argument: Vec<u8>) -> Result<String, Vec<Finding>> {
    let text = String::from_utf8(argument).map_err(|_| bad("", "the argument is not UTF-8"))?;
    let value = match op {
        0 => {
            let (profile, limits) = wire::settings(parse(&text)?)?;
            held.keep(Engine::new(profile, limits))?
        }
        1 => json!(held.clusters.remove(&handle).is_some() | held.simulations.remove(&handle).is_some()),
        2 => json!(held.cluster(handle)?.apply(records(&text))),
        3 => json!(held.cluster(handle)?.submit(records(&text))),
        4 => json!(held.cluster(handle)?.delete(&reference(&text)?)),
        5 => json!(held.cluster(handle)?.get(&reference(&text)?)),
        6 => return wire::allocate(held.cluster(handle)?, &text),
        7 => return wire::fits(held.cluster(handle)?, &text),
        8 => match held.cluster(handle)?.inquire(parse(&text)?) {
            Ok(answer) => json!({ "answer": answer }),
            Err(findings) => json!({ "findings": findings }),
        },
        9 => json!(held.cluster(handle)?.run()),
        10 => {
            let fork = held.cluster(handle)?.fork();
            held.keep(fork)?
        }
        11 => {
            let question = wire::selector(parse(&text)?)?;
            evaluate(&question.expression, &question.device, &question.environment).to_json()
        }
        12 => wire::validation(parse(&text)?)?.answer(),
        13 => {
            let mut asked = parse(&text)?;
            let settings = asked.get_mut("settings").map_or_else(|| json!({}), Value::take);
            let now = asked.get("nowMillis").and_then(Value::as_i64).unwrap_or_default();
            let simulation = wire::simulation::create(settings, Time::from_millis(now))?;
            let handle = held.next()?;
            held.simulations.insert(handle, simulation);
            json!({ "handle": handle })
        }
        14 => {
            let simulation = held.simulations.get_mut(&handle);
            let simulation = simulation.ok_or_else(|| bad("handle", "the handle is that of no simulation"))?;
            let mut asked = parse(&text)?;
            let argument = asked.get_mut("argument").map_or(Value::Null, Value::take);
            let Some(name) = asked.get("call").and_then(Value::as_str) else {
                return Err(bad("call", "there is no `call`"));
            };
            let Ok(answer) = wire::simulation::call(simulation, name, argument);
            answer
        }
        15 => manifests::reading(&text),
        16 => {
            // The line comes last, whatever is in it.
            let mut parts = text.splitn(4, '\u{1e}').skip(1);
            let mut part = || parts.next().ok_or_else(|| bad("", "index, defaults and line are needed"));
            let index = part()?.parse().map_err(|_| bad("index", "the index is no number"))?;
            let (defaults, line) = (part()?, part()?);
            wire::batch::answer(line, index, defaults)
        }
        17 => json!(held.commit(handle, &parse(&text)?)?),
        18 => json!(held.cluster(handle)?.revert()),
        19 => wire::prepare(held.cluster(handle)?, parse(&text)?)?,
        20 => wire::forget(held.cluster(handle)?, parse(&text)?)?,
        21 => return wire::allocate_known(held.cluster(handle)?, &text),
        22 => return wire::allocate_each(held.cluster(handle)?, &text),
        _ => return Err(bad("op", "there is no such operation")),
    };
    Ok(value.to_string())
}

/// Each text stands behind a record separator.
fn records(text: &str) -> impl Iterator<Item = &str> {
    text.split('\u{1e}').skip(1)
}

fn reference(text: &str) -> Result<ObjectRef, Vec<Finding>> {
    serde_json::from_str(text).map_err(|error| bad("", &error.to_string()))
}

fn parse(text: &str) -> Result<Value, Vec<Finding>> {
    serde_json::from_str(text)
        .map_err(|error| vec![Finding::new(Code::ReadBadJson, "", format!("not valid JSON: {error}"))])
}

fn bad(path: &str, message: &str) -> Vec<Finding> {
    vec![Finding::new(Code::ReadBadSettings, path, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: &str = r#"{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"}}"#;

    fn ask(held: &mut Held, op: u32, handle: u32, argument: &str) -> String {
        call(held, op, handle, Some(argument.as_bytes().to_vec()))
    }

    #[test]
    fn a_fork_does_not_change_what_it_was_made_of() {
        let mut held = Held::default();
        assert_eq!(ask(&mut held, 0, 0, "{}"), r#"{"handle":1}"#);
        let findings = ask(&mut held, 2, 1, &format!("\u{1e}{CLASS}\u{1e}garbage"));
        assert!(findings.starts_with(r#"[[],[{"code":"read/bad-json""#), "{findings}");
        assert_eq!(ask(&mut held, 10, 1, ""), r#"{"handle":2}"#);
        let class = r#"{"kind":"DeviceClass","namespace":"","name":"c"}"#;
        assert_eq!(ask(&mut held, 4, 2, class), "true");
        assert_eq!(ask(&mut held, 5, 2, class), "null");
        assert!(ask(&mut held, 5, 1, class).contains(r#""name":"c""#));
        assert_eq!(ask(&mut held, 1, 2, ""), "true");
        assert_eq!(ask(&mut held, 1, 2, ""), "false");
        assert!(ask(&mut held, 9, 2, "").contains("that of no cluster"));
    }

    #[test]
    fn a_fork_is_committed_or_goes_back() {
        let mut held = Held::default();
        ask(&mut held, 0, 0, "{}");
        assert_eq!(ask(&mut held, 18, 1, ""), "false");
        assert_eq!(ask(&mut held, 10, 1, ""), r#"{"handle":2}"#);
        let (class, reference) = (format!("\u{1e}{CLASS}"), r#"{"kind":"DeviceClass","namespace":"","name":"c"}"#);
        ask(&mut held, 2, 2, &class);
        assert_eq!(ask(&mut held, 18, 2, ""), "true");
        assert_eq!(ask(&mut held, 5, 2, reference), "null");
        ask(&mut held, 2, 2, &class);
        assert!(ask(&mut held, 17, 1, r#"{"fork":1}"#).contains("no other cluster"));
        assert_eq!(ask(&mut held, 10, 1, ""), r#"{"handle":3}"#);
        assert_eq!(ask(&mut held, 17, 1, r#"{"fork":2}"#), "true");
        assert_eq!(ask(&mut held, 17, 1, r#"{"fork":3}"#), "false", "it has changed since that fork was made");
        assert!(ask(&mut held, 17, 1, r#"{"fork":2}"#).contains("no other cluster"));
        assert!(ask(&mut held, 5, 1, reference).contains(r#""name":"c""#));
    }

    #[test]
    fn a_prepared_question_is_asked_often() {
        let mut held = Held::default();
        ask(&mut held, 0, 0, "{}");
        assert_eq!(ask(&mut held, 19, 1, r#"{"claims":[],"nodes":["a"]}"#), r#"{"prepared":1}"#);
        let fork = r#"[{"prepared":1},{"prepared":1,"nodes":["a","b"]},{"prepared":2},{"prepared":1,"claims":[]}]"#;
        ask(&mut held, 10, 1, "");
        assert_eq!(ask(&mut held, 20, 1, r#"{"prepared":1}"#), "true");
        assert_eq!(ask(&mut held, 20, 1, r#"{"prepared":1}"#), "false");
        let answers: Value = serde_json::from_str(&ask(&mut held, 7, 2, fork)).unwrap();
        assert_eq!((&answers[0]["bits"], &answers[1]["bits"]), (&json!("1"), &json!("11")));
        assert_eq!((&answers[2]["status"], &answers[3]["status"]), (&json!("unreadable"), &json!("unreadable")));
        assert_eq!(
            serde_json::from_str::<Value>(&ask(&mut held, 6, 1, r#"{"prepared":1}"#)).unwrap()["status"],
            "unreadable"
        );
    }

    #[test]
    fn claims_of_the_cluster_are_allocated_one_after_another() {
        let mut held = Held::default();
        ask(&mut held, 0, 0, "{}");
        let [node, slice] = [
            r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}"#,
            r#"{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"n"},"spec":{"driver":"d","nodeName":"n",
                "pool":{"name":"n","generation":1,"resourceSliceCount":1},"devices":[{"name":"0"},{"name":"1"}]}}"#,
        ];
        let claims = ["a", "b", "c"].map(|name| {
            format!(
                r#"{{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":"{name}"}},
                "spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"c"}}}}]}}}}}}"#
            )
        });
        let objects = [CLASS, node, slice].into_iter().chain(claims.iter().map(String::as_str));
        let objects: String = objects.map(|text| format!("\u{1e}{text}")).collect();
        assert_eq!(ask(&mut held, 2, 1, &objects), "[[],[],[],[],[],[]]");
        let statuses = |answers: &str| -> Vec<String> {
            let answers: Vec<Value> = serde_json::from_str(answers).unwrap();
            answers.iter().map(|answer| answer["status"].as_str().unwrap().to_owned()).collect()
        };
        let question = |names: &str, take| format!(r#"{{"claims":[{{"names":[{names}]}}],"take":{take}}}"#);
        // Nothing is taken unless that is asked for.
        for _ in 0..2 {
            let answers = ask(&mut held, 22, 1, &question(r#""a","b","c""#, false));
            assert_eq!(statuses(&answers), ["allocated", "allocated", "allocated"]);
        }
        let together = ask(&mut held, 21, 1, &question(r#""a","b","c""#, true));
        assert!(together.contains(r#""status":"none""#), "{together}");
        let answers = ask(&mut held, 22, 1, &question(r#""a","b","c""#, true));
        assert_eq!(statuses(&answers), ["allocated", "allocated", "none"]);
        let claim = ask(&mut held, 5, 1, r#"{"kind":"ResourceClaim","namespace":"","name":"b"}"#);
        assert!(claim.contains(r#""device":"1""#), "{claim}");
        let unknown = ask(&mut held, 22, 1, &question(r#""a","z""#, true));
        assert!(unknown.contains("there is no claim `z` in namespace `default`"), "{unknown}");
        assert!(ask(&mut held, 21, 1, r#"{"claims":[{"name":"a"}]}"#).contains("unknown field"));
        assert!(ask(&mut held, 22, 1, "{").contains("read/bad-json"));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let mut held = Held::default();
        for (op, argument, code) in [
            (0, "{", "read/bad-json"),
            (0, r#"{"version":"x"}"#, "read/bad-settings"),
            (6, "{}", "read/bad-settings"),
            (14, "{}", "read/bad-settings"),
            (99, "", "read/bad-settings"),
        ] {
            let answer = ask(&mut held, op, 7, argument);
            assert!(answer.contains(r#""status":"unreadable""#) && answer.contains(code), "{op} {argument}: {answer}");
        }
        for (argument, words) in [(Some(vec![0xff]), "not UTF-8"), (None, "longer than its buffer")] {
            let answer = call(&mut held, 0, 0, argument);
            assert!(answer.contains(words), "{answer}");
        }
    }

    #[test]
    fn a_text_is_read_as_kubectl_reads_it() {
        let mut held = Held::default();
        let text = "kind: Pod\nmetadata: { name: yes }\n---\nkind: [\n---\nkind: Node\ncount: .inf\n---\nkind: Node\n";
        let answer: Value = serde_json::from_str(&ask(&mut held, 15, 0, text)).unwrap();
        assert_eq!(answer["objects"], json!([{"kind": "Pod", "metadata": {"name": true}}, {"kind": "Node"}]));
        let codes: Vec<_> = answer["findings"].as_array().unwrap().iter().map(|one| one["code"].clone()).collect();
        assert_eq!(codes, ["yaml/surprising-scalar", "yaml/syntax", "yaml/not-in-json"]);
        assert_eq!((&answer["findings"][0]["line"], &answer["findings"][0]["column"]), (&json!(2), &json!(19)));
    }

    #[test]
    fn a_line_of_a_batch_is_answered_whatever_is_in_it() {
        let mut held = Held::default();
        let answer = ask(&mut held, 16, 0, "\u{1e}3\u{1e}{}\u{1e}{\"id\":\"a\",\"objects\":[]}");
        assert!(answer.contains(r#""index":3"#) && answer.contains(r#""status":"answered""#), "{answer}");
        let answer = ask(&mut held, 16, 0, "\u{1e}3\u{1e}{}\u{1e}\u{1e}\u{1e}");
        assert!(answer.contains("read/bad-json") && answer.contains(r#""status":"failed""#), "{answer}");
        assert!(ask(&mut held, 16, 0, "\u{1e}3").contains(r#""status":"unreadable""#));
    }

    #[test]
    fn a_list_of_questions_has_a_list_of_answers() {
        let mut held = Held::default();
        ask(&mut held, 0, 0, "{}");
        let answers = ask(&mut held, 7, 1, r#"[{"claims":[],"nodes":["a","b"]},{"claims":[{}]}]"#);
        assert!(answers.starts_with(r#"[{"bits":"11","status":"known","steps":"#), "{answers}");
        assert!(answers.contains(r#""status":"unreadable""#), "{answers}");
    }
}
