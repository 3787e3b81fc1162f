//! What each request finds in the cluster, in numbers.

use std::collections::BTreeMap;

use super::case::Case;
use super::own::own_selectors;
use super::reasons::problems::no_node;
use super::shape::Mark;
use super::statistics::{self, Subject, counted, fields};
use super::survey::{Standing, Survey};
use super::{ReasonCount, ReasonKind, RequestExplanation, SelectorRef, Served, words};
use crate::allocate::inspect::UnitSeen;
use crate::api::claim::{DeviceSelector, ResourceClaim};
use crate::api::pod::Pod;
use crate::api::slice::{Device, ResourceSlice};
use crate::arrange::Arrange;
use crate::cel::Field;
use crate::cluster::selectors::{Compiled, Selectors};
use crate::cluster::{Cluster, DeviceIdx, Newest, PoolState, SliceEntry, incomplete, incomplete_pool, missing_gate};
use crate::finding::Finding;
use crate::scheduler::special;

/// All requests of a case.
pub(crate) fn requests(cluster: &mut Cluster, case: &Case, survey: &Survey) -> Vec<RequestExplanation> {
    let mut all = survey.requests.get_or_init(|| found(cluster, case, survey)).clone();
    // Another Pod that asks the same has claims of other names.
    let pod = case.pod.as_ref().and_then(|key| cluster.pods().get(key));
    for (request, unit) in all.iter_mut().zip(&survey.units) {
        let Some(claim) = case.question.claims.get(unit.claim) else { continue };
        request.claim.clone_from(&claim.metadata.name);
        request.serves = pod.and_then(|pod| served(pod, claim, unit));
    }
    all
}

/// Most incomplete pools that are named.
const MOST_POOLS: usize = 3;

/// What to do about incomplete pools that keep devices from requests.
pub(crate) fn incomplete_pools(cluster: &Cluster, survey: &Survey, requests: &[RequestExplanation]) -> Vec<Finding> {
    let lacks =
        |request: &RequestExplanation| request.reasons.iter().any(|reason| reason.kind == ReasonKind::PoolIncomplete);
    let units: Vec<usize> = (0..requests.len()).filter(|unit| requests.get(*unit).is_some_and(lacks)).collect();
    let is_wanted = |driver: &str, name: &str| {
        let pool = cluster.inventory().pool_index(driver, name);
        let mut slices = pool.into_iter().flat_map(|pool| cluster.inventory().slices_of_pool(pool));
        slices.any(|entry| {
            entry.devices.iter().any(|device| units.iter().any(|unit| is_of_class(survey, *unit, *device)))
        })
    };
    let bad = survey.bad_pools.iter().filter(|(_, state)| **state == PoolState::Incomplete).map(|(pool, _)| pool);
    let wanted = bad.filter(|(driver, name)| is_wanted(driver, name)).take(MOST_POOLS);
    let finding = |(driver, name): &(String, String)| {
        let slice = cluster.newest_of_pool(driver, name).into_iter().next()?;
        let node = slice.spec.node_name.iter().map(|node| format!(" on node `{node}`"));
        incomplete_pool(cluster, driver, name, &node.collect::<String>())
    };
    wanted.filter_map(finding).collect()
}

fn found(cluster: &mut Cluster, case: &Case, survey: &Survey) -> Vec<RequestExplanation> {
    let mut all = Vec::new();
    for (index, unit) in survey.units.iter().enumerate() {
        let Some(claim) = case.question.claims.get(unit.claim) else { continue };
        let mut count = Count::default();
        count.slices(cluster, case, survey, index, unit, claim);
        all.push(explanation(cluster, survey, (index, unit, claim), count));
    }
    all
}

/// The selectors of a unit: of its class, and its own.
pub(crate) fn selectors<'c>(
    cluster: &'c Cluster,
    claim: &'c ResourceClaim,
    unit: &UnitSeen,
) -> (&'c [DeviceSelector], &'c [DeviceSelector]) {
    let class = cluster.classes().get(&unit.class).map(|class| class.spec.selectors.as_slice()).unwrap_or_default();
    (class, own_selectors(claim, unit))
}

