//! A script: what is done to a simulated cluster, and when.
//!
//! ```yaml
//! - at: 30s
//!   delete: pod/trainer-0             # or pod/ml/trainer-0; `graceSeconds: 0` ends it at once. With a node go its Pods and slices, with a
//!                                     # namespace everything in it
//! - at: 1m
//!   taint: gpu.example.com/node-a/gpu-0
//!   key: example.com/broken           # `effect: NoExecute` where it is left out; `value`
//! - at: 2m
//!   untaint: gpu.example.com/node-a/gpu-0
//!   key: example.com/broken
//! - at: 3m
//!   removeNode: node-a
//! - at: 4m
//!   gate: DRADeviceTaints=false       # of all components, or of the one in `component`
//! - at: 4m30s
//!   restart: kube-scheduler           # `version: "1.36"`, `gates: {DRADeviceTaints: true}`; `node: node-a` for one kubelet
//! - at: 5m
//!   crash: kube-controller-manager    # `for: 10s`, after which it is started again
//! - at: 6m
//!   finish: pod/trainer-1             # `succeeded: false`
//! - at: 7m
//!   create: {apiVersion: v1, kind: Pod, ..}
//! - at: 7m30s
//!   apply: {apiVersion: v1, kind: Pod, ..}   # as `kubectl apply`: what was applied last and is left out now goes
//! - at: 8m
//!   patch: node/node-b                # `status: true` for the status
//!   with: {spec: {unschedulable: true}}
//! - at: 9m
//!   scale: deployment/web
//!   replicas: 3
//! - at: 10m
//!   cordon: node-b                    # and `uncordon`
//! - at: 11m
//!   drain: node-b                     # cordons it and deletes its Pods, apart from those of DaemonSets and of its kubelet
//! ```

use serde_json::{Map, Value, json};

use super::{Build, Command, Component, DevicePath};
use crate::arrange::Arrange;
use crate::finding::{Code, Finding, ObjectRef};
use crate::gather::Gather;
use crate::near::nearest;
use crate::profile::Profile;

/// Milliseconds after which a crashed component is started again, unless the script says otherwise.
const CRASH: i64 = 10_000;

/// One thing that is done, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Its place in the list of the script, from 0.
    pub index: usize,
    /// Milliseconds after the start.
    pub at_millis: i64,
    /// What is done.
    pub command: Command,
    /// What it is done to. A namespace that is empty is the one in which there is such an object.
    pub object: ObjectRef,
    /// The step in a few words.
    pub says: String,
}

/// Kinds by the words that name them, in lower case; and whether their objects live in a namespace.
const KINDS: [(&str, &str, bool); 49] = [
    ("pod", "Pod", true),
    ("pods", "Pod", true),
    ("po", "Pod", true),
    ("deployment", "Deployment", true),
    ("deployments", "Deployment", true),
    ("deploy", "Deployment", true),
    ("replicaset", "ReplicaSet", true),
    ("replicasets", "ReplicaSet", true),
    ("rs", "ReplicaSet", true),
    ("statefulset", "StatefulSet", true),
    ("statefulsets", "StatefulSet", true),
    ("sts", "StatefulSet", true),
    ("daemonset", "DaemonSet", true),
    ("daemonsets", "DaemonSet", true),
    ("ds", "DaemonSet", true),
    ("job", "Job", true),
    ("jobs", "Job", true),
    ("cronjob", "CronJob", true),
    ("cronjobs", "CronJob", true),
    ("cj", "CronJob", true),
    ("jobset", "JobSet", true),
    ("jobsets", "JobSet", true),
    ("leaderworkerset", "LeaderWorkerSet", true),
    ("leaderworkersets", "LeaderWorkerSet", true),
    ("lws", "LeaderWorkerSet", true),
    ("podgroup", "PodGroup", true),
    ("podgroups", "PodGroup", true),
    ("resourceclaim", "ResourceClaim", true),
    ("resourceclaims", "ResourceClaim", true),
    ("claim", "ResourceClaim", true),
    ("resourceclaimtemplate", "ResourceClaimTemplate", true),
    ("resourceclaimtemplates", "ResourceClaimTemplate", true),
    ("clusterresourceclaimtemplate", "ClusterResourceClaimTemplate", false),
    ("clusterresourceclaimtemplates", "ClusterResourceClaimTemplate", false),
    ("workload", "Workload", true),
    ("workloads", "Workload", true),
    ("node", "Node", false),
    ("nodes", "Node", false),
    ("no", "Node", false),
    ("namespace", "Namespace", false),
    ("namespaces", "Namespace", false),
    ("ns", "Namespace", false),
    ("deviceclass", "DeviceClass", false),
    ("deviceclasses", "DeviceClass", false),
    ("resourceslice", "ResourceSlice", false),
    ("resourceslices", "ResourceSlice", false),
    ("slice", "ResourceSlice", false),
    ("devicetaintrule", "DeviceTaintRule", false),
    ("devicetaintrules", "DeviceTaintRule", false),
];

