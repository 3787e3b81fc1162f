//! `record_validation --program PROGRAM --output FILE`: what the API server of one release answers to generated requests.
//!
//! Nothing is changed by the requests: they are dry runs. What they are made from is stored first.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use apportion_tests::answers::{Header, Line, Outcome, Recording, stored};
use apportion_tests::api_server::ApiServer;
use apportion_tests::generate::requests::{BASES, Bases, DONE, Edit, Request, requests};
use clap::Parser;
use serde_json::{Value, json};

/// Records what an API server answers to generated requests.
#[derive(Parser)]
struct Arguments {
    /// The program with etcd and kube-apiserver in it.
    #[arg(long)]
    program: PathBuf,
    /// Where the recording goes.
    #[arg(long)]
    output: PathBuf,
}

/// What each server makes up, as it is recorded.
const UID: &str = "00000000-0000-4000-8000-000000000000";
const VERSION: &str = "1";
const TIME: &str = "2026-01-01T00:00:00Z";

/// How many of the requests are repeated with gates off: one of so many.
const SHARE: usize = 8;

/// How long a text may be before its middle is left out.
const LONGEST: usize = 200;

/// An answer with more causes than this is not recorded: it says one thing again and again.
const MOST_CAUSES: usize = 30;

/// Names in paths and whether objects have a namespace, by API version and kind.
type Kinds = BTreeMap<(String, String), (String, bool)>;

struct Recorder {
    server: ApiServer,
    kinds: Kinds,
    bases: Bases,
    /// Metadata as the server has it, by base.
    metadata: BTreeMap<String, Value>,
    /// Types and texts of causes so far, each with its number.
    texts: BTreeMap<(String, String), usize>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut server = ApiServer::new(&arguments.program)?;
    let gates = server.gates();
    eprintln!("gates: {}", gates.join(" "));
    server.start(&gates, true)?;
    let (_, version) = server.ask("GET", "/version", &Value::Null)?;
    let kubernetes = text(&version, "/gitVersion").to_owned();
    let mut recorder = Recorder {
        server,
        kinds: Kinds::new(),
        bases: Bases::new(),
        metadata: BTreeMap::new(),
        texts: BTreeMap::new(),
    };
    recorder.discover()?;
    recorder.store()?;
    let mut schemas = BTreeMap::new();
    for (api_version, _) in recorder.kinds.keys().cloned().collect::<Vec<_>>() {
        let (code, schema) =
            recorder.server.ask("GET", &format!("/openapi/v3{}", folder(&api_version)), &Value::Null)?;
        ensure!(code == 200, "no schema of {api_version}: {schema}");
        schemas.insert(api_version, schema);
    }
    let requests = requests(&recorder.bases, &schemas);
    eprintln!("{kubernetes}: {} objects, {} requests", recorder.bases.len(), requests.len());
    let mut lines = Vec::new();
    for request in &requests {
        lines.push(recorder.line(request.clone())?);
    }
    recorder.server.start(&gates, false)?;
    let share = requests.iter().enumerate().filter(|(index, request)| index % SHARE == 0 || request.edit.is_none());
    for (_, request) in share {
        lines.push(recorder.line(Request { off: true, ..request.clone() })?);
    }
    lines.retain(|line| !matches!(&line.outcome, Outcome::Causes(causes) if causes.len() > MOST_CAUSES));
    let mut texts: Vec<_> = recorder.texts.into_iter().collect();
    texts.sort_by_key(|(_, number)| *number);
    let texts = texts.into_iter().map(|(text, _)| text).collect();
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &lines {
        let kind = match line.outcome {
            Outcome::Stored(_) => "accepted",
            Outcome::Causes(_) => "refused with causes",
            Outcome::Refused(..) => "refused otherwise",
        };
        *sums.entry(kind).or_default() += 1;
    }
    let recording = Recording { header: Header { kubernetes, gates }, texts, bases: recorder.bases, lines };
    let text = recording.text()?;
    ensure!(Recording::parse(&text)? == recording, "the recording cannot be read back");
    eprintln!("{sums:?}, {} bytes", text.len());
    fs::write(&arguments.output, text).with_context(|| format!("{} cannot be written", arguments.output.display()))
}

fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

fn folder(api_version: &str) -> String {
    if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") }
}

