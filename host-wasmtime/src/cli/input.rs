//! From files to objects in a cluster, with everything there is to say about them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use anyhow::Result;
use apportion::Door;
use apportion_core::finding::{Code, Finding, ObjectRef, Severity};
use apportion_core::validate::goes_to_default_namespace;
use apportion_yaml::{Located, Positions};
use serde_json::Value;

use super::files::{STDIN, Source};
use super::note::{Note, Place, numbers, order};
use super::shown::Verdict;
use super::text::{self, clean};

/// All that was read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) sources: Vec<Source>,
    pub(crate) documents: Vec<Document>,
    /// The documents as JSON; trees of values would take many times the room.
    pub(crate) texts: Vec<String>,
    /// What the reader said.
    pub(crate) problems: Vec<Note>,
    /// Documents that kubectl refuses as text.
    pub(crate) refused: usize,
    /// Files of folders in which nothing has a kind, such as `values.yaml`: they are no manifests, and nothing is said of them.
    pub(crate) skipped: Vec<String>,
    /// Whether somebody interrupted before everything was read.
    pub(crate) is_cut: bool,
}

/// One object: what tells it from others, and where it stands.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) source: usize,
    pub(crate) positions: Positions,
    group: String,
    written: ObjectRef,
    is_manifest: bool,
}

impl Document {
    /// What tells the object from all others: group, kind, namespace and name. `None` without kind or name.
    pub(crate) fn identity(&self) -> Option<(String, ObjectRef)> {
        identified(self.group.clone(), self.reference())
    }

    /// Whether it is meant to be an object of Kubernetes: it has a kind, or an API version where only the kind was forgotten.
    pub(crate) fn is_manifest(&self) -> bool {
        self.is_manifest
    }

    /// Kind, namespace and name as they are written.
    pub(crate) fn written_reference(&self) -> ObjectRef {
        self.written.clone()
    }

    /// Kind, namespace (`default` where none is written) and name, as far as the document has them.
    pub(crate) fn reference(&self) -> ObjectRef {
        in_default_namespace(self.written.clone())
    }

    pub(crate) fn of_object(source: usize, value: &Value, positions: Positions) -> Self {
        let (group, written) = (group(value), written_reference(value));
        let is_of_core =
            value.get("apiVersion").is_some_and(|version| version == "v1") && value.get("metadata").is_some();
        let is_manifest = !written.kind.is_empty() || !group.is_empty() || is_of_core;
        Self { source, positions, group, written, is_manifest }
    }
}

fn written_reference(value: &Value) -> ObjectRef {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    ObjectRef { kind: text("/kind"), namespace: text("/metadata/namespace"), name: text("/metadata/name") }
}

fn group(value: &Value) -> String {
    let api_version = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    api_version.split_once('/').map_or("", |(group, _)| group).to_owned()
}

/// Puts an object that names no namespace into one, as `kubectl apply -n` does, unless its kind has none or the namespace has no name.
/// Returns whether it was put there.
pub(crate) fn put_into(object: &mut Value, namespace: &str) -> bool {
    let is_put = !namespace.is_empty() && goes_to_default_namespace(object);
    match object.get_mut("metadata").and_then(Value::as_object_mut) {
        Some(metadata) if is_put => {
            metadata.insert("namespace".to_owned(), Value::from(namespace));
            true
        }
        _ => false,
    }
}

pub(crate) fn in_default_namespace(mut object: ObjectRef) -> ObjectRef {
    object.namespace = space(&object).to_owned();
    object
}

/// The namespace of an object, as kubectl fills it in.
fn space(object: &ObjectRef) -> &str {
    if object.namespace.is_empty() { "default" } else { &object.namespace }
}

/// Group, kind, namespace and name of an object; `None` without kind or name.
pub(crate) fn identity(value: &Value) -> Option<(String, ObjectRef)> {
    identified(group(value), in_default_namespace(written_reference(value)))
}

fn identified(group: String, object: ObjectRef) -> Option<(String, ObjectRef)> {
    let is_known = !object.kind.is_empty() && !object.name.is_empty();
    is_known.then_some((group, object))
}

/// What became of the documents.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Objects in the cluster, by kind.
    pub(crate) kinds: BTreeMap<String, usize>,
    /// Objects that play no part.
    pub(crate) aside: usize,
    /// Documents with an error.
    pub(crate) refused: usize,
    /// Files that are no manifests.
    skipped: Vec<String>,
    pub(crate) notes: Vec<Note>,
}

