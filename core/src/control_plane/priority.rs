//! The priority of a new Pod, as the API server's admission gives it: from its PriorityClass.
//!
//! Source: `plugin/pkg/admission/priority`.

use serde_json::{Value, json};

use crate::api::others::SYSTEM_PRIORITIES;
use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::finding::Finding;
use crate::near::nearest_name;

/// What a PriorityClass that says nothing about it means.
const PREEMPTS: &str = "PreemptLowerPriority";

/// Gives a new Pod its priority.
///
/// Without any PriorityClass in the input it is not known which ones there are: then a Pod keeps what it says, other than for the
/// classes that every cluster has.
///
/// # Errors
///
/// What the API server says to a Pod whose class does not exist, or that contradicts its class.
pub(super) fn admit(cluster: &Cluster, pod: &mut Pod) -> Result<(), String> {
    let are_known = !cluster.priority_classes().is_empty();
    let text = |name: &str| pod.spec.rest.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let named = text("priorityClassName");
    let class = match named.as_str() {
        "" => match default_class(cluster) {
            Some(name) => resolve(cluster, &name),
            None => are_known.then(|| (String::new(), 0, PREEMPTS.to_owned())),
        },
        name => resolve(cluster, name),
    };
    let Some((name, value, policy)) = class else {
        let is_missing = are_known && !named.is_empty();
        return if is_missing { Err(format!("no PriorityClass with name {named} was found")) } else { Ok(()) };
    };
    if let Some(own) = pod.spec.priority.filter(|own| *own != value) {
        return Err(format!(
            "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
        ));
    }
    let own = text("preemptionPolicy");
    if !own.is_empty() && own != policy {
        return Err(format!(
            "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        ));
    }
    if !name.is_empty() {
        pod.spec.rest.set("priorityClassName", json!(name));
    }
    pod.spec.priority = Some(value);
    pod.spec.rest.set("preemptionPolicy", json!(policy));
    Ok(())
}

/// Says what the API server says to a Pod because of its class, with the class that may be meant.
pub(super) fn with_near_class(cluster: &Cluster, pod: &Pod, finding: Finding) -> Finding {
    let named = pod.spec.rest.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
    match nearest_name(named, cluster.priority_classes().keys()) {
        Some(near) if near != named => finding.with_hint(format!("did you mean `{near}`?")),
        _ => finding,
    }
}

/// Whether the value of a class is known.
pub(super) fn is_known(cluster: &Cluster, name: &str) -> bool {
    resolve(cluster, name).is_some()
}

fn resolve(cluster: &Cluster, name: &str) -> Option<(String, i64, String)> {
    let given = cluster.priority_classes().get(name).map(|class| {
        let policy = if class.preemption_policy.is_empty() { PREEMPTS } else { &class.preemption_policy };
        (class.value, policy.to_owned())
    });
    let system =
        || SYSTEM_PRIORITIES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, PREEMPTS.to_owned()));
    given.or_else(system).map(|(value, policy)| (name.to_owned(), value, policy))
}

/// The class of Pods that name none; of several the one with the lowest value.
fn default_class(cluster: &Cluster) -> Option<String> {
    let defaults = cluster.priority_classes().iter().filter(|(_, class)| class.global_default);
    defaults.min_by_key(|(_, class)| class.value).map(|(name, _)| name.clone())
}
