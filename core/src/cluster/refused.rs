//! What is known of objects that are not among the facts: refused, written with fields that were dropped, or not given.

use serde_json::Value;

use super::Cluster;
use crate::api::unknown_kind::meant_object;
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::gather::Gather;

impl Cluster {
    /// Remembers of which kinds a dump holds nothing.
    pub(crate) fn note_not_given(&mut self, kinds: impl IntoIterator<Item = &'static str>) {
        self.not_given = kinds.into_iter().gather();
    }

    /// Whether nothing is known about the objects of a kind.
    pub(crate) fn is_not_given(&self, kind: &str) -> bool {
        self.not_given.contains(kind)
    }

    /// Whether a list of a kind was given, even one without objects.
    pub(crate) fn is_listed(&self, kind: &str) -> bool {
        self.listed.contains(kind)
    }

    /// Remembers an object that was refused, as it was written, and what was found in it; of an empty list of a kind, that it was given.
    /// One of an unknown kind that was probably meant to be of a known one counts as refused, even where it is only left aside.
    pub(crate) fn note_refused(&mut self, written: Value, findings: &[Finding]) {
        if let Some(kind) = written.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List")) {
            self.listed.insert(kind.to_owned());
        }
        let meant = meant_object(&written);
        let is_why = |finding: &&Finding| {
            finding.severity == Severity::Error || (finding.code == Code::ReadUnknownKind && meant.is_some())
        };
        if let Some(error) = findings.iter().find(is_why).cloned()
            && let Some(object) = meant.or_else(|| error.object.clone())
        {
            self.refused.insert(object, (written, error));
        }
    }

    /// Objects that were refused, as they were written, unless there is one of that name now.
    pub(crate) fn all_refused(&self) -> impl Iterator<Item = &Value> {
        self.refused.iter().filter(|(object, _)| self.metadata(object).is_none()).map(|(_, (written, _))| written)
    }

    /// Remembers an object as it was written, if fields of it were dropped.
    pub(crate) fn note_dropped(&mut self, object: ObjectRef, written: Value, findings: &[Finding]) {
        let dropped = findings.iter().filter(|finding| finding.code == Code::ValidateDroppedField);
        let messages: Vec<String> = dropped.map(|finding| finding.message.clone()).collect();
        if !messages.is_empty() {
            self.dropped.insert(object, (written, messages));
        }
    }

    /// Objects of which fields were dropped, as they were written, and what was said of them.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = &(Value, Vec<String>)> {
        self.dropped.values()
    }

    /// Why an object was refused, if it was.
    pub(crate) fn refused(&self, kind: &str, namespace: &str, name: &str) -> Option<&Finding> {
        if self.refused.is_empty() {
            return None;
        }
        let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.refused.get(&ObjectRef { kind, namespace, name }).map(|(_, why)| why)
    }

    /// Names of refused objects of a kind, unless there is one of that name now.
    pub(crate) fn names_of_refused<'c>(&'c self, kind: &'c str) -> impl Iterator<Item = &'c str> {
        let refused = self.refused.keys().filter(move |object| object.kind == kind && self.metadata(object).is_none());
        refused.map(|object| object.name.as_str())
    }

    /// Knows what another cluster knows of objects that are refused or not given.
    pub(crate) fn share_refused(&mut self, other: &Self) {
        self.refused.clone_from(&other.refused);
        self.dropped.clone_from(&other.dropped);
        self.not_given.clone_from(&other.not_given);
        self.listed.clone_from(&other.listed);
    }
}
