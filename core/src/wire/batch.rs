//! Batches: a line with a cluster and what is asked of it in, a line with the answers out. Lines know nothing of each other.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{bad, choice, question, settings, texts, unknown};
use crate::allocate::{Fits, FitsOutcome, Outcome};
use crate::ask::SNAPSHOT_FORMAT;
use crate::engine::{Engine, parse};
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::validate::validate_set;

/// The format of both kinds of lines.
pub const FORMAT: &str = "apportion/batch/v1";

/// Questions by the word that asks them, as they are asked without further fields.
const WORDS: [&str; 6] = ["run", "explain", "usage", "validate", "unmodelled", "snapshot"];

/// One cluster, and what is asked of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    /// [`FORMAT`], or that of a snapshot.
    format: Option<String>,
    /// Carried through.
    #[serde(default)]
    id: Value,
    /// See [`super::settings`]; those of the batch where they are left out.
    settings: Option<Value>,
    /// What is in the cluster.
    objects: Option<Vec<Value>>,
    /// A question or a list of them; those of the batch where they are left out.
    ask: Option<Value>,
    /// What a reader of the objects had to say of them. Carried through, before what is found here.
    #[serde(default)]
    findings: Vec<Value>,
}

/// What holds for lines that do not say it.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Defaults {
    settings: Option<Value>,
    ask: Option<Value>,
    /// What is in every cluster: the configuration of kube-scheduler.
    objects: Vec<Value>,
}

/// An answered line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    format: &'static str,
    index: u64,
    id: Value,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Value>,
}

/// Answers one line, whatever stands in it. `index` is its position in the whole batch, from zero; `defaults` is
/// `{"settings", "ask", "objects"}`; its objects are in every cluster.
///
/// A line is a cluster with questions: `{"format": "apportion/batch/v1", "id", "settings", "objects": [..], "ask"}`, of which only
/// `objects` must be there; or a snapshot with or without an `id`; or a list of the API with `items`. A question is a word (`"explain"`),
/// an inquiry of [`crate::ask`], or one of these kinds:
///
/// | kind | other fields | answer |
/// |---|---|---|
/// | `run` | | a report |
/// | `allocate`, `fits` | those of [`super::question`] | those of [`super::allocate`] and [`super::fits`] |
/// | `validate` | | findings that only show when objects are seen together |
///
/// The answer has the line's `index` and `id`, and a `status`:
///
/// - `answered`: `input` says what became of the objects (`objects` taken in, `leftAside`, `refused`, `findings` of severity error or
///   warning), `answers` has for each question its `ask`, its `answer`, and `satisfied` where it can be answered by yes or no.
/// - `failed`: `findings` says why the line has no answer. An answer beside others may fail alone; it has `findings`, too.
pub fn answer(line: &str, index: u64, defaults: &str) -> Value {
    let value = match parse(line) {
        Ok(value) => value,
        Err(finding) => return failed(index, Value::Null, &[finding]),
    };
    let id = value.get("id").cloned().unwrap_or_default();
    answered(value, index, defaults).unwrap_or_else(|findings| failed(index, id, &findings))
}

/// The answer to a line that a host could not have answered.
pub fn failed(index: u64, id: Value, findings: &[Finding]) -> Value {
    let findings = Some(json!(findings));
    json!(Written { format: FORMAT, index, id, status: "failed", input: None, answers: None, findings })
}

/// The `id` of a line; `null` where there is none.
pub fn id_of(line: &str) -> Value {
    parse(line).ok().and_then(|mut line| line.get_mut("id").map(Value::take)).unwrap_or_default()
}

/// Questions as a host is given them: a word, or JSON.
///
/// # Errors
///
/// A finding for a word that asks nothing, or text that is not JSON.
pub fn asked(text: &str) -> Result<Value, Vec<Finding>> {
    let question = match text.trim_start().starts_with(['{', '[']) {
        true => parse(text).map_err(|finding| vec![finding])?,
        false => json!(text),
    };
    questions(question)
}

fn answered(value: Value, index: u64, defaults: &str) -> Result<Value, Vec<Finding>> {
    let defaults: Defaults =
        parse(defaults).map_err(|finding| vec![finding]).and_then(|value| super::read(value, ""))?;
    let line = line(value)?;
    let (profile, limits) = settings(line.settings.or(defaults.settings).unwrap_or_else(|| json!({})))?;
    let questions = questions(line.ask.or(defaults.ask).unwrap_or_else(|| json!("run")))?;
    let Some(objects) = line.objects else { return Err(bad("objects", "the line has no list `objects`")) };

    let mut engine = Engine::new(profile, limits);
    let mut texts = texts(&objects);
    texts.extend(defaults.objects.iter().map(ToString::to_string));
    let mut found = engine.submit(texts.iter().map(String::as_str));
    found.truncate(objects.len());
    let input = input(&objects, found, line.findings);
    let answers: Vec<Value> = match questions {
        Value::Array(questions) => questions.into_iter().map(|one| put(&engine, &objects, one)).collect(),
        one => vec![put(&engine, &objects, one)],
    };
    let status = if answers.iter().any(|answer| answer.get("answer").is_none()) { "failed" } else { "answered" };
    let (input, answers) = (Some(input), Some(answers));
    Ok(json!(Written { format: FORMAT, index, id: line.id, status, input, answers, findings: None }))
}

