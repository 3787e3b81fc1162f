//! Recorded histories of a real control plane, played through the simulated cluster and compared step by step.
//!
//! What is compared, and what is not because it differs from run to run, follows the description of the recordings: times,
//! counts of Events, the order of lists that are maps, which of several equal nodes and devices was taken.

use std::collections::{BTreeMap, BTreeSet};

use apportion_core::decision::Time;
use apportion_core::profile::{Features, Version};
use serde_json::{Map, Value, json};

/// When histories start.
const START: Time = Time::from_seconds(1_750_000_000);

/// Seconds of quiet after which the last step ends.
const QUIET: i64 = 2;

/// The lists of whole objects in the state after a step, with their kinds.
const OBJECTS: [(&str, &str); 7] = [
    ("resourceClaims", "ResourceClaim"),
    ("pods", "Pod"),
    ("podGroups", "PodGroup"),
    ("workloads", "Workload"),
    ("deviceTaintRules", "DeviceTaintRule"),
    ("jobs", "Job"),
    ("resourcePoolStatusRequests", "ResourcePoolStatusRequest"),
];

/// The lists of names, with their kinds.
const NAMES: [(&str, &str); 3] = [
    ("resourceClaimTemplates", "ResourceClaimTemplate"),
    ("resourceSlices", "ResourceSlice"),
    ("deviceClasses", "DeviceClass"),
];

/// A simulation behind a door: calls as `simulate::life::wire::call` describes them.
pub(crate) trait Answers {
    /// Makes a simulation, from settings as `wire::settings` reads them and the time in milliseconds.
    fn create(&mut self, settings: Value, now_millis: i64);

    /// Makes one call.
    fn call(&mut self, name: &str, argument: Value) -> Value;
}

/// Plays a history in `reference` mode. Gives the differences, each with its step; none when all is as recorded.
pub(crate) fn replay(case: &Value, door: &mut dyn Answers) -> Vec<String> {
    let Some(mut replay) = Replay::new(case, door) else { return vec!["the history has no steps".to_owned()] };
    let steps = list(case, "steps");
    for (index, step) in steps.iter().enumerate() {
        let end = steps.get(index + 1).map_or_else(|| last_moment(step), |next| time(next));
        replay.step(index, step, end.plus_millis(-1));
    }
    replay.differences
}

struct Replay<'c> {
    case: &'c Value,
    door: &'c mut dyn Answers,
    /// Every version of every object so far.
    history: Vec<Value>,
    equals: Equals,
    differences: Vec<String>,
    step: String,
    /// Pods that were deleted while they waited: whether they got a node before is a race.
    racing: BTreeSet<String>,
}

impl<'c> Replay<'c> {
    fn new(case: &'c Value, door: &'c mut dyn Answers) -> Option<Self> {
        case.get("steps")?;
        door.create(settings(case), START.millis());
        door.call("keepHistory", Value::Null);
        Some(Self {
            case,
            door,
            history: Vec::new(),
            equals: Equals::default(),
            differences: Vec::new(),
            step: String::new(),
            racing: BTreeSet::new(),
        })
    }

    fn step(&mut self, index: usize, step: &Value, end: Time) {
        self.step = format!("step {index} `{}`", text(step, "title"));
        self.settle(time(step));
        for request in list(step, "do").into_iter().filter(|request| text(request, "verb") == "delete") {
            let pod = self.door.call("get", self.key("Pod", text(request, "name")));
            if !pod.is_null() && pod.pointer("/spec/nodeName").is_none() {
                self.racing.insert(format!("Scheduled Pod {}: ", text(request, "name")));
            }
        }
        for request in requests(&list(step, "do")) {
            self.request(&request);
            let now = self.door.call("now", Value::Null);
            self.door.call("runUntil", now);
        }
        let is_restless = self.settle(end);
        let then = step.get("then").unwrap_or(&Value::Null);
        let before = self.differences.len();
        self.compare(then);
        if is_restless && self.differences.len() > before {
            // The recording caught one moment of an endless loop: the next write may show the same one.
            let writes = self.door.call("writes", Value::Null);
            while self.door.call("writes", Value::Null) == writes && self.door.call("step", Value::Null) == json!(true)
            {
            }
            self.differences.truncate(before);
            self.compare(then);
        }
    }

