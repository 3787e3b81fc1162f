//! From a template to the claim that is made of it.

use crate::api::claim::{ResourceClaim, ResourceClaimTemplate, asks_for_admin_access};
use crate::api::meta::ObjectMeta;
use crate::cluster::Cluster;
use crate::cluster::entries::{ENTRY_ANNOTATION, Source};
use crate::derive;
use crate::profile::Features;

/// The template of an entry.
///
/// # Errors
///
/// Why no claim can be made, in the reference's words.
pub(super) fn find<'c>(
    cluster: &'c Cluster,
    features: &Features,
    namespace: &str,
    source: Source<'_>,
) -> Result<&'c ResourceClaimTemplate, String> {
    let (found, scope, name) = match source {
        Source::Template(name) => (cluster.templates().get(&(namespace.to_owned(), name.to_owned())), "", name),
        Source::ClusterTemplate(name) if features.cluster_resource_claim_templates => {
            (cluster.cluster_templates().get(name), "cluster", name)
        }
        Source::ClusterTemplate(name) => {
            return Err(format!(
                "cluster resource claim template \"{name}\": the ClusterResourceClaimTemplates feature is disabled"
            ));
        }
        Source::Named(_) => return Err("none of the supported fields are set".to_owned()),
    };
    let template = found.ok_or_else(|| {
        let space = if scope.is_empty() { "" } else { " " };
        let kind = format!("{scope}resourceclaimtemplate.resource.k8s.io");
        format!("{scope}{space}resource claim template \"{name}\": {kind} \"{name}\" not found")
    })?;
    let requests = &template.spec.spec.devices.requests;
    if asks_for_admin_access(requests) && !features.admin_access {
        return Err("admin access is requested, but the feature is disabled".to_owned());
    }
    if !features.prioritized_list && requests.iter().any(|request| !request.first_available.is_empty()) {
        return Err("template includes a prioritized list of subrequests, but the feature is disabled".to_owned());
    }
    Ok(template)
}

/// Who a claim is made for.
pub(super) struct Owner<'o> {
    /// API version of its kind.
    pub(super) api_version: &'o str,
    /// Its kind.
    pub(super) kind: &'o str,
    /// Its metadata.
    pub(super) metadata: &'o ObjectMeta,
}

/// The claim of an entry, with a name that no claim of the cluster has.
///
/// The name is derived from the owner, the entry and the name that was recorded before, if there was one: a controller that
/// was stopped before it wrote the name down makes the same claim again, and a claim that replaces a deleted one gets
/// another name.
pub(super) fn instantiate(
    cluster: &Cluster,
    template: &ResourceClaimTemplate,
    owner: &Owner<'_>,
    entry: &str,
    before: &str,
    prefix: String,
) -> ResourceClaim {
    let mut claim = ResourceClaim { spec: template.spec.spec.clone(), ..ResourceClaim::default() };
    let metadata = &mut claim.metadata;
    metadata.namespace.clone_from(&owner.metadata.namespace);
    metadata.labels.clone_from(&template.spec.metadata.labels);
    metadata.annotations.clone_from(&template.spec.metadata.annotations);
    metadata.annotations.insert(ENTRY_ANNOTATION.to_owned(), entry.to_owned());
    metadata.owner_references.push(owner.metadata.as_controller(owner.api_version, owner.kind));
    metadata.name = derive::free_name(&prefix, &[&owner.metadata.uid, entry, before], |name| {
        cluster.claims().contains_key(&(owner.metadata.namespace.clone(), name.to_owned()))
    });
    metadata.generate_name = prefix;
    claim
}
