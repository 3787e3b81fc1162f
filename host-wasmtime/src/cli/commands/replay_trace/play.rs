//! A trace in virtual time: Pods come, wait, run and end in a simulated cluster.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use anyhow::Result;
use apportion_core::control_plane::{Command, Happening, SETTLING, Settled};
use apportion_core::decision::Time;
use apportion_core::finding::{ObjectRef, Severity};
use apportion_core::wire::simulation::Plays;
use serde_json::Value;

use super::measure::Room;
use super::objects::{self, NAMESPACE};
use super::trace::{Pod, Trace};
use crate::cli::progress::Progress;

/// Measurements over the whole time, about.
const SAMPLES: usize = 240;

/// What became of a Pod.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// Milliseconds since the start at which it got its node.
    pub(super) placed: Option<u64>,
    pub(super) node: String,
    /// Places of its GPUs on the node.
    gpus: Vec<usize>,
    /// What the scheduler, or the API server, said last of it.
    pub(super) why: String,
    /// Whether it waits for a node.
    is_waiting: bool,
}

/// The cluster at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sample {
    pub(super) at_millis: u64,
    pub(super) running: u64,
    pub(super) waiting: u64,
    /// GPUs in use, in thousandths.
    pub(super) used: u64,
    /// See [`Room::fragmentation`].
    pub(super) fragmentation: u64,
}

/// All that happened.
#[derive(Debug)]
pub(super) struct Played {
    /// In the order of the trace's Pods.
    pub(super) fates: Vec<Fate>,
    pub(super) samples: Vec<Sample>,
    pub(super) end_millis: u64,
    /// Most Pods that waited at a time.
    pub(super) most_waiting: u64,
    /// GPUs of the cluster, in thousandths.
    pub(super) total: u64,
    /// Thousandths of GPUs in use, times milliseconds.
    pub(super) work: u128,
    /// Objects that the API server refused.
    pub(super) problems: Vec<String>,
    pub(super) is_restless: bool,
}

/// Plays a trace to its end, with some more objects from the start.
pub(super) fn play<P: Plays>(plays: P, trace: &Trace, objects: &[Value]) -> Result<Played>
where
    P::Error: std::error::Error + Send + Sync + 'static,
{
    let mut player = Player::new(plays, trace, objects)?;
    let progress = Progress::new(trace.pods.len(), "Pods");
    let stride = trace.pods.len().saturating_mul(2).checked_div(SAMPLES).unwrap_or_default().max(1);
    let (mut coming, mut events) = (trace.pods.iter().enumerate().peekable(), 0_usize);
    loop {
        let arrival = coming.peek().map(|(_, pod)| pod.arrival);
        let Some(next) = arrival.into_iter().chain(player.next_end()).min() else {
            if player.waiting == 0 {
                break;
            }
            // What waits may still be tried again.
            let settled = player.now.saturating_add(u64::try_from(SETTLING)?.saturating_mul(1000));
            player.pass(settled)?;
            if player.next_end().is_none() || player.played.is_restless {
                break;
            }
            continue;
        };
        let now = player.pass(next)?;
        let before = events;
        while let Some(index) = player.ended(now) {
            player.end(index)?;
            events = events.saturating_add(1);
        }
        while let Some((index, pod)) = coming.next_if(|(_, pod)| pod.arrival <= now) {
            player.arrive(index, pod)?;
            progress.step();
            events = events.saturating_add(1);
        }
        player.pass(now)?;
        if player.played.is_restless {
            break;
        }
        if before == 0 || events.checked_div(stride) != before.checked_div(stride) {
            player.sample();
        }
    }
    player.sample();
    Ok(player.played)
}

struct Player<'t, P> {
    plays: P,
    trace: &'t Trace,
    start: Time,
    /// Milliseconds since the start.
    now: u64,
    room: Room,
    /// Pods in the cluster, by name.
    there: BTreeMap<&'t str, usize>,
    /// When Pods end.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Moments that were heard of.
    heard: u64,
    running: u64,
    waiting: u64,
    played: Played,
}

