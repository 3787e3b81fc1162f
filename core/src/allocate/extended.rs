//! Extended resources that devices serve: a Pod's plain `resources`, mapped to a claim (KEP-5004).
//!
//! A resource name belongs to a device class that states it as `extendedResourceName`, or that it names itself behind
//! [`IMPLICIT_PREFIX`]. On a node that has the resource in its allocatable ones, a device plugin serves it; on others devices do, through one
//! claim per Pod that the scheduler makes. Which requests that claim has depends on the node.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::api::claim::{DeviceRequest, ExactDeviceRequest};
use crate::api::class::DeviceClass;
use crate::api::node::Node;
use crate::api::pod::{Container, Pod};
use crate::api::quantity::Quantity;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::gather::Gather;

/// In front of a class name: the resource that the class serves without stating it.
pub const IMPLICIT_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

/// Annotation of a claim that the scheduler made, with the value `true`.
pub const ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

/// What one Pod asks of devices through resources, on one node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExtendedResources {
    /// Resources that devices serve on the node.
    pub resources: BTreeSet<String>,
    /// Requests of the claim, by name.
    pub requests: Vec<DeviceRequest>,
    /// Which request serves which resource of which container, resource by resource: first for containers that last, then for others.
    pub mappings: Vec<RequestMapping>,
}

/// An entry of the Pod's `status.extendedResourceClaimStatus.requestMappings`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestMapping {
    /// Name of the container.
    pub container: String,
    /// The resource that it asks for.
    pub resource: String,
    /// Name of the request.
    pub request: String,
}

/// The class that serves a resource. Of several that state its name the youngest counts, then the first by name.
pub fn class_for<'c>(cluster: &'c Cluster, resource: &str) -> Option<&'c DeviceClass> {
    let states = |class: &&DeviceClass| class.spec.extended_resource_name.as_deref() == Some(resource);
    // `min_by_key` takes the first of equals.
    let age = |class: &&DeviceClass| Reverse(class.metadata.creation_timestamp.clone());
    let stated = cluster.classes().values().filter(states).min_by_key(age);
    stated.or_else(|| cluster.classes().get(resource.strip_prefix(IMPLICIT_PREFIX)?))
}

/// What a Pod asks of devices on a node through resources; `None` where it asks for nothing, or the feature is off.
pub fn on_node(cluster: &Cluster, pod: &Pod, node: &Node) -> Option<ExtendedResources> {
    if !cluster.profile().features.extended_resource {
        return None;
    }
    let containers: Vec<Needs<'_>> = needs(pod);
    let names: BTreeSet<&String> = containers.iter().flat_map(|container| container.amounts.keys()).gather();
    let mut found = ExtendedResources::default();
    for resource in names {
        let Some(class) = class_for(cluster, resource) else { continue };
        let is_offered =
            |amounts: &BTreeMap<String, Quantity>| amounts.get(resource).is_some_and(|amount| amount.signum() > 0);
        let is_asked = containers.iter().any(|container| container.count(resource) > 0);
        if !is_asked || is_offered(&node.status.allocatable) {
            continue;
        }
        found.resources.insert(resource.clone());
        found.add(&containers, resource, &class.metadata.name);
    }
    found.requests.arrange_by(|a, b| a.name.cmp(&b.name));
    (!found.resources.is_empty()).then_some(found)
}

/// What one container needs.
struct Needs<'p> {
    container: &'p Container,
    /// Whether it runs as long as the Pod does: an ordinary container or a sidecar.
    is_long_lived: bool,
    /// Requests, with limits where a request is left out.
    amounts: BTreeMap<String, Quantity>,
}

impl Needs<'_> {
    fn count(&self, resource: &str) -> i64 {
        self.amounts.get(resource).map_or(0, Quantity::value_rounded_up)
    }

    /// Name of the request for a resource, from the positions of the container and of the resource in it.
    fn request(&self, index: usize, resource: &str) -> String {
        let position = self.amounts.keys().take_while(|name| *name != resource).count();
        format!("container-{index}-request-{position}")
    }
}

impl<'p> Needs<'p> {
    fn of(container: &'p Container, is_long_lived: bool) -> Self {
        let mut amounts = container.resources.limits.clone();
        amounts.extend(container.resources.requests.clone());
        Self { container, is_long_lived, amounts }
    }
}

