//! Which Kubernetes is meant: its version, its feature gates, and whether its known defects are reproduced.

use std::fmt;

/// A Kubernetes minor version, or the newest one with everything on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Version {
    /// Kubernetes 1.34.
    #[cfg_attr(feature = "types", ts(rename = "1.34"))]
    V1_34,
    /// Kubernetes 1.35.
    #[cfg_attr(feature = "types", ts(rename = "1.35"))]
    V1_35,
    /// Kubernetes 1.36.
    #[cfg_attr(feature = "types", ts(rename = "1.36"))]
    V1_36,
    /// Kubernetes 1.37.
    #[cfg_attr(feature = "types", ts(rename = "1.37"))]
    V1_37,
    /// A preview of Kubernetes 1.38, as of its pre-release [`Version::PREVIEW`].
    #[cfg_attr(feature = "types", ts(rename = "1.38"))]
    V1_38,
    /// The newest released version with every gate on; accepts shipped and proposed spellings.
    #[default]
    #[cfg_attr(feature = "types", ts(rename = "all"))]
    All,
}

impl Version {
    /// The pre-release that [`Version::V1_38`] was compared with.
    const PREVIEW: &'static str = "1.38.0-beta.0";

    /// Reads `1.34` .. `1.38` or `all`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('v').unwrap_or(text) {
            "1.34" => Some(Self::V1_34),
            "1.35" => Some(Self::V1_35),
            "1.36" => Some(Self::V1_36),
            "1.37" => Some(Self::V1_37),
            "1.38" => Some(Self::V1_38),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

impl Version {
    /// Whether what 1.38 changed holds. `all` follows the newest release, and 1.38 is none yet.
    pub(crate) fn is_after_1_37(self) -> bool {
        self == Self::V1_38
    }

    /// Where a feature gate is on or off, in words.
    pub(crate) fn place(self) -> String {
        match self {
            Self::All => "this profile".to_owned(),
            version => format!("Kubernetes {version}"),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_34 => "1.34",
            Self::V1_35 => "1.35",
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
            Self::V1_38 => "1.38",
            Self::All => "all",
        })
    }
}

/// A patch release of a minor version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release {
    /// The minor version.
    pub version: Version,
    /// Its patch.
    pub patch: u8,
}

impl Release {
    /// What can be read, in words.
    pub const KNOWN: [&'static str; 6] = ["1.34", "1.35", "1.36", "1.37", "1.38", "all"];

    /// Reads `1.36`, which means the newest patch that was looked at, `1.36.2`, or `all`. A patch that is newer still counts as the newest, and
    /// each pre-release of the preview (`1.38.0-beta.0`) as the preview.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(version) = Version::parse(text) {
            return Some(version.into());
        }
        let number = text.split_once('-').map_or(text, |(number, _)| number);
        let (version, patch) = number.rsplit_once('.')?;
        let version = Version::parse(version).filter(|version| *version != Version::All)?;
        let is_known = number == text || version == Version::V1_38;
        Some(Self::new(version, Some(patch.parse().ok()?))).filter(|_| is_known)
    }

    /// A patch of a version; the newest one that was looked at where none is given, or a newer one.
    pub fn new(version: Version, patch: Option<u8>) -> Self {
        let newest = Self::from(version);
        Self { patch: patch.unwrap_or(newest.patch).min(newest.patch), ..newest }
    }
}

impl From<Version> for Release {
    /// The newest patch that was looked at.
    fn from(version: Version) -> Self {
        let patch = match version {
            Version::V1_34 => 13,
            Version::V1_35 => 10,
            Version::V1_36 => 6,
            Version::V1_37 => 2,
            Version::V1_38 | Version::All => 0,
        };
        Self { version, patch }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Version::All => self.version.fmt(f),
            Version::V1_38 => f.write_str(Version::PREVIEW),
            version => write!(f, "{version}.{}", self.patch),
        }
    }
}

