//! A simulated cluster in virtual time: controllers and a scheduler around an API server's write rules.
//!
//! Every component hears what changed, decides on the facts as they are, and has its writes carried out one by one. Nothing
//! happens by chance: the same requests at the same times give the same history.

pub(crate) mod admission;
mod carry_out;
mod command;
mod components;
mod controllers;
mod deletion;
mod evictions;
#[cfg(test)]
mod forgetful;
pub(crate) mod infer;
mod kubelet;
mod load;
mod order;
mod priority;
mod queue;
mod refusals;
pub mod script;
pub mod server;
mod templates;
mod timeline;
mod unmodelled;
mod waiting;
mod workloads;

pub use command::{Command, DevicePath};
pub use components::{Build, Component};
pub(crate) use load::{is_dump, note_not_given, refused_by_namespace, resource_of};
pub(crate) use order::scheduling_order;
pub use timeline::{Happening, Moment};
pub use unmodelled::unmodelled;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::allocate::Limits;
use crate::api::pod::Pod;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::control_plane::server::{Refused, Server};
use crate::controllers::workloads::{notes, waits};
use crate::decision::Time;
use crate::finding::{Finding, ObjectRef};
use crate::profile::{Mode, Profile};
use crate::scheduler::preemption::Takeover;
use crate::scheduler::{self, Examined, KnownRefusals, NodeCache, Scores, Settings, Verdict};
use controllers::Controllers;
use evictions::Evictions;
use kubelet::Kubelets;
use refusals::Refusals;
use timeline::Timeline;
use waiting::Waiting;

/// Most writes without time passing, and how many more for each Pod and claim; beyond that components contradict each other.
const MAX_WRITES: u64 = 20_000;
const MAX_WRITES_EACH: u64 = 20;

/// Seconds in which a cluster comes to rest: grace periods and retries are over by then, what waits for a driver still waits.
pub const SETTLING: i64 = 300;

/// How far time is to pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    end: Time,
    /// How much had been written when the present moment began.
    writes: u64,
}

impl Course {
    fn to(end: Time, simulation: &Simulation) -> Self {
        Self { end, writes: simulation.writes }
    }
}

/// A simulated cluster.
#[derive(Clone, Debug)]
pub struct Simulation {
    server: Server,
    now: Time,
    limits: Limits,
    controllers: Controllers,
    scheduler: Profile,
    waiting: Waiting,
    book: NodeCache,
    /// Components that do nothing for now.
    stopped: Vec<Component>,
    /// Writes that are still carried out before the next one is lost with its component, if that is to happen.
    writes_left: Option<u64>,
    /// Writes that are still carried out before somebody else changes the next one's object, if that is to happen.
    undisturbed: Option<u64>,
    /// What the controllers see while their watches lag behind.
    seen: Option<Box<Cluster>>,
    writes: u64,
    /// What each component began as.
    first: Vec<(Component, Profile)>,
    /// What the kubelets are.
    kubelet: Profile,
    /// What those of single nodes are instead, by name of the node.
    kubelets_by_node: BTreeMap<String, Profile>,
    /// Nodes that run Pods, if they do.
    kubelets: Option<Kubelets>,
    /// What happened, if that is kept.
    timeline: Option<Timeline>,
    /// Whether the scheduler writes why Pods have no node.
    records_failures: bool,
    /// Whether the scheduler has Pods go so that those of higher priority get their places.
    preempts: bool,
    /// Pods that had to go for others, the first one first.
    preempted: Vec<Preempted>,
    /// How nodes compared for Pods that were placed, if that is kept.
    scores: Option<Scored>,
    /// What is worth knowing about what was taken in.
    findings: Vec<Finding>,
    /// What controllers of workloads cannot create.
    refusals: Refusals,
    /// Who had to go because of taints.
    evictions: Evictions,
    /// When what was taken in was completed.
    start: Time,
    /// Pods that had a node when they were taken in.
    bound: BTreeSet<Key>,
    /// Claims without devices that were being deleted when they were taken in.
    going: BTreeSet<Key>,
    /// Pods of a real cluster for which its scheduler had found no node by then.
    waited: BTreeSet<Key>,
    /// Whether a node that is not there does not exist: the input was completed.
    knows_nodes: bool,
    /// Objects without a name that were taken in.
    given: u64,
    /// What the API server said last to a write that it did not carry out.
    refused: Option<Refused>,
}