    /// Lets time pass. True when components write without end.
    fn settle(&mut self, until: Time) -> bool {
        self.door.call("runUntil", json!(until.millis())) == json!("restless")
    }

    /// Names and UIDs as they are now.
    fn names(&mut self) -> Names {
        let new = self.door.call("history", json!(self.history.len()));
        self.history.extend(new.as_array().cloned().unwrap_or_default());
        Names::of(&self.history)
    }

    fn all(&mut self, kind: &str) -> Vec<Value> {
        self.door.call("list", json!(kind)).as_array().cloned().unwrap_or_default()
    }

    fn differ(&mut self, what: String) {
        self.differences.push(format!("{}: {what}", self.step));
    }

    fn request(&mut self, request: &Value) {
        let names = self.names();
        let request = names.ours(request);
        let key = self.key(text(&request, "kind"), text(&request, "name"));
        let mut object = request.get("object").cloned().unwrap_or_default();
        // Times differ from the recorded ones: whoever sends an allocation back sends the one that was read.
        let time = "/status/allocation/allocationTimestamp";
        if let Some(sent) = object.pointer_mut(time)
            && let Some(stored) = self.door.call("get", key.clone()).pointer(time)
        {
            sent.clone_from(stored);
        }
        let status = text(&request, "subresource") == "status";
        let command = match text(&request, "verb") {
            "create" => json!({ "create": object }),
            "delete" => json!({ "delete": { "object": key, "graceSeconds": request.get("gracePeriodSeconds") } }),
            "patch" => json!({ "patch": { "object": key, "fields": request.get("patch"), "status": status } }),
            "update" if status => json!({ "updateStatus": object }),
            "update" => json!({ "update": object }),
            "restart" => {
                let changed = request.get("featureGates").and_then(Value::as_object).cloned().unwrap_or_default();
                json!({ "restart": { "component": text(&request, "component"), "featureGates": gates(&changed) } })
            }
            // Left out of the recording.
            _ => return,
        };
        let answer = self.door.call("perform", command);
        if text(&request, "verb") == "restart" {
            if answer != json!({}) {
                self.differ(format!("restart: {answer}"));
            }
            return;
        }
        let wanted = request.get("status").and_then(Value::as_u64).unwrap_or_default();
        let wanted_error = request.get("error").map(|error| text(error, "message").to_owned()).unwrap_or_default();
        let (status, message) = match answer.get("refused") {
            None => (if text(&request, "verb") == "create" { 201 } else { 200 }, String::new()),
            Some(refused) => {
                let status = refused.get("status").and_then(Value::as_u64).unwrap_or_default();
                (status, text(refused, "message").to_owned())
            }
        };
        if (status, &message) != (wanted, &wanted_error) {
            self.differ(format!(
                "{} {}: status {status} `{message}`, recorded {wanted} `{wanted_error}`",
                text(&request, "verb"),
                text(&request, "kind")
            ));
        }
    }