impl Input {
    /// Objects that have no text.
    pub(crate) fn of_objects(source: Source, objects: Vec<Value>) -> Self {
        let document = |object: Value| (Document::of_object(0, &object, Positions::nowhere()), object.to_string());
        let (documents, texts) = objects.into_iter().map(document).unzip();
        Self {
            sources: vec![source],
            documents,
            texts,
            problems: Vec::new(),
            refused: 0,
            skipped: Vec::new(),
            is_cut: false,
        }
    }

    /// That texts were not read, and what follows from it; empty where all were.
    pub(crate) fn unread(&self) -> String {
        let errors = self.problems.iter().filter(|note| note.severity == Severity::Error);
        let mut places = errors.filter_map(|note| note.region(&self.sources));
        let shown: Vec<String> =
            places.by_ref().take(MOST_SKIPPED).map(|place| format!("{}:{}", clean(place.file), place.line)).collect();
        let more = match places.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match shown.is_empty() {
            true => String::new(),
            false => format!(
                "note: the text at {}{more} was not read; an object that is said to be missing may be in there\n",
                shown.join(", ")
            ),
        }
    }

    /// See [`put_into`].
    pub(crate) fn put_into(&mut self, namespace: &str) {
        if namespace.is_empty() {
            return;
        }
        for (document, text) in self.documents.iter_mut().zip(&mut self.texts) {
            let Ok(mut object) = serde_json::from_str::<Value>(text) else { continue };
            if put_into(&mut object, namespace) {
                namespace.clone_into(&mut document.written.namespace);
                *text = object.to_string();
            }
        }
    }

    /// What was read later comes behind.
    pub(crate) fn add(&mut self, later: Self) {
        let moved = self.sources.len();
        self.sources.extend(later.sources);
        self.documents.extend(later.documents.into_iter().map(|mut document| {
            document.source = document.source.saturating_add(moved);
            document
        }));
        self.texts.extend(later.texts);
        self.problems.extend(later.problems.into_iter().map(|mut problem| {
            if let Some(place) = &mut problem.place {
                place.source = place.source.saturating_add(moved);
            }
            problem
        }));
        self.refused = self.refused.saturating_add(later.refused);
        self.skipped.extend(later.skipped);
    }

    /// Gives all documents to a cluster.
    pub(crate) fn apply(&self, door: &mut dyn Door) -> Result<Taken> {
        Ok(self.taken(door.submit(&self.texts)?))
    }

