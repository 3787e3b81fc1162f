//! What a Pod takes of a node: what its containers ask for or still have while they are resized, what the Pod as a whole asks for, what its
//! devices take, and host ports.
//!
//! Source: `component-helpers/resource/helpers.go`; defaults as in `pkg/apis/core/v1/defaults.go`.

use serde_json::Value;

use super::node_allocatable;
use super::node_fit::{PODS, Resources, add};
use crate::api::pod::{Container, Pod, PodSpec, ResourceRequirements};
use crate::api::quantity::{Format, Quantity};
use crate::api::read::{Json, Path};
use crate::gather::Gather;

/// In front of a port and protocol: what every node has [`ADDRESSES`] of. No resource can have such a name.
pub(super) const HOST_PORT: &str = "host port ";

/// Between a host port and the address that is asked for: every node has one of that.
pub(super) const AT: &str = " at ";

/// What a host port on all addresses of a node takes; one on a single address takes one.
const ADDRESSES: i64 = 1 << 32;

/// What a Pod takes of a node: the larger of what its containers take together and what an init container takes while
/// it runs beside the sidecars before it; what its devices take of the node; what the Pod as a whole asks for in place of that; and its
/// overhead.
pub(crate) fn requests(pod: &Pod) -> Resources {
    requests_with(pod, &Resources::new())
}

/// What a Pod takes of a node if its containers ask for at least a little; `None` where that is what it asks for.
///
/// Where the Pod as a whole asks for something, this is so for what nobody in it asks for.
pub(super) fn assumed_requests(pod: &Pod, requests: &Resources) -> Option<Resources> {
    let is_whole = !of_whole(&pod.spec).is_empty();
    let least: Resources = [
        ("cpu", Quantity::from_milli(100, Format::DecimalSi)),
        ("memory", Quantity::from_i64(200 << 20, Format::BinarySi)),
    ]
    .into_iter()
    .filter(|(name, _)| !is_whole || !requests.contains_key(*name))
    .map(|(name, amount)| (name.to_owned(), amount))
    .gather();
    let lacks = |container: &Container| {
        let ResourceRequirements { requests, limits, .. } = &container.resources;
        least.keys().any(|name| !requests.contains_key(name) && !limits.contains_key(name))
    };
    let mut containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    containers.any(lacks).then(|| requests_with(pod, &least))
}

/// The same where each container that does not ask for one of some resources takes as much of it.
fn requests_with(pod: &Pod, least: &Resources) -> Resources {
    let spec = &pod.spec;
    let mut all = of_containers(pod, least);
    let mut whole = of_whole(spec);
    if !whole.is_empty() && pod.status.rest.get("resources").is_some_and(Value::is_object) {
        if is_infeasible(pod) {
            whole.clear();
        }
        status_of_whole(pod).into_iter().flatten().for_each(|amounts| maximum(&mut whole, &amounts));
        whole.retain(|name, _| is_of_whole(name));
    }
    all.extend(whole);
    add(&mut all, &spec.overhead);
    all.insert(PODS.to_owned(), Quantity::from_i64(1, Format::DecimalSi));
    let sidecars = spec.init_containers.iter().filter(|container| container.restart_policy == "Always");
    sidecars.chain(&spec.containers).for_each(|container| add_host_ports(container, spec, &mut all));
    all
}

/// What containers and devices take: the most of what is asked for, what the kubelet has granted and what the containers have.
///
/// DIFFERENCE: up to 1.36 the most is taken of each container, from 1.37 on of all together.
fn of_containers(pod: &Pod, least: &Resources) -> Resources {
    let devices = node_allocatable::taken(&pod.status.node_allocatable_resource_claim_statuses);
    let together = |of_container: &dyn Fn(&Container) -> Resources| together(&pod.spec, least, of_container);
    let is_infeasible = is_infeasible(pod);
    let mut all = Resources::new();
    if !is_infeasible {
        all = together(&asked);
        add(&mut all, &devices);
    }
    let of_kind = |name: &str| pod.status.rest.get(name).and_then(Value::as_array).into_iter().flatten();
    let statuses = || of_kind("containerStatuses").chain(of_kind("initContainerStatuses"));
    let says = |status: &Value| status.get("resources").is_some() || status.get("allocatedResources").is_some();
    if !is_infeasible && !statuses().any(says) {
        return all;
    }
    let (allocated, actual) = match status_of_whole(pod) {
        // The kubelet counts devices here.
        [Some(actual), Some(allocated)] => (allocated, actual),
        _ => {
            let status = |container: &Container| {
                statuses().find(|status| status.get("name").and_then(Value::as_str) == Some(&container.name))
            };
            let otherwise = |container: &Container| if is_infeasible { Resources::new() } else { asked(container) };
            let allocated = |container: &Container| amounts(status(container)?.get("allocatedResources"));
            let actual = |container: &Container| amounts(status(container)?.pointer("/resources/requests"));
            let mut granted = together(&|container| allocated(container).unwrap_or_else(|| otherwise(container)));
            add(&mut granted, &devices);
            let has = |container: &Container| {
                actual(container).or_else(|| allocated(container)).unwrap_or_else(|| otherwise(container))
            };
            (granted, together(&has))
        }
    };
    maximum(&mut all, &allocated);
    maximum(&mut all, &actual);
    all
}