    fn key(&self, kind: &str, name: &str) -> Value {
        let cluster_scoped =
            ["Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "ResourcePoolStatusRequest"];
        let namespace = if cluster_scoped.contains(&kind) { "" } else { text(self.case, "id") };
        json!({ "kind": kind, "namespace": namespace, "name": name })
    }

    fn compare(&mut self, then: &Value) {
        let names = self.names();
        self.equals = Equals::new(&self.all("ResourceSlice"));
        let mut ours = BTreeMap::new();
        for (list_name, kind) in OBJECTS {
            let objects: Vec<Value> = self.all(kind).iter().map(|object| tidy(&names.theirs(object))).collect();
            ours.insert(list_name, objects);
        }
        for (list_name, kind) in OBJECTS {
            let found = ours.remove(list_name).unwrap_or_default();
            self.compare_objects(kind, &found, &list(then, list_name));
        }
        for (list_name, kind) in NAMES {
            let found: BTreeSet<String> = self
                .all(kind)
                .iter()
                .map(|object| object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned())
                .collect();
            let wanted: BTreeSet<String> =
                list(then, list_name).iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            if found != wanted {
                self.differ(format!("{list_name}: {found:?}, recorded {wanted:?}"));
            }
        }
        self.compare_events(&names, &list(then, "events"));
    }

    fn compare_objects(&mut self, kind: &str, found: &[Value], wanted: &[&Value]) {
        let omitted: usize = wanted
            .iter()
            .filter_map(|object| object.get("omitted").and_then(Value::as_u64))
            .filter_map(|count| usize::try_from(count).ok())
            .sum();
        let wanted: Vec<Value> =
            wanted.iter().filter(|object| object.get("omitted").is_none()).map(|object| tidy(object)).collect();
        let name =
            |object: &Value| object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if found.len() != wanted.len() + omitted {
            let names: Vec<String> = found.iter().map(name).collect();
            let recorded: Vec<String> = wanted.iter().map(name).collect();
            self.differ(format!("{} {kind} {names:?}, recorded {} {recorded:?}", found.len(), wanted.len() + omitted));
        }
        for object in &wanted {
            let Some(own) = found.iter().find(|own| name(own) == name(object)) else {
                self.differ(format!("{kind} {} is missing", name(object)));
                continue;
            };
            let mut paths = Vec::new();
            self.equals.differences(own, object, "", &mut paths);
            for path in paths {
                self.differ(format!("{kind} {}{path}", name(object)));
            }
        }
        if omitted == 0 {
            for own in found.iter().filter(|own| wanted.iter().all(|object| name(own) != name(object))) {
                self.differ(format!("{kind} {} is not recorded", name(own)));
            }
        }
    }

    /// Events as a set. Failed attempts of the scheduler are left out: they depend on who is faster.
    fn compare_events(&mut self, names: &Names, recorded: &[&Value]) {
        let is_thinned = recorded.iter().any(|event| event.get("omitted").is_some());
        let line = |reason: &str, kind: &str, name: &str, note: &str| {
            let (name, note) = (&without_hashes(name), &without_hashes(note));
            let note = note.strip_prefix("(combined from similar events): ").unwrap_or(note);
            // The node may be another of equal ones.
            let note = if reason == "Scheduled" { "" } else { note };
            (reason != "FailedScheduling" && reason != "BindingConditionsPending")
                .then(|| format!("{reason} {kind} {name}: {note}"))
        };
        let wanted: BTreeSet<String> = recorded
            .iter()
            .filter_map(|event| {
                let regarding = event.get("regarding")?;
                line(text(event, "reason"), text(regarding, "kind"), text(regarding, "name"), text(event, "note"))
            })
            .collect();
        let recorded = self.door.call("events", Value::Null);
        let found: BTreeSet<String> = recorded
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|recorded| {
                let event = recorded.get("event")?;
                let regarding = event.get("regarding")?;
                let (name, note) = (names.text(text(regarding, "name")), names.text(text(event, "note")));
                line(text(event, "reason"), text(regarding, "kind"), &name, &note)
            })
            .collect();
        let missing: Vec<String> = wanted.difference(&found).cloned().collect();
        let surplus: Vec<String> = found.difference(&wanted).cloned().collect();
        for event in missing {
            self.differ(format!("event missing: {event}"));
        }
        let racing = self.racing.clone();
        for event in surplus.into_iter().filter(|event| !is_thinned && !racing.contains(event)) {
            self.differ(format!("event not recorded: {event}"));
        }
    }
}

/// The requests of a step. Where many are left out between two with numbered names, they are those with the numbers between.
fn requests(recorded: &[&Value]) -> Vec<Value> {
    let mut requests: Vec<Value> = Vec::new();
    for request in recorded {
        match (request.get("omitted").and_then(Value::as_u64), requests.last().cloned()) {
            (Some(count), Some(last)) => {
                let mut next = last;
                for _ in 0..count {
                    next = each_text(&next, &|text| successor(text).unwrap_or_else(|| text.to_owned()));
                    requests.push(next.clone());
                }
            }
            (Some(_), None) => {}
            (None, _) => requests.push((*request).clone()),
        }
    }
    requests
}

