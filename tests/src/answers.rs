//! What API servers answered, recorded: a request that can be made again, and causes, or the object as it was stored.
//!
//! A file holds the answers of one release. Its first line says which, the second one has the texts of causes; then come the stored objects
//! that requests are made from, then a request and its answer per line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::door::{Asked, Question};
use crate::generate::requests::{Bases, Edit, Request, difference};

/// The first line of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The release, `v1.36.5`.
    pub kubernetes: String,
    /// Feature gates that are on, and off where a request says so; the others are as the release has them.
    pub gates: Vec<String>,
}

impl Header {
    /// Major and minor version.
    pub fn minor(&self) -> &str {
        let version = self.kubernetes.trim_start_matches('v');
        version.rsplit_once('.').map_or(version, |(minor, _)| minor)
    }
}

/// A stored object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Base {
    /// Its id.
    pub stored: String,
    /// What it holds.
    pub object: Value,
}

/// What the server said.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Accepted: what the stored object has otherwise than the one sent, as far as [`relevant`].
    Stored(Vec<Edit>),
    /// Refused: the field of each cause, and which of the [texts](Recording::texts) it has.
    Causes(Vec<(String, usize)>),
    /// Refused without causes: HTTP status and text.
    Refused(u64, String),
}

/// A request and its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The request.
    #[serde(flatten)]
    pub request: Request,
    /// The answer.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// One file.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    /// What it is of.
    pub header: Header,
    /// Types and texts of causes.
    pub texts: Vec<(String, String)>,
    /// Stored objects.
    pub bases: Bases,
    /// Requests and answers.
    pub lines: Vec<Line>,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it is not a recording.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let header = serde_json::from_str(lines.next().context("the file is empty")?).context("no header")?;
        let texts = serde_json::from_str(lines.next().context("no texts")?).context("no texts")?;
        let (mut bases, mut requests) = (Bases::new(), Vec::new());
        for line in lines {
            if line.starts_with("{\"stored\":\"") {
                let base: Base = serde_json::from_str(line)?;
                bases.insert(base.stored, base.object);
            } else {
                requests.push(serde_json::from_str(line).with_context(|| line.to_owned())?);
            }
        }
        Ok(Self { header, texts, bases, lines: requests })
    }

    /// The file.
    ///
    /// # Errors
    ///
    /// None that can occur: everything in it is JSON.
    pub fn text(&self) -> Result<String> {
        let mut lines = vec![serde_json::to_string(&self.header)?, serde_json::to_string(&self.texts)?];
        for (stored, object) in &self.bases {
            lines.push(serde_json::to_string(&Base { stored: stored.clone(), object: object.clone() })?);
        }
        for line in &self.lines {
            lines.push(serde_json::to_string(line)?);
        }
        Ok(lines.join("\n") + "\n")
    }

    /// The settings under which a request is answered.
    pub fn settings(&self, request: &Request) -> Value {
        let known: Vec<&str> = apportion_core::profile::Features::gates().collect();
        let gates: BTreeMap<&String, bool> = (self.header.gates.iter())
            .filter(|gate| known.contains(&gate.as_str()))
            .map(|gate| (gate, !request.off))
            .collect();
        json!({ "version": self.header.minor(), "featureGates": gates, "mode": "reference" })
    }

    /// A request as the engine is asked it.
    pub fn submission(&self, request: &Request) -> Option<Value> {
        let object = request.object(&self.bases)?;
        let old = request.old.as_ref().and_then(|old| self.bases.get(old));
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
        Some(json!({
            "adminNamespace": namespace == Some("admin"),
            "operation": request.operation(),
            "oldObject": old,
            "object": object,
        }))
    }

    /// The same for any door.
    pub fn asked(&self, request: &Request) -> Option<Asked> {
        let question = Question::Validate(self.submission(request)?);
        Some(Asked { settings: self.settings(request), objects: Vec::new(), question })
    }
}

/// Every recording below a path; none where it has none.
///
/// # Errors
///
/// When a file cannot be read.
pub fn below(path: &Path) -> Result<Vec<Recording>> {
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            files.push(entry?.path());
        }
        files.sort();
        let inner: Result<Vec<Vec<Recording>>> = files.iter().map(|file| below(file)).collect();
        return Ok(inner?.into_iter().flatten().collect());
    }
    if path.extension().is_none_or(|extension| extension != "jsonl") {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !is_recording(&text) {
        return Ok(Vec::new());
    }
    Ok(vec![Recording::parse(&text).with_context(|| format!("{} is no recording", path.display()))?])
}

