//! Moments as lanes: for each Pod and each claim, what it was from when to when.

use std::collections::BTreeMap;

use apportion_core::ask::Report;
use apportion_core::control_plane::{Happening, Moment};
use apportion_core::finding::ObjectRef;

/// What an object is for a while.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum State {
    /// A Pod without a node.
    Pending,
    /// A Pod with a node.
    Placed,
    /// A Pod that runs.
    Running,
    /// A Pod that has ended.
    Ended,
    /// An object that is to go.
    Ending,
    /// A claim without devices.
    Idle,
    /// A claim with devices.
    Allocated,
}

impl State {
    /// All of them, as a legend lists them.
    pub(crate) const ALL: [Self; 7] =
        [Self::Pending, Self::Placed, Self::Running, Self::Ended, Self::Ending, Self::Idle, Self::Allocated];

    /// The word for people and for style sheets.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Placed => "placed",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Ending => "ending",
            Self::Idle => "idle",
            Self::Allocated => "allocated",
        }
    }
}

/// A stretch of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bar {
    pub(crate) state: State,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// A node, or devices; may be empty.
    pub(crate) label: String,
}

/// The bars of one object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) object: ObjectRef,
    pub(crate) bars: Vec<Bar>,
}

/// A lane for each Pod, then one for each claim, by name.
pub(crate) fn lanes(moments: &[Moment], report: &Report, end: u64) -> Vec<Lane> {
    let mut all: BTreeMap<(bool, ObjectRef), Lane> = BTreeMap::new();
    let key = |object: &ObjectRef| (object.kind != "Pod", object.clone());
    let empty = |object: &ObjectRef| Lane { object: object.clone(), bars: Vec::new() };
    for moment in moments.iter().filter(|moment| is_drawn(&moment.object)) {
        let lane = all.entry(key(&moment.object)).or_insert_with(|| begin(&moment.object, moment.happened));
        lane.change(moment);
    }
    for pod in &report.pods {
        let object = object("Pod", &pod.namespace, &pod.name);
        let lane = all.entry(key(&object)).or_insert_with(|| empty(&object));
        if lane.bars.is_empty() {
            let state = if pod.node.is_some() { State::Placed } else { State::Pending };
            lane.bars.push(Bar { state, from: 0, to: 0, label: pod.node.clone().unwrap_or_default() });
        }
    }
    for claim in &report.claims {
        let object = object("ResourceClaim", &claim.namespace, &claim.name);
        let lane = all.entry(key(&object)).or_insert_with(|| empty(&object));
        if lane.bars.is_empty() {
            let state = if claim.allocated { State::Allocated } else { State::Idle };
            lane.bars.push(Bar { state, from: 0, to: 0, label: String::new() });
        }
    }
    let is_there = |object: &ObjectRef| {
        let has = |namespace: &str, name: &str| namespace == object.namespace && name == object.name;
        match object.kind.as_str() {
            "Pod" => report.pods.iter().any(|pod| has(&pod.namespace, &pod.name)),
            _ => report.claims.iter().any(|claim| has(&claim.namespace, &claim.name)),
        }
    };
    let mut lanes: Vec<Lane> = all.into_values().collect();
    for lane in &mut lanes {
        let stays = is_there(&lane.object);
        if let Some(last) = lane.bars.last_mut().filter(|_| stays) {
            last.to = end;
        }
    }
    lanes
}

