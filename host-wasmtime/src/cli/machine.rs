//! The answer for programs. The form changes with [`FORMAT`] only, apart from fields that are added.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::{EngineArguments, KubernetesArguments, ModeChoice, Output};
use super::input::{Input, Taken};
use super::note::MachineNote;

/// Version of the machine formats.
pub(crate) const FORMAT: &str = "apportion/v1";

/// Bytes that are written together.
const PIECE: usize = 64 << 10;

/// The whole text: what it is, who answered, and the body's fields.
pub(crate) fn write(kind: &str, engine: &EngineArguments, body: Value, output: Output) -> String {
    let mode = match engine.mode {
        ModeChoice::Sound => "sound",
        ModeChoice::Reference => "reference",
    };
    let mut kubernetes = kubernetes(&engine.kubernetes);
    kubernetes.insert("mode".to_owned(), json!(mode));
    text(&document(kind, kubernetes, body), output)
}

/// The Kubernetes that answered.
pub(crate) fn kubernetes(arguments: &KubernetesArguments) -> Map<String, Value> {
    let gates: Map<String, Value> =
        arguments.feature_gates.iter().map(|(name, enabled)| (name.clone(), json!(enabled))).collect();
    let version = json!(arguments.kubernetes_version.to_string());
    Map::from_iter([("version".to_owned(), version), ("featureGates".to_owned(), Value::Object(gates))])
}

/// What it is, who answered, and the body's fields.
pub(crate) fn document(kind: &str, kubernetes: Map<String, Value>, body: Value) -> Value {
    let mut map = Map::new();
    map.insert("format".to_owned(), json!(FORMAT));
    map.insert("kind".to_owned(), json!(kind));
    map.insert("kubernetes".to_owned(), Value::Object(kubernetes));
    if let Value::Object(body) = body {
        map.extend(body);
    }
    Value::Object(map)
}

/// What was read.
pub(crate) fn input(input: &Input, taken: &Taken) -> Value {
    let files: Vec<&str> = input.sources.iter().map(|source| source.name.as_str()).collect();
    let findings: Vec<MachineNote<'_>> = taken.notes.iter().map(|note| note.for_machines(&input.sources)).collect();
    json!({ "files": files, "objects": taken.kinds, "leftAside": taken.aside, "refused": taken.refused, "findings": findings })
}

/// A value as text.
pub(crate) fn text(value: &impl Serialize, output: Output) -> String {
    match output {
        Output::Yaml => apportion_yaml::write(&json!(value)),
        Output::Json | Output::Table => {
            let mut text = Vec::new();
            // A vector takes everything, and JSON is UTF-8.
            drop(pretty(value, &mut text));
            String::from_utf8(text).unwrap_or_default()
        }
    }
}

/// Writes a value as JSON.
pub(crate) fn pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, out);
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()
}
