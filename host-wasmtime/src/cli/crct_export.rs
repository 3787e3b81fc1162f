//! `apportion crct export`: cluster-wide claim templates, or their copies, as manifests that stand by themselves.

use std::io;

use anyhow::Result;
use apportion_core::api::source::SOURCE_API_VERSION;
use apportion_core::lifecycle::template_sync::{MANAGED_BY, MANAGER, NAMESPACE_SELECTOR, NAMESPACES};
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
    let (mut exported, mut remarks) = (Vec::new(), Vec::new());
    for object in &objects {
        match arguments.form {
            ExportForm::Sources if is_source(object) => exported.push(source(object)),
            ExportForm::ClusterTemplates if is_custom(object) => {
                match cluster_template(object, &objects, &arguments.namespace) {
                    Ok(template) => exported.push(template),
                    Err(remark) => remarks.push(remark),
                }
            }
            ExportForm::Copies if is_copy(object) => exported.push(copy(object)),
            ExportForm::Sources | ExportForm::ClusterTemplates | ExportForm::Copies => {}
        }
    }
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

/// A ClusterResourceClaimTemplate, or one of the objects that say by annotation which namespaces they are for.
fn is_source(object: &Value) -> bool {
    let is_annotated = || {
        let annotations = object.pointer("/metadata/annotations");
        [NAMESPACES, NAMESPACE_SELECTOR].iter().any(|name| annotations.and_then(|all| all.get(name)).is_some())
    };
    let kind = text(object, "/kind");
    is_custom(object)
        || matches!(kind.as_str(), "ClusterResourceClaimTemplate" | "ResourceClaimTemplate") && is_annotated()
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

/// A source in the form that KEP-5978 proposed: for every namespace, under the name that Pods use.
fn cluster_template(object: &Value, objects: &[Value], home: &str) -> Result<Value, String> {
    let name = text(object, "/metadata/name");
    let template = match text(object, "/spec/source/name") {
        master if master.is_empty() => object.pointer("/spec/template"),
        master => objects
            .iter()
            .find(|other| {
                text(other, "/kind") == "ResourceClaimTemplate"
                    && text(other, "/metadata/namespace") == home
                    && text(other, "/metadata/name") == master
            })
            .and_then(|master| master.get("spec")),
    };
    let Some(template) = template else {
        return Err(format!("`{name}` is left out: the template that it is made from is not there"));
    };
    let target = Some(text(object, "/spec/templateName")).filter(|target| !target.is_empty()).unwrap_or(name);
    let whole = json!({ "metadata": object.get("metadata"), "kind": object.get("kind"), "spec": template });
    Ok(manifest(&whole, "resource.k8s.io/v1", &target, |name| !name.starts_with(OURS)))
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
