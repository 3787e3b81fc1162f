//! Histories that were recorded of a control plane, played with our parts in place of its controllers: the same settled states.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::namespace;
use crate::placing::GROUPS;
use crate::program::Running;
use crate::requests::Refused;
use crate::twins::view;

/// How long a state must last to be the settled one.
const QUIET: Duration = Duration::from_millis(1200);

/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_secs(40);

/// Seen with upstream's controllers, too.
const RULES: &str = "kube-scheduler of 1.36.2 places Pods here on devices that a rule taints, that of 1.36.3 did not";

/// Histories that are not played, and why.
const LEFT_OUT: [(&str, &str); 16] = [
    ("claim-recreated-other-entries", "shows a defect: two entries of a Pod are recorded in turn for ever"),
    ("foreign-claim-recorded", "shows a defect: upstream's controller ends"),
    ("generated-claim-deleted", "shows a defect: a deleted generated claim is not made again"),
    ("job-workload", "needs a feature of Jobs that is off here"),
    ("long-names", "shows a defect: a name that no object can have"),
    ("partitionable", "which device is left depends on whom kube-scheduler tries first"),
    ("podgroup-300-pods", "its requests are not recorded one by one"),
    ("pool-status-request", "no part of ours answers such requests"),
    ("reservation-limit", "its requests are not recorded one by one"),
    ("shared-claim-contention", "its requests are not recorded one by one"),
    ("taint-noexecute-slice", "shows a defect: a toleration for every effect does not keep a Pod"),
    ("taint-rule-deleted", "ends before its rule says that nobody is left to be evicted"),
    ("taint-rule-noexecute", RULES),
    ("taint-rule-other-effects", RULES),
    ("taint-rule-selectors", RULES),
    ("workload", "ends while a Pod waits for kube-scheduler to try it again"),
];

/// Kinds that requests name without their version.
const KINDS: [(&str, &str); 9] = [
    ("DeviceClass", "resource.k8s.io/v1"),
    ("DeviceTaintRule", "resource.k8s.io/v1beta2"),
    ("Namespace", "v1"),
    ("Node", "v1"),
    ("Pod", "v1"),
    ("PodGroup", GROUPS),
    ("ResourceClaim", "resource.k8s.io/v1"),
    ("ResourceClaimTemplate", "resource.k8s.io/v1"),
    ("ResourceSlice", "resource.k8s.io/v1"),
];

/// Kinds that have no namespace and would play a part in the next history.
const CLUSTER_WIDE: [&str; 4] = ["DeviceTaintRule", "ResourceSlice", "DeviceClass", "Node"];

fn histories() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/lifecycle");
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// A history that is being played in a namespace of its own.
struct Play<'p> {
    plane: &'p ControlPlane,
    space: &'p str,
    start: Timestamp,
}

