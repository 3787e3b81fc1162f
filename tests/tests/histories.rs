//! Recorded histories of real control planes: in `reference` mode the simulation does what was recorded, in `sound` mode it breaks no law.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests read files and say what they found")]

use std::path::{Path, PathBuf};

use apportion_core::check::{History, inspect};
use apportion_core::finding::{Code, Severity};
use apportion_core::wire;
use apportion_tests::baseline::Baseline;
use apportion_tests::corpus::{self, Case, Content};
use apportion_tests::history::{Play, Recorded, Way, check};
use apportion_tests::{Verdict, door};
use serde_json::{Value, json};

/// The fewest histories that count as a corpus.
const FEWEST: usize = 1000;

/// Of so many histories one is played here: all of them take minutes, and `cargo xtask conformance` plays them.
const ONE_OF: usize = 4;

fn recordings() -> (PathBuf, Vec<Case>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let cases = corpus::read(&root.join(corpus::OWN).join("histories")).unwrap();
    assert!(cases.len() >= FEWEST, "there are {} histories", cases.len());
    (root.to_owned(), cases.into_iter().step_by(ONE_OF).collect())
}

fn content(case: &Case) -> &Value {
    match &case.content {
        Content::Whole(content) => content,
        Content::Seed(..) => panic!("{} is no history", case.id),
    }
}

/// Whether a request says that a Pod has ended.
fn ends_a_pod(request: &Value) -> bool {
    request.pointer("/phase/phase").is_some_and(|phase| phase == "Succeeded" || phase == "Failed")
}

/// Each processor plays its share.
fn of_all(judge: impl Fn(&Path, &Case) -> Result<(), String> + Sync) {
    let (root, cases) = recordings();
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (root, judge) = (&root, &judge);
    let failed: Vec<String> = std::thread::scope(|scope| {
        let shares: Vec<_> = cases
            .chunks(cases.len().div_ceil(processors))
            .map(|share| {
                let judged = |case: &Case| judge(root, case).err().map(|why| format!("{}: {why}", case.id));
                scope.spawn(move || share.iter().filter_map(judged).collect::<Vec<_>>())
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    println!("{} histories", cases.len());
    assert!(failed.is_empty(), "{} of {} histories:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// Differences that have a reason are listed in the baseline, and have to be there.
#[test]
fn reference_mode_does_what_was_recorded() {
    let baseline = Baseline::parse(include_str!("../conformance/baseline.txt"));
    of_all(|root, case| {
        let (_, result) = check(content(case), door::open("native", root).unwrap().as_mut());
        baseline.judge(Verdict::new(case.id.clone(), result)).failure.map_or(Ok(()), Err)
    });
}

#[test]
fn sound_mode_breaks_no_law() {
    of_all(|root, case| {
        let recorded: Recorded = serde_json::from_value(content(case).clone()).unwrap();
        let history = recorded.requests()?;
        let mut door = door::open("native", root).unwrap();
        let mut play = Play::new(door.as_mut(), &recorded.kubernetes, "sound")?;
        let (profile, _) = wire::settings(play.settings().clone()).unwrap();
        play.call("keepHistory", &Value::Null)?;
        let (mut laws, mut seen) = (History::new(profile.clone()), 0);
        for (number, step) in history.steps.iter().enumerate() {
            play.step(&history, step, Way::default())?;
            let entries = play.call("history", &json!(seen))?;
            let mut broken = Vec::new();
            for entry in entries.as_array().into_iter().flatten() {
                seen += 1;
                let kind = match entry.pointer("/happened").and_then(Value::as_str) {
                    Some("added") => "ADDED",
                    Some("deleted") => "DELETED",
                    Some("modified") => "MODIFIED",
                    _ => continue,
                };
                broken.extend(laws.note(json!({ "type": kind, "object": entry.get("value") })));
            }
            let mut objects = Vec::new();
            for kind in ["DeviceClass", "Node", "Pod", "PodGroup", "ResourceClaim", "ResourceSlice"] {
                objects.extend(play.call("list", &json!(kind))?.as_array().cloned().unwrap_or_default());
            }
            broken.extend(inspect(objects, &profile, Some(play.now())));
            // A history removes nodes and not the Pods on them, and says of Pods that have ended that they run.
            let is_asked_for = |code: Code| match code {
                Code::CheckPodWithoutNode => true,
                Code::CheckPodWithoutClaim => history.steps.iter().take(number).flatten().any(ends_a_pod),
                _ => false,
            };
            broken.retain(|finding| finding.severity == Severity::Error && !is_asked_for(finding.code));
            if !broken.is_empty() {
                return Err(format!("step {number}: {}, after {}", json!(broken), json!(step)));
            }
        }
        Ok(())
    });
}
