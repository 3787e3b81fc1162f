//! What kube-scheduler would not start with, and what is not known.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    InterPodAffinityArgs, NodeAffinityArgs, NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, PluginConfig,
    PluginEntry, PluginSet, PodTopologySpreadArgs, ResourceSpec, SchedulerConfiguration, SchedulerProfile,
    UtilizationShapePoint, VolumeBindingArgs,
};
use crate::api::pod::DEFAULT_SCHEDULER;
use crate::api::read::{Json, Path};
use crate::finding::{Code, Finding};
use crate::near::nearest;

/// The plugins of kube-scheduler, those of all versions.
pub const PLUGINS: [&str; 22] = [
    "DefaultBinder",
    "DefaultPreemption",
    "DynamicResources",
    "GangScheduling",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    "NodeName",
    "NodePorts",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "NodeVolumeLimits",
    "PodGroupPodsCount",
    "PodTopologySpread",
    "PrioritySort",
    "SchedulingGates",
    "TaintToleration",
    "TopologyPlacementGenerator",
    "VolumeBinding",
    "VolumeRestrictions",
];

/// The points at which plugins can be switched on and off; `multiPoint` is all of them.
pub const POINTS: [&str; 16] = [
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementFeasible",
    "placementScore",
    "multiPoint",
];

/// The plugin that was taken into others.
const ZONE: &str = "VolumeZone";

const STRATEGIES: [&str; 3] = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];

/// The arguments of a plugin; the defaults where there are none. What cannot be read was reported when the file was read.
pub fn arguments<T: Json + Default>(profile: &SchedulerProfile, plugin: &str) -> T {
    let of_plugin = profile.plugin_config.iter().find(|config| config.name == plugin);
    let read = |config: &PluginConfig| T::read(bare(&config.args), &Path::ROOT, &mut Vec::new()).ok();
    of_plugin.and_then(read).unwrap_or_default()
}

/// Arguments without the kind that they may name.
fn bare(args: &Value) -> Value {
    let mut args = args.clone();
    if let Some(fields) = args.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    args
}

impl SchedulerConfiguration {
    /// Reports what kube-scheduler would not start with, and plugins that it does not have.
    pub(in crate::api) fn check(&self, findings: &mut Vec<Finding>) {
        let list = Path::ROOT.field("profiles");
        let mut names = BTreeSet::new();
        for (index, profile) in self.profiles.iter().enumerate() {
            let at = list.index(index);
            let name = profile.name();
            if !names.insert(name) {
                findings.push(wrong(&at.field("schedulerName"), format!("two profiles are of scheduler `{name}`")));
            }
            percentage(profile.percentage_of_nodes_to_score, &at.field("percentageOfNodesToScore"), findings);
            let placements = at.field("percentageOfPlacementsToScore");
            percentage(profile.percentage_of_placements_to_score, &placements, findings);
            let plugins = at.field("plugins");
            for (point, PluginSet { enabled, disabled, .. }) in &profile.plugins {
                let at = plugins.field(point);
                if !POINTS.contains(&point.as_str()) {
                    findings.push(unknown(point, &at));
                }
                check_entries(enabled, false, &at.field("enabled"), findings);
                check_entries(disabled, true, &at.field("disabled"), findings);
            }
            profile.check_arguments(&at.field("pluginConfig"), findings);
        }
        percentage(self.percentage_of_nodes_to_score, &Path::ROOT.field("percentageOfNodesToScore"), findings);
        let placements = Path::ROOT.field("percentageOfPlacementsToScore");
        percentage(self.percentage_of_placements_to_score, &placements, findings);
    }
}

impl SchedulerProfile {
    /// The name by which Pods ask for it.
    pub fn name(&self) -> &str {
        if self.scheduler_name.is_empty() { DEFAULT_SCHEDULER } else { &self.scheduler_name }
    }

    fn check_arguments(&self, list: &Path<'_>, findings: &mut Vec<Finding>) {
        let mut names = BTreeSet::new();
        for (index, config) in self.plugin_config.iter().enumerate() {
            let at = list.index(index);
            if !names.insert(&config.name) {
                findings.push(wrong(&at.field("name"), format!("plugin `{}` has arguments already", config.name)));
            }
            check_name(&config.name, &at.field("name"), findings);
            config.check(&at.field("args"), findings);
        }
    }
}

