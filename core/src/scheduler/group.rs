//! All waiting Pods of a PodGroup at once: each is tried with the places of those before it taken, and a gang gets all of
//! them or none.
//!
//! Source: KEP-4671, KEP-5832; `schedule_one_podgroup.go`.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::attempt::{Attempt, Failure, Scheduler};
use super::bind::{self, Placement};
use super::node_fit::{self, Resources, Room, without_ports};
use super::scoring::Scores;
use super::write::{self, Outcome};
use super::{Examination, Examined, Scheduled, Settings, Verdict, message, race};
use crate::allocate::DeviceId;
use crate::api::claim::ResourceClaim;
use crate::api::group::PodGroup;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::Key;
use crate::cluster::entries::key_of;
use crate::decision::Decision;
use crate::finding::ObjectRef;
use crate::gather::Gather;
use crate::profile::{Mode, Version};

/// Most attempts to place members of one gang elsewhere than where they fitted first: on other nodes, and again with other devices.
const MAX_TRIES: u32 = 256;

/// Most members for whom other places are tried than the first ones: each is a level of the search.
const MOST_SEARCHED: usize = 1000;

/// Decides about the waiting members of a PodGroup.
pub(super) fn schedule(scheduler: &mut Scheduler<'_>, group: &Key) -> Scheduled {
    let members = members(scheduler, group);
    let Some(found) = scheduler.cluster.pod_groups().get(group).cloned() else {
        let verdicts = members.iter().map(|pod| (key_of(&pod.metadata), Verdict::Held)).collect();
        return Scheduled { verdicts, ..Scheduled::default() };
    };
    let mut cycle = Cycle::new(scheduler, &found);
    if let Some(error) = cycle.post_filter_problem(&members) {
        return cycle.fail_tried(&members, &error);
    }
    let is_gang = found.min_count().is_some() && cycle.scheduler.settings.profile.features.gang_scheduling;
    let has_choice = is_gang && cycle.scheduler.settings.profile.mode == Mode::Sound;
    // DIFFERENCE: the reference tries members that are too few while the claims of the others are still being made, and says that
    // they fit nowhere.
    let ready = members.iter().filter(|pod| has_choice && !cycle.scheduler.is_held(pod)).count();
    if has_choice && !cycle.suffices(ready) {
        let verdicts = members.iter().map(|pod| (key_of(&pod.metadata), Verdict::Held)).collect();
        return Scheduled { verdicts, ..Scheduled::default() };
    }
    if !has_choice || !(cycle.try_for_enough(&members) || cycle.try_other_places(&members)) {
        cycle.try_all(&members);
    }
    cycle.undo(0);
    cycle.conclude()
}

/// Looks at the waiting members of a PodGroup, each with the places of those before it taken, without deciding anything.
pub(super) fn examine(scheduler: &mut Scheduler<'_>, group: &Key) -> Examined {
    let members = members(scheduler, group);
    let Some(found) = scheduler.cluster.pod_groups().get(group).cloned() else {
        let pods = members.iter().map(|pod| (key_of(&pod.metadata), Examination::Held)).collect();
        return Examined { pods, ..Examined::default() };
    };
    let mut cycle = Cycle::new(scheduler, &found);
    cycle.try_all(&members);
    cycle.undo(0);
    let mut examined = Examined::default();
    examined.pods.extend(cycle.held.into_iter().map(|key| (key, Examination::Held)));
    for (mut pod, found) in cycle.found {
        let key = key_of(&pod.metadata);
        let examination = match found {
            Ok(placement) => {
                let claims = placement.claims(cycle.scheduler);
                examined.assumed.extend(claims.into_iter().map(|claim| Object::ResourceClaim(Arc::new(claim))));
                Arc::make_mut(&mut pod).spec.node_name.clone_from(&placement.node);
                examined.assumed.push(Object::Pod(pod));
                cycle.scheduler.fits(&placement)
            }
            Err(failure) => failure.examined(),
        };
        examined.pods.push((key, examination));
    }
    examined
}

/// Waiting members by priority, then in the order of their arrival.
fn members(scheduler: &Scheduler<'_>, group: &Key) -> Vec<Arc<Pod>> {
    let cluster = &*scheduler.cluster;
    let keys = cluster.links().pods_of_group(group).map(|name| (group.0.clone(), name.clone()));
    let mut members: Vec<Arc<Pod>> = keys.filter_map(|key| scheduler.waiting(&key)).collect();
    members.arrange_by_key(|pod| {
        let arrival = cluster.arrival("Pod", &pod.metadata.namespace, &pod.metadata.name);
        (pod.spec.priority.unwrap_or_default().saturating_neg(), arrival)
    });
    members
}