/// `p-010` after `p-009`.
fn successor(text: &str) -> Option<String> {
    let (stem, number) = text.rsplit_once('-').filter(|(stem, _)| *stem == "p")?;
    let next = number.parse::<u64>().ok()? + 1;
    Some(format!("{stem}-{next:0width$}", width = number.len()))
}

/// Which of our devices stand for which recorded ones in one state: one for one, and only equal ones.
#[derive(Default)]
struct Equals {
    forth: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
    /// What the slices say about each device, but for its name.
    published: BTreeMap<String, BTreeSet<String>>,
}

impl Equals {
    fn new(slices: &[Value]) -> Self {
        let mut equals = Self::default();
        for slice in slices {
            for device in slice.pointer("/spec/devices").and_then(Value::as_array).into_iter().flatten() {
                let mut rest = device.clone();
                if let Some(map) = rest.as_object_mut() {
                    map.remove("name");
                }
                let driver = slice.pointer("/spec/driver").and_then(Value::as_str).unwrap_or_default();
                let known = equals.published.entry(format!("{driver} {}", text(device, "name"))).or_default();
                known.insert(rest.to_string());
            }
        }
        equals
    }

    fn differences(&mut self, own: &Value, recorded: &Value, path: &str, out: &mut Vec<String>) {
        match (own, recorded) {
            (Value::Object(left), Value::Object(right)) => {
                let is_device = left.contains_key("driver") && left.contains_key("pool") && left.contains_key("device");
                let stands = is_device && self.stand_for(own, recorded);
                let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
                for key in keys.into_iter().filter(|key| !(stands && matches!(key.as_str(), "pool" | "device"))) {
                    let path = format!("{path}.{key}");
                    match (left.get(key), right.get(key)) {
                        (Some(left), Some(right)) => self.differences(left, right, &path, out),
                        (Some(left), None) => out.push(format!("{path}: {left}, recorded nothing")),
                        (None, Some(right)) => out.push(format!("{path}: nothing, recorded {right}")),
                        (None, None) => {}
                    }
                }
            }
            (Value::Array(left), Value::Object(right)) if path.ends_with("reservedFor") => {
                let count = right.get("count").and_then(Value::as_u64);
                out.extend(
                    (count != Some(left.len() as u64))
                        .then(|| format!("{path}: {} entries, recorded {recorded}", left.len())),
                );
            }
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                for (index, (left, right)) in left.iter().zip(right).enumerate() {
                    self.differences(left, right, &format!("{path}[{index}]"), out);
                }
            }
            (Value::String(left), Value::String(right)) if is_node(path) && stem(left) == stem(right) => {}
            (left, right) if left != right => out.push(format!("{path}: {left}, recorded {right}")),
            _ => {}
        }
    }

    /// Whether one device stands for the other.
    fn stand_for(&mut self, own: &Value, recorded: &Value) -> bool {
        let id = |device: &Value| ["driver", "pool", "device"].map(|name| text(device, name)).join(" ");
        let published =
            |device: &Value| self.published.get(&format!("{} {}", text(device, "driver"), text(device, "device")));
        let are_equal = text(own, "driver") == text(recorded, "driver")
            && stem(text(own, "pool")) == stem(text(recorded, "pool"))
            && published(own) == published(recorded);
        let shares = own.get("shareID").is_some() || own.get("adminAccess").is_some();
        if !are_equal || shares {
            return are_equal && id(own) == id(recorded);
        }
        let forth = self.forth.entry(id(own)).or_insert_with(|| id(recorded)).clone();
        let back = self.back.entry(id(recorded)).or_insert_with(|| id(own)).clone();
        forth == id(recorded) && back == id(own)
    }
}

/// A name without its number.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Whether a field names a node.
fn is_node(path: &str) -> bool {
    ["nodeName", "nominatedNodeName"].iter().any(|name| path.ends_with(name))
        || (path.contains("nodeSelector") && path.contains(".values["))
}

