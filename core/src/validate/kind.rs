//! Kinds and versions: what there is, where it lives, and which Kubernetes serves it.

use super::group::Shape;
use super::meta::Scope;
use super::schema::{self, Type};
use crate::api::source::SOURCE_KIND;
use crate::api::versions;
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
}

/// Each kind with its group, its name, where its objects live, and whether its status is changed by requests of their own.
const KINDS: [(Kind, &str, &str, Scope, bool); 12] = [
    (Kind::ResourceClaim, "resource.k8s.io", "ResourceClaim", Scope::Namespace, true),
    (Kind::ResourceClaimTemplate, "resource.k8s.io", "ResourceClaimTemplate", Scope::Namespace, false),
    (Kind::TemplateSource, "apportion.dev", SOURCE_KIND, Scope::Cluster, true),
    // The proposal left its group open.
    (Kind::ClusterResourceClaimTemplate, "", "ClusterResourceClaimTemplate", Scope::Cluster, false),
    (Kind::DeviceClass, "resource.k8s.io", "DeviceClass", Scope::Cluster, false),
    (Kind::ResourceSlice, "resource.k8s.io", "ResourceSlice", Scope::Cluster, false),
    (Kind::DeviceTaintRule, "resource.k8s.io", "DeviceTaintRule", Scope::Cluster, true),
    (Kind::ResourcePoolStatusRequest, "resource.k8s.io", "ResourcePoolStatusRequest", Scope::Cluster, true),
    (Kind::Workload, "scheduling.k8s.io", "Workload", Scope::Namespace, false),
    (Kind::PodGroup, "scheduling.k8s.io", "PodGroup", Scope::Namespace, true),
    (Kind::CompositePodGroup, "scheduling.k8s.io", "CompositePodGroup", Scope::Namespace, true),
    (Kind::Pod, "", "Pod", Scope::Namespace, true),
];

impl Kind {
    /// The kind of a name in a group.
    pub(super) fn of(group: &str, kind: &str) -> Option<Self> {
        let is_it = |(known, of, name, ..): &&(Self, &str, &str, Scope, bool)| {
            let written = if *known == Self::TemplateSource { "ClusterResourceClaimTemplate" } else { *name };
            written == kind && (*of == group || *known == Self::ClusterResourceClaimTemplate)
        };
        KINDS.iter().find(is_it).map(|row| row.0)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        KINDS.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }

    /// Where its objects live.
    pub(super) fn scope(self) -> Scope {
        KINDS.iter().find(|row| row.0 == self).map_or(Scope::Cluster, |row| row.3)
    }

    /// Whether its status is changed by requests of their own.
    pub(super) fn has_status(self) -> bool {
        KINDS.iter().any(|row| row.0 == self && row.4)
    }

