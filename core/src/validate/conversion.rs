//! An object in another version of its API group, with nothing lost.
//!
//! Source: the conversions of `pkg/apis/resource`; for groups the differences between the versions of
//! `api/scheduling`, KEP-5729 and KEP-5832.

use serde_json::{Map, Value, json};

use super::kind::{Kind, split};
use super::{places, pod_templates};
use crate::api::read::Path;
use crate::api::versions::{is_flat, lower, raise};
use crate::finding::{Code, Finding};

/// Converts an object; versions are named as in `apiVersion`, with or without the group.
pub(super) fn convert(mut object: Value, to: &str) -> Result<Value, Vec<Finding>> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let (group, from) = split(&api_version);
    let (to_group, to) = match to.split_once('/') {
        Some((group, version)) => (Some(group), version),
        None => (None, to),
    };
    if to_group.is_some_and(|to_group| to_group != group) {
        return Err(vec![no_way(&kind, &api_version, to)]);
    }
    match (Kind::of(group, &kind), group) {
        (Some(Kind::Pod), _) if to == from => {
            if let Some(spec) = object.get_mut("spec") {
                pod_claims(spec);
            }
            return Ok(object);
        }
        (Some(of), "resource.k8s.io") if of.is_in(to) => resource(of, from, to, &mut object),
        (Some(of @ (Kind::Workload | Kind::PodGroup)), _) if of.is_in(to) => scheduling(of, from, to, &mut object),
        _ => {
            let Some(row) = pod_templates::of(group, &kind).filter(|_| to == from) else {
                return Err(vec![no_way(&kind, &api_version, to)]);
            };
            for path in row.paths {
                places::each(&mut object, &format!("{path}.spec"), &Path::ROOT, &mut |spec, _| pod_claims(spec));
            }
            return Ok(object);
        }
    }
    if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".to_owned(), Value::String(format!("{group}/{to}")));
    }
    Ok(object)
}

fn no_way(kind: &str, from: &str, to: &str) -> Finding {
    let message = format!("`{kind}` of `{from}` cannot be written in version `{to}`");
    Finding::new(Code::ReadUnknownVersion, "apiVersion", message)
}

fn resource(kind: Kind, from: &str, to: &str, object: &mut Value) {
    if is_flat(from) {
        raise(kind.name(), from, object);
    }
    if is_flat(to) {
        lower(kind.name(), to, object);
    }
}

/// The form of the 1.31 `source` in the claims of a Pod.
fn pod_claims(spec: &mut Value) {
    let claims = spec.get_mut("resourceClaims").and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten().filter_map(Value::as_object_mut) {
        match claim.remove("source") {
            Some(Value::Object(source)) => {
                for (name, value) in source {
                    claim.entry(name).or_insert(value);
                }
            }
            Some(other) => drop(claim.insert("source".to_owned(), other)),
            None => {}
        }
    }
}

fn is_new(version: &str) -> bool {
    matches!(version, "v1alpha3" | "v1beta1")
}

fn rename(map: &mut Map<String, Value>, from: &str, to: &str) {
    if !map.contains_key(to)
        && let Some(value) = map.remove(from)
    {
        map.insert(to.to_owned(), value);
    }
}

fn scheduling(kind: Kind, from: &str, to: &str, object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if kind == Kind::Workload {
        match (from, to) {
            ("v1alpha1", "v1alpha1") => {}
            ("v1alpha1", _) => rename(spec, "podGroups", "podGroupTemplates"),
            (_, "v1alpha1") => rename(spec, "podGroupTemplates", "podGroups"),
            _ => {}
        }
        let list = if spec.contains_key("podGroups") { "podGroups" } else { "podGroupTemplates" };
        let templates = spec.get_mut(list).and_then(Value::as_array_mut);
        for template in templates.into_iter().flatten().filter_map(Value::as_object_mut) {
            group_fields(template, to);
        }
        return;
    }
    group_fields(spec, to);
    let origin = Origin::take(spec);
    origin.put(spec, to);
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten().filter_map(Value::as_object_mut) {
        let (old, new) = ("PodGroupScheduled", "PodGroupInitiallyScheduled");
        if let Some(name) = condition.get_mut("type") {
            if is_new(to) && name == old {
                *name = json!(new);
            } else if !is_new(to) && name == new {
                *name = json!(old);
            }
        }
    }
}

/// Policy and disruption mode in the spelling of a version.
fn group_fields(map: &mut Map<String, Value>, to: &str) {
    if to == "v1alpha1" {
        rename(map, "schedulingPolicy", "policy");
    } else {
        rename(map, "policy", "schedulingPolicy");
    }
    if let Some(mode) = map.get_mut("disruptionMode") {
        let named = mode.as_str().map(str::to_owned);
        if is_new(to) {
            match named.as_deref() {
                Some("Pod") => *mode = json!({ "single": {} }),
                Some("PodGroup") => *mode = json!({ "all": {} }),
                _ => {}
            }
        } else if *mode == json!({ "single": {} }) {
            *mode = json!("Pod");
        } else if *mode == json!({ "all": {} }) {
            *mode = json!("PodGroup");
        }
    }
}

/// Which template a PodGroup was made from, whatever the spelling.
#[derive(Default)]
struct Origin {
    workload: Option<Value>,
    template: Option<Value>,
    /// What no spelling knows.
    rest: Map<String, Value>,
}

impl Origin {
    fn take(spec: &mut Map<String, Value>) -> Self {
        let mut origin = Self::default();
        let mut note = |name: &str, value: Value, in_template: bool| match name {
            "workloadName" => origin.workload = Some(value),
            "podGroupTemplateName" | "templateName" => origin.template = Some(value),
            "name" if in_template => origin.template = Some(value),
            "name" => origin.workload = Some(value),
            _ => drop(origin.rest.insert(name.to_owned(), value)),
        };
        for (field, in_template) in [("workloadRef", false), ("podGroupTemplateRef", true)] {
            match spec.remove(field) {
                Some(Value::Object(parts)) => {
                    for (name, value) in parts {
                        match value {
                            Value::Object(nested) if name == "workload" => {
                                nested.into_iter().for_each(|(name, value)| note(&name, value, in_template));
                            }
                            value => note(&name, value, in_template),
                        }
                    }
                }
                Some(other) if !other.is_null() => drop(spec.insert(field.to_owned(), other)),
                _ => {}
            }
        }
        origin
    }

    fn put(self, spec: &mut Map<String, Value>, to: &str) {
        if self.workload.is_none() && self.template.is_none() && self.rest.is_empty() {
            return;
        }
        let object = |parts: Vec<(&str, Option<Value>)>, rest: Map<String, Value>| {
            let mut map = rest;
            map.extend(parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            Value::Object(map)
        };
        match to {
            "v1alpha1" => {
                spec.insert("workloadRef".to_owned(), object(vec![("name", self.workload)], self.rest));
                if self.template.is_some() {
                    spec.insert("podGroupTemplateRef".to_owned(), object(vec![("name", self.template)], Map::new()));
                }
            }
            "v1alpha2" => {
                let parts = vec![("workloadName", self.workload), ("podGroupTemplateName", self.template)];
                spec.insert("podGroupTemplateRef".to_owned(), json!({ "workload": object(parts, self.rest) }));
            }
            _ => {
                let parts = vec![("workloadName", self.workload), ("templateName", self.template)];
                spec.insert("workloadRef".to_owned(), object(parts, self.rest));
            }
        }
    }
}