impl<'t, P: Plays> Player<'t, P>
where
    P::Error: std::error::Error + Send + Sync + 'static,
{
    fn new(mut plays: P, trace: &'t Trace, others: &[Value]) -> Result<Self> {
        let mut objects = objects::cluster(&trace.nodes);
        objects.extend(others.iter().map(ToString::to_string));
        let found = plays.submit(&objects)?.into_iter().flatten();
        let errors = found.filter(|finding| finding.severity == Severity::Error);
        let problems = errors.map(|error| {
            let object = error.object.map(|object| format!("{object}: ")).unwrap_or_default();
            format!("{object}{}", error.message)
        });
        let problems = problems.collect();
        plays.begin()?;
        let start = plays.now()?;
        let room = Room::new(&trace.nodes, trace.pods.iter().map(|pod| pod.shape.clone()));
        let played = Played {
            fates: vec![Fate::default(); trace.pods.len()],
            samples: Vec::new(),
            end_millis: 0,
            most_waiting: 0,
            total: room.total(),
            work: 0,
            problems,
            is_restless: false,
        };
        let (there, ends) = (BTreeMap::new(), BinaryHeap::new());
        Ok(Self { plays, trace, start, now: 0, room, there, ends, heard: 0, running: 0, waiting: 0, played })
    }

    /// When the next Pod ends that has a node.
    fn next_end(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((at, _))| *at)
    }

    /// A Pod that has ended by now.
    fn ended(&mut self, now: u64) -> Option<usize> {
        self.next_end().filter(|at| *at <= now)?;
        self.ends.pop().map(|Reverse((_, index))| index)
    }

    /// Lets time pass until a moment, or until a Pod ends that is placed meanwhile. Returns the time.
    fn pass(&mut self, until: u64) -> Result<u64> {
        let mut until = until;
        while let Some(next) = self.plays.next_work()? {
            let next =
                u64::try_from(next.millis().saturating_sub(self.start.millis())).unwrap_or_default().max(self.now);
            if next > until || self.played.is_restless {
                break;
            }
            self.run_until(next)?;
            until = self.next_end().map_or(until, |end| until.min(end)).max(self.now);
        }
        self.run_until(until)?;
        Ok(self.now)
    }

    fn run_until(&mut self, until: u64) -> Result<()> {
        let settled = self.plays.run_until(self.start.plus_millis(i64::try_from(until)?))?;
        self.played.is_restless |= settled == Settled::Restless;
        let passed = until.saturating_sub(self.now);
        self.played.work =
            self.played.work.saturating_add(u128::from(self.room.used()).saturating_mul(u128::from(passed)));
        self.now = until;
        self.played.end_millis = until;
        self.hear()
    }

    /// Takes in what happened.
    fn hear(&mut self) -> Result<()> {
        let moments = self.plays.timeline(self.heard)?;
        self.heard = self.heard.saturating_add(u64::try_from(moments.len())?);
        for moment in moments.iter().filter(|moment| moment.object.kind == "Pod") {
            let Some(index) = self.there.get(moment.object.name.as_str()).copied() else { continue };
            match moment.happened {
                Happening::Placed => self.place(index, &moment.detail, moment.at_millis)?,
                Happening::Pending => {
                    if let Some(fate) = self.played.fates.get_mut(index) {
                        fate.why.clone_from(&moment.detail);
                    }
                }
                _ => {}
            }
        }
        self.played.most_waiting = self.played.most_waiting.max(self.waiting);
        Ok(())
    }

    fn place(&mut self, index: usize, node: &str, at: u64) -> Result<()> {
        let (Some(pod), Some(fate)) = (self.trace.pods.get(index), self.played.fates.get_mut(index)) else {
            return Ok(());
        };
        let claim = match pod.shape.gpus {
            0 => None,
            _ => self.plays.get(&ObjectRef::new("ResourceClaim", NAMESPACE, &pod.name))?,
        };
        *fate =
            Fate { placed: Some(at), node: node.to_owned(), gpus: gpus(&claim), why: String::new(), is_waiting: false };
        self.room.take(node, &pod.shape, &fate.gpus);
        self.running = self.running.saturating_add(1);
        self.waiting = self.waiting.saturating_sub(1);
        self.ends.extend(pod.duration.map(|duration| Reverse((at.saturating_add(duration), index))));
        Ok(())
    }

    fn arrive(&mut self, index: usize, pod: &'t Pod) -> Result<()> {
        for object in objects::of_pod(pod) {
            if let Err(refused) = self.plays.perform(Command::Create(object))? {
                self.played.problems.push(format!("Pod {}: {}", pod.name, refused.message));
                return Ok(());
            }
        }
        self.there.insert(&pod.name, index);
        self.waiting = self.waiting.saturating_add(1);
        if let Some(fate) = self.played.fates.get_mut(index) {
            fate.is_waiting = true;
        }
        Ok(())
    }

    /// A Pod ends, and goes with its claim.
    fn end(&mut self, index: usize) -> Result<()> {
        let (Some(pod), Some(fate)) = (self.trace.pods.get(index), self.played.fates.get(index)) else { return Ok(()) };
        self.room.give(&fate.node, &pod.shape, &fate.gpus);
        self.running = self.running.saturating_sub(1);
        self.there.remove(pod.name.as_str());
        let object = |kind: &str| ObjectRef::new(kind, NAMESPACE, &pod.name);
        let delete = |kind: &str| Command::Delete { object: object(kind), grace_seconds: Some(0) };
        let claim = (pod.shape.gpus > 0).then(|| delete("ResourceClaim"));
        let end = Command::Finish { pod: object("Pod"), succeeded: true };
        for command in [end, delete("Pod")].into_iter().chain(claim) {
            // What is gone already needs no end.
            let _ = self.plays.perform(command)?;
        }
        Ok(())
    }

    fn sample(&mut self) {
        self.played.samples.push(Sample {
            at_millis: self.now,
            running: self.running,
            waiting: self.waiting,
            used: self.room.used(),
            fragmentation: self.room.fragmentation(),
        });
    }
}

impl Fate {
    /// Whether it has waited for a node up to the end.
    pub(super) const fn is_waiting(&self) -> bool {
        self.is_waiting
    }
}

/// Places of a claim's GPUs on its node.
fn gpus(claim: &Option<Value>) -> Vec<usize> {
    let results = claim.as_ref().and_then(|claim| claim.pointer("/status/allocation/devices/results")?.as_array());
    let place = |result: &Value| result.get("device")?.as_str()?.strip_prefix("gpu-")?.parse().ok();
    results.into_iter().flatten().filter_map(place).collect()
}
