//! All objects of a cluster, one after another.

use std::sync::Arc;

use super::Cluster;
use crate::api::object::Object;
use crate::arrange::Arrange;
use crate::finding::ObjectRef;

impl Cluster {
    /// All objects: first what has no order, by kind and name, then workloads and Pods as they arrived.
    pub fn objects(&self) -> Vec<Object> {
        fn all<'c, T: Clone + 'c>(
            objects: impl IntoIterator<Item = &'c T> + 'c,
            make: fn(Arc<T>) -> Object,
        ) -> impl Iterator<Item = Object> + 'c {
            objects.into_iter().map(move |object| make(Arc::new(object.clone())))
        }
        let slices = self.slices.iter().map(|(name, slice)| self.short_slices.get(name).unwrap_or(slice));
        let bystanders = self.bystanders.keys().filter_map(|(kind, namespace, name)| {
            self.get(&ObjectRef { kind: kind.clone(), namespace: namespace.clone(), name: name.clone() })
        });
        let mut ordered: Vec<(u64, Object)> = Vec::new();
        ordered.extend(self.workloads.iter().map(|((kind, namespace, name), workload)| {
            (self.arrival(kind, namespace, name), Object::Workload(Arc::new(workload.clone())))
        }));
        ordered.extend(
            self.pods
                .iter()
                .map(|((namespace, name), pod)| (self.arrival("Pod", namespace, name), Object::Pod(Arc::clone(pod)))),
        );
        ordered.arrange_by_key(|(arrival, _)| *arrival);
        all(self.namespaces.values(), Object::Namespace)
            .chain(self.nodes.values().cloned().map(Object::Node))
            .chain(all(self.priority_classes.values(), Object::PriorityClass))
            .chain(all(self.scheduler_configurations.values(), Object::SchedulerConfiguration))
            .chain(bystanders)
            .chain(all(self.classes.values(), Object::DeviceClass))
            .chain(slices.cloned().map(Object::ResourceSlice))
            .chain(all(self.taint_rules.values(), Object::DeviceTaintRule))
            .chain(all(self.pool_status_requests.values(), Object::ResourcePoolStatusRequest))
            .chain(all(self.cluster_templates.values(), Object::ClusterResourceClaimTemplate))
            .chain(all(self.template_sources.values(), Object::TemplateSource))
            .chain(all(self.templates.values(), Object::ResourceClaimTemplate))
            .chain(all(self.scheduling_workloads.values(), Object::SchedulingWorkload))
            .chain(all(self.pod_groups.values(), Object::PodGroup))
            .chain(self.claims.values().cloned().map(Object::ResourceClaim))
            .chain(ordered.into_iter().map(|(_, object)| object))
            .collect()
    }

    /// Makes this the cluster that another one became: objects that it does not have go, the others are as they are there. Versions of
    /// objects stay those of the input.
    pub(crate) fn take_over(&mut self, other: Self) {
        self.share_refused(&other);
        let is_kept = |object: &Object| !matches!(object, Object::Namespace(_) | Object::ResourceSlice(_));
        for object in self.objects().iter().map(Object::reference) {
            if object.kind != "ResourceSlice" && other.get(&object).is_none() {
                self.delete(&object);
            }
        }
        let objects = other.objects();
        drop(other);
        for mut object in objects.into_iter().filter(is_kept) {
            let before = self.get(&object.reference());
            let version = before.as_ref().map(|before| before.metadata().resource_version.clone());
            let version = version.unwrap_or_default();
            if object.metadata().resource_version != version {
                object.metadata_mut().resource_version = version;
            }
            if before.as_ref() != Some(&object) {
                self.apply(object);
            }
        }
    }
}
