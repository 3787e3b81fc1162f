//! What is wrong in a dump of a cluster: facts that contradict each other and that no controller will put right, or not without
//! help. Each finding's hint is the next step that is safe.
//!
//! A dump is taken to hold all objects of the kinds that it holds. Where it has no Pod at all nothing is said about consumers
//! that are not there.

mod claims;
mod devices;
mod finalizers;
mod history;
mod pods;
mod pools;
mod references;
mod settled;

use serde_json::Value;

use crate::api::claim::ResourceClaim;
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::control_plane::infer::report_unknown_nodes;
use crate::control_plane::{Simulation, note_not_given, refused_by_namespace};
use crate::decision::Time;
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::profile::Profile;
pub use history::History;
pub use settled::unsettled;

/// The facts of one inspection.
pub(crate) struct Facts {
    pub(crate) cluster: Cluster,
    pub(crate) now: Time,
    /// Whether Pods are given, so that one that is not among them does not exist.
    pub(crate) knows_pods: bool,
    /// The same for PodGroups; they are known to be none where the feature is off.
    pub(crate) knows_groups: bool,
}

/// What is wrong, by object: devices first, then claims, Pods and what cannot go.
///
/// What the API server would say of single objects comes first; those that it would refuse, or whose kind is not known, are left out. Kinds
/// that the dump lacks come last. Without a time it is the latest that the objects speak of.
pub fn inspect(objects: Vec<Value>, profile: &Profile, now: Option<Time>) -> Vec<Finding> {
    let now = now.unwrap_or_else(|| Simulation::start_of(&objects));
    let mut cluster = Cluster::new(profile.clone());
    let mut findings = Vec::new();
    for written in objects {
        let (object, found) = admit_value(&written, profile);
        match object {
            Some(object) => {
                cluster.apply(object);
                findings.extend(found.into_iter().filter(|finding| finding.severity == Severity::Warning));
            }
            None => {
                cluster.note_refused(written, &found);
                findings.extend(found.into_iter().filter(is_left_out).map(refusal));
            }
        }
    }
    for (object, finding) in refused_by_namespace(&cluster) {
        cluster.delete(&object.reference());
        cluster.note_refused(object.write(), std::slice::from_ref(&finding));
        findings.push(finding);
    }
    let lacking = note_not_given(&mut cluster);
    let knows_pods = !cluster.pods().is_empty();
    let knows_groups = !cluster.pod_groups().is_empty() || (knows_pods && !profile.features.generic_workload);
    let facts = Facts { cluster, now, knows_pods, knows_groups };
    if !facts.cluster.nodes().is_empty() {
        report_unknown_nodes(&facts.cluster, &mut findings);
    }
    devices::inspect(&facts, &mut findings);
    claims::inspect(&facts, &mut findings);
    references::inspect(&facts, &mut findings);
    pods::inspect(&facts, &mut findings);
    finalizers::inspect(&facts, &mut findings);
    findings.extend(lacking);
    findings
}

/// Whether a finding says why an object is left out: it is wrong, or of a kind that is not known although a known one was probably meant.
fn is_left_out(finding: &Finding) -> bool {
    let is_aside = finding.code == Code::ReadUnknownKind && finding.severity == Severity::Warning;
    is_aside || finding.severity == Severity::Error
}

/// What is to be done about an object that the API server would refuse.
fn refusal(finding: Finding) -> Finding {
    match finding.hint {
        Some(_) => finding,
        None => finding.with_hint("correct the object; nothing else is said about it"),
    }
}

/// A finding about one object.
fn finding(code: Code, object: ObjectRef, path: &str, message: String, hint: impl Into<String>) -> Finding {
    Finding::new(code, path, message).with_hint(hint).about(object)
}

/// The same about a claim.
fn of_claim(
    claim: &ResourceClaim,
    code: Code,
    path: &str,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Finding {
    finding(code, claim.metadata.reference("ResourceClaim"), path, message.into(), hint)
}

/// Of two claims that are one too many the one that nobody uses.
fn spare<'c>(claim: &'c ResourceClaim, other: &'c ResourceClaim) -> Option<&'c ResourceClaim> {
    [claim, other].into_iter().find(|claim| claim.status.reserved_for.is_empty())
}

/// The kind of a consumer's resource; of a kind itself.
fn kind_of(resource: &str) -> &str {
    match resource {
        "pods" => "Pod",
        "podgroups" => "PodGroup",
        kind => kind,
    }
}

/// What is said of a consumer or owner in a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    /// It is there.
    There,
    /// It is there and has run to its end.
    Ended,
    /// It is not there.
    Gone,
    /// One of that name is there with another UID.
    Replaced,
    /// The dump does not tell.
    Unknown,
}

impl Facts {
    /// Whether there is an object of that name that could not be read or was refused: nothing follows from what it does not say.
    pub(crate) fn is_refused(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.cluster.refused(kind_of(kind), namespace, name).is_some()
    }

    /// Whether a Pod or PodGroup is there. An empty UID is that of any.
    pub(crate) fn presence(&self, kind: &str, namespace: &str, name: &str, uid: &str) -> Presence {
        let key = (namespace.to_owned(), name.to_owned());
        let (found, is_known) = match kind {
            "Pod" | "pods" => {
                let pod = self.cluster.pods().get(&key);
                (pod.map(|pod| (pod.metadata.uid.as_str(), pod.is_finished())), self.knows_pods)
            }
            "PodGroup" | "podgroups" => {
                let group = self.cluster.pod_groups().get(&key);
                (group.map(|group| (group.metadata.uid.as_str(), false)), self.knows_groups)
            }
            _ => return Presence::Unknown,
        };
        match found {
            None if self.is_refused(kind, namespace, name) => Presence::Unknown,
            Some((own, _)) if !own.is_empty() && !uid.is_empty() && own != uid => Presence::Replaced,
            Some((_, true)) => Presence::Ended,
            Some((_, false)) => Presence::There,
            None if is_known => Presence::Gone,
            None => Presence::Unknown,
        }
    }
}
