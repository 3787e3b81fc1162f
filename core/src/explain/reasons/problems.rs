//! What is wrong with the claims of a Pod, in the user's words.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::{DeviceRequest, ResourceClaim};
use crate::api::meta::ObjectMeta;
use crate::api::pod::PodResourceClaim;
use crate::cluster::Cluster;
use crate::control_plane::resource_of;
use crate::decision::CLAIM_FINALIZER;
use crate::finding::{Code, Finding, list};

use crate::explain::origin::{Origin, about_claim};
use crate::near::{did_you_mean, kin, nearest_name as nearest};

/// A claim that does not exist.
pub(crate) fn missing_claim(cluster: &Cluster, namespace: &str, name: &str) -> Finding {
    let is_template = cluster.templates().contains_key(&(namespace.to_owned(), name.to_owned()));
    let hint = is_template.then(|| format!("`{name}` is a template: use `resourceClaimTemplateName`"));
    missing(cluster, (Code::RunMissingClaim, "ResourceClaim", "claim"), namespace, name, hint)
}

/// A claim that is being deleted.
pub(crate) fn deleted_claim(name: &str, finalizers: &[String]) -> Finding {
    let held = match finalizers {
        [] => String::new(),
        [only] => format!(", held by the finalizer `{only}`"),
        several => format!(", held by the finalizers {}", list(several.iter())),
    };
    let finding = Finding::new(Code::RunClaimDeleting, "", format!("claim `{name}` is being deleted{held}"));
    finding.with_hint("create it anew once it is gone")
}

/// A claim that was being deleted and goes, as nobody uses it.
pub(crate) fn gone_claim(name: &str) -> Finding {
    deleted_claim(name, &[CLAIM_FINALIZER.to_owned()])
}

/// A template that does not exist, of the namespace or of the cluster.
pub(crate) fn missing_template(cluster: &Cluster, namespace: &str, name: &str, kind: &str) -> Finding {
    let is_cluster = kind == "ClusterResourceClaimTemplate";
    let key = (namespace.to_owned(), name.to_owned());
    let (is_other, other, field) = match is_cluster {
        true => (cluster.templates().contains_key(&key), "template of the namespace", "resourceClaimTemplateName"),
        false => {
            let is_other = cluster.cluster_templates().contains_key(name);
            (is_other, "cluster-wide template", "clusterResourceClaimTemplateName")
        }
    };
    let hint = if cluster.claims().contains_key(&key) {
        Some(format!("`{name}` is a claim: use `resourceClaimName`"))
    } else {
        is_other.then(|| format!("`{name}` is a {other}: use `{field}`"))
    };
    // Its copy would be the template.
    let source = cluster.refused("ClusterResourceClaimTemplate", "", name).filter(|_| !is_cluster);
    if let Some(why) = source.filter(|_| cluster.refused(kind, namespace, name).is_none()) {
        return was_refused("cluster-wide template", name, why);
    }
    let what = if is_cluster { "cluster-wide claim template" } else { "claim template" };
    let space = if is_cluster { "" } else { namespace };
    missing(cluster, (Code::RunMissingTemplate, kind, what), space, name, hint)
}

/// Something that a Pod uses and that does not exist. `other` says what has its name instead.
fn missing(
    cluster: &Cluster,
    (code, kind, what): (Code, &str, &str),
    namespace: &str,
    name: &str,
    other: Option<String>,
) -> Finding {
    let short = what.rsplit(' ').next().unwrap_or(what);
    if let Some(why) = cluster.refused(kind, namespace, name) {
        return was_refused(short, name, why);
    }
    if cluster.is_not_given(kind) {
        let unknown = not_given(kind, short, name);
        return match other.filter(|_| kind == "ResourceClaim") {
            Some(other) => unknown.with_hint(other),
            None => unknown,
        };
    }
    let place = if namespace.is_empty() { String::new() } else { format!(" in namespace `{namespace}`") };
    let finding = Finding::new(code, "", format!("there is no {what} `{name}`{place}"));
    finding.with_hint(other.unwrap_or_else(|| instead(cluster, (kind, short), namespace, name)))
}

