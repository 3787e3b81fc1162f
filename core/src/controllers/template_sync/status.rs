//! What a source's status says about its copies: numbers, conditions, and the first failures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::brake::{LEAST, SHARE};
use super::desired::hash;
use super::source::Source;
use super::standing::Standing;
use super::{Memory, Reason, State};
use crate::api::condition::{condition, conditions, text};
use crate::api::object::Object;
use crate::api::source::TemplateSource;
use crate::cluster::Cluster;
use crate::decision::{Action, Decision, Time};
use crate::gather::Gather;

/// Most namespaces of one sort that a status names.
const MOST_NAMED: usize = 50;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "CopyCounts"))]
pub struct Counts {
    /// Namespaces that are selected.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub matched: u64,
    /// Those that have the current copy.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub current: u64,
    /// Those whose copy is being made, or is to stay as it was.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub updating: u64,
    /// Those that have another template of that name.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub conflicting: u64,
    /// Those in which no copy can be made.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    pub refused: u64,
}

impl Counts {
    /// Counts a namespace in. Only what is to be done can have been refused.
    pub(super) fn add(&mut self, state: &State, is_refused: bool) {
        let number = match state {
            State::NotWanted => return,
            State::Current => &mut self.current,
            State::Conflict | State::Superseded { .. } => &mut self.conflicting,
            State::Refused { .. } => &mut self.refused,
            State::Changing | State::Replacing { .. } if is_refused => &mut self.refused,
            State::Changing | State::Replacing { .. } | State::Outdated => &mut self.updating,
        };
        *number = number.saturating_add(1);
        self.matched = self.matched.saturating_add(1);
    }

    /// Whether at least one namespace is selected and all of them have the current copy.
    pub(super) const fn is_ready(&self) -> bool {
        self.matched > 0 && self.current == self.matched
    }
}

/// Writes the status of a ClusterResourceClaimTemplate of `apportion.dev`, where it would say something else than it does.
pub(super) fn status(cluster: &Cluster, memory: &Memory, name: &str, now: Time) -> Decision {
    let Memory { settings, refusals, .. } = memory;
    let Some(object) = cluster.template_sources().get(name) else { return Decision::none() };
    let own = Source::custom(object, cluster, &settings.home);
    if own.metadata.is_deleting() {
        return Decision::none();
    }
    let standing = Standing::of(cluster, settings, own);
    let mut told = Told {
        missing_classes: standing.missing_classes(),
        skipped: standing.skipped(),
        flaw: own.flaw(settings),
        kept: cluster.templates().values().filter(|template| standing.has(template)).count(),
        held: memory.held(&own.metadata.uid),
        ..Told::default()
    };
    for namespace in cluster.namespaces().keys() {
        let state = standing.in_namespace(namespace);
        let refusal = match state {
            State::Changing | State::Replacing { .. } => refusals.get(&(namespace.clone(), own.target().to_owned())),
            _ => None,
        };
        told.add(namespace, &state, refusal);
    }
    let new = told.written(object, own, now);
    if object.status.as_ref() == Some(&new) {
        return Decision::none();
    }
    let mut changed = object.clone();
    changed.status = Some(new);
    Decision::of(vec![Action::UpdateStatus(Box::new(Object::TemplateSource(Arc::new(changed))))])
}

/// What the API server had refused when the status was written, by namespace.
pub(super) fn recorded_refusals(own: Source<'_>) -> BTreeMap<&str, Refusal> {
    let listed = own.status().and_then(|status| status.get("failures")).and_then(Value::as_array);
    let refusal = |one| {
        let reason = Reason::of_text(text(one, "reason")).filter(|reason| reason.is_by_server())?;
        Some((text(one, "namespace"), Refusal { reason, message: text(one, "message").to_owned() }))
    };
    listed.into_iter().flatten().filter_map(refusal).gather()
}

impl State {
    /// Why the namespace has no copy, where somebody has to do something about it.
    pub(super) fn failure(&self) -> Option<Refusal> {
        match self {
            Self::Conflict => {
                let message = "a ResourceClaimTemplate of that name belongs to somebody else".to_owned();
                Some(Refusal { reason: Reason::Conflict, message })
            }
            Self::Superseded { by } => {
                let message = format!("{by} is older and has the same target");
                Some(Refusal { reason: Reason::Superseded, message })
            }
            Self::Refused { reason, message } => Some(Refusal { reason: *reason, message: message.clone() }),
            Self::NotWanted | Self::Current | Self::Changing | Self::Replacing { .. } | Self::Outdated => None,
        }
    }
}

