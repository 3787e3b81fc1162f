//! One Pod against all nodes: ordinary tests first, then claims that have devices, then the allocator.

use std::collections::BTreeSet;

use super::bind::Placement;
use super::book::Book;
use super::conditions::{self, Readiness};
use super::needs::{self, Need};
use super::node_allocatable::{self, Problem};
use super::node_fit::{self, NodeState, Refusal};
use super::postfilter::{self, Obstacles};
use super::{Scheduled, Verdict, bind, message, score, special, write};
use crate::allocate::extended::{self, ANNOTATION, ExtendedResources};
use crate::allocate::{Answer, DeviceId, Limits, NodeRefusal, Outcome, Question, allocate_without};
use crate::api::claim::{AllocationResult, ResourceClaim};
use crate::api::pod::{NodeAllocatableClaimStatus, Pod};
use crate::cluster::{Cluster, Key};
use crate::lifecycle::entries::key_of;
use crate::lifecycle::{Decision, Time};
use crate::profile::Profile;

/// Facts and settings of one decision.
pub(super) struct Scheduler<'s> {
    pub(super) cluster: &'s mut Cluster,
    pub(super) book: &'s mut Book,
    pub(super) profile: &'s Profile,
    pub(super) limits: &'s Limits,
    pub(super) now: Time,
    /// Nodes that are left out for now.
    pub(super) without: BTreeSet<String>,
    /// The same for members of a gang that are to be placed together.
    pub(super) crowded: BTreeSet<String>,
    /// The only node that is looked at for now, if there is one.
    pub(super) only: Option<String>,
    /// Devices that are left out for now.
    pub(super) barred: Vec<DeviceId>,
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

/// A node, and devices for the claims that were asked for, in their order.
pub(super) type Found = (String, Vec<AllocationResult>);

/// The same with what these devices take of the node.
type Fit = (Found, Vec<NodeAllocatableClaimStatus>);

/// Why an attempt failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Whether something is wrong, rather than taken.
    pub(super) is_error: bool,
    /// The sentence for users.
    pub(super) message: String,
    /// What to change so that the next attempt may fit.
    pub(super) relief: Decision,
}

impl Failure {
    pub(super) fn error(message: String) -> Self {
        Self { is_error: true, message, relief: Decision::none() }
    }
}

impl<'s> Scheduler<'s> {
    pub(super) fn new(
        cluster: &'s mut Cluster,
        book: &'s mut Book,
        profile: &'s Profile,
        limits: &'s Limits,
        now: Time,
    ) -> Self {
        Self {
            cluster,
            book,
            profile,
            limits,
            now,
            without: BTreeSet::new(),
            crowded: BTreeSet::new(),
            only: None,
            barred: Vec::new(),
        }
    }

    /// Decides about a Pod on its own.
    pub(super) fn schedule_alone(&mut self, key: &Key) -> Scheduled {
        let Some(pod) = self.waiting(key) else { return Scheduled::default() };
        let mut decision = Decision::none();
        let verdict = match self.attempt(&pod) {
            Attempt::Held => Verdict::Held,
            Attempt::Fits(placement) => bind::bind(self, &pod, placement, &mut decision),
            Attempt::Unfit(failure) => self.fail(&pod, failure, &mut decision),
        };
        Scheduled { decision, verdicts: vec![(key.clone(), verdict)] }
    }

    /// The Pod, if it waits for a node.
    pub(super) fn waiting(&self, key: &Key) -> Option<Pod> {
        self.cluster.pods().get(key).filter(|pod| super::is_waiting(pod)).cloned()
    }

    /// Tells users that a Pod has no node, and does what may help it.
    pub(super) fn fail(&self, pod: &Pod, failure: Failure, decision: &mut Decision) -> Verdict {
        decision.actions.extend(failure.relief.actions);
        write::failed(pod, &failure.message, failure.is_error, self.now, decision);
        if failure.is_error { Verdict::Error } else { Verdict::Unschedulable }
    }

