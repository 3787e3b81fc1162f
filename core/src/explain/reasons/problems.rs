//! What is wrong with the claims of a Pod, in the user's words.

use crate::api::claim::ResourceClaim;
use crate::api::pod::PodResourceClaim;
use crate::cluster::Cluster;
use crate::control_plane::resource_of;
use crate::finding::{Code, Finding, list};
use crate::validate::ADMIN_LABEL;

use crate::explain::origin::{Origin, about_claim};
use crate::near::nearest_name as nearest;

/// A claim that does not exist.
pub(crate) fn missing_claim(cluster: &Cluster, namespace: &str, name: &str) -> Finding {
    if let Some(why) = cluster.refused("ResourceClaim", namespace, name) {
        return was_refused("claim", name, why);
    }
    let message = format!("there is no claim `{name}` in namespace `{namespace}`");
    let finding = Finding::new(Code::RunMissingClaim, "", message);
    let names = cluster.claims().keys().filter(|key| key.0 == namespace).map(|key| &key.1);
    let key = (namespace.to_owned(), name.to_owned());
    let is_template = cluster.templates().contains_key(&key);
    let hint = format!("`{name}` is a template: use `resourceClaimTemplateName`");
    if cluster.is_not_given("ResourceClaim") {
        let unknown = not_given("ResourceClaim", "claim", name);
        return if is_template { unknown.with_hint(hint) } else { unknown };
    }
    if is_template {
        return finding.with_hint(hint);
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

/// Something that the API server refused.
pub(crate) fn was_refused(what: &str, name: &str, why: &Finding) -> Finding {
    let code = if why.code == Code::RunAdminNamespace { why.code } else { Code::RunRefused };
    let place = if why.path.is_empty() { String::new() } else { format!("{}: ", why.path) };
    let message = format!("refers to {what} `{name}`, which was refused: {place}{}", why.message);
    let finding = Finding::new(code, "", message);
    match &why.hint {
        Some(hint) => finding.with_hint(hint.clone()),
        None => finding.with_hint(format!("correct the {what}")),
    }
}

/// Something of a kind of which a dump holds nothing.
pub(crate) fn not_given(kind: &str, what: &str, name: &str) -> Finding {
    let message = format!("{what} `{name}` is not known: the dump holds no {kind}");
    let hint = format!("add the output of `kubectl get {} -A -o yaml`", resource_of(kind));
    Finding::new(Code::RunNotGiven, "", message).with_hint(hint)
}

/// A template that does not exist.
pub(crate) fn missing_template(cluster: &Cluster, namespace: &str, name: &str, field: &str) -> Finding {
    let is_cluster = field == "clusterResourceClaimTemplateName";
    let (kind, space) =
        if is_cluster { ("ClusterResourceClaimTemplate", "") } else { ("ResourceClaimTemplate", namespace) };
    if let Some(why) = cluster.refused(kind, space, name) {
        return was_refused("template", name, why);
    }
    if cluster.is_not_given(kind) {
        return not_given(kind, "template", name);
    }
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
pub(crate) fn admin_namespace(namespace: &str, what: &str) -> Finding {
    let message = format!("{what} asks for admin access, which namespace `{namespace}` does not allow");
    Finding::new(Code::RunAdminNamespace, "", message)
        .with_hint(format!("label the namespace `{ADMIN_LABEL}: \"true\"`"))
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
    let name = &claim.metadata.name;
    let mut problems = Vec::new();
    for (index, request) in claim.spec.devices.requests.iter().enumerate() {
        let path = format!("spec.devices.requests[{index}]");
        if let Some(exact) = &request.exactly {
            let path = format!("{path}.exactly.deviceClassName");
            problems.extend(class_problem(cluster, name, &request.name, &exact.device_class_name, &path));
        } else if request.first_available.is_empty() {
            let message =
                format!("request `{}` of claim `{name}` has neither `exactly` nor `firstAvailable`", request.name);
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
                problems.extend(class_problem(cluster, name, &label, &alternative.device_class_name, &path));
            }
        }
    }
    problems.into_iter().map(|problem| about_claim(cluster, claim, problem)).collect()
}

fn class_problem(cluster: &Cluster, claim: &str, label: &str, class: &str, path: &str) -> Option<Finding> {
    if class.is_empty() {
        let message = format!("request `{label}` of claim `{claim}` names no device class");
        return Some(Finding::new(Code::AllocNoClassName, path, message).with_hint("set `deviceClassName`"));
    }
    if cluster.classes().contains_key(class) {
        return None;
    }
    if let Some(why) = cluster.refused("DeviceClass", "", class) {
        let refused = was_refused("device class", class, why);
        let message = format!("request `{label}` of claim `{claim}` {}", refused.message);
        return Some(Finding { path: path.to_owned(), message, ..refused });
    }
    if cluster.is_not_given("DeviceClass") {
        let unknown = not_given("DeviceClass", "device class", class);
        let message = format!(
            "request `{label}` of claim `{claim}` needs device class `{class}`, and the dump holds no DeviceClass"
        );
        return Some(Finding { path: path.to_owned(), message, ..unknown });
    }
    let message = format!("request `{label}` of claim `{claim}` needs device class `{class}`, which does not exist");
    let hint = match nearest(class, cluster.classes().keys()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if cluster.classes().is_empty() => "no DeviceClass is given; drivers usually come with theirs".to_owned(),
        None => format!("the classes given are {}", list(cluster.classes().keys())),
    };
    Some(Finding::new(Code::AllocUnknownClass, path, message).with_hint(hint))
}
