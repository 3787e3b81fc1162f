//! Forks, commits and reverts: an engine that was forked knows what one knows that was only told the same.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use apportion_core::allocate::Limits;
use apportion_core::api::object::Object;
use apportion_core::engine::Engine;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::Profile;
use apportion_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What is done to one engine.
#[derive(Clone, Debug)]
enum Told {
    Apply(Value),
    Delete(ObjectRef),
    Run,
}

#[derive(Clone, Debug)]
enum Step {
    Tell(Told),
    /// Asks; what is remembered of it must not show.
    Ask,
    Fork,
    /// Has what the fork was made of take it over.
    Commit,
    Revert,
    /// Goes on with another one.
    Turn(usize),
}

fn reference(kind: &str, namespace: &str, name: String) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name }
}

fn slice(number: u8, node: u8, devices: u8, model: u8) -> Value {
    let devices: Vec<Value> = (0..devices)
        .map(|device| {
            let draws = json!([{ "counterSet": "all", "counters": { "slots": { "value": "1" } } }]);
            json!({ "name": format!("d{device}"), "attributes": { "model": { "string": format!("m{}", (device + model) % 3) } },
                "consumesCounters": if number.is_multiple_of(2) { json!([]) } else { draws } })
        })
        .collect();
    let pool = json!({ "name": format!("p{number}"), "generation": 1, "resourceSliceCount": 1 + number % 2 });
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("s{number}") },
        "spec": { "driver": "d", "nodeName": format!("n{node}"), "pool": pool, "devices": devices } })
}

fn counters(number: u8, node: u8, slots: u8) -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("t{number}") },
        "spec": { "driver": "d", "nodeName": format!("n{node}"),
            "pool": { "name": format!("p{number}"), "generation": 1, "resourceSliceCount": 2 },
            "sharedCounters": [{ "name": "all", "counters": { "slots": { "value": slots.to_string() } } }] } })
}

fn claim(name: &str, model: u8, count: u8, held: Option<(u8, u8)>) -> Value {
    let selector = format!("device.attributes['d'].model == 'm{model}'");
    let mut claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": name, "namespace": "ns", "uid": name },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": {
            "deviceClassName": "c", "count": count, "selectors": [{ "cel": { "expression": selector } }] } }] } } });
    if let Some((pool, device)) = held {
        let result =
            json!({ "request": "r", "driver": "d", "pool": format!("p{pool}"), "device": format!("d{device}") });
        claim["status"] = json!({ "allocation": { "devices": { "results": [result] } } });
    }
    claim
}

fn pod(number: u8) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("pod{number}"), "namespace": "ns", "uid": format!("u{number}") },
        "spec": { "containers": [{ "name": "c" }],
            "resourceClaims": [{ "name": "r", "resourceClaimName": format!("c{number}") }] } })
}