/// Reads a line that is JSON.
fn line(mut value: Value) -> Result<Line, Vec<Finding>> {
    let Some(fields) = value.as_object_mut() else {
        return Err(bad("", "a line is an object with a list `objects`, a snapshot or a list of the API"));
    };
    // As `kubectl get -o json` writes it.
    if let Some(Value::Array(objects)) = fields.remove("items") {
        let id = fields.remove("id").unwrap_or_default();
        let (settings, ask) = (fields.remove("settings"), fields.remove("ask"));
        return Ok(Line { format: None, id, settings, objects: Some(objects), ask, findings: Vec::new() });
    }
    let line: Line = super::read(value, "")?;
    choice("format", line.format.as_deref(), [(FORMAT, ()), (SNAPSHOT_FORMAT, ())])?;
    Ok(line)
}

/// Questions with their words written out.
fn questions(value: Value) -> Result<Value, Vec<Finding>> {
    match value {
        Value::String(word) if WORDS.contains(&word.as_str()) => {
            let has_suggestions = word == "explain";
            let mut question = json!({ "kind": word });
            if let (true, Some(fields)) = (has_suggestions, question.as_object_mut()) {
                fields.insert("suggestions".to_owned(), json!(true));
            }
            Ok(question)
        }
        Value::String(word) => Err(vec![unknown("ask", "question", &word, WORDS)]),
        Value::Object(_) => Ok(value),
        Value::Array(all) if !all.is_empty() => all.into_iter().map(questions).collect(),
        _ => Err(bad("ask", "a question is a word, an object with a `kind`, or a list of these")),
    }
}

/// What became of the objects.
fn input(objects: &[Value], found: Vec<Vec<Finding>>, before: Vec<Value>) -> Value {
    let is_error = |findings: &[Finding]| findings.iter().any(|finding| finding.severity == Severity::Error);
    let is_aside = |findings: &[Finding]| findings.iter().any(|finding| finding.code == Code::ReadUnknownKind);
    let refused = found.iter().filter(|findings| is_error(findings)).count();
    let aside = found.iter().filter(|findings| !is_error(findings) && is_aside(findings)).count();
    let taken = objects.len().saturating_sub(refused).saturating_sub(aside);
    let unread = before.iter().filter(|finding| finding.get("severity").is_some_and(|severity| severity == "error"));
    let refused = refused.saturating_add(unread.count());
    let told = objects.iter().zip(found).flat_map(|(object, findings)| {
        let told = findings.into_iter().filter(|finding| finding.severity != Severity::Info);
        told.map(|mut finding| {
            finding.object.get_or_insert_with(|| reference(object));
            json!(finding)
        })
    });
    let findings: Vec<Value> = before.into_iter().chain(told).collect();
    json!({ "objects": taken, "leftAside": aside, "refused": refused, "findings": findings })
}

/// The object as it is written.
fn reference(object: &Value) -> ObjectRef {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    ObjectRef::new(text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
}

/// Asks one question. The cluster stays as it is.
fn put(engine: &Engine, objects: &[Value], ask: Value) -> Value {
    match one(engine, objects, ask.clone()) {
        Ok((answer, Some(satisfied))) => json!({ "ask": ask, "answer": answer, "satisfied": satisfied }),
        Ok((answer, None)) => json!({ "ask": ask, "answer": answer }),
        Err(findings) => json!({ "ask": ask, "findings": findings }),
    }
}

/// The answer, and whether it is a yes where it is one or the other.
fn one(engine: &Engine, objects: &[Value], mut ask: Value) -> Result<(Value, Option<bool>), Vec<Finding>> {
    let kind = ask.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut claims = || {
        if let Some(fields) = ask.as_object_mut() {
            fields.remove("kind");
        }
        question(ask.take())
    };
    Ok(match kind.as_str() {
        "run" => {
            let report = engine.clone().run();
            (json!(report), Some(report.is_satisfied()))
        }
        "allocate" => {
            let answer = engine.clone().allocate(&claims()?);
            (answer.to_json(), Some(matches!(answer.outcome, Outcome::Allocated { .. })))
        }
        "fits" => {
            let fits: Fits = engine.clone().fits(&claims()?);
            let some = matches!(&fits.outcome, FitsOutcome::Known(fits) if fits.contains(&true));
            (fits.to_json(), Some(some))
        }
        "validate" => {
            let found = validate_set(objects, engine.cluster().profile());
            let findings: Vec<Finding> = found.into_iter().flatten().collect();
            let is_valid = findings.iter().all(|finding| finding.severity != Severity::Error);
            (json!(findings), Some(is_valid))
        }
        _ => {
            let answer = engine.inquire(ask)?;
            let satisfied = match kind.as_str() {
                "explain" => answer.as_array().map(|all| all.iter().all(is_served)),
                "fit" => answer.pointer("/total/atMost").map(|most| *most != 0),
                _ => None,
            };
            (answer, satisfied)
        }
    })
}

/// Whether what is explained has what it wants.
fn is_served(explanation: &Value) -> bool {
    let state = explanation.get("state").and_then(Value::as_str);
    matches!(state, Some("placed" | "fits"))
}