fn object(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

fn is_drawn(object: &ObjectRef) -> bool {
    matches!(object.kind.as_str(), "Pod" | "ResourceClaim")
}

/// The lane of an object that is first heard of: if it was not created now it was there from the start.
fn begin(object: &ObjectRef, first: Happening) -> Lane {
    let mut lane = Lane { object: object.clone(), bars: Vec::new() };
    if first != Happening::Created && first != Happening::Requested {
        lane.bars.push(Bar { state: lane.first_state(), from: 0, to: 0, label: String::new() });
    }
    lane
}

impl Lane {
    fn first_state(&self) -> State {
        if self.object.kind == "Pod" { State::Pending } else { State::Idle }
    }

    fn change(&mut self, moment: &Moment) {
        let at = moment.at_millis;
        let state = match moment.happened {
            Happening::Created => self.first_state(),
            Happening::Placed => State::Placed,
            Happening::Phase if moment.detail == "Running" => State::Running,
            Happening::Phase => State::Ended,
            Happening::Deleting => State::Ending,
            Happening::Allocated => State::Allocated,
            Happening::Deallocated => State::Idle,
            Happening::Deleted => {
                if let Some(last) = self.bars.last_mut() {
                    last.to = at;
                }
                return;
            }
            _ => return,
        };
        let label = match moment.happened {
            Happening::Placed | Happening::Allocated => moment.detail.clone(),
            Happening::Phase | Happening::Deleting => self.bars.last().map(|bar| bar.label.clone()).unwrap_or_default(),
            _ => String::new(),
        };
        if let Some(last) = self.bars.last_mut() {
            last.to = at;
            if last.from == at {
                self.bars.pop();
            }
        }
        self.bars.push(Bar { state, from: at, to: at, label });
    }
}

/// Where a time stands between 0 and 1: moments with something in them are as far apart as they are in time, but long pauses
/// are cut short, so that what happens at once can be told apart from what happens after minutes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Scale(Vec<(u64, f64)>);

impl Scale {
    pub(crate) fn new(moments: &[Moment], end: u64) -> Self {
        let mut times: Vec<u64> = moments.iter().map(|moment| moment.at_millis).chain([0, end]).collect();
        times.sort_unstable();
        times.dedup();
        let mut places = Vec::with_capacity(times.len());
        let (mut place, mut before) = (0.0, 0);
        for time in times {
            let pause = time.saturating_sub(before);
            if pause > 0 {
                // Milliseconds of a simulation fit a float by far.
                #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
                let seconds = pause as f64 / 1000.0;
                place += 1.0 + seconds.ln_1p();
            }
            places.push((time, place));
            before = time;
        }
        let all = if place > 0.0 { place } else { 1.0 };
        Self(places.into_iter().map(|(time, place)| (time, place / all)).collect())
    }

    /// The place of a time; that of the last known one before it.
    pub(crate) fn place(&self, time: u64) -> f64 {
        let index = self.0.partition_point(|(known, _)| *known <= time);
        index.checked_sub(1).and_then(|index| self.0.get(index)).map_or(0.0, |(_, place)| *place)
    }

    /// Times at which something happens, with their places.
    pub(crate) fn ticks(&self) -> &[(u64, f64)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at_millis: u64, happened: Happening, kind: &str, detail: &str) -> Moment {
        Moment { at_millis, happened, object: object(kind, "ns", "x"), detail: detail.to_owned() }
    }

    #[test]
    fn a_pod_is_pending_until_it_is_placed_and_ends_with_its_deletion() {
        let moments = [
            moment(1000, Happening::Created, "Pod", ""),
            moment(3000, Happening::Placed, "Pod", "node-a"),
            moment(3000, Happening::Phase, "Pod", "Running"),
            moment(9000, Happening::Deleting, "Pod", ""),
            moment(39_000, Happening::Deleted, "Pod", ""),
        ];
        let lanes = lanes(&moments, &Report::default(), 60_000);
        let bars: Vec<(State, u64, u64, &str)> =
            lanes[0].bars.iter().map(|bar| (bar.state, bar.from, bar.to, bar.label.as_str())).collect();
        let wanted = [
            (State::Pending, 1000, 3000, ""),
            (State::Running, 3000, 9000, "node-a"),
            (State::Ending, 9000, 39_000, "node-a"),
        ];
        assert_eq!(bars, wanted);
    }

    #[test]
    fn the_scale_keeps_the_order_and_ends_at_one() {
        let moments = [moment(5, Happening::Created, "Pod", ""), moment(500_000, Happening::Deleted, "Pod", "")];
        let scale = Scale::new(&moments, 600_000);
        let places: Vec<f64> = [0, 5, 500_000, 600_000].map(|time| scale.place(time)).into();
        assert!(places.is_sorted() && places[0] == 0.0 && (places[3] - 1.0).abs() < 1e-9, "{places:?}");
        assert!(scale.place(1000) == scale.place(5));
    }
}