/// What a status is made of.
#[derive(Default)]
struct Told<'s> {
    counts: Counts,
    /// By namespace.
    failures: Vec<(String, Refusal)>,
    missing_classes: BTreeSet<&'s str>,
    skipped: Vec<&'s str>,
    /// Why the source is not understood.
    flaw: Option<&'s String>,
    /// Copies that it has.
    kept: usize,
    /// Copies that are to be deleted and wait.
    held: usize,
}

impl Told<'_> {
    fn add(&mut self, namespace: &str, state: &State, refusal: Option<&Refusal>) {
        self.counts.add(state, refusal.is_some());
        let failure = state.failure().or_else(|| refusal.cloned());
        self.failures.extend(failure.map(|failure| (namespace.to_owned(), failure)));
    }

    fn written(&self, object: &TemplateSource, own: Source<'_>, now: Time) -> Value {
        let Self { counts, failures, skipped, held, flaw, .. } = self;
        let generation = object.metadata.rest.get("generation").cloned().unwrap_or_else(|| json!(0));
        let mut status = json!(counts).as_object().cloned().unwrap_or_default();
        let mut put = |name: &str, value: Value| drop(status.insert(name.to_owned(), value));
        put("observedGeneration", generation.clone());
        if let Some(spec) = own.spec.filter(|_| flaw.is_none()) {
            put("templateHash", json!(hash(spec)));
        }
        if *held > 0 {
            put("held", json!(held));
        }
        if !skipped.is_empty() {
            put("skipped", json!(skipped.iter().take(MOST_NAMED).collect::<Vec<_>>()));
        }
        if !failures.is_empty() {
            put("failing", json!(failures.len()));
            let shown = failures.iter().take(MOST_NAMED).map(|(namespace, failure)| {
                let (reason, message) = (failure.reason.text(), shortened(&failure.message));
                json!({ "namespace": namespace, "reason": reason, "message": message })
            });
            put("failures", shown.collect());
        }
        let old = object.status.as_ref().map(conditions).unwrap_or_default();
        let conditions = self.conditions(own.is_paused());
        let conditions = conditions.into_iter().map(|(kind, holds, reason, message)| {
            let holds = if holds { "True" } else { "False" };
            let before = condition(old, kind).filter(|one| text(one, "status") == holds);
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
    fn conditions(&self, is_paused: bool) -> [(&'static str, bool, &'static str, String); 7] {
        let Self { counts, failures, missing_classes, skipped, flaw, kept, held } = self;
        let in_numbers = format!("{} of {} namespaces have the current copy", counts.current, counts.matched);
        let left_out = match skipped.as_slice() {
            [] => String::new(),
            names => format!("; only `names` selects system namespaces: skipped {}", names.join(", ")),
        };
        let mut others = failures.iter();
        let first = others.find(|(_, failure)| !matches!(failure.reason, Reason::Conflict | Reason::Superseded));
        let stays = |flaw: &str| format!("{flaw}; {kept} copies stay as they are");
        let (degraded, why) = match first {
            _ if let Some(flaw) = flaw => (Reason::Invalid.text(), stays(flaw)),
            Some((namespace, failure)) => (failure.reason.text(), format!("{namespace}: {}", failure.message)),
            None => ("AsExpected", String::new()),
        };
        let is_ready = counts.is_ready();
        let ready = match counts.matched {
            0 => "NoMatchingNamespaces",
            _ if flaw.is_some() => Reason::Invalid.text(),
            _ if is_ready => "Synchronized",
            _ if is_paused => "Paused",
            _ => "NotSynchronized",
        };
        let unless_quiet = |kind, holds, reason, message: String| match holds {
            true => (kind, true, reason, message),
            false => (kind, false, "AsExpected", String::new()),
        };
        let waiting = format!(
            "{held} copies wait to be deleted: {LEAST} or one of {SHARE} of all copies go in a minute, unless their source is changed or deleted"
        );
        let taken = format!("{} namespaces have another template of that name", counts.conflicting);
        let names: Vec<String> = missing_classes.iter().map(|name| format!("`{name}`")).collect();
        let missing = shortened(&format!("there is no DeviceClass {}", names.join(", ")));
        [
            ("Ready", is_ready, ready, shortened(&format!("{in_numbers}{left_out}"))),
            unless_quiet("Progressing", counts.updating > 0 && !is_paused, "Updating", String::new()),
            ("Degraded", counts.refused > 0 || flaw.is_some(), degraded, shortened(&why)),
            unless_quiet("Conflicts", counts.conflicting > 0, "NamesTaken", taken),
            unless_quiet("NoMatchingNamespaces", counts.matched == 0, "NothingSelected", String::new()),
            unless_quiet("DeletionsHeld", *held > 0, "TooManyAtOnce", waiting),
            unless_quiet("ClassMissing", !names.is_empty(), "NotFound", missing),
        ]
    }
}

/// As much of a text as a status holds.
fn shortened(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}
