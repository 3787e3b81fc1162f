//! Preemption: a Pod that fits nowhere takes the place of Pods of lower priority.
//!
//! On each node where the leaving of others may help, all Pods of lower priority leave in thought; then as many stay as the Pod lets, those
//! first whose going breaks a PodDisruptionBudget, then the more important ones. Of the nodes where that comes to something one is taken, and
//! the Pod is nominated for it. A Pod that leaves in thought does not free the devices of its claims; the reference frees none up to 1.37.
//! So a Pod that lacks only devices evicts nobody.
//!
//! DIFFERENCE: the reference looks at a sample of the nodes and draws among equals; here it is all nodes, and the first by name. Pods whose
//! drivers prepare their devices are left alone. Members of PodGroups take nobody's place.
//!
//! Source: `pkg/scheduler/framework/preemption`, `plugins/defaultpreemption`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::attempt::{Nomination, Scheduler};
use super::classes::NodeAsks;
use super::disruptions::Budgets;
use super::filter::{Asked, Devices, Standing};
use super::message::{self, counted};
use super::node_fit::{NodeState, Refusal, Resources};
use super::scoring::Load;
use super::write;
use crate::api::condition::{condition, text};
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::Key;
use crate::cluster::entries::key_of;
use crate::decision::{Decision, Time};
use crate::gather::Gather;
use crate::profile::Mode;

/// What the scheduler says of a node without Pods of lower priority.
const NO_VICTIMS: &str = "No preemption victims found for incoming pod";

/// What it says of a node where nobody's leaving helps.
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";

/// Why nobody else is asked to go while those that were still end.
const TERMINATING: &str = "a terminating pod on the nominated node.";

/// What became of the wish to take the place of others.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Preemption {
    /// Others go.
    Takes(Takeover),
    /// Nobody is asked to go: why, in the reference's words.
    NotEligible(&'static str),
    /// Nobody's going helps: what is said of nodes, with their number.
    Nobody(BTreeMap<String, usize>),
}

/// Who goes for a Pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Takeover {
    /// The node on which the Pod is to be.
    pub node: String,
    /// Those that go, the most important first.
    pub victims: Vec<Key>,
    /// How many of them a PodDisruptionBudget would keep.
    pub violations: usize,
}

/// What came of the nodes for the Pods that asked last, as long as others ask for the same.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    asks: NodeAsks,
    priority: i64,
    /// By name, as of the last change of each.
    nodes: BTreeMap<String, (u64, Outcome)>,
    /// Where nobody's going helped: as of how many changes of nodes, and what was said of them, with their number.
    fruitless: Option<(u64, BTreeMap<String, usize>)>,
}

/// Who would leave a node, or what is said of it.
type Outcome = Result<Candidate, Vec<String>>;

/// A node that some Pods would leave.
#[derive(Clone, Debug)]
struct Candidate {
    victims: Vec<Victim>,
    violations: usize,
}

/// A Pod that could go.
#[derive(Clone, Debug)]
struct Victim {
    pod: Arc<Pod>,
    taken: Resources,
    start: Time,
    arrival: u64,
}

impl Victim {
    /// The more important ones first: of higher priority, then those that have run longer, then those that came earlier.
    fn rank(&self) -> (Reverse<i64>, Time, u64) {
        (Reverse(self.pod.priority()), self.start, self.arrival)
    }
}

impl Contest {
    /// Forgets what came of a node.
    pub(super) fn forget(&mut self, node: &str) {
        self.nodes.remove(node);
    }
}

impl Preemption {
    /// What the scheduler says of it.
    pub(super) fn said(&self, nodes: usize, is_told: bool) -> Option<String> {
        match self {
            Self::Takes(Takeover { node, victims, .. }) => is_told.then(|| {
                let count = victims.len();
                format!("preemption: found a potential placement for pod on node {node}, preempting {count} victims")
            }),
            Self::NotEligible(why) => Some(format!("preemption: not eligible due to {why}")),
            Self::Nobody(texts) => {
                let texts = counted(texts.iter().map(|(text, count)| (*count, text.clone())));
                Some(format!("preemption: {}", message::no_node(nodes, &texts)))
            }
        }
    }

    /// What it means for the node that the Pod is nominated for.
    pub(super) fn nomination(&self) -> Nomination {
        match self {
            Self::Takes(takeover) => Nomination::For(takeover.node.clone()),
            Self::NotEligible(TERMINATING) => Nomination::AsItIs,
            Self::NotEligible(_) | Self::Nobody(_) => Nomination::Nowhere,
        }
    }
}

