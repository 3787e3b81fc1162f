//! Claims that more Pods name than can share one.

use std::collections::BTreeMap;

use super::index::{Index, Key};
use super::json::{Json, field, inner, list, namespace, reference, text};
use super::member::Member;
use super::pods::{PodSpec, SOURCES, pod_specs};
use crate::finding::{Code, Finding};

/// Pods that may share one claim.
const MOST_CONSUMERS: u64 = 256;

/// The uses of a claim that are told.
const MOST_TOLD: usize = 3;

/// The claims that Pods name, by namespace and name.
#[derive(Default)]
pub(super) struct SharedClaims(BTreeMap<String, BTreeMap<String, Uses>>);

#[derive(Default)]
struct Uses {
    pods: u64,
    /// Objects with the path at which they name the claim.
    first: Vec<(usize, String)>,
}

impl SharedClaims {
    /// Adds the claims that the Pods of an object name. One that a PodGroup holds is shared by any number.
    pub(super) fn add(&mut self, number: usize, object: &Json<'_>, index: &Index<'_>) {
        for PodSpec { at, spec, count } in pod_specs(object) {
            for (entry, claim) in list(field(spec, "resourceClaims")).iter().enumerate() {
                let (space, name) = (namespace(object), text(claim, SOURCES[0]));
                if name.is_empty() || is_of_group(space, spec, claim, index) {
                    continue;
                }
                let uses = match self.0.get_mut(space).and_then(|claims| claims.get_mut(name)) {
                    Some(known) => known,
                    None => self.0.entry(space.to_owned()).or_default().entry(name.to_owned()).or_default(),
                };
                uses.pods = uses.pods.saturating_add(count);
                if uses.first.len() < MOST_TOLD {
                    uses.first.push((number, format!("{at}.resourceClaims[{entry}].resourceClaimName")));
                }
            }
        }
    }

    pub(super) fn check(self, members: &[impl Member], all: &mut [Vec<Finding>]) {
        let claims = self.0.into_values().flatten();
        for (name, Uses { pods, first }) in claims.filter(|(_, uses)| uses.pods > MOST_CONSUMERS) {
            for (number, path) in first {
                let message = format!("{pods} Pods name ResourceClaim `{name}`, at most {MOST_CONSUMERS} can share it");
                let finding = Finding::new(Code::LinkClaimSharedByMany, path, message)
                    .with_hint("let a PodGroup hold the claim: it takes one place whatever the number of its Pods");
                if let (Some(findings), Some(member)) = (all.get_mut(number), members.get(number)) {
                    findings.push(finding.about(reference(&member.object())));
                }
            }
        }
    }
}

/// Whether the PodGroup of a Pod holds a claim for it: under the same name, from the same source.
fn is_of_group(space: &str, spec: &Json<'_>, claim: &Json<'_>, index: &Index<'_>) -> bool {
    let Some(group) = field(spec, "schedulingGroup") else { return false };
    let Some(group) = index.groups.get(&Key(space, text(group, "podGroupName"))) else { return false };
    let same = |entry: &Json<'_>, field: &str| text(entry, field) == text(claim, field);
    list(inner(group, "spec.resourceClaims")).iter().any(|entry| same(entry, "name") && same(entry, SOURCES[0]))
}
