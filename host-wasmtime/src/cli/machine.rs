//! The answer for programs. The form changes with [`FORMAT`] only, apart from fields that are added.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arguments::{EngineArguments, KubernetesArguments, ModeChoice, Output, RankingChoice};
use super::input::{Input, Taken};
use super::note::{MachineNote, Note};

/// Version of the machine formats.
pub(crate) const FORMAT: &str = "apportion/v1";

/// Bytes that are written together.
const PIECE: usize = 64 << 10;

/// The mode as it is written.
pub(crate) fn mode(mode: ModeChoice) -> &'static str {
    match mode {
        ModeChoice::Sound => "sound",
        ModeChoice::Reference => "reference",
    }
}

/// Which node a Pod gets, as it is written.
pub(crate) fn placement(placement: RankingChoice) -> &'static str {
    match placement {
        RankingChoice::First => "first",
        RankingChoice::Scores => "scores",
    }
}

/// The Kubernetes that answered, whether with its defects, and which node Pods get.
pub(crate) fn kubernetes_in_mode(arguments: &EngineArguments) -> Map<String, Value> {
    let mut kubernetes = kubernetes(&arguments.kubernetes);
    kubernetes.insert("mode".to_owned(), json!(mode(arguments.mode)));
    kubernetes.insert("placement".to_owned(), json!(placement(arguments.placement())));
    kubernetes
}

/// The Kubernetes that answered.
pub(crate) fn kubernetes(arguments: &KubernetesArguments) -> Map<String, Value> {
    let gates: Map<String, Value> =
        arguments.feature_gates.iter().map(|(name, enabled)| (name.clone(), json!(enabled))).collect();
    let version = json!(arguments.kubernetes_version.to_string());
    Map::from_iter([("version".to_owned(), version), ("featureGates".to_owned(), Value::Object(gates))])
}

/// The whole text: what it is, who answered, and the body's fields.
pub(crate) fn document(kind: &str, kubernetes: &Map<String, Value>, body: Value, output: Output) -> String {
    let mut document = json!({ "format": FORMAT, "kind": kind, "kubernetes": kubernetes });
    if let (Value::Object(body), Some(map)) = (body, document.as_object_mut()) {
        map.extend(body);
    }
    text(&document, output)
}

/// What was read.
pub(crate) fn input(input: &Input, taken: &Taken) -> Value {
    json!({
        "files": files(input), "objects": taken.kinds, "leftAside": taken.aside, "refused": taken.refused,
        "findings": findings(input, &taken.notes),
    })
}

/// What was read, by name.
pub(crate) fn files(input: &Input) -> Vec<&str> {
    input.sources.iter().map(|source| source.name.as_str()).collect()
}

pub(crate) fn findings<'n>(input: &'n Input, notes: &'n [Note]) -> Vec<MachineNote<'n>> {
    notes.iter().map(|note| note.for_machines(&input.sources)).collect()
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
