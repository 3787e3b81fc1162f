//! Replicas in a world where everything fails for a while, and then nothing any more.

use std::sync::Arc;
use std::time::Duration;

use apportion::Runner;
use apportion_core::check::unsettled;
use apportion_core::controller::Settings;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Ranking, Release};
use clap::{Args, Command, FromArgMatches};
use serde_json::Value;
use tokio::sync::watch;
use tracing::info;

use super::api_server::Store;
use super::defect::{self, Defect};
use super::laws::Laws;
use super::network::Network;
use super::processor::{self, WORLD, below, elapsed, happens, one, spawn_on};
use super::users;
use crate::controller::arguments::ControllerArguments;
use crate::controller::metrics::Metrics;
use crate::controller::parts::PartName;
use crate::controller::replica::Replica;
use crate::controller::runtime;
use crate::controller::serve::Health;

/// Replicas.
const REPLICAS: usize = 3;

/// Steps in which something fails, before nothing does for a while.
const ROUND: u64 = 1000;

/// Steps of users in which nothing fails but that answers are late and watches miss something.
const CALM: u64 = 100;

/// Versions of Kubernetes that replicas are told.
const VERSIONS: [&str; 3] = ["all", "1.36", "1.37"];

/// How long nothing has to be written until everything counts as settled: longer than the longest pause between two tries.
const QUIET: u64 = 400;

/// A defect that a run is to find.
#[derive(Clone, Copy)]
pub(super) struct Planted {
    pub(super) defect: Defect,
    /// What the law says that it breaks.
    pub(super) words: &'static str,
    /// What has to fail for it to show.
    pub(super) faults: &'static [FaultKind],
}

/// What may fail beside the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaultKind {
    /// A machine reaches nobody.
    Partition,
    /// A process is stopped for a while.
    Stop,
    /// A machine is stopped for a while, and its monotonic clock with it.
    StandStill,
    /// The same with all of its clocks, one of which somebody sets right later.
    StandStillBehind,
    /// A process ends without a word.
    Kill,
    /// A process ends in an orderly way.
    End,
    /// Watches end.
    Cut,
    /// Watches end, and what has happened so far is not told any more.
    Forget,
    /// The component stops in its next call.
    Trap,
}

/// In the proportions in which they happen.
pub(super) const ALL_FAULTS: &[FaultKind] = &[
    FaultKind::Partition,
    FaultKind::Partition,
    FaultKind::Stop,
    FaultKind::StandStill,
    FaultKind::StandStillBehind,
    FaultKind::Kill,
    FaultKind::End,
    FaultKind::Cut,
    FaultKind::Forget,
    FaultKind::Trap,
];

/// What a run was like.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    /// All changes, in one number.
    pub(super) history: u64,
    pub(super) changes: u64,
    pub(super) steps: u64,
    pub(super) rounds: u64,
    pub(super) terms: usize,
    pub(super) virtual_seconds: u64,
    pub(super) broken: Vec<String>,
}

/// Plays until so many steps are done, or a law is broken. A step is a request that was answered, or something that somebody did or
/// that failed. With a planted defect only what it needs fails, and only what has its words counts.
pub(super) fn play(seed: u64, steps: u64, planted: Option<Planted>) -> Outcome {
    defect::plant(planted.map(|planted| planted.defect));
    let (faults, words) = planted.map_or((ALL_FAULTS, ""), |planted| (planted.faults, planted.words));
    let outcome = processor::run(seed, REPLICAS, async move { World::new(faults).play(steps, words).await });
    defect::plant(None);
    outcome
}

