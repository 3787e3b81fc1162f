//! Roles that allow exactly what is done.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::core::ObjectMeta;

use super::resources::Resource;

/// Name of the role that `--from-cluster` needs.
const READER: &str = "apportion-reader";

/// The role that `--from-cluster` needs to do this with objects of these kinds.
pub(crate) fn reader_role(kinds: &[Resource], verbs: &[&str]) -> ClusterRole {
    ClusterRole {
        metadata: ObjectMeta { name: Some(READER.to_owned()), ..ObjectMeta::default() },
        rules: Some(rules(kinds, verbs)),
        ..ClusterRole::default()
    }
}

/// One rule for each group.
pub(crate) fn rules(resources: &[Resource], verbs: &[&str]) -> Vec<PolicyRule> {
    let mut by_group: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for resource in resources {
        by_group.entry(resource.group).or_default().push(resource.plural.to_owned());
    }
    let rule = |(group, mut plurals): (&str, Vec<String>)| {
        plurals.sort();
        PolicyRule {
            api_groups: Some(vec![group.to_owned()]),
            resources: Some(plurals),
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            ..PolicyRule::default()
        }
    };
    by_group.into_iter().map(rule).collect()
}