/// Whether objects of a kind live in a namespace, as far as scripts can name the kind.
pub fn is_namespaced(kind: &str) -> bool {
    KINDS.iter().any(|(_, known, namespaced)| *known == kind && *namespaced)
}

/// The kind that a word of kubectl means, such as `po` or `deployments`, in any case.
pub fn kind_named(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    KINDS.iter().find(|(known, ..)| *known == word).map(|(_, kind, _)| *kind)
}

/// Reads a script: a list of steps. They come back in the order of their times, those of one time in the order given.
///
/// # Errors
///
/// A finding for each step that cannot be understood, at `[index]`.
pub fn script(value: &Value) -> Result<Vec<Step>, Vec<Finding>> {
    let bad = |index: usize, message: String| Finding::new(Code::ReadBadScript, format_args!("[{index}]"), message);
    let Some(entries) = value.as_array() else {
        let message = "a script is a list of steps, each with `at` and what is done";
        return Err(vec![Finding::new(Code::ReadBadScript, "", message)]);
    };
    let (mut steps, mut findings) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match entry.as_object().ok_or_else(|| "a step is a map".to_owned()).and_then(step) {
            Ok(read) => steps.extend(read.into_iter().map(|step| Step { index, ..step })),
            Err(message) => findings.push(bad(index, message)),
        }
    }
    steps.arrange_by_key(|step| step.at_millis);
    if findings.is_empty() { Ok(steps) } else { Err(findings) }
}

/// Reads a duration as Kubernetes writes it: `90s`, `1h30m`, `500ms`.
pub fn duration(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    let mut millis: i64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, unit) = rest.split_at_checked(digits)?;
        let length = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        let (unit, after) = unit.split_at_checked(length)?;
        let each = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "" if number == "0" => 1,
            _ => return None,
        };
        millis = millis.checked_add(number.parse::<i64>().ok()?.checked_mul(each)?)?;
        rest = after;
    }
    Some(millis)
}

/// Kinds with `spec.replicas`.
const SCALED: [&str; 4] = ["Deployment", "ReplicaSet", "StatefulSet", "LeaderWorkerSet"];

/// What stands beside `at` in a step, and what may stand beside that.
const FORMS: [(&str, &[&str]); 16] = [
    ("delete", &["graceSeconds"]),
    ("finish", &["succeeded"]),
    ("taint", &["key", "value", "effect"]),
    ("untaint", &["key"]),
    ("removeNode", &[]),
    ("gate", &["component"]),
    ("crash", &["for"]),
    ("stop", &[]),
    ("restart", &["version", "gates", "node"]),
    ("create", &[]),
    ("apply", &[]),
    ("patch", &["with", "status"]),
    ("scale", &["replicas"]),
    ("cordon", &[]),
    ("uncordon", &[]),
    ("drain", &[]),
];

