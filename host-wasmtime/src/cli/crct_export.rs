//! `apportion crct export`: cluster-wide claim templates, or their copies, as manifests that stand by themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anyhow::Result;
use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::controllers::template_sync::{MANAGED_BY, MANAGER};
use apportion_core::profile::Profile;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::args::{CrctExportArguments, ExportForm, TemplateSyncArguments};
use super::diagnose::diagnose;
use super::pen::Pen;
use super::{Shown, Verdict, template_sync};

/// Labels and annotations that begin like this are the controller's; on a source they are its author's.
const OURS: &str = "apportion.dev/";

/// What `kubectl apply` remembers of what it was given.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The kind of masters and copies.
const TEMPLATE: &str = "ResourceClaimTemplate";

/// A source, as the component describes it.
#[derive(Deserialize)]
struct Source {
    kind: String,
    namespace: String,
    name: String,
    target: String,
    rank: usize,
    master: String,
}

/// Kind, as references name it, namespace and name.
type Id = (String, String, String);

pub(crate) fn export(arguments: &CrctExportArguments) -> Result<Shown> {
    let (files, cluster) = (&arguments.input.files, &arguments.input.cluster);
    let sync = TemplateSyncArguments { namespace: arguments.namespace.clone(), allow_admin_access: false };
    let (mut controller, input, taken) = template_sync::start(files, cluster, &Profile::default(), &sync)?;
    let sources: Vec<Source> = serde_json::from_value(controller.standings()?)?;
    let objects: BTreeMap<Id, Value> = input.objects().map(|object| (id(&object), object)).collect();
    let (mut exported, remarks) = match arguments.form {
        ExportForm::Sources => (originals(&sources, &objects, &sync.namespace), Vec::new()),
        ExportForm::ClusterTemplates => cluster_templates(sources, &objects, &sync.namespace),
        ExportForm::Copies => (objects.values().filter(|object| is_copy(object)).map(copy).collect(), Vec::new()),
    };
    exported
        .sort_by_cached_key(|object| ["namespace", "name"].map(|field| text(object, &format!("/metadata/{field}"))));
    let stdout = exported.iter().map(apportion_yaml::write).collect::<Vec<_>>().join("---\n");
    let look = &arguments.look;
    let mut stderr = diagnose(&taken.notes, &input.sources, Pen::new(look, &io::stderr()), look.verbose);
    remarks.iter().for_each(|remark| stderr.push_str(&format!("{remark}\n")));
    if exported.is_empty() {
        stderr.push_str("there is nothing to export\n");
    }
    let is_whole = !taken.has_errors() && remarks.is_empty();
    Ok(Shown { stdout: stdout.into(), stderr, verdict: if is_whole { Verdict::Yes } else { Verdict::No } })
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn id(object: &Value) -> Id {
    let (kind, namespace) = (text(object, "/kind"), text(object, "/metadata/namespace"));
    let is_ours = kind == "ClusterResourceClaimTemplate" && text(object, "/apiVersion") == SOURCE_API_VERSION;
    (if is_ours { SOURCE_KIND.to_owned() } else { kind }, namespace, text(object, "/metadata/name"))
}

impl Source {
    fn id(&self) -> Id {
        (self.kind.clone(), self.namespace.clone(), self.name.clone())
    }

    /// The template in the controller's namespace that it names.
    fn master(&self, home: &str) -> Option<Id> {
        let is_named = !self.master.is_empty();
        is_named.then(|| (TEMPLATE.to_owned(), home.to_owned(), self.master.clone()))
    }
}

/// The sources, and the masters that they name, as their authors may have written them.
fn originals(sources: &[Source], objects: &BTreeMap<Id, Value>, home: &str) -> Vec<Value> {
    let wanted: BTreeSet<Id> =
        sources.iter().flat_map(|source| [Some(source.id()), source.master(home)]).flatten().collect();
    let original =
        |object: &Value| manifest(object, &text(object, "/apiVersion"), &text(object, "/metadata/name"), |_| true);
    wanted.iter().filter_map(|id| objects.get(id)).map(original).collect()
}

fn is_copy(object: &Value) -> bool {
    let manager = object.pointer("/metadata/labels").and_then(|labels| labels.get(MANAGED_BY));
    text(object, "/kind") == TEMPLATE && manager.is_some_and(|manager| manager == MANAGER)
}

/// The copy without anything by which the controller would know it.
fn copy(object: &Value) -> Value {
    let is_kept = |name: &str| name != MANAGED_BY && !name.starts_with(OURS);
    manifest(object, &text(object, "/apiVersion"), &text(object, "/metadata/name"), is_kept)
}

/// Sources in the form that KEP-5978 proposed, and what is to be said of those that are left out. Of several for one name the first one
/// is kept: what is cluster-wide has its name alone.
fn cluster_templates(mut sources: Vec<Source>, objects: &BTreeMap<Id, Value>, home: &str) -> (Vec<Value>, Vec<String>) {
    sources.sort_by_key(|source| source.rank);
    let (mut exported, mut remarks) = (BTreeMap::new(), Vec::new());
    for source in &sources {
        let (name, target) = (&source.name, &source.target);
        let found =
            objects.get(&source.id()).and_then(|object| Some((object, template(source, object, objects, home)?)));
        match found {
            None => remarks.push(format!("`{name}` is left out: the template that it is made from is not there")),
            Some(_) if exported.contains_key(target) => {
                remarks.push(format!("`{name}` is left out: another one for `{target}` comes first"));
            }
            Some((object, template)) => {
                exported.insert(target, cluster_template(object, template, target));
            }
        }
    }
    (exported.into_values().collect(), remarks)
}

/// What a source's copies are made of.
fn template<'o>(source: &Source, object: &'o Value, objects: &'o BTreeMap<Id, Value>, home: &str) -> Option<&'o Value> {
    match source.master(home) {
        Some(master) => objects.get(&master)?.get("spec"),
        None if source.kind == SOURCE_KIND => object.pointer("/spec/template"),
        None => object.get("spec"),
    }
}

/// For every namespace, under the name that Pods use.
fn cluster_template(source: &Value, template: &Value, target: &str) -> Value {
    let [labels, annotations] = ["labels", "annotations"].map(|field| source.pointer(&format!("/metadata/{field}")));
    let metadata = json!({ "labels": labels, "annotations": annotations });
    let whole = json!({ "metadata": metadata, "kind": "ClusterResourceClaimTemplate", "spec": template });
    manifest(&whole, "resource.k8s.io/v1", target, |name| !name.starts_with(OURS))
}

/// Kind, name, labels, annotations and spec; nothing that a server or a controller adds.
fn manifest(object: &Value, api_version: &str, name: &str, is_kept: impl Fn(&str) -> bool) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(name));
    if let Some(namespace) = object.pointer("/metadata/namespace") {
        metadata.insert("namespace".to_owned(), namespace.clone());
    }
    for field in ["labels", "annotations"] {
        let all = object.pointer(&format!("/metadata/{field}")).and_then(Value::as_object);
        let kept = all.into_iter().flatten().filter(|(name, _)| *name != LAST_APPLIED && is_kept(name));
        let kept: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        if !kept.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(kept));
        }
    }
    json!({ "apiVersion": api_version, "kind": object.get("kind"), "metadata": metadata, "spec": object.get("spec") })
}