/// Init containers, then the others.
fn needs(pod: &Pod) -> Vec<Needs<'_>> {
    let init =
        pod.spec.init_containers.iter().map(|container| Needs::of(container, container.restart_policy == "Always"));
    init.chain(pod.spec.containers.iter().map(|container| Needs::of(container, true))).collect()
}

/// The resource that a request of such a claim serves, and for which container.
pub(crate) fn served(pod: &Pod, request: &str) -> Option<(String, String)> {
    needs(pod).iter().enumerate().find_map(|(index, needs)| {
        let resource = needs.amounts.keys().find(|resource| needs.request(index, resource) == request)?;
        Some((resource.clone(), needs.container.name.clone()))
    })
}

impl ExtendedResources {
    /// Adds the requests of all containers for one resource.
    ///
    /// An init container that ends uses the devices of containers that start later, in their order; what it needs beyond is asked for
    /// once, for the one that needs most.
    fn add(&mut self, containers: &[Needs<'_>], resource: &str, class: &str) {
        let mut lasting: Vec<(usize, String, i64)> = Vec::new();
        for (index, needs) in containers.iter().enumerate().filter(|(_, needs)| needs.is_long_lived) {
            let count = needs.count(resource);
            if count > 0 {
                let name = needs.request(index, resource);
                self.request(&name, class, count);
                lasting.push((index, name, count));
            }
        }
        let serving = lasting.iter().filter_map(|(index, request, _)| Some((containers.get(*index)?, request)));
        self.mappings.extend(serving.map(|(needs, request)| mapping(needs, resource, request)));
        let mut beyond: Vec<(usize, i64)> = Vec::new();
        for (index, needs) in containers.iter().enumerate().filter(|(_, needs)| !needs.is_long_lived) {
            let mut left = needs.count(resource);
            for (_, _, count) in lasting.iter().filter(|(at, ..)| *at >= index) {
                left = left.saturating_sub(*count);
            }
            if left > 0 {
                beyond.push((index, left));
            }
        }
        // The first of those that need most.
        let most = beyond.iter().rev().max_by_key(|(_, count)| *count);
        let extra = most.and_then(|(index, count)| {
            let name = containers.get(*index)?.request(*index, resource);
            self.request(&name, class, *count);
            Some(name)
        });
        for (index, needs) in containers.iter().enumerate().filter(|(_, needs)| !needs.is_long_lived) {
            let mut left = needs.count(resource);
            for (_, request, count) in lasting.iter().filter(|(at, ..)| *at >= index) {
                if left > 0 {
                    self.mappings.push(mapping(needs, resource, request));
                }
                left = left.saturating_sub(*count);
            }
            if let Some(extra) = extra.as_ref().filter(|_| left > 0) {
                self.mappings.push(mapping(needs, resource, extra));
            }
        }
    }

    fn request(&mut self, name: &str, class: &str, count: i64) {
        let exactly =
            ExactDeviceRequest { device_class_name: class.to_owned(), count, ..ExactDeviceRequest::default() };
        let request = DeviceRequest { name: name.to_owned(), exactly: Some(exactly), ..DeviceRequest::default() };
        self.requests.push(request);
    }
}

fn mapping(needs: &Needs<'_>, resource: &str, request: &str) -> RequestMapping {
    RequestMapping {
        container: needs.container.name.clone(),
        resource: resource.to_owned(),
        request: request.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::{Object, read_object};
    use crate::profile::Profile;

    fn class(name: &str, resource: &str, created: &str) -> Value {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": { "name": name, "creationTimestamp": created }, "spec": { "extendedResourceName": resource },
        })
    }

    fn cluster(classes: &[Value]) -> Cluster {
        let mut cluster = Cluster::new(Profile::default());
        for class in classes {
            cluster.apply(read_object(class.clone()).object.unwrap());
        }
        cluster
    }

    fn container(name: &str, amounts: &[(&str, &str)]) -> Value {
        let amounts: serde_json::Map<String, Value> =
            amounts.iter().map(|(name, amount)| ((*name).to_owned(), json!(amount))).collect();
        json!({ "name": name, "resources": { "limits": amounts } })
    }

