//! An API server of a few lines, and a controller that hears of everything in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::allocate::Limits;
use apportion_core::api::object::Object;
use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::check::{History, unsettled};
use apportion_core::controller::{Conclusion, Controller, Part, Settings, Task};
use apportion_core::decision::{Action, Cause, EventRecord, Time};
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Ranking};
use serde_json::{Value, json};

/// The controller's namespace.
pub(crate) const HOME: &str = "apportion-system";

/// Objects beyond which a fresh start takes too long to be tried each time.
const MANY: usize = 100;

/// Status and sentence of a refusal.
type Refusal = Option<(u16, &'static str)>;

pub(crate) struct World {
    pub(crate) objects: BTreeMap<ObjectRef, Value>,
    pub(crate) controller: Controller,
    pub(crate) now: Time,
    pub(crate) events: Vec<EventRecord>,
    /// Why something unusual was decided.
    pub(crate) causes: Vec<Cause>,
    /// Every write, in words.
    pub(crate) writes: Vec<String>,
    /// Says which templates may not be created.
    pub(crate) refuses: fn(&Value) -> Refusal,
    settings: Settings,
    version: u64,
    /// What happened, held to the laws that the controller must keep.
    history: History,
    /// Whether the controller writes; what a test does may break any law.
    is_controller: bool,
    /// Whether a fresh start has nothing to do once all is quiet: nothing was refused, waits for its time, or went unheard.
    pub(crate) is_alike_after_restart: bool,
}

pub(crate) fn settings(part: Part) -> Settings {
    Settings { part, home: HOME.to_owned(), allow_admin_access: false, conditions: true }
}

pub(crate) fn reference(value: &Value) -> ObjectRef {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = if text("/apiVersion") == SOURCE_API_VERSION { SOURCE_KIND.to_owned() } else { text("/kind") };
    ObjectRef { kind, namespace: text("/metadata/namespace"), name: text("/metadata/name") }
}

pub(crate) fn template(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: "ResourceClaimTemplate".to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// A claim for so many devices of the class `gpu`.
pub(crate) fn claim(name: &str, count: u64) -> Value {
    let exactly = json!({ "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count });
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": exactly }] } },
    })
}

pub(crate) fn source_ref(name: &str) -> ObjectRef {
    ObjectRef { kind: SOURCE_KIND.to_owned(), namespace: String::new(), name: name.to_owned() }
}

pub(crate) fn namespace(name: &str, labels: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } })
}

/// The spec of a template that asks for one device.
pub(crate) fn spec(class: &str) -> Value {
    json!({ "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": class } }] } } })
}

/// A source for these targets, with more fields of its spec.
pub(crate) fn source(name: &str, targets: Value, more: Value) -> Value {
    let mut source = json!({
        "apiVersion": SOURCE_API_VERSION, "kind": "ClusterResourceClaimTemplate", "metadata": { "name": name },
        "spec": { "template": spec("gpu"), "targets": targets },
    });
    for (field, value) in more.as_object().unwrap() {
        source["spec"][field] = value.clone();
    }
    source
}