    /// Looks for a place.
    pub(super) fn attempt(&mut self, pod: &Pod) -> Attempt {
        let features = &self.profile.features;
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
            let after = "no new claims to deallocate";
            return Attempt::Unfit(self.unfit(&problem, after, 0, Decision::none()));
        }
        // Where it was to go before does not count against it.
        self.book.forget(&key_of(&pod.metadata));
        let attempt = self.filter(pod, &needs, asks);
        self.book.place(pod);
        attempt
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
        }))
    }

    /// Tries all nodes.
    fn filter(&mut self, pod: &Pod, needs: &[Need], asks: bool) -> Attempt {
        let requests = node_fit::requests(pod);
        let mut texts: Vec<(usize, String)> = Vec::new();
        let mut obstacles = Obstacles::default();
        let mut candidates: Vec<(String, Option<ExtendedResources>)> = Vec::new();
        let mut away = Vec::new();
        let mut out_of_reach = 0_usize;
        let mut curable = 0usize;
        let held = needs.iter().filter(|need| need.is_allocated());
        let shared = held
            .filter_map(|need| node_allocatable::sharing_problem(self.cluster, &need.claim, need.is_reserved))
            .next();
        let claims: Vec<ResourceClaim> =
            needs.iter().filter(|need| !need.is_allocated()).map(|need| need.claim.clone()).collect();
        let is_left_out = |state: &&NodeState| {
            self.without.contains(state.name())
                || self.crowded.contains(state.name())
                || self.only.as_ref().is_some_and(|only| only != state.name())
        };
        for state in self.book.nodes().filter(|state| !is_left_out(state)) {
            let extended = extended::on_node(self.cluster, pod, &state.node).filter(|_| asks);
            let refusals = match &extended {
                None => state.refusals(pod, &requests),
                Some(extended) => {
                    let mut ordinary = requests.clone();
                    ordinary.retain(|name, _| !extended.resources.contains(name));
                    state.refusals(pod, &ordinary)
                }
            };
            if !refusals.is_empty() {
                curable += usize::from(refusals.iter().all(Refusal::is_curable));
                texts.extend(refusals.iter().map(|refusal| (1, refusal.to_string())));
                continue;
            }
            if let Some(text) = &shared {
                texts.push((1, text.clone()));
                continue;
            }
            let unusable = |need: &Need| !reaches(&need.claim, state) || self.is_lost(&need.claim);
            let before = out_of_reach;
            for (index, _) in needs.iter().enumerate().filter(|(_, need)| unusable(need)) {
                obstacles.unavailable.insert(index);
                out_of_reach = before.saturating_add(1);
            }
            if out_of_reach == before {
                candidates.push((state.name().to_owned(), extended));
            } else if !claims.is_empty() {
                away.push(state.name().to_owned());
            }
        }
        // An error in a claim ends the attempt, even where another claim rules the node out.
        if !away.is_empty()
            && let Err(failure) = self.ask(claims.clone(), away)
        {
            return Attempt::Unfit(failure);
        }
        texts.push((out_of_reach, "resourceclaim not available on the node".to_owned()));
        // Nodes that need the same claim for extended resources are asked together.
        let mut found = Ok(None);
        for nodes in candidates.chunk_by(|(_, one), (_, other)| one == other) {
            let Some((_, extended)) = nodes.first().cloned() else { continue };
            let nodes: Vec<String> = nodes.iter().map(|(name, _)| name.clone()).collect();
            let is_made = needs.iter().any(|need| is_special(&need.claim));
            let mut claims = claims.clone();
            let mut needs = needs.to_vec();
            if let Some(extended) = extended.as_ref().filter(|_| !is_made) {
                let claim = special::claim(pod, extended);
                claims.push(claim.clone());
                needs.push(needs::special(pod, claim, true));
            }
            found = self.places(pod, &claims, &nodes, &needs, &mut texts, &mut curable);
            match found {
                Ok(None) => {}
                Ok(Some(((node, allocations), taken))) => {
                    for need in needs.iter_mut().filter(|need| need.is_new) {
                        need.claim = special::named(self.cluster, pod, need.claim.clone());
                    }
                    return Attempt::Fits(Placement { node, needs, allocations, extended, taken });
                }
                Err(_) => break,
            }
        }
        match found {
            Err(failure) => Attempt::Unfit(failure),
            Ok(_) => {
                let (after, relief, ends) = postfilter::relieve(self, pod, needs, asks, &obstacles);
                let text = message::counted(texts);
                let mut failure = self.unfit(&text, after, curable, relief);
                if ends {
                    failure.message = format!("0/{} nodes are available: {text}. {after}", self.book.len());
                }
                Attempt::Unfit(failure)
            }
        }
    }

    /// One of the candidates, with devices for all claims.
    fn places(
        &mut self,
        pod: &Pod,
        claims: &[ResourceClaim],
        candidates: &[String],
        needs: &[Need],
        texts: &mut Vec<(usize, String)>,
        curable: &mut usize,
    ) -> Result<Option<Fit>, Failure> {
        if self.profile.features.node_allocatable_resources {
            return self.devices_with_room(pod, claims, candidates, needs, texts, curable);
        }
        let found = match claims.is_empty() {
            true => Ok(candidates.first().map(|node| (node.clone(), Vec::new()))),
            false => self.devices(claims, candidates, needs, texts),
        };
        found.map(|found| found.map(|found| (found, Vec::new())))
    }

    /// Devices for all claims on one of the candidates: the node with the best alternatives, the first of equals.
    fn devices(
        &mut self,
        claims: &[ResourceClaim],
        candidates: &[String],
        needs: &[Need],
        texts: &mut Vec<(usize, String)>,
    ) -> Result<Option<Found>, Failure> {
        if candidates.is_empty() {
            return Ok(None);
        }
        if !score::matters(needs) {
            return match self.ask(claims.to_vec(), candidates.to_vec())? {
                Ok(found) => Ok(Some(found)),
                Err(refused) => {
                    texts.extend(refused.iter().map(text_of));
                    Ok(None)
                }
            };
        }
        let mut best: Option<(i64, String, Vec<AllocationResult>)> = None;
        for candidate in candidates {
            match self.ask(claims.to_vec(), vec![candidate.clone()])? {
                Ok((node, allocations)) => {
                    let score = score::score(needs, &allocations);
                    if best.as_ref().is_none_or(|(other, ..)| score > *other) {
                        best = Some((score, node, allocations));
                    }
                }
                Err(refused) => texts.extend(refused.iter().map(text_of)),
            }
        }
        Ok(best.map(|(_, node, allocations)| (node, allocations)))
    }

    /// The same where devices can take something of their node: each candidate must have room for that, too.
    fn devices_with_room(
        &mut self,
        pod: &Pod,
        claims: &[ResourceClaim],
        candidates: &[String],
        needs: &[Need],
        texts: &mut Vec<(usize, String)>,
        curable: &mut usize,
    ) -> Result<Option<Fit>, Failure> {
        let mut best: Option<(i64, Fit)> = None;
        for candidate in candidates {
            let allocations = if claims.is_empty() {
                Vec::new()
            } else {
                match self.ask(claims.to_vec(), vec![candidate.clone()])? {
                    Ok((_, allocations)) => allocations,
                    Err(refused) => {
                        texts.extend(refused.iter().map(text_of));
                        continue;
                    }
                }
            };
            let Some(state) = self.book.node(candidate) else { continue };
            let mut new = allocations.iter();
            let claims: Vec<(&ResourceClaim, &AllocationResult)> = needs
                .iter()
                .filter_map(|need| Some((&need.claim, need.claim.status.allocation.as_ref().or_else(|| new.next())?)))
                .collect();
            match node_allocatable::check(self.cluster, pod, state, &claims) {
                Err(Problem::Error(error)) => return Err(Failure::error(message::filter(&error))),
                Err(Problem::Node(refusals)) => {
                    *curable += usize::from(refusals.iter().all(Refusal::is_curable));
                    texts.extend(refusals.iter().map(|refusal| (1, refusal.to_string())));
                }
                Ok(taken) => {
                    let score = score::score(needs, &allocations);
                    if best.as_ref().is_none_or(|(other, _)| score > *other) {
                        best = Some((score, ((candidate.clone(), allocations), taken)));
                    }
                    if !score::matters(needs) {
                        break;
                    }
                }
            }
        }
        Ok(best.map(|(_, fit)| fit))
    }

    /// Asks the allocator.
    pub(super) fn ask(
        &mut self,
        claims: Vec<ResourceClaim>,
        nodes: Vec<String>,
    ) -> Result<Result<Found, Vec<NodeRefusal>>, Failure> {
        let question = Question { claims, nodes, ..Question::default() };
        let Answer { outcome, .. } = allocate_without(self.cluster, &question, self.limits, &self.barred);
        match outcome {
            Outcome::Allocated { node, allocations } => Ok(Ok((node, allocations))),
            Outcome::Unsatisfied { nodes } => Ok(Err(nodes)),
            Outcome::Failed { failure, .. } => Err(Failure::error(message::filter(&failure.reference))),
            Outcome::GaveUp { node, .. } => {
                Err(Failure::error(format!("node {node}: timed out trying to allocate devices")))
            }
        }
    }

    /// Whether an allocated claim is of no use on any node: its driver said that it failed, or did not answer in time.
    fn is_lost(&self, claim: &ResourceClaim) -> bool {
        conditions::are_on(&self.profile.features)
            && matches!(conditions::readiness(claim, self.now), Readiness::Failed(_) | Readiness::TimedOut)
    }

    fn unfit(&self, text: &str, after: &str, curable: usize, relief: Decision) -> Failure {
        let mut message = message::unschedulable(self.book.len(), text, after, curable);
        if self.profile.features.workload_aware_preemption {
            let frame = message.find(", preemption: ").unwrap_or(message.len());
            message.truncate(frame);
            message.push_str(", preemption: not eligible due to workload aware preemption enabled");
        }
        Failure { is_error: false, message, relief }
    }
}

fn text_of(refusal: &NodeRefusal) -> (usize, String) {
    let own = refusal.failure.as_ref().map(|failure| failure.reference.clone());
    (1, own.unwrap_or_else(|| "cannot allocate all claims".to_owned()))
}

/// Whether the scheduler made a claim, for extended resources.
fn is_special(claim: &ResourceClaim) -> bool {
    claim.metadata.annotations.contains_key(ANNOTATION)
}

/// Whether the devices of an allocated claim can be used on a node.
pub(crate) fn reaches(claim: &ResourceClaim, state: &NodeState) -> bool {
    let selector = claim.status.allocation.as_ref().and_then(|allocation| allocation.node_selector.as_ref());
    selector.is_none_or(|selector| node_fit::selects(selector, &state.node))
}
