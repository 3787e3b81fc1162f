//! Objects with versions, and what happened to them.

use std::collections::BTreeMap;

use apportion_core::check::History;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use serde_json::{Map, Value, json};

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    /// Whether something is to be changed, apart from leases and events.
    pub(crate) fn is_write(&self) -> bool {
        self.method != "GET" && !self.path.contains("/leases") && !self.path.contains("/events")
    }
}

/// Something that goes wrong for the next requests that it fits.
pub(crate) struct Fault {
    pub(crate) fits: fn(&Request) -> bool,
    pub(crate) times: usize,
    /// HTTP status; 0 for a connection that ends without an answer, 1 for a write that happens and whose answer is lost. With 429
    /// the server wants to be left alone for three seconds.
    pub(crate) code: u16,
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) version: u64,
    pub(crate) kind: &'static str,
    pub(crate) plural: String,
    pub(crate) object: Value,
    /// Whether the test made it, or the server itself.
    pub(crate) is_given: bool,
}

/// Plural, namespace, name.
type Key = (String, String, String);

/// Says why an object may not be created: status and sentence.
type Admission = fn(&Value) -> Option<(u16, String)>;

/// Everything that the server knows.
#[derive(Default)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Value>,
    pub(crate) version: u64,
    pub(crate) changes: Vec<Change>,
    /// Whether what is changed now is not asked for by a request.
    is_given: bool,
    pub(crate) requests: Vec<Request>,
    pub(crate) faults: Vec<Fault>,
    /// Plurals, or plurals with a subresource, that nobody may ask for.
    pub(crate) forbidden: Vec<&'static str>,
    /// `group/version/plural` that are not served.
    pub(crate) missing: Vec<&'static str>,
    /// Versions up to this one are forgotten: watches from them are told so.
    pub(crate) compacted: u64,
    /// Whether watches tell nothing.
    pub(crate) is_silent: bool,
    /// The kind of which they tell nothing.
    pub(crate) silent: &'static str,
    /// The kind of which lists are empty.
    pub(crate) unlisted: &'static str,
    /// How often watches were cut.
    pub(crate) cut: u64,
    /// Says why an object may not be created: status and sentence.
    pub(crate) admit: Option<Admission>,
    /// Objects of one page, whatever the client asks for.
    pub(crate) page: Option<usize>,
}

/// When everything happens.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