/// Whether a text is that of a recording.
pub fn is_recording(text: &str) -> bool {
    text.starts_with("{\"kubernetes\":")
}

/// Differences by what they are, with how often each occurs and an example.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally(BTreeMap<String, (usize, String)>);

impl Tally {
    /// Counts what differs in one answer.
    pub fn add(&mut self, recording: &Recording, line: &Line, differences: Vec<Difference>) {
        let base = recording.bases.get(&line.request.base);
        let kind = base.and_then(|base| base.get("kind")).and_then(Value::as_str).unwrap_or_default();
        for difference in differences {
            let key = format!("{} {kind} {} {difference}", recording.header.minor(), line.request.operation());
            self.0.entry(key).or_insert_with(|| (0, json!(line).to_string().chars().take(400).collect())).0 += 1;
        }
    }

    /// What is not as listed. Of what is listed only `looks_at` counts.
    pub fn judge(&self, listed: &Listed, looks_at: impl Fn(&str) -> bool) -> Vec<String> {
        let counted = |key: &String| self.0.get(key).map_or(0, |(count, _)| *count);
        let gone = (listed.0.iter())
            .filter(|(key, count)| looks_at(key) && counted(key) != **count)
            .map(|(key, count)| format!("listed {count} times, is {}: {key}", counted(key)));
        let new = (self.0.iter())
            .filter(|(key, _)| !listed.0.contains_key(*key))
            .map(|(key, (count, example))| format!("{count} {key}\n    {example}"));
        gone.chain(new).collect()
    }
}

impl Tally {
    /// A list with the counts of today: what no longer differs goes, and what is new comes to the end, where the last reason stands.
    pub fn rewritten(&self, listed: &str) -> String {
        let mut new: BTreeMap<&String, usize> = self.0.iter().map(|(key, (count, _))| (key, *count)).collect();
        let mut lines: Vec<String> = Vec::new();
        for line in listed.lines() {
            match line.split_once(' ').filter(|_| !line.starts_with('#')) {
                None => lines.push(line.to_owned()),
                Some((_, key)) => {
                    lines.extend(new.remove(&key.to_owned()).map(|count| format!("{count} {key}")));
                }
            }
        }
        lines.extend(new.into_iter().map(|(key, count)| format!("{count} {key}")));
        lines.join("\n") + "\n"
    }
}

/// Differences that are meant: how often each occurs, below a line with the reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listed(BTreeMap<String, usize>);

impl Listed {
    /// Reads `# REASON` and `COUNT DIFFERENCE` lines.
    ///
    /// # Errors
    ///
    /// When a line is neither, or has no reason.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut listed, mut has_reason) = (BTreeMap::new(), false);
        for line in text.lines().filter(|line| !line.is_empty()) {
            if line.starts_with("# ") {
                has_reason = true;
                continue;
            }
            let (count, key) = line.split_once(' ').with_context(|| format!("no count: {line}"))?;
            ensure!(has_reason, "no reason: {line}");
            let count: usize = count.parse().with_context(|| format!("no count: {line}"))?;
            ensure!(listed.insert(key.to_owned(), count).is_none(), "listed twice: {key}");
        }
        Ok(Self(listed))
    }
}

/// Whether a difference is one of stored objects, which only the native core is asked for.
pub fn is_of_storage(key: &str) -> bool {
    ["stored: ", "the recorded change has", "cannot be converted"].iter().any(|what| key.contains(what))
}

/// A difference between an answer and the recorded one, without positions: equal ones are counted together.
pub type Difference = String;

/// How the findings of an answer differ from what was recorded.
pub fn differences(recording: &Recording, line: &Line, answer: &Value) -> Vec<Difference> {
    let findings = answer.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |finding: &Value, name: &str| finding.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut said: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut found: Vec<(String, String)> = (findings.iter())
        .filter(|finding| finding.get("kind").is_some())
        .filter(|finding| said.insert((text(finding, "kind"), text(finding, "path"), text(finding, "message"))))
        .map(|finding| (text(finding, "kind").to_ascii_lowercase(), text(finding, "path")))
        .map(|(kind, path)| (if kind == "internal" { "internalerror".to_owned() } else { kind }, path))
        .collect();
    let refused = ["read/no-kind", "validate/not-served", "validate/too-large"];
    let is_refused =
        !found.is_empty() || findings.iter().any(|finding| refused.contains(&text(finding, "code").as_str()));
    let recorded = match &line.outcome {
        Outcome::Refused(..) if is_refused => return Vec::new(),
        Outcome::Refused(code, what) => return vec![format!("accepted, recorded: {code} {}", plain(what))],
        Outcome::Stored(_) => &Vec::new(),
        Outcome::Causes(causes) => causes,
    };
    let mut differences = Vec::new();
    for (field, text) in recorded {
        let kind = recording.texts.get(*text).map(|(kind, _)| kind.as_str()).unwrap_or_default();
        let cause = (kind.to_ascii_lowercase(), field.clone());
        match found.iter().position(|other| *other == cause) {
            Some(position) => drop(found.swap_remove(position)),
            None => differences.push(format!("missing {kind} {}", plain(field))),
        }
    }
    if recorded.is_empty() && is_refused && found.is_empty() {
        differences.push("refused, recorded: accepted".to_owned());
    }
    differences.extend(found.iter().map(|(kind, path)| format!("surplus {kind} {}", plain(path))));
    differences
}