/// What to do about a name that nothing has: use one that is near, or make it.
pub(crate) fn instead(cluster: &Cluster, (kind, short): (&str, &str), namespace: &str, name: &str) -> String {
    let here = cluster.metadata_of(kind).filter(|other| other.namespace == namespace).map(|other| &other.name);
    if let Some(near) = nearest(name, here) {
        return format!("did you mean `{near}`?");
    }
    match cluster.metadata_of(kind).find(|other| other.name == name) {
        Some(ObjectMeta { namespace: other, .. }) => {
            format!("there is one in namespace `{other}`, but a Pod can only use {short}s of its own namespace")
        }
        None => format!("create the {kind}"),
    }
}

/// Something that the API server refused.
pub(crate) fn was_refused(what: &str, name: &str, why: &Finding) -> Finding {
    let code = if why.code == Code::RunAdminNamespace { why.code } else { Code::RunRefused };
    let message = format!("refers to {what} `{name}`, which was refused: {}", with_place(why));
    let finding = Finding::new(code, "", message);
    match &why.hint {
        Some(hint) => finding.with_hint(hint.clone()),
        None => finding.with_hint(format!("correct the {what}")),
    }
}

/// What was found, after the field that it is about.
fn with_place(why: &Finding) -> String {
    if why.path.is_empty() { why.message.clone() } else { format!("{}: {}", why.path, why.message) }
}

/// Why there is no node of a name.
pub(crate) fn no_node(cluster: &Cluster, name: &str) -> String {
    match cluster.refused("Node", "", name) {
        Some(why) => format!("node `{name}` was refused: {}", with_place(why)),
        None => format!("there is no node `{name}`{}", node_meant(cluster, name).unwrap_or_default()),
    }
}

/// Which node was probably meant, to be read behind the name of one that is not there.
pub(crate) fn node_meant(cluster: &Cluster, name: &str) -> Option<String> {
    did_you_mean(name, &mut cluster.nodes().keys().map(String::as_str)).map(|meant| format!(": {meant}"))
}

/// That all objects of a kind were refused; `None` where none was.
pub(crate) fn all_refused(cluster: &Cluster, kind: &'static str) -> Option<String> {
    let refused: Vec<String> = cluster.names_of_refused(kind).map(str::to_owned).collect();
    Some(match refused.as_slice() {
        [] => return None,
        [only] if only.is_empty() => format!("the only {kind} was refused"),
        [only] => format!("the only {kind}, `{only}`, was refused"),
        several => format!("all {kind}s were refused: {}", list(several.iter())),
    })
}

/// Something of a kind of which a dump holds nothing.
pub(crate) fn not_given(kind: &str, what: &str, name: &str) -> Finding {
    let message = format!("{what} `{name}` is not known: the dump holds no {kind}");
    let hint = format!("add the output of `kubectl get {} -A -o yaml`", resource_of(kind));
    Finding::new(Code::RunNotGiven, "", message).with_hint(hint)
}

/// An entry that names neither a claim nor a template.
pub(crate) fn no_source(source: &PodResourceClaim, path: &str, origin: &Origin) -> Finding {
    let name = &source.name;
    let Some(old) = source.rest.get("source") else {
        let message = format!("entry `{name}` names neither a claim nor a template");
        return origin
            .finding(Code::RunNoClaimSource, path, message)
            .with_hint("set `resourceClaimName` or `resourceClaimTemplateName`");
    };
    let message = format!("entry `{name}` uses `source`, which Kubernetes 1.31 removed");
    let fields = old.as_object().into_iter().flatten();
    let moved: Vec<String> = fields.filter_map(|(key, value)| Some(format!("`{key}: {}`", value.as_str()?))).collect();
    let hint = if moved.is_empty() { "`resourceClaimTemplateName`".to_owned() } else { moved.join(" and ") };
    origin
        .finding(Code::RunOldClaimSource, &format!("{path}.source"), message)
        .with_hint(format!("write {hint} directly into the entry"))
}

/// Requests of a claim that no node can satisfy because they are wrong in themselves.
pub(crate) fn request_problems(cluster: &Cluster, claim: &ResourceClaim) -> Vec<Finding> {
    let of = format!("claim `{}`", claim.metadata.name);
    let problems = class_problems(cluster, &of, &claim.spec.devices.requests);
    problems.into_iter().map(|problem| about_claim(cluster, claim, problem)).collect()
}

