//! All facts known: objects by key, and the indexes that questions need.

use std::collections::BTreeMap;

use crate::api::claim::{ResourceClaim, ResourceClaimTemplate};
use crate::api::class::{DeviceClass, DeviceTaintRule};
use crate::api::node::Node;
use crate::api::object::Object;
use crate::api::pod::{Namespace, Pod};
use crate::api::slice::ResourceSlice;
use crate::api::workload::Workload;
use crate::profile::Profile;

/// Namespace and name.
pub type Key = (String, String);

/// All facts known about a cluster, as of the last event.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    profile: Profile,
    nodes: BTreeMap<String, Node>,
    namespaces: BTreeMap<String, Namespace>,
    classes: BTreeMap<String, DeviceClass>,
    slices: BTreeMap<String, ResourceSlice>,
    taint_rules: BTreeMap<String, DeviceTaintRule>,
    claims: BTreeMap<Key, ResourceClaim>,
    templates: BTreeMap<Key, ResourceClaimTemplate>,
    cluster_templates: BTreeMap<String, ResourceClaimTemplate>,
    pods: BTreeMap<Key, Pod>,
    workloads: BTreeMap<(String, String, String), Workload>,
}

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $ty:ty;)*) => {
        $($(#[$doc])* pub fn $name(&self) -> &BTreeMap<$key, $ty> { &self.$name })*
    };
}

impl Cluster {
    /// An empty cluster of a given Kubernetes.
    pub fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// The Kubernetes that it runs.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    views! {
        /// Nodes by name.
        nodes: String => Node;
        /// Namespaces by name.
        namespaces: String => Namespace;
        /// Device classes by name.
        classes: String => DeviceClass;
        /// Slices by name.
        slices: String => ResourceSlice;
        /// Taint rules by name.
        taint_rules: String => DeviceTaintRule;
        /// Claims by namespace and name.
        claims: Key => ResourceClaim;
        /// Claim templates by namespace and name.
        templates: Key => ResourceClaimTemplate;
        /// Cluster-wide claim templates by name.
        cluster_templates: String => ResourceClaimTemplate;
        /// Pods by namespace and name.
        pods: Key => Pod;
        /// Workload controllers by kind, namespace and name.
        workloads: (String, String, String) => Workload;
    }

    /// Adds an object or replaces the one with the same key.
    pub fn apply(&mut self, object: Object) {
        let metadata = object.metadata();
        let name = metadata.name.clone();
        let key = (metadata.namespace.clone(), name.clone());
        match object {
            Object::Node(node) => drop(self.nodes.insert(name, *node)),
            Object::Namespace(namespace) => drop(self.namespaces.insert(name, *namespace)),
            Object::DeviceClass(class) => drop(self.classes.insert(name, *class)),
            Object::ResourceSlice(slice) => drop(self.slices.insert(name, *slice)),
            Object::DeviceTaintRule(rule) => drop(self.taint_rules.insert(name, *rule)),
            Object::ResourceClaim(claim) => drop(self.claims.insert(key, *claim)),
            Object::ResourceClaimTemplate(template) => drop(self.templates.insert(key, *template)),
            Object::ClusterResourceClaimTemplate(template) => drop(self.cluster_templates.insert(name, *template)),
            Object::Pod(pod) => drop(self.pods.insert(key, *pod)),
            Object::Workload(workload) => {
                drop(self.workloads.insert((workload.kind.clone(), key.0, key.1), *workload));
            }
        }
    }
}
