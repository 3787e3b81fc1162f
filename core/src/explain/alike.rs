//! Answers to the latest Pods of one cluster: Pods that ask the same of its nodes get the same.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::api::pod::Pod;

/// How many are kept: workloads whose Pods wait in turn.
const MOST_KEPT: usize = 16;

/// Answers with the Pods that they were given to, the latest first.
#[derive(Clone, Debug)]
pub(crate) struct Alike<T>(VecDeque<(Arc<Pod>, Arc<T>)>);

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Alike<T> {
    /// The answer to a Pod: that of one before that asks the same, or a new one.
    pub(crate) fn of(&mut self, pod: &Arc<Pod>, answer: impl FnOnce() -> T) -> Arc<T> {
        let own = &pod.metadata;
        let is_alike = |(known, _): &&(Arc<Pod>, Arc<T>)| {
            let other = &known.metadata;
            known.spec == pod.spec
                && own.namespace == other.namespace
                && own.labels == other.labels
                && own.owner_references == other.owner_references
        };
        if let Some((_, answer)) = self.0.iter().find(is_alike) {
            return Arc::clone(answer);
        }
        let answer = Arc::new(answer());
        self.0.truncate(MOST_KEPT.saturating_sub(1));
        self.0.push_front((Arc::clone(pod), Arc::clone(&answer)));
        answer
    }
}
