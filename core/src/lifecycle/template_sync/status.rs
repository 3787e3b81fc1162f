//! What a source's status says about its copies: numbers, conditions, and the first failures.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::source::{Source, sources};
use super::{Reason, Settings, State, hash, state_of};
use crate::api::object::Object;
use crate::api::source::TemplateSource;
use crate::cluster::{Cluster, Key};
use crate::lifecycle::{Action, Decision, Time};

/// Most failing namespaces that a status names.
const MOST_FAILURES: usize = 50;

/// Longest message of a failure, in characters.
const MOST_TEXT: usize = 256;

/// What the API server answered to a write about one copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// The server's words.
    pub message: String,
}

/// How the copies of a source stand, in numbers.
#[derive(Default)]
struct Counts {
    matched: u64,
    current: u64,
    updating: u64,
    conflicting: u64,
    refused: u64,
}

struct Failure {
    namespace: String,
    reason: Reason,
    message: String,
}

/// Writes the status of a ClusterResourceClaimTemplate of `apportion.dev`, where it would say something else than it does.
///
/// `refusals` are the latest answers of the API server that were refusals, by namespace and name of the copy.
pub fn status(
    cluster: &Cluster,
    settings: &Settings,
    refusals: &BTreeMap<Key, Refusal>,
    name: &str,
    now: Time,
) -> Decision {
    let Some(object) = cluster.template_sources().get(name) else { return Decision::none() };
    let own = sources(cluster, &settings.home).find(|source| source.metadata.uid == object.metadata.uid);
    let Some(own) = own.filter(|own| !own.metadata.is_deleting()) else { return Decision::none() };
    let rivals: Vec<Source<'_>> =
        sources(cluster, &settings.home).filter(|other| other.target() == own.target()).collect();
    let (mut counts, mut failures) = (Counts::default(), Vec::new());
    for namespace in cluster.namespaces().keys() {
        let state = state_of(cluster, settings, own, &rivals, namespace);
        let refusal = refusals.get(&(namespace.clone(), own.target().to_owned()));
        count(&mut counts, &mut failures, namespace, state, refusal);
    }
    let new = written(object, own, &counts, &failures, now);
    if object.status.as_ref() == Some(&new) {
        return Decision::none();
    }
    let mut changed = object.clone();
    changed.status = Some(new);
    Decision::of(vec![Action::UpdateStatus(Box::new(Object::TemplateSource(Box::new(changed))))])
}

fn count(counts: &mut Counts, failures: &mut Vec<Failure>, namespace: &str, state: State, refusal: Option<&Refusal>) {
    let add = |number: &mut u64| *number = number.saturating_add(1);
    let mut fail = |reason: Reason, message: String| {
        failures.push(Failure { namespace: namespace.to_owned(), reason, message });
    };
    if state != State::NotWanted {
        add(&mut counts.matched);
    }
    match (state, refusal) {
        (State::NotWanted, _) => {}
        (State::Current, _) => add(&mut counts.current),
        (State::Conflict, _) => {
            add(&mut counts.conflicting);
            fail(Reason::Conflict, "a ResourceClaimTemplate of that name belongs to somebody else".to_owned());
        }
        (State::Superseded { by }, _) => {
            add(&mut counts.conflicting);
            fail(Reason::Superseded, format!("{by} is older and has the same target"));
        }
        (State::Refused { reason, message }, _) => {
            add(&mut counts.refused);
            fail(reason, message);
        }
        (State::Changing | State::Replacing { .. }, Some(refusal)) => {
            add(&mut counts.refused);
            fail(refusal.reason, refusal.message.clone());
        }
        (State::Changing | State::Replacing { .. } | State::Outdated, _) => add(&mut counts.updating),
    }
}

fn written(object: &TemplateSource, own: Source<'_>, counts: &Counts, failures: &[Failure], now: Time) -> Value {
    let generation = object.metadata.rest.get("generation").cloned().unwrap_or_else(|| json!(0));
    let mut status = Map::new();
    let mut put = |name: &str, value: Value| drop(status.insert(name.to_owned(), value));
    put("observedGeneration", generation.clone());
    if let Some(spec) = own.spec {
        put("templateHash", json!(hash(spec)));
    }
    put("matched", json!(counts.matched));
    put("current", json!(counts.current));
    put("updating", json!(counts.updating));
    put("conflicting", json!(counts.conflicting));
    put("refused", json!(counts.refused));
    if !failures.is_empty() {
        put("failing", json!(failures.len()));
        let shown = failures.iter().take(MOST_FAILURES).map(|failure| {
            let message: String = failure.message.chars().take(MOST_TEXT).collect();
            json!({ "namespace": failure.namespace, "reason": failure.reason.text(), "message": message })
        });
        put("failures", shown.collect());
    }
    let old = object.status.as_ref().and_then(|status| status.get("conditions")).and_then(Value::as_array);
    let conditions = conditions(counts, failures, own.is_paused());
    let conditions = conditions.into_iter().map(|(kind, holds, reason, message)| {
        let holds = if holds { "True" } else { "False" };
        let before = old.into_iter().flatten().find(|one| one.get("type").is_some_and(|text| text == kind));
        let before = before.filter(|one| one.get("status").is_some_and(|text| text == holds));
        let since = before.and_then(|one| one.get("lastTransitionTime")).cloned();
        json!({
            "type": kind, "status": holds, "reason": reason, "message": message, "observedGeneration": generation,
            "lastTransitionTime": since.unwrap_or_else(|| json!(now.to_string())),
        })
    });
    put("conditions", conditions.collect());
    Value::Object(status)
}

/// Type, whether it holds, reason, message.
fn conditions(
    counts: &Counts,
    failures: &[Failure],
    is_paused: bool,
) -> [(&'static str, bool, &'static str, String); 5] {
    let in_numbers = format!("{} of {} namespaces have the current copy", counts.current, counts.matched);
    let first = failures.iter().find(|failure| !matches!(failure.reason, Reason::Conflict | Reason::Superseded));
    let (degraded, why) = match first {
        Some(failure) => (failure.reason.text(), format!("{}: {}", failure.namespace, failure.message)),
        None => ("AsExpected", String::new()),
    };
    let why: String = why.chars().take(MOST_TEXT).collect();
    let is_ready = counts.matched > 0 && counts.current == counts.matched;
    let ready = match counts.matched {
        0 => "NoMatchingNamespaces",
        _ if is_ready => "Synchronized",
        _ if is_paused => "Paused",
        _ => "NotSynchronized",
    };
    let is_progressing = counts.updating > 0 && !is_paused;
    let progress = if is_progressing { "Updating" } else { "AsExpected" };
    let has_conflicts = counts.conflicting > 0;
    let conflicts = if has_conflicts { "NamesTaken" } else { "AsExpected" };
    let conflict_text = format!("{} namespaces have another template of that name", counts.conflicting);
    let is_nowhere = counts.matched == 0;
    let nowhere = if is_nowhere { "NothingSelected" } else { "AsExpected" };
    [
        ("Ready", is_ready, ready, in_numbers),
        ("Progressing", is_progressing, progress, String::new()),
        ("Degraded", counts.refused > 0, degraded, why),
        ("Conflicts", has_conflicts, conflicts, if has_conflicts { conflict_text } else { String::new() }),
        ("NoMatchingNamespaces", is_nowhere, nowhere, String::new()),
    ]
}
