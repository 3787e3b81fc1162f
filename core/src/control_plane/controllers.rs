//! What the controllers have to look at, and one look.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::Queue;
use super::templates::Templates;
use super::workloads::Workloads;
use super::{Component, Simulation};
use crate::api::pod::Pod;
use crate::cluster::entries::is_for_pod;
use crate::cluster::{Cluster, Key};
use crate::controllers::claims::{self, Work};
use crate::finding::ObjectRef;
use crate::profile::{Mode, Profile};
use crate::{
    controllers::{jobs, podgroup_protection as protection, pool_status, taint_eviction as eviction},
    decision::{Action, Decision, Time, Trigger},
};

/// Settings and memory of the controllers.
#[derive(Clone, Debug)]
pub(super) struct Controllers {
    pub(super) profile: Profile,
    claims: Queue<Work>,
    claim_memory: claims::Memory,
    groups: Queue<Key>,
    /// When evictions are looked at.
    eviction: Queue<()>,
    eviction_memory: eviction::Memory,
    /// ResourcePoolStatusRequests by name.
    requests: Queue<String>,
    pub(super) jobs: Queue<Key>,
    /// Whether Pods are evicted from tainted devices.
    evicts: bool,
    /// Whether Jobs get what they want.
    plays_jobs: bool,
    pub(super) workloads: Workloads,
    pub(super) templates: Templates,
}

impl Controllers {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            claims: Queue::default(),
            claim_memory: claims::Memory::default(),
            groups: Queue::default(),
            eviction: Queue::default(),
            eviction_memory: eviction::Memory::default(),
            requests: Queue::default(),
            jobs: Queue::default(),
            evicts: true,
            plays_jobs: true,
            workloads: Workloads::default(),
            templates: Templates::new(),
        }
    }

    /// When something is looked at next.
    pub(super) fn next(&self) -> Option<Time> {
        let queues = [
            self.claims.next(),
            self.groups.next(),
            self.eviction.next(),
            self.requests.next(),
            self.jobs.next(),
            self.workloads.next(),
            self.templates.next(),
        ];
        queues.into_iter().flatten().min()
    }

    /// Has everything looked at.
    pub(super) fn look_at_all(&mut self, cluster: &Cluster, now: Time) {
        claims::all_work(cluster).into_iter().for_each(|work| self.claims.add(work, now));
        cluster.pod_groups().keys().for_each(|key| self.groups.add(key.clone(), now));
        self.eviction.add((), now);
        cluster.pool_status_requests().keys().for_each(|name| self.requests.add(name.clone(), now));
        if self.plays_jobs {
            jobs::all(cluster).for_each(|key| self.jobs.add(key, now));
        }
        self.workloads.look_at_all(cluster, now);
        self.templates.look_at_all(cluster, &self.profile, now);
    }

    /// The same controllers with other settings, which remember nothing.
    pub(super) fn restarted(&self, profile: Profile) -> Self {
        Self { plays_jobs: self.plays_jobs, workloads: self.workloads.restarted(), ..Self::new(profile) }
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, trigger: &Trigger, now: Time) {
        claims::affected(cluster, trigger).into_iter().for_each(|work| self.claims.add(work, now));
        if let Some(group) = protection::affected(trigger) {
            self.groups.add(group, now);
        }
        if eviction::is_affected(cluster, trigger) {
            self.eviction.add((), now);
        }
        pool_status::affected(cluster, trigger).into_iter().for_each(|name| self.requests.add(name, now));
        if let Some(job) = jobs::affected(trigger).filter(|_| self.plays_jobs) {
            self.jobs.add(job, now);
        }
        self.workloads.note(cluster, trigger, now);
        self.templates.note(cluster, &self.profile, trigger, now);
    }
}

impl Simulation {
    /// Lets one controller look at one thing. False when nothing is due.
    pub(super) fn reconcile(&mut self) -> bool {
        self.sync_template()
            || self.reconcile_claims()
            || self.reconcile_group()
            || self.evict()
            || self.answer_request()
            || self.run_job()
            || self.run_workload()
    }

    fn reconcile_claims(&mut self) -> bool {
        let Some(work) = self.controllers.claims.take(self.now) else { return false };
        if let Work::Pod(key) = &work
            && self.crashes_on(key)
        {
            self.stop(Component::Controllers);
            return true;
        }
        let controllers = &self.controllers;
        let decision = claims::reconcile(self.seen(), &controllers.profile, &controllers.claim_memory, &work);
        let retry = decision.retry;
        let made = self.made_by(&decision);
        let is_done = self.carry_out(decision) && !retry;
        for claim in made.iter().filter_map(|key| self.server.cluster().claims().get(key)) {
            self.controllers.claim_memory.remember(claim);
        }
        self.controllers.claims.conclude(work, is_done, None, self.now);
        true
    }

