//! The facts as objects of any kind: looked up, listed and taken out by their reference.

use super::Cluster;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::api::scheduler_configuration;
use crate::api::source::SOURCE_KIND;
use crate::finding::ObjectRef;

macro_rules! kinds {
    ($($kind:pat => $map:ident[$key:ident];)*) => {
        impl Cluster {
            /// An object's metadata.
            pub(crate) fn metadata(&self, object: &ObjectRef) -> Option<&ObjectMeta> {
                match object.kind.as_str() {
                    $($kind => self.$map.get(&$key(object)).map(|object| &object.metadata),)*
                    _ => self.workloads.get(&of_kind(object)).map(|workload| &workload.metadata),
                }
            }

            /// The metadata of the objects of a kind, by namespace and name.
            pub(crate) fn metadata_of<'c>(&'c self, kind: &'c str) -> Box<dyn Iterator<Item = &'c ObjectMeta> + 'c> {
                match kind {
                    $($kind => Box::new(self.$map.values().map(|object| &object.metadata)),)*
                    _ => {
                        let own = self.workloads.values().filter(move |workload| workload.kind == kind);
                        Box::new(own.map(|workload| &workload.metadata))
                    }
                }
            }
        }
    };
}

kinds! {
    "Node" => nodes[name];
    "Namespace" => namespaces[name];
    "DeviceClass" => classes[name];
    "ResourceSlice" => slices[name];
    "DeviceTaintRule" => taint_rules[name];
    "ResourcePoolStatusRequest" => pool_status_requests[name];
    "ClusterResourceClaimTemplate" => cluster_templates[name];
    SOURCE_KIND => template_sources[name];
    "ResourceClaim" => claims[place];
    "ResourceClaimTemplate" => templates[place];
    "Pod" => pods[place];
    "PodGroup" => pod_groups[place];
    "Workload" => scheduling_workloads[place];
    "PriorityClass" => priority_classes[name];
    scheduler_configuration::KIND => scheduler_configurations[name];
    "CSIDriver" | "CSINode" | "CSIStorageCapacity" | "PersistentVolume" | "PersistentVolumeClaim" | "PodDisruptionBudget" | "Service" | "StorageClass"
        | "VolumeAttachment" => bystanders[of_kind];
}

fn name(object: &ObjectRef) -> String {
    object.name.clone()
}

fn place(object: &ObjectRef) -> (String, String) {
    (object.namespace.clone(), object.name.clone())
}

fn of_kind(object: &ObjectRef) -> (String, String, String) {
    (object.kind.clone(), object.namespace.clone(), object.name.clone())
}

impl Cluster {
    /// The objects of a kind, by namespace and name.
    pub(crate) fn keys<'c>(&'c self, kind: &'c str) -> impl Iterator<Item = ObjectRef> + 'c {
        self.metadata_of(kind).map(move |metadata| ObjectRef {
            kind: kind.to_owned(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
        })
    }

    /// Adds an object or replaces the one with the same key, which comes back.
    pub(crate) fn replace(&mut self, object: Object) -> Option<Object> {
        match object {
            Object::Pod(pod) => self.apply_pod(pod).map(Object::Pod),
            Object::ResourceClaim(claim) => self.apply_claim(claim).map(Object::ResourceClaim),
            other => {
                let before = self.get(&other.reference());
                self.apply(other);
                before
            }
        }
    }

    /// Removes an object and gives it back.
    pub(crate) fn take(&mut self, object: &ObjectRef) -> Option<Object> {
        let before = self.get(object);
        self.delete(object);
        before
    }
}
