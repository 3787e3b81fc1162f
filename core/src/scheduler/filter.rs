//! One Pod against all nodes: ordinary tests first, then claims that have devices, then the allocator.
//!
//! Nodes are looked at by name, twice as many each time, and not beyond the first place; where scores decide ([`super::scoring`]), all are
//! that fit. Those that refused Pods of the same class before, and did not change since, are passed over. What they have against a Pod is
//! found out by [`super::unfit`], where it fits nowhere and somebody wants to hear why.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::attempt::{Attempt, Failure, Scheduler};
use super::bind::Placement;
use super::classes::{ClassIdx, DeviceAsks, NodeAsks};
use super::conditions::{self, Readiness};
use super::declared;
use super::needs::{self, Need};
use super::node_allocatable::{self, Problem};
use super::node_fit::{self, NodeState, Refusal, Resources, Room};
use super::pod_filters::PodFilters;
use super::{message, score, special};
use crate::allocate::extended::{self, ANNOTATION, ExtendedResources};
use crate::allocate::{Answer, NodeRefusal, Outcome, Place, Question, allocate_without, find_place_without};
use crate::api::claim::{AllocationResult, ResourceClaim};
use crate::api::node::{NodeSelectorOperator, NodeSelectorRequirement};
use crate::api::pod::{NodeAllocatableClaimStatus, Pod};
use crate::arrange::Arrange;
use crate::profile::{Mode, Ranking};

/// A node, and devices for the claims that were asked for, in their order.
type Found = (String, Vec<Arc<AllocationResult>>);

/// The same with what all devices of the Pod take of the node.
type Fit = (Found, Vec<NodeAllocatableClaimStatus>);

/// A node that only the allocator is still to be asked about, and what devices are to serve there of ordinary resources.
pub(super) type Candidate = (String, Option<ExtendedResources>);

/// What nodes are asked.
#[derive(Clone)]
pub(super) struct Asked<'p> {
    pub(super) filters: PodFilters<'p>,
    pub(super) needs: &'p [Need],
    /// Claims without devices.
    pub(super) claims: Vec<ResourceClaim>,
    /// Whether devices may serve ordinary resources of the Pod.
    pub(super) asks: bool,
    /// Why claims that have devices are for another Pod alone.
    pub(super) shared: Option<String>,
    /// Whether drivers gave up a claim that has devices.
    pub(super) has_lost: bool,
}

/// What a node is to an attempt.
pub(super) enum Standing {
    /// An ordinary scheduler refuses it.
    Refused(Vec<Refusal>),
    /// Claims have devices, but not for it: their positions.
    Away(Vec<usize>),
    /// Only the allocator is still to be asked; then the node is refused, because it does not declare a feature.
    Undeclared(&'static str, Option<ExtendedResources>),
    /// Only the allocator is still to be asked.
    Open(Option<ExtendedResources>),
}

/// Devices of a node for all claims of a Pod.
pub(super) struct Devices {
    needs: Vec<Need>,
    allocations: Vec<Arc<AllocationResult>>,
}

/// Nodes whose devices fit, but take more of the node than is left.
#[derive(Default)]
pub(super) struct Full {
    pub(super) nodes: Vec<String>,
    pub(super) refusals: Vec<Vec<Refusal>>,
}

impl Scheduler<'_> {
    /// Tries nodes.
    pub(super) fn filter(&mut self, own: &Pod, needs: &[Need], asks: bool) -> Attempt {
        let filters = PodFilters::of(self.cluster, &mut self.book.topology, own);
        let preempts = self.settings.preempts;
        self.settings.preempts = preempts && filters.plan.preempts;
        let attempt = self.filter_with(filters, needs, asks);
        self.settings.preempts = preempts;
        attempt
    }