    /// The object of a document.
    pub(crate) fn object(&self, document: usize) -> Value {
        // The text was made of a value.
        self.texts.get(document).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The objects of all documents.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Value> {
        (0..self.documents.len()).map(|document| self.object(document))
    }

    /// What became of the documents, by what was found in each.
    pub(crate) fn taken(&self, findings: Vec<Vec<Finding>>) -> Taken {
        let places = Places::new(self);
        let mut taken = Taken {
            refused: self.refused,
            skipped: self.skipped.clone(),
            notes: self.problems.clone(),
            ..Taken::default()
        };
        let refused = refused(&findings);
        for (index, (document, findings)) in self.documents.iter().zip(findings).enumerate() {
            if document.reference().kind.ends_with("List") {
                // One without objects; the others were read as their objects.
                continue;
            }
            if findings.iter().any(|finding| finding.severity == Severity::Error) {
                taken.refused = taken.refused.saturating_add(1);
            } else if findings.iter().any(|finding| finding.code == Code::ReadUnknownKind) {
                taken.aside = taken.aside.saturating_add(1);
            } else {
                let kind = taken.kinds.entry(document.reference().kind).or_default();
                *kind = kind.saturating_add(1);
            }
            taken.notes.extend(findings.into_iter().map(|finding| {
                let place = places.of_document(index, &finding);
                Note::of_finding(finding, place)
            }));
        }
        taken.notes.extend(self.repeated(&places, &refused));
        taken.notes.sort_by_key(order);
        taken
    }

    /// Everything there is to say: what the reader said, what was found by document, and more.
    pub(crate) fn notes(&self, findings: Vec<Vec<Finding>>, more: Vec<Note>) -> Vec<Note> {
        let places = Places::new(self);
        let number = findings.iter().map(Vec::len).fold(more.len(), usize::saturating_add);
        let mut notes = self.problems.clone();
        notes.reserve_exact(number);
        for (index, (document, findings)) in self.documents.iter().zip(findings).enumerate() {
            notes.extend(findings.into_iter().map(|mut finding| {
                let place = places.of_document(index, &finding);
                finding.object.get_or_insert_with(|| document.written_reference());
                Note::of_finding(finding, place)
            }));
        }
        notes.extend(more);
        notes
    }

    /// Documents that a name does not lead to: of objects that the input has more than once, and of those without kind or name.
    pub(crate) fn ambiguous(&self) -> Vec<usize> {
        let mut known: BTreeMap<ObjectRef, Vec<usize>> = BTreeMap::new();
        for (index, document) in self.documents.iter().enumerate() {
            known.entry(document.reference()).or_default().push(index);
        }
        let is_named = |object: &ObjectRef| !object.kind.is_empty() && !object.name.is_empty();
        let ambiguous = known.into_iter().filter(|(object, documents)| documents.len() > 1 || !is_named(object));
        ambiguous.flat_map(|(_, documents)| documents).collect()
    }

    /// Objects that replace an earlier one. Equal ones, as Namespaces that stand in every file, are worth no warning. Documents that are
    /// refused replace nothing.
    pub(crate) fn repeated(&self, places: &Places<'_>, refused: &BTreeSet<usize>) -> Vec<Note> {
        let mut known: HashMap<[&str; 4], (&Document, &String)> = HashMap::with_capacity(self.documents.len());
        let mut notes = Vec::new();
        for (index, (document, text)) in self.documents.iter().zip(&self.texts).enumerate() {
            let Document { group, written: object, .. } = document;
            if object.kind.is_empty() || object.name.is_empty() {
                continue;
            }
            let key = [group, &object.kind, space(object), &object.name];
            let is_refused = refused.contains(&index);
            let earlier = match known.get(&key).filter(|_| is_refused) {
                Some(earlier) => Some(*earlier),
                None => known.insert(key, (document, text)),
            };
            let Some((earlier, earlier_text)) = earlier else { continue };
            // A manifest on top of a cluster is meant to replace what is there.
            let is_live = self.sources.get(earlier.source).is_some_and(|source| source.is_cluster);
            if is_live || earlier_text == text {
                continue;
            }
            let (line, file) = self.line_of(earlier);
            let what = if is_refused { "is refused and does not replace" } else { "replaces" };
            let message = format!("{} `{}` {what} the one at {file}:{line}", object.kind, object.name);
            let finding = Finding::new(Code::ReadRepeatedObject, "metadata.name", message)
                .with_hint("give the files apart where they are variants of one another");
            let place = places.of_document(index, &finding);
            // As it is written: without a namespace it may be of a kind that has none.
            notes.push(Note::of_finding(finding.about(document.written_reference()), place));
        }
        notes
    }

    fn line_of(&self, document: &Document) -> (usize, &str) {
        let Some(source) = self.sources.get(document.source) else { return (0, "") };
        let start = document.positions.find("").map_or(0, |located| located.value.start);
        (source.line_column(start).0, &source.name)
    }
}

/// Positions of documents that are refused, by what was found in each.
pub(crate) fn refused(findings: &[Vec<Finding>]) -> BTreeSet<usize> {
    let is_error = |finding: &Finding| finding.severity == Severity::Error;
    let all = findings.iter().enumerate();
    all.filter(|(_, found)| found.iter().any(is_error)).map(|(index, _)| index).collect()
}

/// Kinds in the order in which they matter for allocation; others come behind by name.
const KINDS: [&str; 7] =
    ["Node", "ResourceSlice", "DeviceClass", "ResourceClaimTemplate", "ResourceClaim", "Pod", "Namespace"];

impl Taken {
    pub(crate) fn has_errors(&self) -> bool {
        numbers(&self.notes).0 > 0
    }

    /// The verdict of an answer: no where something of the input was left out, whatever the answer is.
    pub(crate) fn verdict(&self, is_fine: bool) -> Verdict {
        Verdict::of(is_fine && !self.has_errors())
    }

    /// Where the answer is not about all that is written: errors and warnings in numbers.
    pub(crate) fn problems(&self) -> Option<String> {
        let (errors, warnings) = numbers(&self.notes);
        let warned = text::count(warnings, "warning");
        match (errors, warnings) {
            (0, 0) => None,
            (0, _) => Some(format!("The input has {warned}, reported on standard error.")),
            (_, _) => {
                let and = if warnings > 0 { format!(" and {warned}") } else { String::new() };
                let errors = text::count(errors, "error");
                Some(format!("The input has {errors}{and}, reported on standard error; invalid objects are left out."))
            }
        }
    }