/// The same of the requests `of` a claim or template, without saying where the object is.
pub(crate) fn class_problems(cluster: &Cluster, of: &str, requests: &[DeviceRequest]) -> Vec<Finding> {
    let mut problems = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        let path = format!("spec.devices.requests[{index}]");
        if let Some(exact) = &request.exactly {
            let path = format!("{path}.exactly.deviceClassName");
            problems.extend(class_problem(cluster, of, &request.name, &exact.device_class_name, &path));
        } else if request.first_available.is_empty() {
            let message = format!("request `{}` of {of} has neither `exactly` nor `firstAvailable`", request.name);
            let finding = Finding::new(Code::RunBadRequest, path, message);
            problems.push(finding.with_hint("name a device class below `exactly`"));
        } else if !cluster.profile().features.prioritized_list {
            let message = format!("request `{}` has alternatives, but the feature is off", request.name);
            let finding = Finding::new(Code::AllocFeatureOff, format!("{path}.firstAvailable"), message);
            problems.push(finding.with_hint("turn the feature gate `DRAPrioritizedList` on, or use `exactly`"));
        } else {
            for (sub, alternative) in request.first_available.iter().enumerate() {
                let label = format!("{}/{}", request.name, alternative.name);
                let path = format!("{path}.firstAvailable[{sub}].deviceClassName");
                problems.extend(class_problem(cluster, of, &label, &alternative.device_class_name, &path));
            }
        }
    }
    problems
}

fn class_problem(cluster: &Cluster, of: &str, label: &str, class: &str, path: &str) -> Option<Finding> {
    if class.is_empty() {
        let message = format!("request `{label}` of {of} names no device class");
        return Some(Finding::new(Code::AllocNoClassName, path, message).with_hint("set `deviceClassName`"));
    }
    if cluster.classes().contains_key(class) {
        return None;
    }
    if let Some(why) = cluster.refused("DeviceClass", "", class) {
        let refused = was_refused("device class", class, why);
        let message = format!("request `{label}` of {of} {}", refused.message);
        return Some(Finding { path: path.to_owned(), message, ..refused });
    }
    if cluster.is_not_given("DeviceClass") {
        let unknown = not_given("DeviceClass", "device class", class);
        let message =
            format!("request `{label}` of {of} needs device class `{class}`, and the dump holds no DeviceClass");
        return Some(Finding { path: path.to_owned(), message, ..unknown });
    }
    let message = format!("request `{label}` of {of} needs device class `{class}`, which does not exist");
    let hint = match kin(class, cluster.classes().keys()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if cluster.classes().is_empty() => "no DeviceClass is given; drivers usually come with theirs".to_owned(),
        None => format!("the classes given are {}", list(cluster.classes().keys())),
    };
    Some(Finding::new(Code::AllocUnknownClass, path, message).with_hint(hint))
}

/// The attribute of a device that a constraint probably means whose attribute devices lack.
pub(crate) fn attribute_meant(cluster: &Cluster, missing: &str) -> Option<String> {
    let mut full: BTreeSet<String> = BTreeSet::new();
    let mut before: Option<(&str, &BTreeMap<_, _>)> = None;
    for entry in cluster.inventory().all_slices() {
        let driver = entry.slice.spec.driver.as_str();
        for device in &entry.slice.spec.devices {
            // Most devices have the same attributes as the one before.
            if before
                .is_some_and(|(other, attributes)| other == driver && attributes.keys().eq(device.attributes.keys()))
            {
                continue;
            }
            before = Some((driver, &device.attributes));
            full.extend(device.attributes.keys().map(|name| match name.contains('/') {
                true => name.clone(),
                false => format!("{driver}/{name}"),
            }));
        }
    }
    let (_, own) = missing.rsplit_once('/').unwrap_or(("", missing));
    let is_namesake = |name: &&String| **name != missing && name.rsplit_once('/').is_some_and(|(_, name)| name == own);
    let elsewhere = || full.iter().find(is_namesake).filter(|_| !full.contains(missing));
    did_you_mean(missing, &mut full.iter().map(String::as_str))
        .or_else(|| elsewhere().map(|name| format!("did you mean `{name}`?")))
}
