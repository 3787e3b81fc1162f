//! `apportion crct export`: cluster-wide claim templates, or their copies, as manifests that stand by themselves.

use std::collections::BTreeMap;
use std::io;

use anyhow::Result;
use apportion_core::api::source::SOURCE_API_VERSION;
use apportion_core::lifecycle::template_sync::{MANAGED_BY, MANAGER, NAMESPACE_SELECTOR, NAMESPACES, TEMPLATE_NAME};
use serde_json::{Map, Value, json};

use super::args::{CrctExportArguments, ExportForm};
use super::diagnose::diagnose;
use super::pen::Pen;
use super::{Shown, Verdict, input};
use crate::api_server::PLANNED;

/// Labels and annotations that begin like this are the controller's; on a source they are its author's.
const OURS: &str = "apportion.dev/";

/// What `kubectl apply` remembers of what it was given.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub(crate) fn export(arguments: &CrctExportArguments) -> Result<Shown> {
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &PLANNED)?;
    let objects: Vec<Value> = input.objects().collect();
    let taken = input.taken(vec![Vec::new(); objects.len()]);
    let home = arguments.namespace.as_str();
    let sources = || objects.iter().filter(|object| is_source(object, &objects, home));
    let (mut exported, remarks) = match arguments.form {
        ExportForm::Sources => (sources().map(source).collect(), Vec::new()),
        ExportForm::ClusterTemplates => cluster_templates(sources().collect(), &objects, home),
        ExportForm::Copies => (objects.iter().filter(|object| is_copy(object)).map(copy).collect(), Vec::new()),
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

fn is_custom(object: &Value) -> bool {
    text(object, "/apiVersion") == SOURCE_API_VERSION && text(object, "/kind") == "ClusterResourceClaimTemplate"
}

fn annotation<'o>(object: &'o Value, name: &str) -> Option<&'o str> {
    object.pointer("/metadata/annotations")?.get(name)?.as_str()
}

/// Whether an object says which namespaces it is for.
fn is_annotated(object: &Value) -> bool {
    [NAMESPACES, NAMESPACE_SELECTOR].iter().any(|name| annotation(object, name).is_some())
}

/// The template in the controller's namespace that a source names.
fn master(object: &Value) -> Option<&str> {
    object.pointer("/spec/source/name").and_then(Value::as_str).filter(|_| is_custom(object))
}

fn is_template_of(object: &Value, home: &str) -> bool {
    text(object, "/kind") == "ResourceClaimTemplate" && text(object, "/metadata/namespace") == home && !is_copy(object)
}

/// A ClusterResourceClaimTemplate, what it names as its template, or an object that says by annotation which namespaces it is for.
fn is_source(object: &Value, objects: &[Value], home: &str) -> bool {
    let is_named =
        || objects.iter().any(|other| master(other).is_some_and(|name| name == text(object, "/metadata/name")));
    match text(object, "/kind").as_str() {
        "ClusterResourceClaimTemplate" => is_custom(object) || is_annotated(object),
        _ => is_template_of(object, home) && (is_annotated(object) || is_named()),
    }
}

fn is_copy(object: &Value) -> bool {
    let manager = object.pointer("/metadata/labels").and_then(|labels| labels.get(MANAGED_BY));
    text(object, "/kind") == "ResourceClaimTemplate" && manager.is_some_and(|manager| manager == MANAGER)
}

/// The object as its author may have written it.
fn source(object: &Value) -> Value {
    manifest(object, &text(object, "/apiVersion"), &text(object, "/metadata/name"), |_| true)
}

/// The copy without anything by which the controller would know it.
fn copy(object: &Value) -> Value {
    let is_kept = |name: &str| name != MANAGED_BY && !name.starts_with(OURS);
    manifest(object, &text(object, "/apiVersion"), &text(object, "/metadata/name"), is_kept)
}

/// Sources in the form that KEP-5978 proposed, and what is to be said of those that are left out. Of several for one name the first one
/// is kept, as the controller ranks them: what is cluster-wide has its name alone.
fn cluster_templates(mut sources: Vec<&Value>, objects: &[Value], home: &str) -> (Vec<Value>, Vec<String>) {
    // What a source only names is no source by itself.
    sources.retain(|source| is_custom(source) || is_annotated(source));
    sources.sort_by_cached_key(|source| {
        let [created, name] = ["creationTimestamp", "name"].map(|field| text(source, &format!("/metadata/{field}")));
        (created, name, !is_custom(source), text(source, "/kind"))
    });
    let (mut exported, mut remarks) = (BTreeMap::new(), Vec::new());
    for source in sources {
        let name = text(source, "/metadata/name");
        let target = target(source);
        match template(source, objects, home) {
            None => remarks.push(format!("`{name}` is left out: the template that it is made from is not there")),
            Some(_) if exported.contains_key(&target) => {
                remarks.push(format!("`{name}` is left out: another one for `{target}` comes first"));
            }
            Some(template) => {
                let made = cluster_template(source, template, &target);
                exported.insert(target, made);
            }
        }
    }
    (exported.into_values().collect(), remarks)
}

/// The name of a source's copies.
fn target(source: &Value) -> String {
    let named = match is_custom(source) {
        true => text(source, "/spec/templateName"),
        false => annotation(source, TEMPLATE_NAME).unwrap_or_default().to_owned(),
    };
    if named.is_empty() { text(source, "/metadata/name") } else { named }
}

/// What a source's copies are made of.
fn template<'o>(source: &'o Value, objects: &'o [Value], home: &str) -> Option<&'o Value> {
    match master(source) {
        Some(name) => {
            let is_it = |other: &&Value| is_template_of(other, home) && text(other, "/metadata/name") == name;
            objects.iter().find(is_it)?.get("spec")
        }
        None if is_custom(source) => source.pointer("/spec/template"),
        None => source.get("spec"),
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
