//! One attempt to find a place for a Pod: whether it is to be tried at all, and what it needs.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bind::Placement;
use super::conditions::{self, Readiness};
use super::filter::reaches;
use super::needs::{self, Need};
use super::node_cache::NodeCache;
use super::preemption::Preemption;
use super::refusal::Cause;
use super::scoring::Scores;
use super::{Examination, KnownRefusals, Scheduled, Settings, Verdict, bind, message, postfilter, special, write};
use crate::allocate::{self, DeviceId, extended};
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::Decision;

/// Facts and settings of one decision.
pub(super) struct Scheduler<'s> {
    pub(super) cluster: &'s mut Cluster,
    pub(super) book: &'s mut NodeCache,
    pub(super) settings: Settings<'s>,
    /// Nodes that are left out for now.
    pub(super) without: BTreeSet<String>,
    /// The only node that is looked at for now, if there is one.
    pub(super) only: Option<String>,
    /// Devices that are left out for now.
    pub(super) barred: Vec<DeviceId>,
    /// Members of the group that is tried that have a place for now, by name.
    pub(super) placed: BTreeSet<String>,
    /// Claims that are reserved for the group that is tried only for now, by name.
    pub(super) reserved: BTreeSet<String>,
    /// Whether nobody hears for now why a Pod does not fit.
    pub(super) is_quiet: bool,
    /// Pods of lower priority than the one that is tried that are nominated for a node: they take no room from it.
    pub(super) yielding: Vec<Arc<Pod>>,
    /// What is known of equal Pods, where nothing changes.
    pub(super) refusals: Option<&'s mut KnownRefusals>,
}

/// What one attempt gives.
pub(super) enum Attempt {
    /// Not to be tried yet.
    Held,
    /// A place, and the devices for claims without any.
    Fits(Placement),
    /// No place.
    Unfit(Failure),
}

/// Why an attempt failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Whether something is wrong, rather than taken.
    pub(super) is_error: bool,
    /// The sentence for users.
    pub(super) message: String,
    /// The same as data.
    pub(super) cause: Cause,
    /// What to change so that the next attempt may fit.
    pub(super) relief: Decision,
    /// Whether others leave for the Pod, where that was looked at.
    pub(super) preemption: Option<Preemption>,
}

/// The node that a Pod is nominated for after an attempt that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Nomination {
    /// The one from before.
    AsItIs,
    /// None.
    Nowhere,
    /// This one.
    For(String),
}

impl Failure {
    pub(super) fn error(message: String) -> Self {
        Self { is_error: true, ..Self::unfit(message) }
    }

    /// The failure of an attempt in which nothing is wrong.
    pub(super) fn unfit(message: String) -> Self {
        Self { is_error: false, message, cause: Cause::Other, relief: Decision::none(), preemption: None }
    }

    /// The failure of an attempt of which nobody hears.
    pub(super) fn untold() -> Self {
        Self::unfit(String::new())
    }

    /// The failure as the result of an examination, which changes nothing.
    pub(super) fn examined(self) -> Examination {
        Examination::Unfit { message: self.message, cause: self.cause }
    }

    /// A claim is wrong.
    pub(super) fn of_claim(failure: allocate::Failure) -> Self {
        let message = message::filter(&failure.reference);
        Self { cause: Cause::Claim(Box::new(failure)), ..Self::error(message) }
    }

    /// The search for devices reached its limit on a node.
    pub(super) fn gave_up(node: &str) -> Self {
        let message = format!("node {node}: timed out trying to allocate devices");
        Self { cause: Cause::GaveUp { node: node.to_owned() }, ..Self::error(message) }
    }
}

impl<'s> Scheduler<'s> {
    pub(super) fn new(cluster: &'s mut Cluster, book: &'s mut NodeCache, settings: Settings<'s>) -> Self {
        Self {
            cluster,
            book,
            settings,
            without: BTreeSet::new(),
            only: None,
            barred: Vec::new(),
            placed: BTreeSet::new(),
            reserved: BTreeSet::new(),
            is_quiet: false,
            yielding: Vec::new(),
            refusals: None,
        }
    }

