//! Requests to an API server: objects as they are stored, each with one change that its schema suggests.

mod edit;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

pub use edit::{Edit, difference};
use serde_json::{Value, json};
use walk::{Samples, Schemas, Walk};

/// Objects that the server stores before it is asked, as JSON: `id`, `versions` in which it may be created, `object`, `status`.
pub const BASES: &str = include_str!("bases.json");

/// One request, as it is written beside its answer.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Request {
    /// The object that is sent, before it is changed.
    pub base: String,
    /// The object that is stored; for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<Edit>,
    /// Whether the feature gates of devices and groups are off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// Objects as stored, by the id of the base and the version in which they were read, `claim@v1`. Ids of those with a status end in
/// [`DONE`].
pub type Bases = BTreeMap<String, Value>;

/// How the id of a base with a status ends.
pub const DONE: &str = "-done";

impl Request {
    /// What is asked: of an object with a status that is changed.
    pub fn operation(&self) -> &'static str {
        let name = self.base.split('@').next().unwrap_or_default();
        match self.old {
            None => "create",
            Some(_) if name.ends_with(DONE) => "statusUpdate",
            Some(_) => "update",
        }
    }

    /// The object that is sent. `None` where the change has no place.
    pub fn object(&self, bases: &Bases) -> Option<Value> {
        let mut object = bases.get(&self.base)?.clone();
        let metadata = match &self.old {
            Some(old) => bases.get(old)?.get("metadata")?.clone(),
            None => {
                let mut metadata = object.get("metadata")?.clone();
                let map = metadata.as_object_mut()?;
                map.retain(|name, _| ["namespace", "labels"].contains(&name.as_str()));
                map.insert("name".to_owned(), json!("made"));
                object.as_object_mut()?.remove("status");
                metadata
            }
        };
        object.as_object_mut()?.insert("metadata".to_owned(), metadata);
        if let Some(edit) = &self.edit {
            edit.apply(&mut object)?;
        }
        Some(object)
    }
}

/// Changes of metadata, for one base of each kind. Those of names are for creation only.
fn of_metadata(is_new: bool) -> Vec<Edit> {
    let set = |at: &str, value: Value| Edit::Set(format!("/metadata/{at}"), value);
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b", "controller": true });
    let mut edits = vec![
        set("labels", json!({ "Bad Key": "x" })),
        set("labels", json!({ "a": "bad value" })),
        set("labels", json!({ "a": 7 })),
        set("labels", json!([])),
        set("annotations", json!({ "Bad Key": "x" })),
        set("annotations", json!({ "a": "any value" })),
        set("finalizers", json!(["example.com/f"])),
        set("finalizers", json!(["bad"])),
        set("finalizers", json!(["Bad Key"])),
        set("ownerReferences", json!([{}])),
        set("ownerReferences", json!([owner])),
        set("ownerReferences", json!([owner, owner])),
        set("unknownField", json!(1)),
    ];
    if is_new {
        edits.push(Edit::Remove("/metadata/name".to_owned()));
        let names = ["Bad_Name", "-", "a.b", "a/b", ""].map(|name| set("name", json!(name)));
        edits.extend(names);
        edits.extend([64, 253, 254].map(|length| Edit::Text("/metadata/name".to_owned(), "a".to_owned(), length)));
        edits.extend([set("resourceVersion", json!("1")), set("generation", json!(7)), set("uid", json!("x"))]);
    } else {
        edits.extend([set("resourceVersion", json!("")), set("generation", json!(0))]);
    }
    edits
}

/// Where the fields are that matter here.
fn places(kind: &str, operation: &str) -> &'static [&'static str] {
    match (kind, operation) {
        ("Pod", "statusUpdate") => &[
            "/status/resourceClaimStatuses",
            "/status/extendedResourceClaimStatus",
            "/status/nodeAllocatableResourceClaimStatuses",
        ],
        ("Pod", _) => &[
            "/spec/resourceClaims",
            "/spec/containers/0/resources/claims",
            "/spec/initContainers/0/resources/claims",
            "/spec/schedulingGroup",
            "/spec/workloadRef",
        ],
        (_, "statusUpdate") => &["/status"],
        _ => &["/spec"],
    }
}

