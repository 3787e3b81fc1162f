//! The roles that the controller needs, for the parts that are on and for nothing else.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
use kube::core::ObjectMeta;
use serde::Serialize;
use serde_json::Value;

use super::parts::{Grant, PartName};
use crate::api_server::rules;

/// Name of the service account, and what the names of roles begin with.
pub(super) const ACCOUNT: &str = "apportion";

/// Name of the Lease.
pub(super) const LEASE: &str = "apportion-controller";

/// Roles and bindings as manifests: one cluster role for each part, one for what it writes in other people's namespaces, and one
/// role for the Lease.
pub(super) fn manifests(parts: &[PartName], namespace: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for part in parts {
        let name = format!("{ACCOUNT}-{}", part.text());
        let mut wanted = rules(part.watches(), &["list", "watch"]);
        wanted.extend(granted(part.writes()));
        all.extend(everywhere(&name, wanted, namespace));
        if let Some((what, grants)) = part.writes_elsewhere() {
            all.extend(everywhere(&format!("{name}-{what}"), granted(grants), namespace));
        }
    }
    let name = format!("{ACCOUNT}-leader");
    let lease = |names: Option<Vec<String>>, verbs: &[&str]| PolicyRule {
        api_groups: Some(vec!["coordination.k8s.io".to_owned()]),
        resources: Some(vec!["leases".to_owned()]),
        resource_names: names,
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    };
    // A name cannot be asked for before there is an object.
    let rules = vec![lease(None, &["create"]), lease(Some(vec![LEASE.to_owned()]), &["get", "update"])];
    all.push(value(&Role { metadata: named(&name, Some(namespace)), rules: Some(rules) }));
    all.push(value(&RoleBinding {
        metadata: named(&name, Some(namespace)),
        role_ref: role_ref("Role", &name),
        subjects: Some(vec![account(namespace)]),
    }));
    all
}

/// A cluster role, and the binding that makes it hold in every namespace.
fn everywhere(name: &str, rules: Vec<PolicyRule>, namespace: &str) -> [Value; 2] {
    let binding = ClusterRoleBinding {
        metadata: named(name, None),
        role_ref: role_ref("ClusterRole", name),
        subjects: Some(vec![account(namespace)]),
    };
    [value(&ClusterRole { metadata: named(name, None), rules: Some(rules), ..ClusterRole::default() }), value(&binding)]
}

/// One rule for each group and set of verbs.
fn granted(grants: &[Grant]) -> Vec<PolicyRule> {
    let mut by_verbs: BTreeMap<(&str, &[&str]), Vec<String>> = BTreeMap::new();
    for grant in grants {
        by_verbs.entry((grant.group, grant.verbs)).or_default().push(grant.resource.to_owned());
    }
    let mut rules = Vec::with_capacity(by_verbs.len());
    for ((group, verbs), resources) in by_verbs {
        rules.push(PolicyRule {
            api_groups: Some(vec![group.to_owned()]),
            resources: Some(resources),
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            ..PolicyRule::default()
        });
    }
    rules
}

fn named(name: &str, namespace: Option<&str>) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), namespace: namespace.map(str::to_owned), ..ObjectMeta::default() }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef { api_group: Some("rbac.authorization.k8s.io".to_owned()), kind: kind.to_owned(), name: name.to_owned() }
}

fn account(namespace: &str) -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: ACCOUNT.to_owned(),
        namespace: Some(namespace.to_owned()),
        ..Subject::default()
    }
}

/// Manifests have text for keys, so writing cannot fail.
fn value(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