    fn pod(init: &[Value], containers: &[Value]) -> Pod {
        let value = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" },
            "spec": { "initContainers": init, "containers": containers },
        });
        match read_object(value).object {
            Some(Object::Pod(pod)) => Pod::clone(&pod),
            other => panic!("{other:?}"),
        }
    }

    fn requests(found: &ExtendedResources) -> Vec<(&str, &str, i64)> {
        found
            .requests
            .iter()
            .map(|request| {
                let exactly = request.exactly.as_ref().unwrap();
                (request.name.as_str(), exactly.device_class_name.as_str(), exactly.count)
            })
            .collect()
    }

    fn mappings(found: &ExtendedResources) -> Vec<(&str, &str)> {
        found.mappings.iter().map(|mapping| (mapping.container.as_str(), mapping.request.as_str())).collect()
    }

    const GPU: &str = "example.com/gpu";

    #[test]
    fn the_youngest_class_serves_a_resource_then_the_first_by_name() {
        let classes = [
            class("b", GPU, "2026-01-01T00:00:00Z"),
            class("a", GPU, "2026-01-01T00:00:00Z"),
            class("old", GPU, "2025-01-01T00:00:00Z"),
        ];
        let cluster = cluster(&classes);
        assert_eq!(class_for(&cluster, GPU).unwrap().metadata.name, "a");
        assert_eq!(class_for(&cluster, "deviceclass.resource.kubernetes.io/old").unwrap().metadata.name, "old");
        assert!(class_for(&cluster, "example.com/other").is_none());
    }

    #[test]
    fn a_request_is_named_by_the_positions_of_container_and_resource() {
        let cluster = cluster(&[class("gpu", GPU, "")]);
        let containers =
            [container("a", &[("cpu", "1")]), container("b", &[("cpu", "1"), (GPU, "2"), ("memory", "1Gi")])];
        let found = on_node(&cluster, &pod(&[], &containers), &Node::default()).unwrap();
        assert_eq!(requests(&found), [("container-1-request-1", "gpu", 2)]);
        assert_eq!(mappings(&found), [("b", "container-1-request-1")]);
    }

    #[test]
    fn init_containers_use_what_later_containers_have_and_ask_once_for_the_rest() {
        let cluster = cluster(&[class("gpu", GPU, "")]);
        let init =
            [container("first", &[(GPU, "4")]), container("second", &[(GPU, "5")]), container("third", &[(GPU, "1")])];
        let containers = [container("main", &[(GPU, "2")]), container("side", &[(GPU, "1")])];
        let found = on_node(&cluster, &pod(&init, &containers), &Node::default()).unwrap();
        let expected = [
            ("container-1-request-0", "gpu", 2),
            ("container-3-request-0", "gpu", 2),
            ("container-4-request-0", "gpu", 1),
        ];
        assert_eq!(requests(&found), expected);
        let of = |name: &str| -> Vec<&str> {
            mappings(&found).iter().filter(|(container, _)| *container == name).map(|(_, request)| *request).collect()
        };
        assert_eq!(of("first"), ["container-3-request-0", "container-4-request-0", "container-1-request-0"]);
        assert_eq!(of("third"), ["container-3-request-0"]);
        assert_eq!(of("main"), ["container-3-request-0"]);
        let order: Vec<&str> = mappings(&found).iter().map(|(container, _)| *container).collect();
        assert_eq!(order, ["main", "side", "first", "first", "first", "second", "second", "second", "third"]);
    }

    #[test]
    fn requests_are_in_the_order_of_their_names_as_texts() {
        let cluster = cluster(&[class("gpu", GPU, "")]);
        let containers: Vec<Value> = (0..11).map(|index| container(&format!("c{index}"), &[(GPU, "1")])).collect();
        let found = on_node(&cluster, &pod(&[], &containers), &Node::default()).unwrap();
        let names: Vec<&str> = requests(&found).iter().map(|request| request.0).collect();
        assert_eq!(
            names.get(1..4).unwrap(),
            ["container-1-request-0", "container-10-request-0", "container-2-request-0"]
        );
    }

    #[test]
    fn a_node_with_a_device_plugin_serves_the_resource_itself() {
        let cluster = cluster(&[class("gpu", GPU, "")]);
        let mut node = Node::default();
        node.status.allocatable.insert(GPU.to_owned(), Quantity::parse("1").unwrap());
        let pod = pod(&[], &[container("main", &[(GPU, "2")])]);
        assert!(on_node(&cluster, &pod, &node).is_none());
        node.status.allocatable.insert(GPU.to_owned(), Quantity::parse("0").unwrap());
        assert!(on_node(&cluster, &pod, &node).is_some());
    }
}
