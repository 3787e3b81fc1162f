//! What all nodes have against a Pod, and what is given up for it.

use std::collections::BTreeSet;

use super::attempt::{Failure, Scheduler};
use super::filter::{Asked, Candidate, Full, Standing};
use super::needs::Need;
use super::postfilter::{self, Obstacles};
use super::refusal::{Cause, Nodes, sentence};
use crate::api::pod::Pod;
use crate::decision::Decision;
use crate::profile::Mode;

impl Scheduler<'_> {
    /// What all nodes have against a Pod.
    pub(super) fn unfit(&mut self, asked: &Asked<'_>, full: Full) -> Failure {
        self.book.looked_at(self.book.len());
        let mut nodes = Nodes { count: self.book.len(), ..Nodes::default() };
        let mut obstacles = Obstacles::default();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (node, refusals) in full.nodes.iter().zip(full.refusals) {
            nodes.refuse(node, refusals);
        }
        for state in self.book.nodes().filter(|state| !self.is_left_out(state.name())) {
            match self.standing(asked, state) {
                Standing::Refused(refusals) => nodes.refuse(state.name(), refusals),
                Standing::Away(unusable) => {
                    let first = unusable.first().and_then(|index| asked.needs.get(*index));
                    let claim = first.map(|need| need.claim.metadata.name.clone()).unwrap_or_default();
                    nodes.elsewhere.entry(claim).or_default().push(state.name().to_owned());
                    obstacles.unavailable.extend(unusable);
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
        let full: BTreeSet<&String> = full.nodes.iter().collect();
        candidates.retain(|(name, _)| !full.contains(name));
        for group in candidates.chunk_by(|(_, one), (_, other)| one == other) {
            let extended = group.first().and_then(|(_, extended)| extended.as_ref());
            let (claims, _) = self.with_special(asked, extended);
            match self.refusals_of(claims, group.iter().map(|(name, _)| name.clone()).collect()) {
                Ok(refused) => nodes.devices.extend(refused),
                Err(failure) => return failure,
            }
        }
        let (after, relief, ends) = postfilter::relieve(self, asked.pod, asked.needs, asked.asks, &obstacles);
        let filters = nodes.filters();
        let message = if ends {
            format!("0/{} nodes are available: {filters}. {after}", nodes.count)
        } else {
            sentence(nodes.count, &filters, after, nodes.curable, (&self.settings.profile.features, asked.pod))
        };
        Failure { is_error: false, message, relief, cause: Cause::Nodes(Box::new(nodes)) }
    }

    /// The same where failures are not recorded: only what is given up for the Pod.
    pub(super) fn unfit_unrecorded(&mut self, asked: &Asked<'_>, full: Full) -> Failure {
        // What can be given up is a claim that has devices.
        if asked.needs.iter().any(Need::is_allocated) { self.unfit(asked, full) } else { Failure::untold() }
    }

    /// The failure of a Pod one of whose requests is wrong in itself.
    pub(super) fn bad_request(&self, pod: &Pod, problem: String) -> Failure {
        let after = "no new claims to deallocate";
        let message = sentence(self.book.len(), &problem, after, 0, (&self.settings.profile.features, pod));
        Failure { is_error: false, message, relief: Decision::none(), cause: Cause::Request(problem) }
    }
}