/// Why a write is refused: HTTP status, reason, sentence.
pub(crate) type Refusal = (u16, &'static str, String);

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Plural of a kind: the server has no schema.
fn plural(object: &Value) -> String {
    let kind = text(object, "/kind").to_lowercase();
    if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") }
}

fn key(plural: &str, object: &Value) -> Key {
    (plural.to_owned(), text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}

impl Store {
    pub(crate) fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.objects.get(&(plural.to_owned(), namespace.to_owned(), name.to_owned())).cloned()
    }

    pub(crate) fn list(&self, plural: &str) -> Vec<Value> {
        self.of(plural).cloned().collect()
    }

    /// The objects of a kind, by namespace and name.
    pub(crate) fn of(&self, plural: &str) -> impl Iterator<Item = &Value> {
        let first = (plural.to_owned(), String::new(), String::new());
        self.objects.range(first..).take_while(move |(key, _)| key.0 == plural).map(|(_, object)| object)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Value> {
        self.objects.values()
    }

    /// Stores an object whatever was there.
    pub(crate) fn put(&mut self, object: Value) {
        let plural = plural(&object);
        match self.get(&plural, text(&object, "/metadata/namespace"), text(&object, "/metadata/name")) {
            Some(old) => drop(self.replace(&plural, merged(old, &object))),
            None => drop(self.create(&plural, object)),
        }
    }

    pub(crate) fn create(&mut self, plural: &str, mut object: Value) -> Result<Value, Refusal> {
        let key = key(plural, &object);
        if self.objects.contains_key(&key) {
            return Err((409, "AlreadyExists", format!("{plural} \"{}\" already exists", key.2)));
        }
        if let Some((code, sentence)) = self.admit.and_then(|admit| admit(&object)) {
            let reason = if code == 403 { "Forbidden" } else { "Invalid" };
            return Err((code, reason, sentence));
        }
        if self.get("namespaces", "", &key.1).is_some_and(|namespace| is_going(&namespace)) {
            let sentence =
                format!("unable to create new content in namespace {} because it is being terminated", key.1);
            return Err((403, "Forbidden", sentence));
        }
        self.version += 1;
        let version = self.version;
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.entry("uid").or_insert_with(|| json!(format!("uid-{version}")));
        metadata.entry("creationTimestamp").or_insert_with(|| json!(BEGINNING));
        metadata.insert("generation".to_owned(), json!(1));
        fill_in(&mut object);
        Ok(self.commit("ADDED", key, object))
    }

    /// Stores a changed object. Its version must be that of the stored one, where it has one.
    pub(crate) fn replace(&mut self, plural: &str, mut object: Value) -> Result<Value, Refusal> {
        let key = key(plural, &object);
        let Some(old) = self.objects.get(&key) else { return Err(not_found(&key)) };
        for field in ["/metadata/resourceVersion", "/metadata/uid"] {
            let wanted = text(&object, field);
            if !wanted.is_empty() && wanted != text(old, field) {
                return Err((409, "Conflict", format!("{plural} \"{}\" has been modified", key.2)));
            }
        }
        if plural == "resourceclaimtemplates" && old["spec"] != object["spec"] {
            return Err((422, "Invalid", "spec: field is immutable".to_owned()));
        }
        let generation = old["metadata"]["generation"].as_u64().unwrap_or_default();
        let is_new = old["spec"] != object["spec"];
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.insert("generation".to_owned(), json!(generation + u64::from(is_new)));
        metadata.insert("uid".to_owned(), old["metadata"]["uid"].clone());
        metadata.insert("creationTimestamp".to_owned(), old["metadata"]["creationTimestamp"].clone());
        metadata.insert("resourceVersion".to_owned(), old["metadata"]["resourceVersion"].clone());
        if &object == old {
            return Ok(object);
        }
        self.version += 1;
        if is_going(&object) && !is_kept(&object) {
            return Ok(self.commit("DELETED", key, object));
        }
        Ok(self.commit("MODIFIED", key, object))
    }

    fn commit(&mut self, kind: &'static str, key: Key, mut object: Value) -> Value {
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        match kind {
            "DELETED" => drop(self.objects.remove(&key)),
            _ => drop(self.objects.insert(key.clone(), object.clone())),
        }
        self.changes.push(Change {
            version: self.version,
            kind,
            plural: key.0,
            object: object.clone(),
            is_given: self.is_given,
        });
        object
    }

    /// Deletes an object; one with finalizers stays until they are gone.
    pub(crate) fn delete(&mut self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let key = (plural.to_owned(), namespace.to_owned(), name.to_owned());
        let mut object = self.objects.get(&key)?.clone();
        if is_kept(&object) && is_going(&object) {
            return Some(object);
        }
        self.version += 1;
        if is_kept(&object) {
            object["metadata"]["deletionTimestamp"] = json!(BEGINNING);
            return Some(self.commit("MODIFIED", key, object));
        }
        Some(self.commit("DELETED", key, object))
    }

    /// Deletes what is owned by something that is gone.
    pub(crate) fn collect_garbage(&mut self) {
        self.given(Self::collect);
    }

    /// Forgets Events, as an API server does after an hour.
    pub(crate) fn forget_events(&mut self) {
        self.objects.retain(|key, _| key.0 != "events");
    }

    /// Does what no request asks for.
    pub(crate) fn given<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_given, true);
        let done = change(self);
        self.is_given = before;
        done
    }

    /// Laws that changes asked for by requests broke, each with its version.
    pub(crate) fn broken_laws(&self) -> Vec<(u64, Finding)> {
        let mut history = History::new(Profile::default());
        let mut broken = Vec::new();
        for change in &self.changes {
            let found = history.note(json!({ "type": change.kind, "object": change.object }));
            let found =
                found.into_iter().filter(|finding| !change.is_given && finding.code.text().starts_with("check/"));
            broken.extend(found.map(|finding| (change.version, finding)));
        }
        broken
    }

    fn collect(&mut self) {
        let uids: Vec<String> = self.objects.values().map(|object| text(object, "/metadata/uid").to_owned()).collect();
        let is_orphan = |object: &Value| {
            let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
            owners.is_some_and(|owners| owners.iter().all(|owner| !uids.contains(&text(owner, "/uid").to_owned())))
        };
        let gone: Vec<Key> =
            self.objects.iter().filter(|(_, object)| is_orphan(object)).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.delete(&key.0, &key.1, &key.2);
        }
    }

    /// The fault for a request, used up by one.
    pub(crate) fn fault(&mut self, request: &Request) -> Option<u16> {
        let fault = self.faults.iter_mut().find(|fault| fault.times > 0 && (fault.fits)(request))?;
        fault.times -= 1;
        Some(fault.code)
    }

    /// Writes that were asked for, leases and events apart.
    pub(crate) fn writes(&self) -> usize {
        self.requests.iter().filter(|request| request.is_write()).count()
    }
}

fn is_going(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// Whether somebody has to do something first before the object may go.
fn is_kept(object: &Value) -> bool {
    object.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|names| !names.is_empty())
}

/// What the API server fills in.
fn fill_in(object: &mut Value) {
    if object["kind"] == "ResourceClaimTemplate" {
        let requests = object.pointer_mut("/spec/spec/devices/requests").and_then(Value::as_array_mut);
        for asked in requests.into_iter().flatten().filter_map(|request| request["exactly"].as_object_mut()) {
            asked.entry("allocationMode").or_insert(json!("ExactCount"));
            asked.entry("count").or_insert(json!(1));
        }
    }
}

pub(crate) fn not_found(key: &Key) -> Refusal {
    (404, "NotFound", format!("{} \"{}\" not found", key.0, key.2))
}

/// Fields put over others: objects are merged, and so are lists whose items have a key; `null` removes, all else is replaced.
pub(crate) fn merged(mut under: Value, over: &Value) -> Value {
    let (Some(target), Some(source)) = (under.as_object_mut(), over.as_object()) else { return over.clone() };
    for (name, value) in source {
        if value.is_null() {
            target.remove(name);
        } else {
            let old = target.remove(name).unwrap_or_else(|| Value::Object(Map::new()));
            let keyed = ["conditions", "resourceClaimStatuses"].into_iter().zip(["type", "name"]);
            let key = keyed.into_iter().find_map(|(list, key)| (list == name).then_some(key));
            let new = match (key, old, value) {
                (Some(key), Value::Array(mut items), Value::Array(over)) => {
                    items.retain(|item| over.iter().all(|new| new[key] != item[key]));
                    Value::Array(items.into_iter().chain(over.iter().cloned()).collect())
                }
                (_, old, value) => merged(old, value),
            };
            target.insert(name.clone(), new);
        }
    }
    under
}
