//! Every recorded history, in both modes.
//!
//! `reference` mode gives what was recorded, defects included. Sound mode differs where the recording shows a defect.

use std::path::{Path, PathBuf};

use apportion_core::allocate::Limits;
use apportion_core::decision::Time;
use apportion_core::profile::{Mode, Profile};
use apportion_core::wire;
use apportion_core::{control_plane::Simulation, wire::simulation::call};
use serde_json::Value;

use crate::lifecycle_case::{Answers, replay};

/// The core itself.
struct Native(Simulation);

impl Answers for Native {
    fn create(&mut self, settings: Value, now_millis: i64) {
        let (profile, limits) = wire::settings(settings).unwrap();
        self.0 = Simulation::new(profile, limits, Time::from_millis(now_millis));
    }

    fn call(&mut self, name: &str, argument: Value) -> Value {
        let Ok(answer) = call(&mut self.0, name, argument);
        answer
    }
}

/// Histories that show a defect of the reference, and what happens instead.
const DEFECTS: [(&str, &str); 9] = [
    (
        "binding-conditions",
        "devices that their driver could not attach are given back at once, not at the next attempt",
    ),
    ("claim-recreated-other-entries", "the lost claim is made again and both entries are recorded, once"),
    ("foreign-claim-recorded", "the Pod gets its own claim recorded again, and nothing ends"),
    ("gang-group-and-private-claims", "each claim gets devices of its own class"),
    ("generated-claim-deleted", "the claims are made again at once, and members of the PodGroup get the new name"),
    ("long-names", "a name is not cut after a dot, so the claim can be made"),
    ("taint-noexecute-slice", "a toleration for every effect keeps the Pod from being evicted"),
    ("taint-rule-selectors", "a rule without selector taints nothing, for the scheduler, too"),
    ("workload", "members of a gang do not fail over their shared claim, so none waits when the step ends"),
];

fn histories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/lifecycle");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

/// Ids of histories that differ, with their differences.
fn differing(mode: Mode) -> Vec<(String, Vec<String>)> {
    let mut differing = Vec::new();
    for file in histories() {
        let case: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        let mut native = Native(Simulation::new(Profile::default(), Limits::default(), Time::default()));
        let differences = replay(&case, mode, &mut native);
        if !differences.is_empty() {
            println!("{id}: {} differences", differences.len());
            for difference in differences.iter().take(12) {
                println!("    {}", difference.chars().take(400).collect::<String>());
            }
            differing.push((id, differences));
        }
    }
    println!("{} histories, {} differ", histories().len(), differing.len());
    differing
}

#[test]
fn reference_mode_gives_the_recorded_histories() {
    let differing: Vec<String> = differing(Mode::Reference).into_iter().map(|(id, _)| id).collect();
    assert_eq!(differing, [""; 0]);
}

#[test]
fn sound_mode_differs_only_where_the_reference_is_wrong() {
    let differing: Vec<String> = differing(Mode::Sound).into_iter().map(|(id, _)| id).collect();
    let mut expected: Vec<String> = DEFECTS.iter().map(|(id, _)| (*id).to_owned()).collect();
    if histories().is_empty() {
        expected.clear();
    }
    assert_eq!(differing, expected);
}
