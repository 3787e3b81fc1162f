//! Where the volumes of a Pod can be used: a PersistentVolume that a claim is bound to may belong to some nodes, or to a zone. A claim whose volume
//! is chosen once its Pod has a node needs a free volume there, or a class that makes volumes there.
//!
//! A claim of a class with `Immediate`, or of no class, gets its volume from a controller whatever its Pod does: the smallest free one, or one that
//! its class makes. Here it gets it with the node of its Pod, and in the order of Pods. One that gets none keeps its Pod from every node, and so does
//! one that is bound to a volume that does not exist.
//! Other claims without a volume, and what is not among the objects, keep a Pod from no node. What Pods that have places mean for volumes is in [`super::shared_volumes`].
//!
//! Source: `plugins/volumebinding`, `plugins/volumezone`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::node_fit::{Refusal, is_inferred, selects};
use super::topology::Selector;
use crate::api::node::{Node, NodeSelector};
use crate::api::others::Bystander;
use crate::api::pod::Pod;
use crate::api::quantity::Quantity;
use crate::api::source::LabelSelector;
use crate::arrange::Arrange;
use crate::cluster::Cluster;
use crate::cluster::volumes::{self, FreeVolume, FreeVolumes, Reach, Ways, amount, class_of, field, read_part, text};
use crate::gather::Gather;

/// Labels of volumes that name zones and regions, and the label that a node without the same one has.
const ZONES: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// What stands between the zones of a volume that has several.
const SEPARATOR: &str = "__";

/// Where the volumes of a Pod can be used; nothing where that is everywhere.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Volumes {
    /// What selects their nodes; all must.
    nodes: Vec<NodeSelector>,
    /// Claims without a volume, the smallest first.
    open: Vec<Open>,
    /// Claims that get a volume whatever node their Pod has, and which.
    given: Vec<(String, String)>,
    /// A claim that gets none, whatever node its Pod has.
    unbound: Option<String>,
    /// Whether a claim is bound to a volume that does not exist.
    lacks_volume: bool,
    /// Positions of labels, and their values on nodes.
    zones: BTreeSet<(usize, BTreeSet<String>)>,
}

/// A claim that gets a volume once its Pod has a node.
#[derive(Clone, PartialEq, Debug)]
struct Open {
    /// What is asked for, at least.
    size: Quantity,
    claim: String,
    class: String,
    /// Whether it is the node of its Pod that decides.
    is_delayed: bool,
    ways: Ways,
    selector: Option<LabelSelector>,
    /// The volume that is kept for it.
    own: Option<FreeVolume>,
    /// Where it finds one otherwise.
    free: FreeVolumes,
    /// Whether volumes are made, and the nodes for which.
    made: Option<Reach>,
    /// Where there is space for them, as far as that is known.
    space: Option<FreeVolumes>,
    /// The node for which one is being made.
    selected: Option<String>,
}

