//! All objects of some kinds, page by page.

use anyhow::{Context, Result};
use apportion_core::finding::{Code, Finding, Severity};
use kube::api::{Api, ListParams};
use kube::core::ApiResource;
use kube::{Client, Error};
use serde_json::{Value, json};

use super::raw::Raw;
use super::resources::Resource;

/// Objects of one page.
const PAGE: u32 = 500;

/// How often a list is begun again because its pages became too old to go on.
const MOST_RESTARTS: usize = 3;

/// What was there, and what could not be seen.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) objects: Vec<Value>,
    pub(crate) findings: Vec<Finding>,
}

/// Lists all objects of each kind, in the version that the server prefers among those understood. `done` is called after each.
///
/// A kind that is not served, or that the user may not list, becomes a finding.
pub(crate) async fn list(client: &Client, resources: &[Resource], done: impl Fn()) -> Result<Listed> {
    let mut listed = Listed::default();
    for resource in resources {
        match of_kind(client, resource).await? {
            Answer::Objects(objects) if objects.is_empty() => listed.objects.push(nothing_of(resource)),
            Answer::Objects(mut objects) => listed.objects.append(&mut objects),
            Answer::Without(finding) => {
                // What is not served does not exist; what may not be read is not known.
                if finding.code == Code::ClusterMissingApi {
                    listed.objects.push(nothing_of(resource));
                }
                listed.findings.push(finding);
            }
        }
        done();
    }
    Ok(listed)
}

/// That there is no object of a kind: other than in a dump, in which the kind may be missing.
fn nothing_of(resource: &Resource) -> Value {
    let version = resource.versions.first().copied().unwrap_or_default();
    let ApiResource { api_version, kind, .. } = resource.of_version(version);
    json!({ "apiVersion": api_version, "kind": format!("{kind}List"), "items": [] })
}

enum Answer {
    Objects(Vec<Value>),
    Without(Finding),
}

async fn of_kind(client: &Client, resource: &Resource) -> Result<Answer> {
    let name = resource.full_name();
    for version in resource.versions {
        match of_version(client, resource, version).await {
            Ok(objects) => return Ok(Answer::Objects(objects)),
            Err(Error::Api(status)) if status.code == 404 => {}
            Err(Error::Api(status)) if status.code == 403 => {
                let finding = Finding::new(Code::ClusterForbidden, "", format!("you may not list {name}"))
                    .with_hint("`--print-rbac` prints a role that allows all that is read");
                return Ok(Answer::Without(finding));
            }
            Err(error) => return Err(error).with_context(|| format!("{name} cannot be listed")),
        }
    }
    let mut finding = Finding::new(Code::ClusterMissingApi, "", format!("the cluster does not serve {name}"));
    match resource.is_everywhere {
        true => finding = finding.with_hint("Kubernetes 1.34 or newer serves it; older ones have it behind a gate"),
        false => finding.severity = Severity::Info,
    }
    Ok(Answer::Without(finding))
}

async fn of_version(client: &Client, resource: &Resource, version: &str) -> Result<Vec<Value>, Error> {
    let kind = resource.of_version(version);
    let api: Api<Raw> = Api::all_with(client.clone(), &kind);
    let mut objects = Vec::new();
    let mut parameters = ListParams::default().limit(PAGE);
    let mut restarts = 0_usize;
    loop {
        let page = match api.list(&parameters).await {
            Ok(page) => page,
            // The rest of the list is gone: what was seen so far may have changed with it.
            Err(Error::Api(status)) if status.code == 410 && restarts < MOST_RESTARTS => {
                restarts = restarts.saturating_add(1);
                objects.clear();
                parameters.continue_token = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        objects.extend(page.items.into_iter().map(|object| json(object, &kind)));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => parameters.continue_token = Some(token),
            None => return Ok(objects),
        }
    }
}

/// The object as a manifest would have it. Who set which field plays no part and is half of its bytes.
fn json(object: Raw, kind: &ApiResource) -> Value {
    let mut object = object.of_kind(kind);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