/// One selector by its position.
pub(crate) fn selector_ref(
    cluster: &Cluster,
    claim: &ResourceClaim,
    unit: &UnitSeen,
    of_class: bool,
    index: usize,
) -> SelectorRef {
    let (class, own) = selectors(cluster, claim, unit);
    let list = if of_class { class } else { own };
    let cel = list.get(index).and_then(|selector| selector.cel.as_ref());
    let expression = cel.map(|cel| cel.expression.clone()).unwrap_or_default();
    SelectorRef { of_class, index: u64::try_from(index).unwrap_or(u64::MAX), expression }
}

#[derive(Default)]
struct Count {
    usable: u64,
    /// Devices and, of these, devices without another reason.
    by_mark: BTreeMap<Mark, (u64, u64)>,
    /// Why pools cannot be used, an example each.
    pools: Vec<(ReasonKind, String)>,
}

impl Count {
    /// Counts every published device once.
    fn slices(
        &mut self,
        cluster: &mut Cluster,
        case: &Case,
        survey: &Survey,
        index: usize,
        unit: &UnitSeen,
        claim: &ResourceClaim,
    ) {
        const MOST_ELSEWHERE: usize = 20_000;
        let sees_all = case.question.nodes.len() == case.all_nodes;
        // By the number of the reason.
        let mut kept = vec![(0, 0); survey.reasons.count()];
        let mut memory = cluster.lend_memory();
        let facts = &*cluster;
        let mut unseen: Vec<(&ResourceSlice, &Device)> = Vec::new();
        for entry in facts.inventory().all_slices() {
            let slice = entry.slice.as_ref();
            for (position, device) in entry.devices.iter().enumerate() {
                match survey.standing(index, *device) {
                    Standing::Usable => self.usable = self.usable.saturating_add(1),
                    Standing::Kept { reason, alone } => {
                        if let Some(counts) = kept.get_mut(reason as usize) {
                            add(counts, (1, u64::from(alone)));
                        }
                    }
                    Standing::Unseen | Standing::Elsewhere => {
                        unseen.extend(slice.spec.devices.get(position).map(|device| (slice, device)))
                    }
                }
            }
        }
        for (mark, counts) in survey.reasons.iter().zip(kept).filter(|(_, counts)| counts.0 > 0) {
            add(self.by_mark.entry(mark.clone()).or_default(), counts);
        }
        let newest = if unseen.is_empty() { Newest::default() } else { facts.newest() };
        let looks_elsewhere = unseen.len() <= MOST_ELSEWHERE;
        for (slice, device) in unseen {
            let Some((kind, why)) = unseen_kind(facts, survey, &newest, slice, device, sees_all) else { continue };
            if kind == ReasonKind::OtherNode && !looks_elsewhere {
                continue;
            }
            match first_false(facts, &mut memory.selectors, claim, unit, slice, device) {
                Some(mark) => add(self.by_mark.entry(mark).or_default(), (1, 0)),
                None => {
                    let mark = Mark { kind, index: 0, of_class: false, name: String::new() };
                    add(self.by_mark.entry(mark).or_default(), (1, 1));
                    if self.pools.iter().all(|(known, _)| *known != kind) {
                        self.pools.push((kind, why));
                    }
                }
            }
        }
        cluster.return_memory(memory);
    }
}

fn add(count: &mut (u64, u64), more: (u64, u64)) {
    count.0 = count.0.saturating_add(more.0);
    count.1 = count.1.saturating_add(more.1);
}

