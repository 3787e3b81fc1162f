//! The smallest set of things that cannot hold together, found by taking away one after the other as long as the rest still
//! cannot.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::case::Case;
use super::change::parts;
use super::own::own_selectors;
use super::survey::Survey;
use super::trial::freed;
use super::{ConflictPart, holders, words};
use crate::allocate::inspect::UnitSeen;
use crate::allocate::{Allowance, Place, Question, find_place_within};
use crate::api::claim::{DeviceToleration, ResourceClaim, TolerationOperator};
use crate::api::object::Object;
use crate::cluster::{Cluster, Key};
use crate::gather::Gather;

/// Most kinds of nodes on which it is tried.
const MOST_NODES: usize = 128;

/// Most claims of which it is found out which ones matter.
const MOST_HOLDERS: usize = 64;

/// One thing that can be taken away.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Allocations,
    Taints,
    Constraint { claim: usize, index: usize },
    Selector { claim: usize, request: String, index: usize },
    Request { claim: usize, name: String },
}

/// The smallest contradiction; empty where one thing alone is the cause, and where it would take too long to find.
pub(crate) fn smallest(
    cluster: &mut Cluster,
    case: &Case,
    survey: &Survey,
    allowance: &mut Allowance,
) -> Vec<ConflictPart> {
    let nodes = survey.order();
    if nodes.len() > MOST_NODES {
        return Vec::new();
    }
    let holding = cluster.claims().iter().filter(|(_, claim)| claim.status.allocation.is_some());
    let mut holders: Vec<Key> = holding.map(|(key, _)| key.clone()).take(MOST_HOLDERS + 1).collect();
    let mut kept = parts_of(case, survey);
    if holders.len() > MOST_HOLDERS {
        holders.clear();
    } else {
        kept.insert(0, Part::Allocations);
    }
    // What is freed on the way is not given back.
    let mut copy = if holders.is_empty() { None } else { Some(cluster.clone()) };
    let searched = copy.as_mut().unwrap_or(&mut *cluster);
    let mut search = Search { cluster: searched, case, units: &survey.units, nodes, allowance, freed: Vec::new() };
    let mut index = 0;
    while let Some(part) = kept.get(index).cloned() {
        let mut rest = kept.clone();
        rest.remove(index);
        if part == Part::Allocations {
            search.free_all(&holders);
        }
        if search.fits(&rest) {
            if part == Part::Allocations {
                search.restore();
            }
            index = index.saturating_add(1);
        } else {
            kept = rest;
        }
    }
    if search.allowance.is_used_up() {
        return Vec::new();
    }
    let requests = kept.iter().filter(|part| matches!(part, Part::Request { .. })).count();
    if requests < 2 && kept.len() < 3 {
        return Vec::new();
    }
    let who = if kept.contains(&Part::Allocations) { search.needed_holders(&holders, &kept) } else { Vec::new() };
    kept.iter().map(|part| told(cluster, case, survey, part, &who)).collect()
}

/// Everything that can be taken away, what is easiest to do without first.
fn parts_of(case: &Case, survey: &Survey) -> Vec<Part> {
    let mut all = vec![Part::Taints];
    for (claim, one) in case.question.claims.iter().enumerate() {
        let constraints = 0..one.spec.devices.constraints.len();
        all.extend(constraints.map(|index| Part::Constraint { claim, index }));
    }
    for unit in &survey.units {
        let Some(claim) = case.question.claims.get(unit.claim) else { continue };
        let part = |index| Part::Selector { claim: unit.claim, request: unit.name.clone(), index };
        all.extend((0..own_selectors(claim, unit).len()).map(part));
    }
    for (claim, one) in case.question.claims.iter().enumerate() {
        let requests = one.spec.devices.requests.iter();
        all.extend(requests.map(|request| Part::Request { claim, name: request.name.clone() }));
    }
    all
}

struct Search<'s> {
    cluster: &'s mut Cluster,
    case: &'s Case,
    units: &'s [UnitSeen],
    nodes: Vec<String>,
    allowance: &'s mut Allowance,
    freed: Vec<Arc<ResourceClaim>>,
}

impl Search<'_> {
    fn free_all(&mut self, holders: &[Key]) {
        for key in holders {
            let claim = self.free(key);
            self.freed.extend(claim);
        }
    }

    /// Frees a claim, which comes back as it was.
    fn free(&mut self, key: &Key) -> Option<Arc<ResourceClaim>> {
        let claim = self.cluster.claims().get(key).cloned()?;
        self.cluster.apply(Object::ResourceClaim(Arc::new(freed(&claim))));
        Some(claim)
    }

    fn restore(&mut self) {
        for claim in std::mem::take(&mut self.freed) {
            self.cluster.apply(Object::ResourceClaim(claim));
        }
    }

    /// Whether the claims fit with only some parts left. Not to know counts as fitting: then the part stays.
    fn fits(&mut self, kept: &[Part]) -> bool {
        let mut claims = self.case.question.claims.clone();
        for (position, claim) in claims.iter_mut().enumerate() {
            reduce(claim, position, self.units, kept);
        }
        let in_use = self.case.question.in_use.clone();
        let question = Question { claims, nodes: self.nodes.clone(), in_use };
        !matches!(find_place_within(self.cluster, &question, self.allowance), Place::Nowhere)
    }

    /// The claims whose devices are needed for the contradiction.
    fn needed_holders(&mut self, holders: &[Key], kept: &[Part]) -> Vec<Key> {
        let mut needed = Vec::new();
        for key in holders {
            let Some(claim) = self.free(key) else { continue };
            if self.fits(kept) {
                self.cluster.apply(Object::ResourceClaim(claim));
                needed.push(key.clone());
            }
        }
        needed
    }
}

