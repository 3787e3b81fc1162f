//! Events as an API server keeps them: equal ones are counted, and of many that differ in their note the last ones are one.

use std::collections::BTreeMap;

use super::Server;
use crate::decision::EventRecord;
use crate::finding::ObjectRef;

/// Notes of one reason about one object that are told apart; the last of them stands for all that follow.
///
/// Source: `client-go/tools/record`, `defaultAggregateMaxEvents`.
const MOST_NOTES: usize = 10;

/// Events, each with how often, in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    all: Vec<(EventRecord, u64)>,
    /// Where those about an object stand.
    places: BTreeMap<ObjectRef, Vec<usize>>,
}

impl Server {
    /// Events recorded so far, each with how often, in the order of their first occurrence.
    pub fn events(&self) -> &[(EventRecord, u64)] {
        &self.events.all
    }

    /// Records an Event. One that is equal to an earlier one is counted there. An object keeps ten notes of one reason; the tenth
    /// is replaced by those that follow.
    pub fn record(&mut self, event: EventRecord) {
        let Events { all, places } = &mut self.events;
        let places = places.entry(event.regarding.clone()).or_default();
        let is_alike = |known: &EventRecord| known.reason == event.reason && known.uid == event.uid;
        let mut alike = 0usize;
        for place in places.iter() {
            let Some((known, count)) = all.get_mut(*place).filter(|(known, _)| is_alike(known)) else { continue };
            alike = alike.saturating_add(1);
            if *known == event || alike == MOST_NOTES {
                *known = event;
                *count = count.saturating_add(1);
                return;
            }
        }
        places.push(all.len());
        all.push((event, 1));
    }
}