/// An object before a trial.
enum Before {
    /// It was like this.
    Was(Object),
    /// It did not exist.
    WasNot(ObjectRef),
}

/// One look at a whole group.
struct Cycle<'c, 's> {
    scheduler: &'c mut Scheduler<'s>,
    group: &'c PodGroup,
    /// What each member found, in the order of trying.
    found: Vec<(Arc<Pod>, Result<Placement, Failure>)>,
    held: Vec<Key>,
    /// How many members had a place before.
    placed: usize,
    /// Objects as they were before members were given places for a trial, in the order of the changes.
    before: Vec<Before>,
    error: Option<String>,
}

impl<'c, 's> Cycle<'c, 's> {
    fn new(scheduler: &'c mut Scheduler<'s>, group: &'c PodGroup) -> Self {
        let cluster = &*scheduler.cluster;
        let key = key_of(&group.metadata);
        let member = |name: &String| cluster.pods().get(&(key.0.clone(), name.clone()));
        let members = cluster.links().pods_of_group(&key).filter_map(member);
        let placed = members.filter(|pod| !pod.spec.node_name.is_empty()).count();
        Self { scheduler, group, found: Vec::new(), held: Vec::new(), placed, before: Vec::new(), error: None }
    }

    /// Why the reference fails with members that it has tried before and cannot try now: from 1.37 on it looks after the cycle for claims
    /// to give up, and misses what no member has left it, or a claim that is gone.
    fn post_filter_problem(&self, members: &[Arc<Pod>]) -> Option<String> {
        let profile = self.scheduler.settings.profile;
        let is_old = profile.mode == Mode::Sound || profile.version < Version::V1_37;
        if is_old || self.placed > 0 || !members.iter().any(|pod| write::is_unscheduled(pod)) {
            return None;
        }
        let problem = if !self.suffices(members.len()) {
            "not found".to_owned()
        } else {
            let (cluster, namespace) = (&*self.scheduler.cluster, &self.group.metadata.namespace);
            let named = self.group.spec.resource_claims.iter().filter_map(|entry| entry.resource_claim_name.clone());
            let mut gone = named.filter(|name| !cluster.claims().contains_key(&(namespace.clone(), name.clone())));
            let name = gone.next().filter(|_| members.iter().all(|pod| self.scheduler.is_held(pod)))?;
            format!("could not find ResourceClaim \"{namespace}/{name}\"")
        };
        Some(format!("error in \"DynamicResources\" PodGroupPostFilter plugins: {problem}"))
    }

    /// The members that were tried before fail with an error, and with them the group.
    fn fail_tried(self, members: &[Arc<Pod>], error: &str) -> Scheduled {
        let (mut decision, mut verdicts) = (Decision::none(), Vec::new());
        let Settings { profile, now, .. } = self.scheduler.settings;
        write::group_condition(self.group, profile, Outcome::Error(error), now, &mut decision);
        for pod in members {
            let verdict = match write::is_unscheduled(pod) {
                true => self.scheduler.fail(pod, Failure::error(error.to_owned()), &mut decision),
                false => Verdict::Held,
            };
            verdicts.push((key_of(&pod.metadata), verdict));
        }
        Scheduled { decision, verdicts, ..Scheduled::default() }
    }

    /// Gives each member the first place that fits it.
    fn try_all(&mut self, members: &[Arc<Pod>]) {
        for pod in members {
            if !self.try_one(pod) {
                break;
            }
        }
    }

    /// The same, but not beyond a member without which there are not enough. False when it came to that; then nothing is left of it.
    fn try_for_enough(&mut self, members: &[Arc<Pod>]) -> bool {
        let mut others = members.len();
        for pod in members {
            others = others.saturating_sub(1);
            let goes_on = match self.attempt_quietly(pod) {
                Attempt::Unfit(failure) if !failure.is_error => {
                    if !self.could_be_enough(others) {
                        self.start_over();
                        return false;
                    }
                    self.try_one(pod)
                }
                attempt => self.take(pod, attempt),
            };
            if !goes_on {
                return true;
            }
        }
        if !self.is_enough() {
            self.start_over();
            return false;
        }
        true
    }

    /// Forgets what members found.
    fn start_over(&mut self) {
        self.undo(0);
        self.found.clear();
        self.held.clear();
    }