/// A Pod that had to go for another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Preempted {
    /// The Pod.
    pub(crate) pod: Key,
    /// Its priority.
    pub(crate) priority: i64,
    /// Whether it has a controller, which makes another one.
    pub(crate) is_controlled: bool,
    /// The Pod that gets its place.
    pub(crate) by: Key,
    /// The priority of that.
    pub(crate) by_priority: i64,
    /// The node that both want.
    pub(crate) node: String,
}

/// How nodes compared for Pods when they were placed.
#[derive(Clone, Debug, Default)]
struct Scored {
    /// Whether only the chosen node is kept of each Pod.
    is_brief: bool,
    by_pod: BTreeMap<Key, Scores>,
}

/// How a stretch of time ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Settled {
    /// Nothing more happens before the time is over.
    Quiet,
    /// Components write without end; time does not pass.
    Restless,
}

impl Simulation {
    /// A cluster without objects, all of whose components are of one Kubernetes.
    pub fn new(profile: Profile, limits: Limits, now: Time) -> Self {
        Self {
            server: Server::new(profile.clone()),
            now,
            limits,
            controllers: Controllers::new(profile.clone()),
            scheduler: profile.clone(),
            waiting: Waiting::default(),
            book: NodeCache::default(),
            stopped: Vec::new(),
            writes_left: None,
            undisturbed: None,
            seen: None,
            writes: 0,
            first: Component::ALL.map(|component| (component, profile.clone())).into(),
            kubelet: profile,
            kubelets_by_node: BTreeMap::new(),
            kubelets: None,
            timeline: None,
            records_failures: true,
            preempts: true,
            preempted: Vec::new(),
            scores: None,
            findings: Vec::new(),
            refusals: Refusals::default(),
            evictions: Evictions::default(),
            start: now,
            bound: BTreeSet::new(),
            going: BTreeSet::new(),
            waited: BTreeSet::new(),
            knows_nodes: false,
            given: 0,
            refused: None,
        }
    }

    /// The facts at the end.
    pub(crate) fn into_cluster(mut self) -> Cluster {
        std::mem::take(self.server.cluster_mut())
    }

