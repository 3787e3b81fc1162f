//! Claims as they are to be written once they have changed, or the templates that they were made from.

use std::sync::Arc;

use serde_json::Value;

use super::case::Case;
use super::change::{Change, change_spec};
use super::origin::template_of;
use super::relax::to_write;
use super::trial::changed_class;
use crate::api::claim::{ResourceClaim, ResourceClaimStatus};
use crate::api::object::Object;
use crate::cluster::Cluster;

/// Claims, what they were made from, and classes as they are after some changes.
pub(crate) fn manifests(cluster: &Cluster, case: &Case, changes: &[Change]) -> Vec<Value> {
    let mut objects = Vec::new();
    for claim in &case.question.claims {
        let mut changed = claim.clone();
        for change in changes {
            change_spec(changed.devices_mut(), &claim.metadata.name, change);
        }
        if changed.spec != claim.spec {
            objects.push(written(cluster, case, changed));
        }
    }
    for mut class in changes.iter().filter_map(|change| changed_class(cluster, change)) {
        class.metadata = to_write(&class.metadata);
        objects.push(Object::DeviceClass(Arc::new(class)).write());
    }
    objects
}

/// The claim, or what it was made from.
fn written(cluster: &Cluster, case: &Case, claim: ResourceClaim) -> Value {
    let template = template_of(cluster, &claim)
        .or_else(|| (case.subject.kind == "ResourceClaimTemplate").then(|| case.subject.clone()));
    let found = template.and_then(|template| match template.kind.as_str() {
        "ResourceClaimTemplate" => cluster.templates().get(&(template.namespace, template.name)).map(|it| (it, false)),
        _ => cluster.cluster_templates().get(&template.name).map(|it| (it, true)),
    });
    match found {
        Some((template, is_cluster)) => {
            let mut template = template.clone();
            template.metadata = to_write(&template.metadata);
            template.spec.spec = claim.spec;
            let object = if is_cluster { Object::ClusterResourceClaimTemplate } else { Object::ResourceClaimTemplate };
            object(Arc::new(template)).write()
        }
        None => {
            let metadata = to_write(&claim.metadata);
            let claim = ResourceClaim { metadata, status: ResourceClaimStatus::default(), ..claim };
            Object::ResourceClaim(Arc::new(claim)).write()
        }
    }
}