/// Every request that the bases and their schemas suggest, in an order of its own. `schemas` are the documents of API versions.
pub fn requests(bases: &Bases, schemas: &BTreeMap<String, Value>) -> Vec<Request> {
    let mut samples: BTreeMap<&str, Samples> = BTreeMap::new();
    for object in bases.values() {
        let Some((api_version, root, schemas)) = schema(object, schemas) else { continue };
        schemas.sample(&root, object, samples.entry(api_version).or_default());
    }
    let none = Samples::new();
    let (mut made, mut kinds, mut asked) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (id, object) in bases {
        let Some((api_version, root, schemas)) = schema(object, schemas) else { continue };
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        let name = id.split('@').next().unwrap_or_default();
        let first = name.strip_suffix(DONE).map(|first| id.replacen(name, first, 1));
        let operations: Vec<(&str, Option<String>)> = match &first {
            // An object with a status: it is given to one without, and changed.
            Some(first) => vec![("statusUpdate", Some(first.clone())), ("statusUpdate", Some(id.clone()))],
            None => vec![("create", None), ("update", Some(id.clone()))],
        };
        for (operation, old) in operations {
            // The newest version is asked everything, older ones less.
            let version = id.split('@').nth(1).unwrap_or_default();
            let is_newest = !["v1", "v1beta1"].iter().any(|newer| {
                let is_newer = version.len() > newer.len() || version.starts_with("v1beta") && *newer == "v1";
                is_newer && version != *newer && bases.contains_key(&format!("{name}@{newer}"))
            });
            let is_changed = old.as_ref() == Some(id);
            let mut walk = Walk {
                schemas: &schemas,
                samples: samples.get(api_version).unwrap_or(&none),
                is_short: !is_newest || is_changed,
                edits: Vec::new(),
                seen: BTreeSet::new(),
            };
            for place in places(kind, operation) {
                let parent = place.rsplit_once('/').map_or("", |(parent, _)| parent);
                walk.edits.push(Edit::Remove((*place).to_owned()));
                let Some(value) = object.pointer(place) else { continue };
                if object.pointer(parent).is_some()
                    && let Some(schema) = at(&schemas, &root, place)
                {
                    walk.value(&schema, value, place);
                }
            }
            let mut edits = walk.edits;
            if !is_newest {
                edits = edits.into_iter().step_by(5).collect();
            }
            if operation != "statusUpdate" && kinds.insert((operation, api_version.to_owned(), kind.to_owned())) {
                edits.extend(of_metadata(operation == "create"));
            }
            let edits = std::iter::once(None).chain(edits.into_iter().map(Some));
            for edit in edits {
                let request = Request { base: id.clone(), old: old.clone(), edit, off: false };
                // A change that changes nothing is asked once.
                let Some(object) = request.object(bases) else { continue };
                if asked.insert((operation.to_owned(), old.clone(), object.to_string())) {
                    made.push(request);
                }
            }
        }
    }
    made
}

/// API version, schema of the kind, and all schemas of that version.
fn schema<'b>(object: &'b Value, documents: &'b BTreeMap<String, Value>) -> Option<(&'b str, Value, Schemas<'b>)> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let schemas = Schemas(documents.get(api_version)?);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let root = schemas.of_kind(group, version, object.get("kind")?.as_str()?)?;
    Some((api_version, root, schemas))
}

/// The schema of a place.
fn at(schemas: &Schemas<'_>, root: &Value, place: &str) -> Option<Value> {
    let mut schema = root.clone();
    for step in place.split('/').skip(1) {
        schema = schemas.step(&schema, step)?;
    }
    Some(schema)
}