fn told() -> impl Strategy<Value = Told> {
    prop_oneof![
        3 => (0..5u8, 0..3u8, 1..4u8, 0..3u8).prop_map(|(number, node, devices, model)| Told::Apply(slice(number, node, devices, model))),
        2 => (0..5u8, 0..3u8, 1..3u8).prop_map(|(number, node, slots)| Told::Apply(counters(number, node, slots))),
        1 => (0..5u8).prop_map(|number| Told::Delete(reference("ResourceSlice", "", format!("s{number}")))),
        4 => (0..8u8, 0..3u8, 1..3u8, prop::option::of((0..5u8, 0..3u8)))
            .prop_map(|(number, model, count, held)| Told::Apply(claim(&format!("c{number}"), model, count, held))),
        2 => (0..8u8).prop_map(|number| Told::Delete(reference("ResourceClaim", "ns", format!("c{number}")))),
        1 => (0..8u8).prop_map(|number| Told::Apply(pod(number))),
        1 => (0..4u8).prop_map(|node| Told::Apply(
            json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": format!("n{node}") } }))),
        1 => Just(Told::Run),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => told().prop_map(Step::Tell),
        3 => Just(Step::Ask),
        3 => Just(Step::Fork),
        2 => Just(Step::Commit),
        1 => Just(Step::Revert),
        2 => any::<usize>().prop_map(Step::Turn),
    ]
}

/// An engine, with all that was done to it.
#[derive(Clone)]
struct Kept {
    engine: Engine,
    told: Vec<Told>,
    /// How often something was done to it, what was taken back included.
    done: usize,
    /// Of a fork: the number of what it was made of, with what had been done there.
    origin: Option<(usize, Vec<Told>, usize)>,
}

impl Kept {
    fn tell(&mut self, told: &Told) {
        match told {
            Told::Apply(object) => drop(self.engine.apply([object.to_string().as_str()])),
            Told::Delete(object) => drop(self.engine.delete(object)),
            Told::Run => drop(self.engine.run()),
        }
        self.told.push(told.clone());
        self.done += 1;
    }

    /// An engine with the same changes that was never forked.
    fn again(&self) -> Self {
        let mut plain = Self { engine: new(), told: Vec::new(), done: 0, origin: None };
        self.told.iter().for_each(|told| plain.tell(told));
        plain
    }

    fn answers(&mut self) -> [String; 2] {
        let questions: Vec<Value> =
            (0..3).map(|model| json!({ "claims": [claim("asked", model, 1 + model % 2, None)] })).collect();
        [
            wire::allocate(&mut self.engine, &Value::Array(questions.clone()).to_string()).unwrap(),
            wire::fits(&mut self.engine, &Value::Array(questions).to_string()).unwrap(),
        ]
    }

    fn is_like(&self, other: &Self) -> bool {
        let all = |kept: &Self| kept.engine.cluster().objects().iter().map(Object::write).collect::<Vec<_>>();
        let report = |kept: &Self| serde_json::to_value(kept.engine.clone().run()).unwrap();
        all(self) == all(other) && self.clone().answers() == other.clone().answers() && report(self) == report(other)
    }
}

fn new() -> Engine {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    let class =
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "c" }, "spec": {} });
    assert_eq!(engine.apply([class.to_string().as_str()]), [[]]);
    engine
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_fork_is_like_an_engine_that_was_told_the_same(steps in prop::collection::vec(step(), 1..60)) {
        let mut all = vec![Kept { engine: new(), told: Vec::new(), done: 0, origin: None }];
        let mut at = 0;
        for step in steps {
            let kept = &mut all[at];
            match step {
                Step::Tell(told) => kept.tell(&told),
                Step::Ask => drop(kept.answers()),
                Step::Fork => {
                    let origin = Some((at, kept.told.clone(), kept.done));
                    let fork = Kept { engine: kept.engine.fork(), told: kept.told.clone(), done: 0, origin };
                    all.push(fork);
                    at = all.len() - 1;
                }
                Step::Commit => {
                    let Some((origin, _, done)) = kept.origin.clone() else {
                        let engine = kept.engine.clone();
                        prop_assert!(!all[0].engine.clone().commit(&engine));
                        continue;
                    };
                    let fork = kept.clone();
                    let taken = &mut all[origin];
                    let is_same = taken.done == done;
                    let is_taken = taken.engine.commit(&fork.engine);
                    prop_assert!(is_taken || !is_same, "nothing has changed");
                    if is_taken {
                        taken.told = fork.told;
                        taken.done += 1;
                        at = origin;
                    }
                }
                Step::Revert => {
                    prop_assert_eq!(kept.engine.revert(), kept.origin.is_some());
                    if let Some((_, before, _)) = &kept.origin {
                        kept.told = before.clone();
                        kept.done += 1;
                    }
                }
                Step::Turn(turn) => at = turn % all.len(),
            }
        }
        for kept in &all {
            prop_assert!(kept.is_like(&kept.again()), "{:?}", kept.told);
        }
    }
}

#[test]
fn what_is_no_change_hinders_no_commit() {
    let mut engine = new();
    let kept = claim("c1", 0, 1, None).to_string();
    engine.apply([kept.as_str()]);
    let mut fork = engine.fork();
    fork.apply([claim("c2", 0, 1, None).to_string().as_str()]);
    engine.apply([kept.as_str()]);
    assert!(!engine.delete(&reference("Pod", "ns", "none".to_owned())));
    assert!(!fork.commit(&engine), "the other way round");
    let late = engine.fork();
    assert!(engine.commit(&fork));
    assert_eq!(engine.cluster().claims().len(), 2);
    assert!(!engine.commit(&late) && !engine.commit(&fork), "it has changed since");
    let next = fork.fork();
    assert!(engine.commit(&next), "what was made of the fork comes next");
}

#[test]
fn prepared_questions_are_known_to_forks_and_stay_with_reverts() {
    let mut engine = new();
    let question = wire::question(json!({ "claims": [claim("asked", 0, 1, None)], "nodes": ["n0"] })).unwrap();
    let number = engine.prepare(question.clone()).unwrap();
    let mut fork = engine.fork();
    assert!(engine.forget(number) && !engine.forget(number) && engine.prepared(number).is_none());
    let own = fork.prepare(question.clone()).unwrap();
    assert_ne!(own, number);
    assert!(fork.revert());
    assert_eq!(
        (fork.prepared(number).map(|known| &**known), fork.prepared(own).map(|known| &**known)),
        (Some(&question), Some(&question))
    );
    let asked = wire::question_of(&fork, json!({ "prepared": number, "nodes": ["n1"] })).unwrap();
    assert_eq!((asked.nodes, asked.claims), (vec!["n1".to_owned()], question.claims));
}
