//! Kinds and versions: what there is, where it lives, and which Kubernetes serves it.

use super::meta::Scope;
use super::schema::{self, Type};
use crate::api::source::SOURCE_KIND;
use serde_json::Value;

use crate::profile::{Features, Version};

/// A kind whose rules are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    ResourceClaim,
    ResourceClaimTemplate,
    ClusterResourceClaimTemplate,
    /// The ClusterResourceClaimTemplate of `apportion.dev`.
    TemplateSource,
    DeviceClass,
    ResourceSlice,
    DeviceTaintRule,
    ResourcePoolStatusRequest,
    Workload,
    PodGroup,
    CompositePodGroup,
    Pod,
    Node,
    Namespace,
    PriorityClass,
    PodDisruptionBudget,
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
}

/// What there is of a kind.
struct Row {
    kind: Kind,
    group: &'static str,
    /// How findings name it.
    name: &'static str,
    scope: Scope,
    /// Whether its status is changed by requests of their own.
    has_status: bool,
    /// The gate that serves it, where there is one.
    gate: Option<Gate>,
    /// Every version that ever had it, newest first: its shape, the first and the last release that serve it.
    versions: &'static [(&'static str, &'static Type, Served)],
}

/// The name of a gate, and whether it is on.
type Gate = (&'static str, fn(&Features) -> bool);

/// A range that no release is in stands for versions that came and went earlier, or never came.
type Served = (Version, Version);
const NEVER: Served = (Version::All, Version::V1_34);
const ALWAYS: Served = (Version::V1_34, Version::All);
const SINCE_1_36: Served = (Version::V1_36, Version::All);
const SINCE_1_37: Served = (Version::V1_37, Version::All);
const SINCE_1_38: Served = (Version::V1_38, Version::All);
const UNTIL_1_37: Served = (Version::V1_34, Version::V1_37);
const IN_1_35: Served = (Version::V1_35, Version::V1_35);
const IN_1_36: Served = (Version::V1_36, Version::V1_36);

macro_rules! kinds {
    ($($kind:ident $name:tt in $group:literal, $scope:ident, $has_status:literal, $gate:expr,
        [$($version:literal $schema:ident $served:ident),*];)*) => {
        static KINDS: &[Row] = &[$(Row {
            kind: Kind::$kind, group: $group, name: $name, scope: Scope::$scope, has_status: $has_status, gate: $gate,
            versions: &[$(($version, &schema::$schema, $served)),*],
        }),*];
    };
}

kinds! {
    ResourceClaim "ResourceClaim" in "resource.k8s.io", Namespace, true, None,
        ["v1" CLAIM ALWAYS, "v1beta2" CLAIM ALWAYS, "v1beta1" FLAT_CLAIM UNTIL_1_37, "v1alpha3" FLAT_CLAIM NEVER];
    ResourceClaimTemplate "ResourceClaimTemplate" in "resource.k8s.io", Namespace, false, None,
        ["v1" TEMPLATE ALWAYS, "v1beta2" TEMPLATE ALWAYS, "v1beta1" FLAT_TEMPLATE UNTIL_1_37, "v1alpha3" FLAT_TEMPLATE NEVER];
    TemplateSource SOURCE_KIND in "apportion.dev", Cluster, true, None, ["v1alpha1" TEMPLATE_SOURCE ALWAYS];
    // The proposal left its group and its version open; its requests are those of `v1`.
    ClusterResourceClaimTemplate "ClusterResourceClaimTemplate" in "", Cluster, false, None,
        ["v1" TEMPLATE NEVER, "v1beta2" TEMPLATE NEVER, "v1beta1" TEMPLATE NEVER, "v1alpha3" TEMPLATE NEVER,
            "v1alpha1" TEMPLATE NEVER];
    DeviceClass "DeviceClass" in "resource.k8s.io", Cluster, false, None,
        ["v1" CLASS ALWAYS, "v1beta2" CLASS ALWAYS, "v1beta1" CLASS UNTIL_1_37, "v1alpha3" CLASS NEVER];
    ResourceSlice "ResourceSlice" in "resource.k8s.io", Cluster, false, None,
        ["v1" SLICE ALWAYS, "v1beta2" SLICE ALWAYS, "v1beta1" BASIC_SLICE UNTIL_1_37, "v1alpha3" BARE_SLICE NEVER];
    DeviceTaintRule "DeviceTaintRule" in "resource.k8s.io", Cluster, true,
        Some(("DRADeviceTaintRules", |on| on.device_taint_rules)),
        ["v1" TAINT_RULE SINCE_1_37, "v1beta2" TAINT_RULE SINCE_1_36, "v1alpha3" TAINT_RULE ALWAYS];
    ResourcePoolStatusRequest "ResourcePoolStatusRequest" in "resource.k8s.io", Cluster, true,
        Some(("DRAResourcePoolStatus", |on| on.resource_pool_status)), ["v1alpha3" POOL_STATUS SINCE_1_36];
    Workload "Workload" in "scheduling.k8s.io", Namespace, false,
        Some(("GenericWorkload", |on| on.generic_workload)),
        ["v1beta1" WORKLOAD_BETA1 SINCE_1_37, "v1alpha3" WORKLOAD_BETA1 SINCE_1_37, "v1alpha2" WORKLOAD_ALPHA2 IN_1_36,
            "v1alpha1" WORKLOAD_ALPHA1 IN_1_35];
    PodGroup "PodGroup" in "scheduling.k8s.io", Namespace, true,
        Some(("GenericWorkload", |on| on.generic_workload)),
        ["v1beta1" POD_GROUP_BETA1 SINCE_1_37, "v1alpha3" POD_GROUP_BETA1 SINCE_1_37, "v1alpha2" POD_GROUP_ALPHA2 IN_1_36,
            "v1alpha1" POD_GROUP_ALPHA1 NEVER];
    CompositePodGroup "CompositePodGroup" in "scheduling.k8s.io", Namespace, true,
        Some(("CompositePodGroup", |on| on.composite_pod_group)),
        ["v1beta1" COMPOSITE_POD_GROUP SINCE_1_38, "v1alpha3" COMPOSITE_POD_GROUP SINCE_1_37];
    Pod "Pod" in "", Namespace, true, None, ["v1" POD ALWAYS];
    Node "Node" in "", Cluster, true, None, ["v1" NODE ALWAYS];
    Namespace "Namespace" in "", Cluster, true, None, ["v1" NAMESPACE ALWAYS];
    PriorityClass "PriorityClass" in "scheduling.k8s.io", Cluster, false, None,
        ["v1" PRIORITY_CLASS ALWAYS, "v1beta1" PRIORITY_CLASS NEVER, "v1alpha1" PRIORITY_CLASS NEVER];
    PodDisruptionBudget "PodDisruptionBudget" in "policy", Namespace, true, None,
        ["v1" BUDGET ALWAYS, "v1beta1" BUDGET NEVER];
    PersistentVolumeClaim "PersistentVolumeClaim" in "", Namespace, true, None, ["v1" VOLUME_CLAIM ALWAYS];
    PersistentVolume "PersistentVolume" in "", Cluster, true, None, ["v1" VOLUME ALWAYS];
    StorageClass "StorageClass" in "storage.k8s.io", Cluster, false, None,
        ["v1" STORAGE_CLASS ALWAYS, "v1beta1" STORAGE_CLASS NEVER];
    CSINode "CSINode" in "storage.k8s.io", Cluster, false, None, ["v1" CSI_NODE ALWAYS, "v1beta1" CSI_NODE NEVER];
    CSIDriver "CSIDriver" in "storage.k8s.io", Cluster, false, None,
        ["v1" CSI_DRIVER ALWAYS, "v1beta1" CSI_DRIVER NEVER];
    CSIStorageCapacity "CSIStorageCapacity" in "storage.k8s.io", Namespace, false, None,
        ["v1" CSI_STORAGE_CAPACITY ALWAYS, "v1beta1" CSI_STORAGE_CAPACITY NEVER];
    VolumeAttachment "VolumeAttachment" in "storage.k8s.io", Cluster, true, None,
        ["v1" VOLUME_ATTACHMENT ALWAYS, "v1beta1" VOLUME_ATTACHMENT NEVER];
}

impl Kind {
    /// The kind of a name in a group.
    pub(super) fn of(group: &str, kind: &str) -> Option<Self> {
        let is_it = |row: &&Row| {
            let written = if row.kind == Self::TemplateSource { "ClusterResourceClaimTemplate" } else { row.name };
            written == kind && (row.group == group || row.kind == Self::ClusterResourceClaimTemplate)
        };
        KINDS.iter().find(is_it).map(|row| row.kind)
    }

    fn row(self) -> Option<&'static Row> {
        KINDS.iter().find(|row| row.kind == self)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Where its objects live.
    pub(super) fn scope(self) -> Scope {
        self.row().map_or(Scope::Cluster, |row| row.scope)
    }

    /// Whether its status is changed by requests of their own.
    pub(super) fn has_status(self) -> bool {
        self.row().is_some_and(|row| row.has_status)
    }

    /// Whether an update that gives no `resourceVersion` replaces whatever is stored.
    pub(super) fn is_replaced_unseen(self, version: &str, kubernetes: Version) -> bool {
        match self {
            Self::TemplateSource
            | Self::ResourcePoolStatusRequest
            | Self::CompositePodGroup
            | Self::PodDisruptionBudget => false,
            Self::Workload | Self::PodGroup => kubernetes < Version::V1_37,
            Self::DeviceTaintRule => version != "v1",
            _ => true,
        }
    }

    fn versions(self) -> &'static [(&'static str, &'static Type, Served)] {
        self.row().map_or(&[], |row| row.versions)
    }

    fn version(self, version: &str) -> Option<(&'static Type, Served)> {
        self.versions().iter().find(|(name, ..)| *name == version).map(|(_, schema, served)| (*schema, *served))
    }

    /// Whether a version has it, served or not.
    pub(super) fn is_in(self, version: &str) -> bool {
        self.version(version).is_some()
    }

    /// Its shape in a version. An unknown version is taken for the newest.
    pub(super) fn schema(self, version: &str) -> &'static Type {
        let newest = || self.versions().first().map(|(_, schema, _)| *schema);
        self.version(version).map(|(schema, _)| schema).or_else(newest).unwrap_or(&Type::Any)
    }

    /// The newest version in which a Kubernetes can serve the kind, its gates apart; `None` if it has none.
    pub(super) fn newest(self, kubernetes: Version) -> Option<&'static str> {
        self.versions().iter().find(|(.., served)| is_served(kubernetes, *served)).map(|(name, ..)| *name)
    }

    /// The version in which a Kubernetes serves an object that is written in one: another one only where that is not served and both have
    /// the same shape.
    fn readable(self, version: &str, kubernetes: Version) -> Option<&'static str> {
        let (schema, served) = self.version(version)?;
        let newest = self.newest(kubernetes)?;
        (!is_served(kubernetes, served) && std::ptr::eq(schema, self.schema(newest))).then_some(newest)
    }

    /// Why a Kubernetes does not serve the kind in a version; `None` if it does. The newest serves whatever any supported version or
    /// proposal has, unless its gate is off.
    pub(super) fn not_served(self, version: &str, kubernetes: Version, features: &Features) -> Option<String> {
        let Some((_, served)) = self.version(version) else {
            return Some(match self {
                Self::TemplateSource => format!("its CustomResourceDefinition has no version `{version}`"),
                _ => format!("no Kubernetes has it in `{version}`"),
            });
        };
        let is_proposed = matches!(self, Self::ClusterResourceClaimTemplate | Self::PodGroup);
        match kubernetes {
            Version::All if served == NEVER && !is_proposed => {
                return Some(format!("no Kubernetes since {} has it in `{version}`", Version::V1_34));
            }
            Version::All => {}
            _ if is_served(kubernetes, served) => {}
            _ => return Some(format!("Kubernetes {kubernetes} does not serve it in `{version}`")),
        }
        let (gate, is_on) = self.row()?.gate?;
        (!is_on(features)).then(|| format!("the feature gate `{gate}` is off in {}", kubernetes.place()))
    }
}