    /// Tries a member. False when something is wrong, so that the whole group fails.
    fn try_one(&mut self, pod: &Arc<Pod>) -> bool {
        let attempt = self.scheduler.attempt(pod);
        self.take(pod, attempt)
    }

    /// An attempt that does not say why a Pod does not fit, unless something is wrong.
    fn attempt_quietly(&mut self, pod: &Pod) -> Attempt {
        self.scheduler.is_quiet = true;
        let attempt = self.scheduler.attempt(pod);
        self.scheduler.is_quiet = false;
        attempt
    }

    fn take(&mut self, pod: &Arc<Pod>, attempt: Attempt) -> bool {
        match attempt {
            Attempt::Held => self.held.push(key_of(&pod.metadata)),
            Attempt::Fits(placement) => {
                self.assume(pod, &placement);
                self.found.push((pod.clone(), Ok(placement)));
            }
            Attempt::Unfit(failure) => {
                let error = failure.is_error.then(|| failure.message.clone());
                self.found.push((pod.clone(), Err(failure)));
                self.error = error;
            }
        }
        self.error.is_none()
    }

    /// Each member took the first place that fits it. Where that is not enough for all, nodes are tried that have room for all of
    /// them, as members need that share a device of one node; then any other nodes, the last member's first; where that is not
    /// enough either, other devices on each node, too. False when nothing helps, or there are too many members to try.
    ///
    /// DIFFERENCE: the reference tries one combination only, so that a gang can wait although it fits.
    fn try_other_places(&mut self, members: &[Arc<Pod>]) -> bool {
        if members.len() > MOST_SEARCHED {
            return false;
        }
        let (held, ready): (Vec<&Arc<Pod>>, Vec<&Arc<Pod>>) =
            members.iter().partition(|pod| self.scheduler.is_held(pod));
        let ready: Vec<Arc<Pod>> = ready.into_iter().cloned().collect();
        let wants_devices = ready.iter().any(|pod| self.scheduler.wants_devices(pod));
        let room = room_for_all(&ready);
        for (keeps_out, varies_devices) in [(true, false), (false, false), (false, true)] {
            let is_new =
                if keeps_out { self.scheduler.book.leave_out_crowded(&room) } else { !varies_devices || wants_devices };
            if !is_new {
                continue;
            }
            let mut tries = MAX_TRIES.saturating_add(u32::try_from(ready.len()).unwrap_or(u32::MAX));
            let is_found = self.search(&ready, varies_devices, &mut tries);
            self.scheduler.book.leave_out_none();
            if is_found {
                self.held = held.into_iter().map(|pod| key_of(&pod.metadata)).collect();
                return true;
            }
            self.undo(0);
            self.found.clear();
        }
        false
    }

    /// Finds places for enough of the members from here on. Bounded by the number of members and of tries.
    fn search(&mut self, members: &[Arc<Pod>], varies_devices: bool, tries: &mut u32) -> bool {
        let Some((pod, others)) = members.split_first() else { return self.is_enough() };
        let mut tried = BTreeSet::new();
        loop {
            if *tries == 0 {
                return false;
            }
            *tries = tries.saturating_sub(1);
            self.scheduler.without.clone_from(&tried);
            let attempt = self.attempt_quietly(pod);
            self.scheduler.without.clear();
            match attempt {
                Attempt::Fits(placement) => {
                    tried.insert(placement.node.clone());
                    if self.goes_on(pod, &placement, others, varies_devices, tries)
                        || (varies_devices && self.goes_on_with_other_devices(pod, &placement, others, tries))
                    {
                        return true;
                    }
                }
                Attempt::Unfit(_) => break,
                Attempt::Held => return false,
            }
        }
        // Without this member, if there are enough others.
        if !self.could_be_enough(others.len()) {
            return false;
        }
        self.scheduler.without = tried;
        let attempt = self.scheduler.attempt(pod);
        self.scheduler.without.clear();
        let Attempt::Unfit(failure) = attempt else { return false };
        self.found.push((pod.clone(), Err(failure)));
        if self.search(others, varies_devices, tries) {
            return true;
        }
        self.found.pop();
        false
    }

    /// Whether enough of the others find a place when a Pod has this one.
    fn goes_on(
        &mut self,
        pod: &Arc<Pod>,
        placement: &Placement,
        others: &[Arc<Pod>],
        varies_devices: bool,
        tries: &mut u32,
    ) -> bool {
        let mark = self.before.len();
        self.assume(pod, placement);
        self.found.push((pod.clone(), Ok(placement.clone())));
        if self.search(others, varies_devices, tries) {
            return true;
        }
        self.found.pop();
        self.undo(mark);
        false
    }