struct World {
    network: Arc<Network>,
    runner: Runner,
    laws: Laws,
    /// Those that run, each with its version of Kubernetes and what stops it.
    running: Vec<Option<(&'static str, watch::Sender<bool>)>>,
    /// From when on another one may run there.
    free: Vec<Duration>,
    faults: &'static [FaultKind],
    starts: u64,
    acts: u64,
    rounds: u64,
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn profile(version: &str) -> Profile {
    Profile { placement: Ranking::Scores, ..Profile::of(Release::parse(version).unwrap()) }
}

fn arguments() -> ControllerArguments {
    const PARTS: &str = "template-sync,explainer,conditions,claims,podgroup-protection,taint-eviction,scheduler";
    let command = ControllerArguments::augment_args(Command::new("controller").no_binary_name(true));
    let given = command.get_matches_from(["--namespace", users::HOME, "--controllers", PARTS]);
    ControllerArguments::from_arg_matches(&given).unwrap()
}

impl World {
    fn new(faults: &'static [FaultKind]) -> Self {
        let network = Network::new();
        network.given(users::begin);
        Self {
            network,
            runner: Runner::new().unwrap(),
            laws: Laws::new(),
            running: (0..=REPLICAS).map(|_| None).collect(),
            free: vec![Duration::ZERO; REPLICAS + 1],
            faults,
            starts: 0,
            acts: 0,
            rounds: 0,
        }
    }

    fn steps(&self) -> u64 {
        self.acts + self.network.weather().answered
    }

    async fn play(mut self, steps: u64, words: &'static str) -> Outcome {
        while self.steps() < steps && self.laws.broken.is_empty() {
            self.rounds += 1;
            self.fail(steps.min(self.steps() + ROUND)).await;
            self.laws.broken.retain(|found| found.contains(words));
            self.settle().await;
            self.laws.broken.retain(|found| found.contains(words));
        }
        let (changes, terms) = self.network.look(|store| {
            let terms = store.get("leases", users::HOME, "apportion-controller");
            (store.version, terms.and_then(|lease| lease["spec"]["leaseTransitions"].as_u64()).unwrap_or(0))
        });
        Outcome {
            history: self.laws.hash,
            changes,
            steps: self.steps(),
            rounds: self.rounds,
            terms: usize::try_from(terms).unwrap(),
            virtual_seconds: elapsed().as_secs(),
            broken: self.laws.broken,
        }
    }

    /// Everything fails for a while.
    async fn fail(&mut self, end: u64) {
        self.network.weather().is_bad = true;
        let mut next = elapsed();
        while self.steps() < end && self.laws.broken.is_empty() {
            for (machine, version) in (1..=REPLICAS).map(|machine| (machine, one(&VERSIONS))) {
                if self.running[machine].is_none() && elapsed() >= self.free[machine] && happens(300) {
                    self.start(machine, version);
                }
            }
            self.acts += 1;
            match elapsed() >= next {
                true => {
                    self.fault();
                    next = elapsed() + seconds(1 + below(12));
                }
                false => self.network.given(users::act),
            }
            self.note();
            let pause = if happens(30) { below(20_000) } else { below(500) };
            runtime::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn note(&mut self) {
        let laws = &mut self.laws;
        self.network.look(|store| laws.note(store));
    }

    fn start(&mut self, machine: usize, version: &'static str) {
        let (stop, mut stopped) = watch::channel(false);
        self.running[machine] = Some((version, stop));
        self.starts += 1;
        let (client, runner, number) = (self.network.client(machine), self.runner.clone(), self.starts);
        spawn_on(machine, async move {
            let arguments = arguments();
            let (health, metrics) = (Health::new(arguments.reconcilers().unwrap().len()), Metrics::new());
            let replica = Replica {
                client,
                runner: &runner,
                arguments: &arguments,
                profile: &profile(version),
                identity: &format!("replica-{machine}-{number}"),
                health: Arc::new(health),
                metrics: Arc::new(metrics),
            };
            let running = replica.start(stopped.clone()).await.unwrap();
            let _ = stopped.changed().await;
            running.ended().await.unwrap();
        });
    }

    /// Something fails, and is put right again.
    fn fault(&mut self) {
        let (network, length) = (Arc::clone(&self.network), Duration::from_millis(one(&[800, 6000, 20_000, 40_000])));
        let machine = match below(2) {
            // Mostly the one that matters.
            0 => self.leader().unwrap_or(1),
            _ => 1 + usize::try_from(below(REPLICAS as u64)).unwrap(),
        };
        let fault = one(self.faults);
        info!(?fault, machine, ?length, "a fault");
        match fault {
            FaultKind::Partition => spawn_on(WORLD, async move {
                network.weather().cut.insert(machine);
                runtime::sleep(length).await;
                network.weather().cut.remove(&machine);
            }),
            FaultKind::Stop | FaultKind::StandStill | FaultKind::StandStillBehind => {
                if !processor::stand(machine, true) {
                    return;
                }
                spawn_on(WORLD, async move {
                    runtime::sleep(length).await;
                    processor::set_behind(machine, |behind| match fault {
                        FaultKind::StandStill => behind.0 += length,
                        FaultKind::StandStillBehind => *behind = (behind.0 + length, behind.1 + length),
                        _ => {}
                    });
                    processor::stand(machine, false);
                    runtime::sleep(seconds(below(20))).await;
                    processor::set_behind(machine, |behind| behind.1 = Duration::ZERO);
                });
            }
            FaultKind::Kill => {
                processor::kill(machine);
                self.running[machine] = None;
            }
            FaultKind::End => {
                let Some((_, stop)) = self.running[machine].take() else { return };
                stop.send_replace(true);
                self.free[machine] = elapsed() + seconds(6);
                spawn_on(WORLD, async move {
                    runtime::sleep(seconds(5)).await;
                    processor::kill(machine);
                });
            }
            FaultKind::Cut => network.given(|store| store.cut += 1),
            FaultKind::Forget => network.given(forget),
            FaultKind::Trap => defect::stop(),
        }
    }

    /// Which machine has the Lease.
    fn leader(&self) -> Option<usize> {
        let lease = self.network.look(|store| store.get("leases", users::HOME, "apportion-controller"))?;
        lease["spec"]["holderIdentity"].as_str()?.split('-').nth(1)?.parse().ok()
    }

    /// What has begun to fail is put right.
    async fn mend(&mut self) {
        self.network.weather().is_bad = false;
        runtime::sleep(seconds(10)).await;
        for machine in 1..=REPLICAS {
            if self.running[machine].is_none() {
                self.start(machine, one(&VERSIONS));
            }
        }
        runtime::sleep(seconds(60)).await;
    }

    /// Users go on under a leader that stays: what it takes for true and is wrong is put right by no other.
    async fn calm(&mut self) {
        self.network.weather().is_slow = true;
        for _ in 0..CALM {
            self.acts += 1;
            self.network.given(|store| match happens(50) {
                true => forget(store),
                false => users::act_on_copies(store),
            });
            self.note();
            runtime::sleep(Duration::from_millis(below(500))).await;
        }
        self.network.weather().is_slow = false;
    }

    /// Nothing fails any more: after a while nothing is written, and a fresh start would not write either.
    async fn settle(&mut self) {
        self.mend().await;
        self.calm().await;
        let begun = elapsed();
        let mut last = (0, elapsed());
        while elapsed() < last.1 + seconds(QUIET) {
            self.network.given(|store| {
                users::sweep(store);
                store.collect_garbage();
            });
            runtime::sleep(seconds(10)).await;
            self.note();
            let writes = self.network.look(|store| store.writes());
            if writes != last.0 {
                last = (writes, elapsed());
            }
            if elapsed() > begun + seconds(7200) {
                let requests = self.network.look(|store| store.requests.clone());
                let last = requests.iter().rev().find(|request| request.is_write());
                self.laws.broken.push(format!("it does not come to rest: {last:?}"));
            }
            if !self.laws.broken.is_empty() {
                return;
            }
        }
        let leads = self.leader().and_then(|leader| Some((leader, self.running[leader].as_ref()?.0)));
        let Some((leader, version)) = leads else { return self.laws.broken.push("nobody leads".to_owned()) };
        let objects: Vec<Value> = self.network.given(|store| {
            store.requests.clear();
            store.compacted = store.version;
            store.changes.clear();
            store.forget_events();
            store.all().filter(|one| one["kind"] != "Lease" && one["kind"] != "Event").cloned().collect()
        });
        let mut texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        info!(objects = texts.join("\n"), "at rest");
        let arguments = arguments();
        for part in arguments.reconcilers().unwrap() {
            if part == PartName::Scheduler {
                texts = objects.iter().cloned().map(without_beginning).map(|one| one.to_string()).collect();
            }
            let settings = Settings {
                part: part.part(),
                home: users::HOME.to_owned(),
                allow_admin_access: false,
                conditions: true,
            };
            let found = unsettled(texts.iter().map(String::as_str), &profile(version), settings, runtime::time());
            let found =
                found.iter().filter(|one| !one.object.as_ref().is_some_and(|object| is_only_told(part, object)));
            self.laws.broken.extend(found.map(|one| format!("{:?}: {}: {one:?}", elapsed(), part.text())));
        }
        self.laws.is_at_rest = true;
        self.network.given(users::make_strange);
        self.note();
        self.laws.is_at_rest = false;
        // Somebody begins anew, and has never known the source as it was.
        match leader {
            machine if happens(500) => {
                processor::kill(machine);
                self.start(machine, one(&VERSIONS));
            }
            _ => defect::stop(),
        }
        runtime::sleep(seconds(100)).await;
        self.note();
    }

    /// How many copies are left, second by second, after their namespaces lost a label. For a while leaders end, or their component does.
    async fn relabel(mut self, seconds_of_trouble: u64) -> Vec<usize> {
        let namespaces = |team| (0..30).map(move |number| users::namespace(&format!("many-{number}"), team));
        self.network.given(|store| {
            namespaces("ml").for_each(|one| store.put(one));
            store.put(users::source_for_label("s-0"));
        });
        self.mend().await;
        self.network.given(|store| namespaces("web").for_each(|one| store.put(one)));
        let begun = elapsed();
        let mut left = Vec::new();
        let mut next = begun;
        while elapsed() < begun + seconds(900) {
            if elapsed() >= next && elapsed() < begun + seconds(seconds_of_trouble) {
                next = elapsed() + seconds(5 + below(40));
                match self.leader() {
                    Some(machine) if happens(700) => {
                        processor::kill(machine);
                        self.start(machine, one(&VERSIONS));
                    }
                    _ => defect::stop(),
                }
            }
            left.push(
                self.network
                    .look(|store| store.of("resourceclaimtemplates").filter(|one| users::is_in_many(one)).count()),
            );
            runtime::sleep(seconds(1)).await;
        }
        left
    }
}

/// See [`World::relabel`].
pub(super) fn relabel(seed: u64, seconds_of_trouble: u64, planted: Option<Defect>) -> Vec<usize> {
    defect::plant(planted);
    let left = processor::run(seed, REPLICAS, async move { World::new(ALL_FAULTS).relabel(seconds_of_trouble).await });
    defect::plant(None);
    left
}

/// Watches end, and what has happened so far is not told any more.
fn forget(store: &mut Store) {
    store.cut += 1;
    store.compacted = store.version;
}

/// A claim without the finalizer that it got in an attempt to give it devices: a new leader takes it away before anything else.
fn without_beginning(mut object: Value) -> Value {
    if object["kind"] == "ResourceClaim" && object["status"]["allocation"].is_null() {
        object["metadata"]["finalizers"] = Value::Null;
    }
    object
}

/// What is told in a status, and is not the same after a start: how many Pods were evicted since then, and why a Pod waits, of which a
/// late word of an earlier leader stays until the Pod is looked at again.
fn is_only_told(part: PartName, object: &ObjectRef) -> bool {
    matches!(
        (part, object.kind.as_str()),
        (PartName::TaintEviction, "DeviceTaintRule") | (PartName::Scheduler | PartName::Explainer, "Pod")
    )
}
