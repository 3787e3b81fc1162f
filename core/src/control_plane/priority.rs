//! Priorities of the Pods of a simulated cluster.

use serde_json::{Value, json};

use crate::api::pod::Pod;
use crate::cluster::Cluster;
use crate::finding::Finding;
use crate::validate::priority::{self, Asked, Class};

/// Gives a new Pod its priority, see [`priority::admit`].
///
/// # Errors
///
/// What the API server says to a Pod whose class does not exist, or that contradicts its class.
pub(super) fn admit(cluster: &Cluster, pod: &mut Pod) -> Result<(), String> {
    let asked = Asked { class: class_of(pod), priority: pod.spec.priority, policy: text(pod, "preemptionPolicy") };
    let Some(class) = priority::admit(&classes(cluster), &asked)? else { return Ok(()) };
    if !class.name.is_empty() {
        pod.spec.rest.set("priorityClassName", json!(class.name));
    }
    pod.spec.priority = Some(class.value);
    pod.spec.rest.set("preemptionPolicy", json!(class.policy));
    Ok(())
}

/// Says what the API server says to a Pod because of its class, with the class that may be meant.
pub(super) fn with_near_class(cluster: &Cluster, pod: &Pod, finding: Finding) -> Finding {
    priority::with_near_class(&classes(cluster), class_of(pod), finding)
}

/// Whether the value of a class is known.
pub(super) fn is_known(cluster: &Cluster, name: &str) -> bool {
    priority::named(&classes(cluster), name).is_some()
}

fn classes(cluster: &Cluster) -> Vec<Class<'_>> {
    let class = cluster.priority_classes().iter().map(|(name, class)| Class {
        name,
        value: class.value,
        policy: &class.preemption_policy,
        is_default: class.global_default,
    });
    class.collect()
}

fn class_of(pod: &Pod) -> &str {
    text(pod, "priorityClassName")
}

fn text<'p>(pod: &'p Pod, name: &str) -> &'p str {
    pod.spec.rest.get(name).and_then(Value::as_str).unwrap_or_default()
}
