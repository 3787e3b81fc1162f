//! The JavaScript door: core and the YAML reader through wasm-bindgen. It translates and decides nothing.
//!
//! Everything crosses as text. Objects, questions and answers are JSON texts, because one `JSON.parse` is faster than
//! building values piece by piece, and because integers beyond 2^53 survive in a text. The JavaScript in `entry/` makes
//! typed values of them; its functions ending in `Text` hand the texts through as they are.

mod control;
mod history;
mod life;
mod manifests;
mod question;
#[cfg(test)]
mod typescript;

use apportion_core::engine::Engine as Core;
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::wire;
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::wasm_bindgen;

pub use control::Controller;
pub use history::History;
pub use life::{Simulation, inspect, read_script};
pub use manifests::Manifests;
pub use question::{answer, convert, evaluate, validate};

use apportion_heap as _;

/// The version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// A cluster's facts and the questions about them.
#[wasm_bindgen]
#[derive(Clone, Debug)]
pub struct Engine(Core);

#[wasm_bindgen]
impl Engine {
    /// An engine over an empty cluster. `settings` is the JSON text that `wire::settings` reads.
    ///
    /// # Errors
    ///
    /// The findings as a JSON text, when a setting is not known.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> Result<Self, String> {
        let settings = question::parse(settings).map_err(|finding| text(&[finding]))?;
        let (profile, limits) = wire::settings(settings).map_err(|findings| text(&findings))?;
        Ok(Self(Core::new(profile, limits)))
    }

    /// Takes objects in, each one JSON text. Returns a list of findings per object.
    pub fn apply(&mut self, objects: Vec<String>) -> String {
        text(&self.0.apply(objects.iter().map(String::as_str)))
    }

    /// Has the API server admit objects, each one JSON text. Returns a list of findings per object.
    pub fn submit(&mut self, objects: Vec<String>) -> String {
        text(&self.0.submit(objects.iter().map(String::as_str)))
    }

    /// Has the API server admit all usable documents of a text. Returns what is to be told about all of them, with places.
    #[wasm_bindgen(js_name = applyManifests)]
    pub fn apply_manifests(&mut self, manifests: &Manifests) -> String {
        let findings: Vec<(usize, Vec<Finding>)> = manifests
            .usable()
            .map(|(number, value)| {
                (number, self.0.submit([value.to_string().as_str()]).into_iter().flatten().collect())
            })
            .collect();
        manifests.placed(findings)
    }

    /// Removes an object. False when there is none.
    pub fn remove(&mut self, kind: &str, namespace: &str, name: &str) -> bool {
        self.0.delete(&object_ref(kind, namespace, name))
    }

    /// An object as a JSON text, as it is now.
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<String> {
        self.0.get(&object_ref(kind, namespace, name)).map(|object| object.to_string())
    }

    /// Answers a question, or a list of them, in JSON texts. A question that cannot be read has the status `unreadable`.
    pub fn allocate(&mut self, questions: &str) -> String {
        question::text(wire::allocate(&mut self.0, questions))
    }

    /// On which nodes the claims of a question fit, or those of each of a list; in JSON texts, as `Fits::to_json` writes it.
    pub fn fits(&mut self, questions: &str) -> String {
        question::text(wire::fits(&mut self.0, questions))
    }

    /// Answers a question about claims of one Pod that are in the cluster, in JSON texts.
    #[wasm_bindgen(js_name = allocateKnown)]
    pub fn allocate_known(&mut self, question: &str) -> String {
        question::text(wire::allocate_known(&mut self.0, question))
    }

    /// The same for each of the claims by itself, one after another: a list of answers.
    #[wasm_bindgen(js_name = allocateEach)]
    pub fn allocate_each(&mut self, question: &str) -> String {
        question::text(wire::allocate_each(&mut self.0, question))
    }

    /// Keeps a question: `{"prepared": 7}`, which stands for it.
    pub fn prepare(&mut self, question: &str) -> String {
        question::answered(question, |question| wire::prepare(&mut self.0, question))
    }

    /// Drops a question that was prepared, `{"prepared": 7}`: whether there was one.
    pub fn forget(&mut self, prepared: &str) -> String {
        question::answered(prepared, |prepared| wire::forget(&mut self.0, prepared))
    }

    /// Answers a question that changes nothing, both JSON texts: `{"answer": ..}` or `{"findings": [..]}`.
    pub fn inquire(&self, inquiry: &str) -> String {
        let answer = question::parse(inquiry).map_err(|finding| vec![finding]);
        match answer.and_then(|inquiry| self.0.inquire(inquiry)) {
            Ok(answer) => text(&serde_json::json!({ "answer": answer })),
            Err(findings) => text(&serde_json::json!({ "findings": findings })),
        }
    }

    /// Plays the cluster's controllers and scheduler until nothing changes. Returns the report.
    pub fn run(&mut self) -> String {
        text(&self.0.run())
    }

    /// An engine with the same facts, to try something out.
    pub fn fork(&self) -> Self {
        Self(self.0.fork())
    }

    /// Takes over the facts of another engine.
    pub fn adopt(&mut self, other: &Self) {
        self.0.adopt(&other.0);
    }

    /// Goes back to the facts with which this fork was made. False where it was made in another way.
    pub fn revert(&mut self) -> bool {
        self.0.revert()
    }
}

fn object_ref(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// The JSON text of an answer. All keys of our maps are text, so writing cannot fail.
pub(crate) fn text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: &str =
        r#"{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"},"spec":{"extra":1}}"#;

    #[test]
    fn objects_go_in_and_come_out() {
        let mut engine = Engine::new("{}").unwrap();
        let findings = engine.apply(vec![CLASS.to_owned(), "garbage".to_owned()]);
        assert!(findings.starts_with(r#"[[{"code":"read/unknown-field""#), "{findings}");
        assert!(findings.contains("read/bad-json"), "{findings}");
        let class = engine.get("DeviceClass", "", "c").unwrap();
        assert!(class.contains(r#""extra":1"#), "{class}");
        let mut fork = engine.fork();
        assert!(fork.remove("DeviceClass", "", "c") && !fork.remove("DeviceClass", "", "c"));
        assert!(engine.get("DeviceClass", "", "c").is_some() && fork.get("DeviceClass", "", "c").is_none());
    }

    /// The same fixture that `npm/test/engine.test.js` holds against the module: native and wasm report the same.
    #[test]
    fn the_example_is_reported_as_the_module_does() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
        let mut files: Vec<_> = std::fs::read_dir(format!("{root}../examples/gpu-sharing"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
            .collect();
        files.sort();
        let mut engine = Engine::new("{}").unwrap();
        for file in files {
            assert_eq!(engine.apply_manifests(&Manifests::new(std::fs::read_to_string(file).unwrap())), "[]");
        }
        let mut report: Value = serde_json::from_str(&engine.run()).unwrap();
        remove_words(&mut report);
        let fixture = std::fs::read_to_string(format!("{root}test/gpu-sharing.report.json")).unwrap();
        assert_eq!(report, serde_json::from_str::<Value>(&fixture).unwrap());
    }

    fn remove_words(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|name, _| name != "message" && name != "hint");
                map.values_mut().for_each(remove_words);
            }
            Value::Array(items) => items.iter_mut().for_each(remove_words),
            _ => {}
        }
    }

    #[test]
    fn bad_settings_are_refused_with_findings() {
        assert!(Engine::new("{").unwrap_err().contains("read/bad-json"));
        assert!(Engine::new(r#"{"version":"2.0"}"#).unwrap_err().contains("read/bad-settings"));
    }
}
