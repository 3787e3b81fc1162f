//! Claims that several Pods share, and whose devices are not where all of them can be: each Pod gets a claim of its own.

use std::sync::Arc;

use serde_json::Value;

use super::case::{Case, with_own_claims};
use super::change::Change;
use super::pod_manifest::written;
use super::relax::{Suggestion, all_in_words};
use crate::allocate::{Allowance, Place, find_place_within};
use crate::api::claim::{ResourceClaim, ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::object::Object;
use crate::cluster::Cluster;
use crate::cluster::entries::key_of;

/// A shared claim with the change that replaces it, and the manifest of its template where that is new.
struct Replaced<'c> {
    claim: &'c ResourceClaim,
    change: Change,
    template: Option<Value>,
}

/// Claims of its own for the Pod of a case: in the place of one shared claim where that is enough, else of all.
pub(super) fn suggestion(cluster: &mut Cluster, case: &Case, allowance: &mut Allowance) -> Option<Suggestion> {
    if case.subject.kind != "Pod" {
        return None;
    }
    let pod = cluster.pods().get(&(case.subject.namespace.clone(), case.subject.name.clone())).cloned()?;
    let entries = pod.spec.resource_claims.iter();
    let shared = entries.filter_map(|entry| replaced(cluster, case, &entry.name, entry.resource_claim_name.as_ref()?));
    let shared: Vec<Replaced<'_>> = shared.collect();
    let each = shared.iter().map(std::slice::from_ref);
    let all = (shared.len() > 1).then_some(shared.as_slice());
    let (replaced, node) = each.chain(all).find_map(|some| {
        let claims: Vec<&ResourceClaim> = some.iter().map(|one| one.claim).collect();
        let question = with_own_claims(cluster, case, &pod, &claims);
        if question.nodes.is_empty() {
            return None;
        }
        match find_place_within(cluster, &question, allowance) {
            Place::On(node, _) => Some((some, node)),
            Place::Nowhere | Place::Failed(_) | Place::GaveUp => None,
        }
    })?;
    let changes: Vec<Change> = replaced.iter().map(|one| one.change.clone()).collect();
    let mut manifests = written(cluster, &pod, &changes);
    // What makes a Pod may not be here: then templates alone are of no use.
    if !manifests.is_empty() {
        manifests.splice(0..0, replaced.iter().filter_map(|one| one.template.clone()));
    }
    let text = all_in_words(case, &changes);
    let (deletes, steps) = (Vec::new(), Vec::new());
    Some(Suggestion { text, changes, node: Some(node), manifests, deletes, steps })
}

/// How an entry's claim is replaced. `None` where it has no devices yet, where nobody else uses it, or where names are taken.
fn replaced<'c>(cluster: &Cluster, case: &'c Case, entry: &str, name: &str) -> Option<Replaced<'c>> {
    let claim = case.allocated.iter().find(|claim| claim.metadata.name == name)?;
    if claim.status.reserved_for.iter().all(|user| user.name == case.subject.name) {
        return None;
    }
    let of_name = |name: String| {
        let mut template = ResourceClaimTemplate::default();
        template.metadata.namespace.clone_from(&claim.metadata.namespace);
        template.metadata.name = name;
        template.spec = ResourceClaimTemplateSpec { spec: Arc::clone(&claim.spec), ..template.spec };
        template
    };
    let known = |template: &ResourceClaimTemplate| cluster.templates().get(&key_of(&template.metadata));
    let is_same = |template: &ResourceClaimTemplate| {
        known(template).is_none_or(|known| known.spec.with_defaults() == template.spec.with_defaults())
    };
    let template = [name.to_owned(), format!("{name}-template")].into_iter().map(of_name).find(is_same)?;
    let change =
        Change::OwnClaim { entry: entry.to_owned(), claim: name.to_owned(), template: template.metadata.name.clone() };
    let is_new = known(&template).is_none();
    let template = is_new.then(|| Object::ResourceClaimTemplate(Arc::new(template)).write());
    Some(Replaced { claim, change, template })
}