/// What containers take together, each at least so much of what it does not ask for.
fn together(spec: &PodSpec, least: &Resources, of_container: &dyn Fn(&Container) -> Resources) -> Resources {
    let of_container = |container: &Container| {
        let mut own = of_container(container);
        for (name, amount) in least {
            own.entry(name.clone()).or_insert_with(|| amount.clone());
        }
        own
    };
    let mut running = Resources::new();
    let mut peak = Resources::new();
    for container in &spec.init_containers {
        let own = of_container(container);
        if container.restart_policy == "Always" {
            add(&mut running, &own);
            maximum(&mut peak, &running);
        } else {
            let mut beside = running.clone();
            add(&mut beside, &own);
            maximum(&mut peak, &beside);
        }
    }
    for container in &spec.containers {
        add(&mut running, &of_container(container));
    }
    maximum(&mut peak, &running);
    peak
}

/// What a Pod as a whole asks for. Where it has limits, the rest is what its containers ask for, or the limit where none asks.
pub(super) fn of_whole(spec: &PodSpec) -> Resources {
    let Some(ResourceRequirements { requests, limits, .. }) = &spec.resources else { return Resources::new() };
    let mut whole = requests.clone();
    if !limits.is_empty() {
        let mut containers = together(spec, &Resources::new(), &asked);
        containers.retain(|name, _| matches!(name.as_str(), "cpu" | "memory"));
        for (name, amount) in containers.into_iter().chain(limits.clone()) {
            whole.entry(name).or_insert(amount);
        }
    }
    whole.retain(|name, _| is_of_whole(name));
    whole
}

/// Whether a Pod as a whole can ask for a resource.
fn is_of_whole(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || node_allocatable::is_huge_page(resource)
}

/// What a Pod has as a whole, and what the kubelet has granted it, where the status says so.
fn status_of_whole(pod: &Pod) -> [Option<Resources>; 2] {
    let status = &pod.status.rest;
    let has = status.get("resources").and_then(|resources| resources.get("requests"));
    [amounts(has), amounts(status.get("allocatedResources"))]
}

/// Whether the kubelet says that the node can never grant what the Pod asks for.
fn is_infeasible(pod: &Pod) -> bool {
    let text = |condition: &Value, name: &str| condition.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut conditions = pod.status.conditions.iter();
    let resize = conditions.find(|condition| text(condition, "type").as_deref() == Some("PodResizePending"));
    resize.is_some_and(|condition| text(condition, "reason").as_deref() == Some("Infeasible"))
}

fn amounts(value: Option<&Value>) -> Option<Resources> {
    let value = value.filter(|value| value.is_object())?;
    Resources::read(value.clone(), &Path::ROOT, &mut Vec::new()).ok()
}

/// How much every node has of a host port, by its name as a resource.
pub(super) fn ports(name: &str) -> Quantity {
    Quantity::from_i64(if name.contains(AT) { 1 } else { ADDRESSES }, Format::DecimalSi)
}

/// The host ports that a container asks for. Those of one Pod do not clash with each other: all addresses include a single one.
fn add_host_ports(container: &Container, spec: &PodSpec, all: &mut Resources) {
    let on_host = spec.rest.get("hostNetwork") == Some(&Value::Bool(true));
    for port in container.rest.get("ports").and_then(Value::as_array).into_iter().flatten() {
        let number = |name: &str| port.get(name).and_then(Value::as_i64).filter(|number| *number > 0);
        let text = |name: &str| port.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(host) = number("hostPort").or_else(|| number("containerPort").filter(|_| on_host)) else { continue };
        let name = format!("{HOST_PORT}{host}/{}", text("protocol").unwrap_or("TCP"));
        let most = ports(&name);
        match text("hostIP").filter(|address| *address != "0.0.0.0") {
            Some(address) => {
                let on_address = format!("{name}{AT}{address}");
                let one = ports(&on_address);
                let all_addresses = all.entry(name).or_default();
                *all_addresses = all_addresses.saturating_add(&one).min(most);
                all.insert(on_address, one);
            }
            None => drop(all.insert(name, most)),
        }
    }
}

/// What a container asks for: its requests, with limits where a request is left out.
fn asked(container: &Container) -> Resources {
    let ResourceRequirements { requests, limits, .. } = &container.resources;
    let mut all = limits.clone();
    all.extend(requests.clone());
    all
}

fn maximum(highest: &mut Resources, other: &Resources) {
    for (name, amount) in other {
        let entry = highest.entry(name.clone()).or_default();
        if *amount > *entry {
            *entry = amount.clone();
        }
    }
}
