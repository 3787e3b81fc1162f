//! Template-sync as a controller of the simulated cluster, where the input has something to copy.

use super::Simulation;
use super::controllers::Queue;
use crate::api::object::Object;
use crate::cluster::Cluster;
use crate::controllers::template_sync::{self, Memory, Work};
use crate::decision::{Time, Trigger};
use crate::profile::Profile;

/// The controller's namespace, whose templates may be what others are copied from.
const HOME: &str = "apportion-system";

/// Milliseconds that changes are collected before a status is written.
const STATUS_PAUSE: i64 = 500;

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
        for source in cluster.template_sources().values() {
            self.memory.judge(source, profile);
        }
        let work = template_sync::all_work(cluster, &self.memory.settings);
        work.into_iter().for_each(|work| self.add(work, now));
    }

    /// Takes a change into account.
    pub(super) fn note(&mut self, cluster: &Cluster, profile: &Profile, trigger: &Trigger, now: Time) {
        if let Some(Object::TemplateSource(source)) = trigger.after.as_deref() {
            self.memory.judge(source, profile);
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
    /// Lets template-sync look at one copy or status. False when nothing is due.
    pub(super) fn sync_template(&mut self) -> bool {
        let Some(work) = self.controllers.templates.queue.take(self.now) else { return false };
        let mut memory = self.controllers.templates.memory.clone();
        let mut more = Vec::new();
        let is_done = match &work {
            Work::Status(name) => {
                let decision = template_sync::status(self.seen(), &memory.settings, &memory.refusals, name, self.now);
                self.carry_out(decision)
            }
            Work::Copy { namespace, name } => {
                let key = (namespace.clone(), name.clone());
                match memory.reconcile(self.seen(), &key) {
                    None => true,
                    Some((decision, _, next)) => {
                        more.extend(next);
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
        templates.queue.conclude(work, is_done, None, now);
        true
    }
}
