//! Random histories: what happened in a real control plane, recorded, and the same played in a simulation behind a door.
//!
//! A recording has the seed of the requests and, of each step, the codes of the answers and the lines of the state ([`crate::view`]) that
//! came (`+`) or went (`-`). What kube-scheduler draws at random shows where the history is played twice: it ends with the first step that
//! came out in two ways, and both are allowed.

use std::collections::BTreeSet;

use apportion_core::decision::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::door::Door;
use crate::generate::histories::{self, History};
use crate::seeds::digest;
use crate::view::{self, KINDS, Objects};

/// Feature gates of devices and groups, other than by default in some release. Both sides have the same.
pub const GATES: [(&str, bool); 20] = [
    ("DRAAdminAccess", true),
    ("DRAConsumableCapacity", true),
    ("DRADeviceBindingConditions", true),
    ("DRADeviceTaintRules", true),
    ("DRADeviceTaints", true),
    ("DRAExtendedResource", true),
    ("DRAListTypeAttributes", true),
    ("DRANodeAllocatableResources", true),
    ("DRAPartitionableDevices", true),
    ("DRAPrioritizedList", true),
    ("DRAResourceClaimDeviceStatus", true),
    ("DRAResourceClaimGranularStatusAuthorization", true),
    ("DRAResourcePoolStatus", true),
    ("DRASchedulerFilterTimeout", true),
    ("DRAWorkloadResourceClaims", true),
    ("GangScheduling", true),
    ("GenericWorkload", true),
    // What else could hold up or place Pods of groups stays off.
    ("TopologyAwareWorkloadScheduling", false),
    ("WorkloadAwarePreemption", false),
    ("WorkloadWithJob", false),
];

/// When histories start in a simulation.
const START: Time = Time::from_seconds(1_750_000_000);

/// Seconds between steps: longer than anything takes to settle.
const BETWEEN: i64 = 40;

/// How a step came out: first the codes of the answers, 0 where there was nothing to ask, then the lines of the state that came (`+`) and
/// went (`-`).
pub type Outcome = Vec<String>;

/// A recorded history.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The seed.
    pub history: u64,
    /// Of which generator.
    pub generator: u64,
    /// The patch release of the control plane.
    pub kubernetes: String,
    /// Digest of the requests: where it differs, the generator has changed and not the control plane.
    pub requests: String,
    /// The steps from the first on.
    pub steps: Vec<Outcome>,
    /// How the step after those came out, where that was drawn at random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub either: Vec<Outcome>,
}

impl Recorded {
    /// The requests.
    ///
    /// # Errors
    ///
    /// When today's generator makes others of the seed.
    pub fn requests(&self) -> Result<History, String> {
        let history = history(self.history, &self.kubernetes, "");
        if self.generator != histories::VERSION || requests_digest(&history) != self.requests {
            return Err("the generator makes another history of this seed: raise its VERSION, record again".to_owned());
        }
        Ok(history)
    }
}

/// The history of a seed for a patch release.
pub fn history(seed: u64, kubernetes: &str, run: &str) -> History {
    let minor = kubernetes.rsplit_once('.').map_or(kubernetes, |(minor, _)| minor);
    histories::history(seed, minor, run)
}

/// Digest of the requests of a history.
pub fn requests_digest(history: &History) -> String {
    digest(&json!(history.steps))
}

/// Whether a case is a recorded history.
pub fn is_case(content: &Value) -> bool {
    content.get("history").is_some()
}

/// How a step came out, from the states before and after it.
pub fn outcome(codes: &[u64], before: &[String], after: &[String]) -> Outcome {
    let codes: Vec<String> = codes.iter().map(u64::to_string).collect();
    let mut outcome = vec![codes.join(" ")];
    for (sign, some, others) in [("-", before, after), ("+", after, before)] {
        let mut others = others.to_vec();
        for line in some {
            match others.iter().position(|other| other == line) {
                Some(same) => drop(others.swap_remove(same)),
                None => outcome.push(format!("{sign}{line}")),
            }
        }
    }
    outcome
}

/// Plays a history in `reference` mode. Gives a digest of all that the door answered, and the first step that is not as recorded.
pub fn check(content: &Value, door: &mut dyn Door) -> (String, Result<(), String>) {
    let recorded: Recorded = match serde_json::from_value(content.clone()) {
        Ok(recorded) => recorded,
        Err(error) => return (String::new(), Err(error.to_string())),
    };
    let mut answers = Sha256::new();
    let result = compare(&recorded, door, &mut answers);
    let answers: String = answers.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    (answers, result)
}

