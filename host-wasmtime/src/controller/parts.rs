//! The parts of the controller: what each watches, and what it may write.

use apportion_core::controller::Part;
use clap::ValueEnum;

use crate::api_server::{
    CLAIMS, CLASSES, NAMESPACES, NODES, POD_GROUPS, PODS, Resource, SLICES, TAINT_RULES, TEMPLATE_SOURCES, TEMPLATES,
    VOLUME_CLAIMS, VOLUMES,
};

/// A part, as `--controllers` names it.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PartName {
    /// Keeps copies of cluster-wide claim templates in the namespaces that they are for
    TemplateSync,
    /// Tells users by Events why Pods and PodGroups wait for devices
    Explainer,
    /// Lets the explainer write conditions of Pods and PodGroups with the annotation `apportion.dev/explain: "true"`
    Conditions,
    /// Makes claims from templates and takes reservations away, as kube-controller-manager does
    Claims,
    /// Keeps PodGroups while Pods need them, as kube-controller-manager does
    PodgroupProtection,
    /// Deletes Pods whose devices are tainted, as kube-controller-manager does
    TaintEviction,
    /// Gives nodes and devices to Pods with `schedulerName: apportion`, gangs included
    Scheduler,
}

/// A write that a part makes, as a role allows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) group: &'static str,
    /// Plural, with the subresource where one is meant.
    pub(crate) resource: &'static str,
    pub(crate) verbs: &'static [&'static str],
}

const fn grant(group: &'static str, resource: &'static str, verbs: &'static [&'static str]) -> Grant {
    Grant { group, resource, verbs }
}

const EVENTS: Grant = grant("events.k8s.io", "events", &["create", "patch"]);
const DEVICES: &str = "resource.k8s.io";
const SCHEDULING: &str = "scheduling.k8s.io";

impl PartName {
    /// The name.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::TemplateSync => "template-sync",
            Self::Explainer => "explainer",
            Self::Conditions => "conditions",
            Self::Claims => "claims",
            Self::PodgroupProtection => "podgroup-protection",
            Self::TaintEviction => "taint-eviction",
            Self::Scheduler => "scheduler",
        }
    }

    pub(super) const fn part(self) -> Part {
        match self {
            Self::TemplateSync => Part::TemplateSync,
            Self::Explainer | Self::Conditions => Part::Explainer,
            Self::Claims => Part::Claims,
            Self::PodgroupProtection => Part::PodGroupProtection,
            Self::TaintEviction => Part::TaintEviction,
            Self::Scheduler => Part::Scheduler,
        }
    }

    /// The kinds that it decides on.
    pub(crate) const fn watches(self) -> &'static [Resource] {
        match self {
            Self::TemplateSync => &[NAMESPACES, CLASSES, TEMPLATES, TEMPLATE_SOURCES, POD_GROUPS, PODS],
            Self::Explainer => &[NAMESPACES, NODES, CLASSES, SLICES, TAINT_RULES, TEMPLATES, CLAIMS, POD_GROUPS, PODS],
            Self::Conditions => &[],
            Self::Claims => &[TEMPLATES, CLAIMS, POD_GROUPS, PODS],
            Self::PodgroupProtection => &[POD_GROUPS, PODS],
            Self::TaintEviction => &[SLICES, TAINT_RULES, CLAIMS, POD_GROUPS, PODS],
            Self::Scheduler => {
                const { &[NAMESPACES, NODES, CLASSES, SLICES, TAINT_RULES, CLAIMS, VOLUMES, VOLUME_CLAIMS, POD_GROUPS, PODS] }
            }
        }
    }

    /// What it writes in other people's namespaces: a cluster may want to allow that namespace by namespace. With a word for it.
    pub(crate) const fn writes_elsewhere(self) -> Option<(&'static str, &'static [Grant])> {
        match self {
            Self::TemplateSync => {
                const { Some(("copies", &[grant(DEVICES, "resourceclaimtemplates", &["create", "delete", "patch"])])) }
            }
            Self::Explainer
            | Self::Conditions
            | Self::Claims
            | Self::PodgroupProtection
            | Self::TaintEviction
            | Self::Scheduler => None,
        }
    }

    /// What it writes beside that, and looks up one by one.
    pub(crate) const fn writes(self) -> &'static [Grant] {
        match self {
            Self::TemplateSync => {
                const {
                    &[
                        grant("apportion.dev", "clusterresourceclaimtemplates", &["get"]),
                        grant("apportion.dev", "clusterresourceclaimtemplates/status", &["update"]),
                        grant(DEVICES, "resourceclaimtemplates", &["get"]),
                        EVENTS,
                    ]
                }
            }
            Self::Explainer => &[EVENTS],
            Self::Conditions => {
                const { &[grant("", "pods/status", &["patch"]), grant(SCHEDULING, "podgroups/status", &["patch"])] }
            }
            Self::Claims => {
                const {
                    &[
                        grant("", "pods", &["get"]),
                        grant("", "pods/finalizers", &["update"]),
                        grant("", "pods/status", &["patch"]),
                        grant(DEVICES, "resourceclaims", &["create", "delete", "get", "patch", "update"]),
                        grant(DEVICES, "resourceclaims/status", &["patch", "update"]),
                        // Since 1.36 allocations and reservations in that status need this, too.
                        grant(DEVICES, "resourceclaims/binding", &["patch", "update"]),
                        grant(SCHEDULING, "podgroups", &["get"]),
                        grant(SCHEDULING, "podgroups/finalizers", &["update"]),
                        grant(SCHEDULING, "podgroups/status", &["patch", "update"]),
                        EVENTS,
                    ]
                }
            }
            Self::PodgroupProtection => const { &[grant(SCHEDULING, "podgroups", &["update"])] },
            Self::TaintEviction => {
                const {
                    &[
                        grant("", "pods", &["delete"]),
                        grant("", "pods/status", &["patch"]),
                        grant(DEVICES, "devicetaintrules/status", &["patch", "update"]),
                        EVENTS,
                    ]
                }
            }
            Self::Scheduler => {
                const {
                    &[
                        grant("", "pods/binding", &["create"]),
                        grant("", "pods/status", &["patch"]),
                        grant(DEVICES, "resourceclaims", &["create", "delete", "get", "update"]),
                        grant(DEVICES, "resourceclaims/status", &["update"]),
                        grant(DEVICES, "resourceclaims/binding", &["update"]),
                        grant(SCHEDULING, "podgroups/status", &["patch"]),
                        EVENTS,
                    ]
                }
            }
        }
    }
}