    fn filter_with(&mut self, filters: PodFilters<'_>, needs: &[Need], asks: bool) -> Attempt {
        let mut held = needs.iter().filter(|need| need.is_allocated());
        let shared =
            held.find_map(|need| node_allocatable::sharing_problem(self.cluster, &need.claim, need.is_reserved));
        let open = needs.iter().filter(|need| !need.is_allocated());
        let asked = Asked {
            filters,
            needs,
            claims: open.map(|need| need.claim.clone()).collect(),
            asks,
            shared,
            has_lost: needs.iter().any(|need| self.is_lost(&need.claim)),
        };
        let alike = self.asks_alike(&asked);
        if let Some(failure) = alike.as_ref().and_then(|alike| self.known_refusal(alike, &asked.claims)) {
            return Attempt::Unfit(failure);
        }
        if let Some(placement) = self.on_nominated_node(&asked) {
            return Attempt::Fits(placement);
        }
        let mut full = Full::default();
        match self.find(&asked, &mut full) {
            Ok(Some(placement)) => Attempt::Fits(placement),
            Ok(None) if self.is_quiet => Attempt::Unfit(Failure::untold()),
            Ok(None) if !self.settings.records_failures => Attempt::Unfit(self.unfit_unrecorded(&asked, full)),
            Ok(None) => {
                let failure = self.unfit(&asked, full);
                alike.into_iter().for_each(|alike| self.keep_refusal(alike, &failure));
                Attempt::Unfit(failure)
            }
            Err(failure) => Attempt::Unfit(failure),
        }
    }

    /// A place on the node that a Pod is nominated for: others are not looked at then.
    fn on_nominated_node(&mut self, asked: &Asked<'_>) -> Option<Placement> {
        let nominated = &asked.pod().status.nominated_node_name;
        let is_asked = self.settings.preempts && self.only.is_none();
        self.book.node(nominated).filter(|_| is_asked)?;
        self.only = Some(nominated.clone());
        let found = self.find(asked, &mut Full::default());
        self.only = None;
        found.ok().flatten()
    }

    /// The first place.
    ///
    /// # Errors
    ///
    /// When something about a claim is wrong.
    fn find(&mut self, asked: &Asked<'_>, full: &mut Full) -> Result<Option<Placement>, Failure> {
        if asked.shared.is_some() {
            return Ok(None);
        }
        // DIFFERENCE: in the reference an error in a claim ends the attempt, even where another claim rules the node out.
        if self.settings.profile.mode == Mode::Reference {
            self.ask_away(asked)?;
        }
        if asked.has_lost {
            return Ok(None);
        }
        self.book.listen(self.cluster);
        if let Some(node) = asked.only_node() {
            let room = Room::of(asked.filters.requests.clone());
            let state = self.book.node(node).filter(|state| !self.is_left_out(state.name()));
            let is_apart = |state: &NodeState| asked.filters.apart(&self.book.topology, state).is_some();
            let state = state.filter(|state| !is_apart(state));
            let candidate = state.and_then(|state| self.candidate(asked, &room, state));
            self.book.looked_at(1);
            let placement = self.places(asked, candidate.as_slice(), full)?;
            return Ok(placement.map(|placement| self.with_own_scores(asked, placement)));
        }
        let nodes = self.book.len();
        let by_nodes = self.book.by_nodes.find(asked.of_nodes(), nodes);
        // Where devices serve ordinary resources, nodes differ in what is asked of their devices.
        let by_devices = if asked.asks { None } else { self.device_class(&asked.claims) };
        if self.settings.profile.placement == Ranking::Scores {
            return self.find_best(asked, (by_nodes, by_devices), full);
        }
        let mut from = 0;
        let mut count = if asked.asks || score::matters(asked.needs) { usize::MAX } else { 1 };
        loop {
            let candidates = self.candidates(asked, (by_nodes, by_devices), &mut from, count);
            if candidates.is_empty() {
                return Ok(None);
            }
            // Nodes that need the same claim for extended resources are asked together.
            for nodes in candidates.chunk_by(|(_, one), (_, other)| one == other) {
                if let Some(placement) = self.places(asked, nodes, full)? {
                    return Ok(Some(placement));
                }
            }
            count = count.saturating_mul(2);
        }
    }

    /// The next nodes that ordinary tests and claims with devices leave, by name, from a position on; it moves behind the last one.
    fn candidates(
        &mut self,
        asked: &Asked<'_>,
        (by_nodes, by_devices): (ClassIdx, Option<ClassIdx>),
        from: &mut usize,
        count: usize,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let Some(class) = self.book.by_nodes.asks(by_nodes) else { return candidates };
        while candidates.len() < count {
            let Some(position) = self.book.next(by_nodes, by_devices, *from) else { break };
            *from = position.saturating_add(1);
            candidates.extend(self.look_at(asked, &class.room, by_nodes, position));
        }
        candidates
    }