impl Recorder {
    /// Which kinds are served in which versions.
    fn discover(&mut self) -> Result<()> {
        let mut versions = vec!["v1".to_owned()];
        for group in ["resource.k8s.io", "scheduling.k8s.io"] {
            let (_, served) = self.server.ask("GET", &format!("/apis/{group}"), &Value::Null)?;
            let served = served.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
            versions.extend(served.iter().map(|version| text(version, "/groupVersion").to_owned()));
        }
        let bases: Vec<Value> = serde_json::from_str(BASES)?;
        for version in versions {
            let (_, list) = self.server.ask("GET", &folder(&version), &Value::Null)?;
            for resource in list.get("resources").and_then(Value::as_array).into_iter().flatten() {
                let (name, kind) = (text(resource, "/name"), text(resource, "/kind"));
                let group = |api_version: &str| api_version.split_once('/').map(|(group, _)| group.to_owned());
                let is_ours = bases.iter().any(|base| {
                    text(base, "/object/kind") == kind && group(text(base, "/object/apiVersion")) == group(&version)
                });
                if is_ours && !name.contains('/') {
                    let namespaced = resource.get("namespaced") == Some(&json!(true));
                    self.kinds.insert((version.clone(), kind.to_owned()), (name.to_owned(), namespaced));
                }
            }
        }
        Ok(())
    }

    /// The path of an object, or of its list where it is to be created.
    fn path(&self, object: &Value, namespace: &str) -> Option<String> {
        let key = (text(object, "/apiVersion").to_owned(), text(object, "/kind").to_owned());
        let (name, is_namespaced) = self.kinds.get(&key)?;
        let folder = folder(&key.0);
        Some(if *is_namespaced {
            format!("{folder}/namespaces/{namespace}/{name}")
        } else {
            format!("{folder}/{name}")
        })
    }

    /// Stores every base that this server takes, and reads it in every version.
    fn store(&mut self) -> Result<()> {
        let label = json!({ "resource.kubernetes.io/admin-access": "true" });
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "admin", "labels": label } });
        self.server.ask("POST", "/api/v1/namespaces", &namespace)?;
        // Some admission looks for the node of a slice.
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" },
            "status": { "declaredFeatures": ["DRANodeAllocatableResources"] } });
        self.server.ask("POST", "/api/v1/nodes", &node)?;
        let bases: Vec<Value> = serde_json::from_str(BASES)?;
        for base in bases {
            let versions = base.get("versions").and_then(Value::as_array).cloned().unwrap_or_default();
            let object = base.get("object").context("no object")?;
            let group = text(object, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
            let kind = text(object, "/kind");
            let full = |version: &str| if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            let served = versions.iter().filter_map(Value::as_str).map(full);
            let Some(version) =
                served.into_iter().find(|version| self.kinds.contains_key(&(version.clone(), kind.to_owned())))
            else {
                eprintln!("{} is of no version here", text(&base, "/id"));
                continue;
            };
            let mut object = object.clone();
            set(&mut object, "/apiVersion", json!(version));
            self.store_one(text(&base, "/id"), object.clone(), None)?;
            if let Some(status) = base.get("status") {
                let id = format!("{}{DONE}", text(&base, "/id"));
                set(&mut object, "/metadata/name", json!(id));
                self.store_one(&id, object, Some(status))?;
            }
        }
        Ok(())
    }

    fn store_one(&mut self, id: &str, object: Value, status: Option<&Value>) -> Result<()> {
        let namespace = text(&object, "/metadata/namespace").to_owned();
        let list = self.path(&object, &namespace).context("a kind that is not served")?;
        let (code, mut made) = self.server.ask("POST", &list, &object)?;
        if code != 201 {
            eprintln!("{id} is not taken: {}", text(&made, "/message"));
            return Ok(());
        }
        let name = text(&made, "/metadata/name").to_owned();
        if let Some(status) = status {
            set(&mut made, "/status", status.clone());
            let (code, answer) = self.server.ask("PUT", &format!("{list}/{name}/status"), &made)?;
            if code != 200 {
                eprintln!("the status of {id} is not taken: {}", text(&answer, "/message"));
                return Ok(());
            }
        }
        let (api_version, kind) = (text(&object, "/apiVersion"), text(&object, "/kind"));
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let served: Vec<String> = (self.kinds.keys())
            .filter(|(version, other)| {
                other == kind && version.rsplit_once('/').map_or("", |(group, _)| group) == group
            })
            .map(|(version, _)| version.clone())
            .collect();
        for version in served {
            set(&mut made, "/apiVersion", json!(version));
            let path = format!("{}/{name}", self.path(&made, &namespace).context("not served")?);
            let (code, read) = self.server.ask("GET", &path, &Value::Null)?;
            ensure!(code == 200, "{path}: {read}");
            let id = format!("{id}@{}", version.rsplit('/').next().unwrap_or_default());
            self.metadata.insert(id.clone(), read.get("metadata").cloned().unwrap_or_default());
            self.bases.insert(id, plain(read));
        }
        Ok(())
    }

    /// Asks, and notes the answer.
    fn line(&mut self, request: Request) -> Result<Line> {
        let sent = request.object(&self.bases).context("a change without a place")?;
        let mut body = sent.clone();
        let base = self.bases.get(&request.base).context("no base")?;
        let namespace = text(base, "/metadata/namespace");
        let mut path = self.path(base, namespace).context("a kind that is not served")?;
        if let Some(old) = &request.old {
            let (metadata, plain) = (self.metadata.get(old).context("no metadata")?, &self.bases);
            let plain = plain.get(old).and_then(|old| old.get("metadata")).context("no metadata")?;
            for (name, value) in metadata.as_object().into_iter().flatten() {
                // What was made up is sent as the server has it, unless it is what was changed.
                let at = format!("/metadata/{name}");
                if sent.pointer(&at) == plain.get(name) && name != "managedFields" {
                    set(&mut body, &at, value.clone());
                }
            }
            path = format!("{path}/{}", text(metadata, "/name"));
        }
        let method = if request.operation() == "create" { "POST" } else { "PUT" };
        let status = if request.operation() == "statusUpdate" { "/status" } else { "" };
        let (code, answer) = self.server.ask(method, &format!("{path}{status}?dryRun=All"), &body)?;
        let made_up = request.old.as_ref().and_then(|old| self.metadata.get(old)).cloned().unwrap_or_default();
        let words = |text: &str| shortened(&text.replace(text_or(&made_up, "/uid"), UID));
        let outcome = match code {
            200 | 201 => Outcome::Stored(stored(&sent, &plain(answer))),
            _ => match answer.pointer("/details/causes").and_then(Value::as_array).filter(|_| code == 422) {
                Some(causes) => {
                    let mut noted: Vec<(String, usize)> = Vec::new();
                    for cause in causes {
                        let kind = text(cause, "/reason").trim_start_matches("FieldValue").to_owned();
                        let next = self.texts.len();
                        let number = self.texts.entry((kind, words(text(cause, "/message")))).or_insert(next);
                        let cause = (text(cause, "/field").to_owned(), *number);
                        // Servers say some things twice.
                        if !noted.contains(&cause) {
                            noted.push(cause);
                        }
                    }
                    Outcome::Causes(noted)
                }
                None => Outcome::Refused(code, decoding(text(&answer, "/message"))),
            },
        };
        Ok(Line { request, outcome })
    }
}