impl Volumes {
    /// Those of a Pod.
    pub(crate) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        let mut all = Self::default();
        for entry in entries(pod) {
            let Some(claim) = claim_name(pod, entry).and_then(|name| claim(cluster, pod, &name)) else { continue };
            let Some(volume) = bound(cluster, claim).or_else(|| all.take_up(cluster, claim)) else { continue };
            all.nodes.extend(field(volume, "/nodeAffinity/required").and_then(read_part::<NodeSelector>));
            // Volumes that are made for the Pod are not looked at for this.
            if entry.get("ephemeral").is_some() {
                continue;
            }
            for (position, (label, _)) in ZONES.iter().enumerate() {
                let names = volume.metadata.labels.get(*label).map(|names| names.split(SEPARATOR).map(str::trim));
                let names: BTreeSet<String> = names.into_iter().flatten().map(str::to_owned).gather();
                // A label that cannot be read says nothing.
                if !names.is_empty() && !names.contains("") {
                    all.zones.insert((position, names));
                }
            }
        }
        let rank = |open: &Open| (open.selected.is_none(), open.size.clone(), open.claim.clone());
        all.open.arrange_by_key(rank);
        all.open.dedup_by(|one, other| one.claim == other.claim);
        all
    }

    /// Takes a claim without a volume into account. It comes back with one that it gets whatever node its Pod has: the smallest.
    fn take_up<'c>(&mut self, cluster: &'c Cluster, claim: &Bystander) -> Option<&'c Bystander> {
        self.lacks_volume |= lacks_volume(cluster, claim);
        let open = Open::of(cluster, claim)?;
        if open.is_delayed {
            self.open.push(open);
            return None;
        }
        let own = self.given.iter().find(|(claim, _)| *claim == open.claim).map(|(_, volume)| volume.clone());
        let is_left = |volume: &FreeVolume| self.given.iter().all(|(_, taken)| *taken != volume.name);
        match own.or_else(|| open.smallest(is_left).map(|volume| volume.name.clone())) {
            Some(name) => {
                let volume = volume_of(cluster, &name);
                self.given.push((open.claim, name));
                volume
            }
            None if open.made.is_some() => {
                self.open.push(open);
                None
            }
            None => {
                self.unbound = Some(open.claim);
                None
            }
        }
    }

    /// What keeps the Pod from all nodes before any is looked at.
    pub(super) fn keeps_from_all(&self) -> Option<Refusal> {
        self.unbound.as_ref().map(|claim| Refusal::UnboundClaim { claim: claim.clone() })
    }

    /// The same without what the filters that are off look at.
    pub(super) fn seen(mut self, has_binding: bool, has_zones: bool) -> Self {
        if !has_binding {
            self.nodes.clear();
            self.open.clear();
            self.unbound = None;
            self.lacks_volume = false;
        }
        if !has_zones {
            self.zones.clear();
        }
        self
    }

    /// What speaks against a node. Of an inferred node too few labels are known.
    pub(crate) fn refusals(&self, node: &Node) -> Vec<Refusal> {
        if let Some(refusal) = self.keeps_from_all() {
            return vec![refusal];
        }
        if is_inferred(node) {
            return Vec::new();
        }
        let is_there = self.nodes.iter().all(|nodes| selects(nodes, node));
        let binding = [
            (!is_there).then_some(Refusal::VolumeNode),
            self.found(node).err(),
            self.lacks_volume.then_some(Refusal::VolumeMissing),
        ];
        let refusals: Vec<Refusal> = binding.into_iter().flatten().collect();
        if !refusals.is_empty() {
            return refusals;
        }
        let labels = &node.metadata.labels;
        let has_zone = ZONES.iter().any(|(label, _)| labels.contains_key(*label));
        let is_in = |(position, names): &(usize, BTreeSet<String>)| {
            let value =
                ZONES.get(*position).and_then(|(label, newer)| labels.get(*label).or_else(|| labels.get(*newer)));
            value.is_some_and(|value| names.contains(value))
        };
        (has_zone && !self.zones.iter().all(is_in)).then_some(Refusal::VolumeZone).into_iter().collect()
    }

    /// The claims that get a volume that there is on a node, and which; `None` where some claim gets none at all.
    pub(crate) fn chosen(&self, node: &Node) -> Option<Vec<(&str, &str)>> {
        let chosen =
            self.found(node).ok()?.into_iter().map(|(open, volume)| (open.claim.as_str(), volume.name.as_str()));
        let given = self.given.iter().map(|(claim, volume)| (claim.as_str(), volume.as_str()));
        Some(chosen.chain(given).collect())
    }

    /// Claims with their volumes.
    ///
    /// # Errors
    ///
    /// Why some claim gets none.
    fn found(&self, node: &Node) -> Result<Vec<(&Open, &FreeVolume)>, Refusal> {
        let mut found: Vec<(&Open, &FreeVolume)> = Vec::new();
        for open in &self.open {
            let is_left = |volume: &FreeVolume| found.iter().all(|(_, taken)| taken.name != volume.name);
            match open.found(node, is_left) {
                Some(volume) => found.push((open, volume)),
                None if !open.is_made_on(node) => return Err(Refusal::NoVolume),
                None if open.space.is_some() && open.space_on(node).is_none() => return Err(Refusal::NoSpace),
                None => {}
            }
        }
        Ok(found)
    }

    /// Whether a claim gets its volume with a node.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The bytes that are asked for, and those of the volumes that there are for them on a node: one pair for each class.
    pub(super) fn sums(&self, node: &Node) -> Vec<(i64, i64)> {
        let mut sums: Vec<(&str, (i64, i64))> = Vec::new();
        let mut found = self.found(node).unwrap_or_default();
        let are_made = found.is_empty();
        if are_made {
            found.extend(self.open.iter().filter_map(|open| Some((open, open.space_on(node)?))));
        }
        for (open, volume) in found {
            let (asked, size) = (open.size.value_rounded_up(), volume.whole.value_rounded_up());
            match sums.iter_mut().find(|(class, _)| *class == open.class) {
                // All that are made share the space.
                Some((_, sum)) => {
                    *sum = (sum.0.saturating_add(asked), if are_made { size } else { sum.1.saturating_add(size) });
                }
                None => sums.push((&open.class, (asked, size))),
            }
        }
        sums.into_iter().map(|(_, sum)| sum).collect()
    }
}

