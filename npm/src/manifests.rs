//! Texts with manifests: their documents, and where things stand in them for JavaScript.

use std::collections::BTreeMap;
use std::ops::Range;

use apportion_core::finding::{Finding, Fix, ObjectRef};
use apportion_yaml::{Limits, Reading, Severity, TextIndex, read, rewrite, write};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::text;

/// What a text of YAML or JSON documents holds.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Manifests {
    text: String,
    reading: Reading,
    /// Document numbers by kind, namespace (as written) and name; of equal ones the last.
    by_object: BTreeMap<ObjectRef, usize>,
}

/// A range of a JavaScript string: `text.slice(start, end)`.
#[derive(Serialize, Clone, Copy)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Utf16Range {
    /// Where it begins.
    start: usize,
    /// Where it is over.
    end: usize,
}

/// Where a field stands in a text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Place {
    /// Number of the document, from zero; absent where a text is no document.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<usize>,
    /// Line, from one.
    line: usize,
    /// Column in characters, from one.
    column: usize,
    /// What to underline: the value where it is short, else its key.
    utf16_range: Utf16Range,
    /// False when the field itself is not there: then this is the place where it is missing.
    is_exact: bool,
}

/// One document of a text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ManifestDocument"))]
pub(crate) struct DocumentEntry {
    /// The object that it says it is; parts that it does not name are empty.
    object: ObjectRef,
    /// Its first line, from one.
    line: usize,
    /// Where it stands.
    utf16_range: Utf16Range,
    /// Whether `kubectl` refuses it; the engine then leaves it out.
    is_refused: bool,
}

/// A finding together with its place.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields, rename = "PlacedFinding"))]
pub(crate) struct Placed<'f> {
    #[serde(flatten)]
    finding: &'f Finding,
    /// Where it is, when it belongs to the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

/// What the reader tells, in the shape of a finding.
#[derive(Serialize)]
struct PlacedProblem<'p> {
    code: &'static str,
    severity: &'static str,
    message: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'p str>,
    place: Place,
}

/// A field of an object that is looked for.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Wanted {
    kind: String,
    namespace: String,
    name: String,
    path: String,
}

#[wasm_bindgen]
impl Manifests {
    /// Reads all documents of a text as `kubectl` would. Never fails.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(text: String) -> Self {
        let reading = read(text.as_bytes(), &Limits::default());
        // Collecting would be compiled with a sort.
        let mut by_object = BTreeMap::new();
        for (number, document) in reading.documents.iter().enumerate() {
            by_object.insert(reference(&document.value), number);
        }
        Self { by_object, text, reading }
    }

    /// The documents: object, place, whether `kubectl` refuses them.
    #[must_use]
    pub fn documents(&self) -> String {
        let index = self.index();
        let entries: Vec<DocumentEntry> = self
            .reading
            .documents
            .iter()
            .map(|document| DocumentEntry {
                object: reference(&document.value),
                line: index.line_column(document.span.start).line,
                utf16_range: utf16(&index, document.span.clone()),
                is_refused: document.is_refused,
            })
            .collect();
        text(&entries)
    }

    /// What the reader has to tell, in the order of the text.
    #[must_use]
    pub fn problems(&self) -> String {
        let index = self.index();
        let problems: Vec<PlacedProblem<'_>> = self
            .reading
            .problems
            .iter()
            .map(|problem| PlacedProblem {
                code: problem.code.text(),
                severity: match problem.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
                message: &problem.message,
                hint: problem.hint.as_deref(),
                place: place(&index, None, problem.span.clone(), true),
            })
            .collect();
        text(&problems)
    }

    /// A document as the JSON that `kubectl` makes of it.
    #[must_use]
    pub fn json(&self, document: usize) -> Option<String> {
        self.reading.documents.get(document).map(|document| document.value.to_string())
    }

    /// Finds fields: `[{"kind", "namespace", "name", "path"}]` in, a list of places and nulls out. Of two documents of
    /// one object the later counts, as it does for the engine.
    #[must_use]
    pub fn locate(&self, wanted: &str) -> String {
        let wanted: Vec<Wanted> = serde_json::from_str(wanted).unwrap_or_default();
        let index = self.index();
        let places: Vec<Option<Place>> =
            wanted.iter().map(|wanted| self.place_of(&index, self.number_of(wanted)?, &wanted.path)).collect();
        text(&places)
    }

    /// The text with objects, a JSON list, in the place of the documents that they are; new ones follow at the end. Comments
    /// stay where the layout allows it. `None` when the text cannot be changed like that.
    #[must_use]
    pub fn rewrite(&self, objects: &str) -> Option<String> {
        let objects: Vec<Value> = serde_json::from_str(objects).ok()?;
        let mut values: Vec<Value> = self.values();
        let mut added = String::new();
        for object in objects {
            let ObjectRef { kind, namespace, name } = reference(&object);
            let number = self.number_of(&Wanted { kind, namespace, name, ..Wanted::default() });
            match number.and_then(|number| values.get_mut(number)) {
                Some(value) => *value = object,
                None => added.push_str(&format!("---\n{}", write(&object))),
            }
        }
        let mut text = self.with_values(&values)?;
        if !(added.is_empty() || text.is_empty() || text.ends_with('\n')) {
            text.push('\n');
        }
        Some(text + &added)
    }

    /// The text with a finding's correction, a JSON text, made at a path of a document. `None` when it cannot be made there.
    #[must_use]
    pub fn correct(&self, document: usize, path: &str, fix: &str) -> Option<String> {
        let fix: Fix = serde_json::from_str(fix).ok()?;
        let mut values = self.values();
        let is_made = fix.apply(values.get_mut(document)?, path);
        if is_made { self.with_values(&values) } else { None }
    }
}