impl Scheduler<'_> {
    /// Whether there are Pods whose place a Pod may take.
    pub(super) fn may_preempt(&self, pod: &Pod) -> bool {
        self.settings.preempts
            && !never_preempts(pod)
            && self.book.has_lower(pod.priority())
            && self.group_of(&key_of(&pod.metadata)).is_none()
    }

    /// Whose place a Pod takes that fits nowhere, of nodes (by name) where the leaving of others may help.
    pub(super) fn preempt(&mut self, asked: &Asked<'_>, curable: &[String]) -> Preemption {
        let pod = asked.pod();
        if !self.may_preempt(pod) {
            return self.without_victims(pod, curable.len());
        }
        if curable.binary_search(&pod.status.nominated_node_name).is_ok() && self.waits_for_victims(pod) {
            return Preemption::NotEligible(TERMINATING);
        }
        if let Some(known) = self.known_fruitless(asked) {
            return known;
        }
        let mut budgets = self.book.budgets.take().unwrap_or_else(|| Budgets::of(self.cluster));
        let differing = budgets.refresh(self.cluster);
        let mut contest = self.contest(asked, &differing);
        let mut own = asked.clone();
        for node in curable {
            let changed = self.book.node(node).map_or(0, NodeState::changed);
            if contest.nodes.get(node).is_none_or(|(as_of, _)| *as_of != changed) {
                // On another node the last one to be in the way may have left in thought.
                if asked.filters.has_neighbours() {
                    own.filters.wanted = self.book.topology.wanted((pod, asked.filters.own));
                }
                let outcome = self.victims_on(&mut own, node, &budgets);
                contest.nodes.insert(node.clone(), (changed, outcome));
            }
        }
        self.book.budgets = Some(budgets);
        let others = self.book.len().saturating_sub(curable.len());
        let mut texts = [(NOT_HELPFUL.to_owned(), others)].into_iter().gather();
        let mut best: Option<(&String, &Candidate)> = None;
        for node in curable {
            match contest.nodes.get(node) {
                Some((_, Ok(candidate))) if best.is_none_or(|(_, best)| candidate.rank() < best.rank()) => {
                    best = Some((node, candidate));
                }
                Some((_, Err(said))) => said.iter().for_each(|text| count(&mut texts, text.clone())),
                Some((_, Ok(_))) | None => {}
            }
        }
        let found = match best {
            Some((node, Candidate { victims, violations })) => {
                let victims = victims.iter().map(|victim| key_of(&victim.pod.metadata)).collect();
                Preemption::Takes(Takeover { node: node.clone(), victims, violations: *violations })
            }
            None => {
                contest.fruitless = Some((self.book.changes(), texts.clone()));
                Preemption::Nobody(texts)
            }
        };
        if self.asks_for_room(asked).is_some() {
            self.book.contest = Some(contest);
        }
        found
    }

    /// What is known of nodes for a Pod; nothing where the last one asked for something else.
    fn contest(&mut self, asked: &Asked<'_>, differing: &BTreeSet<String>) -> Contest {
        let priority = asked.pod().priority();
        let asks = self.asks_for_room(asked);
        let is_of = |known: &Contest| asks.as_ref() == Some(&known.asks) && known.priority == priority;
        match self.book.contest.take().filter(is_of) {
            Some(mut known) => {
                differing.iter().for_each(|node| known.forget(node));
                known
            }
            None => {
                let asks = asks.unwrap_or_else(|| asked.of_nodes());
                Contest { asks, priority, nodes: BTreeMap::new(), fruitless: None }
            }
        }
    }

    /// The answer to a Pod that asks for nothing but room, where another one was told the same and nothing changed since.
    pub(super) fn known_fruitless(&self, asked: &Asked<'_>) -> Option<Preemption> {
        let known = self.book.contest.as_ref().filter(|known| known.priority == asked.pod().priority())?;
        let (as_of, texts) = known.fruitless.as_ref()?;
        let is_it = *as_of == self.book.changes() && self.asks_for_room(asked).as_ref() == Some(&known.asks);
        is_it.then(|| Preemption::Nobody(texts.clone()))
    }

    /// What a Pod asks for, if that is nothing but room on any node.
    fn asks_for_room(&self, asked: &Asked<'_>) -> Option<NodeAsks> {
        let is_plain = asked.needs.is_empty() && !asked.asks && !asked.filters.has_neighbours();
        (is_plain && self.without.is_empty() && self.only.is_none()).then(|| asked.of_nodes())
    }

    /// What comes of it where no Pods of lower priority are on so many nodes where that would help.
    pub(super) fn without_victims(&self, pod: &Pod, curable: usize) -> Preemption {
        let is_member = || self.group_of(&key_of(&pod.metadata)).is_some();
        if self.settings.profile.features.workload_aware_preemption && is_member() {
            return Preemption::NotEligible("workload aware preemption enabled");
        }
        if never_preempts(pod) {
            return Preemption::NotEligible("preemptionPolicy=Never.");
        }
        let others = self.book.len().saturating_sub(curable);
        Preemption::Nobody([(NO_VICTIMS.to_owned(), curable), (NOT_HELPFUL.to_owned(), others)].into_iter().gather())
    }

    /// Has victims go, and takes from Pods of lower priority the nomination for their node.
    pub(super) fn carry_out(&self, pod: &Pod, takeover: &Takeover) -> Decision {
        let mut decision = Decision::none();
        let found = |key: &Key| self.cluster.pods().get(key).cloned();
        for victim in takeover.victims.iter().filter_map(found).filter(|victim| !victim.metadata.is_deleting()) {
            write::evict(&victim, pod, &takeover.node, self.settings.now, &mut decision);
        }
        let on_node = |other: &&Arc<Pod>| other.status.nominated_node_name == takeover.node;
        self.yielding.iter().filter(on_node).for_each(|other| write::forget_nomination(other, &mut decision));
        decision
    }

    /// Whether Pods of lower priority that had to go are still on the node that a Pod is nominated for.
    fn waits_for_victims(&self, pod: &Pod) -> bool {
        let lower = self.book.lower_on(&pod.status.nominated_node_name, pod.priority());
        lower.filter_map(|(key, ..)| self.cluster.pods().get(key)).any(|other| is_preempted(other))
    }

    fn lower_on(&self, node: &str, priority: i64) -> Vec<Victim> {
        let victim = |(key, taken, start): (&Key, &Resources, Option<Time>)| {
            let pod = Arc::clone(self.cluster.pods().get(key)?);
            let arrival = self.cluster.arrival("Pod", &key.0, &key.1);
            // One that has just been placed starts now.
            Some(Victim { pod, taken: taken.clone(), start: start.unwrap_or(self.settings.now), arrival })
        };
        self.book.lower_on(node, priority).filter_map(victim).collect()
    }

    /// Who of the Pods of lower priority has to leave a node.
    ///
    /// # Errors
    ///
    /// What the scheduler says of the node where there are none, or where that would not help.
    fn victims_on(&mut self, asked: &mut Asked<'_>, node: &str, budgets: &Budgets) -> Outcome {
        let mut lower = self.lower_on(node, asked.pod().priority());
        if lower.is_empty() {
            return Err(vec![NO_VICTIMS.to_owned()]);
        }
        let Some(state) = self.book.node(node).cloned() else { return Err(Vec::new()) };
        let mut trial = Trial { state, has_neighbours: asked.filters.has_neighbours(), devices: None };
        lower.arrange_by_key(Victim::rank);
        lower.iter().for_each(|victim| self.leave(&mut trial, victim));
        let said = self.speaks_against(asked, &mut trial);
        if !said.is_empty() {
            lower.iter().for_each(|victim| self.stay(&mut trial, victim));
            return Err(said);
        }
        let version = self.settings.profile.version;
        let violates = budgets.violations(lower.iter().map(|victim| &*victim.pod), version);
        let (first, later): (Vec<_>, Vec<_>) = lower.into_iter().zip(violates).partition(|(_, violates)| *violates);
        let mut victims: Vec<Victim> = Vec::new();
        let mut violations = 0usize;
        for (victim, violates) in first.into_iter().chain(later) {
            self.stay(&mut trial, &victim);
            if !self.speaks_against(asked, &mut trial).is_empty() {
                self.leave(&mut trial, &victim);
                violations = violations.saturating_add(usize::from(violates));
                victims.push(victim);
            }
        }
        victims.iter().for_each(|victim| self.stay(&mut trial, victim));
        victims.arrange_by_key(Victim::rank);
        match victims.is_empty() {
            true => Err(vec![format!("expected at least one victim pod on node \"{node}\"")]),
            false => Ok(Candidate { victims, violations }),
        }
    }

    /// Has a Pod leave in thought.
    fn leave(&mut self, trial: &mut Trial, victim: &Victim) {
        if self.settings.profile.mode == Mode::Reference {
            trial.state.free_ports(&victim.taken);
        }
        trial.state.give_back(&victim.taken, Load::default());
        if trial.has_neighbours {
            self.book.topology.forget(trial.state.name(), &key_of(&victim.pod.metadata));
        }
    }

    /// Has one that left in thought stay.
    fn stay(&mut self, trial: &mut Trial, victim: &Victim) {
        trial.state.take(&victim.taken, Load::default());
        if trial.has_neighbours {
            self.book.topology.place(trial.state.name(), &victim.pod);
        }
    }

    /// What speaks against a node as it is in thought; nothing where the Pod fits.
    fn speaks_against(&mut self, asked: &mut Asked<'_>, trial: &mut Trial) -> Vec<String> {
        self.book.looked_at(1);
        if trial.has_neighbours {
            asked.filters.wanted = self.book.topology.wanted((&asked.filters.seen, asked.filters.own));
        }
        let (extended, last) = match self.standing(asked, &trial.state) {
            Standing::Refused(refusals) => return refusals.iter().map(ToString::to_string).collect(),
            // Devices are asked first: what else is wrong with them is what counts.
            Standing::Away(_) => (None, vec![message::ELSEWHERE.to_owned()]),
            Standing::Undeclared(feature, extended) => (extended, vec![Refusal::Feature { feature }.to_string()]),
            Standing::Open(extended) => (extended, Vec::new()),
        };
        if trial.devices.is_none() {
            trial.devices = Some(self.devices_on(asked, extended.as_ref(), trial.state.name()));
        }
        let of_devices = match &trial.devices {
            Some(Ok(devices)) => Some(self.no_room(asked.pod(), devices, &trial.state)).filter(|said| !said.is_empty()),
            Some(Err(said)) => Some(vec![said.clone()]),
            None => None,
        };
        of_devices.unwrap_or(last)
    }
}