    /// What is worth knowing about what was taken in, what controllers of workloads cannot create or do not create yet, and who had to go
    /// because of taints.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = self.lasting();
        findings.extend(waits(self.server.cluster()).into_iter().filter(|_| self.knows_nodes));
        findings
    }

    /// The same without what is not created yet.
    fn lasting(&self) -> Vec<Finding> {
        let mut findings = self.findings.clone();
        findings.extend(notes(self.server.cluster()).into_iter().filter(|_| self.knows_nodes));
        findings.extend(self.refusals.findings());
        findings.extend(self.evictions.findings());
        findings.extend(self.contradicted());
        findings
    }

    /// Whether a Pod had a node when it was taken in.
    pub(crate) fn had_node(&self, pod: &Pod) -> bool {
        self.bound.contains(&key_of(&pod.metadata))
    }

    /// Claims without devices that were being deleted when they were taken in.
    pub(crate) fn going(&self) -> &BTreeSet<Key> {
        &self.going
    }

    /// The API server, to look at.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The API server, to send requests to.
    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happened since [`Simulation::begin`], in order.
    pub fn timeline(&self) -> &[Moment] {
        self.timeline.as_ref().map(Timeline::moments).unwrap_or_default()
    }

    /// Notes what is done from outside, for the timeline.
    pub fn tell(&mut self, object: ObjectRef, detail: &str) {
        self.hear();
        if let Some(timeline) = &mut self.timeline {
            timeline.tell(self.now, Happening::Requested, object, detail);
        }
    }

    /// Writes carried out for components so far.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// How often the scheduler held a node against a Pod since it was started.
    pub fn looks_at_nodes(&self) -> u64 {
        self.book.looks()
    }

    /// Starts a component anew with these settings. It forgets what it remembered and looks at everything.
    pub fn restart(&mut self, component: Component, profile: Profile) {
        self.stopped.retain(|other| *other != component);
        match component {
            Component::Server => self.server.set_profile(profile),
            Component::Controllers => {
                self.controllers = self.controllers.restarted(profile);
                self.controllers.look_at_all(self.server.cluster(), self.now);
            }
            Component::Scheduler => {
                self.scheduler = profile;
                self.book = NodeCache::new(self.server.cluster());
                self.waiting = Waiting::of(self.server.cluster(), self.now);
            }
            Component::Kubelets => {
                self.kubelet = profile;
                self.kubelets_by_node.clear();
                self.look_at_pods();
            }
        }
    }

    /// Has a component be another one from the start. For before anything happens.
    pub fn begin_as(&mut self, component: Component, profile: Profile) {
        let first = self.first.iter_mut().filter(|(of, _)| *of == component);
        first.for_each(|(_, begun)| begun.clone_from(&profile));
        self.restart(component, profile);
    }

    /// How a component began.
    fn first(&self, component: Component) -> Option<&Profile> {
        self.first.iter().find_map(|(of, profile)| (*of == component).then_some(profile))
    }

    /// Starts the kubelet of one node anew with these settings.
    pub fn restart_node(&mut self, node: &str, profile: Profile) {
        self.kubelets_by_node.insert(node.to_owned(), profile);
        self.look_at_pods();
    }

    /// Lets a component do nothing until it is restarted.
    pub fn stop(&mut self, component: Component) {
        if !self.stopped.contains(&component) {
            self.stopped.push(component);
        }
    }

    /// Settings of a component.
    pub fn profile(&self, component: Component) -> &Profile {
        match component {
            Component::Server => self.server.cluster().profile(),
            Component::Controllers => &self.controllers.profile,
            Component::Scheduler => &self.scheduler,
            Component::Kubelets => &self.kubelet,
        }
    }

    /// Loses the write after the next `writes` ones: whatever was to follow it is lost, too.
    pub fn lose_write_after(&mut self, writes: u64) {
        self.writes_left = Some(writes);
    }

    /// Has somebody else change the object of the write after the next `writes` ones, just before it.
    pub fn disturb_write_after(&mut self, writes: u64) {
        self.undisturbed = Some(writes);
    }

    /// From now on the controllers see nothing but their own writes.
    pub fn lag(&mut self) {
        self.seen.get_or_insert_with(|| Box::new(self.server.cluster().clone()));
    }

    /// The controllers see everything again, and hear of every object once more.
    pub fn catch_up(&mut self) {
        if self.seen.take().is_some() {
            self.controllers.look_at_all(self.server.cluster(), self.now);
        }
    }

    /// What the controllers decide on.
    fn seen(&self) -> &Cluster {
        self.seen.as_deref().unwrap_or_else(|| self.server.cluster())
    }

    /// Lets time pass until a moment.
    pub fn run_until(&mut self, until: Time) -> Settled {
        let settled = self.go_on(&mut Course::to(until, self), &mut { usize::MAX }).unwrap_or(Settled::Restless);
        if settled == Settled::Quiet {
            self.now = self.now.max(until);
        }
        settled
    }

    /// Takes at most so many steps of a course; `None` where it is not at its end then.
    pub(crate) fn go_on(&mut self, course: &mut Course, steps: &mut usize) -> Option<Settled> {
        while let Some(rest) = steps.checked_sub(1) {
            *steps = rest;
            self.hear();
            if self.work_once() {
                if self.writes.saturating_sub(course.writes) > self.most_writes() {
                    return Some(Settled::Restless);
                }
                continue;
            }
            let Some(next) = self.next_work().filter(|next| *next <= course.end) else { return Some(Settled::Quiet) };
            if next > self.now {
                course.writes = self.writes;
            }
            self.now = self.now.max(next);
        }
        None
    }

    fn most_writes(&self) -> u64 {
        let cluster = self.server.cluster();
        let objects = cluster.pods().len().saturating_add(cluster.claims().len());
        MAX_WRITES_EACH.saturating_mul(objects as u64).saturating_add(MAX_WRITES)
    }

    /// Lets time pass until nothing changes by itself any more, at most for [`SETTLING`].
    pub fn settle(&mut self) -> Settled {
        self.go_on(&mut self.course(), &mut { usize::MAX }).unwrap_or(Settled::Restless)
    }

    /// The course to where nothing changes by itself any more.
    pub(crate) fn course(&self) -> Course {
        Course::to(self.now.plus_seconds(SETTLING), self)
    }

    /// Lets one component do one thing that is due now. False when there is none.
    pub fn step(&mut self) -> bool {
        self.hear();
        self.work_once()
    }

    /// Lets what is to happen now happen, without time passing.
    pub fn run(&mut self) -> Settled {
        self.run_until(self.now)
    }

    /// When the next thing happens by itself.
    pub fn next_work(&self) -> Option<Time> {
        let runs = |component: &Component| !self.stopped.contains(component);
        let controllers = self.controllers.next().filter(|_| runs(&Component::Controllers));
        let scheduler = self.waiting.next().filter(|_| runs(&Component::Scheduler));
        let garbage = self.server.has_garbage().then_some(self.now).filter(|_| runs(&Component::Controllers));
        let kubelets = self.kubelets.as_ref().and_then(Kubelets::next).filter(|_| runs(&Component::Kubelets));
        controllers.into_iter().chain(scheduler).chain(garbage).chain(kubelets).min()
    }

    /// Tells every component what changed.
    fn hear(&mut self) {
        for trigger in self.server.take_changes() {
            self.controllers.note(self.server.cluster(), &trigger, self.now);
            self.book.note(&trigger);
            self.waiting.note(self.server.cluster(), &trigger, self.now);
            if let Some(kubelets) = &mut self.kubelets {
                kubelets.note(&trigger, self.now);
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.note(self.now, &trigger);
            }
        }
        self.waiting.wake_all(self.server.cluster(), self.now);
        if let Some(timeline) = &mut self.timeline {
            timeline.note_events(self.now, self.server.events());
        }
    }

    /// Lets one component do one thing, if there is one to do now.
    fn work_once(&mut self) -> bool {
        let scheduler =
            |simulation: &mut Self| !simulation.is_stopped(Component::Scheduler) && simulation.schedule_one();
        let controllers = |simulation: &mut Self| {
            !simulation.is_stopped(Component::Controllers)
                && (simulation.server.collect_garbage(simulation.now) || simulation.reconcile())
        };
        // Any order respects causality. The scheduler of the reference is mostly faster than its controllers.
        let kubelets = |simulation: &mut Self| !simulation.is_stopped(Component::Kubelets) && simulation.run_all();
        match self.controllers.profile.mode {
            Mode::Sound => controllers(self) || scheduler(self) || kubelets(self),
            Mode::Reference => scheduler(self) || controllers(self) || kubelets(self),
        }
    }

    fn is_stopped(&self, component: Component) -> bool {
        self.stopped.contains(&component)
    }

    fn schedule_one(&mut self) -> bool {
        let Some(key) = self.waiting.pop(self.server.cluster(), self.now) else { return false };
        if self.crashes_on(&key) {
            self.stop(Component::Scheduler);
            return true;
        }
        if !self.records_failures && self.waiting.failed_at(&key) == Some(self.server.revision()) {
            // Nothing changed since: the same would come of it.
            self.waiting.concluded(&key, Verdict::Error, true, None, self.now);
            return true;
        }
        let scheduled = self.as_scheduler(|cluster, book, settings| scheduler::schedule(cluster, book, settings, &key));
        if let Some(scored) = &mut self.scores {
            let is_brief = scored.is_brief;
            let kept = scheduled.scores.into_iter().map(|(key, scores)| (key, scores.kept(is_brief)));
            scored.by_pod.extend(kept);
        }
        let wake_up = scheduled.decision.wake_up;
        let preempted = self.preempted_by(&scheduled.takeovers);
        let done = self.carry_out(scheduled.decision);
        if done && !preempted.is_empty() {
            self.hear();
            for one in &preempted {
                let object = ObjectRef::new("Pod", &*one.pod.0, &*one.pod.1);
                let detail = format!("makes room for Pod {}/{} on node {}", one.by.0, one.by.1, one.node);
                if let Some(timeline) = &mut self.timeline {
                    timeline.tell(self.now, Happening::Event, object, detail);
                }
            }
            self.preempted.extend(preempted);
        }
        let revision = self.server.revision();
        for (key, verdict) in scheduled.verdicts {
            self.waiting.concluded(&key, verdict, done, wake_up, self.now);
            if done && verdict == Verdict::Error {
                self.waiting.note_failure(&key, revision);
            }
        }
        true
    }

    /// Pods that have to go for others and do not go yet.
    fn preempted_by(&self, takeovers: &[(Key, Takeover)]) -> Vec<Preempted> {
        let pods = self.server.cluster().pods();
        let mut preempted = Vec::new();
        for (by, takeover) in takeovers {
            let by_priority = pods.get(by).map(|pod| pod.priority()).unwrap_or_default();
            let victims = takeover.victims.iter().filter_map(|key| pods.get(key));
            preempted.extend(victims.filter(|pod| !pod.metadata.is_deleting()).map(|pod| Preempted {
                pod: key_of(&pod.metadata),
                priority: pod.priority(),
                is_controlled: pod.metadata.controller().is_some(),
                by: by.clone(),
                by_priority,
                node: takeover.node.clone(),
            }));
        }
        preempted
    }

    /// From now on no Pod has to go for another one.
    pub(crate) fn stop_preemption(&mut self) {
        self.preempts = false;
    }

    /// Pods that had to go for others, the first one first.
    pub(crate) fn preempted(&self) -> &[Preempted] {
        &self.preempted
    }

    /// How far a Pod comes as things stand, with the other waiting Pods of its PodGroup. What is known is of the control plane as it stands.
    pub(crate) fn examine(&mut self, pod: &Key, known: &mut KnownRefusals) -> Examined {
        self.as_scheduler(|cluster, book, settings| scheduler::examine(cluster, book, settings, pod, known))
    }

    /// Keeps from now on how nodes compare for Pods that are placed: all that fit, or the chosen one alone.
    pub(crate) fn record_scores(&mut self, is_brief: bool) {
        self.scores = Some(Scored { is_brief, ..Scored::default() });
    }

    /// How nodes compared for a Pod when it was placed, where that was kept.
    pub(crate) fn scores_of(&self, pod: &Key) -> Option<&Scores> {
        self.scores.as_ref()?.by_pod.get(pod)
    }

    /// How nodes compare for a Pod as things stand, if it had none.
    pub(crate) fn compare_now(&mut self, pod: &Key) -> Option<Scores> {
        let is_brief = self.scores.as_ref().is_some_and(|scored| scored.is_brief);
        let scores = self.as_scheduler(|cluster, book, settings| scheduler::compare(cluster, book, settings, pod));
        scores.map(|scores| scores.kept(is_brief))
    }

    /// Asks the scheduler something. It may be of another version than the API server.
    fn as_scheduler<A>(&mut self, ask: impl FnOnce(&mut Cluster, &mut NodeCache, Settings<'_>) -> A) -> A {
        self.hear();
        let own = self.server.cluster().profile().clone();
        let differs = own != self.scheduler;
        if differs {
            self.server.cluster_mut().set_profile(self.scheduler.clone());
        }
        let (profile, limits, now) = (&self.scheduler, &self.limits, self.now);
        let (records_failures, records_scores) = (self.records_failures, self.scores.is_some());
        let preempts = self.preempts;
        let settings = Settings { profile, limits, now, records_failures, records_scores, preempts };
        let answer = ask(self.server.cluster_mut(), &mut self.book, settings);
        if differs {
            self.server.cluster_mut().set_profile(own);
        }
        answer
    }
}