    /// Its shape in a version. An unknown version is taken for the newest.
    pub(super) fn schema(self, version: &str) -> &'static Type {
        let flat = versions::is_flat(version);
        match self {
            Self::ResourceClaim if flat => &schema::FLAT_CLAIM,
            Self::ResourceClaim => &schema::CLAIM,
            // The proposal names no version; its requests are those of `v1`.
            Self::ResourceClaimTemplate if flat => &schema::FLAT_TEMPLATE,
            Self::ResourceClaimTemplate | Self::ClusterResourceClaimTemplate => &schema::TEMPLATE,
            Self::TemplateSource => &schema::TEMPLATE_SOURCE,
            Self::DeviceClass => &schema::CLASS,
            Self::ResourceSlice => match version {
                "v1alpha3" => &schema::BARE_SLICE,
                "v1beta1" => &schema::BASIC_SLICE,
                _ => &schema::SLICE,
            },
            Self::DeviceTaintRule => &schema::TAINT_RULE,
            Self::ResourcePoolStatusRequest => &schema::POOL_STATUS,
            Self::Workload => match Shape::of(version) {
                Shape::Alpha1 => &schema::WORKLOAD_ALPHA1,
                Shape::Alpha2 => &schema::WORKLOAD_ALPHA2,
                Shape::Beta1 | Shape::Composite | Shape::CompositeTemplate => &schema::WORKLOAD_BETA1,
            },
            Self::PodGroup => match Shape::of(version) {
                Shape::Alpha1 => &schema::POD_GROUP_ALPHA1,
                Shape::Alpha2 => &schema::POD_GROUP_ALPHA2,
                Shape::Beta1 | Shape::Composite | Shape::CompositeTemplate => &schema::POD_GROUP_BETA1,
            },
            Self::CompositePodGroup => &schema::COMPOSITE_POD_GROUP,
            Self::Pod => &schema::POD,
        }
    }

    /// The newest version in which a Kubernetes can serve the kind, its gates apart; `None` if it has none.
    pub(super) fn newest(self, kubernetes: Version) -> Option<&'static str> {
        let is_served = |version: &str| match self.served(version) {
            None => true,
            Some((since, until)) => kubernetes >= since && kubernetes <= until,
        };
        self.versions().iter().copied().find(|version| is_served(version))
    }

    /// The version in which a Kubernetes serves an object that is written in one: another one only where that is not served and both have
    /// the same shape.
    fn readable(self, version: &str, kubernetes: Version) -> Option<&'static str> {
        let (since, until) = self.served(version)?;
        let newest = self.newest(kubernetes)?;
        let is_served = kubernetes >= since && kubernetes <= until;
        (!is_served && std::ptr::eq(self.schema(version), self.schema(newest))).then_some(newest)
    }

    /// Every version that ever had the kind, newest first.
    fn versions(self) -> &'static [&'static str] {
        match self {
            Self::ResourceClaim | Self::ResourceClaimTemplate | Self::DeviceClass | Self::ResourceSlice => {
                &["v1", "v1beta2", "v1beta1", "v1alpha3"]
            }
            Self::ClusterResourceClaimTemplate => &["v1", "v1beta2", "v1beta1", "v1alpha3", "v1alpha1"],
            Self::TemplateSource => &["v1alpha1"],
            Self::DeviceTaintRule => &["v1", "v1beta2", "v1alpha3"],
            Self::ResourcePoolStatusRequest => &["v1alpha3"],
            Self::Workload | Self::PodGroup => &["v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"],
            Self::CompositePodGroup => &["v1alpha3"],
            Self::Pod => &["v1"],
        }
    }

    /// Why a Kubernetes does not serve the kind in a version; `None` if it does. The newest serves whatever any version or proposal
    /// has, unless its gate is off.
    pub(super) fn not_served(self, version: &str, kubernetes: Version, features: &Features) -> Option<String> {
        if !self.versions().contains(&version) {
            return Some(match self {
                Self::TemplateSource => format!("its CustomResourceDefinition has no version `{version}`"),
                _ => format!("no Kubernetes has it in `{version}`"),
            });
        }
        let (since, until) = self.served(version)?;
        if kubernetes != Version::All && (kubernetes < since || kubernetes > until) {
            return Some(format!("Kubernetes {kubernetes} does not serve it in `{version}`"));
        }
        let (gate, on) = match self {
            Self::Workload | Self::PodGroup => ("GenericWorkload", features.generic_workload),
            Self::CompositePodGroup => ("CompositePodGroup", features.composite_pod_group),
            Self::ResourcePoolStatusRequest => ("DRAResourcePoolStatus", features.resource_pool_status),
            Self::DeviceTaintRule => ("DRADeviceTaintRules", features.device_taint_rules),
            Self::ResourceClaim
            | Self::ResourceClaimTemplate
            | Self::ClusterResourceClaimTemplate
            | Self::TemplateSource
            | Self::DeviceClass
            | Self::ResourceSlice
            | Self::Pod => return None,
        };
        (!on).then(|| format!("the feature gate `{gate}` is off in Kubernetes {kubernetes}"))
    }

    /// The first and the last release that serve a version; `None` where every one does. A range that no release is in
    /// stands for versions that came and went earlier, or never came.
    fn served(self, version: &str) -> Option<(Version, Version)> {
        const NEVER: (Version, Version) = (Version::All, Version::V1_34);
        match self {
            Self::ResourceClaim | Self::ResourceClaimTemplate | Self::DeviceClass | Self::ResourceSlice => {
                (version == "v1alpha3").then_some(NEVER)
            }
            Self::ClusterResourceClaimTemplate => Some(NEVER),
            Self::DeviceTaintRule => Some(match version {
                "v1" => (Version::V1_37, Version::All),
                "v1beta2" => (Version::V1_36, Version::All),
                _ => (Version::V1_34, Version::All),
            }),
            Self::ResourcePoolStatusRequest => Some((Version::V1_36, Version::All)),
            Self::Workload => Some(match version {
                "v1alpha1" => (Version::V1_35, Version::V1_35),
                "v1alpha2" => (Version::V1_36, Version::V1_36),
                _ => (Version::V1_37, Version::All),
            }),
            Self::PodGroup => Some(match version {
                "v1alpha1" => NEVER,
                "v1alpha2" => (Version::V1_36, Version::V1_36),
                _ => (Version::V1_37, Version::All),
            }),
            Self::CompositePodGroup => Some((Version::V1_37, Version::All)),
            Self::TemplateSource | Self::Pod => None,
        }
    }
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
