//! What all nodes have against a Pod, and what is given up for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::attempt::{Failure, Scheduler};
use super::filter::{Asked, Candidate, Full, Standing};
use super::known_refusals::names;
use super::message;
use super::needs::Need;
use super::node_fit::Refusal;
use super::postfilter::{self, Obstacles};
use super::preemption::Preemption;
use super::refusal::{Cause, Nodes};
use crate::allocate::NodeRefusal;
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::decision::Decision;
use crate::gather::Gather;
use crate::profile::{Mode, Version};

impl Scheduler<'_> {
    /// What all nodes have against a Pod.
    pub(super) fn unfit(&mut self, asked: &Asked<'_>, full: Full) -> Failure {
        self.book.looked_at(self.book.len());
        let claims = names(&asked.claims);
        let mut nodes = Nodes { count: self.book.len(), claims: claims.clone(), ..Nodes::default() };
        let mut obstacles = Obstacles::default();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut away: Vec<(Candidate, Vec<usize>)> = Vec::new();
        let mut undeclared: Vec<(Candidate, Refusal)> = Vec::new();
        for (node, refusals) in full.nodes.iter().zip(full.refusals) {
            nodes.refuse(node, refusals);
        }
        for state in self.book.nodes().filter(|state| !self.is_left_out(state.name())) {
            match self.standing(asked, state) {
                Standing::Refused(refusals) => nodes.refuse(state.name(), refusals),
                Standing::Away(unusable) => {
                    away.push(((state.name().to_owned(), self.extended_on(asked, state)), unusable));
                }
                Standing::Undeclared(feature, extended) => {
                    undeclared.push(((state.name().to_owned(), extended), Refusal::Feature { feature }));
                }
                Standing::Open(extended) => candidates.push((state.name().to_owned(), extended)),
            }
        }
        // Where claims with devices rule a node out, an error in another one still counts.
        if self.settings.profile.mode == Mode::Sound
            && let Err(failure) = self.ask_away(asked)
        {
            return failure;
        }
        let full: BTreeSet<&String> = full.nodes.iter().gather();
        candidates.retain(|(name, _)| !full.contains(name));
        for group in candidates.chunk_by(|(_, one), (_, other)| one == other) {
            let extended = group.first().and_then(|(_, extended)| extended.as_ref());
            let (claims, _) = self.with_special(asked, extended);
            match self.refusals_of(claims, group.iter().map(|(name, _)| name.clone()).collect()) {
                Ok(refused) => nodes.devices.extend(refused),
                Err(failure) => return failure,
            }
        }
        // A node without devices for the other claims is refused for that, and nothing is given up because of it.
        for (candidate, unusable) in away {
            let refused = match self.lacks_devices(asked, &candidate) {
                Ok(refused) => refused,
                Err(failure) => return failure,
            };
            if !refused.is_empty() {
                nodes.devices.extend(refused);
                continue;
            }
            let first = unusable.first().and_then(|index| asked.needs.get(*index));
            let claim = first.map(|need| need.claim.metadata.name.clone()).unwrap_or_default();
            nodes.elsewhere.entry(claim).or_default().push(candidate.0);
            obstacles.unavailable.extend(unusable);
        }
        for (candidate, refusal) in undeclared {
            match self.lacks_devices(asked, &candidate) {
                Ok(refused) if refused.is_empty() => nodes.refuse(&candidate.0, vec![refusal]),
                Ok(refused) => nodes.devices.extend(refused),
                Err(failure) => return failure,
            }
        }
        let (after, relief, ends) = match asked.filters.plan.relieves {
            true => postfilter::relieve(self, asked.pod(), asked.needs, asked.asks, &obstacles),
            false => ("", Decision::none(), false),
        };
        nodes.curable.arrange();
        let preemption = (!ends && asked.filters.plan.preempts).then(|| self.preempt(asked, &nodes.curable));
        let message = self.sentence(&nodes.filters(), after, preemption.as_ref());
        nodes.preemption.clone_from(&preemption);
        Failure {
            relief,
            cause: Cause::Nodes { nodes: Arc::new(nodes), claims },
            preemption,
            ..Failure::unfit(message)
        }
    }

    /// What one node lacks for the claims without devices; nothing where it has enough.
    ///
    /// # Errors
    ///
    /// When something about a claim is wrong.
    fn lacks_devices(&mut self, asked: &Asked<'_>, (node, extended): &Candidate) -> Result<Vec<NodeRefusal>, Failure> {
        let (claims, _) = self.with_special(asked, extended.as_ref());
        if claims.is_empty() { Ok(Vec::new()) } else { self.refusals_of(claims, vec![node.clone()]) }
    }

    /// The same where failures are not recorded: only what is given up for the Pod.
    pub(super) fn unfit_unrecorded(&mut self, asked: &Asked<'_>, full: Full) -> Failure {
        // What can be given up is a claim that has devices.
        if asked.needs.iter().any(Need::is_allocated) {
            return self.unfit(asked, full);
        }
        if !self.may_preempt(asked.pod()) {
            return Failure::untold();
        }
        let is_nominated = !asked.pod().status.nominated_node_name.is_empty();
        if let Some(known) = self.known_fruitless(asked).filter(|_| !is_nominated) {
            return Failure { preemption: Some(known), ..Failure::untold() };
        }
        let mut nodes = Nodes::default();
        full.nodes.iter().zip(full.refusals).for_each(|(node, refusals)| nodes.refuse(node, refusals));
        for state in self.book.nodes().filter(|state| !self.is_left_out(state.name())) {
            if let Standing::Refused(refusals) = self.standing(asked, state) {
                nodes.refuse(state.name(), refusals);
            }
        }
        nodes.curable.arrange();
        Failure { preemption: Some(self.preempt(asked, &nodes.curable)), ..Failure::untold() }
    }

    /// kube-scheduler's sentence about a Pod that fits nowhere: what the filters said, what came after, and what preemption would do.
    fn sentence(&self, filters: &str, after: &str, preemption: Option<&Preemption>) -> String {
        let (count, is_told) = (self.book.len(), self.settings.profile.version >= Version::V1_37);
        let taken = matches!(preemption, Some(Preemption::Takes(_)));
        let own = Some(after.to_owned()).filter(|after| !after.is_empty() && !taken);
        let after: Vec<String> =
            own.into_iter().chain(preemption.and_then(|preemption| preemption.said(count, is_told))).collect();
        message::unschedulable(count, filters, &after)
    }

    /// The failure of a Pod one of whose requests is wrong in itself.
    pub(super) fn bad_request(&self, pod: &Pod, problem: String) -> Failure {
        let preemption = self.without_victims(pod, 0);
        let after = postfilter::said(self, "no new claims to deallocate");
        let message = self.sentence(&problem, after, Some(&preemption));
        Failure { cause: Cause::Request(problem), ..Failure::unfit(message) }
    }
}