/// Names and UIDs as the recordings write them.
struct Names {
    /// Our text and theirs; longer ones first.
    pairs: Vec<(String, String)>,
}

impl Names {
    fn of(history: &[Value]) -> Self {
        let mut pairs = Vec::new();
        let mut by_prefix: BTreeMap<String, usize> = BTreeMap::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        let mut known: BTreeSet<String> = BTreeSet::new();
        for entry in history {
            let metadata = entry.pointer("/value/metadata").unwrap_or(&Value::Null);
            let name = text(metadata, "name");
            let is_generated = !text(metadata, "generateName").is_empty();
            let is_refused = text(entry, "happened") == "refused";
            if (is_refused && !is_generated) || !(is_refused || text(entry, "happened") == "added") {
                continue;
            }
            let mut label = name.to_owned();
            if is_generated {
                let prefix = name.get(..name.len().saturating_sub(5)).unwrap_or_default();
                if is_refused {
                    pairs.push((name.to_owned(), format!("{prefix}<rand5>")));
                    continue;
                }
                if known.insert(name.to_owned()) {
                    let count = by_prefix.entry(prefix.to_owned()).or_default();
                    *count += 1;
                    let random = if *count == 1 { "<rand5>".to_owned() } else { format!("<rand5:{count}>") };
                    label = format!("{prefix}{random}");
                    pairs.push((name.to_owned(), label.clone()));
                } else if let Some((_, given)) = pairs.iter().find(|(own, _)| own == name) {
                    label.clone_from(given);
                }
            }
            let base = format!("uid:{}/{label}", text(&entry["object"], "kind").to_lowercase());
            let count = by_name.entry(base.clone()).or_default();
            *count += 1;
            let uid = if *count == 1 { base } else { format!("{base}#{count}") };
            pairs.push((text(metadata, "uid").to_owned(), uid));
        }
        pairs.retain(|(own, _)| !own.is_empty());
        pairs.sort_by_key(|(own, _)| std::cmp::Reverse(own.len()));
        Self { pairs }
    }

    fn text(&self, text: &str) -> String {
        self.pairs.iter().fold(text.to_owned(), |text, (own, theirs)| text.replace(own, theirs))
    }

    fn theirs(&self, value: &Value) -> Value {
        each_text(value, &|text| self.text(text))
    }

    /// A recorded request in our names and times.
    fn ours(&self, value: &Value) -> Value {
        let mut pairs = self.pairs.clone();
        pairs.sort_by_key(|(_, theirs)| std::cmp::Reverse(theirs.len()));
        let known: BTreeMap<&str, &str> = pairs.iter().map(|(own, theirs)| (theirs.as_str(), own.as_str())).collect();
        each_text(value, &|text| {
            if let Some(own) = known.get(text) {
                return (*own).to_owned();
            }
            let seconds =
                text.strip_prefix("T+").or_else(|| text.strip_prefix('T').filter(|rest| rest.starts_with('-')));
            match seconds.and_then(|seconds| seconds.parse::<i64>().ok()) {
                Some(seconds) => START.plus_seconds(seconds).to_string(),
                None => text.to_owned(),
            }
        })
    }
}

fn each_text(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => Value::Array(items.iter().map(|item| each_text(item, change)).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, item)| (name.clone(), each_text(item, change))).collect())
        }
        other => other.clone(),
    }
}

