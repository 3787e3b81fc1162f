//! A recorded history, played in a control plane.

use std::time::{Duration, Instant};

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::objects::namespace;
use crate::placing::{GROUPS, placed};
use crate::recordings::text;
use crate::requests::Refused;
use crate::view::{QUESTIONS, view};

/// How long a state must last to be the settled one.
const QUIET: Duration = Duration::from_millis(1200);

/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_secs(40);

/// Steps whose Pods do not all fit, by history and title: who comes first gets what there is. In the recording that was the order in which
/// they were made; a Pod whose claim is not there yet when kube-scheduler looks at it would lose its turn.
const FIRST_COME: [(&str, &str); 2] = [
    ("group-partial", "Three Pods, one device each, two devices"),
    ("partitionable", "A quarter fits, then a half does not"),
];

/// Kinds that requests name without their version.
const KINDS: [(&str, &str); 12] = [
    ("DeviceClass", "resource.k8s.io/v1"),
    ("DeviceTaintRule", "resource.k8s.io/v1beta2"),
    ("Job", "batch/v1"),
    ("Namespace", "v1"),
    ("Node", "v1"),
    ("Pod", "v1"),
    ("PodGroup", GROUPS),
    ("ResourceClaim", "resource.k8s.io/v1"),
    ("ResourceClaimTemplate", "resource.k8s.io/v1"),
    ("ResourcePoolStatusRequest", QUESTIONS),
    ("ResourceSlice", "resource.k8s.io/v1"),
    ("Workload", GROUPS),
];

/// Kinds that have no namespace and would play a part in the next history.
const CLUSTER_WIDE: [&str; 5] =
    ["DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice", "DeviceClass", "Node"];

/// Kinds that hold each other, those that make others first.
const HELD: [&str; 4] = ["Job", "Pod", "PodGroup", "ResourceClaim"];

fn api_version(kind: &str) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).unwrap().1
}

/// What was recorded at the end of a step, in the form in which it is compared.
pub(crate) fn recorded(step: &Value) -> Value {
    view(&|_, kind| {
        let name = match kind {
            "ResourceClaim" => "resourceClaims",
            "Pod" => "pods",
            "PodGroup" => "podGroups",
            "ResourcePoolStatusRequest" => "resourcePoolStatusRequests",
            _ => "deviceTaintRules",
        };
        step["then"][name].as_array().cloned().unwrap_or_default()
    })
}

/// A history that is being played in a namespace of its own.
pub(crate) struct Play<'p> {
    pub(crate) plane: &'p ControlPlane,
    pub(crate) space: &'p str,
    pub(crate) start: Timestamp,
    /// Who places the Pods, where it is not kube-scheduler.
    pub(crate) scheduler: Option<&'p str>,
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

    /// A name of the recording, as it is here. Names that were drawn are known by what comes before.
    fn name(&self, kind: &str, name: &str) -> String {
        let Some((start, _)) = name.split_once("<rand5") else { return name.to_owned() };
        let names = self.list(api_version(kind), kind).into_iter().map(|one| text(&one["metadata"], "name").to_owned());
        names.into_iter().find(|here| here.starts_with(start)).unwrap_or_else(|| name.to_owned())
    }

    /// A kind and a name of the recording, as they are here.
    fn stub(&self, kind: &str, name: &str) -> Value {
        let metadata = json!({ "name": self.name(kind, name), "namespace": self.space });
        json!({ "apiVersion": api_version(kind), "kind": kind, "metadata": metadata })
    }

    /// A time of the recording, which counts seconds from its start.
    fn time(&self, text: &str) -> Option<Value> {
        let seconds = text.strip_prefix('T').filter(|rest| rest.starts_with(['+', '-']))?.parse().ok()?;
        Some(json!((self.start + SignedDuration::from_secs(seconds)).to_string()))
    }

    /// The UID that an object has here.
    fn uid(&self, kind: &str, name: &str) -> Value {
        let (kind, _) = KINDS.iter().find(|(known, _)| known.to_lowercase() == kind).unwrap();
        let found = self.plane.requests.get(&self.stub(kind, name));
        found.map_or(Value::Null, |found| found["metadata"]["uid"].clone())
    }

    /// Puts names, UIDs and times in the place of those that the recording has.
    fn translated(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if self.time(text).is_some() => self.time(text).unwrap(),
            Value::String(text) => match text.strip_prefix("uid:").and_then(|rest| rest.split_once('/')) {
                Some((kind, name)) => self.uid(kind, name),
                // Only claims are named by what somebody writes.
                None => json!(self.name("ResourceClaim", text)),
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
                let mut object = self.translated(&request["object"]);
                if let Some(scheduler) = self.scheduler.filter(|_| object["kind"] == "Pod") {
                    object["spec"]["schedulerName"] = json!(scheduler);
                }
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

    /// The requests of a step. Gives the first one that was answered otherwise than recorded.
    pub(crate) fn requests(&self, step: &Value) -> Option<String> {
        let title = text(step, "title");
        let in_turn = title.contains("each after the one before is bound") || FIRST_COME.contains(&(self.space, title));
        let mut before: Option<&Value> = None;
        for request in step["do"].as_array().unwrap().iter().filter(|request| request["verb"] != "restart") {
            let is_in_turn = in_turn && request["kind"] == "Pod";
            if let Some(before) = before.filter(|_| is_in_turn) {
                self.plane.until("a place", 40, |plane| placed(plane, before));
            }
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
            if is_in_turn {
                before = Some(&request["object"]);
            }
        }
        None
    }

    /// Waits for one of these states. Gives the difference, if none of them comes.
    pub(crate) fn settles(&self, states: &[Value]) -> Option<String> {
        let now = || view(&|api_version, kind| self.list(api_version, kind));
        let (end, mut since) = (Instant::now() + PATIENCE, None);
        while Instant::now() < end {
            match states.contains(&now()) {
                true if since.get_or_insert_with(Instant::now).elapsed() > QUIET => return None,
                true => {}
                false => since = None,
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(format!("is {:#}\n  instead of {states:#?}", now()))
    }

    /// Removes everything; nothing may be left that holds it.
    pub(crate) fn clear(&self) {
        let requests = &self.plane.requests;
        for kind in HELD {
            requests.delete_all(api_version(kind), kind, self.space);
        }
        self.plane.until(&format!("an end of {}", self.space), 60, |_| {
            HELD.iter().all(|kind| self.list(api_version(kind), kind).is_empty()).then_some(())
        });
        for kind in CLUSTER_WIDE {
            for object in requests.list(api_version(kind), kind) {
                requests.delete(&object);
            }
        }
        requests.delete(&namespace(self.space, json!({})));
    }
}