fn merge(target: &mut Value, fields: &Value) {
    let Some(fields) = fields.as_object() else {
        target.clone_from(fields);
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (name, value) in fields {
        match value {
            Value::Null => drop(target.remove(name)),
            value => merge(target.entry(name.clone()).or_insert(Value::Null), value),
        }
    }
}

/// A controller that knows nothing of the cluster, and has been at work for a minute.
/// That of the program.
fn profile() -> Profile {
    Profile { placement: Ranking::Scores, ..Profile::default() }
}

fn controller(settings: &Settings, now: Time) -> Controller {
    let mut controller = Controller::new(profile(), Limits::default(), settings.clone());
    if settings.part == Part::TemplateSync {
        controller.reconcile(&template("nowhere", "none"), now.plus_millis(-60_000));
    }
    controller
}

impl World {
    pub(crate) fn new(part: Part) -> Self {
        Self::with(settings(part))
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let now = Time::from_seconds(1_800_000_000);
        Self {
            objects: BTreeMap::new(),
            controller: controller(&settings, now),
            now,
            events: Vec::new(),
            causes: Vec::new(),
            writes: Vec::new(),
            refuses: |_| None,
            settings,
            version: 0,
            history: History::new(Profile::default()),
            is_controller: false,
            is_alike_after_restart: true,
        }
    }

    fn note(&mut self, kind: &str, object: &Value) {
        let mut found = self.history.note(json!({ "type": kind, "object": object }));
        found.retain(|finding| finding.code.text().starts_with("check/"));
        assert!(!self.is_controller || found.is_empty(), "{found:?}");
    }

    /// What has settled is what a fresh start would leave as it is.
    fn check_settled(&self) {
        if self.is_alike_after_restart && self.objects.len() < MANY {
            let objects: Vec<String> = self.objects.values().map(Value::to_string).collect();
            let objects = objects.iter().map(String::as_str);
            let found = unsettled(objects, &profile(), self.settings.clone(), self.now);
            assert!(found.is_empty(), "{found:?}");
        }
    }

    /// Stores an object; the controller hears of it.
    pub(crate) fn put(&mut self, value: Value) {
        let text = self.store(value);
        let findings = self.controller.apply([text.as_str()]);
        assert_eq!(findings, [vec![]]);
    }

    /// The same, whatever the controller finds wrong with it.
    pub(crate) fn offer(&mut self, value: Value) {
        let text = self.store(value);
        self.controller.apply([text.as_str()]);
    }

    fn store(&mut self, mut value: Value) -> String {
        self.version += 1;
        let key = reference(&value);
        let old = self.objects.get(&key);
        let uid = old.map_or_else(|| json!(format!("uid-{}", self.version)), |old| old["metadata"]["uid"].clone());
        let born = old.map_or_else(|| json!(self.now.to_string()), |old| old["metadata"]["creationTimestamp"].clone());
        let metadata = value["metadata"].as_object_mut().unwrap();
        metadata.insert("uid".to_owned(), uid);
        metadata.insert("creationTimestamp".to_owned(), born);
        metadata.insert("resourceVersion".to_owned(), json!(self.version.to_string()));
        metadata.entry("generation").or_insert(json!(1));
        if value["kind"] == "ResourceClaimTemplate" {
            // The API server fills in what is left out.
            for request in value["spec"]["spec"]["devices"]["requests"].as_array_mut().into_iter().flatten() {
                let asked = match request.get_mut("exactly") {
                    Some(exactly) => std::slice::from_mut(exactly),
                    None => request["firstAvailable"].as_array_mut().unwrap().as_mut_slice(),
                };
                for asked in asked.iter_mut().filter_map(Value::as_object_mut) {
                    asked.entry("allocationMode").or_insert(json!("ExactCount"));
                    asked.entry("count").or_insert(json!(1));
                }
            }
        }
        self.note("MODIFIED", &value);
        self.objects.insert(key, value.clone());
        value.to_string()
    }

    /// Changes fields of an object.
    pub(crate) fn patch(&mut self, object: &ObjectRef, fields: Value) {
        let mut value = self.objects[object].clone();
        merge(&mut value, &fields);
        self.put(value);
    }

    /// What became of a write is not told to the controller.
    pub(crate) fn carry_out_unheard(&mut self, action: Action) {
        self.is_alike_after_restart = false;
        let mut deaf = Controller::new(Profile::default(), Limits::default(), self.settings.clone());
        std::mem::swap(&mut self.controller, &mut deaf);
        self.carry_out(action).unwrap();
        std::mem::swap(&mut self.controller, &mut deaf);
    }

    /// The controller hears of an object as it is.
    pub(crate) fn tell(&mut self, object: &ObjectRef) {
        let text = self.objects[object].to_string();
        self.controller.apply([text.as_str()]);
    }

    /// Removes an object, and with it what it owns.
    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        let gone = self.objects.remove(object).unwrap();
        self.note("DELETED", &gone);
        assert!(self.controller.delete(object));
        let owned = |value: &Value| {
            value["metadata"]["ownerReferences"]
                .as_array()
                .is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == gone["metadata"]["uid"]))
        };
        let orphans: Vec<ObjectRef> =
            self.objects.iter().filter(|(_, value)| owned(value)).map(|one| one.0.clone()).collect();
        for orphan in orphans {
            self.remove(&orphan);
        }
    }

    /// A controller that starts anew and hears of everything that is there.
    pub(crate) fn restart(&mut self) {
        self.controller = controller(&self.settings, self.now);
        self.hear_all();
    }

    /// The same, and it has not been at work before.
    pub(crate) fn start(&mut self) {
        self.controller = Controller::new(Profile::default(), Limits::default(), self.settings.clone());
        self.hear_all();
    }

    fn hear_all(&mut self) {
        let texts: Vec<String> = self.objects.values().map(Value::to_string).collect();
        self.controller.apply(texts.iter().map(String::as_str));
    }

    /// Carries decisions out until none is left; gives the number of writes.
    pub(crate) fn settle(&mut self) -> usize {
        let before = self.writes.len();
        let mut waiting: BTreeMap<ObjectRef, Task> = BTreeMap::new();
        let mut versions = BTreeMap::new();
        loop {
            waiting.extend(self.controller.due().into_iter().map(|task| (task.object.clone(), task)));
            // What is to wait is looked at when nothing else is left.
            let next = waiting.values().min_by_key(|task| (task.after_millis, task.lane)).cloned();
            let Some(task) = next else {
                self.check_settled();
                return self.writes.len() - before;
            };
            waiting.remove(&task.object);
            let decision = self.controller.reconcile(&task.object, self.now);
            self.events.extend(decision.events);
            self.is_alike_after_restart &= decision.wake_up.is_none();
            self.causes.extend(Some(decision.cause).filter(|cause| *cause != Cause::Usual));
            let mut conclusion = Conclusion::Done;
            versions.clear();
            for action in decision.actions {
                let action = self.with_versions(action, &mut versions);
                if let Err((status, message)) = self.carry_out(action) {
                    self.is_alike_after_restart = false;
                    conclusion = Conclusion::Refused { status, message: message.to_owned() };
                }
            }
            self.controller.conclude(&task.object, conclusion);
            assert!(self.writes.len() - before < 1000, "the controller contradicts itself");
        }
    }

    /// A write to an object that an earlier write of the same decision changed builds on it.
    pub(crate) fn with_versions(&self, action: Action, versions: &mut BTreeMap<ObjectRef, ()>) -> Action {
        let (Action::Update(object) | Action::UpdateStatus(object)) = &action else { return action };
        let key = object.reference();
        if versions.insert(key.clone(), ()).is_none() {
            return action;
        }
        let mut object = object.clone();
        let version = self.objects[&key]["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        if let Object::ResourceClaim(claim) = &mut *object {
            Arc::make_mut(claim).metadata.resource_version = version;
        }
        match action {
            Action::Update(_) => Action::Update(object),
            _ => Action::UpdateStatus(object),
        }
    }

    pub(crate) fn carry_out(&mut self, action: Action) -> Result<(), (u16, &'static str)> {
        self.is_controller = true;
        let done = self.write(action);
        self.is_controller = false;
        done
    }

    fn write(&mut self, action: Action) -> Result<(), (u16, &'static str)> {
        match action {
            Action::Create { object, .. } => {
                let value = object.write();
                if let Some(refusal) = (self.refuses)(&value) {
                    return Err(refusal);
                }
                let key = reference(&value);
                assert!(!self.objects.contains_key(&key), "{key} exists");
                self.writes.push(format!("create {key}"));
                self.put(value);
            }
            Action::UpdateStatus(object) => {
                let value = object.write();
                let key = reference(&value);
                let mut stored = self.objects[&key].clone();
                assert_eq!(stored["metadata"]["resourceVersion"], value["metadata"]["resourceVersion"]);
                stored["status"] = value["status"].clone();
                self.writes.push(format!("status {key}"));
                self.offer(stored);
            }
            Action::Update(object) => {
                let mut value = object.write();
                let key = reference(&value);
                let stored = &self.objects[&key];
                assert_eq!(stored["metadata"]["resourceVersion"], value["metadata"]["resourceVersion"]);
                value["status"] = stored["status"].clone();
                self.writes.push(format!("update {key}"));
                self.put(value);
            }
            Action::Bind { pod, uid, node } => {
                assert_eq!(self.objects[&pod]["metadata"]["uid"], json!(uid));
                assert_eq!(self.objects[&pod]["spec"]["nodeName"], Value::Null, "{pod} has a node");
                self.writes.push(format!("bind {pod} to {node}"));
                self.patch(&pod, json!({ "spec": { "nodeName": node } }));
            }
            Action::Record(event) => self.events.push(event),
            Action::Patch(patch) => {
                let fields = patch.fields;
                assert_eq!(self.objects[&patch.object]["metadata"]["uid"], json!(patch.uid));
                self.writes.push(format!("patch {}", patch.object));
                self.patch(&patch.object, fields);
            }
            Action::Delete { object, uid, resource_version } => {
                let metadata = &self.objects[&object]["metadata"];
                assert_eq!(metadata["uid"], json!(uid));
                if !resource_version.is_empty() && metadata["resourceVersion"] != *resource_version {
                    return Err((409, "somebody else was faster"));
                }
                self.writes.push(format!("delete {object}"));
                self.remove(&object);
            }
        }
        Ok(())
    }

    /// Namespaces with a template of a name.
    pub(crate) fn places(&self, name: &str) -> Vec<String> {
        let here = self.objects.keys().filter(|key| key.kind == "ResourceClaimTemplate" && key.name == name);
        here.map(|key| key.namespace.clone()).collect()
    }

    pub(crate) fn status(&self, source: &str) -> Value {
        self.objects[&source_ref(source)]["status"].clone()
    }

    /// `True` or `False`, and the reason.
    pub(crate) fn condition(&self, source: &str, kind: &str) -> (String, String) {
        let status = self.status(source);
        let condition =
            status["conditions"].as_array().unwrap().iter().find(|one| one["type"] == kind).unwrap().clone();
        let text = |field: &str| condition[field].as_str().unwrap().to_owned();
        (text("status"), text("reason"))
    }
}
