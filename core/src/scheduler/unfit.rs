//! Why a Pod fits nowhere, in kube-scheduler's words, and what is given up for it.

use super::attempt::{Failure, Scheduler};
use super::filter::{Asked, Candidate, Full, Standing};
use super::message;
use super::node_fit::Refusal;
use super::postfilter::{self, Obstacles};
use crate::allocate::NodeRefusal;
use crate::decision::Decision;
use crate::profile::Mode;

impl Scheduler<'_> {
    /// What all nodes have against a Pod.
    pub(super) fn unfit(&mut self, asked: &Asked<'_>, full: Full) -> Failure {
        self.book.looked_at(self.book.len());
        let mut texts: Vec<(usize, String)> = Vec::new();
        let mut obstacles = Obstacles::default();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut curable = 0usize;
        let mut out_of_reach = 0usize;
        let mut refused = full.refusals;
        for state in self.book.nodes().filter(|state| !self.is_left_out(state.name())) {
            match self.standing(asked, state) {
                Standing::Refused(refusals) => refused.push(refusals),
                Standing::Away(unusable) => {
                    obstacles.unavailable.extend(unusable);
                    out_of_reach = out_of_reach.saturating_add(1);
                }
                Standing::Open(extended) => candidates.push((state.name().to_owned(), extended)),
            }
        }
        for refusals in refused {
            curable += usize::from(refusals.iter().all(Refusal::is_curable));
            texts.extend(refusals.iter().map(|refusal| (1, refusal.to_string())));
        }
        // Where claims with devices rule a node out, an error in another one still counts.
        if self.profile.mode == Mode::Sound
            && let Err(failure) = self.ask_away(asked)
        {
            return failure;
        }
        texts.push((out_of_reach, "resourceclaim not available on the node".to_owned()));
        candidates.retain(|(name, _)| !full.nodes.contains(name));
        for nodes in candidates.chunk_by(|(_, one), (_, other)| one == other) {
            let extended = nodes.first().and_then(|(_, extended)| extended.as_ref());
            let (claims, _) = self.with_special(asked, extended);
            match self.refusals_of(claims, nodes.iter().map(|(name, _)| name.clone()).collect()) {
                Ok(refused) => texts.extend(refused.iter().map(text_of)),
                Err(failure) => return failure,
            }
        }
        let (after, relief, ends) = postfilter::relieve(self, asked.pod, asked.needs, asked.asks, &obstacles);
        let text = message::counted(texts);
        let mut failure = self.worded(&text, after, curable, relief);
        if ends {
            failure.message = format!("0/{} nodes are available: {text}. {after}", self.book.len());
        }
        failure
    }

    /// A failure with what the filters said and what came after.
    pub(super) fn worded(&self, text: &str, after: &str, curable: usize, relief: Decision) -> Failure {
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