impl Manifests {
    fn values(&self) -> Vec<Value> {
        self.reading.documents.iter().map(|document| document.value.clone()).collect()
    }

    fn with_values(&self, values: &[Value]) -> Option<String> {
        let rewritten = rewrite(self.text.as_bytes(), &self.reading, values)?;
        String::from_utf8(rewritten.text).ok()
    }

    /// The documents that `kubectl` does not refuse, with their numbers.
    pub(crate) fn usable(&self) -> impl Iterator<Item = (usize, &Value)> {
        let numbered = self.reading.documents.iter().enumerate();
        numbered.filter(|(_, document)| !document.is_refused).map(|(number, document)| (number, &document.value))
    }

    /// Findings of documents, with their places, as a JSON text.
    pub(crate) fn placed(&self, findings: Vec<(usize, Vec<Finding>)>) -> String {
        let index = self.index();
        let placed: Vec<Placed<'_>> = findings
            .iter()
            .flat_map(|(number, findings)| findings.iter().map(move |finding| (*number, finding)))
            .map(|(number, finding)| Placed { finding, place: self.place_of(&index, number, &finding.path) })
            .collect();
        text(&placed)
    }

    fn number_of(&self, wanted: &Wanted) -> Option<usize> {
        let Wanted { kind, namespace, name, .. } = wanted;
        let at = |namespace: &str| {
            let object = ObjectRef { kind: kind.clone(), namespace: namespace.to_owned(), name: name.clone() };
            self.by_object.get(&object).copied()
        };
        // A namespaced object without a namespace goes to `default`.
        at(namespace).max(if namespace == "default" { at("") } else { None })
    }

    fn index(&self) -> TextIndex<&[u8]> {
        TextIndex::new(self.text.as_bytes())
    }

    fn place_of(&self, index: &TextIndex<&[u8]>, number: usize, path: &str) -> Option<Place> {
        let located = self.reading.documents.get(number)?.positions.find(path)?;
        let value = self.first_line(located.value.clone());
        let is_short = value.len() == located.value.len() && !value.is_empty();
        let span = match located.key {
            Some(key) if !(located.is_exact && is_short) => key,
            _ => value,
        };
        Some(place(index, Some(number), span, located.is_exact))
    }

    /// The part of a range before its first line break.
    fn first_line(&self, span: Range<usize>) -> Range<usize> {
        let length = self.text.get(span.clone()).and_then(|text| text.lines().next()).map_or(0, str::len);
        span.start..span.start + length
    }
}