    /// The only place that was asked about, with its scores where they are wanted.
    fn with_own_scores(&mut self, asked: &Asked<'_>, mut placement: Placement) -> Placement {
        if let Some(position) = self.book.position(&placement.node).filter(|_| self.settings.records_scores) {
            let comparison = self.book.comparison(self.cluster, &asked.filters, &asked.scored());
            let devices = score::score(&placement.needs, &placement.allocations);
            placement.scores = Some(Box::new(self.book.scores(&comparison, &[(position, devices)])));
        }
        placement
    }

    /// The place that scores best.
    ///
    /// # Errors
    ///
    /// When something about a claim is wrong.
    fn find_best(
        &mut self,
        asked: &Asked<'_>,
        (by_nodes, by_devices): (ClassIdx, Option<ClassIdx>),
        full: &mut Full,
    ) -> Result<Option<Placement>, Failure> {
        let comparison = self.book.comparison(self.cluster, &asked.filters, &asked.scored());
        let records = self.settings.records_scores;
        let samples = self.settings.profile.mode == Mode::Reference;
        let sample = if samples { self.book.sample(asked.filters.plan.compared) } else { None };
        let is_plain = comparison.is_plain
            && !records
            && sample.is_none()
            && (asked.claims.is_empty() || !score::matters(asked.needs));
        let mut order = BinaryHeap::new();
        let mut from = 0;
        while let Some(position) = self.book.next(by_nodes, by_devices, from) {
            from = position.saturating_add(1);
            let score = if is_plain { self.book.plain_score(&comparison, position) } else { 0 };
            let before = sample.as_ref().map_or(0, |sample| sample.before(position));
            order.push((score, Reverse((before, position))));
        }
        let Some(class) = self.book.by_nodes.asks(by_nodes) else { return Ok(None) };
        let mut fitting: Vec<(usize, i64)> = Vec::new();
        while let Some((_, Reverse((before, position)))) = order.pop() {
            let Some(candidate) = self.look_at(asked, &class.room, by_nodes, position) else { continue };
            let mut devices = 0;
            if is_plain || !asked.claims.is_empty() || candidate.1.is_some() {
                let Some(placement) = self.places(asked, &[candidate], full)? else { continue };
                if is_plain {
                    return Ok(Some(placement));
                }
                devices = score::score(&placement.needs, &placement.allocations);
            }
            if sample.as_ref().is_some_and(|sample| fitting.len() >= sample.enough) {
                self.book.go_on_after(before);
                break;
            }
            fitting.push((position, devices));
        }
        fitting.arrange();
        let scores = self.book.scores(&comparison, &fitting);
        let chosen = scores.chosen.as_ref().and_then(|chosen| self.book.node(&chosen.node));
        let Some(candidate) = chosen.and_then(|state| self.candidate(asked, &class.room, state)) else {
            return Ok(None);
        };
        let placement = self.places(asked, &[candidate], full)?;
        Ok(placement.map(|placement| Placement { scores: records.then(|| Box::new(scores)), ..placement }))
    }

    /// The node at a position as a candidate, unless something speaks against it.
    fn look_at(&mut self, asked: &Asked<'_>, room: &Room, by_nodes: ClassIdx, position: usize) -> Option<Candidate> {
        let state = self.book.at(position).filter(|state| !self.is_left_out(state.name()))?;
        let is_apart = asked.filters.apart(&self.book.topology, state).is_some();
        let candidate = self.candidate(asked, room, state);
        self.book.looked_at(1);
        if candidate.is_none() {
            self.book.by_nodes.refuse(by_nodes, position);
        }
        // What placed Pods have against a node is not kept: another one may help.
        candidate.filter(|_| !is_apart)
    }

    /// Whether a node is a candidate. `room` is what the Pod asks of it where no devices serve any of that.
    fn candidate(&self, asked: &Asked<'_>, room: &Room, state: &NodeState) -> Option<Candidate> {
        let extended = self.extended_on(asked, state);
        let filters = &asked.filters;
        let accepts = match &extended {
            None => state.accepts(asked.pod(), room),
            Some(_) => state.accepts(asked.pod(), &Room::of(filters.requests_beside(extended.as_ref()).into_owned())),
        };
        let accepts = accepts && filters.volumes.refusals(&state.node).is_empty();
        let accepts = accepts && declared::missing(&filters.features, &state.node).is_none();
        let is_open = accepts && asked.needs.iter().all(|need| reaches(&need.claim, state));
        is_open.then(|| (state.name().to_owned(), extended))
    }