    /// What was read, in one sentence.
    pub(crate) fn sentence(&self, sources: &[Source]) -> String {
        let mut kinds: Vec<(&String, &usize)> = self.kinds.iter().collect();
        kinds.sort_by_key(|(kind, _)| KINDS.iter().position(|known| known == kind).unwrap_or(KINDS.len()));
        let mut parts: Vec<String> = kinds.into_iter().map(|(kind, number)| text::count(*number, kind)).collect();
        if self.aside > 0 {
            parts.push(format!("{} without a part in allocation", self.aside));
        }
        if self.refused > 0 {
            parts.push(format!("{} with errors, left out", self.refused));
        }
        let all = self.kinds.values().copied().fold(self.aside.saturating_add(self.refused), usize::saturating_add);
        let place = match sources {
            [only] if only.name == STDIN => STDIN.to_owned(),
            [only] => format!("`{}`", only.name),
            [live, files @ ..] if live.is_cluster => {
                format!("`{}` and {}", live.name, text::count(files.len(), "file"))
            }
            _ => text::count(sources.len().saturating_sub(self.skipped.len()), "file"),
        };
        let skipped = no_manifests(&self.skipped).map(|skipped| format!("; {skipped}")).unwrap_or_default();
        match parts.is_empty() {
            true => format!("Read no object from {place}{skipped}"),
            false => format!("Read {} from {place}: {}{skipped}", text::count(all, "object"), parts.join(", ")),
        }
    }
}

/// Files that are named where several are no manifests.
const MOST_SKIPPED: usize = 3;

/// That files were left aside, in words; `None` where none was.
pub(crate) fn no_manifests(skipped: &[String]) -> Option<String> {
    let names: Vec<&str> = skipped.iter().take(MOST_SKIPPED).map(String::as_str).collect();
    let more = match skipped.len().saturating_sub(MOST_SKIPPED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match skipped.len() {
        0 => None,
        1 => Some(format!("1 file is no manifest: {}", names.join(", "))),
        number => Some(format!("{number} files are no manifests: {}{more}", names.join(", "))),
    }
}

/// Finds the place of a finding by the object it is about.
#[derive(Debug)]
pub(crate) struct Places<'i> {
    input: &'i Input,
    /// Made when an object is sought.
    documents: OnceCell<BTreeMap<ObjectRef, usize>>,
}

impl<'i> Places<'i> {
    pub(crate) fn new(input: &'i Input) -> Self {
        Self { input, documents: OnceCell::new() }
    }

    /// The place of a field of an object of the input.
    pub(crate) fn find(&self, finding: &Finding) -> Option<Place> {
        let mut object = finding.object.clone()?;
        if object.namespace.is_empty() {
            object.namespace = "default".to_owned();
        }
        let all = || self.input.documents.iter().enumerate().map(|(index, document)| (document.reference(), index));
        let documents = self.documents.get_or_init(|| all().collect());
        self.of_document(*documents.get(&object)?, finding)
    }

    /// The place of a finding in the document that it is about.
    pub(crate) fn of_document(&self, document: usize, finding: &Finding) -> Option<Place> {
        let document = self.input.documents.get(document)?;
        let source = self.input.sources.get(document.source)?;
        let located = document.positions.find(&finding.path)?;
        // Of a field that nobody knows the name matters, not the value.
        let span = match (&located.key, finding.code) {
            (Some(key), Code::ReadUnknownField) => key.clone(),
            _ => to_underline(&located, &source.text),
        };
        Some(Place { source: document.source, span })
    }
}

/// What to underline of a field: its value where that stands on one line, else its key, else the value's first line.
fn to_underline(located: &Located, text: &[u8]) -> Range<usize> {
    let value = &located.value;
    let written = text.get(value.clone()).unwrap_or_default();
    let first_line = written.iter().position(|byte| *byte == b'\n');
    match (&located.key, first_line) {
        // A field whose path goes on beyond what is written lacks something: its key shows where.
        (Some(key), _) if !located.is_exact => key.clone(),
        (_, None) if !written.is_empty() => value.clone(),
        (Some(key), _) => key.clone(),
        (None, Some(length)) => value.start..value.start.saturating_add(length),
        (None, None) => value.clone(),
    }
}
