//! Template-sync as a controller of the simulated cluster, where the input has something to copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Simulation;
use super::queue::Queue;
use crate::api::object::Object;
use crate::cluster::Cluster;
use crate::controllers::template_sync::{self, Memory, Work};
use crate::decision::{Time, Trigger};
use crate::gather::Gather;
use crate::profile::Profile;

/// The controller's namespace, whose templates may be what others are copied from.
const HOME: &str = "apportion-system";

/// The label with the name of a namespace, which every namespace has.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Milliseconds that changes are collected before a status is written.
const STATUS_PAUSE: i64 = 500;

/// Milliseconds after which the controller deletes as it does from then on.
const LONG: i64 = 60_000;

/// What the controller remembers, and what it has to look at.
#[derive(Clone, Debug)]
pub(super) struct Templates {
    queue: Queue<Work>,
    memory: Memory,
}

impl Templates {
    pub(super) fn new() -> Self {
        Self { queue: Queue::default(), memory: Memory::new(HOME.to_owned(), false) }
    }

    /// When something is looked at next.
    pub(super) fn next(&self) -> Option<Time> {
        self.queue.next()
    }

    /// Has everything looked at.
    pub(super) fn look_at_all(&mut self, cluster: &Cluster, profile: &Profile, now: Time) {
        // The simulated cluster has had it for a while.
        self.memory.begin(now.plus_millis(-LONG));
        for source in cluster.template_sources().values() {
            self.memory.judge(&Object::TemplateSource(Arc::new(source.clone())), &[], profile);
        }
        let work = template_sync::all_work(cluster, &self.memory.settings);
        work.into_iter().for_each(|work| self.add(work, now));
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, profile: &Profile, trigger: &Trigger, now: Time) {
        if let Some(object @ Object::TemplateSource(_)) = trigger.after.as_deref() {
            self.memory.judge(object, &[], profile);
        }
        self.memory.note(trigger);
        let work = template_sync::affected(cluster, &self.memory.settings, trigger);
        work.into_iter().for_each(|work| self.add(work, now));
    }

    fn add(&mut self, work: Work, now: Time) {
        let pause = if matches!(work, Work::Status(_)) { STATUS_PAUSE } else { 0 };
        self.queue.add(work, now.plus_millis(pause));
    }
}

impl Simulation {
    /// Adds the namespaces that are in use and not given, and the label that every namespace has, where something is to be copied.
    pub(super) fn know_namespaces(&mut self) {
        let cluster = self.server.cluster();
        if !template_sync::has_sources(cluster, HOME) {
            return;
        }
        let pods = cluster.pods().keys().map(|key| &key.0);
        let groups = cluster.pod_groups().keys().map(|key| &key.0);
        let workloads = cluster.workloads().keys().map(|key| &key.1);
        let names: BTreeSet<String> =
            cluster.namespaces().keys().chain(pods).chain(groups).chain(workloads).cloned().gather();
        for name in names {
            let known = self.server.cluster().namespaces().get(&name);
            if known.is_some_and(|known| known.metadata.labels.contains_key(NAME_LABEL)) {
                continue;
            }
            let mut namespace = known.cloned().unwrap_or_default();
            namespace.metadata.labels.insert(NAME_LABEL.to_owned(), name.clone());
            namespace.metadata.name = name;
            self.server.seed(Object::Namespace(Arc::new(namespace)).write(), self.now);
        }
    }

    /// Makes the copies of templates that template-sync makes at once.
    pub(crate) fn copy_templates(&mut self) {
        self.hear();
        while self.sync_template() {
            self.hear();
        }
    }

    /// Lets template-sync look at one copy or status. False when nothing is due.
    pub(super) fn sync_template(&mut self) -> bool {
        let Some(work) = self.controllers.templates.queue.take(self.now) else { return false };
        let mut memory = std::mem::take(&mut self.controllers.templates.memory);
        let mut more = Vec::new();
        let mut wake_up = None;
        let is_done = match &work {
            Work::Status(name) => {
                let decision = memory.status(self.seen(), name, self.now);
                self.carry_out(decision)
            }
            Work::Copy { namespace, name } => {
                let key = (namespace.clone(), name.clone());
                match memory.reconcile(self.seen(), &key, self.now) {
                    None => true,
                    Some((decision, _, next)) => {
                        (wake_up, more) = (decision.wake_up, next);
                        let is_done = self.carry_out(decision);
                        let refused = self.refused.take().filter(|refused| !is_done && !refused.is_race());
                        if is_done || refused.is_some() {
                            let refused = refused.map(|refused| (refused.status, refused.message));
                            more.extend(memory.answered(self.seen(), &key, refused));
                        }
                        is_done
                    }
                }
            }
        };
        let now = self.now;
        let templates = &mut self.controllers.templates;
        templates.memory = memory;
        more.into_iter().for_each(|work| templates.add(work, now));
        templates.queue.conclude(work, is_done, wake_up, now);
        true
    }
}
