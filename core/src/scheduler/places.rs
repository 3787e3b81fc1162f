//! What one attempt makes of every node, in kube-scheduler's words: to compare with kube-scheduler itself.

use std::collections::{BTreeMap, BTreeSet};

use super::attempt::{Attempt, Scheduler};
use super::node_cache::NodeCache;
use super::preemption::{Preemption, Takeover};
use super::refusal::Cause;
use super::scoring::Scores;
use super::{Settings, attempt};
use crate::cluster::{Cluster, Key};
use crate::gather::Gather;

/// What became of every node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Places {
    /// How the nodes compare that fit; absent where none does.
    pub scores: Option<Scores>,
    /// What the filters say of each other node.
    pub refused: BTreeMap<String, Vec<String>>,
    /// The sentence about a Pod that fits nowhere.
    pub message: Option<String>,
    /// Who leaves for it then.
    pub takeover: Option<Takeover>,
}

/// Looks at all nodes for a waiting Pod; `None` where it is not to be tried. Needs a profile that places Pods by scores.
pub fn places(cluster: &mut Cluster, book: &mut NodeCache, settings: Settings<'_>, pod: &Key) -> Option<Places> {
    let settings = Settings { records_failures: true, records_scores: true, ..settings };
    Scheduler::new(cluster, book, settings).look_everywhere(pod)
}

impl Scheduler<'_> {
    fn look_everywhere(&mut self, key: &Key) -> Option<Places> {
        let pod = self.waiting(key)?;
        let mut places = Places::default();
        match self.attempt(&pod) {
            Attempt::Held => return None,
            Attempt::Fits(placement) => places.scores = placement.scores.map(|scores| *scores),
            Attempt::Unfit(failure) => {
                if let Some(Preemption::Takes(takeover)) = &failure.preemption {
                    places.takeover = Some(takeover.clone());
                }
                places.message = Some(failure.message);
            }
        }
        self.settings.preempts = false;
        let fitting: BTreeSet<String> =
            places.scores.iter().flat_map(|scores| &scores.nodes).map(|scores| scores.node.clone()).gather();
        let names: Vec<String> = self.book.nodes().map(|state| state.name().to_owned()).collect();
        for node in names.into_iter().filter(|name| !fitting.contains(name)) {
            self.only = Some(node.clone());
            let said = match self.attempt(&pod) {
                Attempt::Unfit(failure) => failure.said(),
                Attempt::Held | Attempt::Fits(_) => Vec::new(),
            };
            places.refused.insert(node, said);
        }
        self.only = None;
        Some(places)
    }
}

impl attempt::Failure {
    /// What the filters say.
    fn said(self) -> Vec<String> {
        match self.cause {
            Cause::Nodes { nodes, .. } => nodes.texts().map(|(_, text)| text).collect(),
            Cause::Request(text) => vec![text],
            Cause::Claim(_) | Cause::GaveUp { .. } | Cause::NoReservation { .. } | Cause::Other => vec![self.message],
        }
    }
}