macro_rules! features {
    ($($(#[$doc:meta])* $field:ident: $gates:literal, [$v34:literal $v35:literal $v36:literal $v37:literal] $(locked $lock:ident)?;)*) => {
        /// The DRA features that change a decision; each is one or more Kubernetes feature gates.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Features {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Features {
            /// The defaults of a Kubernetes version; everything for [`Version::All`].
            pub fn of(version: Version) -> Self {
                match version {
                    Version::V1_34 => Self { $($field: $v34,)* },
                    Version::V1_35 => Self { $($field: $v35,)* },
                    Version::V1_36 => Self { $($field: $v36,)* },
                    Version::V1_37 => Self { $($field: $v37,)* },
                    // Others became stable, which changes no default.
                    Version::V1_38 => Self { pod_group_preemption_policy: true, ..Self::of(Version::V1_37) },
                    Version::All => Self { $($field: true,)* },
                }
            }

            /// Sets the features behind one gate. False when no feature has that gate.
            pub fn set(&mut self, gate: &str, on: bool) -> bool {
                $(if $gates.split(' ').any(|name| name == gate) {
                    self.$field = on;
                    return true;
                })*
                false
            }

            /// Whether the features behind one gate are on. `None` when no feature has that gate.
            pub fn get(&self, gate: &str) -> Option<bool> {
                $(if $gates.split(' ').any(|name| name == gate) {
                    return Some(self.$field);
                })*
                None
            }

            /// Why no program of a version starts with this value of a gate: it is stable and locked, or was taken out and is always on. `all` is no
            /// program, and locks nothing.
            pub fn locked(version: Version, gate: &str, on: bool) -> Option<String> {
                const LOCKS: &[(&str, Version)] = &[$($(($gates, Version::$lock),)?)*];
                let is_locked = !on
                    && version != Version::All
                    && LOCKS.iter().any(|(name, since)| *name == gate && *since <= version);
                is_locked.then(|| {
                    let place = version.place();
                    format!("cannot set feature gate `{gate}` to false: it is locked to true in {place}")
                })
            }

            /// Names of all known gates, in the order of the fields.
            pub fn gates() -> impl Iterator<Item = &'static str> {
                [$($gates,)*].into_iter().flat_map(|names| names.split(' '))
            }
        }
    };
}

// Defaults in the order 1.34, 1.35, 1.36, 1.37; `of` says where 1.38 differs. Then the version that locked the gate. Source:
// pkg/features/kube_features.go of those versions. A feature whose gate was taken out is on, and its gate locked.
features! {
    /// Requests with `adminAccess` (KEP-5018).
    admin_access: "DRAAdminAccess", [true true true true] locked V1_36;
    /// `firstAvailable` in requests (KEP-4816).
    prioritized_list: "DRAPrioritizedList", [true true true true] locked V1_37;
    /// Shared counters and per-device node selection (KEP-4815).
    partitionable_devices: "DRAPartitionableDevices", [false false true true] locked V1_38;
    /// Device taints and tolerations (KEP-5055).
    device_taints: "DRADeviceTaints", [false false true true] locked V1_38;
    /// DeviceTaintRule objects (KEP-5055).
    device_taint_rules: "DRADeviceTaintRules", [false false false true] locked V1_38;
    /// Binding conditions (KEP-5007); upstream needs `DRAResourceClaimDeviceStatus` as well.
    device_binding_and_status: "DRADeviceBindingConditions", [false false true true] locked V1_38;
    /// Shares of devices with consumable capacity (KEP-5075).
    consumable_capacity: "DRAConsumableCapacity", [false false true true];
    /// Attributes with lists of values (KEP-5491).
    list_type_attributes: "DRAListTypeAttributes", [false false false false];
    /// Extended resources backed by DRA (KEP-5004).
    extended_resource: "DRAExtendedResource", [false false true true] locked V1_37;
    /// Node-allocatable resources of devices (KEP-5517).
    node_allocatable_resources: "DRANodeAllocatableResources", [false false false false];
    /// Claims of PodGroups (KEP-5729); the seed texts use the second name.
    workload_resource_claims: "DRAWorkloadResourceClaims WorkloadPodGroupResourceClaimTemplate", [false false false false];
    /// Workload and PodGroup objects (KEP-5832).
    generic_workload: "GenericWorkload", [false false false false];
    /// Cluster-wide claim templates (KEP-5978, withdrawn).
    cluster_resource_claim_templates: "ClusterResourceClaimTemplates", [false false false false];
    /// Derived attributes in requests (KEP-6080).
    derived_attributes: "DRADerivedAttributes", [false false false false];
    /// Compatibility groups of counter consumption (KEP-5963).
    device_compatibility_groups: "DRADeviceCompatibilityGroups", [false false false false];
    /// Counters that take their amount from the request (KEP-5941); no release has it.
    shared_consumable_capacity: "DRASharedConsumableCapacity", [false false false false];
    /// Mixins of slices (KEP-5234); no release has it.
    resource_slice_mixins: "DRAResourceSliceMixins", [false false false false];
    /// Fractional steps in request policies.
    fractional_capacity_range: "DRAFractionalCapacityRange", [false false false true];
    /// Claims of Pods at all.
    dynamic_resource_allocation: "DynamicResourceAllocation", [true true true true] locked V1_35;
    /// `status.devices` of claims (KEP-4817).
    resource_claim_device_status: "DRAResourceClaimDeviceStatus", [true true true true] locked V1_37;
    /// Extra permissions for changes of a claim's status.
    granular_status_authorization: "DRAResourceClaimGranularStatusAuthorization", [false false true true];
    /// ResourcePoolStatusRequest objects (KEP-5677).
    resource_pool_status: "DRAResourcePoolStatus", [false false false false];
    /// Scheduling of gangs (KEP-4671).
    gang_scheduling: "GangScheduling", [false false false true] locked V1_37;
    /// `schedulingConstraints` of PodGroups (KEP-5732).
    topology_aware_scheduling: "TopologyAwareWorkloadScheduling", [false false false false];
    /// Disruption mode and priority of PodGroups (KEP-5710).
    workload_aware_preemption: "WorkloadAwarePreemption", [false false false true] locked V1_37;
    /// Workloads and PodGroups of Jobs (KEP-5547).
    workload_with_job: "WorkloadWithJob", [false false false false];
    /// `preemptionPolicy` of PodGroups.
    pod_group_preemption_policy: "PodGroupPreemptionPolicy", [false false false false] locked V1_38;
    /// Groups of PodGroups.
    composite_pod_group: "CompositePodGroup", [false false false false];
    /// `skipNodeOperations` of slices.
    optional_node_operations: "DRAOptionalNodeOperations", [false false false false];
    /// `partitionTypeAttribute` of slices.
    partitionable_devices_type: "DRAPartitionableDevicesType", [false false false false];
    /// Time limit of the scheduler's filter; changes no decision here.
    scheduler_filter_timeout: "DRASchedulerFilterTimeout", [true true true true];
    /// Health of devices in the Pod's status; changes no decision here.
    resource_health_status: "ResourceHealthStatus", [false false true true];
    /// Resizing of a Pod's own resources.
    pod_level_resize: "InPlacePodLevelResourcesVerticalScaling", [false false true true];
    /// `Gt` and `Lt` in tolerations of node taints (KEP-5471).
    toleration_comparison: "TaintTolerationComparisonOperators", [false false false false];
}

