//! Why requests that each find enough devices do not find them together, for somebody who does not know how devices are allocated.

use std::collections::BTreeSet;

use super::case::Case;
use super::counters::overdrawn;
use super::distinct::Scarce;
use super::plain::noun;
use super::statistics;
use super::survey::Survey;
use super::words::{list, plural};
use crate::allocate::inspect::{DeviceSeen, NodeSeen, Observer, Obstacle, UnitSeen, inspect};
use crate::api::claim::DeviceConstraint;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::gather::Gather;

/// Most requests and values that are named.
const MOST: usize = 4;

/// A claim and a request of it, by position.
type RequestAt = (usize, usize);

/// The sentence, where one node or one constraint is what they lack: `no node has devices for all requests: ...`.
pub(crate) fn together(cluster: &mut Cluster, case: &Case, survey: &Survey) -> Option<String> {
    apart(case, survey)
        .or_else(|| summed(case, survey))
        .or_else(|| constrained(cluster, case, survey))
        .or_else(|| overdrawn(cluster, case, survey))
}

/// That requests need more devices together than any node has for them: `asks for 5 GPUs on one node (3 for `a`, 2 for `b`); the most
/// on one is 4`.
fn summed(case: &Case, survey: &Survey) -> Option<String> {
    let scarce: Vec<Scarce> = survey.nodes.iter().map(|node| survey.scarce(node)).collect::<Option<_>>()?;
    let least = scarce.iter().min_by_key(|scarce| scarce.lack())?;
    let closest = survey.closest()?.name;
    let needs = survey.nodes.iter().find(|node| node.name == closest)?.units.iter();
    let is_scarce = |unit: usize| survey.bit(unit).is_some_and(|bit| least.units & bit != 0);
    let units: Vec<(&UnitSeen, u64)> = survey
        .units
        .iter()
        .zip(needs)
        .enumerate()
        .filter(|(at, _)| is_scarce(*at))
        .map(|(_, (unit, (needed, _)))| (unit, *needed))
        .collect();
    let mut nouns: Vec<&str> = units.iter().map(|(unit, _)| noun(&unit.class)).collect();
    nouns.dedup();
    let noun = if let [only] = nouns.as_slice() { *only } else { "device" };
    let parts = units.iter().take(MOST).map(|(unit, needed)| {
        let name = request_name(case, survey, (unit.claim, unit.request));
        format!("{needed} for {name}")
    });
    let more = units.len().saturating_sub(MOST);
    let parts: Vec<String> = parts.chain((more > 0).then(|| format!("and for {more} more"))).collect();
    let (needed, there) = (plural(least.needed, noun), least.there);
    Some(format!("asks for {needed} on one node ({}); the most on one is {there}", parts.join(", ")))
}

/// That requests find their devices on different nodes.
fn apart(case: &Case, survey: &Survey) -> Option<String> {
    let mut serving: Vec<(RequestAt, Vec<&String>)> = Vec::new();
    for unit in &survey.units {
        let at = (unit.claim, unit.request);
        if serving.iter().all(|(known, _)| *known != at) {
            serving.push((at, Vec::new()));
        }
    }
    for node in &survey.nodes {
        let mut serves_all = true;
        for (at, nodes) in &mut serving {
            let mut units = survey.units.iter().zip(&node.units).filter(|(unit, _)| (unit.claim, unit.request) == *at);
            match units.any(|(_, (needed, usable))| usable >= needed) {
                true => nodes.push(&node.name),
                false => serves_all = false,
            }
        }
        if serves_all {
            return None;
        }
    }
    if serving.len() < 2 || serving.iter().any(|(_, nodes)| nodes.is_empty()) {
        return None;
    }
    // A request that finds devices on all nodes is not what keeps the others apart.
    let narrow = serving.iter().filter(|(_, nodes)| nodes.len() < survey.nodes.len());
    let parts = narrow.take(MOST).map(|(at, nodes)| {
        format!("those for {} are on {}", request_name(case, survey, *at), list(nodes.iter().copied()))
    });
    let parts: Vec<String> = parts.collect();
    Some(format!("no node has devices for all requests: {}", parts.join(", ")))
}

/// A request as a person finds it.
fn request_name(case: &Case, survey: &Survey, at: RequestAt) -> String {
    let of_request = |unit: &&UnitSeen| (unit.claim, unit.request) == at;
    let name = survey.units.iter().find(of_request).map(|unit| unit.name.split('/').next().unwrap_or_default());
    let name = name.unwrap_or_default();
    match case.question.claims.get(at.0).filter(|_| case.question.claims.len() > 1) {
        Some(claim) => format!("`{name}` of claim `{}`", claim.metadata.name),
        None => format!("`{name}`"),
    }
}

/// Values, each with how many devices have it.
type Numbers = Vec<(String, u64)>;

/// What usable devices of one node have for constraints, by unit and constraint.
struct Values<'s> {
    units: &'s [UnitSeen],
    needs: Vec<u64>,
    held: Vec<((usize, usize), Numbers)>,
    has_lists: bool,
}

