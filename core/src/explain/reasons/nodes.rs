//! What nodes have against a Pod, in words.

use serde_json::Value;

use super::problems::all_refused;
use super::selection;
use super::shortfall::too_few;
use super::tolerations;
use crate::allocate::extended::{IMPLICIT_PREFIX, class_for};
use crate::api::claim::ResourceClaim;
use crate::api::node::NodeTaint;
use crate::api::pod::Pod;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::explain::origin::{Origin, about_claim};
use crate::finding::{Code, Finding, ObjectRef, list};
use crate::near::kin;
use crate::scheduler::node_fit::{Lack, PODS, Refusal, requests};
use crate::scheduler::refusal::Nodes;
use crate::scheduler::special;

/// Where spread constraints are.
const SPREAD: &str = "spec.topologySpreadConstraints";

/// What was asked, for the words of the answer.
pub(crate) struct Asked<'a> {
    /// The facts.
    pub(crate) cluster: &'a Cluster,
    /// Where the Pod's fields stand.
    pub(crate) origin: &'a Origin,
    /// The Pod's claims.
    pub(crate) claims: &'a [&'a ResourceClaim],
    pub(crate) pod: &'a Pod,
}

/// The reasons, most important first: what the allocator said of the nodes that came nearest, then claims that are
/// allocated elsewhere, then nodes refused for ordinary reasons. The Pod's own claims are those of a name, in the order of asking.
pub(crate) fn of_nodes(asked: &Asked<'_>, nodes: &Nodes, own: &[String]) -> Vec<Finding> {
    let knows_devices = nodes.devices.is_empty() || !asked.cluster.is_not_given("ResourceSlice");
    let mut reasons = if knows_devices {
        too_few(asked, nodes, own)
    } else {
        let message = "the devices are not known: the dump has no ResourceSlice";
        let finding = asked.origin.finding(Code::RunNotGiven, "spec.resourceClaims", message);
        vec![finding.with_hint("add the output of `kubectl get resourceslices -o yaml`")]
    };
    // Slices that the API server refused are devices that are missing.
    let refused = refused_slices(asked);
    if !nodes.devices.is_empty() {
        reasons.splice(0..0, refused);
    }
    // Nodes without any device are not what keeps a Pod from devices on nodes that refuse it.
    let are_bare = reasons.iter().all(|finding| finding.code == Code::RunTooFewDevices);
    let bare = if are_bare && !nodes.ordinary.is_empty() { std::mem::take(&mut reasons) } else { Vec::new() };
    for (name, names) in &nodes.elsewhere {
        if let Some(claim) = asked.claims.iter().find(|claim| claim.metadata.name == *name) {
            let subject = subject(names, nodes.count, "has", "have");
            let message = format!("{subject} no access to the devices of claim `{name}`");
            reasons.push(about_claim(asked.cluster, claim, Finding::new(Code::RunClaimElsewhere, "", message)));
        }
    }
    let mut plain: Vec<(&Refusal, &Vec<String>)> = nodes.ordinary.iter().collect();
    plain.arrange_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    reasons.extend(plain.into_iter().map(|(refusal, names)| unsuitable(asked, refusal, names, nodes.count)));
    reasons.extend(bare);
    if nodes.count == 0 {
        let why = all_refused(asked.cluster, "Node").map(|why| format!(": {why}")).unwrap_or_default();
        reasons.push(asked.origin.finding(Code::RunNodeUnsuitable, "", format!("the cluster has no nodes{why}")));
    }
    reasons
}

/// ResourceSlices that were refused, each with why.
fn refused_slices(asked: &Asked<'_>) -> Vec<Finding> {
    let cluster = asked.cluster;
    let refused = cluster.names_of_refused("ResourceSlice").filter_map(|name| {
        let why = cluster.refused("ResourceSlice", "", name)?;
        let finding =
            Finding::new(Code::RunRefused, &why.path, format!("ResourceSlice `{name}` was refused: {}", why.message));
        let finding = finding.about(ObjectRef::new("ResourceSlice", "", name));
        Some(match &why.hint {
            Some(hint) => finding.with_hint(hint.clone()),
            None => finding,
        })
    });
    refused.collect()
}

/// Turns a finding about a generated claim to its template.
pub(crate) fn of_template(asked: &Asked<'_>, finding: Finding) -> Finding {
    let Some(object) = finding.object.clone() else { return finding.about(asked.origin.object.clone()) };
    if object.kind == "ResourceClaim" && object.name == special::NAME {
        let mut finding = asked.origin.locate(finding, "spec.containers");
        finding.message = of_containers(asked.pod, &finding.message).unwrap_or(finding.message);
        return finding.with_hint("what a Pod's containers ask for as extended resources is one claim");
    }
    let claim = asked.claims.iter().find(|claim| object.kind == "ResourceClaim" && claim.metadata.name == object.name);
    match claim {
        Some(claim) => about_claim(asked.cluster, claim, finding),
        None => finding,
    }
}