/// Leaves out of a claim what is not kept.
fn reduce(claim: &mut ResourceClaim, position: usize, units: &[UnitSeen], kept: &[Part]) {
    let spec = claim.devices_mut();
    for UnitSeen { name, .. } in units.iter().filter(|unit| unit.claim == position) {
        let Some(parts) = parts(spec, name) else { continue };
        let mut index = 0;
        parts.selectors.retain(|_| {
            let part = Part::Selector { claim: position, request: name.clone(), index };
            index = index.saturating_add(1);
            kept.contains(&part)
        });
        if !kept.contains(&Part::Taints) {
            let operator = Some(TolerationOperator::Exists);
            parts.tolerations.push(DeviceToleration { operator, ..DeviceToleration::default() });
        }
    }
    let mut index = 0;
    spec.constraints.retain(|_| {
        let part = Part::Constraint { claim: position, index };
        index = index.saturating_add(1);
        kept.contains(&part)
    });
    let stays = |name: &str| kept.contains(&Part::Request { claim: position, name: name.to_owned() });
    let named: BTreeSet<String> = spec.requests.iter().map(|request| request.name.clone()).gather();
    spec.requests.retain(|request| stays(&request.name));
    for constraint in &mut spec.constraints {
        let had = !constraint.requests.is_empty();
        constraint.requests.retain(|name| {
            let main = name.split('/').next().unwrap_or_default();
            !named.contains(main) || stays(main)
        });
        if had && constraint.requests.is_empty() {
            // Nothing is left that it is about; without names it would be about everything.
            constraint.requests.push(String::new());
        }
    }
}

fn told(cluster: &Cluster, case: &Case, survey: &Survey, part: &Part, who: &[Key]) -> ConflictPart {
    let claim_name = |position: usize| {
        let name = case.question.claims.get(position).map(|claim| claim.metadata.name.as_str()).unwrap_or_default();
        if case.question.claims.len() > 1 { format!(" of claim `{name}`") } else { String::new() }
    };
    let (kind, text) = match part {
        Part::Allocations => {
            let holders: Vec<_> =
                who.iter().filter_map(|key| Some(holders::holder(cluster, cluster.claims().get(key)?))).collect();
            ("allocations", format!("what is in use: {}", holders::in_words(&holders)))
        }
        Part::Taints => ("taints", "taints that are not tolerated".to_owned()),
        Part::Constraint { claim, index } => {
            let text = case.question.claims.get(*claim).map(|one| constraint_text(one, *index)).unwrap_or_default();
            ("constraint", format!("`constraints[{index}]`{}: {text}", claim_name(*claim)))
        }
        Part::Selector { claim, request, index } => {
            let unit = survey.units.iter().find(|unit| unit.claim == *claim && unit.name == *request);
            let own = unit.zip(case.question.claims.get(*claim)).map(|(unit, claim)| own_selectors(claim, unit));
            let cel = own.and_then(|own| own.get(*index)?.cel.as_ref());
            let expression = cel.map(|cel| cel.expression.as_str()).unwrap_or_default();
            let which = format!("`selectors[{index}]` of request `{request}`");
            ("selector", format!("{which}{}: `{}`", claim_name(*claim), expression.trim()))
        }
        Part::Request { claim, name } => {
            let is_it = |unit: &&UnitSeen| unit.claim == *claim && unit.name.split('/').next() == Some(name);
            let units = survey.units.iter().filter(is_it).map(|unit| match unit.is_all {
                true => format!("all devices of class `{}`", unit.class),
                false => format!("{} of class `{}`", words::plural(unit.count, "device"), unit.class),
            });
            let units: Vec<String> = units.collect();
            ("request", format!("request `{name}`{}: {}", claim_name(*claim), units.join(", or ")))
        }
    };
    ConflictPart { kind: kind.to_owned(), text }
}

/// What a constraint says.
pub(crate) fn constraint_text(claim: &ResourceClaim, index: usize) -> String {
    let Some(constraint) = claim.spec.devices.constraints.get(index) else { return String::new() };
    let requests = match constraint.requests.as_slice() {
        [] => String::new(),
        names => format!(" for {}", words::list(names.iter())),
    };
    match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (Some(attribute), _) => format!("`matchAttribute: {attribute}`{requests}"),
        (None, Some(attribute)) => format!("`distinctAttribute: {attribute}`{requests}"),
        (None, None) => "an empty constraint".to_owned(),
    }
}