/// The newest serves what any release does.
fn is_served(kubernetes: Version, served: Served) -> bool {
    let (since, until) = served;
    if kubernetes == Version::All { served != NEVER } else { (since..=until).contains(&kubernetes) }
}

/// API version, kind and shape of everything that some release serves.
#[cfg(test)]
pub(super) fn shapes() -> impl Iterator<Item = (String, &'static str, &'static Type)> {
    KINDS.iter().flat_map(|row| {
        let served = row.versions.iter().filter(|(.., served)| *served != NEVER);
        served.map(|(version, shape, _)| {
            let written = if row.kind == Kind::TemplateSource { "ClusterResourceClaimTemplate" } else { row.name };
            let group = if row.group.is_empty() { String::new() } else { format!("{}/", row.group) };
            (format!("{group}{version}"), written, *shape)
        })
    })
}

/// Group and version of an API version.
pub(super) fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// A stored object as this Kubernetes gives it out: in a version that it serves.
pub(crate) fn as_served(mut object: Value, kubernetes: Version) -> Value {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = split(text("apiVersion"));
    if let Some(newest) = Kind::of(group, text("kind")).and_then(|kind| kind.readable(version, kubernetes)) {
        let api_version = format!("{group}/{newest}");
        if let Some(map) = object.as_object_mut() {
            map.insert("apiVersion".to_owned(), Value::from(api_version));
        }
    }
    object
}