    /// The same with other devices on the node: every other choice lacks one of those that were chosen.
    fn goes_on_with_other_devices(
        &mut self,
        pod: &Arc<Pod>,
        first: &Placement,
        others: &[Arc<Pod>],
        tries: &mut u32,
    ) -> bool {
        let mut seen = [devices(first)].into_iter().gather::<BTreeSet<_>>();
        let mut queue: VecDeque<BTreeSet<DeviceId>> =
            devices(first).into_iter().map(|device| [device].into_iter().gather()).collect();
        let mut queued: BTreeSet<BTreeSet<DeviceId>> = queue.iter().cloned().gather();
        while let Some(barred) = queue.pop_front() {
            if *tries == 0 {
                return false;
            }
            *tries = tries.saturating_sub(1);
            self.scheduler.only = Some(first.node.clone());
            self.scheduler.barred = barred.iter().cloned().collect();
            let attempt = self.attempt_quietly(pod);
            self.scheduler.only = None;
            self.scheduler.barred.clear();
            let Attempt::Fits(placement) = attempt else { continue };
            let chosen = devices(&placement);
            for device in &chosen {
                let mut more = barred.clone();
                more.insert(device.clone());
                if queued.insert(more.clone()) {
                    queue.push_back(more);
                }
            }
            if seen.insert(chosen) && self.goes_on(pod, &placement, others, true, tries) {
                return true;
            }
        }
        false
    }

    /// Whether enough members have a place if so many more find one.
    fn could_be_enough(&self, more: usize) -> bool {
        let fitting = self.found.iter().filter(|(_, found)| found.is_ok()).count();
        self.suffices(fitting.saturating_add(more))
    }

    /// Lets the following members see a place as taken.
    fn assume(&mut self, pod: &Arc<Pod>, placement: &Placement) {
        for claim in placement.claims(self.scheduler) {
            let before = self.scheduler.cluster.claims().get(&key_of(&claim.metadata)).cloned();
            if before.as_ref().is_some_and(|before| !self.holds(before)) {
                self.scheduler.reserved.insert(claim.metadata.name.clone());
            }
            let claim = Object::ResourceClaim(Arc::new(claim));
            self.before.push(match before {
                Some(before) => Before::Was(Object::ResourceClaim(before)),
                None => Before::WasNot(claim.reference()),
            });
            self.scheduler.cluster.apply(claim);
        }
        let mut placed = Pod::clone(pod);
        placed.spec.node_name.clone_from(&placement.node);
        placed.status.node_allocatable_resource_claim_statuses.clone_from(&placement.taken);
        self.scheduler.book.place(&placed);
        self.scheduler.placed.insert(pod.metadata.name.clone());
        self.before.push(Before::Was(Object::Pod(Arc::clone(pod))));
        self.scheduler.cluster.apply(Object::Pod(Arc::new(placed)));
    }

    /// Whether a claim is reserved for the group.
    fn holds(&self, claim: &ResourceClaim) -> bool {
        claim.status.reserved_for.iter().any(|consumer| consumer.uid == self.group.metadata.uid)
    }

    /// Takes places back until so many changes are left.
    fn undo(&mut self, left: usize) {
        while self.before.len() > left {
            match self.before.pop() {
                Some(Before::Was(object)) => {
                    match &object {
                        Object::Pod(pod) => {
                            self.scheduler.book.place(pod);
                            self.scheduler.placed.remove(&pod.metadata.name);
                        }
                        Object::ResourceClaim(claim) if !self.holds(claim) => {
                            self.scheduler.reserved.remove(&claim.metadata.name);
                        }
                        _ => {}
                    }
                    self.scheduler.cluster.apply(object);
                }
                Some(Before::WasNot(object)) => drop(self.scheduler.cluster.delete(&object)),
                None => return,
            }
        }
    }

    /// Whether enough members have a place, those from before included.
    fn is_enough(&self) -> bool {
        self.suffices(self.found.iter().filter(|(_, found)| found.is_ok()).count())
    }

    /// Whether so many members, with those that had a place before this cycle, are enough.
    fn suffices(&self, fitting: usize) -> bool {
        let gang = self.scheduler.settings.profile.features.gang_scheduling;
        let Some(min_count) = self.group.min_count().filter(|_| gang) else { return fitting > 0 };
        fitting > 0 && i64::try_from(self.placed.saturating_add(fitting)).unwrap_or(i64::MAX) >= min_count
    }

