//! Whether the stated Kubernetes version would decide otherwise, because of a known defect.

use super::node::{PATIENCE, Way};
use super::quirks::Quirks;
use super::{Asked, Budget, Limits, NodeRefusal, Outcome, decide};
use crate::api::claim::{AllocationMode, DeviceRequest};
use crate::cluster::{Cluster, Memory};
use crate::finding::{Code, Finding};
use crate::profile::Mode;

/// How many steps of the comparison are worth a finding. Where a defect can show nothing may be skipped, so it could take long.
const MOST_STEPS: u64 = 100_000;

/// A finding when the stated version's answer is another one, in sound mode; it names the defects.
///
/// The question is asked again with the defects only where one of them can show at all: where question and cluster have what it
/// takes, and a search came to a point from which a defect would have made it go on otherwise (`met_defect`). Where that takes too long,
/// the finding says that it was not found out.
pub(super) fn find(
    cluster: &Cluster,
    memory: &mut Memory,
    question: &Asked<'_>,
    (outcome, met_defect): (&Outcome, bool),
    limits: &Limits,
) -> Vec<Finding> {
    let profile = cluster.profile();
    let mut known = possible(cluster, question, Quirks::known_in(profile.release()));
    if !met_defect {
        // How often an entry is listed in the result does not depend on the search.
        known = Quirks { config_once: known.config_once, ..Quirks::default() };
    }
    if profile.mode == Mode::Reference || known == Quirks::default() || matches!(outcome, Outcome::GaveUp { .. }) {
        return Vec::new();
    }
    let most_steps = limits.max_steps.min(MOST_STEPS);
    let mut compare = |quirks: Quirks| {
        let mut budget = Budget { steps: 0, limit: most_steps };
        let (other, _) = decide(cluster, memory, question, Way { quirks, patience: PATIENCE }, &mut budget);
        match other {
            Outcome::GaveUp { .. } => Comparison::CutOff,
            other if is_same(&other, outcome) => Comparison::Same,
            _ => Comparison::Differs,
        }
    };
    let version = profile.release();
    match compare(known) {
        Comparison::Same => return Vec::new(),
        Comparison::CutOff => {
            let names = listed(known.each().map(|(name, _)| name));
            let message = format!(
                "whether the scheduler of Kubernetes {version} decides otherwise is not known: the comparison was cut off after \
                 {most_steps} steps; it can have its defect {names}"
            );
            return vec![
                Finding::new(Code::AllocReferenceUnknown, "", message)
                    .with_hint("mode `reference` searches on, up to the step limit"),
            ];
        }
        Comparison::Differs => {}
    }
    // Defects can need each other to show; then all that are possible are named.
    let alone = known.each().filter(|(_, alone)| compare(*alone) == Comparison::Differs);
    let mut names: Vec<&str> = alone.map(|(name, _)| name).collect();
    if names.is_empty() {
        names = known.each().map(|(name, _)| name).collect();
    }
    let names = listed(names);
    let message = format!("the scheduler of Kubernetes {version} decides otherwise, because of its defect {names}");
    vec![
        Finding::new(Code::AllocReferenceDiffers, "", message)
            .with_hint("mode `reference` shows what it does; the answer given here is the correct one"),
    ]
}

/// Whether there is nothing to find as long as no search meets a defect.
pub(super) fn is_up_to_search(cluster: &Cluster, question: &Asked<'_>) -> bool {
    let profile = cluster.profile();
    profile.mode == Mode::Sound && !possible(cluster, question, Quirks::known_in(profile.release())).config_once
}

#[derive(PartialEq, Eq)]
enum Comparison {
    Same,
    Differs,
    CutOff,
}

/// Whether two decisions are the same to whoever sees the reference's side of them: which request a failure is about does not show there.
fn is_same(a: &Outcome, b: &Outcome) -> bool {
    let refusals = |nodes: &[NodeRefusal]| -> Vec<(String, Option<String>)> {
        let text = |refusal: &NodeRefusal| refusal.failure.as_ref().map(|failure| failure.reference.clone());
        nodes.iter().map(|refusal| (refusal.node.clone(), text(refusal))).collect()
    };
    match (a, b) {
        (Outcome::Unsatisfied { nodes: a }, Outcome::Unsatisfied { nodes: b }) => refusals(a) == refusals(b),
        (Outcome::Failed { node: a, failure: of_a }, Outcome::Failed { node: b, failure: of_b }) => {
            a == b && of_a.reference == of_b.reference
        }
        (a, b) => a == b,
    }
}

fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The defects that can show in a question on this cluster.
fn possible(cluster: &Cluster, question: &Asked<'_>, known: Quirks) -> Quirks {
    if known == Quirks::default() {
        return known;
    }
    let features = &cluster.profile().features;
    let claims = || question.claims.iter().map(|claim| &claim.spec.devices);
    let constraints = || claims().flat_map(|devices| &devices.constraints);
    let has_counters = features.partitionable_devices && cluster.inventory().slices_with_counters().next().is_some();
    let has_all = claims().flat_map(|devices| &devices.requests).any(asks_for_all);
    let names_several = claims().flat_map(|devices| &devices.config).any(|config| config.requests.len() > 1);
    // Shares and constraints leak too, but only counters and mode `All` make it show. Where a constraint leaks, what it does not
    // restore shows even for single values.
    let leaks = known.counter_rollback && (has_counters || (features.consumable_capacity && has_all));
    Quirks {
        counter_rollback: leaks,
        empty_share: known.empty_share && features.consumable_capacity && has_counters,
        counters_by_pool_id: known.counters_by_pool_id && has_counters,
        list_match_restore: known.list_match_restore
            && (features.list_type_attributes || leaks)
            && constraints().any(|constraint| constraint.match_attribute.is_some()),
        distinct_per_device: known.distinct_per_device
            && constraints().any(|constraint| constraint.distinct_attribute.is_some()),
        config_once: known.config_once && names_several,
        all_alternative: known.all_alternative
            && claims().flat_map(|devices| &devices.requests).any(has_all_as_later_alternative),
    }
}

fn has_all_as_later_alternative(request: &DeviceRequest) -> bool {
    request.first_available.iter().skip(1).any(|sub| sub.allocation_mode == AllocationMode::All)
}

fn asks_for_all(request: &DeviceRequest) -> bool {
    let exact = request.exactly.iter().map(|exact| &exact.allocation_mode);
    exact.chain(request.first_available.iter().map(|sub| &sub.allocation_mode)).any(|mode| *mode == AllocationMode::All)
}