/// A node while Pods leave it in thought.
struct Trial {
    state: NodeState,
    /// Whether other Pods matter to the one that is tried.
    has_neighbours: bool,
    /// The devices that the Pod gets there, or why not. Pods that leave in thought leave them as they are.
    devices: Option<Result<Devices, String>>,
}

impl Candidate {
    /// How bad it is to have these Pods go: budgets broken, the highest priority, the sum of priorities, how many, how long those of the
    /// highest priority have run.
    fn rank(&self) -> (usize, i64, i128, usize, Reverse<Time>) {
        let priorities = || self.victims.iter().map(|victim| victim.pod.priority());
        let highest = priorities().max().unwrap_or_default();
        // Above zero, so that several Pods never weigh less than one.
        let sum = priorities().map(|priority| i128::from(priority).saturating_add(1 << 31)).sum();
        let of_highest = self.victims.iter().filter(|victim| victim.pod.priority() == highest);
        let earliest = of_highest.map(|victim| victim.start).min().unwrap_or_default();
        (self.violations, highest, sum, self.victims.len(), Reverse(earliest))
    }
}

/// When a Pod started, or got its node.
pub(super) fn start(pod: &Pod) -> Option<Time> {
    let stated = pod.status.rest.get("startTime").and_then(Value::as_str).and_then(Time::parse);
    stated.or_else(|| {
        let placed = condition(&pod.status.conditions, "PodScheduled")?;
        Time::parse(text(placed, "lastTransitionTime")).filter(|_| text(placed, "status") == "True")
    })
}

/// Whether a Pod takes nobody's place.
pub(crate) fn never_preempts(pod: &Pod) -> bool {
    pod.spec.rest.get("preemptionPolicy").and_then(Value::as_str) == Some("Never")
}

/// Whether a Pod is going because another one takes its place.
pub(crate) fn is_preempted(pod: &Pod) -> bool {
    let target = condition(&pod.status.conditions, "DisruptionTarget");
    pod.metadata.is_deleting()
        && target.is_some_and(|target| text(target, "status") == "True" && text(target, "reason") == write::PREEMPTED)
}

fn count(texts: &mut BTreeMap<String, usize>, text: String) {
    let known = texts.entry(text).or_default();
    *known = known.saturating_add(1);
}
