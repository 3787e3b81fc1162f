//! The Job controller, as far as the life of claims and groups depends on it: Pods of a Job come, are counted once, and end it; a Job
//! that is a gang gets its Workload and PodGroup (`WorkloadWithJob`, in the shapes of 1.36 and 1.37).
//!
//! Not modelled: pauses between replacements of failed Pods, policies for failed and succeeded Pods.
//!
//! Source: `pkg/controller/job`.

mod count;
mod group;
mod pods;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::condition::text;
use crate::api::condition::{conditions, holds};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::api::workload::{JobSpec, Workload, WorkloadSpec};
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::controllers::workloads;
use crate::decision::{Action, Decision, EventRecord, Time, Trigger};
use crate::derive::uid_of;
use crate::finding::ObjectRef;
use crate::profile::Profile;
use count::Count;

/// Most Pods of a gang. It is shown as a whole.
const MAX_GANG: u64 = 10_000;

/// Finalizer of a Pod that its Job has not counted yet.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// A Job with its parts.
struct Job<'c> {
    workload: &'c Workload,
    spec: &'c JobSpec,
}

impl<'c> Job<'c> {
    fn find(cluster: &'c Cluster, key: &Key) -> Option<Self> {
        let workload = cluster.workloads().get(&("Job".to_owned(), key.0.clone(), key.1.clone()))?;
        match &workload.spec {
            WorkloadSpec::Job(spec) => Some(Self { workload, spec }),
            _ => None,
        }
    }

    fn is_indexed(&self) -> bool {
        self.spec.completion_mode == "Indexed"
    }

    /// How many Pods run at a time.
    fn parallelism(&self) -> u64 {
        u64::try_from(self.spec.parallelism.unwrap_or(1)).unwrap_or_default()
    }

    /// How many Pods must succeed; `None` where any one of them is enough.
    fn completions(&self) -> Option<u64> {
        let is_bare = self.spec.parallelism.is_none();
        let completions = self.spec.completions.or_else(|| is_bare.then_some(1));
        completions.map(|completions| u64::try_from(completions).unwrap_or_default())
    }

    fn uid(&self) -> String {
        uid_of("Job", &self.workload.metadata)
    }

    fn says(&self, condition: &str) -> bool {
        holds(conditions(&self.workload.status), condition)
    }

    /// How many Pods are to run now.
    fn wanted(&self, count: &Count) -> u64 {
        let succeeded = count.all_succeeded(self);
        let left = match self.completions() {
            Some(completions) => completions.saturating_sub(succeeded),
            // Any one that succeeds is enough: then no more are started, and those that run go on.
            None if succeeded > 0 => return count.active.min(self.parallelism()),
            None => u64::MAX,
        };
        left.min(self.parallelism())
    }

    /// When it ends whatever its Pods do.
    fn deadline(&self) -> Option<Time> {
        let seconds = self.spec.rest.get("activeDeadlineSeconds")?.as_i64()?;
        Some(Time::parse(self.workload.status.get("startTime")?.as_str()?)?.plus_seconds(seconds))
    }

    fn reference(&self) -> ObjectRef {
        self.workload.metadata.reference("Job")
    }

    fn event(&self, is_warning: bool, reason: &str, note: String) -> Action {
        let metadata = &self.workload.metadata;
        let warning = EventRecord::warning("job-controller", self.reference(), metadata, reason, note);
        Action::Record(EventRecord { is_warning, ..warning })
    }

    /// Whether a Pod counts as one that ended: unless the Job replaces failed Pods only, one that is being deleted does.
    fn is_over(&self, pod: &Pod) -> bool {
        let waits_for_phase = self.spec.rest.get("podReplacementPolicy").and_then(Value::as_str) == Some("Failed");
        pod.is_finished() || (pod.metadata.is_deleting() && !waits_for_phase)
    }

