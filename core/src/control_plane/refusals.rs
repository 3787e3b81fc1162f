//! What the API server refuses to controllers of workloads, for people.

use std::collections::BTreeMap;

use super::priority;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::control_plane::server::Refused;
use crate::controllers::workloads::{reference, root_above, template_path};
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;
use crate::validate::priority::PRIORITY_CLASS;

/// The first refusal of the last look of a controller at its workload, by workload.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals(BTreeMap<ObjectRef, Finding>);

impl Refusals {
    /// Forgets what was refused at the looks before: the controller of the workload looks at it again.
    pub(super) fn forget(&mut self, workload: &ObjectRef) {
        self.0.remove(workload);
    }

    /// Notes that an object was refused which is for a workload. What is for others is said where they wait for it.
    pub(super) fn note(&mut self, cluster: &Cluster, of: &ObjectRef, object: &Object, refused: &Refused) {
        let key = (of.kind.clone(), of.namespace.clone(), of.name.clone());
        let Some(workload) = cluster.workloads().get(&key).filter(|_| !self.0.contains_key(of)) else { return };
        let root = root_above(cluster, &workload.metadata).unwrap_or(workload);
        let message = format!("its {}s are refused: {}", object.kind(), refused.message);
        let finding = |path: String| Finding::new(Code::RunRefused, path, message).about(reference(root));
        let space = cluster.namespaces().get(&of.namespace);
        let finding = match object {
            _ if space.is_some_and(|space| space.metadata.is_deleting()) => finding("metadata.namespace".to_owned()),
            Object::Pod(pod) => {
                let is_about_class = priority::admit(cluster, &mut Pod::clone(pod)).is_err();
                let path = template_path(root, pod) + if is_about_class { PRIORITY_CLASS } else { "metadata.name" };
                priority::with_near_class(cluster, pod, finding(path))
            }
            _ => finding(String::new()),
        };
        self.0.insert(of.clone(), finding);
    }

    /// One finding for each field of a workload of the input.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let by_field: BTreeMap<_, &Finding> =
            self.0.values().rev().map(|finding| ((&finding.object, &finding.path), finding)).gather();
        by_field.into_values().cloned().collect()
    }
}
