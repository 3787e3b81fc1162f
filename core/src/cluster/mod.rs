//! All facts known: objects by key, and the indexes that questions need.

pub(crate) mod attachments;
mod bystanders;
mod counters;
pub mod entries;
mod foreign;
mod ingest;
mod inventory;
pub(crate) mod left;
mod links;
pub mod node_selector;
mod objects;
mod pools;
mod projections;
mod records;
mod refused;
mod rules_by_device;
pub(crate) mod selectors;
mod shared_map;
mod slots;
mod usage;
mod views;
pub(crate) mod volumes;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::api::claim::{AllocationResult, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate};
use crate::api::class::{DeviceClass, DeviceTaintRule};
use crate::api::group::{PodGroup, SchedulingWorkload};
use crate::api::node::Node;
use crate::api::object::Object;
use crate::api::others::{Bystander, PriorityClass};
use crate::api::pod::{DEFAULT_SCHEDULER, Namespace, OWN_SCHEDULER, Pod};
use crate::api::pool_status::ResourcePoolStatusRequest;
use crate::api::scheduler_configuration::{self, SchedulerConfiguration, SchedulerProfile};
use crate::api::slice::{ResourceSlice, TaintEffect, Twins};
use crate::api::source::{SOURCE_KIND, TemplateSource};
use crate::api::workload::Workload;
use crate::cel::Environment;
use crate::finding::{Finding, ObjectRef};
use crate::profile::Profile;

pub(crate) use counters::{Draws, Ledger};
pub(crate) use inventory::{Inventory, Relief, SliceEntry, node_of};
pub(crate) use links::{Links, template_key};
pub(crate) use pools::{
    NodePool, NodePools, PoolState, device_matches, hides_slices, incomplete, incomplete_pool, is_for, missing_gate,
    whole,
};
use rules_by_device::RulesByDevice;
use selectors::Selectors;
pub use shared_map::SharedMap;
pub(crate) use slots::{DeviceIdx, PoolIdx, Slot};
pub(crate) use usage::Usage;
pub(crate) use views::Newest;
use volumes::FreeVolumes;

/// Namespace and name.
pub type Key = (String, String);

/// The same, borrowed.
pub(crate) type KeyRef<'k> = (&'k str, &'k str);

/// All facts known about a cluster, as of the last event.
///
/// A copy shares with it what none of both changes: it takes the same time for any size, and a change costs what is changed.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    profile: Profile,
    nodes: SharedMap<String, Arc<Node>>,
    namespaces: SharedMap<String, Namespace>,
    classes: SharedMap<String, DeviceClass>,
    slices: SharedMap<String, Arc<ResourceSlice>>,
    /// Slices that were written in a shorter way than questions see them.
    short_slices: SharedMap<String, Arc<ResourceSlice>>,
    /// Names of slices with a device that evicts its users.
    evicting_slices: SharedMap<String, ()>,
    taint_rules: SharedMap<String, DeviceTaintRule>,
    rules_by_device: RulesByDevice,
    pool_status_requests: SharedMap<String, ResourcePoolStatusRequest>,
    claims: SharedMap<Key, Arc<ResourceClaim>>,
    templates: SharedMap<Key, ResourceClaimTemplate>,
    cluster_templates: SharedMap<String, ResourceClaimTemplate>,
    template_sources: SharedMap<String, TemplateSource>,
    pods: SharedMap<Key, Arc<Pod>>,
    pod_groups: SharedMap<Key, PodGroup>,
    scheduling_workloads: SharedMap<Key, SchedulingWorkload>,
    workloads: SharedMap<(String, String, String), Workload>,
    priority_classes: SharedMap<String, PriorityClass>,
    scheduler_configurations: SharedMap<String, SchedulerConfiguration>,
    bystanders: SharedMap<(String, String, String), Bystander>,
    free_volumes: FreeVolumes,
    /// Space for volumes that are made.
    space: FreeVolumes,
    /// Where volumes are attached.
    attachments: attachments::ByNode,
    arrivals: SharedMap<(String, String, String), u64>,
    /// Pods and workload controllers that came so far.
    arrived: u64,
    /// Kinds of which a dump holds nothing, so that it is not known which objects there are.
    not_given: BTreeSet<&'static str>,
    /// Kinds of which an empty list was given.
    listed: BTreeSet<String>,
    /// Objects of which the API server dropped fields, as they were written, each with what was said of it.
    dropped: SharedMap<ObjectRef, (Value, Vec<String>)>,
    /// Objects that the API server refused, as they were written, each with why.
    refused: SharedMap<ObjectRef, (Value, Finding)>,
    inventory: Inventory,
    links: Links,
    twins: Twins,
    /// What the claim that came last asks for: equal ones that follow have the same.
    latest_spec: Arc<ResourceClaimSpec>,
    memory: Memory,
}