    /// The class of some claims without devices, where nodes' refusals of them last.
    fn device_class(&mut self, claims: &[ResourceClaim]) -> Option<ClassIdx> {
        let asks = DeviceAsks::of(claims, self.settings.profile)?;
        Some(self.book.by_devices.find(asks, self.book.len()))
    }

    /// What a node is, with everything that speaks against it.
    pub(super) fn standing(&self, asked: &Asked<'_>, state: &NodeState) -> Standing {
        let extended = self.extended_on(asked, state);
        let mut refusals = asked.filters.refusals(&self.book.topology, state, extended.as_ref());
        if let Some(text) = asked.shared.as_ref().filter(|_| refusals.is_empty()) {
            refusals.push(Refusal::Devices(text.clone()));
        }
        if !refusals.is_empty() {
            return Standing::Refused(refusals);
        }
        let is_usable = |need: &Need| reaches(&need.claim, state) && !self.is_lost(&need.claim);
        let unusable: Vec<usize> =
            asked.needs.iter().enumerate().filter(|(_, need)| !is_usable(need)).map(|(index, _)| index).collect();
        // Declared features come after devices.
        match declared::missing(&asked.filters.features, &state.node) {
            _ if !unusable.is_empty() => Standing::Away(unusable),
            Some(feature) => Standing::Undeclared(feature, extended),
            None => Standing::Open(extended),
        }
    }

    pub(super) fn extended_on(&self, asked: &Asked<'_>, state: &NodeState) -> Option<ExtendedResources> {
        if asked.asks { extended::on_node(self.cluster, asked.pod(), &state.node) } else { None }
    }

    /// Whether a node is not looked at for now.
    pub(super) fn is_left_out(&self, node: &str) -> bool {
        self.without.contains(node) || self.book.is_crowded(node) || self.only.as_ref().is_some_and(|only| only != node)
    }

    /// Whether an allocated claim is of no use on any node: its driver said that it failed, or did not answer in time.
    fn is_lost(&self, claim: &ResourceClaim) -> bool {
        conditions::are_on(&self.settings.profile.features)
            && matches!(conditions::readiness(claim, self.settings.now), Readiness::Failed(_) | Readiness::TimedOut)
    }

    /// Asks the allocator about nodes that other claims of the Pod rule out.
    ///
    /// # Errors
    ///
    /// When something about a claim is wrong.
    pub(super) fn ask_away(&mut self, asked: &Asked<'_>) -> Result<(), Failure> {
        if asked.claims.is_empty() || asked.claims.len() == asked.needs.len() {
            return Ok(());
        }
        let states = self.book.nodes().filter(|state| !self.is_left_out(state.name()));
        let away = states.filter(|state| matches!(self.standing(asked, state), Standing::Away(_)));
        let nodes: Vec<String> = away.map(|state| state.name().to_owned()).collect();
        if nodes.is_empty() { Ok(()) } else { self.refusals_of(asked.claims.clone(), nodes).map(drop) }
    }