impl Open {
    /// Nothing for a claim that has a volume, or none and no class, and where it is not known which volumes there are.
    fn of(cluster: &Cluster, claim: &Bystander) -> Option<Self> {
        let name = class_of(claim).filter(|_| volume_name(claim).is_empty())?;
        let class = cluster.bystanders().get(&("StorageClass".to_owned(), String::new(), name.to_owned()));
        let says = |field: &str| class.and_then(|class| class.rest.get(field)?.as_str()).unwrap_or_default();
        let is_delayed = says("volumeBindingMode") == "WaitForFirstConsumer";
        let makes = !matches!(says("provisioner"), "" | "kubernetes.io/no-provisioner");
        if !makes && !cluster.has_bystanders(volumes::KIND) {
            return None;
        }
        let driver = ("CSIDriver".to_owned(), String::new(), says("provisioner").to_owned());
        let driver = cluster.bystanders().get(&driver);
        let tells = driver.is_some_and(|driver| field(driver, "/storageCapacity").is_some_and(|tells| tells == true));
        // For a claim that asks for no amount there is enough.
        let has_space = tells && field(claim, "/resources/requests/storage").is_some();
        let mut open = Self {
            size: amount(claim, "/resources/requests/storage"),
            claim: claim.metadata.name.clone(),
            class: name.to_owned(),
            is_delayed,
            ways: Ways::of(claim),
            selector: field(claim, "/selector").and_then(read_part),
            own: None,
            free: cluster.free_volumes().clone(),
            space: has_space.then(|| cluster.space().clone()),
            made: class.filter(|_| makes).map(topologies),
            selected: claim
                .metadata
                .annotations
                .get("volume.kubernetes.io/selected-node")
                .filter(|_| is_delayed)
                .cloned(),
        };
        let key = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        let kept = open.free.kept_for(&key).filter_map(|volume| volume_of(cluster, volume));
        let own =
            kept.filter(|volume| is_kept_for(volume, claim)).map(FreeVolume::of).find(|volume| open.is_of_kind(volume));
        open.own = own;
        let is_class_known = class.is_some() || name.is_empty();
        (is_class_known || !open.has_none()).then_some(open)
    }

    /// The volume that it gets with a node.
    fn found(&self, node: &Node, is_left: impl Fn(&FreeVolume) -> bool) -> Option<&FreeVolume> {
        match &self.own {
            _ if self.selected.is_some() => None,
            Some(own) => (is_left(own) && own.nodes.has(node)).then_some(own),
            None => {
                let selector = self.selector();
                let suits = |volume: &FreeVolume| is_left(volume) && self.suits(selector.as_ref(), volume);
                self.free.smallest((&self.class, &self.size), node, suits)
            }
        }
    }

