//! The scheduler's part in the life of claims and groups: from a waiting Pod to the writes that give it a node and devices.
//!
//! A decision is about one Pod, or about all waiting Pods of a PodGroup at once. Claims are allocated, reserved and bound in
//! one go, so nothing is "in flight" between two decisions: what was written is in the facts, and a decision that was
//! carried out in part is continued from there.
//!
//! Modelled: readiness to be tried, node taints, selectors, affinity, host ports and resources, devices, prioritised lists, gangs, binding
//! conditions, extended resources that devices serve, deallocation of claims that stand in the way, required affinity between Pods, topology
//! spread, scores where the profile asks for them (otherwise the first fitting node by name is taken), preemption. Of
//! volumes only those count that claims are bound to.
//!
//! Source: `pkg/scheduler`, KEP-4381, KEP-4671, KEP-5007, KEP-5729, KEP-5832.

mod attempt;
mod bind;
mod classes;
mod conditions;
mod declared;
mod disruptions;
pub(crate) mod filter;
mod group;
mod known_refusals;
pub(crate) mod message;
mod needs;
pub(crate) mod node_allocatable;
mod node_cache;
pub(crate) mod node_fit;
mod places;
mod plan;
pub(crate) mod pod_filters;
mod postfilter;
pub(crate) mod preemption;
mod queue;
mod race;
pub(crate) mod refusal;
mod requests;
mod sample;
mod score;
mod scoring;
mod shared_volumes;
pub(crate) mod special;
pub(crate) mod topology;
mod unfit;
pub(crate) mod volumes;
mod write;

pub use node_cache::NodeCache;
pub use places::{Places, places};
pub use preemption::Takeover;
pub use queue::{Concern, asks_others, concern, helps, is_waiting, waits_for};
pub use scoring::{NodeScores, Plugin, Scores};

use crate::allocate::Limits;
use crate::api::object::Object;
use crate::api::pod::DEFAULT_SCHEDULER;
use crate::cluster::{Cluster, Key};
use crate::decision::{Decision, Time};
use crate::profile::Profile;
use attempt::Scheduler;
pub(crate) use known_refusals::KnownRefusals;
pub(crate) use scoring::images::full_name;

/// Name of the scheduler that Pods get which name none.
pub const NAME: &str = DEFAULT_SCHEDULER;

/// What became of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The Pod is not ready to be tried: a claim, its PodGroup or other members are missing. No Event is recorded.
    Held,
    /// It has a node.
    Bound,
    /// It has a node and devices in view and waits for their drivers.
    Binding,
    /// It does not fit now.
    Unschedulable,
    /// Something is wrong; trying again may help.
    Error,
}

/// A decision with what it means for each Pod that it is about.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scheduled {
    /// The writes.
    pub decision: Decision,
    /// The Pods, in the order of trying.
    pub verdicts: Vec<(Key, Verdict)>,
    /// How nodes compared for those that got a place, where that was asked for.
    pub scores: Vec<(Key, Scores)>,
    /// Pods for which others have to go.
    pub(crate) takeovers: Vec<(Key, Takeover)>,
}

/// What a decision depends on beside the facts.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'s> {
    /// Version, gates and mode of the scheduler.
    pub profile: &'s Profile,
    /// What one question to the allocator may cost.
    pub limits: &'s Limits,
    /// The time.
    pub now: Time,
    /// Whether the condition and the Event of a Pod without a place are written. Finding out what all nodes have against a Pod costs more
    /// than finding out that none takes it.
    pub records_failures: bool,
    /// Whether the scores of nodes are returned. Needs a profile that places Pods by scores.
    pub records_scores: bool,
    /// Whether Pods take the place of Pods of lower priority.
    pub preempts: bool,
}

/// How far a Pod comes by itself.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Examination {
    /// It is not ready to be tried, or does not wait.
    Held,
    /// There is a place for it.
    Fits {
        /// The node.
        node: String,
        /// Claims that wait for their drivers there, each with the time when it is given up.
        waits: Vec<(String, Option<Time>)>,
    },
    /// There is none.
    Unfit {
        /// kube-scheduler's sentence.
        message: String,
        /// The same as data.
        cause: refusal::Cause,
    },
}

/// Decides about one waiting Pod, together with the other waiting Pods of its PodGroup where that feature is on.
///
/// The cluster is the same afterwards; it is changed in between to try things out. `book` must know the cluster's nodes and
/// Pods; it says whose Pods are scheduled.
pub fn schedule(cluster: &mut Cluster, book: &mut NodeCache, settings: Settings<'_>, pod: &Key) -> Scheduled {
    let mut scheduler = Scheduler::new(cluster, book, settings);
    match scheduler.group_of(pod) {
        Some(group) => group::schedule(&mut scheduler, &group),
        None => scheduler.schedule_alone(pod),
    }
}

/// How nodes compare for a Pod as if it had none; `None` where none fits.
pub(crate) fn compare(
    cluster: &mut Cluster,
    book: &mut NodeCache,
    settings: Settings<'_>,
    pod: &Key,
) -> Option<Scores> {
    let settings = Settings { records_failures: false, records_scores: true, ..settings };
    Scheduler::new(cluster, book, settings).compare(pod)
}

/// What one look at Pods gives.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Examined {
    /// The Pod, or the waiting members of its PodGroup in the order of trying: how far each one comes while those before it have the places
    /// that they found.
    pub(crate) pods: Vec<(Key, Examination)>,
    /// Pods and claims of a PodGroup with the places and devices that were found for a part of it.
    pub(crate) assumed: Vec<Object>,
}

/// Looks at one Pod, or at all waiting Pods of its PodGroup, as [`schedule`] does, without deciding anything. What is known is of the cluster as it is.
pub(crate) fn examine(
    cluster: &mut Cluster,
    book: &mut NodeCache,
    settings: Settings<'_>,
    pod: &Key,
    known: &mut KnownRefusals,
) -> Examined {
    let mut scheduler = Scheduler::new(cluster, book, Settings { records_failures: true, ..settings });
    match scheduler.group_of(pod) {
        Some(group) => group::examine(&mut scheduler, &group),
        None => {
            scheduler.refusals = Some(known);
            Examined { pods: vec![(pod.clone(), scheduler.examine(pod))], assumed: Vec::new() }
        }
    }
}