/// How an object that was accepted would be stored otherwise than recorded. None for one that was refused.
pub fn stored_differences(recording: &Recording, line: &Line, object: Value) -> Vec<Difference> {
    let (Outcome::Stored(edits), Some(sent)) = (&line.outcome, line.request.object(&recording.bases)) else {
        return Vec::new();
    };
    let version = sent.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let mut expected = relevant(&sent);
    if edits.iter().any(|edit| edit.apply(&mut expected).is_none()) {
        return vec!["the recorded change has no place".to_owned()];
    }
    match apportion_core::validate::convert(object, version) {
        Ok(made) => difference(&expected, &relevant(&made))
            .into_iter()
            .map(|edit| match edit {
                Edit::Remove(at) => format!("not stored: {}", plain(&at)),
                Edit::Set(at, value) if value.is_object() || value.is_array() => format!("stored: {}", plain(&at)),
                Edit::Set(at, value) => format!("stored: {} = {value}", plain(&at)),
                other => format!("stored: {}", plain(other.at())),
            })
            .collect(),
        Err(_) => vec![format!("cannot be converted to {version}")],
    }
}

/// A text without positions in lists.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for part in text.split_inclusive(['[', ']', '/']) {
        let end = part.len().saturating_sub(usize::from(part.ends_with([']', '/'])));
        let (inner, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        plain.push_str(if inner.bytes().all(|byte| byte.is_ascii_digit()) { "" } else { inner });
        plain.push_str(rest);
    }
    plain
}

/// What a stored object has otherwise than the one sent.
pub fn stored(sent: &Value, stored: &Value) -> Vec<Edit> {
    difference(&relevant(sent), &relevant(stored))
}

/// An object without what each server makes up and without what says nothing; of a Pod only what is about claims and groups.
pub fn relevant(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        let made =
            ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "name", "generateName"];
        metadata.retain(|name, value| !made.contains(&name.as_str()) && !value.is_null());
    }
    if object.get("kind") == Some(&json!("Pod")) {
        keep(
            &mut object,
            "/spec",
            &["containers", "initContainers", "resourceClaims", "schedulingGroup", "workloadRef"],
        );
        let status = ["resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"];
        keep(&mut object, "/status", &status);
        for containers in ["/spec/containers", "/spec/initContainers"] {
            for container in object.pointer_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
                keep(container, "", &["resources"]);
            }
        }
    }
    drop_empty(&mut object);
    object
}

/// Takes out what says nothing, which servers write for some fields and not for others.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(drop_empty);
            map.retain(|name, value| match value {
                Value::Null => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                // Here being there is what counts.
                Value::Object(map) => !map.is_empty() || ["basic", "single", "all", "gang"].contains(&name.as_str()),
                Value::Number(_) => name != "generation" || *value != json!(0),
                Value::Bool(_) => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

fn keep(object: &mut Value, at: &str, names: &[&str]) {
    if let Some(Value::Object(map)) = object.pointer_mut(at) {
        map.retain(|name, _| names.contains(&name.as_str()));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests look at what must be there")]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_must_have_a_reason_and_show() {
        assert!(Listed::parse("2 1.36 Pod create surplus Invalid spec\n").is_err());
        let listed = Listed::parse("# why\n2 1.36 Pod create surplus Invalid spec\n").unwrap();
        assert_eq!(Tally::default().judge(&listed, |_| true).len(), 1);
        let once = Tally(BTreeMap::from([("1.36 Pod create surplus Invalid spec".to_owned(), (2, String::new()))]));
        assert!(once.judge(&listed, |_| true).is_empty());
        assert_eq!(once.judge(&Listed::default(), |_| true).len(), 1);
    }
}