    /// One of the candidates, all of which need the same claims, with devices for all claims: the one with the best alternatives,
    /// the first of equals. Each must have room for what devices take of their node.
    fn places(
        &mut self,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        full: &mut Full,
    ) -> Result<Option<Placement>, Failure> {
        let Some((_, extended)) = candidates.first() else { return Ok(None) };
        let (claims, mut needs) = self.with_special(asked, extended.as_ref());
        let class = self.device_class(&claims);
        let names = candidates.iter().map(|(name, _)| name);
        let nodes: Vec<String> = names.filter(|name| self.book.may_serve(class, name)).cloned().collect();
        let highest = if score::matters(&needs) { Some(score::highest(&needs)) } else { None };
        let mut best: Option<(i64, Fit)> = None;
        let mut left = nodes.as_slice();
        while !left.is_empty() {
            // Nodes that are compared are asked one by one.
            let (now, later) = left.split_at(if highest.is_some() { 1 } else { left.len() });
            left = later;
            let found = self.first_with_devices(&claims, now)?;
            let place = found.as_ref().and_then(|(node, _)| now.iter().position(|name| name == node));
            if let Some(class) = class.filter(|_| self.barred.is_empty()) {
                let refused = now.iter().take(place.unwrap_or(now.len()));
                refused.for_each(|node| self.book.cannot_serve(class, node));
            }
            let Some((node, allocations)) = found else { continue };
            if highest.is_none() {
                let position = nodes.iter().position(|name| *name == node).unwrap_or(nodes.len());
                left = nodes.get(position.saturating_add(1)..).unwrap_or_default();
            }
            let room = self.book.node(&node).map(|state| self.room(asked.pod(), &needs, state, &allocations));
            let taken = match room.unwrap_or_else(|| Ok(Vec::new())) {
                Err(Problem::Error(error)) => return Err(Failure::error(message::filter(&error))),
                Err(Problem::Node(refusals)) => {
                    full.nodes.push(node);
                    full.refusals.push(refusals);
                    continue;
                }
                Ok(taken) => taken,
            };
            let score = score::score(&needs, &allocations);
            if best.as_ref().is_none_or(|(other, _)| score > *other) {
                best = Some((score, ((node, allocations), taken)));
            }
            if highest.is_none_or(|highest| score >= highest) {
                break;
            }
        }
        let Some((_, ((node, allocations), taken))) = best else { return Ok(None) };
        for need in needs.iter_mut().filter(|need| need.is_new) {
            need.claim = special::named(self.cluster, asked.pod(), need.claim.clone());
        }
        Ok(Some(Placement { node, needs, allocations, extended: extended.clone(), taken, scores: None }))
    }

    /// Claims without devices, and all that the Pod needs, with the claim for extended resources where it is still to be made.
    pub(super) fn with_special(
        &self,
        asked: &Asked<'_>,
        extended: Option<&ExtendedResources>,
    ) -> (Vec<ResourceClaim>, Vec<Need>) {
        let (mut claims, mut needs) = (asked.claims.clone(), asked.needs.to_vec());
        let is_made = needs.iter().any(|need| is_special(&need.claim));
        if let Some(extended) = extended.filter(|_| !is_made) {
            let claim = special::claim(asked.pod(), extended);
            claims.push(claim.clone());
            needs.push(needs::special(asked.pod(), claim, true));
        }
        (claims, needs)
    }

    /// What all devices of the Pod take of a node, where there is room for it.
    fn room(
        &self,
        pod: &Pod,
        needs: &[Need],
        state: &NodeState,
        allocations: &[Arc<AllocationResult>],
    ) -> Result<Vec<NodeAllocatableClaimStatus>, Problem> {
        if !self.settings.profile.features.node_allocatable_resources {
            return Ok(Vec::new());
        }
        let mut new = allocations.iter();
        let with_devices = |need| -> Option<(&ResourceClaim, &AllocationResult)> {
            let need: &Need = need;
            Some((&need.claim, &**need.claim.status.allocation.as_ref().or_else(|| new.next())?))
        };
        let claims: Vec<_> = needs.iter().filter_map(with_devices).collect();
        node_allocatable::check(self.cluster, pod, state, &claims)
    }

    /// The devices that a Pod gets on a node.
    ///
    /// # Errors
    ///
    /// What kube-scheduler says of the node where it has none.
    pub(super) fn devices_on(
        &mut self,
        asked: &Asked<'_>,
        extended: Option<&ExtendedResources>,
        node: &str,
    ) -> Result<Devices, String> {
        let (claims, needs) = self.with_special(asked, extended);
        let class = self.device_class(&claims);
        if !self.book.may_serve(class, node) {
            return Err(message::NO_DEVICES.to_owned());
        }
        match self.first_with_devices(&claims, &[node.to_owned()]) {
            Ok(Some((_, allocations))) => Ok(Devices { needs, allocations }),
            Ok(None) => {
                class.into_iter().for_each(|class| self.book.cannot_serve(class, node));
                Err(message::NO_DEVICES.to_owned())
            }
            Err(failure) => Err(failure.message),
        }
    }

