//! The rules that a write can break: the few of validation and admission that the life of claims and groups depends on.

use std::sync::Arc;

use serde_json::Value;

use super::item::Item;
use super::{Refused, Server};
use crate::api::claim::{DeviceRequest, ResourceClaim};
use crate::api::group::PodGroup;
use crate::api::object::Object;
use crate::control_plane::priority;
use crate::decision::MAX_RESERVATIONS;
use crate::finding::ObjectRef;
use crate::validate::{ADMIN_LABEL, allows_admin_access, is_subdomain};

/// What the reference says about a name that is none.
const NAME_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

impl Server {
    pub(super) fn admit_create(&self, key: &ObjectRef, item: &Item) -> Result<(), Refused> {
        valid_name(key, &item.metadata().generate_name)?;
        self.namespace_takes(key)?;
        let features = &self.cluster.profile().features;
        let Item::Known(object) = item else { return Ok(()) };
        match object {
            Object::ResourceClaim(claim) => self.admin_access(key, &claim.spec.devices.requests),
            Object::ResourceClaimTemplate(template) => self.admin_access(key, &template.spec.spec.devices.requests),
            Object::PodGroup(group) => self.workload_exists(key, group),
            Object::ClusterResourceClaimTemplate(_) if !features.cluster_resource_claim_templates => {
                Err(Refused::forbidden(key, "the ClusterResourceClaimTemplates feature is disabled"))
            }
            Object::ResourcePoolStatusRequest(_) if !features.resource_pool_status => Err(Refused::not_served()),
            _ => Ok(()),
        }
    }

    pub(super) fn admit_update(&self, key: &ObjectRef, old: &Item, item: &Item) -> Result<(), Refused> {
        let (Item::Known(old), Item::Known(new)) = (old, item) else { return Ok(()) };
        let is_immutable = match (old, new) {
            (Object::ResourceClaim(old), Object::ResourceClaim(new)) => old.spec != new.spec,
            (Object::ResourceClaimTemplate(old), Object::ResourceClaimTemplate(new))
            | (Object::ClusterResourceClaimTemplate(old), Object::ClusterResourceClaimTemplate(new)) => {
                old.spec != new.spec
            }
            (Object::Pod(old), Object::Pod(new)) => {
                old.spec.scheduling_group != new.spec.scheduling_group
                    || old.spec.resource_claims != new.spec.resource_claims
            }
            (Object::PodGroup(old), Object::PodGroup(new)) => old.spec.resource_claims != new.spec.resource_claims,
            (Object::ResourcePoolStatusRequest(old), Object::ResourcePoolStatusRequest(new)) => old.spec != new.spec,
            _ => false,
        };
        if is_immutable {
            return Err(Refused::invalid(key, "spec: Invalid value: field is immutable"));
        }
        match (old, new) {
            (Object::ResourceClaim(old), Object::ResourceClaim(new)) => reservations(key, old, new),
            (Object::ResourcePoolStatusRequest(old), Object::ResourcePoolStatusRequest(new))
                if !old.status.is_null() && old.status != new.status =>
            {
                Err(Refused::invalid(key, "status: Invalid value: field is immutable"))
            }
            _ => Ok(()),
        }
    }

    /// A Pod's priority is that of its class.
    pub(super) fn give_priority(&self, key: &ObjectRef, item: &mut Item) -> Result<(), Refused> {
        let Item::Known(Object::Pod(pod)) = item else { return Ok(()) };
        priority::admit(&self.cluster, Arc::make_mut(pod)).map_err(|problem| Refused::forbidden(key, &problem))
    }

    /// A Namespace that is being deleted, or was deleted, takes nothing new. One that was never given counts as existing.
    fn namespace_takes(&self, key: &ObjectRef) -> Result<(), Refused> {
        let namespace = ObjectRef::new("Namespace", "", &*key.namespace);
        match self.cluster.namespaces().get(&key.namespace) {
            Some(found) if found.metadata.is_deleting() => {
                let name = &key.namespace;
                let problem =
                    format!("unable to create new content in namespace {name} because it is being terminated");
                Err(Refused::forbidden(key, &problem))
            }
            None if self.reborn.contains(&namespace) => Err(Refused::not_found(&namespace)),
            _ => Ok(()),
        }
    }

