//! What a Job has counted of its Pods, each of them once.
//!
//! A finished Pod is noted as uncounted, loses its finalizer, and is counted then: whoever is stopped in between counts it neither twice
//! nor never.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Job, TRACKING};
use crate::api::condition::holds;
use crate::api::pod::Pod;
use crate::decision::Time;
use crate::gather::Gather;

/// Failed Pods that a Job bears where it does not say.
const BACKOFF_LIMIT: i64 = 6;

/// The counts of one Job.
#[derive(Default)]
pub(super) struct Count {
    pub(super) active: u64,
    pub(super) succeeded: u64,
    failed: u64,
    ready: u64,
    terminating: u64,
    /// Numbers of the Pods that succeeded, of an Indexed Job.
    pub(super) completed: BTreeSet<u64>,
    /// UIDs of Pods that ended and are not counted yet.
    uncounted_succeeded: Vec<String>,
    uncounted_failed: Vec<String>,
    /// Whether the Job runs longer than it may.
    pub(super) is_overdue: bool,
}

impl Count {
    /// The counts of the status, with what its Pods say since.
    pub(super) fn of(job: &Job<'_>, pods: &[&Pod]) -> Self {
        let status = &job.workload.status;
        let number = |name: &str| status.get(name).and_then(Value::as_u64).unwrap_or_default();
        let mut count = Self {
            succeeded: number("succeeded"),
            failed: number("failed"),
            completed: parse(status.get("completedIndexes"), job.completions().unwrap_or_default()),
            ..Self::default()
        };
        let noted = |name: &str| -> Vec<String> {
            let list = status.pointer(&format!("/uncountedTerminatedPods/{name}")).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        // Where nothing is known of the Job's own counts, every Pod is still to be counted.
        let is_bare = status.as_object().is_none_or(Map::is_empty);
        let is_tracked = |pod: &Pod| is_bare || pod.metadata.has_finalizer(TRACKING);
        let waits = |uid: &String| pods.iter().any(|pod| pod.metadata.uid == *uid && is_tracked(pod));
        for (name, is_success) in [("succeeded", true), ("failed", false)] {
            for uid in noted(name) {
                let uncounted = if is_success { &mut count.uncounted_succeeded } else { &mut count.uncounted_failed };
                if waits(&uid) {
                    uncounted.push(uid);
                } else if is_success && !job.is_indexed() {
                    count.succeeded = count.succeeded.saturating_add(1);
                } else if !is_success {
                    count.failed = count.failed.saturating_add(1);
                }
            }
        }
        for pod in pods {
            count.look_at(job, pod, is_tracked(pod));
        }
        if job.is_indexed() {
            count.succeeded = count.completed.len() as u64;
        }
        count
    }

    fn look_at(&mut self, job: &Job<'_>, pod: &Pod, is_tracked: bool) {
        let uid = &pod.metadata.uid;
        match pod.status.phase.as_str() {
            "Succeeded" => {
                if let Some(index) = super::pods::index(pod).filter(|_| job.is_indexed() && is_tracked) {
                    self.completed.insert(index);
                }
                if is_tracked && !self.uncounted_succeeded.contains(uid) {
                    self.uncounted_succeeded.push(uid.clone());
                }
            }
            _ if job.is_over(pod) => {
                if is_tracked && !self.uncounted_failed.contains(uid) {
                    self.uncounted_failed.push(uid.clone());
                }
                self.terminating = self.terminating.saturating_add(u64::from(!pod.is_finished()));
            }
            _ if pod.metadata.is_deleting() => self.terminating = self.terminating.saturating_add(1),
            _ => {
                self.active = self.active.saturating_add(1);
                self.ready = self.ready.saturating_add(u64::from(holds(&pod.status.conditions, "Ready")));
            }
        }
    }

    /// Pods that succeeded, counted or not.
    pub(super) fn all_succeeded(&self, job: &Job<'_>) -> u64 {
        match job.is_indexed() {
            true => self.completed.len() as u64,
            false => self.succeeded.saturating_add(self.uncounted_succeeded.len() as u64),
        }
    }

    fn is_settled(&self) -> bool {
        self.uncounted_succeeded.is_empty() && self.uncounted_failed.is_empty()
    }

    /// Whether the Job fails: more Pods failed than it bears, or it runs longer than it may.
    pub(super) fn is_failed(&self, job: &Job<'_>) -> bool {
        self.is_overdue || self.exceeds_limit(job)
    }

    fn exceeds_limit(&self, job: &Job<'_>) -> bool {
        let limit = job.spec.rest.get("backoffLimit").and_then(Value::as_i64).unwrap_or(BACKOFF_LIMIT);
        let failed = self.failed.saturating_add(self.uncounted_failed.len() as u64);
        i64::try_from(failed).unwrap_or(i64::MAX) > limit
    }

    fn is_complete(&self, job: &Job<'_>) -> bool {
        match job.completions() {
            Some(completions) => self.succeeded >= completions,
            None => self.succeeded > 0 && self.active == 0,
        }
    }

    /// How the Job ends now, if it does: whether that is bad, the Event's reason, and its note.
    pub(super) fn ending(&self, job: &Job<'_>) -> Option<(bool, &'static str, &'static str)> {
        if !self.is_settled() {
            return None;
        }
        if self.is_failed(job) {
            let is_over = self.active == 0 && self.terminating == 0;
            return is_over.then_some(match self.exceeds_limit(job) {
                true => (true, "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
                false => (true, "DeadlineExceeded", "Job was active longer than specified deadline"),
            });
        }
        self.is_complete(job).then_some((false, "Completed", "Job completed"))
    }

    /// The status with these counts.
    pub(super) fn status(&self, job: &Job<'_>, now: Time) -> Value {
        let mut status = super::tidy(&job.workload.status);
        let Some(map) = status.as_object_mut() else { return status };
        map.entry("startTime").or_insert_with(|| json!(now.to_string()));
        for (name, number) in [("active", self.active), ("succeeded", self.succeeded), ("failed", self.failed)] {
            map.remove(name);
            map.extend((number > 0).then(|| (name.to_owned(), json!(number))));
        }
        map.insert("ready".to_owned(), json!(self.ready));
        map.insert("terminating".to_owned(), json!(self.terminating));
        if job.is_indexed() && !self.completed.is_empty() {
            map.insert("completedIndexes".to_owned(), json!(print(&self.completed)));
        }
        let uncounted = [("succeeded", &self.uncounted_succeeded), ("failed", &self.uncounted_failed)];
        let uncounted = uncounted.into_iter().filter(|(_, uids)| !uids.is_empty());
        let uncounted: Map<String, Value> = uncounted.map(|(name, uids)| (name.to_owned(), json!(uids))).gather();
        map.insert("uncountedTerminatedPods".to_owned(), Value::Object(uncounted));
        if let Some((is_bad, reason, note)) = self.ending(job) {
            let (first, last, reason, message) = match is_bad {
                true => ("FailureTarget", "Failed", reason, note),
                false => {
                    map.insert("completionTime".to_owned(), json!(now.to_string()));
                    let message = "Reached expected number of succeeded pods";
                    ("SuccessCriteriaMet", "Complete", "CompletionsReached", message)
                }
            };
            let condition = |kind: &str| {
                json!({
                    "type": kind, "status": "True", "lastProbeTime": now.to_string(),
                    "lastTransitionTime": now.to_string(), "reason": reason, "message": message,
                })
            };
            map.insert("conditions".to_owned(), json!([condition(first), condition(last)]));
        }
        status
    }
}

/// Numbers as a Job writes them: `0,2-4`. Those below `limit` only.
fn parse(text: Option<&Value>, limit: u64) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    let Some(last) = limit.checked_sub(1) else { return numbers };
    for part in text.and_then(Value::as_str).unwrap_or_default().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>()) {
            numbers.extend(from..=to.min(last));
        }
    }
    numbers
}

/// Three and more in a row are written as a range.
fn print(numbers: &BTreeSet<u64>) -> String {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, to)) if to.checked_add(1) == Some(*number) => *to = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let parts = parts.iter().map(|(from, to)| match to.saturating_sub(*from) {
        0 => from.to_string(),
        1 => format!("{from},{to}"),
        _ => format!("{from}-{to}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_read() {
        for text in ["", "0", "0,1", "0-2", "0,2-4,7,8"] {
            assert_eq!(print(&parse(Some(&json!(text)), 10)), text);
        }
        assert_eq!(print(&parse(Some(&json!("0-99999999999999,x,5-")), 3)), "0-2");
        assert!(parse(Some(&json!("0-4")), 0).is_empty());
    }
}
