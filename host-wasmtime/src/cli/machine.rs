//! The answer for programs. The form changes with [`FORMAT`] only, apart from fields that are added.

use serde_json::{Map, Value, json};

use super::args::{EngineArguments, ModeChoice, Output};
use super::input::{Input, Taken};
use super::write_yaml::write_yaml;

/// Version of the machine formats.
pub(crate) const FORMAT: &str = "apportion/v1";

/// The whole text: what it is, who answered, and the body's fields.
pub(crate) fn write(kind: &str, engine: &EngineArguments, body: Value, output: Output) -> String {
    let gates: Map<String, Value> =
        engine.feature_gates.iter().map(|(name, enabled)| (name.clone(), json!(enabled))).collect();
    let mode = match engine.mode {
        ModeChoice::Sound => "sound",
        ModeChoice::Reference => "reference",
    };
    let kubernetes = json!({ "version": engine.kubernetes_version.to_string(), "featureGates": gates, "mode": mode });
    let mut map = Map::new();
    map.insert("format".to_owned(), json!(FORMAT));
    map.insert("kind".to_owned(), json!(kind));
    map.insert("kubernetes".to_owned(), kubernetes);
    if let Value::Object(body) = body {
        map.extend(body);
    }
    text(&Value::Object(map), output)
}

/// What was read.
pub(crate) fn input(input: &Input, taken: &Taken) -> Value {
    let files: Vec<&str> = input.sources.iter().map(|source| source.name.as_str()).collect();
    let findings: Vec<Value> = taken.notes.iter().map(|note| note.to_json(&input.sources)).collect();
    json!({ "files": files, "objects": taken.kinds, "leftAside": taken.aside, "refused": taken.refused, "findings": findings })
}

/// A value as text.
pub(crate) fn text(value: &Value, output: Output) -> String {
    match output {
        Output::Yaml => write_yaml(value),
        Output::Json | Output::Table => format!("{value:#}\n"),
    }
}