    /// Whether a volume can be made for a node.
    fn is_made_on(&self, node: &Node) -> bool {
        self.selected.as_ref().is_none_or(|selected| *selected == node.metadata.name)
            && self.made.as_ref().is_some_and(|nodes| nodes.has(node))
    }

    /// The space from which a volume is made for a node: the least that is enough, where there are several.
    fn space_on(&self, node: &Node) -> Option<&FreeVolume> {
        self.space.as_ref()?.smallest((&self.class, &self.size), node, |_| true)
    }

    /// Whether no volume that there is will do.
    fn has_none(&self) -> bool {
        self.smallest(|_| true).is_none()
    }

    /// The smallest volume that will do, wherever it is.
    fn smallest(&self, is_left: impl Fn(&FreeVolume) -> bool) -> Option<&FreeVolume> {
        let selector = self.selector();
        let free = self.free.of_class(&self.class).filter(|volume| self.suits(selector.as_ref(), volume));
        let fitting = if self.own.is_some() { None } else { Some(free) }.into_iter().flatten();
        fitting.chain(&self.own).filter(|volume| is_left(volume)).min_by_key(|volume| (&volume.size, &volume.name))
    }

    fn selector(&self) -> Option<Selector> {
        self.selector.as_ref().map(|selector| Selector::of(Some(selector)))
    }

    /// Whether a volume is large enough and of the kind that is asked for.
    fn is_of_kind(&self, volume: &FreeVolume) -> bool {
        let (has, asked) = (&volume.ways, &self.ways);
        volume.size >= self.size && has.mode == asked.mode && has.attributes_class == asked.attributes_class
    }

    /// Whether a volume that is nobody's is what is asked for.
    fn suits(&self, selector: Option<&Selector>, volume: &FreeVolume) -> bool {
        self.is_of_kind(volume)
            && self.ways.access_modes.iter().all(|mode| volume.ways.access_modes.contains(mode))
            && selector.is_none_or(|selector| selector.matches(&volume.labels))
    }
}

/// Whether a volume that names a claim means this one, is of its class, and is not going.
fn is_kept_for(volume: &Bystander, claim: &Bystander) -> bool {
    let uid = text(volume, "/claimRef/uid");
    (uid.is_empty() || uid == claim.metadata.uid)
        && class_of(volume) == class_of(claim)
        && !volume.metadata.is_deleting()
}

/// The nodes for which a class makes volumes.
fn topologies(class: &Bystander) -> Reach {
    let terms = class.rest.get("allowedTopologies").and_then(Value::as_array).filter(|terms| !terms.is_empty());
    let Some(terms) = terms else { return Reach::All };
    let expression = |one: &Value| json!({ "key": one.get("key"), "operator": "In", "values": one.get("values") });
    let term = |term: &Value| {
        let all = term.get("matchLabelExpressions").and_then(Value::as_array).into_iter().flatten();
        json!({ "matchExpressions": all.map(expression).collect::<Vec<_>>() })
    };
    let selector = json!({ "nodeSelectorTerms": terms.iter().map(term).collect::<Vec<_>>() });
    read_part(&selector).map_or(Reach::All, Reach::Selected)
}

/// The volumes that a Pod lists.
pub(crate) fn entries(pod: &Pod) -> impl Iterator<Item = &Value> {
    pod.spec.rest.get("volumes").and_then(Value::as_array).into_iter().flatten()
}

/// The PersistentVolumeClaim of a volume that a Pod lists, if it has one.
pub(crate) fn claim_name(pod: &Pod, entry: &Value) -> Option<String> {
    match entry.pointer("/persistentVolumeClaim/claimName").and_then(Value::as_str) {
        Some(name) => Some(name.to_owned()),
        None => {
            entry.get("ephemeral")?;
            Some(format!("{}-{}", pod.metadata.name, entry.get("name")?.as_str()?))
        }
    }
}