impl PluginConfig {
    fn check(&self, at: &Path<'_>, findings: &mut Vec<Finding>) {
        let kind = self.args.get("kind").and_then(Value::as_str);
        if let Some(kind) = kind.filter(|kind| *kind != format!("{}Args", self.name)) {
            findings.push(wrong(&at.field("kind"), format!("`{kind}` are no arguments of plugin `{}`", self.name)));
        }
        match self.name.as_str() {
            "NodeAffinity" => drop(read::<NodeAffinityArgs>(&self.args, at, findings)),
            "NodeResourcesFit" => {
                if let Some(strategy) =
                    read::<NodeResourcesFitArgs>(&self.args, at, findings).and_then(|args| args.scoring_strategy)
                {
                    let at = at.field("scoringStrategy");
                    if !STRATEGIES.contains(&strategy.kind.as_str()) {
                        let message = format!("there is no strategy `{}`", strategy.kind);
                        findings.push(wrong(&at.field("type"), message).with_hint(one_of(&strategy.kind, &STRATEGIES)));
                    }
                    weights(&strategy.resources, &at.field("resources"), findings);
                    if strategy.kind == "RequestedToCapacityRatio" {
                        let ratio = at.field("requestedToCapacityRatio");
                        let shape = strategy.requested_to_capacity_ratio.map(|ratio| ratio.shape).unwrap_or_default();
                        check_shape(&shape, &ratio.field("shape"), findings);
                    }
                }
            }
            "NodeResourcesBalancedAllocation" => {
                if let Some(args) = read::<NodeResourcesBalancedAllocationArgs>(&self.args, at, findings) {
                    weights(&args.resources, &at.field("resources"), findings);
                }
            }
            "PodTopologySpread" => {
                if let Some(args) = read::<PodTopologySpreadArgs>(&self.args, at, findings) {
                    args.check(at, findings);
                }
            }
            "InterPodAffinity" => {
                let weight = read::<InterPodAffinityArgs>(&self.args, at, findings)
                    .and_then(|args| args.hard_pod_affinity_weight);
                percentage(weight, &at.field("hardPodAffinityWeight"), findings);
            }
            "DefaultPreemption" => {
                only(&self.args, &["minCandidateNodesPercentage", "minCandidateNodesAbsolute"], at, findings);
            }
            "VolumeBinding" => {
                let args = read::<VolumeBindingArgs>(&self.args, at, findings).unwrap_or_default();
                if !args.shape.is_empty() {
                    check_shape(&args.shape, &at.field("shape"), findings);
                }
            }
            "DynamicResources" => only(&self.args, &["filterTimeout", "bindingTimeout"], at, findings),
            _ => {}
        }
    }
}

impl PodTopologySpreadArgs {
    fn check(&self, at: &Path<'_>, findings: &mut Vec<Finding>) {
        let kind = self.defaulting_type.as_str();
        if !matches!(kind, "" | "System" | "List") {
            let message = format!("there is no `{kind}`");
            findings.push(wrong(&at.field("defaultingType"), message).with_hint(one_of(kind, &["System", "List"])));
        }
        let list = at.field("defaultConstraints");
        if kind != "List" && !self.default_constraints.is_empty() {
            let message = "constraints are given, and `defaultingType` says that the system's own hold";
            findings.push(wrong(&list, message.to_owned()).with_hint("set `defaultingType: List`"));
        }
        for (index, constraint) in self.default_constraints.iter().enumerate() {
            let at = list.index(index);
            if constraint.label_selector.is_some() {
                let message = "the Pods that count are those of the Pod's Service or controller";
                findings.push(wrong(&at.field("labelSelector"), message.to_owned()).with_hint("leave it out"));
            }
            if constraint.max_skew <= 0 {
                findings.push(wrong(&at.field("maxSkew"), "must be above 0".to_owned()));
            }
            if constraint.topology_key.is_empty() {
                findings.push(wrong(&at.field("topologyKey"), "the label that names the domain is missing".to_owned()));
            }
            if !matches!(constraint.when_unsatisfiable.as_str(), "DoNotSchedule" | "ScheduleAnyway") {
                let hint = "`DoNotSchedule` or `ScheduleAnyway`";
                let message = format!("there is no `{}`", constraint.when_unsatisfiable);
                findings.push(wrong(&at.field("whenUnsatisfiable"), message).with_hint(hint));
            }
        }
    }
}

