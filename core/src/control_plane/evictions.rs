//! Pods that had to go because of taints of their devices, for people.

use std::collections::BTreeSet;

use crate::cluster::Key;
use crate::decision::clock;
use crate::finding::{Code, Finding, ObjectRef};

/// Evictions, in the order of the Pods. A controller may give a new Pod the name of one that had to go.
#[derive(Clone, Debug, Default)]
pub(super) struct Evictions(Vec<(Key, Eviction)>);

/// When and why a Pod had to go.
#[derive(Clone, Debug)]
struct Eviction {
    /// Milliseconds since the start, of the first time.
    after: u64,
    times: u64,
    /// The taints, in words.
    taints: BTreeSet<String>,
}

impl Evictions {
    /// Notes that a Pod has to go, so many milliseconds after the start.
    pub(super) fn add(&mut self, pod: Key, after: u64, taints: BTreeSet<String>) {
        let place = self.0.binary_search_by(|(known, _)| known.cmp(&pod)).unwrap_or_else(|place| {
            self.0.insert(place, (pod, Eviction { after, times: 0, taints: BTreeSet::new() }));
            place
        });
        let Some((_, known)) = self.0.get_mut(place) else { return };
        known.times = known.times.saturating_add(1);
        known.taints.extend(taints);
    }

    /// One finding for each Pod.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.0.iter().map(|((namespace, name), Eviction { after, times, taints })| {
            let when = match (times, after) {
                (1, 0) => "evicted at once".to_owned(),
                (1, _) => format!("evicted after {}", clock(*after)),
                (_, 0) => format!("evicted {times} times, first at once"),
                (_, _) => format!("evicted {times} times, first after {}", clock(*after)),
            };
            let taints: Vec<&str> = taints.iter().map(String::as_str).collect();
            let message = format!("{when}: {}", taints.join(", "));
            let hint = "tolerate the taint in the request, without `tolerationSeconds`, or remove the taint";
            Finding::new(Code::RunEvicted, "", message)
                .about(ObjectRef::new("Pod", &**namespace, &**name))
                .with_hint(hint)
        })
    }
}
