//! Histories that were recorded of a control plane, played with our parts in place of its controllers: the same settled states, but
//! where ours deviates on purpose.

use std::env;
use std::time::Instant;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::control_plane::{ControlPlane, SCHEDULER};
use crate::deployment::install;
use crate::deviations::{Deviation, deviations};
use crate::play::{Play, recorded};
use crate::program::Running;
use crate::recordings::{histories, text};

/// Who answers questions about pools, from the claims that our parts leave behind. No part of ours does that.
const ANSWERS: &str = "resourcepoolstatusrequest-controller";

/// What only the history of Jobs needs; without Jobs it does nothing.
const JOBS: (&str, &str) = ("job-controller", "WorkloadWithJob");

/// Our parts that take the place of upstream's controllers.
const PARTS: &str = "claims,podgroup-protection,taint-eviction";

/// Histories whose Pods our scheduler places: kube-scheduler of 1.36.2 takes devices that a rule taints, that of 1.36.3, which they were
/// recorded of, does not.
const PLACED_BY_OURS: [&str; 3] = ["taint-rule-noexecute", "taint-rule-other-effects", "taint-rule-selectors"];

/// Starts parts, with some features other than usual.
fn start_ours(plane: &ControlPlane, parts: &str, others: &[(String, bool)]) -> Running {
    let mut arguments: Vec<String> = ["--qps", "500", "--burst", "500"].map(str::to_owned).to_vec();
    for (gate, on) in others {
        arguments.extend(["--feature-gates".to_owned(), format!("{gate}={on}")]);
    }
    let running = Running::start(plane, parts, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    plane.until("the lease", 30, |_| running.leads().then_some(()));
    running
}

/// Restarts what a step restarts: the scheduler, or in the place of upstream's controllers ours.
fn restart(plane: &mut ControlPlane, running: Running, step: &Value) -> Running {
    let Some(request) = step["do"].as_array().unwrap().iter().find(|request| request["verb"] == "restart") else {
        return running;
    };
    let gates = request["featureGates"].as_object().unwrap();
    let others: Vec<(String, bool)> = gates.iter().map(|(gate, on)| (gate.clone(), on == true)).collect();
    if request["component"] == "kube-scheduler" {
        plane.stop_scheduler();
        plane.start_scheduler_with(&others);
        return running;
    }
    running.stop();
    start_ours(plane, PARTS, &others)
}

/// What a step must lead to.
fn states(step: &Value, deviation: Option<&Deviation>) -> Vec<Value> {
    let recorded = recorded(step);
    match deviation {
        Some(deviation) => deviation.states(&recorded),
        None => vec![recorded],
    }
}

/// Now and then kube-scheduler takes a claim for free that it has allocated itself. Then it tries again without end to place the Pods
/// that share it, until it is started anew. True where that has happened.
fn scheduler_is_stuck(plane: &ControlPlane, space: &str) -> bool {
    let claim = format!("claim {space}/");
    plane.scheduler_says(&["Error scheduling pod", &claim, "got allocated elsewhere in the meantime"]) >= 4
}

/// Control planes that histories are played in side by side: most of a step is waiting for nothing more to happen.
const PLANES: usize = 3;

/// What came of playing histories.
#[derive(Default)]
struct Tally {
    histories: usize,
    steps: usize,
    /// Steps that settle otherwise on purpose.
    deviated: usize,
    /// Steps that settled as nothing said.
    differences: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.deviated += other.deviated;
        self.differences.extend(other.differences);
    }
}

/// Plays one history up to the first step that settles otherwise than it must.
fn play(plane: &mut ControlPlane, mut running: Running, history: &Value, tally: &mut Tally) -> Running {
    let (id, deviations) = (text(history, "id"), deviations());
    let scheduler = PLACED_BY_OURS.contains(&id).then_some("apportion");
    if scheduler.is_some() {
        running.stop();
        running = start_ours(plane, &format!("{PARTS},scheduler"), &[]);
    }
    let start = Timestamp::now();
    for (number, step) in history["steps"].as_array().unwrap().iter().enumerate() {
        tally.steps += 1;
        running = restart(plane, running, step);
        let deviation = deviations.iter().find(|one| (one.history, one.step) == (id, number));
        tally.deviated += usize::from(deviation.is_some());
        let states = states(step, deviation);
        let play = Play { plane, space: id, start, scheduler };
        let refused = play.requests(step);
        let was_taken = refused.is_none();
        let mut difference = refused.or_else(|| play.settles(&states));
        if was_taken && difference.is_some() && scheduler_is_stuck(plane, id) {
            println!("{id}, {}: kube-scheduler is stuck and started anew", text(step, "title"));
            plane.restart(SCHEDULER);
            difference = Play { plane, space: id, start, scheduler }.settles(&states);
        }
        if let Some(difference) = difference {
            let why = deviation.map(|deviation| deviation.why).unwrap_or_default();
            println!("{id}, {} ({why}): {difference}", text(step, "title"));
            tally.differences.push(format!("{id}, {}", text(step, "title")));
            break;
        }
        if step["crashed"].is_array() {
            plane.restart(SCHEDULER);
        }
    }
    tally.histories += 1;
    Play { plane, space: id, start, scheduler }.clear();
    if scheduler.is_some() {
        running.stop();
        running = start_ours(plane, PARTS, &[]);
    }
    running
}

/// Plays histories in a control plane of their own.
fn play_all<'h>(name: &str, histories: impl Iterator<Item = &'h Value>) -> Tally {
    let (controller, feature) = JOBS;
    let mut plane = ControlPlane::with_features(name, &[controller, ANSWERS], &[(feature.to_owned(), true)]);
    install(&plane);
    let (mut running, mut tally) = (start_ours(&plane, PARTS, &[]), Tally::default());
    for history in histories {
        running = play(&mut plane, running, history, &mut tally);
    }
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
    tally
}

/// `APPORTION_HISTORIES` names the folder, without which `cargo xtask e2e` leaves this out, and `APPORTION_HISTORY` the only one to play.
#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn recorded_histories_settle_in_the_recorded_states() {
    let (mut all, deviations) = (histories(), deviations());
    for id in deviations.iter().map(|one| one.history) {
        assert!(all.iter().any(|history| text(history, "id") == id), "{id} exists");
    }
    let only = env::var("APPORTION_HISTORY").ok();
    if let Some(only) = &only {
        all.retain(|history| text(history, "id") == only);
    }
    let (start, all) = (Instant::now(), &all);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let planes = (0..PLANES.min(all.len())).map(|first| {
            let theirs = all.iter().skip(first).step_by(PLANES);
            scope.spawn(move || play_all(&format!("histories-{first}"), theirs))
        });
        for plane in planes.collect::<Vec<_>>() {
            tally.add(plane.join().unwrap());
        }
    });
    println!(
        "{} histories with {} steps, {} of them otherwise, {:.0} s",
        tally.histories,
        tally.steps,
        tally.deviated,
        start.elapsed().as_secs_f64()
    );
    assert_eq!(tally.differences, [""; 0]);
    assert!(only.is_some() || tally.deviated == deviations.len(), "every deviation was met");
}