    /// What a node lacks for what devices take of it; nothing where it has enough.
    pub(super) fn no_room(&self, pod: &Pod, devices: &Devices, state: &NodeState) -> Vec<String> {
        match self.room(pod, &devices.needs, state, &devices.allocations) {
            Ok(_) => Vec::new(),
            Err(Problem::Error(error)) => vec![message::filter(&error)],
            Err(Problem::Node(refusals)) => refusals.iter().map(ToString::to_string).collect(),
        }
    }

    /// The first of some nodes that has devices for all claims.
    fn first_with_devices(&mut self, claims: &[ResourceClaim], nodes: &[String]) -> Result<Option<Found>, Failure> {
        if claims.is_empty() {
            return Ok(nodes.first().map(|node| (node.clone(), Vec::new())));
        }
        match self.place(claims, nodes) {
            Place::On(node, allocations) => Ok(Some((node, allocations))),
            Place::Nowhere => Ok(None),
            Place::Failed(failure) => Err(Failure::of_claim(*failure)),
            Place::GaveUp => {
                // The limit is one for each node.
                for node in nodes {
                    match self.place(claims, std::slice::from_ref(node)) {
                        Place::On(node, allocations) => return Ok(Some((node, allocations))),
                        Place::Nowhere => {}
                        Place::Failed(failure) => return Err(Failure::of_claim(*failure)),
                        Place::GaveUp => return Err(Failure::gave_up(node)),
                    }
                }
                Ok(None)
            }
        }
    }

    /// What nodes without devices for all claims lack.
    ///
    /// # Errors
    ///
    /// When something about a claim is wrong.
    pub(super) fn refusals_of(
        &mut self,
        claims: Vec<ResourceClaim>,
        nodes: Vec<String>,
    ) -> Result<Vec<NodeRefusal>, Failure> {
        let question = Question { claims, nodes, ..Question::default() };
        let Answer { outcome, .. } = allocate_without(self.cluster, &question, self.settings.limits, &self.barred);
        match outcome {
            Outcome::Allocated { .. } => Ok(Vec::new()),
            Outcome::Unsatisfied { nodes } => Ok(nodes),
            Outcome::Failed { failure, .. } => Err(Failure::of_claim(failure)),
            Outcome::GaveUp { node, .. } => Err(Failure::gave_up(&node)),
        }
    }

    fn place(&mut self, claims: &[ResourceClaim], nodes: &[String]) -> Place {
        find_place_without(self.cluster, claims, nodes, self.settings.limits, &self.barred)
    }
}

impl Asked<'_> {
    /// The Pod as its filters see it.
    pub(super) fn pod(&self) -> &Pod {
        &self.filters.seen
    }

    /// What it asks of nodes where they are compared: more than they must have, where its scheduler ignores some of it.
    fn scored(&self) -> Cow<'_, Resources> {
        match self.filters.plan.asks_for_all() {
            true => Cow::Borrowed(&self.filters.requests),
            false => Cow::Owned(node_fit::requests(self.filters.own)),
        }
    }

    /// What it is that nodes are asked, devices left aside.
    pub(super) fn of_nodes(&self) -> NodeAsks {
        let (filters, spec) = (&self.filters, &self.pod().spec);
        let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        let allocations = self.needs.iter().filter_map(|need| need.claim.status.allocation.as_ref());
        let containers = spec.init_containers.iter().chain(&spec.containers).filter(|_| self.asks);
        NodeAsks {
            room: Room::of(filters.requests.clone()),
            node_selector: spec.node_selector.clone(),
            affinity: affinity.and_then(|affinity| affinity.required.clone()),
            tolerations: spec.tolerations.clone(),
            features: filters.features.clone(),
            volumes: filters.volumes.clone(),
            reach: allocations.filter_map(|allocation| allocation.node_selector.clone()).collect(),
            containers: containers.cloned().collect(),
        }
    }

    /// The only node on which a claim's devices can be used, where there is such a claim.
    fn only_node(&self) -> Option<&str> {
        self.needs.iter().find_map(|need| {
            let selector = need.claim.status.allocation.as_ref()?.node_selector.as_ref()?;
            let [term] = selector.terms.as_slice() else { return None };
            let named = |requirement: &&NodeSelectorRequirement| {
                requirement.key == "metadata.name" && requirement.operator == NodeSelectorOperator::In
            };
            match term.match_fields.iter().find(named)?.values.as_slice() {
                [node] => Some(node.as_str()),
                _ => None,
            }
        })
    }
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