impl Play<'_> {
    fn list(&self, api_version: &str, kind: &str) -> Vec<Value> {
        let mut all = self.plane.requests.list(api_version, kind);
        let is_here = |one: &Value| {
            let space = &one["metadata"]["namespace"];
            space.is_null() || *space == *self.space
        };
        all.retain(is_here);
        all
    }

    /// A kind and a name of the recording, as they are here. Names that were drawn are known by what comes before.
    fn stub(&self, kind: &str, name: &str) -> Value {
        let (_, api_version) = KINDS.iter().find(|(known, _)| *known == kind).unwrap();
        let mut name = name.to_owned();
        if let Some((start, _)) = name.clone().split_once("<rand5") {
            let found =
                self.list(api_version, kind).into_iter().find(|one| text(&one["metadata"], "name").starts_with(start));
            name = found.map(|found| text(&found["metadata"], "name").to_owned()).unwrap_or(name);
        }
        json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": self.space } })
    }

    /// A time of the recording, which counts seconds from its start.
    fn time(&self, text: &str) -> Option<Value> {
        let seconds = text.strip_prefix('T').filter(|rest| rest.starts_with(['+', '-']))?.parse().ok()?;
        Some(json!((self.start + SignedDuration::from_secs(seconds)).to_string()))
    }

    /// Puts UIDs and times in the place of those that the recording names.
    fn translated(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if self.time(text).is_some() => self.time(text).unwrap(),
            Value::String(text) => match text.strip_prefix("uid:").and_then(|rest| rest.split_once('/')) {
                Some((kind, name)) => {
                    let (kind, _) = KINDS.iter().find(|(known, _)| known.to_lowercase() == kind).unwrap();
                    let found = self.plane.requests.get(&self.stub(kind, name));
                    found.map_or(Value::Null, |found| found["metadata"]["uid"].clone())
                }
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.translated(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, field)| (name.clone(), self.translated(field))).collect())
            }
            _ => value.clone(),
        }
    }

    fn request(&self, request: &Value) -> Result<(), Refused> {
        let (requests, part) = (&self.plane.requests, text(request, "subresource"));
        match text(request, "verb") {
            "create" => {
                let object = self.translated(&request["object"]);
                requests.try_create(&object, "")?;
                if object["kind"] == "Node" && object["status"].is_object() {
                    requests.set_status(&object, object["status"].clone());
                }
            }
            "delete" => {
                let grace = request["gracePeriodSeconds"].as_i64();
                requests.try_delete_within(&self.stub(text(request, "kind"), text(request, "name")), grace)?;
            }
            "patch" => {
                let object = self.stub(text(request, "kind"), text(request, "name"));
                requests.try_merge(&object, part, &self.translated(&request["patch"]))?;
            }
            "update" => {
                let given = self.translated(&request["object"]);
                let mut object = requests.get(&self.stub(text(request, "kind"), text(request, "name"))).unwrap();
                // What was allocated is as it is here, down to the time.
                let allocation = object["status"]["allocation"].clone();
                for field in ["spec", "status"] {
                    object[field] = given[field].clone();
                }
                if allocation.is_object() && object["status"]["allocation"].is_object() {
                    object["status"]["allocation"] = allocation;
                }
                requests.try_replace(&object, part)?;
            }
            verb => panic!("{verb} is not known"),
        }
        Ok(())
    }

    /// One step. Gives the difference, if there is one.
    fn step(&self, step: &Value) -> Option<String> {
        for request in step["do"].as_array().unwrap().iter().filter(|request| request["verb"] != "restart") {
            let recorded = request["status"].as_u64().filter(|code| *code >= 300);
            let ask = || self.request(request).err().map(|refused| refused.code);
            let (end, mut code) = (Instant::now() + PATIENCE, ask());
            // Whoever recorded it waited for an object of that name to go.
            while code == Some(409) && recorded.is_none() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(100));
                code = ask();
            }
            if code.map(u64::from) != recorded {
                return Some(format!("{request}: answered with {code:?}"));
            }
        }
        let recorded = view(&|_, kind| {
            let name = match kind {
                "ResourceClaim" => "resourceClaims",
                "Pod" => "pods",
                "PodGroup" => "podGroups",
                _ => "deviceTaintRules",
            };
            step["then"][name].as_array().cloned().unwrap_or_default()
        });
        let now = || view(&|api_version, kind| self.list(api_version, kind));
        let end = Instant::now() + PATIENCE;
        let mut since = None;
        while Instant::now() < end {
            match now() == recorded {
                true if since.get_or_insert_with(Instant::now).elapsed() > QUIET => return None,
                true => {}
                false => since = None,
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(format!("ours {:#}\n  recorded {recorded:#}", now()))
    }

    /// Removes everything; nothing may be left that holds it.
    fn clear(&self) {
        let requests = &self.plane.requests;
        for (api_version, kind) in [("v1", "Pod"), (GROUPS, "PodGroup"), ("resource.k8s.io/v1", "ResourceClaim")] {
            requests.delete_all(api_version, kind, self.space);
        }
        self.plane.until(&format!("an end of {}", self.space), 60, |_| {
            let kinds = [("v1", "Pod"), (GROUPS, "PodGroup"), ("resource.k8s.io/v1", "ResourceClaim")];
            kinds.iter().all(|(api_version, kind)| self.list(api_version, kind).is_empty()).then_some(())
        });
        for kind in CLUSTER_WIDE {
            let (_, api_version) = KINDS.iter().find(|(known, _)| *known == kind).unwrap();
            for object in requests.list(api_version, kind) {
                requests.delete(&object);
            }
        }
        requests.delete(&namespace(self.space, json!({})));
    }
}

/// Our parts that take the place of upstream's controllers.
const PARTS: &str = "claims,podgroup-protection,taint-eviction";

/// Starts them, with some features other than usual.
fn start_ours(plane: &ControlPlane, others: &[(String, bool)]) -> Running {
    let mut arguments: Vec<String> = ["--qps", "500", "--burst", "500"].map(str::to_owned).to_vec();
    for (gate, on) in others {
        arguments.extend(["--feature-gates".to_owned(), format!("{gate}={on}")]);
    }
    let running = Running::start(plane, PARTS, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
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
    start_ours(plane, &others)
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn recorded_histories_settle_in_the_recorded_states() {
    let all = histories();
    if all.is_empty() {
        println!("the recorded histories are not here: skipped");
        return;
    }
    let mut plane = ControlPlane::with("histories", &[]);
    install(&plane);
    let mut running = start_ours(&plane, &[]);
    let (start, mut differences, mut played, mut steps) = (Instant::now(), Vec::new(), 0, 0);
    for history in &all {
        let id = text(history, "id");
        if LEFT_OUT.iter().any(|(left_out, _)| *left_out == id) {
            continue;
        }
        let begin = Timestamp::now();
        for step in history["steps"].as_array().unwrap() {
            steps += 1;
            running = restart(&mut plane, running, step);
            let play = Play { plane: &plane, space: id, start: begin };
            if let Some(difference) = play.step(step) {
                println!("{id}, {}: {difference}", text(step, "title"));
                differences.push(format!("{id}, {}", text(step, "title")));
                break;
            }
        }
        played += 1;
        Play { plane: &plane, space: id, start: begin }.clear();
    }
    println!(
        "{played} histories with {steps} steps, {} left out, {:.0} s, {} writes",
        LEFT_OUT.len(),
        start.elapsed().as_secs_f64(),
        running.writes()
    );
    assert_eq!(differences, [""; 0]);
    assert_eq!(played + LEFT_OUT.len(), all.len(), "what is left out exists");
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
}