    /// Whether the reference ends over a Pod: one without a PodGroup that records a claim of another owner.
    pub(super) fn crashes_on(&self, key: &Key) -> bool {
        let cluster = self.server.cluster();
        let profile = &self.controllers.profile;
        let knows_groups = profile.features.workload_resource_claims && profile.mode == Mode::Reference;
        knows_groups && cluster.pods().get(key).is_some_and(|pod| records_foreign_claim(cluster, pod))
    }

    /// Claims that a decision makes, for the controller that remembers them.
    fn made_by(&self, decision: &Decision) -> Vec<Key> {
        let made = decision.actions.iter().filter_map(|action| match action {
            Action::Create { object, .. } => {
                Some((object.metadata().namespace.clone(), object.metadata().name.clone()))
            }
            _ => None,
        });
        made.filter(|_| self.controllers.profile.mode == Mode::Reference).collect()
    }

    fn reconcile_group(&mut self) -> bool {
        let Some(key) = self.controllers.groups.take(self.now) else { return false };
        let decision = protection::reconcile(self.seen(), &self.controllers.profile, &key);
        let is_done = self.carry_out(decision);
        self.controllers.groups.conclude(key, is_done, None, self.now);
        true
    }

    fn evict(&mut self) -> bool {
        if self.controllers.eviction.take(self.now).is_none() {
            return false;
        }
        if !self.controllers.evicts {
            return true;
        }
        let mut memory = self.controllers.eviction_memory.clone();
        let decision = eviction::reconcile(self.seen(), &self.controllers.profile, &mut memory, self.now);
        let wake_up = decision.wake_up;
        let causes = match decision.actions.iter().any(|action| matches!(action, Action::Delete { .. })) {
            true => eviction::causes(self.seen(), &self.controllers.profile, self.now),
            false => BTreeMap::new(),
        };
        let is_done = self.carry_out(decision);
        if is_done {
            self.controllers.eviction_memory = memory;
            self.note_evictions(causes);
        }
        self.controllers.eviction.conclude((), is_done, wake_up, self.now);
        true
    }

    /// Notes that Pods have to go, each because of these taints.
    fn note_evictions(&mut self, causes: BTreeMap<Key, BTreeSet<String>>) {
        if causes.is_empty() {
            return;
        }
        let after = u64::try_from(self.now.millis().saturating_sub(self.start.millis())).unwrap_or_default();
        causes.into_iter().for_each(|(pod, taints)| self.evictions.add(pod, after, taints));
    }

    /// From now on nobody is evicted.
    pub(crate) fn stop_evictions(&mut self) {
        self.controllers.evicts = false;
    }

    pub(super) fn run_job(&mut self) -> bool {
        let Some(key) = self.controllers.jobs.take(self.now) else { return false };
        self.refusals.forget(&ObjectRef::new("Job", &*key.0, &*key.1));
        let most = self.controllers.workloads.most_of_job(self.server.cluster(), &key);
        // As for Pods, deadlines are those of scripts.
        let has_deadline = self.timeline.is_some();
        let decision = jobs::reconcile(self.seen(), &self.controllers.profile, &key, most, has_deadline, self.now);
        let wake_up = decision.wake_up;
        let is_done = self.carry_out(decision);
        self.controllers.jobs.conclude(key, is_done, wake_up, self.now);
        true
    }

    fn answer_request(&mut self) -> bool {
        let Some(name) = self.controllers.requests.take(self.now) else { return false };
        let decision = pool_status::reconcile(self.seen(), &self.controllers.profile, &name, self.now);
        let wake_up = decision.wake_up;
        let is_done = self.carry_out(decision);
        self.controllers.requests.conclude(name, is_done, wake_up, self.now);
        true
    }
}

/// Whether a Pod without a PodGroup records a generated claim that is not its own.
fn records_foreign_claim(cluster: &Cluster, pod: &Pod) -> bool {
    let statuses = pod.status.resource_claim_statuses.iter();
    let names = statuses.filter_map(|status| status.resource_claim_name.as_ref());
    let claims = names.filter_map(|name| cluster.claims().get(&(pod.metadata.namespace.clone(), name.clone())));
    pod.group_name().is_none() && claims.into_iter().any(|claim| !is_for_pod(pod, claim, false))
}