/// What a step leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Way {
    /// What is asked for is seen one by one instead of together.
    pub one_by_one: bool,
    /// kube-controller-manager has forgotten which claims it made: it remembers the last 100, those of histories beside this one among them.
    pub forgotten: bool,
}

/// All ways in which a step may go, the usual one first.
const WAYS: [Way; 4] = [
    Way { one_by_one: false, forgotten: false },
    Way { one_by_one: true, forgotten: false },
    Way { one_by_one: false, forgotten: true },
    Way { one_by_one: true, forgotten: true },
];

/// Finds a way of each step that comes out as recorded, the last one in any way that was drawn.
fn compare(recorded: &Recorded, door: &mut dyn Door, answers: &mut Sha256) -> Result<(), String> {
    let drawn = |outcome: &Outcome| {
        let mut steps = recorded.steps.clone();
        steps.push(outcome.clone());
        Recorded { steps, either: Vec::new(), ..recorded.clone() }
    };
    let mut found = Ok(());
    for outcome in &recorded.either {
        found = compare_one(&drawn(outcome), door, answers);
        if found.is_ok() {
            return found;
        }
    }
    if recorded.either.is_empty() { compare_one(recorded, door, answers) } else { found }
}

/// The same where nothing was drawn.
fn compare_one(recorded: &Recorded, door: &mut dyn Door, answers: &mut Sha256) -> Result<(), String> {
    let history = recorded.requests()?;
    let mut ways = vec![0; history.steps.len()];
    let mut usual: Option<(usize, String)> = None;
    while let Some((number, why)) = play(recorded, &history, &ways, door, answers)? {
        if usual.as_ref().is_none_or(|(other, _)| *other != number) {
            usual = Some((number, why));
        }
        match ways.get_mut(number).filter(|way| **way + 1 < WAYS.len()) {
            Some(way) => *way += 1,
            None => return Err(usual.map(|(_, why)| why).unwrap_or_default()),
        }
    }
    Ok(())
}

/// The first step that did not come out as recorded, and how it did.
fn play(
    recorded: &Recorded,
    history: &History,
    ways: &[usize],
    door: &mut dyn Door,
    answers: &mut Sha256,
) -> Result<Option<(usize, String)>, String> {
    let mut play = Play::new(door, &recorded.kubernetes, "reference")?;
    for (number, step) in history.steps.iter().enumerate() {
        let Some(expected) = recorded.steps.get(number) else { break };
        let later = recorded.steps.iter().skip(number);
        let step: Vec<Value> = step.iter().map(|request| sent_to_its_node(request, history, later.clone())).collect();
        let way = ways.get(number).and_then(|way| WAYS.get(*way)).copied().unwrap_or_default();
        let found = play.step(history, &step, way)?;
        answers.update(json!(found).to_string());
        if found != *expected {
            let (found, expected) = (surplus(&found, expected), surplus(expected, &found));
            return Ok(Some((number, format!("step {number}: {found} instead of {expected}, after {}", json!(step)))));
        }
    }
    Ok(None)
}

/// The creation of a Pod that may go to several nodes, as one of a Pod for the node that it was given: kube-scheduler draws one of those that
/// fit equally well. Other requests stay as they are.
fn sent_to_its_node<'o>(request: &Value, history: &History, later: impl Iterator<Item = &'o Outcome>) -> Value {
    let mut request = request.clone();
    let name = request.pointer("/create/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let came = format!("+Pod {name}: ");
    let node = later.flatten().filter(|line| line.starts_with(&came)).find_map(|line| {
        let node = line.split(", ").find_map(|part| part.strip_prefix("on "))?;
        Some(format!("{}-{node}", history.name))
    });
    if let (Some(node), Some(Value::Object(selector))) = (node, request.pointer_mut("/create/spec/nodeSelector")) {
        selector.entry("kubernetes.io/hostname").or_insert(json!(node));
    }
    request
}

/// What one outcome has that another has not.
fn surplus(outcome: &[String], other: &[String]) -> String {
    let other: BTreeSet<&String> = other.iter().collect();
    let lines: Vec<&str> = outcome.iter().filter(|line| !other.contains(line)).map(String::as_str).collect();
    format!("[{}]", lines.join("; "))
}

/// A simulation behind a door in which a history is played.
pub struct Play<'d> {
    door: &'d mut dyn Door,
    settings: Value,
    end: Time,
    state: Vec<String>,
}

