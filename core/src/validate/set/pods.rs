//! Pods and Pod templates: their claims, and the PodGroup that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{unknown_cluster_template, unknown_template};
use super::index::{Index, Key};
use super::json::{Json, claim_spec, field, inner, kind, list, namespace, text};
use super::missing;
use crate::api::other_workload::{Found, found_in};
use crate::finding::{Code, Finding};
use crate::gather::Gather;
use crate::validate::kind::{Kind, split};
use crate::validate::pod_templates::{self, is_cluster_wide};

pub(super) const SOURCES: [&str; 3] =
    ["resourceClaimName", "resourceClaimTemplateName", "clusterResourceClaimTemplateName"];

/// A Pod spec and where it is.
pub(super) struct PodSpec<'v> {
    pub(super) at: String,
    pub(super) spec: &'v Json<'v>,
    /// How many Pods are made of it at a time.
    pub(super) count: u64,
}

/// The Pod specs of an object.
pub(super) fn pod_specs<'v>(object: &'v Json<'v>) -> Vec<PodSpec<'v>> {
    let group = split(text(object, "apiVersion")).0;
    let mut found = Vec::new();
    if (group, kind(object)) == ("", "Pod") {
        found.extend(field(object, "spec").map(|spec| PodSpec { at: "spec".to_owned(), spec, count: 1 }));
    } else if let Some(row) = pod_templates::of(group, kind(object)) {
        for path in row.paths {
            walk(object, path, String::new(), 1, &mut found);
        }
    } else if Kind::of(group, kind(object)).is_none() && !is_cluster_wide(kind(object)) {
        let templates = field(object, "spec").into_iter().flat_map(found_in);
        found.extend(templates.filter_map(|Found { place, template }| {
            Some(PodSpec { at: format!("{}.spec", place.path), spec: field(template, "spec")?, count: place.count })
        }));
    }
    found
}

/// Bounded: as deep as the longest path of a Pod template.
fn walk<'v>(value: &'v Json<'v>, path: &str, at: String, count: u64, found: &mut Vec<PodSpec<'v>>) {
    if path.is_empty() {
        found.extend(field(value, "spec").map(|spec| PodSpec { at: format!("{at}.spec"), spec, count }));
        return;
    }
    // Numbers of Pods multiply on the way down: groups, Jobs of a group, Pods of a Job.
    let many = ["replicas", "parallelism"].iter().find_map(|name| field(value, name).and_then(Json::as_u64));
    let count = count.saturating_mul(many.unwrap_or(1));
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = step.trim_end_matches("[]").trim_end_matches("{}");
    let at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match field(value, name) {
        Some(Json::Array(items)) => {
            for (number, item) in items.iter().enumerate() {
                walk(item, rest, format!("{at}[{number}]"), count, found);
            }
        }
        Some(Json::Object(entries)) if step.ends_with("{}") => {
            for (key, item) in entries.iter() {
                walk(item, rest, format!("{at}[{key}]"), count, found);
            }
        }
        Some(inner) => walk(inner, rest, at, count, found),
        None => {}
    }
}

/// References of the Pods of an object.
pub(super) fn check(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    for PodSpec { at, spec, .. } in pod_specs(object) {
        let group = pod_group(object, &at, spec, index, found);
        for (number, claim) in list(field(spec, "resourceClaims")).iter().enumerate() {
            let at = format!("{at}.resourceClaims[{number}]");
            sources(object, &at, claim, index, found);
            if let Some(group) = group {
                group_claim(&at, claim, group, found);
            }
        }
        requests(object, &at, spec, index, found);
    }
    if split(text(object, "apiVersion")).0 == "argoproj.io" && !is_cluster_wide(kind(object)) {
        patches(object, index, found);
    }
}

/// Claims in the patches of Pod specs of an Argo Workflow or a template of Workflows: texts in JSON.
fn patches(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    for prefix in ["spec", "spec.workflowSpec"] {
        let Some(spec) = inner(object, prefix) else { continue };
        let templates = list(field(spec, "templates")).iter().enumerate();
        let templates = templates.map(|(number, template)| (format!("{prefix}.templates[{number}]"), template));
        for (at, holder) in std::iter::once((prefix.to_owned(), spec)).chain(templates) {
            let Ok(patch) = serde_json::from_str::<Json<'_>>(text(holder, "podSpecPatch")) else { continue };
            for claim in list(field(&patch, "resourceClaims")) {
                let mut of_claim = Vec::new();
                sources(object, "", claim, index, &mut of_claim);
                found.extend(of_claim.into_iter().map(|one| Finding { path: format!("{at}.podSpecPatch"), ..one }));
            }
        }
    }
}