/// A text that is there, or one that never occurs.
fn text_or<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or("\0")
}

fn set(object: &mut Value, at: &str, value: Value) {
    let _ = Edit::Set(at.to_owned(), value).apply(object);
}

/// What is wrong with an object that cannot be read, without what it is.
fn decoding(text: &str) -> String {
    let text =
        text.split_once(": ").filter(|(begin, _)| begin.contains("cannot be handled")).map_or(text, |(_, what)| what);
    text.chars().take(70).collect()
}

fn shortened(text: &str) -> String {
    // What follows the first line is a printed difference.
    let text = text.lines().next().unwrap_or_default();
    let characters: Vec<char> = text.chars().collect();
    let (Some(begin), Some(end)) =
        (characters.get(..LONGEST / 2), characters.get(characters.len().saturating_sub(LONGEST / 2)..))
    else {
        return text.to_owned();
    };
    if characters.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}...{}", begin.iter().collect::<String>(), end.iter().collect::<String>())
}

/// An object as it is recorded: what each server makes up is replaced.
fn plain(mut object: Value) -> Value {
    let time = text(&object, "/metadata/creationTimestamp").to_owned();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
        for (name, value) in [("uid", UID), ("resourceVersion", VERSION), ("creationTimestamp", TIME)] {
            if metadata.contains_key(name) {
                metadata.insert(name.to_owned(), json!(value));
            }
        }
    }
    // The day is near enough: no base has a time of its own in the present.
    drop_now(&mut object, time.get(..10).unwrap_or("-"));
    object
}

/// Times that the server read from its clock are not recorded.
fn drop_now(value: &mut Value, today: &str) {
    match value {
        Value::Object(map) => {
            let is_now = |value: &Value| value.as_str().is_some_and(|text| text.len() == 20 && text.starts_with(today));
            map.retain(|_, value| !is_now(value));
            map.values_mut().for_each(|value| drop_now(value, today));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| drop_now(value, today)),
        _ => {}
    }
}