impl<'d> Play<'d> {
    /// A simulation of a patch release.
    ///
    /// # Errors
    ///
    /// When the door breaks.
    pub fn new(door: &'d mut dyn Door, kubernetes: &str, mode: &str) -> Result<Self, String> {
        let gates: Map<String, Value> = GATES.iter().map(|(name, on)| ((*name).to_owned(), json!(on))).collect();
        let settings = json!({ "version": kubernetes, "featureGates": gates, "mode": mode });
        let mut play = Self { door, settings, end: START, state: Vec::new() };
        play.life(&json!({ "settings": play.settings, "nowMillis": START.millis() }))?;
        Ok(play)
    }

    /// Makes the requests of a step and lets everything settle. Gives how it came out.
    ///
    /// # Errors
    ///
    /// When the door breaks.
    pub fn step(&mut self, history: &History, step: &[Value], way: Way) -> Result<Outcome, String> {
        if way.forgotten {
            self.call("perform", &json!({ "restart": { "component": "kube-controller-manager" } }))?;
            self.call("runUntil", &json!(self.end.millis()))?;
        }
        let mut codes = Vec::new();
        for request in step {
            codes.push(self.request(request)?);
            if way.one_by_one {
                self.call("runUntil", &json!(self.end.millis()))?;
            }
        }
        self.end = self.end.plus_seconds(BETWEEN);
        self.call("runUntil", &json!(self.end.millis()))?;
        let mut objects = Objects::new();
        for kind in KINDS {
            objects.insert(kind, self.call("list", &json!(kind))?.as_array().cloned().unwrap_or_default());
        }
        let state = view::state(&objects, &history.name);
        let outcome = outcome(&codes, &self.state, &state);
        self.state = state;
        Ok(outcome)
    }

    /// The settings of the simulation, as `wire::settings` reads them.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// When the last step ended.
    pub fn now(&self) -> Time {
        self.end
    }

    /// One call of the simulation.
    ///
    /// # Errors
    ///
    /// When the door breaks.
    pub fn call(&mut self, name: &str, argument: &Value) -> Result<Value, String> {
        self.life(&json!({ "call": name, "argument": argument }))
    }

    fn life(&mut self, question: &Value) -> Result<Value, String> {
        let answer = self.door.life(question).map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| error.to_string())
    }

    /// The code of the answer to a request; 0 where there is nothing to ask.
    fn request(&mut self, request: &Value) -> Result<u64, String> {
        let (pod, phase) = (request.pointer("/phase/pod"), request.pointer("/phase/phase"));
        let command = if let Some(pod) = pod.or_else(|| request.get("deleteClaimOf")) {
            match dependent(&self.call("get", pod)?, pod, phase) {
                Some(command) => command,
                None => return Ok(0),
            }
        } else {
            request.clone()
        };
        let answer = self.call("perform", &command)?;
        Ok(match answer.pointer("/refused/status").and_then(Value::as_u64) {
            Some(status) => status,
            None if command.get("create").is_some() => 201,
            None => 200,
        })
    }
}

/// The command of a request that depends on the Pod as it is stored: what a kubelet says of it (`phase`), where it has a node and stays, or
/// the deletion of the claim of its first entry.
pub fn dependent(stored: &Value, pod: &Value, phase: Option<&Value>) -> Option<Value> {
    let Some(phase) = phase else {
        let claim = stored.pointer("/status/resourceClaimStatuses/0/resourceClaimName")?.as_str()?;
        let key = json!({ "kind": "ResourceClaim", "namespace": pod.get("namespace"), "name": claim });
        return Some(json!({ "delete": { "object": key } }));
    };
    let is_there =
        stored.pointer("/spec/nodeName").is_some() && stored.pointer("/metadata/deletionTimestamp").is_none();
    let fields = json!({ "status": { "phase": phase } });
    is_there.then(|| json!({ "patch": { "object": pod, "fields": fields, "status": true } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_counts_equal_lines() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(outcome(&[201, 0], &lines("a b b"), &lines("a b c")), ["201 0", "-b", "+c"]);
    }

    #[test]
    fn a_pod_without_a_node_has_no_kubelet() {
        let (pod, phase) = (json!({ "name": "p" }), json!("Running"));
        assert_eq!(dependent(&json!({ "spec": {} }), &pod, Some(&phase)), None);
        assert!(dependent(&json!({ "spec": { "nodeName": "a" } }), &pod, Some(&phase)).is_some());
    }
}