/// A message about a request of the claim that the scheduler makes for a Pod, about what the request serves.
fn of_containers(pod: &Pod, message: &str) -> Option<String> {
    let (before, request) = message.split_once("request `")?;
    let (request, after) = request.split_once('`')?;
    Some(format!("{before}{}{after}", special::in_words(pod, special::NAME, request)?))
}

fn unsuitable(asked: &Asked<'_>, refusal: &Refusal, nodes: &[String], all: usize) -> Finding {
    let subject = |one: &str, several: &str| subject(nodes, all, one, several);
    let has = || subject("has", "have");
    let finding = |path: &str, message: String| asked.origin.finding(Code::RunNodeUnsuitable, path, message);
    match refusal {
        Refusal::NotNamed => {
            let is = subject("is", "are");
            finding("spec.affinity.nodeAffinity", format!("{is} not among the nodes that the Pod names"))
        }
        Refusal::Unschedulable => finding("", format!("{} marked as unschedulable", subject("is", "are")))
            .with_hint("`kubectl uncordon` makes a node schedulable again"),
        Refusal::Taint { key, value } => {
            let taint = if value.is_empty() { key.clone() } else { format!("{key}={value}") };
            let known = nodes.iter().filter_map(|name| asked.cluster.nodes().get(name));
            let is_it = |taint: &&NodeTaint| taint.is_hard() && taint.key == *key && taint.value == *value;
            let taints: Vec<&NodeTaint> = known.flat_map(|node| &node.spec.taints).filter(is_it).collect();
            let nearly = tolerations::of_node(&asked.pod.spec.tolerations, &taints);
            let unwell = taints.iter().any(|taint| taint.is_condition()).then(|| {
                let name = nodes.first().map(String::as_str).unwrap_or_default();
                format!("Kubernetes takes it away once the node is well again: see `kubectl describe node {name}`")
            });
            finding("spec.tolerations", format!("{} the taint `{taint}`, which the Pod does not tolerate", has()))
                .with_hint(unwell.or(nearly).unwrap_or_else(|| "add a toleration to the Pod".to_owned()))
        }
        Refusal::Affinity => {
            let does = subject("does", "do");
            let finding =
                finding("spec", format!("{does} not match the Pod's node selector or required node affinity"));
            match selection::hint(asked, nodes) {
                Some(hint) => finding.with_hint(hint),
                None => finding,
            }
        }
        Refusal::AddedAffinity => {
            let does = subject("does", "do");
            finding(
                "spec.schedulerName",
                format!("{does} not match the node affinity that the scheduler gives all its Pods"),
            )
            .with_hint("the KubeSchedulerConfiguration has it in `addedAffinity` of plugin `NodeAffinity`")
        }
        Refusal::HostPort { port } => {
            finding("spec.containers", format!("{} host port `{port}` in use already", has()))
                .with_hint("another Pod there asks for it: leave out `hostPort`, or have fewer Pods than nodes")
        }
        Refusal::UnboundClaim { claim } => {
            let message =
                format!("PersistentVolumeClaim `{claim}` has no volume, no free one suits it, and none is made");
            finding("spec.volumes", message)
                .with_hint("a free PersistentVolume needs the claim's class, size, access modes and labels")
        }
        Refusal::ClaimInUse { claim } => {
            let message = format!("another Pod uses PersistentVolumeClaim `{claim}`, which is for one Pod alone");
            finding("spec.volumes", message).with_hint(
                "its access mode is `ReadWriteOncePod`: delete the other Pod, or give this one its own claim",
            )
        }
        Refusal::NoDriver { driver } => {
            finding("spec.volumes", format!("{} no CSI driver `{driver}`, which a volume of the Pod needs", has()))
                .with_hint("the CSINode of a node names its drivers: install this one there")
        }
        Refusal::TooManyVolumes { driver } => {
            finding("spec.volumes", format!("{} no room for more volumes of CSI driver `{driver}`", has()))
                .with_hint("the CSINode has the limit in `allocatable.count`: add nodes, or use fewer volumes")
        }
        Refusal::VolumeNode => {
            let message = format!("{} no access to a volume of the Pod, which belongs to other nodes", has());
            finding("spec.volumes", message).with_hint("the PersistentVolume's `nodeAffinity` says which nodes have it")
        }
        Refusal::NoVolume => {
            let message = format!("{} no free volume for a claim of the Pod, and none can be made there", has());
            finding("spec.volumes", message).with_hint(
                "a free PersistentVolume needs the claim's class, size and access modes; a class makes volumes where its \
                 `allowedTopologies` are",
            )
        }
        Refusal::NoSpace => {
            finding("spec.volumes", format!("{} too little space for a volume that is to be made", has()))
                .with_hint("the CSIStorageCapacities of the claim's class say where there is how much space")
        }
        Refusal::VolumeMissing => {
            let message = format!("{} no volume for a claim of the Pod: its PersistentVolume does not exist", has());
            finding("spec.volumes", message)
                .with_hint("make the PersistentVolume that `volumeName` of the claim names, or make the claim anew")
        }
        Refusal::VolumeZone => {
            let is = subject("is", "are");
            finding("spec.volumes", format!("{is} not in the zone or region of a volume of the Pod"))
                .with_hint("the labels of the PersistentVolume name its zone and region")
        }
        Refusal::NoDomain { key } => {
            finding(SPREAD, format!("{} no label `{key}`, over whose values the Pod must be spread", has()))
                .with_hint("label the nodes, or set `whenUnsatisfiable: ScheduleAnyway`")
        }
        Refusal::Spread { key } => {
            let message = format!("{} too many Pods like it already in the same `{key}`", has());
            finding(SPREAD, message).with_hint(
                "add room where there are fewer, raise `maxSkew`, or set `whenUnsatisfiable: ScheduleAnyway`",
            )
        }
        Refusal::PodAffinity => {
            let message = format!("{} no Pod nearby that the Pod must be near", has());
            finding("spec.affinity.podAffinity", message)
                .with_hint("a Pod that matches all required terms has to run in the same domains first")
        }
        Refusal::PodAntiAffinity { key } => {
            let message = format!("{} a Pod in the same `{key}` that the Pod must be away from", has());
            finding("spec.affinity.podAntiAffinity", message)
                .with_hint("another node is needed, or a preferred term in place of the required one")
        }
        Refusal::KeptAway { key } => {
            let message = format!("{} a Pod in the same `{key}` whose own anti-affinity keeps the Pod away", has());
            finding("metadata.labels", message)
                .with_hint("another node is needed, or labels that the other Pod does not select")
        }
        Refusal::Feature { feature } => {
            let message = format!("{} no `{feature}` among its declared features, which the Pod needs", has());
            finding("spec", message).with_hint("a node whose `status.declaredFeatures` has it is needed")
        }
        Refusal::Devices(text) => {
            let message = format!("{} no devices for the Pod's claims: {text}", has());
            finding("spec.resourceClaims", message)
        }
        Refusal::Insufficient { resource, lack } => {
            let message = match lack {
                Lack::Absent if resource == PODS => format!("{} room for no Pods at all", has()),
                Lack::Absent => format!("{} no `{resource}`", has()),
                Lack::TooSmall => {
                    let has_of = |name: &String| asked.cluster.nodes().get(name)?.status.allocatable.get(resource);
                    let most = nodes.iter().filter_map(has_of).max().map(ToString::to_string).unwrap_or_default();
                    let wanted = requests(asked.pod).get(resource).map(ToString::to_string).unwrap_or_default();
                    let at_most = if nodes.len() == 1 { "" } else { "at most " };
                    format!("{} too little `{resource}`: {at_most}{most}, the Pod asks for {wanted}", has())
                }
                Lack::InUse => format!("{} too little `{resource}` left", has()),
            };
            let class = class_for(asked.cluster, resource);
            let has_feature = asked.cluster.profile().features.extended_resource;
            let finding = finding("spec", message);
            match class {
                Some(class) if !has_feature => finding.with_hint(format!(
                    "the feature gate `DRAExtendedResource` is off; with it device class `{}` could serve the resource",
                    class.metadata.name
                )),
                Some(_) => finding
                    .with_hint("the node states the resource, so its device plugin serves it and not the devices"),
                None if resource.contains('/') => finding.with_hint(who_serves(asked.cluster, resource)),
                None => finding,
            }
        }
    }
}