fn place(index: &TextIndex<&[u8]>, document: Option<usize>, span: Range<usize>, is_exact: bool) -> Place {
    let start = index.line_column(span.start);
    Place { document, line: start.line, column: start.column, utf16_range: utf16(index, span), is_exact }
}

fn utf16(index: &TextIndex<&[u8]>, bytes: Range<usize>) -> Utf16Range {
    let range = index.utf16_range(bytes);
    Utf16Range { start: range.start, end: range.end }
}

/// The object that a document is, as far as it says so.
fn reference(value: &Value) -> ObjectRef {
    let metadata = |name: &str| text_at(value.get("metadata").and_then(|metadata| metadata.get(name))).to_owned();
    let name = if metadata("name").is_empty() { metadata("generateName") } else { metadata("name") };
    ObjectRef { kind: text_at(value.get("kind")).to_owned(), namespace: metadata("namespace"), name }
}

fn text_at(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    const TEXT: &str = "# ä😀\nkind: Namespace\napiVersion: v1\nmetadata:\n  name: é\n---\nkind: [\n---\n\
        kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: { name: p }\nspec:\n  device: []\n";

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn documents_and_problems_have_utf16_ranges() {
        let manifests = Manifests::new(TEXT.to_owned());
        let documents = parsed(&manifests.documents());
        assert_eq!(documents[0]["object"]["name"], "é");
        assert_eq!(documents[0]["utf16Range"]["start"], 6);
        assert_eq!(documents[1]["line"], 9);
        let problems = parsed(&manifests.problems());
        assert_eq!(problems[0]["code"], "yaml/syntax");
        assert!(manifests.json(1).unwrap().contains("\"ResourceClaim\"") && manifests.json(2).is_none());
    }

    #[test]
    fn findings_get_the_line_of_their_field() {
        let manifests = Manifests::new(TEXT.to_owned());
        let findings = parsed(&Engine::new("{}").unwrap().apply_manifests(&manifests));
        let unknown =
            findings.as_array().unwrap().iter().find(|finding| finding["code"] == "read/unknown-field").unwrap();
        assert_eq!((&unknown["place"]["line"], &unknown["place"]["document"]), (&13.into(), &1.into()));
    }

    #[test]
    fn fields_are_found_by_object() {
        let manifests = Manifests::new(TEXT.to_owned());
        let places = parsed(&manifests.locate(
            r#"[{"kind":"ResourceClaim","namespace":"default","name":"p","path":"spec.devices"},{"kind":"Pod","name":"q"}]"#,
        ));
        assert_eq!((&places[0]["line"], &places[0]["isExact"]), (&12.into(), &false.into()));
        assert!(places[1].is_null());
        assert_eq!(manifests.locate("garbage"), "[]");
    }

    #[test]
    fn objects_are_changed_in_the_text_and_new_ones_follow() {
        let manifests = Manifests::new("# kept\nkind: A\nmetadata:\n  name: a # too\nspec: 1\n".to_owned());
        let changed = r#"[{"kind":"A","metadata":{"name":"a"},"spec":2},{"kind":"B","metadata":{"name":"b"}}]"#;
        let expected = "# kept\nkind: A\nmetadata:\n  name: a # too\nspec: 2\n---\nkind: B\nmetadata:\n  name: b\n";
        assert_eq!(manifests.rewrite(changed).as_deref(), Some(expected));
        assert_eq!(manifests.rewrite("garbage"), None);
    }

    #[test]
    fn a_correction_is_made_where_its_finding_is() {
        let manifests = Manifests::new("kind: A\nspek: # why\n- x\n".to_owned());
        let corrected = manifests.correct(0, "spek", r#"{"rename":"spec"}"#);
        assert_eq!(corrected.as_deref(), Some("kind: A\nspec: # why\n- x\n"));
        assert_eq!(manifests.correct(0, "none", r#"{"rename":"spec"}"#), None);
        assert_eq!(manifests.correct(1, "spek", r#"{"rename":"spec"}"#), None);
    }
}
