//! Where what a finding is about stands in what the user wrote: the workload behind a Pod, the template behind a claim.

use std::sync::Arc;

use crate::api::claim::{ResourceClaim, ResourceClaimSpec, set_defaults};
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::cluster::entries::{Source, entry_of, source};
use crate::controllers::workloads::{reference, root_of, template_path};
use crate::finding::{Code, Finding, ObjectRef};

/// Where a Pod's fields stand in what the user wrote.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The workload, or the Pod itself.
    pub(crate) object: ObjectRef,
    /// Prefix of paths into the Pod.
    pub(crate) prefix: String,
}

impl Origin {
    /// Looks up a Pod's origin.
    pub(crate) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        match root_of(cluster, pod) {
            Some(root) => Self { object: reference(root), prefix: template_path(root, pod) },
            None => Self { object: pod.metadata.reference("Pod"), prefix: String::new() },
        }
    }

    /// A finding about a field of the Pod.
    pub(crate) fn finding(&self, code: Code, path: &str, message: impl Into<String>) -> Finding {
        let path = if path.is_empty() { String::new() } else { format!("{}{path}", self.prefix) };
        Finding::new(code, path, message).about(self.object.clone())
    }

    /// Turns a finding to a field of the Pod.
    pub(crate) fn locate(&self, finding: Finding, path: &str) -> Finding {
        let path = format!("{}{path}", self.prefix);
        Finding { path, ..finding }.about(self.object.clone())
    }
}

/// The template that a generated claim was made from.
pub(crate) fn template_of(cluster: &Cluster, claim: &ResourceClaim) -> Option<ObjectRef> {
    let owner = claim.metadata.controller()?;
    let entry = entry_of(claim)?;
    let namespace = &claim.metadata.namespace;
    let key = (namespace.clone(), owner.name.clone());
    let entries = match owner.kind.as_str() {
        "Pod" => &cluster.pods().get(&key)?.spec.resource_claims,
        "PodGroup" => &cluster.pod_groups().get(&key)?.spec.resource_claims,
        _ => return None,
    };
    let (kind, namespace, name) = match source(entries.iter().find(|source| source.name == entry)?)? {
        Source::Template(name) => ("ResourceClaimTemplate", namespace.clone(), name),
        Source::ClusterTemplate(name) => ("ClusterResourceClaimTemplate", String::new(), name),
        Source::Named(_) => return None,
    };
    Some(ObjectRef { kind: kind.to_owned(), namespace, name: name.to_owned() })
}

/// What the template of a generated claim says, where the claim was made from an earlier version of it. The specs of claims never change.
pub(crate) fn newer_spec(cluster: &Cluster, claim: &ResourceClaim) -> Option<Arc<ResourceClaimSpec>> {
    let ObjectRef { kind, namespace, name } = template_of(cluster, claim)?;
    let template = match kind.as_str() {
        "ResourceClaimTemplate" => cluster.templates().get(&(namespace, name))?,
        _ => cluster.cluster_templates().get(&name)?,
    };
    let newer = template.spec.with_defaults().spec;
    let mut own = Arc::clone(&claim.spec);
    set_defaults(&mut own);
    (newer != own).then_some(newer)
}

/// Turns a finding about a claim to what the user wrote: its template, where it has one that still says the same.
pub(crate) fn about_claim(cluster: &Cluster, claim: &ResourceClaim, finding: Finding) -> Finding {
    match template_of(cluster, claim) {
        Some(template) if newer_spec(cluster, claim).is_some() => {
            let hint = format!(
                "the claim was made from an earlier version of {} `{}`: delete it with its Pod, so that both are made anew",
                template.kind, template.name
            );
            finding.about(claim.metadata.reference("ResourceClaim")).with_hint(hint)
        }
        Some(template) => {
            let path = if finding.path.is_empty() { String::new() } else { format!("spec.{}", finding.path) };
            Finding { path, ..finding }.about(template)
        }
        None => finding.about(claim.metadata.reference("ResourceClaim")),
    }
}