/// Who could serve a resource that no node offers and no class states.
fn who_serves(cluster: &Cluster, resource: &str) -> String {
    if let Some(name) = resource.strip_prefix(IMPLICIT_PREFIX) {
        return match kin(name, cluster.classes().keys()) {
            Some(near) => format!("there is no DeviceClass `{name}`: did you mean `{near}`?"),
            None => format!("create the DeviceClass `{name}`"),
        };
    }
    let stated: Vec<&String> =
        cluster.classes().values().filter_map(|class| class.spec.extended_resource_name.as_ref()).collect();
    match kin(resource, stated.into_iter()) {
        Some(near) => format!("did you mean `{near}`, which a DeviceClass serves?"),
        None => "a node offers it in `status.allocatable`, or a DeviceClass in `extendedResourceName`".to_owned(),
    }
}

/// Nodes by name as the subject of a sentence, with the verb that fits their number.
fn subject(nodes: &[String], all: usize, one: &str, several: &str) -> String {
    match nodes.len() {
        1 if all == 1 => format!("the only node, {}, {one}", list(nodes.iter())),
        1 => format!("node {} {one}", list(nodes.iter())),
        count if count == all => format!("all {count} nodes {several}"),
        count => format!("{count} nodes ({}) {several}", list(nodes.iter())),
    }
}

/// Name of a scheduling gate.
pub(crate) fn gate_name(gate: &Value) -> Option<String> {
    gate.get("name").and_then(Value::as_str).map(str::to_owned)
}