fn step(entry: &Map<String, Value>) -> Result<Vec<Step>, String> {
    let at = match entry.get("at") {
        None => 0,
        Some(at) => at.as_str().and_then(duration).ok_or("`at` is a duration such as `30s` or `1m30s`")?,
    };
    let known: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
    let mut forms = FORMS.iter().filter(|(name, _)| entry.contains_key(*name));
    let (Some((form, beside)), None) = (forms.next(), forms.next()) else {
        let other = entry.keys().find(|key| *key != "at").filter(|key| !known.contains(&key.as_str()));
        return Err(match other.and_then(|key| nearest(key, known.iter().copied())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a step does one thing: one of {}", known.join(", ")),
        });
    };
    if let Some(other) = entry.keys().find(|key| *key != "at" && key != form && !beside.contains(&key.as_str())) {
        return Err(format!("`{form}` does not have `{other}`"));
    }
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut subject = text(form);
    if ["removeNode", "cordon", "uncordon", "drain"].contains(form) {
        // kubectl takes both `n1` and `node/n1`.
        subject = subject.strip_prefix("node/").unwrap_or(subject);
    }
    let says = format!("{form} {subject}");
    let one = |command: Command, object: ObjectRef| {
        Ok(vec![Step { index: 0, at_millis: at, command, object, says: says.clone() }])
    };
    match *form {
        "delete" => {
            let object = object(subject)?;
            let grace_seconds = entry.get("graceSeconds").and_then(Value::as_i64);
            one(Command::Delete { object: object.clone(), grace_seconds }, object)
        }
        "finish" => {
            let pod = object(subject)?;
            let succeeded = entry.get("succeeded").and_then(Value::as_bool).unwrap_or(true);
            one(Command::Finish { pod: pod.clone(), succeeded }, pod)
        }
        "taint" | "untaint" => {
            let device = device(subject)?;
            let about = ObjectRef::new("Device", "", subject);
            let key = if text("key").is_empty() { "apportion.dev/script" } else { text("key") }.to_owned();
            if *form == "untaint" {
                return one(Command::Untaint { device, key }, about);
            }
            let effect = if text("effect").is_empty() { "NoExecute" } else { text("effect") };
            let taint = [("key".to_owned(), json!(key)), ("effect".to_owned(), json!(effect))];
            let mut taint: Map<String, Value> = taint.into_iter().gather();
            if !text("value").is_empty() {
                taint.insert("value".to_owned(), json!(text("value")));
            }
            one(Command::Taint { device, taint }, about)
        }
        "removeNode" => {
            let node = ObjectRef::new("Node", "", subject);
            one(Command::RemoveNode(subject.to_owned()), node)
        }
        "gate" => {
            let (gate, enabled) = subject.split_once('=').ok_or("`gate` is written as GATE=true or GATE=false")?;
            let enabled = enabled.parse().map_err(|_| "`gate` is written as GATE=true or GATE=false")?;
            exists(&Build { feature_gates: [(gate.to_owned(), enabled)].into(), ..Build::default() })?;
            let named = entry.contains_key("component").then(|| component(text("component"))).transpose()?;
            let about = program(named.map_or("all", Component::name));
            one(Command::Toggle { component: named, gate: gate.to_owned(), enabled }, about)
        }
        "crash" => {
            let component = component(subject)?;
            let pause = match entry.get("for") {
                None => CRASH,
                Some(pause) => pause.as_str().and_then(duration).ok_or("`for` is a duration such as `10s`")?,
            };
            let Build { version, feature_gates } = Build::default();
            let again = Command::Restart { component: Some(component), node: None, version, feature_gates };
            let command = Command::Stop(component);
            let stops = Step { index: 0, at_millis: at, command, object: program(subject), says };
            let starts = Step {
                index: 0,
                at_millis: at.saturating_add(pause),
                command: again,
                object: program(subject),
                says: format!("{subject} is started again"),
            };
            Ok(vec![stops, starts])
        }
        "stop" => one(Command::Stop(component(subject)?), program(subject)),
        "restart" => {
            let mut build = Build::default();
            if let Some(version) = entry.get("version") {
                // Without quotes it is a number.
                build.version = Some(version.as_str().map_or_else(|| version.to_string(), str::to_owned));
            }
            for (gate, enabled) in entry.get("gates").and_then(Value::as_object).into_iter().flatten() {
                let enabled = enabled.as_bool().ok_or_else(|| format!("gate `{gate}` is `true` or `false`"))?;
                build.feature_gates.insert(gate.clone(), enabled);
            }
            exists(&build)?;
            let node = entry.get("node").and_then(Value::as_str).map(str::to_owned);
            let named = component(subject)?;
            if node.is_some() && named != Component::Kubelets {
                return Err(format!("`node` goes with `restart: kubelet`, not with `{subject}`"));
            }
            let Build { version, feature_gates } = build;
            let node_said = node.iter().map(|node| format!(" of node {node}"));
            let version_said = version.iter().map(|version| format!(" as version {version}"));
            let gates_said = feature_gates.iter().map(|(gate, enabled)| format!(", {gate}={enabled}"));
            let says = [says].into_iter().chain(node_said).chain(version_said).chain(gates_said).collect();
            let command = Command::Restart { component: Some(named), node, version, feature_gates };
            Ok(vec![Step { index: 0, at_millis: at, command, object: program(subject), says }])
        }
        "create" | "apply" => {
            let object = entry.get(*form).cloned().unwrap_or_default();
            let name = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let about = ObjectRef::new(&name("/kind"), name("/metadata/namespace"), name("/metadata/name"));
            let says = format!("{form} {about}");
            let command = if *form == "apply" { Command::Apply(object) } else { Command::Create(object) };
            Ok(vec![Step { index: 0, at_millis: at, command, object: about, says }])
        }
        "scale" => {
            let object = object(subject)?;
            if !SCALED.contains(&object.kind.as_str()) {
                return Err(format!("`{subject}` cannot be scaled: one of {}", SCALED.join(", ")));
            }
            let replicas = entry.get("replicas").and_then(Value::as_u64).ok_or("`replicas` is a number from 0 on")?;
            let fields = json!({ "spec": { "replicas": replicas } });
            let says = format!("{says} to {replicas}");
            let command = Command::Patch { object: object.clone(), fields, status: false };
            Ok(vec![Step { index: 0, at_millis: at, command, object, says }])
        }
        "cordon" | "uncordon" => {
            let node = ObjectRef::new("Node", "", subject);
            let fields = json!({ "spec": { "unschedulable": *form == "cordon" } });
            one(Command::Patch { object: node.clone(), fields, status: false }, node)
        }
        "drain" => one(Command::Drain(subject.to_owned()), ObjectRef::new("Node", "", subject)),
        _ => {
            let object = object(subject)?;
            let fields = entry.get("with").cloned().ok_or("`patch` has the fields in `with`")?;
            let status = entry.get("status").and_then(Value::as_bool).unwrap_or_default();
            one(Command::Patch { object: object.clone(), fields, status }, object)
        }
    }
}