/// Why no node sees a device; for other nodes where its node was not asked. `None` where a slice gives no devices.
fn unseen_kind(
    cluster: &Cluster,
    survey: &Survey,
    newest: &Newest<'_>,
    slice: &ResourceSlice,
    device: &Device,
    sees_all: bool,
) -> Option<(ReasonKind, String)> {
    let pool = &slice.spec.pool;
    let driver = &slice.spec.driver;
    if !slice.spec.shared_counters.is_empty() && cluster.profile().features.partitionable_devices {
        return None;
    }
    let latest = newest.generation(slice);
    if pool.generation < latest {
        let why = format!("pool `{}` is at generation {latest}, this slice at {}", pool.name, pool.generation);
        return Some((ReasonKind::PoolOutdated, why));
    }
    match survey.bad_pools.get(&(driver.clone(), pool.name.clone())) {
        Some(PoolState::Incomplete) => {
            let index = cluster.inventory().pool_index(driver, &pool.name);
            let why = index.map(|index| incomplete(cluster, index)).unwrap_or_default();
            return Some((ReasonKind::PoolIncomplete, why));
        }
        Some(PoolState::Invalid(reason)) => {
            return Some((ReasonKind::PoolInvalid, format!("pool `{}`: {reason}", pool.name)));
        }
        Some(PoolState::Usable) | None => {}
    }
    if let Some(gate) = missing_gate(cluster.profile(), slice) {
        return Some((ReasonKind::FeatureOff, format!("feature gate `{gate}` is off")));
    }
    let name = slice.spec.node_name.as_ref().or(device.node_name.as_ref());
    let is_there = name.is_none_or(|name| cluster.nodes().contains_key(name));
    if !sees_all && is_there {
        return Some((ReasonKind::OtherNode, String::new()));
    }
    let why = match name {
        Some(name) => no_node(cluster, name),
        None => "no node matches the node selector".to_owned(),
    };
    Some((ReasonKind::NoNode, why))
}

/// The hardest reason of selectors against a device that no node sees.
fn first_false(
    cluster: &Cluster,
    known: &mut Selectors,
    claim: &ResourceClaim,
    unit: &UnitSeen,
    slice: &ResourceSlice,
    device: &Device,
) -> Option<Mark> {
    let (class, own) = selectors(cluster, claim, unit);
    let mut found = None;
    for (of_class, list) in [(true, class), (false, own)] {
        for (index, selector) in list.iter().enumerate() {
            let expression = selector.cel.as_ref().map_or("", |cel| &cel.expression);
            let kind = match known.matches(cluster.profile(), expression, slice, device) {
                Ok(true) => continue,
                Ok(false) if of_class => ReasonKind::NotOfClass,
                Ok(false) => ReasonKind::SelectorFalse,
                Err(_) => ReasonKind::SelectorFails,
            };
            found = found.or(Some(Mark { kind, index, of_class, name: String::new() }));
        }
    }
    found
}

fn served(pod: &Pod, claim: &ResourceClaim, unit: &UnitSeen) -> Option<Served> {
    let (resource, container) = special::served(pod, &claim.metadata.name, &unit.name)?;
    Some(Served { container, resource })
}

fn explanation(
    cluster: &mut Cluster,
    survey: &Survey,
    (index, unit, claim): (usize, &UnitSeen, &ResourceClaim),
    count: Count,
) -> RequestExplanation {
    let not_of_class = |mark: &Mark| mark.kind == ReasonKind::NotOfClass;
    let sum = |wanted: bool| {
        let all = count.by_mark.iter().filter(|(mark, _)| not_of_class(mark) == wanted);
        all.fold(0u64, |sum, (_, count)| sum.saturating_add(count.0))
    };
    let (other_devices, kept) = (sum(true), sum(false));
    let mut reasons = Vec::new();
    for (mark, (devices, alone)) in count.by_mark.iter().filter(|(mark, _)| !not_of_class(mark)) {
        let is_selector = matches!(mark.kind, ReasonKind::SelectorFalse | ReasonKind::SelectorFails);
        let selector = is_selector.then(|| selector_ref(cluster, claim, unit, mark.of_class, mark.index));
        let example = count.pools.iter().find(|(kind, _)| *kind == mark.kind).map(|(_, why)| why.as_str());
        let text = words::counted(mark, *devices, selector.as_ref(), claim, example);
        reasons.push(ReasonCount { kind: mark.kind, devices: *devices, alone: *alone, text, selector });
    }
    let of_nodes = || survey.nodes.iter().filter_map(|node| node.units.get(index));
    let (needed, best) = (of_nodes().map(|unit| unit.0).max(), of_nodes().map(|unit| unit.1).max());
    let reads = reads(cluster, survey, (index, unit, claim), &reasons, kept.saturating_add(count.usable) == 0);
    RequestExplanation {
        claim: claim.metadata.name.clone(),
        request: unit.name.clone(),
        serves: None,
        class: unit.class.clone(),
        needed: needed.unwrap_or(unit.count),
        is_all: unit.is_all,
        devices: kept.saturating_add(count.usable),
        usable: count.usable,
        best: best.unwrap_or_default(),
        other_devices,
        reasons,
        reads,
    }
}

