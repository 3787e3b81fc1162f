//! What is wrong with the claims of a Pod, in the user's words.

use crate::api::claim::ResourceClaim;
use crate::api::pod::PodResourceClaim;
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, ObjectRef};

use super::claims::{Origin, template_of};
use crate::near::nearest_name as nearest;

/// A claim that does not exist.
pub(crate) fn missing_claim(cluster: &Cluster, namespace: &str, name: &str) -> Finding {
    let message = format!("there is no claim `{name}` in namespace `{namespace}`");
    let finding = Finding::new(Code::RunMissingClaim, "", message);
    let names = cluster.claims().keys().filter(|key| key.0 == namespace).map(|key| &key.1);
    let key = (namespace.to_owned(), name.to_owned());
    if cluster.templates().contains_key(&key) {
        return finding.with_hint(format!("`{name}` is a template: use `resourceClaimTemplateName`"));
    }
    if let Some(near) = nearest(name, names) {
        return finding.with_hint(format!("did you mean `{near}`?"));
    }
    let elsewhere = cluster.claims().keys().find(|key| key.1 == name);
    match elsewhere {
        Some((other, _)) => finding.with_hint(format!(
            "there is one in namespace `{other}`, but a Pod can only use claims of its own namespace"
        )),
        None => finding.with_hint("create the ResourceClaim"),
    }
}

/// A template that does not exist.
pub(crate) fn missing_template(cluster: &Cluster, namespace: &str, name: &str, field: &str) -> Finding {
    let is_cluster = field == "clusterResourceClaimTemplateName";
    let place = if is_cluster { String::new() } else { format!(" in namespace `{namespace}`") };
    let what = if is_cluster { "cluster-wide claim template" } else { "claim template" };
    let finding = Finding::new(Code::RunMissingTemplate, "", format!("there is no {what} `{name}`{place}"));
    let key = (namespace.to_owned(), name.to_owned());
    if cluster.claims().contains_key(&key) {
        return finding.with_hint(format!("`{name}` is a claim: use `resourceClaimName`"));
    }
    if is_cluster && cluster.templates().contains_key(&key) {
        return finding.with_hint(format!("`{name}` is a template of the namespace: use `resourceClaimTemplateName`"));
    }
    if !is_cluster && cluster.cluster_templates().contains_key(name) {
        return finding
            .with_hint(format!("`{name}` is a cluster-wide template: use `clusterResourceClaimTemplateName`"));
    }
    let in_namespace = cluster.templates().keys().filter(|key| key.0 == namespace).map(|key| &key.1);
    let near = if is_cluster { nearest(name, cluster.cluster_templates().keys()) } else { nearest(name, in_namespace) };
    if let Some(near) = near {
        return finding.with_hint(format!("did you mean `{near}`?"));
    }
    let elsewhere = cluster.templates().keys().find(|key| key.1 == name);
    match elsewhere {
        Some((other, _)) if !is_cluster => finding.with_hint(format!(
            "there is one in namespace `{other}`, but a Pod can only use templates of its own namespace"
        )),
        _ => finding.with_hint(format!(
            "create the {}",
            if is_cluster { "ClusterResourceClaimTemplate" } else { "ResourceClaimTemplate" }
        )),
    }
}

/// A claim that asks for admin access where that is not allowed.
pub(crate) fn admin_namespace(namespace: &str, what: &str, label: &str) -> Finding {
    let message = format!("{what} asks for admin access, which namespace `{namespace}` does not allow");
    Finding::new(Code::RunAdminNamespace, "", message).with_hint(format!("label the namespace `{label}: \"true\"`"))
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

/// Requests of a claim that no node can satisfy because they are wrong in themselves, in kube-scheduler's order. Each with
/// kube-scheduler's text.
pub(crate) fn request_problems(cluster: &Cluster, claim: &ResourceClaim) -> Vec<(Finding, String)> {
    let name = &claim.metadata.name;
    let mut problems = Vec::new();
    for (index, request) in claim.spec.devices.requests.iter().enumerate() {
        let path = format!("spec.devices.requests[{index}]");
        let mut class = |label: String, class: &str, path: String| {
            if let Some((problem, reference)) = class_problem(cluster, name, &label, class, &path) {
                problems.push((about_claim(cluster, claim, problem), reference));
            }
        };
        if let Some(exact) = &request.exactly {
            class(request.name.clone(), &exact.device_class_name, format!("{path}.exactly.deviceClassName"));
        } else if request.first_available.is_empty() {
            let message =
                format!("request `{}` of claim `{name}` has neither `exactly` nor `firstAvailable`", request.name);
            let finding =
                Finding::new(Code::RunBadRequest, path, message).with_hint("name a device class below `exactly`");
            let ns = &claim.metadata.namespace;
            let reference = format!("resource claim {ns}/{name}, request {}: unknown request type", request.name);
            problems.push((about_claim(cluster, claim, finding), reference));
        } else {
            for (sub, alternative) in request.first_available.iter().enumerate() {
                let label = format!("{}/{}", request.name, alternative.name);
                class(label, &alternative.device_class_name, format!("{path}.firstAvailable[{sub}].deviceClassName"));
            }
        }
    }
    problems
}

fn class_problem(cluster: &Cluster, claim: &str, label: &str, class: &str, path: &str) -> Option<(Finding, String)> {
    if class.is_empty() {
        let message = format!("request `{label}` of claim `{claim}` names no device class");
        let finding = Finding::new(Code::AllocNoClassName, path, message).with_hint("set `deviceClassName`");
        return Some((finding, format!("request {label}: unsupported request type")));
    }
    if cluster.classes().contains_key(class) {
        return None;
    }
    let message = format!("request `{label}` of claim `{claim}` needs device class `{class}`, which does not exist");
    let finding = Finding::new(Code::AllocUnknownClass, path, message);
    let hint = match nearest(class, cluster.classes().keys()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if cluster.classes().is_empty() => "no DeviceClass is given; drivers usually come with theirs".to_owned(),
        None => format!("the classes given are {}", super::infer::list(cluster.classes().keys())),
    };
    Some((finding.with_hint(hint), format!("request {label}: device class {class} does not exist")))
}

/// Turns a finding about a claim to what the user wrote: its template, where it has one.
pub(crate) fn about_claim(cluster: &Cluster, claim: &ResourceClaim, finding: Finding) -> Finding {
    match template_of(cluster, claim) {
        Some(template) => {
            let path = if finding.path.is_empty() { String::new() } else { format!("spec.{}", finding.path) };
            Finding { path, ..finding }.about(template)
        }
        None => finding.about(claim_reference(claim)),
    }
}

/// Kind, namespace and name of a claim.
pub(crate) fn claim_reference(claim: &ResourceClaim) -> ObjectRef {
    let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
    ObjectRef { kind: "ResourceClaim".to_owned(), namespace, name }
}