/// A PersistentVolumeClaim of a Pod's namespace.
pub(crate) fn claim<'c>(cluster: &'c Cluster, pod: &Pod, name: &str) -> Option<&'c Bystander> {
    cluster.bystanders().get(&("PersistentVolumeClaim".to_owned(), pod.metadata.namespace.clone(), name.to_owned()))
}

/// The first PersistentVolumeClaim of a Pod that is bound to no volume, or does not exist.
pub(crate) fn unbound(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let is_bound = |name: &str| claim(cluster, pod, name).is_some_and(|claim| !volume_name(claim).is_empty());
    entries(pod).filter_map(|entry| claim_name(pod, entry)).find(|name| !is_bound(name))
}

/// The PersistentVolume that a claim names; empty where it names none.
pub(crate) fn volume_name(claim: &Bystander) -> &str {
    text(claim, "/volumeName")
}

/// What is assumed of a claim without a volume; nothing where that is known.
pub(crate) fn assumed(cluster: &Cluster, claim: &Bystander) -> Option<&'static str> {
    match Open::of(cluster, claim) {
        None => Some("is not bound"),
        Some(open) if open.made.is_some() && open.has_none() => {
            Some("is not bound; its class is assumed to make a volume")
        }
        Some(_) => None,
    }
}

/// The PersistentVolume that a claim is bound to.
pub(crate) fn bound<'c>(cluster: &'c Cluster, claim: &Bystander) -> Option<&'c Bystander> {
    volume_of(cluster, volume_name(claim))
}

/// Whether a claim is bound to a volume that does not exist. Where no volume is given, none is known.
pub(crate) fn lacks_volume(cluster: &Cluster, claim: &Bystander) -> bool {
    let is_lost =
        claim.rest.get("status").is_some_and(|status| status.get("phase").is_some_and(|phase| phase == "Lost"));
    let is_known = is_lost || cluster.has_bystanders(volumes::KIND);
    is_known && !volume_name(claim).is_empty() && bound(cluster, claim).is_none()
}

