//! Workload controllers of the simulated cluster: one workload at a time, when something of it changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Simulation;
use super::queue::Queue;
use crate::cluster::{Cluster, Key};
use crate::controllers::jobs;
use crate::controllers::workloads::{self, MAX_PODS, WorkloadKey, is_active};
use crate::decision::{Time, Trigger};
use crate::finding::ObjectRef;
use crate::gather::Gather;

/// Longest chain of workloads that make one another.
const MAX_OWNERS: usize = 8;

/// Most looks until the workloads of the input have what they want.
const MAX_LOOKS: usize = 1_000_000;

/// Workloads to look at, and those whose Pods are being replaced.
#[derive(Clone, Debug, Default)]
pub(super) struct Workloads {
    queue: Queue<WorkloadKey>,
    rolling: BTreeSet<WorkloadKey>,
    /// Whether workloads get their Pods.
    are_played: bool,
    /// How many Pods a workload of the input is shown with, where it came with more than others get.
    shown: BTreeMap<WorkloadKey, u64>,
}

impl Workloads {
    /// When something is looked at next.
    pub(super) fn next(&self) -> Option<Time> {
        self.queue.next()
    }

    /// Has everything looked at.
    pub(super) fn look_at_all(&mut self, cluster: &Cluster, now: Time) {
        if self.are_played {
            cluster.workloads().keys().for_each(|key| self.queue.add(key.clone(), now));
        }
    }

    /// The same, which remember nothing but what they show.
    pub(super) fn restarted(&self) -> Self {
        Self { are_played: self.are_played, shown: self.shown.clone(), ..Self::default() }
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, trigger: &Trigger, now: Time) {
        if self.are_played {
            let keys = workloads::affected(cluster, trigger, |key| self.rolling.contains(key));
            keys.into_iter().for_each(|key| self.queue.add(key, now));
        }
    }

    /// How many Pods of a workload are made at most.
    fn most(&self, cluster: &Cluster, key: &WorkloadKey) -> u64 {
        self.shown.get(&root(cluster, key)).copied().unwrap_or(MAX_PODS)
    }

    /// The same for a Job; any number where the input is not shown.
    pub(super) fn most_of_job(&self, cluster: &Cluster, key: &Key) -> Option<u64> {
        let key = ("Job".to_owned(), key.0.clone(), key.1.clone());
        self.are_played.then(|| self.most(cluster, &key))
    }
}

/// The workload at the beginning of the chain of owners.
fn root(cluster: &Cluster, key: &WorkloadKey) -> WorkloadKey {
    let mut key = key.clone();
    for _ in 0..MAX_OWNERS {
        let above = cluster.workloads().get(&key).and_then(|workload| workloads::owner_key(&workload.metadata));
        match above.filter(|above| cluster.workloads().contains_key(above)) {
            Some(above) => key = above,
            None => break,
        }
    }
    key
}

impl Simulation {
    /// Lets the workloads of the input make what they lack, one after another in the order of their arrival. From now on they get what
    /// they lack.
    pub(super) fn play_workloads(&mut self) {
        let cluster = self.server.cluster();
        let mut shown: BTreeMap<WorkloadKey, u64> = BTreeMap::new();
        for pod in cluster.pods().values().filter(|pod| is_active(pod)) {
            if let Some(owner) = workloads::owner_key(&pod.metadata) {
                let number = shown.entry(root(cluster, &owner)).or_default();
                *number = number.saturating_add(1);
            }
        }
        shown.retain(|_, number| *number > MAX_PODS);
        let roots = workloads::roots(cluster);
        let known: BTreeSet<&WorkloadKey> = roots.iter().gather();
        let inner: Vec<WorkloadKey> = cluster.workloads().keys().filter(|key| !known.contains(key)).cloned().collect();
        let all_jobs: BTreeSet<Key> = jobs::all(cluster).gather();
        let played = &mut self.controllers.workloads;
        played.are_played = true;
        played.shown = shown;
        // Jobs that are known are taken up in their turn.
        self.controllers.jobs = Queue::default();
        for key in roots.into_iter().chain(inner) {
            let job = (key.1.clone(), key.2.clone());
            if key.0 == "Job" && all_jobs.contains(&job) {
                self.controllers.jobs.add(job, self.now);
            }
            self.controllers.workloads.queue.add(key, self.now);
            for _ in 0..MAX_LOOKS {
                self.hear();
                if !(self.run_workload() || self.run_job()) {
                    break;
                }
            }
        }
    }

    /// Lets a workload controller look at one workload. False when nothing is due.
    pub(super) fn run_workload(&mut self) -> bool {
        let Some(key) = self.controllers.workloads.queue.take(self.now) else { return false };
        self.refusals.forget(&ObjectRef::new(&key.0, &*key.1, &*key.2));
        let most = self.controllers.workloads.most(self.server.cluster(), &key);
        let look = workloads::reconcile(self.seen(), &key, most);
        if look.is_rolling {
            self.controllers.workloads.rolling.insert(key.clone());
        } else {
            self.controllers.workloads.rolling.remove(&key);
        }
        let is_done = self.carry_out(look.decision);
        self.controllers.workloads.queue.conclude(key, is_done, None, self.now);
        true
    }
}