/// Statistics of what the selectors that refuse devices read; of the class's own where no device is of the class.
fn reads(
    cluster: &mut Cluster,
    survey: &Survey,
    (index, unit, claim): (usize, &UnitSeen, &ResourceClaim),
    reasons: &[ReasonCount],
    is_empty: bool,
) -> Vec<super::AttributeStatistic> {
    let mut expressions: Vec<String> =
        reasons.iter().filter_map(|reason| Some(reason.selector.as_ref()?.expression.clone())).collect();
    if is_empty {
        let class = selectors(cluster, claim, unit).0.iter().filter_map(|selector| selector.cel.as_ref());
        expressions.extend(class.map(|cel| cel.expression.clone()));
    }
    expressions.arrange();
    expressions.dedup();
    let mut memory = cluster.lend_memory();
    let mut read = BTreeMap::new();
    let seen = &*cluster;
    let subjects = || subjects(seen, survey, index, is_empty);
    let has_subjects = of_class(seen, survey, index, is_empty).next().is_some();
    for expression in expressions.iter().filter(|_| has_subjects) {
        let compiled = memory.selectors.program(seen.profile(), expression);
        let mut fields: Vec<Field> = compiled.reads().map(fields).unwrap_or_default().into_iter().cloned().collect();
        fields.retain(|field| !read.contains_key(field));
        let counted = counted(&alike(&mut memory.selectors, &compiled, seen, survey, (index, is_empty)), &fields);
        let of_fields = statistics::statistics(&subjects, &fields, &counted);
        read.extend(fields.into_iter().zip(of_fields));
    }
    cluster.return_memory(memory);
    read.into_values().collect()
}

/// The devices of a unit's class, or all, of which an expression sees the same told once, with how many they are.
pub(crate) fn alike<'c>(
    selectors: &mut Selectors,
    compiled: &Compiled,
    cluster: &'c Cluster,
    survey: &Survey,
    (unit, takes_all): (usize, bool),
) -> Vec<(Subject<'c>, u64)> {
    let mut all: Vec<(Subject<'c>, u64)> = Vec::new();
    let mut known: BTreeMap<u32, usize> = BTreeMap::new();
    let mut last: Option<(u32, usize)> = None;
    for (subject, entry, position) in of_class(cluster, survey, unit, takes_all) {
        let group = compiled.projection.and_then(|projection| selectors.group(projection, entry, position));
        if let Some(group) = group {
            // Neighbours are mostly alike.
            let at = match last {
                Some((before, at)) if before == group => at,
                _ => *known.entry(group).or_insert(all.len()),
            };
            last = Some((group, at));
            if let Some((_, count)) = all.get_mut(at) {
                *count = count.saturating_add(1);
                continue;
            }
        }
        all.push((subject, 1));
    }
    all
}

/// The devices of a unit's class; all devices where there are none.
pub(crate) fn subjects<'c>(cluster: &'c Cluster, survey: &Survey, unit: usize, takes_all: bool) -> Vec<Subject<'c>> {
    of_class(cluster, survey, unit, takes_all).map(|(subject, ..)| subject).collect()
}

/// The same one by one, each with its slice and its position in it.
pub(crate) fn of_class<'c>(
    cluster: &'c Cluster,
    survey: &Survey,
    unit: usize,
    takes_all: bool,
) -> impl Iterator<Item = (Subject<'c>, &'c SliceEntry, usize)> {
    cluster.inventory().all_slices().flat_map(move |entry| {
        let devices = entry.slice.spec.devices.iter().zip(entry.devices.iter()).enumerate();
        let of_class = devices.filter(move |(_, (_, index))| takes_all || is_of_class(survey, unit, **index));
        of_class
            .map(move |(position, (device, _))| (Subject { driver: &entry.slice.spec.driver, device }, entry, position))
    })
}

/// Whether a device is of a unit's class.
pub(crate) fn is_of_class(survey: &Survey, unit: usize, device: DeviceIdx) -> bool {
    match survey.standing(unit, device) {
        Standing::Unseen => false,
        Standing::Usable | Standing::Elsewhere => true,
        Standing::Kept { reason, .. } => {
            survey.reasons.get(reason).is_some_and(|mark| mark.kind != ReasonKind::NotOfClass)
        }
    }
}