fn volume_of<'c>(cluster: &'c Cluster, name: &str) -> Option<&'c Bystander> {
    cluster.bystanders().get(&(volumes::KIND.to_owned(), String::new(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::api::object::{Object, read_object};
    use crate::profile::Profile;

    fn read(object: Value) -> Object {
        read_object(object).object.unwrap()
    }

    fn pod(volumes: &Value) -> Arc<Pod> {
        let pod = read(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "d" },
            "spec": { "containers": [{ "name": "c" }], "volumes": volumes } }));
        let Object::Pod(pod) = pod else { panic!("{pod:?}") };
        pod
    }

    /// What a node with these labels has against a Pod whose claim `c` is bound to such a volume.
    fn refusal(labels: &Value, volume: &Value, volumes: &Value) -> Option<Refusal> {
        let mut cluster = Cluster::new(Profile::default());
        let claim = |name: &str, volume: &str| {
            json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name, "namespace": "d" },
                "spec": { "volumeName": volume } })
        };
        let node = read(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n", "labels": labels } }));
        let Object::Node(node) = node else { panic!("{node:?}") };
        for object in
            [claim("c", "v"), claim("p-scratch", "v"), claim("free", ""), claim("lost", "gone"), volume.clone()]
        {
            cluster.apply(read(object));
        }
        Volumes::of(&cluster, &pod(volumes)).refusals(&node).pop()
    }

    fn of_claim(name: &str) -> Value {
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": name } }])
    }

    #[test]
    fn a_volume_keeps_its_pod_on_its_nodes() {
        let term = json!({ "matchExpressions": [{ "key": "rack", "operator": "In", "values": ["r1"] }] });
        let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "v" },
            "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms": [term] } } } });
        let (here, there) = (json!({ "rack": "r1" }), json!({ "rack": "r2" }));
        let scratch = json!([{ "name": "scratch", "ephemeral": {} }]);
        for volumes in [of_claim("c"), scratch] {
            assert_eq!(refusal(&here, &volume, &volumes), None);
            assert_eq!(refusal(&there, &volume, &volumes), Some(Refusal::VolumeNode));
        }
        for volumes in [of_claim("free"), of_claim("unknown"), json!([{ "name": "e", "emptyDir": {} }])] {
            assert_eq!(refusal(&there, &volume, &volumes), None);
        }
        assert_eq!(refusal(&here, &volume, &of_claim("lost")), Some(Refusal::VolumeMissing));
    }

    /// Nodes `a` and `b` in zones of their names, a class, free volumes, and claims of a Pod, all of the class.
    fn open(class: &Value, volumes: &[Value], claims: &[Value]) -> [Vec<Refusal>; 2] {
        let mut cluster = Cluster::new(Profile::default());
        let whole = |kind: &str, name: &str, spec: &Value| {
            let mut spec = spec.clone();
            spec["storageClassName"] = json!("disk");
            spec["accessModes"] = json!(["ReadWriteOnce"]);
            let namespace = if kind == volumes::KIND { "" } else { "d" };
            let metadata = json!({ "name": name, "namespace": namespace });
            read(json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec }))
        };
        let mut storage = class.clone();
        let head = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "disk" } });
        storage.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
        cluster.apply(read(storage));
        for (position, volume) in volumes.iter().enumerate() {
            cluster.apply(whole("PersistentVolume", &format!("v{position}"), volume));
        }
        let mut entries = Vec::new();
        for (position, claim) in claims.iter().enumerate() {
            let name = format!("c{position}");
            cluster.apply(whole("PersistentVolumeClaim", &name, claim));
            entries.push(json!({ "name": name, "persistentVolumeClaim": { "claimName": name } }));
        }
        let volumes = Volumes::of(&cluster, &pod(&json!(entries)));
        ["a", "b"].map(|name| {
            let labels = json!({ "topology.kubernetes.io/zone": name });
            let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": labels } });
            let Object::Node(node) = read(node) else { panic!("{name} is no node") };
            volumes.refusals(&node)
        })
    }

    #[test]
    fn a_claim_that_waits_for_its_pod_needs_a_volume_on_the_node() {
        let waits =
            |provisioner: &str| json!({ "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer" });
        let (local, made) = (waits("kubernetes.io/no-provisioner"), waits("disk.example.com"));
        let zone = |name: &str| {
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                { "key": "topology.kubernetes.io/zone", "operator": "In", "values": [name] }] }] } })
        };
        let volume = |size: &str, name: &str| json!({ "capacity": { "storage": size }, "nodeAffinity": zone(name) });
        let claim = |size: &str| json!({ "resources": { "requests": { "storage": size } } });
        let (fits, none) = (Vec::new(), vec![Refusal::NoVolume]);
        let on_a = [fits.clone(), none.clone()];
        // A volume in the zone, large enough, and one for each claim.
        assert_eq!(open(&local, &[volume("2Gi", "a"), volume("1Gi", "b")], &[claim("2Gi")]), on_a);
        let two = [claim("1Gi"), claim("2Gi")];
        assert_eq!(open(&local, &[volume("2Gi", "a"), volume("1Gi", "a"), volume("2Gi", "b")], &two), on_a);
        // The claim's own, or nobody's.
        let mut owned = volume("1Gi", "a");
        owned["claimRef"] = json!({ "namespace": "d", "name": "other" });
        assert_eq!(open(&local, &[owned.clone()], &[claim("1Gi")]), [none.clone(), none.clone()]);
        owned["claimRef"]["name"] = json!("c0");
        assert_eq!(open(&local, &[owned, volume("1Gi", "b")], &[claim("1Gi")]), on_a);
        // Labels, modes.
        let mut block = volume("1Gi", "a");
        block["volumeMode"] = json!("Block");
        assert_eq!(open(&local, &[block], &[claim("1Gi")]), [none.clone(), none.clone()]);
        let mut labelled = claim("1Gi");
        labelled["selector"] = json!({ "matchLabels": { "tier": "fast" } });
        assert_eq!(open(&local, &[volume("1Gi", "a")], &[labelled]), [none.clone(), none.clone()]);
        // A class makes volumes, maybe in some zones only.
        assert_eq!(open(&made, &[], &[claim("1Gi")]), [fits.clone(), fits.clone()]);
        let mut in_a = made;
        in_a["allowedTopologies"] =
            json!([{ "matchLabelExpressions": [{ "key": "topology.kubernetes.io/zone", "values": ["a", "c"] }] }]);
        assert_eq!(open(&in_a, &[], &[claim("1Gi")]), on_a);
        assert_eq!(open(&in_a, &[volume("1Gi", "b")], &[claim("1Gi")]), [fits.clone(), fits.clone()]);
        // Not known which volumes there are.
        assert_eq!(open(&local, &[], &[claim("1Gi")]), [fits.clone(), fits]);
    }

    #[test]
    fn a_claim_that_waits_for_no_pod_has_the_smallest_volume_wherever_that_is() {
        let zone = |name: &str| {
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                { "key": "topology.kubernetes.io/zone", "operator": "In", "values": [name] }] }] } })
        };
        let volume = |size: &str, name: &str| json!({ "capacity": { "storage": size }, "nodeAffinity": zone(name) });
        let claim = |size: &str| json!({ "resources": { "requests": { "storage": size } } });
        let (fits, elsewhere) = (Vec::new(), vec![Refusal::VolumeNode]);
        let at_once = json!({ "provisioner": "kubernetes.io/no-provisioner" });
        let two = [volume("2Gi", "a"), volume("1Gi", "b")];
        assert_eq!(open(&at_once, &two, &[claim("1Gi")]), [elsewhere.clone(), fits.clone()]);
        assert_eq!(open(&at_once, &two, &[claim("2Gi")]), [fits.clone(), elsewhere.clone()]);
        assert_eq!(open(&at_once, &two, &[claim("1Gi"), claim("1Gi")]), [elsewhere.clone(), elsewhere]);
        let none = vec![Refusal::UnboundClaim { claim: "c0".to_owned() }];
        assert_eq!(open(&at_once, &two, &[claim("3Gi")]), [none.clone(), none]);
        // Not known which volumes there are; its class makes one.
        assert_eq!(open(&at_once, &[], &[claim("3Gi")]), [fits.clone(), fits.clone()]);
        let made = json!({ "provisioner": "disk.example.com" });
        assert_eq!(open(&made, &two, &[claim("3Gi")]), [fits.clone(), fits]);
    }

    #[test]
    fn a_volume_keeps_its_pod_in_its_zones() {
        let (newer, older) = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
        let refused = Some(Refusal::VolumeZone);
        for (label, value, node, expected) in [
            (newer, "za", json!({ newer: "za" }), None),
            (newer, "za", json!({ newer: "zb" }), refused.clone()),
            (newer, "za__zb", json!({ newer: "zb" }), None),
            (older, "za", json!({ newer: "zb" }), refused.clone()),
            (older, "za", json!({ newer: "za" }), None),
            // The node says nothing about zones, or only about its region.
            (newer, "za", json!({ "rack": "r1" }), None),
            (newer, "za", json!({ "topology.kubernetes.io/region": "east" }), refused),
            // Not a list of zones.
            (newer, "za__", json!({ newer: "zb" }), None),
        ] {
            let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": { "name": "v", "labels": { label: value } }, "spec": {} });
            assert_eq!(refusal(&node, &volume, &of_claim("c")), expected, "{label}={value} {node}");
        }
    }
}
