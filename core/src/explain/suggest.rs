//! Changes that help: each tried with the allocator, none larger than needed, the smallest first.

use super::case::Case;
use super::change::Change;
use super::nodes::Refusing;
use super::relax::{AllocatorTrials, Found, Suggestion, all_in_words, fewest, ranked, warning};
use super::survey::Survey;
use super::{claim_manifest, nodes, pod_manifest, propose, remake, supply};
use crate::allocate::Allowance;
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::scheduler::special;

/// Most kinds of nodes on which changes are tried, the nearest first.
const MOST_NODES: usize = 64;

/// The suggestions for a case whose claims fit nowhere.
pub(crate) fn suggestions(
    cluster: &mut Cluster,
    case: &Case,
    survey: &Survey,
    refusing: &mut Refusing,
    allowance: &mut Allowance,
) -> Vec<Suggestion> {
    let all = of_claims(cluster, case, survey, refusing, allowance);
    remake::beside(cluster, case, all, allowance, |cluster, remade, allowance| {
        let survey = Survey::of(cluster, &remade.question);
        of_claims(cluster, remade, &survey, refusing, allowance)
    })
}

fn of_claims(
    cluster: &mut Cluster,
    case: &Case,
    survey: &Survey,
    refusing: &mut Refusing,
    allowance: &mut Allowance,
) -> Vec<Suggestion> {
    let mut all = allowance.lend(allowance.half(), |part| nodes::suggestions(cluster, case, refusing, part));
    let nodes = survey.nearest(MOST_NODES);
    let mut trials = AllocatorTrials { cluster, case, survey, nodes, allowance };
    let mut found: Vec<Found> = Vec::new();
    let ladders = propose::ladders(&mut trials);
    // Of changes of one kind the first that helps is the smallest.
    let aside = trials.allowance.set_aside(trials.allowance.half());
    found.extend(ladders.iter().filter_map(|ladder| ladder.iter().find_map(|change| trials.found(change.clone()))));
    trials.allowance.put_back(aside);
    found.extend(supply::other_classes(&mut trials));
    found.extend(supply::other_nodes(&mut trials));
    if found.is_empty() && all.is_empty() {
        found.extend(together(&mut trials, &ladders));
        let AllocatorTrials { cluster, allowance, .. } = &mut trials;
        let half = allowance.half();
        all.extend(allowance.lend(half, |part| nodes::with_claims(cluster, case, refusing, part)));
    }
    found.extend(supply::freed(&mut trials));
    found.extend(supply::added(&mut trials));
    let pod = case.pod.as_ref().and_then(|key| cluster.pods().get(key));
    let suggestion = |(mut changes, node): Found| {
        let is_of_pod = pod.is_some_and(|pod| of_containers(pod, &mut changes));
        let manifests = match pod.filter(|_| is_of_pod) {
            Some(pod) => pod_manifest::written(cluster, pod, &changes),
            None => claim_manifest::manifests(cluster, case, &changes),
        };
        let is_cluster =
            manifests.iter().any(|one| one.get("kind").is_some_and(|kind| kind == "ClusterResourceClaimTemplate"));
        let whole = if is_cluster { ", in the template of the whole cluster" } else { "" };
        let text = format!("{}{whole}{}", all_in_words(case, &changes), warning(cluster, &changes));
        Suggestion { text, changes, node: Some(node), manifests, deletes: Vec::new(), steps: Vec::new() }
    };
    all.extend(found.into_iter().map(suggestion));
    ranked(&mut all);
    all
}

/// Makes changes to what the containers of a Pod ask for of those to the claim that the scheduler makes for it. Whether there were any.
fn of_containers(pod: &Pod, changes: &mut [Change]) -> bool {
    let mut is_any = false;
    for change in changes {
        let Change::LowerCount { claim, request, from, to } = change else { continue };
        let Some((resource, _)) = special::served(pod, claim, request) else { continue };
        *change = Change::LowerResource { resource, from: from.to_string(), to: to.to_string() };
        is_any = true;
    }
    is_any
}

/// The suggestions for a case that no node takes, whatever the devices are.
pub(crate) fn of_nodes(
    cluster: &mut Cluster,
    case: &Case,
    refusing: &mut Refusing,
    allowance: &mut Allowance,
) -> Vec<Suggestion> {
    let mut of_case = |cluster: &mut Cluster, case: &Case, allowance: &mut Allowance| {
        let mut all = nodes::suggestions(cluster, case, refusing, allowance);
        if all.is_empty() {
            all = nodes::with_claims(cluster, case, refusing, allowance);
        }
        ranked(&mut all);
        all
    };
    let all = of_case(cluster, case, allowance);
    remake::beside(cluster, case, all, allowance, of_case)
}

/// Several changes to the claims that help only together: all that there are, less everything that is not needed.
fn together(trials: &mut AllocatorTrials<'_>, ladders: &[Vec<Change>]) -> Option<Found> {
    // The largest change of every kind; what is laborious is left out first. Other expressions are left aside, because none of
    // them asks for less than all others: leaving the selector out does.
    let asks_less = |change: &Change| !matches!(change, Change::ChangeSelector { .. } | Change::ChangeClass { .. });
    let mut kept: Vec<Change> = ladders.iter().filter_map(|ladder| ladder.last().cloned()).filter(asks_less).collect();
    kept.arrange_by_key(|change| std::cmp::Reverse((change.effort(), index(change))));
    let node = trials.helps(&kept)?;
    let (mut kept, mut node) = fewest(kept, node, |rest| trials.helps(rest));
    // Then every change as small as it can be.
    for at in 0..kept.len() {
        let Some(largest) = kept.get(at).cloned() else { continue };
        let is_about_it =
            |ladder: &&Vec<Change>| ladder.last().is_some_and(|last| *last == largest || rewords(last, &largest));
        for smaller in ladders.iter().filter(is_about_it).flatten() {
            let mut tried = kept.clone();
            if let Some(slot) = tried.get_mut(at) {
                slot.clone_from(smaller);
            }
            if let Some(found) = trials.helps(&tried) {
                (kept, node) = (tried, found);
                break;
            }
        }
    }
    kept.arrange_by_key(|change| (change.effort(), index(change)));
    // Positions are those of the claim as it is, so what stands behind is left out first.
    let mut ordered = kept.clone();
    ordered.arrange_by_key(|change| std::cmp::Reverse(index(change)));
    (kept.len() > 1).then_some((ordered, node))
}

/// Whether one change writes the selector anew that the other one leaves out.
fn rewords(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (
            Change::ChangeSelector { claim, request, index, .. },
            Change::DropSelector { claim: its_claim, request: its_request, index: its_index, .. },
        ) => (claim, request, index) == (its_claim, its_request, its_index),
        _ => false,
    }
}

/// Position of what is changed in its list.
fn index(change: &Change) -> u64 {
    let (Change::DropSelector { index, .. }
    | Change::ChangeSelector { index, .. }
    | Change::DropConstraint { index, .. }
    | Change::ChangeClass { index, .. }) = change
    else {
        return 0;
    };
    *index
}