fn check_entries(entries: &[PluginEntry], allows_all: bool, list: &Path<'_>, findings: &mut Vec<Finding>) {
    let mut names = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let at = list.index(index);
        if !(allows_all && entry.name == "*") {
            check_name(&entry.name, &at.field("name"), findings);
        }
        if !names.insert(&entry.name) {
            findings.push(wrong(&at.field("name"), format!("plugin `{}` is listed twice", entry.name)));
        }
        if entry.weight < 0 {
            findings.push(wrong(&at.field("weight"), "must not be below 0".to_owned()));
        }
    }
}

/// Plugins of others may be built into a scheduler, so that a name that is not known is no error.
fn check_name(name: &str, at: &Path<'_>, findings: &mut Vec<Finding>) {
    if PLUGINS.contains(&name) || name == ZONE {
        return;
    }
    let message = format!("kube-scheduler has no plugin `{name}`: what it does is not looked at");
    let finding = Finding::new(Code::ReadUnknownValue, at, message);
    findings.push(match nearest(name, PLUGINS) {
        Some(near) => finding.with_hint(format!("did you mean `{near}`?")),
        None => finding,
    });
}

fn read<T: Json>(args: &Value, at: &Path<'_>, findings: &mut Vec<Finding>) -> Option<T> {
    T::read(bare(args), at, findings).ok()
}

/// Reports arguments of a plugin that does nothing with them here, where it has no such arguments.
fn only(args: &Value, known: &[&str], at: &Path<'_>, findings: &mut Vec<Finding>) {
    let names = bare(args).as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let unknown_ones = names.iter().filter(|name| !known.contains(&name.as_str()));
    findings.extend(unknown_ones.map(|name| unknown(name, &at.field(name))));
}

fn unknown(name: &str, at: &Path<'_>) -> Finding {
    Finding::new(Code::ReadUnknownField, at, format!("unknown field `{name}`"))
}

fn weights(resources: &[ResourceSpec], list: &Path<'_>, findings: &mut Vec<Finding>) {
    for (index, resource) in resources.iter().enumerate() {
        let at = list.index(index);
        if resource.name.is_empty() {
            findings.push(wrong(&at.field("name"), "the resource has no name".to_owned()));
        }
        if !(0..=100).contains(&resource.weight) {
            findings.push(wrong(&at.field("weight"), "must be from 1 to 100".to_owned()));
        }
    }
}

fn check_shape(shape: &[UtilizationShapePoint], list: &Path<'_>, findings: &mut Vec<Finding>) {
    if shape.is_empty() {
        findings.push(wrong(list, "the strategy needs at least one point".to_owned()));
    }
    let mut last = -1;
    for (index, point) in shape.iter().enumerate() {
        let at = list.index(index);
        if point.utilization <= last || point.utilization > 100 {
            let message = "must be from 0 to 100 and above that of the point before".to_owned();
            findings.push(wrong(&at.field("utilization"), message));
        }
        if !(0..=10).contains(&point.score) {
            findings.push(wrong(&at.field("score"), "must be from 0 to 10".to_owned()));
        }
        last = point.utilization;
    }
}

fn percentage(value: Option<i64>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    if value.is_some_and(|value| !(0..=100).contains(&value)) {
        findings.push(wrong(at, "must be from 0 to 100".to_owned()));
    }
}

fn wrong(at: &Path<'_>, message: String) -> Finding {
    Finding::new(Code::ReadBadSettings, at, message)
}

fn one_of(found: &str, known: &[&'static str]) -> String {
    match nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    }
}