/// The parts of an object that are compared: no times, no versions, nothing empty, maps in order.
fn tidy(object: &Value) -> Value {
    let mut object = each_text(object, &plain_name);
    if text(&object, "kind") == "Pod" {
        drop_pod_defaults(&mut object);
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    tidied(&object, "").unwrap_or(json!({}))
}

fn tidied(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if is_time(text) => Some(json!("T")),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().filter_map(|item| tidied(item, "")).collect();
            let key = match name {
                "conditions" => "type",
                "resourceClaimStatuses" => "name",
                "reservedFor" => "uid",
                _ => "",
            };
            if !key.is_empty() {
                items.sort_by_key(|item| text(item, key).to_owned());
            }
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(map) => {
            let map: Map<String, Value> =
                map.iter().filter_map(|(name, item)| Some((name.clone(), tidied(item, name)?))).collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
        other => Some(other.clone()),
    }
}

/// A name without what differs in every cluster: letters made from a UID; and, in the UID of a generated claim, the letters of its
/// owner's name, which the recordings write as they are.
fn plain_name(text: &str) -> String {
    let text = without_hashes(text);
    let Some((stem, last)) = text.strip_prefix("uid:resourceclaim/").and_then(|name| name.rsplit_once('-')) else {
        return text;
    };
    let part = |part: &str| match part {
        part if is_letters(part, 5..=5) || part.starts_with("<rand5") => "<rand5>".to_owned(),
        part => part.to_owned(),
    };
    let stem: Vec<String> = stem.split('-').map(part).collect();
    format!("uid:resourceclaim/{}-{last}", stem.join("-"))
}

/// A text with `<hash>` for the part of a Workload's or PodGroup's name that is made from a UID.
fn without_hashes(text: &str) -> String {
    let mut plain = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let rest = part.strip_prefix(word).unwrap_or_default();
        plain.push_str(if is_letters(word, 8..=10) { "<hash>" } else { word });
        plain.push_str(rest);
    }
    plain
}

/// Whether a word is made of the letters of generated names.
fn is_letters(word: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&word.len()) && word.chars().all(|letter| "bcdfghjklmnpqrstvwxz2456789".contains(letter))
}

/// The recordings leave out what a Pod has by default; a Pod that is made from a template has it.
fn drop_pod_defaults(pod: &mut Value) {
    fn drop_all(value: Option<&mut Value>, defaults: &[(&str, Value)]) {
        if let Some(map) = value.and_then(Value::as_object_mut) {
            map.retain(|name, value| !defaults.iter().any(|(field, default)| field == name && default == value));
        }
    }
    let spec = [
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("terminationGracePeriodSeconds", json!(30)),
    ];
    let container = [
        ("terminationMessagePath", json!("/dev/termination-log")),
        ("terminationMessagePolicy", json!("File")),
        ("imagePullPolicy", json!("Always")),
    ];
    drop_all(pod.get_mut("spec"), &spec);
    let containers = pod.pointer_mut("/spec/containers").and_then(Value::as_array_mut);
    containers.into_iter().flatten().for_each(|own| drop_all(Some(own), &container));
}

fn is_time(text: &str) -> bool {
    let recorded = text.strip_prefix("T+").or_else(|| text.strip_prefix("T-"));
    recorded.is_some_and(|seconds| seconds.parse::<u32>().is_ok()) || Time::parse(text).is_some()
}

/// The settings of all components at the start.
fn settings(case: &Value) -> Value {
    let version = text(case, "kubernetesVersion").rsplit_once('.').map_or("1.36", |(minor, _)| minor);
    let all = case.get("featureGates").and_then(Value::as_object).cloned().unwrap_or_default();
    json!({ "version": version, "featureGates": gates(&all), "mode": "reference" })
}

/// Gates that something depends on.
fn gates(all: &Map<String, Value>) -> Map<String, Value> {
    let is_known = |gate: &str| Features::of(Version::V1_36).set(gate, true);
    all.iter().filter(|(gate, _)| is_known(gate)).map(|(gate, on)| (gate.clone(), on.clone())).collect()
}

/// The end of the last step: some quiet after its last change.
fn last_moment(step: &Value) -> Time {
    let changes = list(step, "events").into_iter().filter(|change| change.get("at").is_some()).map(time);
    changes.chain([time(step)]).max().unwrap_or(START).plus_seconds(QUIET)
}

fn time(step: &Value) -> Time {
    let seconds = text(step, "at").strip_prefix("T+").and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
    START.plus_seconds(seconds)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    value.get(name).and_then(Value::as_array).map(|items| items.iter().collect()).unwrap_or_default()
}
