//! What is known of objects that are not among the facts: refused, written with fields that were dropped, or not given.

use std::sync::Arc;

use serde_json::Value;

use super::{Cluster, Key};
use crate::api::pod::Pod;
use crate::api::unknown_kind::meant_object;
use crate::derive::is_foreign;
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

    /// Whether nothing is known of a claim: it was refused, or the dump holds no claims.
    pub(crate) fn is_claim_unknown(&self, claim: &Key) -> bool {
        let is_refused = || self.refused("ResourceClaim", &claim.0, &claim.1).is_some();
        self.claims().get(claim).is_none() && (self.is_not_given("ResourceClaim") || is_refused())
    }

    /// Pods of a real cluster that have a node, each with a claim of theirs of which nothing is known.
    pub(crate) fn users_of_unknown_claims(&self) -> impl Iterator<Item = (&Arc<Pod>, &Key)> {
        let claims = self.links.claims_of_pods().filter(|claim| self.is_claim_unknown(claim));
        let users = claims.flat_map(|claim| self.pods_of_claim(claim).map(move |pod| (pod, claim)));
        users.filter(|(pod, _)| !pod.spec.node_name.is_empty() && !pod.is_finished() && is_foreign(&pod.metadata.uid))
    }

    /// Whether the devices of a real cluster are given, and nothing that could use them.
    pub(crate) fn has_devices_alone(&self) -> bool {
        let has_none = self.pods().is_empty() && self.claims().is_empty() && self.workloads().is_empty();
        has_none && self.slices().values().any(|slice| is_foreign(&slice.metadata.uid))
    }

    /// Whether it is known which devices are in use.
    pub(crate) fn knows_users_of_devices(&self) -> bool {
        let has_devices = |written: &Value| {
            let is_claim = written.get("kind").is_some_and(|kind| kind == "ResourceClaim");
            is_claim && written.pointer("/status/allocation").is_some_and(|allocation| !allocation.is_null())
        };
        !self.has_devices_alone()
            && !self.all_refused().any(has_devices)
            && self.users_of_unknown_claims().next().is_none()
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

    /// Keys of objects that were refused, unless there is one of that name now.
    pub(crate) fn keys_of_refused(&self) -> impl Iterator<Item = &ObjectRef> {
        self.refused.keys().filter(|object| self.metadata(object).is_none())
    }

    /// Whether a slice of a driver, or of one of its pools, was refused or could not be read, so that not all of the devices are known.
    pub(crate) fn hides_devices(&self, driver: &str, pool: Option<&str>) -> bool {
        let may_be = |object: &Value, path, wanted| {
            let named = object.pointer(path).and_then(Value::as_str);
            named.is_none_or(|named| named == wanted)
        };
        self.all_refused().any(|object| {
            object.get("kind").is_some_and(|kind| kind == "ResourceSlice")
                && may_be(object, "/spec/driver", driver)
                && pool.is_none_or(|pool| may_be(object, "/spec/pool/name", pool))
        })
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
        self.keys_of_refused().filter(move |object| object.kind == kind).map(|object| object.name.as_str())
    }

    /// Knows what another cluster knows of objects that are refused or not given.
    pub(crate) fn share_refused(&mut self, other: &Self) {
        self.refused.clone_from(&other.refused);
        self.dropped.clone_from(&other.dropped);
        self.not_given.clone_from(&other.not_given);
        self.listed.clone_from(&other.listed);
    }
}