/// `pod/x` or `pod/ns/x`.
fn object(text: &str) -> Result<ObjectRef, String> {
    let (kind, rest) =
        text.split_once('/').ok_or_else(|| format!("`{text}` is not KIND/NAME or KIND/NAMESPACE/NAME"))?;
    let lower = kind.to_ascii_lowercase();
    let known = KINDS.iter().find(|(word, ..)| *word == lower);
    let (_, kind, namespaced) = known.ok_or_else(|| format!("there is no kind `{kind}` that a script can name"))?;
    let (namespace, name) = rest.split_once('/').filter(|_| *namespaced).unwrap_or(("", rest));
    Ok(ObjectRef::new(kind, namespace, name))
}

/// `driver/pool/device`, or `pool/device` for whatever driver has it.
fn device(text: &str) -> Result<DevicePath, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let path = |driver: &str, pool: &str, device: &str| DevicePath {
        driver: driver.to_owned(),
        pool: pool.to_owned(),
        device: device.to_owned(),
    };
    match parts.as_slice() {
        [driver, pool @ .., device] if !pool.is_empty() => Ok(path(driver, &pool.join("/"), device)),
        [pool, device] => Ok(path("", pool, device)),
        _ => Err(format!("`{text}` is not DRIVER/POOL/DEVICE")),
    }
}

fn component(name: &str) -> Result<Component, String> {
    let alias = match name {
        "apiserver" => "kube-apiserver",
        "controllers" | "controller-manager" => "kube-controller-manager",
        "scheduler" => "kube-scheduler",
        other => other,
    };
    Component::parse(alias)
}

/// Whether version and gates exist.
fn exists(build: &Build) -> Result<(), String> {
    build.profile(&Profile::default()).map(drop)
}

fn program(name: &str) -> ObjectRef {
    ObjectRef::new("Component", "", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_kubernetes_writes_them() {
        for (text, millis) in [("90s", 90_000), ("1h30m", 5_400_000), ("500ms", 500), ("0", 0), ("0s", 0)] {
            assert_eq!(duration(text), Some(millis), "{text}");
        }
        for text in ["", "5", "s", "1x", "-1s", "1.5s", "99999999999999999h"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn steps_come_in_the_order_of_their_times() {
        let steps = script(&json!([
            { "at": "1m", "delete": "pod/ml/x" },
            { "at": "5s", "crash": "scheduler" },
            { "taint": "d/p/x", "key": "k" },
        ]))
        .unwrap();
        let says: Vec<(i64, &str)> = steps.iter().map(|step| (step.at_millis, step.says.as_str())).collect();
        let wanted = [
            (0, "taint d/p/x"),
            (5000, "crash scheduler"),
            (15_000, "scheduler is started again"),
            (60_000, "delete pod/ml/x"),
        ];
        assert_eq!(says, wanted);
        assert_eq!(steps[3].object.namespace, "ml");
        for form in ["cordon", "uncordon", "drain", "removeNode"] {
            let steps = script(&json!([{ form: "node/a" }])).unwrap();
            assert_eq!(steps[0].object, ObjectRef::new("Node", "", "a"), "{form}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_place() {
        let wrong = script(&json!([
            { "at": "soon", "delete": "pod/x" },
            { "delete": "pod/x", "finish": "pod/x" },
            { "delete": "unicorn/x" },
            { "delete": "pod/x", "with": 1 },
            { "gate": "X" },
            7,
            { "gate": "GenericWorkloads=false" },
            { "restart": "kube-schedular" },
            { "restart": "scheduler", "version": 1.2 },
            { "restart": "scheduler", "node": "a" },
            { "cordn": "a" },
            { "scale": "pod/x", "replicas": 2 },
            { "scale": "deploy/x", "replicas": -1 },
        ]))
        .unwrap_err();
        let paths: Vec<&str> = wrong.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(
            paths,
            ["[0]", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]", "[10]", "[11]", "[12]"]
        );
        assert_eq!(wrong[10].message, "did you mean `cordon`?");
        assert!(wrong[6].message.contains("did you mean `GenericWorkload`?"), "{}", wrong[6].message);
        assert!(script(&json!({})).is_err());
    }
}
