//! The rules that a write can break: the few of validation and admission that the life of claims and groups depends on.

use serde_json::Value;

use super::request::group_of;
use super::{Refused, Server, is_deleting, text, typed};
use crate::api::claim::ResourceClaimTemplateSpec;
use crate::api::object::Object;
use crate::control_plane::priority;
use crate::decision::MAX_RESERVATIONS;
use crate::finding::ObjectRef;

/// The label of a namespace that permits admin access.
const ADMIN_LABEL: &str = "resource.kubernetes.io/admin-access";

/// What the reference says about a name that is none.
const NAME_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

impl Server {
    pub(super) fn admit_create(&self, key: &ObjectRef, value: &Value) -> Result<(), Refused> {
        valid_name(key, value)?;
        match key.kind.as_str() {
            "ResourceClaim" => self.admin_access(key, value, "/spec"),
            "ResourceClaimTemplate" => self.admin_access(key, value, "/spec/spec"),
            "PodGroup" => self.workload_exists(key, value),
            "ClusterResourceClaimTemplate" if !self.cluster.profile().features.cluster_resource_claim_templates => {
                Err(Refused::forbidden(key, group_of(value), "the ClusterResourceClaimTemplates feature is disabled"))
            }
            "ResourcePoolStatusRequest" if !self.cluster.profile().features.resource_pool_status => {
                Err(Refused::not_served())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn admit_update(&self, key: &ObjectRef, old: &Value, value: &Value) -> Result<(), Refused> {
        // An empty list is one that is left out.
        let part = |object: &Value, name: &str| {
            object.pointer(name).filter(|part| part.as_array().is_none_or(|list| !list.is_empty())).cloned()
        };
        let differs = |name: &str| part(old, name) != part(value, name);
        let immutable = match key.kind.as_str() {
            "ResourceClaim" | "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => {
                differs("/spec") && typed(old).and_then(spec_of) != typed(value).and_then(spec_of)
            }
            "Pod" => differs("/spec/schedulingGroup") || differs("/spec/resourceClaims"),
            "PodGroup" => differs("/spec/resourceClaims"),
            "ResourcePoolStatusRequest" => differs("/spec"),
            _ => false,
        };
        if immutable {
            return Err(Refused::invalid(key, group_of(value), "spec: Invalid value: field is immutable"));
        }
        match key.kind.as_str() {
            "ResourceClaim" => reservations(key, old, value),
            "ResourcePoolStatusRequest" if old.get("status").is_some() && differs("/status") => {
                Err(Refused::invalid(key, group_of(value), "status: Invalid value: field is immutable"))
            }
            _ => Ok(()),
        }
    }

    /// A Pod's priority is that of its class.
    pub(super) fn give_priority(&self, key: &ObjectRef, value: &mut Value) -> Result<(), Refused> {
        if key.kind != "Pod" {
            return Ok(());
        }
        priority::admit(&self.cluster, value).map_err(|problem| Refused::forbidden(key, "", &problem))
    }

    /// Admin access needs a label of the namespace.
    fn admin_access(&self, key: &ObjectRef, value: &Value, spec: &str) -> Result<(), Refused> {
        let namespace = self.cluster.namespaces().get(&key.namespace);
        if namespace
            .is_some_and(|namespace| namespace.metadata.labels.get(ADMIN_LABEL).is_some_and(|set| set == "true"))
        {
            return Ok(());
        }
        let requests = value.pointer(&format!("{spec}/devices/requests")).and_then(Value::as_array);
        for (index, request) in requests.into_iter().flatten().enumerate() {
            if request.pointer("/exactly/adminAccess") == Some(&Value::Bool(true)) {
                let problem = format!(
                    "spec.devices.requests[{index}].adminAccess: Forbidden: admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
                );
                return Err(Refused::invalid(key, group_of(value), &problem));
            }
        }
        Ok(())
    }

    /// A PodGroup made from a template comes after its Workload.
    fn workload_exists(&self, key: &ObjectRef, value: &Value) -> Result<(), Refused> {
        let Some(reference) = value.pointer("/spec/podGroupTemplateRef").filter(|reference| !reference.is_null())
        else {
            return Ok(());
        };
        let nested = reference.get("workload").unwrap_or(reference);
        let (workload, template) = (text(nested, &["workloadName"]), text(nested, &["podGroupTemplateName"]));
        if workload.is_empty() {
            return Ok(());
        }
        let rejected = |problem: &str| {
            let problem = format!("PodGroup rejected: {problem}");
            Err(Refused::forbidden(key, group_of(value), &problem))
        };
        let workload_key =
            ObjectRef { kind: "Workload".to_owned(), namespace: key.namespace.clone(), name: workload.to_owned() };
        let Some(found) = self.get(&workload_key) else {
            return rejected(&format!("Workload \"{workload}\" not found"));
        };
        if is_deleting(found) {
            return rejected(&format!("Workload \"{workload}\" is being deleted"));
        }
        let templates = found.pointer("/spec/podGroupTemplates").and_then(Value::as_array);
        if templates.into_iter().flatten().any(|known| text(known, &["name"]) == template) {
            return Ok(());
        }
        rejected(&format!("PodGroupTemplate \"{template}\" not found in Workload \"{workload}\""))
    }
}

/// The spec of a claim or template, as far as it is immutable.
fn spec_of(object: Object) -> Option<ResourceClaimTemplateSpec> {
    match object {
        Object::ResourceClaim(claim) => {
            Some(ResourceClaimTemplateSpec { spec: claim.spec, ..ResourceClaimTemplateSpec::default() })
        }
        Object::ResourceClaimTemplate(template) | Object::ClusterResourceClaimTemplate(template) => Some(template.spec),
        _ => None,
    }
}

/// At most so many consumers, and no new ones for a claim that goes.
fn reservations(key: &ObjectRef, old: &Value, value: &Value) -> Result<(), Refused> {
    let reserved =
        |value: &Value| value.pointer("/status/reservedFor").and_then(Value::as_array).cloned().unwrap_or_default();
    let (before, after) = (reserved(old), reserved(value));
    let refuse = |problem: String| Err(Refused::invalid(key, group_of(value), &problem));
    if after.len() > MAX_RESERVATIONS {
        let count = after.len();
        return refuse(format!("status.reservedFor: Too many: {count}: must have at most {MAX_RESERVATIONS} items"));
    }
    let is_new = |consumer: &Value| before.iter().all(|known| known.get("uid") != consumer.get("uid"));
    if is_deleting(old) && after.iter().any(is_new) {
        return refuse(
            "status.reservedFor: Forbidden: new entries may not be added while `deletionTimestamp` is set".to_owned(),
        );
    }
    if !after.is_empty() && value.pointer("/status/allocation").is_none_or(Value::is_null) {
        return refuse("status.reservedFor: Forbidden: may not be specified when `allocated` is not set".to_owned());
    }
    Ok(())
}

/// The name is one, and so is what it was generated from.
fn valid_name(key: &ObjectRef, value: &Value) -> Result<(), Refused> {
    let prefix = text(value, &["metadata", "generateName"]);
    let mut problems = Vec::new();
    if !prefix.is_empty() && !is_subdomain(prefix.strip_suffix('-').unwrap_or(prefix)) {
        problems.push(format!("metadata.generateName: Invalid value: \"{prefix}\": {NAME_RULE}"));
    }
    if !is_subdomain(&key.name) {
        problems.push(format!("metadata.name: Invalid value: \"{}\": {NAME_RULE}", key.name));
    }
    match problems.as_slice() {
        [] => Ok(()),
        [one] => Err(Refused::invalid(key, group_of(value), one)),
        several => Err(Refused::invalid(key, group_of(value), &format!("[{}]", several.join(", ")))),
    }
}

fn is_subdomain(name: &str) -> bool {
    let is_label = |label: &str| {
        let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(inside) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}