/// Whether known defects of the stated version are reproduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum Mode {
    /// The correct answer.
    #[default]
    Sound,
    /// The stated version's answer, defects included.
    Reference,
}

/// Which node a Pod gets, of those that fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum Ranking {
    /// The first by name.
    First,
    /// The one that scores best in kube-scheduler's default profile; of equals the first by name.
    #[default]
    Scores,
}

/// The Kubernetes that answers: version, features, mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The version whose rules hold.
    pub version: Version,
    /// Its patch; some repair a defect.
    pub patch: u8,
    /// The features that are on.
    pub features: Features,
    /// Whether its defects are reproduced.
    pub mode: Mode,
    /// Which node a Pod gets, of those that fit.
    pub placement: Ranking,
}

impl Profile {
    /// The defaults of a release, in sound mode; of a version, its newest patch.
    pub fn of(release: impl Into<Release>) -> Self {
        let Release { version, patch } = release.into();
        Self { version, patch, features: Features::of(version), mode: Mode::Sound, placement: Ranking::default() }
    }

    /// The patch release whose rules hold.
    pub fn release(&self) -> Release {
        Release { version: self.version, patch: self.patch }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::of(Version::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_changes_its_feature_only() {
        let mut features = Features::of(Version::V1_36);
        assert!(features.set("DRAListTypeAttributes", true));
        assert!(features.list_type_attributes && features.device_taints);
        assert!(!features.set("NoSuchGate", true));
    }

    #[test]
    fn every_spelling_of_the_preview_is_read() {
        for text in ["1.38", "v1.38", "1.38.0", "1.38.0-beta.0", "v1.38.0-rc.1", "1.38.4"] {
            assert_eq!(Release::parse(text), Some(Version::V1_38.into()), "{text}");
        }
        assert_eq!(Release::from(Version::V1_38).to_string(), "1.38.0-beta.0");
        for text in ["1.37.0-beta.0", "1.38-beta.0", "1.38.x-beta.0", "1.39", "all-beta.0"] {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_preview_changes_one_default() {
        let differing = |gate: &&str| Features::of(Version::V1_37).get(gate) != Features::of(Version::V1_38).get(gate);
        assert_eq!(Features::gates().filter(differing).collect::<Vec<_>>(), ["PodGroupPreemptionPolicy"]);
    }

    #[test]
    fn both_names_of_the_workload_gate_are_known() {
        let mut features = Features::of(Version::V1_36);
        assert!(features.set("WorkloadPodGroupResourceClaimTemplate", true));
        assert!(features.workload_resource_claims);
    }
}