    /// Decides about a Pod on its own.
    pub(super) fn schedule_alone(&mut self, key: &Key) -> Scheduled {
        let Some(pod) = self.waiting(key) else { return Scheduled::default() };
        let mut decision = Decision::none();
        let (mut scores, mut takeovers) = (Vec::new(), Vec::new());
        let verdict = match self.attempt(&pod) {
            Attempt::Held => Verdict::Held,
            Attempt::Fits(mut placement) => {
                scores.extend(placement.scores.take().map(|scores| (key.clone(), *scores)));
                bind::bind(self, &pod, placement, &mut decision)
            }
            Attempt::Unfit(failure) => {
                if let Some(Preemption::Takes(takeover)) = &failure.preemption {
                    takeovers.push((key.clone(), takeover.clone()));
                }
                self.fail(&pod, failure, &mut decision)
            }
        };
        Scheduled { decision, verdicts: vec![(key.clone(), verdict)], scores, takeovers }
    }

    /// The Pod, if it waits for a node.
    pub(super) fn waiting(&self, key: &Key) -> Option<Arc<Pod>> {
        self.cluster.pods().get(key).filter(|pod| self.book.serves(self.cluster, pod)).cloned()
    }

    /// Tells users that a Pod has no node, and does what may help it.
    pub(super) fn fail(&self, pod: &Pod, failure: Failure, decision: &mut Decision) -> Verdict {
        decision.actions.extend(failure.relief.actions);
        let nomination = match &failure.preemption {
            Some(preemption) => preemption.nomination(),
            None => Nomination::Nowhere,
        };
        if let Some(Preemption::Takes(takeover)) = &failure.preemption {
            decision.actions.extend(self.carry_out(pod, takeover).actions);
        }
        if self.settings.records_failures {
            let said = (failure.message.as_str(), failure.is_error);
            write::failed(pod, said, &nomination, self.settings.now, decision);
        } else if self.settings.preempts {
            write::nominate_after(pod, &nomination, decision);
        }
        if failure.is_error { Verdict::Error } else { Verdict::Unschedulable }
    }

    /// How far a Pod comes by itself.
    pub(super) fn examine(&mut self, key: &Key) -> Examination {
        let Some(pod) = self.waiting(key) else { return Examination::Held };
        match self.attempt(&pod) {
            Attempt::Held => Examination::Held,
            Attempt::Fits(placement) => self.fits(&placement),
            Attempt::Unfit(failure) => failure.examined(),
        }
    }

    /// A place, with the claims that wait for their drivers there.
    pub(super) fn fits(&self, placement: &Placement) -> Examination {
        if let Some(failure) = bind::no_room(&placement.claims(self)) {
            return failure.examined();
        }
        let on = conditions::are_on(&self.settings.profile.features);
        let claims = placement.needs.iter().map(|need| &need.claim).filter(|_| on);
        let waiting = claims.filter(|claim| conditions::readiness(claim, self.settings.now) == Readiness::Waits);
        let waits = waiting.map(|claim| (claim.metadata.name.clone(), conditions::deadline(claim))).collect();
        Examination::Fits { node: placement.node.clone(), waits }
    }

    /// The PodGroup with which a Pod is decided about.
    pub(super) fn group_of(&self, pod: &Key) -> Option<Key> {
        let grouped = self.settings.profile.features.generic_workload;
        let group = self.cluster.pods().get(pod)?.group_name().filter(|_| grouped)?;
        Some((pod.0.clone(), group.to_owned()))
    }

    /// Whether a Pod is not to be tried yet.
    pub(super) fn is_held(&self, pod: &Pod) -> bool {
        let features = &self.settings.profile.features;
        !pod.spec.scheduling_gates.is_empty()
            || needs::group_hold(self.cluster, features, pod).is_err()
            || needs::needs(self.cluster, features, pod).is_err()
    }