    fn conclude(self) -> Scheduled {
        let mut decision = Decision::none();
        let mut verdicts: Vec<(Key, Verdict)> = self.held.iter().map(|key| (key.clone(), Verdict::Held)).collect();
        if self.found.is_empty() {
            return Scheduled { decision, verdicts, ..Scheduled::default() };
        }
        let (scheduler, group, now) = (&*self.scheduler, self.group, self.scheduler.settings.now);
        if let Some(error) = &self.error {
            let error = format!("failed to schedule other pod from a pod group: {error}");
            write::group_condition(group, scheduler.settings.profile, Outcome::Error(&error), now, &mut decision);
            for (pod, found) in self.found {
                let failure = found.err().unwrap_or_else(|| Failure::error(error.clone()));
                let verdict = scheduler.fail(&pod, failure, &mut decision);
                verdicts.push((key_of(&pod.metadata), verdict));
            }
            return Scheduled { decision, verdicts, ..Scheduled::default() };
        }
        if !self.is_enough() {
            write::group_condition(group, scheduler.settings.profile, Outcome::Unschedulable, now, &mut decision);
            for (pod, found) in self.found {
                let waits = || Failure { message: message::GANG_WAITS.to_owned(), ..Failure::untold() };
                let verdict = scheduler.fail(&pod, found.err().unwrap_or_else(waits), &mut decision);
                verdicts.push((key_of(&pod.metadata), verdict));
            }
            return Scheduled { decision, verdicts, ..Scheduled::default() };
        }
        write::group_condition(group, scheduler.settings.profile, Outcome::Scheduled, now, &mut decision);
        if scheduler.settings.profile.mode == Mode::Reference {
            let (fitting, others): (Vec<_>, Vec<_>) = self.found.into_iter().partition(|(_, found)| found.is_ok());
            let fitting = fitting.into_iter().filter_map(|(pod, found)| Some((pod, found.ok()?)));
            let mut fitting: Vec<(Arc<Pod>, Placement)> = fitting.collect();
            let scores = fitting.iter_mut().filter_map(take_scores).collect();
            verdicts.extend(race::bind_side_by_side(scheduler, fitting, &mut decision));
            for (pod, failure) in others.into_iter().filter_map(|(pod, found)| Some((pod, found.err()?))) {
                let verdict = scheduler.fail(&pod, failure, &mut decision);
                verdicts.push((key_of(&pod.metadata), verdict));
            }
            return Scheduled { decision, verdicts, scores, ..Scheduled::default() };
        }
        let mut reserved = Vec::new();
        for (pod, found) in self.found {
            let key = key_of(&pod.metadata);
            match found.and_then(|place| bind::reserve(scheduler, &pod, &place, &mut decision).map(|()| place)) {
                Ok(placement) => reserved.push((pod, placement)),
                Err(failure) => {
                    // What stood in its way when it was tried may be in use by a member that fitted after it.
                    let failure = Failure { relief: Decision::none(), ..failure };
                    let verdict = scheduler.fail(&pod, failure, &mut decision);
                    verdicts.push((key, verdict));
                }
            }
        }
        // First all claims, then all Pods: whoever is stopped in between has not placed half a gang.
        let scores = reserved.iter_mut().filter_map(take_scores).collect();
        for (pod, placement) in reserved {
            let verdict = bind::finish(scheduler, &pod, &placement, &mut decision);
            verdicts.push((key_of(&pod.metadata), verdict));
        }
        Scheduled { decision, verdicts, scores, ..Scheduled::default() }
    }
}

/// How nodes compared for a member, where that was asked for.
fn take_scores((pod, placement): &mut (Arc<Pod>, Placement)) -> Option<(Key, Scores)> {
    Some((key_of(&pod.metadata), *placement.scores.take()?))
}

/// What some Pods ask for together.
fn room_for_all(members: &[Arc<Pod>]) -> Room {
    let mut all = Resources::new();
    members.iter().for_each(|pod| node_fit::add(&mut all, &without_ports(node_fit::requests(pod))));
    Room::of(all)
}

/// Devices that a place gives to claims without any.
fn devices(placement: &Placement) -> BTreeSet<DeviceId> {
    let results = placement.allocations.iter().flat_map(|allocation| &allocation.devices.results);
    results.map(DeviceId::of_result).gather()
}