    /// Admin access needs a label of the namespace.
    fn admin_access(&self, key: &ObjectRef, requests: &[DeviceRequest]) -> Result<(), Refused> {
        let namespace = self.cluster.namespaces().get(&key.namespace);
        if namespace.is_some_and(|namespace| allows_admin_access(&namespace.metadata.labels)) {
            return Ok(());
        }
        let wants = |request: &DeviceRequest| {
            request.exactly.as_ref().is_some_and(|exactly| exactly.admin_access == Some(true))
        };
        match requests.iter().position(wants) {
            None => Ok(()),
            Some(index) => {
                let problem = format!(
                    "spec.devices.requests[{index}].adminAccess: Forbidden: admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
                );
                Err(Refused::invalid(key, &problem))
            }
        }
    }

    /// A PodGroup made from a template comes after its Workload.
    fn workload_exists(&self, key: &ObjectRef, group: &PodGroup) -> Result<(), Refused> {
        let Some(reference) = group.spec.rest.get("podGroupTemplateRef").filter(|reference| !reference.is_null())
        else {
            return Ok(());
        };
        let nested = reference.get("workload").unwrap_or(reference);
        let (workload, template) = (text(nested, "workloadName"), text(nested, "podGroupTemplateName"));
        if workload.is_empty() {
            return Ok(());
        }
        let rejected = |problem: &str| {
            let problem = format!("PodGroup rejected: {problem}");
            Err(Refused::forbidden(key, &problem))
        };
        let workload_key = (key.namespace.clone(), workload.to_owned());
        let Some(found) = self.cluster.scheduling_workloads().get(&workload_key) else {
            return rejected(&format!("Workload \"{workload}\" not found"));
        };
        if found.metadata.is_deleting() {
            return rejected(&format!("Workload \"{workload}\" is being deleted"));
        }
        let templates = found.spec.pointer("/podGroupTemplates").and_then(Value::as_array);
        if templates.into_iter().flatten().any(|known| text(known, "name") == template) {
            return Ok(());
        }
        rejected(&format!("PodGroupTemplate \"{template}\" not found in Workload \"{workload}\""))
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// At most so many consumers, and no new ones for a claim that goes.
fn reservations(key: &ObjectRef, old: &ResourceClaim, new: &ResourceClaim) -> Result<(), Refused> {
    let (before, after) = (&old.status.reserved_for, &new.status.reserved_for);
    let refuse = |problem: &str| Err(Refused::invalid(key, problem));
    if after.len() > MAX_RESERVATIONS {
        let count = after.len();
        return refuse(&format!("status.reservedFor: Too many: {count}: must have at most {MAX_RESERVATIONS} items"));
    }
    let is_new = |uid: &String| before.iter().all(|known| known.uid != *uid);
    if old.metadata.is_deleting() && after.iter().any(|consumer| is_new(&consumer.uid)) {
        return refuse("status.reservedFor: Forbidden: new entries may not be added while `deletionTimestamp` is set");
    }
    if !after.is_empty() && new.status.allocation.is_none() {
        return refuse("status.reservedFor: Forbidden: may not be specified when `allocated` is not set");
    }
    Ok(())
}

/// The name is one, and so is what it was generated from.
fn valid_name(key: &ObjectRef, prefix: &str) -> Result<(), Refused> {
    let mut problems = Vec::new();
    if !prefix.is_empty() && !is_subdomain(prefix.strip_suffix('-').unwrap_or(prefix)) {
        problems.push(format!("metadata.generateName: Invalid value: \"{prefix}\": {NAME_RULE}"));
    }
    if !is_subdomain(&key.name) {
        problems.push(format!("metadata.name: Invalid value: \"{}\": {NAME_RULE}", key.name));
    }
    match problems.as_slice() {
        [] => Ok(()),
        [one] => Err(Refused::invalid(key, one)),
        several => Err(Refused::invalid(key, &format!("[{}]", several.join(", ")))),
    }
}