    /// Whether a Pod needs devices that none of its claims has.
    pub(super) fn wants_devices(&self, pod: &Pod) -> bool {
        let needs = needs::needs(self.cluster, &self.settings.profile.features, pod).unwrap_or_default();
        needs.iter().any(|need| !need.is_allocated()) || special::is_asked(self.cluster, pod)
    }

    /// How nodes compare for a Pod as if it had none.
    pub(super) fn compare(&mut self, key: &Key) -> Option<Scores> {
        let pod = self.cluster.pods().get(key).cloned()?;
        let mut free = Pod::clone(&pod);
        free.spec.node_name.clear();
        free.status.nominated_node_name.clear();
        let attempt = self.attempt(&free);
        self.book.place(&pod);
        match attempt {
            Attempt::Fits(placement) => placement.scores.map(|scores| *scores),
            Attempt::Held | Attempt::Unfit(_) => None,
        }
    }

    /// Looks for a place.
    pub(super) fn attempt(&mut self, pod: &Pod) -> Attempt {
        let features = &self.settings.profile.features;
        if !pod.spec.scheduling_gates.is_empty() || needs::group_hold(self.cluster, features, pod).is_err() {
            return Attempt::Held;
        }
        let Ok(mut needs) = needs::needs(self.cluster, features, pod) else { return Attempt::Held };
        let asks = special::is_asked(self.cluster, pod);
        if let Some(claim) = special::existing(self.cluster, pod).filter(|_| asks) {
            if claim.status.allocation.is_none() || claim.metadata.is_deleting() {
                return Attempt::Unfit(postfilter::remove(claim));
            }
            needs.push(needs::special(pod, claim.clone(), false));
        }
        if let Some(attempt) = self.go_on_binding(pod, &needs) {
            return attempt;
        }
        let unallocated = || needs.iter().filter(|need| !need.is_allocated());
        let problem = unallocated().find_map(|need| needs::request_problem(self.cluster, features, &need.claim));
        if let Some(problem) = problem {
            return Attempt::Unfit(self.bad_request(pod, problem));
        }
        // Where it was to go before does not count against it, and what waits for a place behind it does not, either.
        self.book.forget(&key_of(&pod.metadata));
        self.yielding = self.yielding_to(pod);
        self.yielding.iter().for_each(|other| self.book.forget(&key_of(&other.metadata)));
        let attempt = self.filter(pod, &needs, asks);
        self.yielding.iter().for_each(|other| self.book.place(other));
        self.book.place(pod);
        attempt
    }

    /// Pods that are nominated for a node and have to yield to one of higher priority; not those whose drivers prepare their devices.
    fn yielding_to(&self, pod: &Pod) -> Vec<Arc<Pod>> {
        if !self.settings.preempts {
            return Vec::new();
        }
        let below = self.book.nominated_below(pod.priority());
        let found = below.iter().filter_map(|key| self.cluster.pods().get(key).cloned());
        found.filter(|other| !self.is_binding(other)).collect()
    }

    /// Whether a Pod has everything and waits for its drivers.
    fn is_binding(&self, pod: &Pod) -> bool {
        let needs = needs::needs(self.cluster, &self.settings.profile.features, pod).unwrap_or_default();
        self.go_on_binding(pod, &needs).is_some()
    }

    /// A Pod that has everything and waited for its drivers: it does not look for another node.
    fn go_on_binding(&self, pod: &Pod, needs: &[Need]) -> Option<Attempt> {
        let node = &pod.status.nominated_node_name;
        let state = self.book.node(node)?;
        let has_all = !needs.is_empty() && needs.iter().all(|need| need.is_allocated() && need.is_reserved);
        if !has_all || !needs.iter().all(|need| reaches(&need.claim, state)) {
            return None;
        }
        if !needs.iter().any(|need| conditions::has_conditions(&need.claim)) {
            return None;
        }
        Some(Attempt::Fits(Placement {
            node: node.clone(),
            needs: needs.to_vec(),
            allocations: Vec::new(),
            extended: extended::on_node(self.cluster, pod, &state.node),
            taken: pod.status.node_allocatable_resource_claim_statuses.clone(),
            scores: None,
        }))
    }
}
