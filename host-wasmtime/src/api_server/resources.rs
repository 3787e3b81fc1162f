//! Kinds of the API server, and under which versions they are served.

use apportion_core::api::source::SOURCE_KIND;
use kube::core::{ApiResource, GroupVersionKind};

/// A kind, as requests name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resource {
    pub(crate) group: &'static str,
    /// Versions that are understood, the one to be asked for first in front.
    pub(crate) versions: &'static [&'static str],
    pub(crate) kind: &'static str,
    /// Name in requests and roles.
    pub(crate) plural: &'static str,
    /// Whether every cluster in question serves it; the others have it behind a gate.
    pub(crate) is_everywhere: bool,
}

impl Resource {
    /// The kind in one of its versions.
    pub(crate) fn of_version(&self, version: &str) -> ApiResource {
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(self.group, version, self.kind), self.plural)
    }

    /// The name that `kubectl` understands whatever else is installed.
    pub(crate) fn full_name(&self) -> String {
        match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The kind as references name it.
    pub(crate) fn reference_kind(&self) -> &'static str {
        if *self == TEMPLATE_SOURCES { SOURCE_KIND } else { self.kind }
    }
}

const fn core(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "", versions: &["v1"], kind, plural, is_everywhere: true }
}

const fn device(kind: &'static str, plural: &'static str) -> Resource {
    let versions = &["v1", "v1beta2", "v1beta1", "v1alpha3"];
    Resource { group: "resource.k8s.io", versions, kind, plural, is_everywhere: true }
}

pub(crate) const NAMESPACES: Resource = core("Namespace", "namespaces");
pub(crate) const NODES: Resource = core("Node", "nodes");
pub(crate) const PODS: Resource = core("Pod", "pods");
pub(crate) const VOLUMES: Resource = core("PersistentVolume", "persistentvolumes");
pub(crate) const VOLUME_CLAIMS: Resource = core("PersistentVolumeClaim", "persistentvolumeclaims");
pub(crate) const CLASSES: Resource = device("DeviceClass", "deviceclasses");
pub(crate) const SLICES: Resource = device("ResourceSlice", "resourceslices");
pub(crate) const TAINT_RULES: Resource =
    Resource { is_everywhere: false, ..device("DeviceTaintRule", "devicetaintrules") };
pub(crate) const TEMPLATES: Resource = device("ResourceClaimTemplate", "resourceclaimtemplates");
pub(crate) const CLAIMS: Resource = device("ResourceClaim", "resourceclaims");
pub(crate) const POD_GROUPS: Resource = Resource {
    group: "scheduling.k8s.io",
    versions: &["v1beta1", "v1alpha3", "v1alpha2"],
    kind: "PodGroup",
    plural: "podgroups",
    is_everywhere: false,
};
pub(crate) const TEMPLATE_SOURCES: Resource = Resource {
    group: "apportion.dev",
    versions: &["v1alpha1"],
    kind: "ClusterResourceClaimTemplate",
    plural: "clusterresourceclaimtemplates",
    is_everywhere: true,
};

/// What copies of cluster-wide templates are decided on.
pub(crate) const PLANNED: [Resource; 6] = [NAMESPACES, CLASSES, TEMPLATES, TEMPLATE_SOURCES, POD_GROUPS, PODS];

/// What the laws over a history are about, in the order in which it is listed: what claims take is known before they are.
pub(crate) const WATCHED: [Resource; 6] = [NAMESPACES, SLICES, TEMPLATE_SOURCES, TEMPLATES, PODS, CLAIMS];

/// All that questions about a cluster are answered from. Workload controllers are not among it: their Pods are there already.
pub(crate) const READ: [Resource; 9] =
    [NAMESPACES, NODES, CLASSES, SLICES, TAINT_RULES, TEMPLATES, CLAIMS, POD_GROUPS, PODS];