/// What questions found out that later ones would find out again; without it every answer is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Compiled selectors.
    pub(crate) selectors: Selectors,
    /// Pools by node.
    pub(crate) pools: NodePools,
}

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $ty:ty;)*) => {
        $($(#[$doc])* pub fn $name(&self) -> &SharedMap<$key, $ty> { &self.$name })*
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

    /// Makes it a cluster of another Kubernetes; the objects stay.
    pub fn set_profile(&mut self, profile: Profile) {
        self.relieve_by_rules();
        let has_shares = self.profile.features.consumable_capacity;
        let counts_anew = has_shares != profile.features.consumable_capacity;
        if counts_anew {
            let inventory = &mut self.inventory;
            for claim in self.claims.values() {
                inventory.count_claim(claim, has_shares, false);
                inventory.count_claim(claim, profile.features.consumable_capacity, true);
            }
        }
        self.memory = Memory::default();
        let converts_lists =
            |profile: &Profile| Environment::stored(profile.version, &profile.features).converts_lists();
        if converts_lists(&self.profile) != converts_lists(&profile) {
            let inventory = &mut self.inventory;
            for slice in self.slices.values() {
                inventory.add_slice(Arc::clone(slice), converts_lists(&profile));
            }
        }
        let reads =
            |profile: &Profile| (profile.features.resource_slice_mixins, profile.features.shared_consumable_capacity);
        let reads_anew = reads(&self.profile) != reads(&profile);
        self.profile = profile;
        if reads_anew {
            for name in self.slices.keys().cloned().collect::<Vec<_>>() {
                let written = self.short_slices.get(&name).or_else(|| self.slices.get(&name)).cloned();
                written.into_iter().for_each(|slice| self.apply_slice(slice));
            }
        }
    }

    views! {
        /// Nodes by name.
        nodes: String => Arc<Node>;
        /// Namespaces by name.
        namespaces: String => Namespace;
        /// Device classes by name.
        classes: String => DeviceClass;
        /// Slices by name, as questions see them: mixins are merged into devices, and devices that this Kubernetes cannot read are left
        /// out.
        slices: String => Arc<ResourceSlice>;
        /// Taint rules by name.
        taint_rules: String => DeviceTaintRule;
        /// Questions about pools by name.
        pool_status_requests: String => ResourcePoolStatusRequest;
        /// Claims by namespace and name.
        claims: Key => Arc<ResourceClaim>;
        /// Claim templates by namespace and name.
        templates: Key => ResourceClaimTemplate;
        /// Cluster-wide claim templates by name.
        cluster_templates: String => ResourceClaimTemplate;
        /// Claim templates for several namespaces, by name.
        template_sources: String => TemplateSource;
        /// Pods by namespace and name.
        pods: Key => Arc<Pod>;
        /// PodGroups by namespace and name.
        pod_groups: Key => PodGroup;
        /// Workloads, which PodGroups are made from, by namespace and name.
        scheduling_workloads: Key => SchedulingWorkload;
        /// Workload controllers by kind, namespace and name.
        workloads: (String, String, String) => Workload;
        /// PriorityClasses by name.
        priority_classes: String => PriorityClass;
        /// The configuration of kube-scheduler, if it is given.
        scheduler_configurations: String => SchedulerConfiguration;
        /// PodDisruptionBudgets and volumes by kind, namespace and name.
        bystanders: (String, String, String) => Bystander;
    }

    /// When a Pod or workload controller arrived, as its position among all that did; last for any other.
    pub fn arrival(&self, kind: &str, namespace: &str, name: &str) -> u64 {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.arrivals.get(&key).copied().unwrap_or(u64::MAX)
    }

    /// Names that slices give to nodes, whether or not a Node object of that name exists.
    pub fn node_names_of_slices(&self) -> impl Iterator<Item = &String> {
        self.inventory.node_names()
    }

    /// Slices with a device that has a taint of effect `NoExecute`, by name.
    pub(crate) fn evicting_slices(&self) -> impl Iterator<Item = &Arc<ResourceSlice>> {
        self.evicting_slices.keys().filter_map(|name| self.slices.get(name))
    }

    /// The indexes over slices and devices in use.
    pub(crate) fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Who refers to whom.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The memory, out on loan: whoever takes it puts it back before anything else changes.
    pub(crate) fn lend_memory(&mut self) -> Memory {
        std::mem::take(&mut self.memory)
    }

    /// Takes the lent memory back.
    pub(crate) fn return_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// Adds an object or replaces the one with the same key.
    pub fn apply(&mut self, object: Object) {
        let metadata = object.metadata();
        let name = metadata.name.clone();
        let key = (metadata.namespace.clone(), name.clone());
        let kind = object.kind().to_owned();
        match object {
            Object::Node(node) => {
                self.memory.pools.forget_node(&name);
                self.nodes.insert(name, node);
            }
            Object::Namespace(namespace) => drop(self.namespaces.insert(name, Arc::unwrap_or_clone(namespace))),
            Object::DeviceClass(class) => {
                self.relieve_by_rules();
                self.classes.insert(name, Arc::unwrap_or_clone(class));
            }
            Object::ResourceSlice(mut slice) => {
                self.twins.share(&mut Arc::make_mut(&mut slice).spec);
                self.apply_slice(slice);
            }
            Object::DeviceTaintRule(rule) => self.apply_taint_rule(name, Arc::unwrap_or_clone(rule)),
            Object::ResourcePoolStatusRequest(request) => {
                drop(self.pool_status_requests.insert(name, Arc::unwrap_or_clone(request)))
            }
            Object::ResourceClaim(claim) => drop(self.apply_claim(claim)),
            Object::ResourceClaimTemplate(template) => drop(self.templates.insert(key, Arc::unwrap_or_clone(template))),
            Object::ClusterResourceClaimTemplate(template) => {
                drop(self.cluster_templates.insert(name, Arc::unwrap_or_clone(template)))
            }
            Object::TemplateSource(source) => drop(self.template_sources.insert(name, Arc::unwrap_or_clone(source))),
            Object::Pod(pod) => drop(self.apply_pod(pod)),
            Object::PodGroup(group) => drop(self.pod_groups.insert(key, Arc::unwrap_or_clone(group))),
            Object::SchedulingWorkload(workload) => {
                drop(self.scheduling_workloads.insert(key, Arc::unwrap_or_clone(workload)))
            }
            Object::Workload(workload) => {
                self.arrive(&workload.kind, &key);
                let key = (workload.kind.clone(), key.0, key.1);
                let links = &mut self.links;
                if let Some(old) = self.workloads.get(&key) {
                    links.remove_workload(&key, old);
                }
                links.add_workload(&key, &workload);
                drop(self.workloads.insert(key, Arc::unwrap_or_clone(workload)));
            }
            Object::PriorityClass(class) => drop(self.priority_classes.insert(name, Arc::unwrap_or_clone(class))),
            Object::SchedulerConfiguration(configuration) => {
                drop(self.scheduler_configurations.insert(name, Arc::unwrap_or_clone(configuration)))
            }
            Object::PodDisruptionBudget(object)
            | Object::Service(object)
            | Object::PersistentVolumeClaim(object)
            | Object::PersistentVolume(object)
            | Object::StorageClass(object)
            | Object::CSINode(object)
            | Object::CSIDriver(object)
            | Object::CSIStorageCapacity(object)
            | Object::VolumeAttachment(object) => {
                self.apply_bystander((kind, key.0, key.1), Arc::unwrap_or_clone(object))
            }
        }
    }

    /// Remembers when a Pod or workload controller first came.
    fn arrive(&mut self, kind: &str, key: &Key) {
        let key = (kind.to_owned(), key.0.clone(), key.1.clone());
        if !self.arrivals.contains_key(&key) {
            self.arrivals.insert(key, self.arrived);
            self.arrived = self.arrived.saturating_add(1);
        }
    }

    /// Adds a Pod, and gives the one that it replaces.
    fn apply_pod(&mut self, pod: Arc<Pod>) -> Option<Arc<Pod>> {
        let key = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
        match self.pods.get(&key) {
            Some(old) if Links::are_alike(old, &pod) => {}
            Some(old) => {
                let links = &mut self.links;
                links.remove_pod(&key, old);
                links.add_pod(&key, &pod);
            }
            None => {
                self.arrive("Pod", &key);
                self.links.add_pod(&key, &pod);
            }
        }
        self.pods.insert(key, pod)
    }

    /// Adds a claim, and gives the one that it replaces.
    fn apply_claim(&mut self, mut claim: Arc<ResourceClaim>) -> Option<Arc<ResourceClaim>> {
        let key = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        // Claims of one template follow one another.
        if !Arc::ptr_eq(&self.latest_spec, &claim.spec) {
            if self.latest_spec == claim.spec {
                Arc::make_mut(&mut claim).spec = Arc::clone(&self.latest_spec);
            } else {
                self.latest_spec = Arc::clone(&claim.spec);
            }
        }
        let old = self.claims.get(&key);
        if old.is_none_or(|old| old.metadata.owner_references != claim.metadata.owner_references) {
            let links = &mut self.links;
            old.into_iter().for_each(|old| links.remove_claim(&key, old));
            links.add_claim(&key, &claim);
        }
        let (had, has) = (old.and_then(|old| old.status.allocation.as_ref()), claim.status.allocation.as_ref());
        let is_same = matches!((had, has), (Some(had), Some(has)) if Arc::ptr_eq(had, has));
        if !is_same {
            old.into_iter().for_each(|old| count_claim(&mut self.inventory, &self.profile, old, false));
            count_claim(&mut self.inventory, &self.profile, &claim, true);
        }
        self.claims.insert(key, claim)
    }

    fn apply_slice(&mut self, written: Arc<ResourceSlice>) {
        let name = written.metadata.name.clone();
        let slice = match ingest::ingest(&written, &self.profile.features) {
            Some(full) => {
                self.short_slices.insert(name.clone(), written);
                Arc::new(full)
            }
            None => {
                self.short_slices.remove(&name);
                written
            }
        };
        self.forget_slice(&name);
        let mut taints = slice.spec.devices.iter().flat_map(|device| &device.taints);
        if taints.any(|taint| taint.effect == TaintEffect::NoExecute) {
            self.evicting_slices.insert(name.clone(), ());
        }
        let has_lists = Environment::stored(self.profile.version, &self.profile.features).converts_lists();
        self.inventory.add_slice(Arc::clone(&slice), has_lists);
        self.memory.pools.forget_slice(&slice);
        if let Some(old) = self.slices.insert(name, slice) {
            self.memory.pools.forget_slice(&old);
        }
    }

    fn relieve_by_rules(&mut self) {
        self.inventory.relieve(Relief::Rules);
    }

    /// Forgets what questions found out about a slice that is replaced or removed.
    fn forget_slice(&mut self, name: &str) {
        self.evicting_slices.remove(name);
        if let Some(index) = self.inventory.slice_index(name) {
            self.memory.selectors.forget(index);
        }
    }

    /// The claims of some keys. Keys in order are found from one to the next.
    ///
    /// # Errors
    ///
    /// The first key that no claim has.
    pub(crate) fn find_claims(&self, keys: &[KeyRef<'_>]) -> Result<Vec<&ResourceClaim>, Key> {
        let mut following = self.claims.iter();
        let mut claims = Vec::with_capacity(keys.len());
        for key in keys {
            let claim = match following.next() {
                Some((next, claim)) if is_key(next, *key) => claim,
                _ => {
                    let key = owned(*key);
                    following = self.claims.range_from(&key);
                    match following.next() {
                        Some((first, claim)) if *first == key => claim,
                        _ => return Err(key),
                    }
                }
            };
            claims.push(&**claim);
        }
        Ok(claims)
    }

    /// Gives claims allocations; a key that no claim has is passed over. Keys in order are found from one to the next.
    pub(crate) fn take_allocations<'k>(
        &mut self,
        taken: impl Iterator<Item = (KeyRef<'k>, &'k Arc<AllocationResult>)>,
    ) {
        let has_shares = self.profile.features.consumable_capacity;
        let mut latest = None;
        let mut taken = taken.peekable();
        while let Some((first, _)) = taken.peek() {
            let mut following = self.claims.range_mut(&owned(*first));
            let mut is_known = false;
            while let Some((key, allocation)) = taken.peek()
                && let Some((next, claim)) = following.next()
                && is_key(next, *key)
            {
                if claim.status.allocation.is_some() {
                    count_claim(&mut self.inventory, &self.profile, claim, false);
                    latest = None;
                }
                let claim = Arc::make_mut(claim);
                claim.status.allocation = Some(Arc::clone(allocation));
                if claim.held().next().is_some() {
                    self.inventory.take_claim(claim, has_shares, &mut latest);
                }
                is_known = true;
                taken.next();
            }
            if !is_known {
                taken.next();
            }
        }
    }

    /// Removes an object. False when there is none.
    pub fn delete(&mut self, object: &ObjectRef) -> bool {
        let (name, key) = (&object.name, (object.namespace.clone(), object.name.clone()));
        match object.kind.as_str() {
            "Node" => {
                self.memory.pools.forget_node(name);
                self.nodes.remove(name).is_some()
            }
            "Namespace" => self.namespaces.remove(name).is_some(),
            "DeviceClass" => {
                self.relieve_by_rules();
                self.classes.remove(name).is_some()
            }
            "ResourceSlice" => {
                self.forget_slice(name);
                self.inventory.remove_slice(name);
                self.short_slices.remove(name);
                let removed = self.slices.remove(name);
                if let Some(slice) = &removed {
                    self.memory.pools.forget_slice(slice);
                }
                removed.is_some()
            }
            "DeviceTaintRule" => self.delete_taint_rule(name),
            "ResourcePoolStatusRequest" => self.pool_status_requests.remove(name).is_some(),
            "ResourceClaim" => {
                let removed = self.claims.remove(&key);
                if let Some(claim) = &removed {
                    self.links.remove_claim(&key, claim);
                    count_claim(&mut self.inventory, &self.profile, claim, false);
                }
                removed.is_some()
            }
            "ResourceClaimTemplate" => self.templates.remove(&key).is_some(),
            "ClusterResourceClaimTemplate" => self.cluster_templates.remove(name).is_some(),
            SOURCE_KIND => self.template_sources.remove(name).is_some(),
            "Pod" => {
                let removed = self.pods.remove(&key);
                if let Some(pod) = &removed {
                    self.links.remove_pod(&key, pod);
                    self.arrivals.remove(&("Pod".to_owned(), key.0, key.1));
                }
                removed.is_some()
            }
            "PodGroup" => self.pod_groups.remove(&key).is_some(),
            "Workload" => self.scheduling_workloads.remove(&key).is_some(),
            "PriorityClass" => self.priority_classes.remove(name).is_some(),
            scheduler_configuration::KIND => self.scheduler_configurations.remove(name).is_some(),
            kind @ ("PodDisruptionBudget"
            | "PersistentVolumeClaim"
            | "PersistentVolume"
            | "Service"
            | "StorageClass"
            | "CSINode"
            | "CSIDriver"
            | "CSIStorageCapacity"
            | "VolumeAttachment") => self.delete_bystander(&(kind.to_owned(), key.0, key.1)),
            kind => {
                let key = (kind.to_owned(), key.0, key.1);
                let removed = self.workloads.remove(&key);
                if let Some(workload) = &removed {
                    self.links.remove_workload(&key, workload);
                    self.arrivals.remove(&key);
                }
                removed.is_some()
            }
        }
    }

    /// The profile of the scheduler that a Pod names, and how many percent of the nodes it compares where that is said; `None` without a
    /// configuration that has one.
    pub(crate) fn scheduler_profile(&self, pod: &Pod) -> Option<(&SchedulerProfile, Option<i64>)> {
        self.scheduler_profiles().find(|(profile, _)| profile.name() == pod.scheduler())
    }

    /// Whether somebody who is simulated gives a Pod its node: kube-scheduler, where the configuration has its scheduler or without one
    /// it is the default scheduler, or the controller's own.
    pub(crate) fn has_scheduler_of(&self, pod: &Pod) -> bool {
        if pod.scheduler() == OWN_SCHEDULER {
            return true;
        }
        match self.scheduler_profiles().next() {
            Some(_) => self.scheduler_profile(pod).is_some(),
            None => pod.scheduler() == DEFAULT_SCHEDULER,
        }
    }

    /// The names of the schedulers in the configuration.
    pub(crate) fn schedulers(&self) -> Vec<&str> {
        self.scheduler_profiles().map(|(profile, _)| profile.name()).collect()
    }

    fn scheduler_profiles(&self) -> impl Iterator<Item = (&SchedulerProfile, Option<i64>)> {
        self.scheduler_configurations.values().flat_map(|configuration| {
            let of_all = configuration.percentage_of_nodes_to_score;
            let profiles = configuration.profiles.iter();
            profiles.map(move |profile| (profile, profile.percentage_of_nodes_to_score.or(of_all)))
        })
    }

    /// An object as it is now.
    pub fn get(&self, object: &ObjectRef) -> Option<Object> {
        let (name, key) = (&object.name, (object.namespace.clone(), object.name.clone()));
        Some(match object.kind.as_str() {
            "Node" => Object::Node(Arc::clone(self.nodes.get(name)?)),
            "Namespace" => Object::Namespace(Arc::new(self.namespaces.get(name)?.clone())),
            "DeviceClass" => Object::DeviceClass(Arc::new(self.classes.get(name)?.clone())),
            "ResourceSlice" => {
                let slice = self.short_slices.get(name).or_else(|| self.slices.get(name))?;
                Object::ResourceSlice(Arc::clone(slice))
            }
            "DeviceTaintRule" => Object::DeviceTaintRule(Arc::new(self.taint_rules.get(name)?.clone())),
            "ResourcePoolStatusRequest" => {
                Object::ResourcePoolStatusRequest(Arc::new(self.pool_status_requests.get(name)?.clone()))
            }
            "ResourceClaim" => Object::ResourceClaim(Arc::clone(self.claims.get(&key)?)),
            "ResourceClaimTemplate" => Object::ResourceClaimTemplate(Arc::new(self.templates.get(&key)?.clone())),
            "ClusterResourceClaimTemplate" => {
                Object::ClusterResourceClaimTemplate(Arc::new(self.cluster_templates.get(name)?.clone()))
            }
            SOURCE_KIND => Object::TemplateSource(Arc::new(self.template_sources.get(name)?.clone())),
            "Pod" => Object::Pod(Arc::clone(self.pods.get(&key)?)),
            "PodGroup" => Object::PodGroup(Arc::new(self.pod_groups.get(&key)?.clone())),
            "Workload" => Object::SchedulingWorkload(Arc::new(self.scheduling_workloads.get(&key)?.clone())),
            "PriorityClass" => Object::PriorityClass(Arc::new(self.priority_classes.get(name)?.clone())),
            scheduler_configuration::KIND => {
                Object::SchedulerConfiguration(Arc::new(self.scheduler_configurations.get(name)?.clone()))
            }
            kind @ ("PodDisruptionBudget"
            | "PersistentVolumeClaim"
            | "PersistentVolume"
            | "Service"
            | "StorageClass"
            | "CSINode"
            | "CSIDriver"
            | "CSIStorageCapacity"
            | "VolumeAttachment") => {
                let object = Arc::new(self.bystanders.get(&(kind.to_owned(), key.0, key.1))?.clone());
                match kind {
                    "PodDisruptionBudget" => Object::PodDisruptionBudget(object),
                    "PersistentVolumeClaim" => Object::PersistentVolumeClaim(object),
                    "Service" => Object::Service(object),
                    "StorageClass" => Object::StorageClass(object),
                    "CSINode" => Object::CSINode(object),
                    "CSIDriver" => Object::CSIDriver(object),
                    "CSIStorageCapacity" => Object::CSIStorageCapacity(object),
                    "VolumeAttachment" => Object::VolumeAttachment(object),
                    _ => Object::PersistentVolume(object),
                }
            }
            kind => Object::Workload(Arc::new(self.workloads.get(&(kind.to_owned(), key.0, key.1))?.clone())),
        })
    }
}

impl Cluster {
    /// Makes the devices of a claim free for others, whatever the claim says of them.
    pub(crate) fn give_back_devices(&mut self, claim: &ResourceClaim) {
        count_claim(&mut self.inventory, &self.profile, claim, false);
    }

    /// Undoes [`Cluster::give_back_devices`].
    pub(crate) fn take_devices(&mut self, claim: &ResourceClaim) {
        count_claim(&mut self.inventory, &self.profile, claim, true);
    }
}

fn is_key(key: &Key, (namespace, name): KeyRef<'_>) -> bool {
    // Names differ more often.
    key.1 == name && key.0 == namespace
}

fn owned((namespace, name): KeyRef<'_>) -> Key {
    (namespace.to_owned(), name.to_owned())
}

/// Takes a claim's devices, or gives them back; a claim without devices leaves what copies share alone.
fn count_claim(inventory: &mut Inventory, profile: &Profile, claim: &ResourceClaim, is_added: bool) {
    if claim.held().next().is_some() {
        inventory.count_claim(claim, profile.features.consumable_capacity, is_added);
    }
}
