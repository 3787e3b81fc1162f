//! `apportion crct export`: cluster-wide claim templates, or their copies, as manifests that stand by themselves.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::controllers::template_sync::{MANAGED_BY, MANAGER};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::cli::arguments::{LookArguments, RepeatedArguments};
use crate::cli::shown::Shown;
use crate::cli::template_sync::{self, Source, TemplateSyncArguments};

const EXAMPLE: &str = "\
Example:
  apportion crct export --from-cluster > templates.yaml
  apportion crct export --from-cluster --as copies > copies.yaml";

/// Print templates or their copies as complete manifests, for a backup or to continue without the controller
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CrctExportArguments {
    #[command(flatten)]
    input: RepeatedArguments,
    /// What is printed
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = ExportForm::Sources)]
    form: ExportForm,
    /// The controller's namespace, where master templates are
    #[arg(long, value_name = "NAMESPACE", default_value = "apportion-system")]
    namespace: String,
    #[command(flatten)]
    look: LookArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum ExportForm {
    /// The templates, without what servers add
    Sources,
    /// ClusterResourceClaimTemplates as KEP-5978 proposed them for resource.k8s.io: for every namespace, with the names of the copies
    ClusterTemplates,
    /// The copies, without the marks by which the controller knows them
    Copies,
}

/// Labels and annotations that begin like this are the controller's; on a source they are its author's.
const OURS: &str = "apportion.dev/";

/// What `kubectl apply` remembers of what it was given.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The kind of masters and copies.
const TEMPLATE: &str = "ResourceClaimTemplate";

/// Kind, as references name it, namespace and name.
type Id = (String, String, String);

pub(super) fn export(arguments: &CrctExportArguments) -> Result<Shown> {
    let CrctExportArguments { input, form, namespace, look } = arguments;
    let sync = TemplateSyncArguments { namespace: namespace.clone(), allow_admin_access: false };
    let mut asked = template_sync::start(&input.files, &input.cluster, None, &sync, look)?;
    let sources: Vec<Source> = serde_json::from_value(asked.door.standings()?)?;
    let objects: BTreeMap<Id, Value> = asked.input.objects().map(|object| (id(&object), object)).collect();
    let (mut exported, remarks) = match form {
        ExportForm::Sources => (originals(&sources, &objects, namespace), Vec::new()),
        ExportForm::ClusterTemplates => cluster_templates(sources, &objects, namespace),
        ExportForm::Copies => (objects.values().filter(|object| is_copy(object)).map(copy).collect(), Vec::new()),
    };
    exported
        .sort_by_cached_key(|object| ["namespace", "name"].map(|field| text(object, &format!("/metadata/{field}"))));
    let stdout = exported.iter().map(apportion_yaml::write).collect::<Vec<_>>().join("---\n");
    let mut stderr = asked.stderr();
    remarks.iter().for_each(|remark| stderr.push_str(&format!("{remark}\n")));
    if exported.is_empty() {
        stderr.push_str("there is nothing to export\n");
    }
    Ok(Shown { stdout: stdout.into(), stderr, verdict: asked.taken.verdict(remarks.is_empty()) })
}

/// Kind, as references name it, namespace and name of a source.
fn id_of(source: &Source) -> Id {
    (source.kind.clone(), source.namespace.clone(), source.name.clone())
}

/// The template in the controller's namespace that a source names.
fn master(source: &Source, home: &str) -> Option<Id> {
    let is_named = !source.master.is_empty();
    is_named.then(|| (TEMPLATE.to_owned(), home.to_owned(), source.master.clone()))
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn id(object: &Value) -> Id {
    let (kind, namespace) = (text(object, "/kind"), text(object, "/metadata/namespace"));
    let is_ours = kind == "ClusterResourceClaimTemplate" && text(object, "/apiVersion") == SOURCE_API_VERSION;
    (if is_ours { SOURCE_KIND.to_owned() } else { kind }, namespace, text(object, "/metadata/name"))
}

/// The sources, and the masters that they name, as their authors may have written them.
fn originals(sources: &[Source], objects: &BTreeMap<Id, Value>, home: &str) -> Vec<Value> {
    let wanted: BTreeSet<Id> =
        sources.iter().flat_map(|source| [Some(id_of(source)), master(source, home)]).flatten().collect();
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
            objects.get(&id_of(source)).and_then(|object| Some((object, template(source, object, objects, home)?)));
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
    match master(source, home) {
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
