//! Claims that were made from earlier versions of their templates: they keep what these said until they are made anew.

use super::case::Case;
use super::change::Change;
use super::origin::{newer_spec, template_of};
use super::reasons::problems::request_problems;
use super::relax::{Suggestion, all_in_words, ranked};
use crate::allocate::{Allowance, Place, find_place_within};
use crate::cluster::Cluster;

/// The suggestions for a case beside those of its claims as they are: to make stale claims anew where that is enough, else together with
/// what helps then. A template that has changed is not written as it was.
pub(super) fn beside(
    cluster: &mut Cluster,
    case: &Case,
    mut all: Vec<Suggestion>,
    allowance: &mut Allowance,
    of_case: impl FnOnce(&mut Cluster, &Case, &mut Allowance) -> Vec<Suggestion>,
) -> Vec<Suggestion> {
    let Some((remade, changes)) = remade(cluster, case) else { return all };
    all.retain(|suggestion| !writes_template(suggestion, &changes));
    let text = all_in_words(case, &changes);
    if let Some(node) = place(cluster, &remade, allowance) {
        let (manifests, deletes, steps) = (Vec::new(), Vec::new(), Vec::new());
        all.push(Suggestion { text, changes, node, manifests, deletes, steps });
    } else {
        let others = of_case(cluster, &remade, allowance).into_iter();
        let others: Vec<Suggestion> =
            others.filter(|other| all.iter().all(|known| known.changes != other.changes)).collect();
        all.extend(others.into_iter().map(|other| match writes_template(&other, &changes) {
            // Then the claims are made anew for the template's sake.
            true => Suggestion { text: format!("{}; {}", other.text, reasons(&changes)), ..other },
            false => Suggestion {
                text: format!("{text}, and {}", other.text),
                changes: changes.iter().chain(&other.changes).cloned().collect(),
                ..other
            },
        }));
    }
    ranked(&mut all);
    all
}

/// The suggestion to make stale claims anew, where that is enough.
pub(super) fn alone(cluster: &mut Cluster, case: &Case, allowance: &mut Allowance) -> Vec<Suggestion> {
    beside(cluster, case, Vec::new(), allowance, |_, _, _| Vec::new())
}

/// The case of a Pod or PodGroup as it is once its stale claims are made anew, and the changes that do so. `None` where no claim is stale.
fn remade(cluster: &Cluster, case: &Case) -> Option<(Case, Vec<Change>)> {
    if !matches!(case.subject.kind.as_str(), "Pod" | "PodGroup") {
        return None;
    }
    let mut remade = case.clone();
    let mut changes = Vec::new();
    for claim in remade.question.claims.iter_mut().chain(&mut remade.unallocated) {
        let Some(spec) = newer_spec(cluster, claim) else { continue };
        let Some(template) = template_of(cluster, claim) else { continue };
        let change = Change::RemakeClaim { claim: claim.metadata.name.clone(), template: template.name };
        if !changes.contains(&change) {
            changes.push(change);
        }
        claim.spec = spec;
    }
    (!changes.is_empty()).then_some((remade, changes))
}

/// Why claims are made anew.
fn reasons(changes: &[Change]) -> String {
    let reasons = changes.iter().filter_map(|change| match change {
        Change::RemakeClaim { claim, template } => {
            Some(format!("claim `{claim}` was made from an earlier version of template `{template}`"))
        }
        _ => None,
    });
    reasons.collect::<Vec<_>>().join(", ")
}

/// Whether a suggestion writes the template of a stale claim.
fn writes_template(suggestion: &Suggestion, changes: &[Change]) -> bool {
    let is_stale = |name: &str| {
        changes.iter().any(|change| matches!(change, Change::RemakeClaim { template, .. } if template == name))
    };
    suggestion.manifests.iter().any(|manifest| {
        let text = |path: &str| manifest.pointer(path).and_then(|text| text.as_str()).unwrap_or_default();
        text("/kind").ends_with("ResourceClaimTemplate") && is_stale(text("/metadata/name"))
    })
}

/// Whether the claims fit, with the node; `Some(None)` where only their faults were in the way so far.
fn place(cluster: &mut Cluster, remade: &Case, allowance: &mut Allowance) -> Option<Option<String>> {
    if remade.pod.is_none() && remade.question.nodes.is_empty() {
        let is_sound = remade.unallocated.iter().all(|claim| request_problems(cluster, claim).is_empty());
        return is_sound.then_some(None);
    }
    if remade.question.nodes.is_empty() {
        return None;
    }
    match find_place_within(cluster, &remade.question, allowance) {
        Place::On(node, _) => Some(Some(node)),
        Place::Nowhere | Place::Failed(_) | Place::GaveUp => None,
    }
}