pub(super) fn sources(object: &Json<'_>, at: &str, claim: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    let space = namespace(object);
    for source in SOURCES {
        let name = text(claim, source);
        if name.is_empty() {
            continue;
        }
        let key = Key(space, name);
        let path = format!("{at}.{source}");
        match source {
            "resourceClaimName" if !index.claims.contains_key(&key) => {
                let message = format!("there is no ResourceClaim `{name}` in namespace `{space}`");
                found.push(missing(Code::LinkUnknownClaim, path, message, key, index.claims.keys().copied()));
            }
            "resourceClaimTemplateName" => found.extend(unknown_template(path, key, index)),
            "clusterResourceClaimTemplateName" => found.extend(unknown_cluster_template(path, name, index)),
            _ => {}
        }
    }
}

/// The PodGroup of a Pod.
fn pod_group<'v>(
    object: &Json<'_>,
    at: &str,
    spec: &Json<'_>,
    index: &Index<'v>,
    found: &mut Vec<Finding>,
) -> Option<&'v Json<'v>> {
    let (path, name) = match inner(spec, "schedulingGroup.podGroupName").and_then(Json::as_str) {
        Some(name) => ("schedulingGroup.podGroupName", name),
        None => ("workloadRef.podGroupName", inner(spec, "workloadRef.podGroupName").and_then(Json::as_str)?),
    };
    let space = namespace(object);
    let groups: &BTreeMap<Key<'_>, &'v Json<'v>> = &index.groups;
    let found_group = groups.get(&Key(space, name)).copied();
    if found_group.is_none() && !name.is_empty() {
        let message = format!("there is no PodGroup `{name}` in namespace `{space}`: the Pod waits for it");
        found.push(missing(
            Code::LinkUnknownGroup,
            format!("{at}.{path}"),
            message,
            Key(space, name),
            index.groups.keys().copied(),
        ));
    }
    found_group
}

/// A Pod claim belongs to its PodGroup only if name and source are equal.
fn group_claim(at: &str, claim: &Json<'_>, group: &Json<'_>, found: &mut Vec<Finding>) {
    let entries = list(inner(group, "spec.resourceClaims"));
    let name = text(claim, "name");
    let wanted = text(claim, "podGroupResourceClaim");
    if !wanted.is_empty() {
        if !entries.iter().any(|entry| text(entry, "name") == wanted) {
            let message = format!("the PodGroup has no claim `{wanted}`");
            found.push(Finding::new(Code::LinkUnknownGroupClaim, format!("{at}.podGroupResourceClaim"), message));
        }
        return;
    }
    let source = |value: &Json<'_>| SOURCES.map(|source| text(value, source).to_owned());
    let has_source = source(claim).iter().any(|text| !text.is_empty());
    for entry in entries {
        let same_name = text(entry, "name") == name;
        let same_source = has_source && source(entry) == source(claim);
        let why = match (same_name, same_source) {
            (true, true) => return,
            (true, false) => format!("the PodGroup has a claim `{name}` from another source"),
            (false, true) => format!("the PodGroup has the same claim under the name `{}`", text(entry, "name")),
            (false, false) => continue,
        };
        let message = format!("{why}, so this one is made for the Pod alone");
        let hint = "give both the same name and the same source to share the claim of the PodGroup";
        found.push(Finding::new(Code::LinkNearGroupClaim, at, message).with_hint(hint));
    }
}

/// `request` in a container's claim must be one of the claim.
fn requests(object: &Json<'_>, at: &str, spec: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    let space = namespace(object);
    let known = |claim: &Json<'_>| -> Option<BTreeSet<String>> {
        let key = |source: &'static str| Key(space, text(claim, source));
        let named = index.claims.get(&key(SOURCES[0])).or_else(|| index.templates.get(&key(SOURCES[1])));
        let named = named.or_else(|| index.cluster_templates.get(text(claim, SOURCES[2]))).copied();
        let from = named.or_else(|| index.copies.maker(key(SOURCES[1])).map(|source| source.object))?;
        let requests = inner(from, &format!("{}.devices.requests", claim_spec(from)?))?;
        Some(list(Some(requests)).iter().map(|request| text(request, "name").to_owned()).gather())
    };
    let claims: BTreeMap<&str, BTreeSet<String>> = list(field(spec, "resourceClaims"))
        .iter()
        .filter_map(|claim| Some((text(claim, "name"), known(claim)?)))
        .gather();
    for kind in ["initContainers", "containers"] {
        for (container, resources) in list(field(spec, kind)).iter().enumerate() {
            for (number, used) in list(inner(resources, "resources.claims")).iter().enumerate() {
                let (name, request) = (text(used, "name"), text(used, "request"));
                let Some(known) = claims.get(name).filter(|known| !request.is_empty() && !known.contains(request))
                else {
                    continue;
                };
                let path = format!("{at}.{kind}[{container}].resources.claims[{number}].request");
                let message = format!("claim `{name}` has no request `{request}`");
                let known = known.iter().map(|name| Key("", name));
                found.push(missing(Code::LinkUnknownRequest, path, message, Key("", request), known));
            }
        }
    }
}