impl Observer for Values<'_> {
    fn node(&mut self, node: &NodeSeen<'_>) -> bool {
        self.needs.clone_from(&node.needs);
        true
    }

    fn device(&mut self, unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]) {
        let Some(seen) = self.units.get(unit).filter(|_| obstacles.is_empty()) else { return };
        for ((index, _), value) in seen.constraints.iter().zip(device.held) {
            let Some(value) = value.map(statistics::in_words) else { continue };
            // Lists match where they have one element in common.
            self.has_lists |= value.starts_with('[');
            let at = (unit, *index);
            if self.held.iter().all(|(known, _)| *known != at) {
                self.held.push((at, Vec::new()));
            }
            let Some((_, numbers)) = self.held.iter_mut().find(|(known, _)| *known == at) else { continue };
            match numbers.iter_mut().find(|(known, _)| *known == value) {
                Some((_, number)) => *number = number.saturating_add(1),
                None => numbers.push((value, 1)),
            }
        }
    }
}

/// That on the nearest node no devices satisfy one constraint.
fn constrained(cluster: &mut Cluster, case: &Case, survey: &Survey) -> Option<String> {
    let node = survey.closest()?.name;
    let mut values = Values { units: &survey.units, needs: Vec::new(), held: Vec::new(), has_lists: false };
    inspect(cluster, &case.question.on(vec![node.clone()]), &mut values);
    // Of alternatives it is not known which one is meant.
    if values.has_lists || survey.units.iter().any(|unit| unit.sub.is_some()) {
        return None;
    }
    case.question.claims.iter().enumerate().find_map(|(claim, one)| {
        let mut constraints = one.spec.devices.constraints.iter().enumerate();
        constraints.find_map(|(index, constraint)| {
            let units = survey.units.iter().enumerate().filter(|(_, unit)| {
                unit.claim == claim && unit.constraints.iter().any(|(covering, _)| *covering == index)
            });
            let covered: Vec<Covered<'_>> = units
                .filter_map(|(unit, seen)| {
                    let (_, held) = values.held.iter().find(|(known, _)| *known == (unit, index))?;
                    let needed = *values.needs.get(unit)?;
                    Some(Covered { name: request_name(case, survey, (seen.claim, seen.request)), needed, held })
                })
                .collect();
            broken(constraint, &covered, &node)
        })
    })
}

/// A request that a constraint covers, with what its devices have.
struct Covered<'v> {
    name: String,
    needed: u64,
    held: &'v Numbers,
}

/// The sentence where no choice of devices of a node satisfies a constraint, whatever the others ask.
fn broken(constraint: &DeviceConstraint, covered: &[Covered<'_>], node: &str) -> Option<String> {
    let names: Vec<&String> = covered.iter().map(|one| &one.name).collect();
    let (first, others) = covered.split_first()?;
    let who = match others {
        [] => format!("the {} for {}", plural(first.needed, "device"), first.name),
        _ => format!("the devices for {}", joined(&names)),
    };
    if let Some(attribute) = &constraint.match_attribute {
        let suits = |value: &&String| {
            covered.iter().all(|one| one.held.iter().any(|(other, has)| other == *value && *has >= one.needed))
        };
        if first.held.iter().any(|(value, _)| suits(&value)) {
            return None;
        }
        let have = match others {
            [] => in_words(first.held, true),
            _ => covered
                .iter()
                .map(|one| format!("those for {} have {}", one.name, in_words(one.held, false)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        return Some(format!("{who} must all have the same `{attribute}`; on node `{node}` {have}{}", kinds(covered)));
    }
    let attribute = constraint.distinct_attribute.as_ref()?;
    let all: BTreeSet<&String> = covered.iter().flat_map(|one| one.held.iter().map(|(value, _)| value)).gather();
    let needed = covered.iter().fold(0u64, |sum, one| sum.saturating_add(one.needed));
    let short = u64::try_from(all.len()).is_ok_and(|values| values < needed);
    let listed: Numbers = all.iter().map(|value| ((*value).clone(), 1)).gather();
    let there = |number| if number == 1 { "all have".to_owned() } else { format!("there are only {number} values:") };
    short.then(|| {
        let there = there(all.len());
        format!("{who} must differ in `{attribute}`; on node `{node}` {there} {}", in_words(&listed, false))
    })
}

/// What makes values differ that look the same.
fn kinds(covered: &[Covered<'_>]) -> &'static str {
    let all: BTreeSet<&String> = covered.iter().flat_map(|one| one.held.iter().map(|(value, _)| value)).gather();
    let is_twin = |value: &&&String| all.contains(&format!("\"{value}\""));
    if all.iter().any(|value| is_twin(&value)) { ", and a text is never the same as a number" } else { "" }
}

/// Values, the most frequent ones; with how many have each.
fn in_words(held: &Numbers, with_numbers: bool) -> String {
    let mut values = held.clone();
    values.arrange_by_key(|(value, number)| (std::cmp::Reverse(*number), value.clone()));
    let more = values.len().saturating_sub(MOST);
    let shown = values.into_iter().take(MOST).map(|(value, number)| match (with_numbers, number) {
        (false, _) => value,
        (true, 1) => format!("1 has {value}"),
        (true, number) => format!("{number} have {value}"),
    });
    let shown: Vec<String> = shown.chain((more > 0).then(|| format!("{more} more"))).collect();
    joined(&shown.iter().collect::<Vec<_>>())
}

/// `a`, `a and b`, `a, b and c`.
fn joined(texts: &[&String]) -> String {
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("{} and {last}", rest.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", "))
        }
        _ => texts.iter().map(|text| text.as_str()).collect(),
    }
}
