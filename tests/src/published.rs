//! Verdicts on published manifests: the recording names a file and a document, the object is read from the collection.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use apportion_core::profile::Features;
use serde_json::{Map, Value, json};

/// Gates that no server of the recorded version has.
const LATER: [&str; 2] = ["ClusterResourceClaimTemplates", "DRAFractionalCapacityRange"];

/// The collection, beside the folder of all recordings; each file is read once.
#[derive(Debug)]
pub struct Published {
    root: PathBuf,
    files: BTreeMap<String, Vec<Value>>,
}

impl Published {
    /// The collection that belongs to a file of verdicts.
    pub fn beside(verdicts: &Path) -> Self {
        let root = verdicts.ancestors().nth(3).unwrap_or(verdicts).join("realworld");
        Self { root, files: BTreeMap::new() }
    }

    /// Whether a case is a verdict on a published manifest.
    pub fn is_verdict(case: &Value) -> bool {
        ["file", "document", "errors"].iter().all(|name| case.get(name).is_some()) && case.get("object").is_none()
    }

    /// The case with its object, as a creation with every gate on; unchanged where there is no such object.
    pub fn complete(&mut self, mut case: Value) -> Value {
        let file = text(&case, "file").to_owned();
        let root = &self.root;
        let documents = self.files.entry(file).or_insert_with_key(|file| {
            let bytes = fs::read(root.join(file)).unwrap_or_default();
            let reading = apportion_yaml::read(&bytes, &apportion_yaml::Limits::default());
            reading.documents.into_iter().map(|document| document.value).collect()
        });
        // Empty documents count in the recording, and the reader takes lists apart: kind and name decide.
        let number = case.get("document").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let is_wanted = |value: &Value| {
            let name = value.pointer("/metadata/name").or_else(|| value.pointer("/metadata/generateName"));
            text(value, "kind") == text(&case, "kind")
                && name.and_then(Value::as_str).unwrap_or_default() == text(&case, "name")
        };
        let candidates = documents.iter().enumerate().filter(|(_, value)| is_wanted(value));
        let nearest = candidates.min_by_key(|(at, _)| at.abs_diff(number.unwrap_or_default()));
        let Some(mut object) = nearest.map(|(_, object)| object.clone()) else { return case };
        let is_cluster_scoped = matches!(text(&case, "kind"), "DeviceClass" | "ResourceSlice" | "DeviceTaintRule");
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
            && !is_cluster_scoped
        {
            metadata.entry("namespace").or_insert_with(|| json!("test"));
        }
        let gates: Map<String, Value> =
            Features::gates().map(|gate| (gate.to_owned(), json!(!LATER.contains(&gate)))).collect();
        if let Some(map) = case.as_object_mut() {
            map.insert("object".to_owned(), object);
            map.insert("operation".to_owned(), json!("create"));
            map.insert("featureGates".to_owned(), Value::Object(gates));
        }
        case
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