    /// The Job's Pods.
    fn pods(&self, cluster: &'c Cluster) -> Vec<&'c Pod> {
        let uid = self.uid();
        let is_own = |pod: &&Pod| pod.metadata.controller().is_some_and(|owner| owner.uid == uid);
        workloads::pods_of(cluster, &workloads::key(self.workload)).filter(is_own).collect()
    }
}

/// What to do about one Job. `most` bounds how many Pods of a Job that is no gang exist at a time; `None` is no bound. `has_deadline` says whether
/// the Job ends at its deadline.
pub fn reconcile(
    cluster: &Cluster,
    profile: &Profile,
    key: &Key,
    most: Option<u64>,
    has_deadline: bool,
    now: Time,
) -> Decision {
    let Some(job) = Job::find(cluster, key) else {
        let pods = workloads::pods_of(cluster, &("Job".to_owned(), key.0.clone(), key.1.clone()));
        return Decision::of(pods.filter_map(released).collect());
    };
    let pods = job.pods(cluster);
    let has_ended = job.says("Complete") || job.says("Failed");
    let waits = workloads::suspended(job.workload, job.spec.suspend).0;
    if has_ended || job.workload.metadata.is_deleting() || waits {
        let mut actions: Vec<Action> =
            pods.iter().filter(|pod| job.is_over(pod)).filter_map(|pod| released(pod)).collect();
        if waits && !has_ended {
            actions.extend(pods.iter().filter(|pod| workloads::is_active(pod)).map(|pod| workloads::delete(pod)));
        }
        return Decision::of(actions);
    }
    let group = match group::ensure(cluster, profile, &job, pods.is_empty()) {
        group::Group::Ready(group) => group,
        group::Group::Wanted(actions) => return Decision::of(actions),
    };
    let most = if group.is_some() { MAX_GANG } else { most.unwrap_or(u64::MAX) };
    let deadline = job.deadline().filter(|_| has_deadline);
    let mut count = Count::of(&job, &pods);
    count.is_overdue = deadline.is_some_and(|deadline| deadline <= now);
    let mut decision = act(cluster, &job, &pods, count, (most, group.as_ref()), now);
    deadline.filter(|deadline| *deadline > now).into_iter().for_each(|deadline| decision.wake_at(deadline));
    decision
}

/// What to do about a Job that goes on, and has the PodGroup that it needs.
fn act(
    cluster: &Cluster,
    job: &Job<'_>,
    pods: &[&Pod],
    mut count: Count,
    (most, group): (u64, Option<&String>),
    now: Time,
) -> Decision {
    let mut actions = Vec::new();
    if count.is_failed(job) {
        let running = pods.iter().filter(|pod| workloads::is_active(pod));
        actions.extend(running.map(|pod| workloads::delete(pod)));
    } else {
        let wanted = job.wanted(&count);
        let active: Vec<&Pod> = pods.iter().copied().filter(|pod| workloads::is_active(pod)).collect();
        let surplus = count.active.saturating_sub(wanted);
        actions.extend(workloads::superfluous(cluster, active, surplus).into_iter().map(workloads::delete));
        let number = wanted.min(most).saturating_sub(count.active);
        for pod in pods::missing(cluster, job, pods, &count, number, group) {
            let note = format!("Created pod: {}", pod.metadata.name);
            actions.push(workloads::create(job.workload, Object::Pod(Arc::new(pod))));
            actions.push(job.event(false, "SuccessfulCreate", note));
            count.active = count.active.saturating_add(1);
        }
    }
    let status = count.status(job, now);
    if status != tidy(&job.workload.status) {
        let mut changed = job.workload.clone();
        changed.status = status;
        actions.push(Action::UpdateStatus(Box::new(Object::Workload(Arc::new(changed)))));
        actions
            .extend(count.ending(job).map(|(is_warning, reason, note)| job.event(is_warning, reason, note.to_owned())));
        return Decision::of(actions);
    }
    // What the status says is counted may go.
    actions.extend(pods.iter().filter(|pod| job.is_over(pod)).filter_map(|pod| released(pod)));
    Decision::of(actions)
}

/// Jobs that a change concerns.
pub fn affected(trigger: &Trigger) -> Option<Key> {
    let object = trigger.latest()?;
    if let (Some(Object::Pod(before)), Some(Object::Pod(after))) = (trigger.before.as_deref(), trigger.after.as_deref())
        && is_alike(before, after)
    {
        return None;
    }
    let metadata = object.metadata();
    match object {
        Object::Workload(workload) if workload.kind == "Job" => Some(key_of(metadata)),
        Object::Pod(_) | Object::PodGroup(_) | Object::SchedulingWorkload(_) => {
            let owner = metadata.controller().filter(|owner| owner.kind == "Job")?;
            Some((metadata.namespace.clone(), owner.name.clone()))
        }
        _ => None,
    }
}

/// Whether a Job sees no difference between two versions of a Pod of its: only where the Pod runs, or its claims, changed.
fn is_alike(before: &Pod, after: &Pod) -> bool {
    let conditions = |pod: &Pod| -> Vec<Value> {
        let all = pod.status.conditions.iter().filter(|one| text(one, "type") != "PodScheduled");
        all.cloned().collect()
    };
    // Empty stands for `Pending`.
    let phase = |pod: &Pod| Some(pod.status.phase.clone()).filter(|phase| phase != "Pending").unwrap_or_default();
    let (old, new) = (&before.metadata, &after.metadata);
    old.finalizers == new.finalizers
        && old.owner_references == new.owner_references
        && old.deletion_timestamp == new.deletion_timestamp
        && phase(before) == phase(after)
        && before.status.rest == after.status.rest
        && conditions(before) == conditions(after)
}

/// All Jobs, as after a start.
pub fn all(cluster: &Cluster) -> impl Iterator<Item = Key> + '_ {
    let jobs = cluster.workloads().iter().filter(|(_, workload)| matches!(workload.spec, WorkloadSpec::Job(_)));
    jobs.map(|((_, namespace, name), _)| (namespace.clone(), name.clone()))
}

/// The Pod without the finalizer, if it has it.
fn released(pod: &Pod) -> Option<Action> {
    pod.metadata.has_finalizer(TRACKING).then(|| {
        let mut free = pod.clone();
        free.metadata.finalizers.retain(|finalizer| finalizer != TRACKING);
        Action::Update(Box::new(Object::Pod(Arc::new(free))))
    })
}

/// A status as it is compared: an object, whatever was written.
fn tidy(status: &Value) -> Value {
    if status.is_object() { status.clone() } else { json!({}) }
}
