//! PersistentVolumes that a claim may still get, found by what the claim asks for and by the node of its Pod.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Key, SharedMap};
use crate::api::node::{Node, NodeSelector};
use crate::api::others::Bystander;
use crate::api::quantity::Quantity;
use crate::api::read::{Json, Path};

/// The kind of volumes.
pub(crate) const KIND: &str = "PersistentVolume";

/// The kind that says how much space there is for new ones.
pub(super) const SPACE: &str = "CSIStorageCapacity";

/// StorageClass, key and value of a node label, size, name of a volume. Key and value are empty if no single label says where the volume is.
type Place = (String, String, String, Quantity, String);

/// Free volumes, and volumes that are kept for a claim. Two states are equal if no volume came between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeVolumes {
    by_place: SharedMap<Place, FreeVolume>,
    /// Keys of claims, each with the name of a volume that names the claim.
    kept: SharedMap<(Key, String), ()>,
    /// How many volumes came.
    came: u64,
}

impl PartialEq for FreeVolumes {
    fn eq(&self, other: &Self) -> bool {
        self.came == other.came
    }
}

/// What claims and nodes ask of a volume.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FreeVolume {
    pub(crate) name: String,
    pub(crate) size: Quantity,
    /// How much there is, of which a volume that is made takes some.
    pub(crate) whole: Quantity,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) nodes: Reach,
    pub(crate) ways: Ways,
}

/// In which ways a volume can be used, or has to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ways {
    pub(crate) mode: String,
    pub(crate) attributes_class: String,
    pub(crate) access_modes: Vec<String>,
}

impl Ways {
    /// Of a volume or a claim.
    pub(crate) fn of(object: &Bystander) -> Self {
        let access_modes = field(object, "/accessModes").and_then(Value::as_array).into_iter().flatten();
        Self {
            mode: field(object, "/volumeMode").and_then(Value::as_str).unwrap_or("Filesystem").to_owned(),
            attributes_class: text(object, "/volumeAttributesClassName").to_owned(),
            access_modes: access_modes.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }
}

/// Nodes where something can be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reach {
    /// All of them.
    All,
    /// Those with one of the values of a label, which is what most volumes say.
    With(String, Vec<String>),
    /// Those that are selected.
    Selected(NodeSelector),
}

impl Reach {
    /// Of a volume.
    pub(crate) fn of(volume: &Bystander) -> Self {
        field(volume, "/nodeAffinity/required").map_or(Self::All, Self::selected)
    }

    /// Those that a node selector selects.
    pub(crate) fn selected(required: &Value) -> Self {
        Self::of_label(required).or_else(|| read_part(required).map(Self::Selected)).unwrap_or(Self::All)
    }

    /// Those that a label selector selects.
    fn labelled(selector: &Value) -> Self {
        let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
        let labels = labels.map(|(key, value)| json!({ "key": key, "operator": "In", "values": [value] }));
        let expressions = selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten().cloned();
        let all: Vec<Value> = labels.chain(expressions).collect();
        match all.is_empty() {
            true => Self::All,
            false => Self::selected(&json!({ "nodeSelectorTerms": [{ "matchExpressions": all }] })),
        }
    }

    fn of_label(required: &Value) -> Option<Self> {
        let [term] = required.get("nodeSelectorTerms")?.as_array()?.as_slice() else { return None };
        let (None, Some(all)) = (term.get("matchFields"), term.get("matchExpressions")?.as_array()) else {
            return None;
        };
        let [one] = all.as_slice() else { return None };
        let values: Option<Vec<String>> =
            one.get("values")?.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect();
        (one.get("operator")? == "In").then_some(Self::With(one.get("key")?.as_str()?.to_owned(), values?))
    }

    /// Whether a node is among them.
    pub(crate) fn has(&self, node: &Node) -> bool {
        match self {
            Self::All => true,
            Self::With(key, values) => node.metadata.labels.get(key).is_some_and(|value| values.contains(value)),
            Self::Selected(selector) => super::node_selector::matches(selector, node).unwrap_or_default(),
        }
    }
}

impl FreeVolume {
    /// What a volume says.
    pub(crate) fn of(volume: &Bystander) -> Self {
        Self {
            name: volume.metadata.name.clone(),
            size: amount(volume, "/capacity/storage"),
            whole: amount(volume, "/capacity/storage"),
            labels: volume.metadata.labels.clone(),
            nodes: Reach::of(volume),
            ways: Ways::of(volume),
        }
    }

    /// What a CSIStorageCapacity says; nothing where no node can use it, or it is not said how much there is.
    fn of_space(space: &Bystander) -> Option<Self> {
        let amount = |name: &str| space.rest.get(name).and_then(read_part::<Quantity>);
        Some(Self {
            name: format!("{}/{}", space.metadata.namespace, space.metadata.name),
            size: amount("maximumVolumeSize").or_else(|| amount("capacity"))?,
            whole: amount("capacity").unwrap_or_default(),
            labels: BTreeMap::new(),
            nodes: Reach::labelled(space.rest.get("nodeTopology").filter(|topology| !topology.is_null())?),
            ways: Ways { mode: String::new(), attributes_class: String::new(), access_modes: Vec::new() },
        })
    }

    fn places(&self, class: &str) -> Vec<Place> {
        let place = |key: &str, value: &str| {
            (class.to_owned(), key.to_owned(), value.to_owned(), self.size.clone(), self.name.clone())
        };
        match &self.nodes {
            Reach::With(key, values) if !key.is_empty() => values.iter().map(|value| place(key, value)).collect(),
            _ => vec![place("", "")],
        }
    }
}

impl FreeVolumes {
    /// Adds a volume, or takes it out again.
    pub(super) fn count(&mut self, volume: &Bystander, is_added: bool) {
        if let Some(claim) = owner_of(volume) {
            let key = (claim, volume.metadata.name.clone());
            if is_added {
                self.kept.insert(key, ());
                self.came = self.came.saturating_add(1);
            } else {
                self.kept.remove(&key);
            }
            return;
        }
        let phase = volume.rest.get("status").and_then(|status| status.get("phase"));
        // A volume of a manifest has no phase yet.
        let is_free = phase.is_none_or(|phase| phase == "Available") && !volume.metadata.is_deleting();
        if !is_free {
            return;
        }
        self.put(class_of(volume).unwrap_or_default(), &FreeVolume::of(volume), is_added);
    }

    /// Adds space for volumes that are made, or takes it out again.
    pub(super) fn count_space(&mut self, space: &Bystander, is_added: bool) {
        let class = space.rest.get("storageClassName").and_then(Value::as_str).unwrap_or_default();
        FreeVolume::of_space(space).into_iter().for_each(|free| self.put(class, &free, is_added));
    }

    fn put(&mut self, class: &str, free: &FreeVolume, is_added: bool) {
        for place in free.places(class) {
            if is_added {
                self.by_place.insert(place, free.clone());
                self.came = self.came.saturating_add(1);
            } else {
                self.by_place.remove(&place);
            }
        }
    }

    /// The names of the volumes that are kept for a claim.
    pub(crate) fn kept_for(&self, claim: &Key) -> impl Iterator<Item = &str> {
        let own = self.kept.range_from(&(claim.clone(), String::new())).take_while(move |((key, _), ())| key == claim);
        own.map(|((_, name), ())| name.as_str())
    }

    /// All of a class, in no order that means anything.
    pub(crate) fn of_class(&self, class: &str) -> impl Iterator<Item = &FreeVolume> {
        let all = self.by_place.range_from(&first((class, "", ""), Quantity::default()));
        all.take_while(move |((of, ..), _)| of == class).map(|(_, volume)| volume)
    }

    /// The smallest volume of a class that is not smaller than a size, can be used on a node, and suits; the first by name of equal ones.
    pub(crate) fn smallest(
        &self,
        (class, size): (&str, &Quantity),
        node: &Node,
        suits: impl Fn(&FreeVolume) -> bool,
    ) -> Option<&FreeVolume> {
        let mut best: Option<&FreeVolume> = None;
        let mut from = first((class, "", ""), Quantity::default());
        while let Some(((of, key, ..), _)) = self.by_place.range_from(&from).next()
            && of == class
        {
            let value = if key.is_empty() { Some("") } else { node.metadata.labels.get(key).map(String::as_str) };
            if let Some(value) = value {
                let all = self.by_place.range_from(&first((class, key, value), size.clone()));
                let here = all.take_while(|((of, label, has, ..), _)| of == class && label == key && has == value);
                let found = here.map(|(_, volume)| volume).find(|volume| volume.nodes.has(node) && suits(volume));
                best = best.into_iter().chain(found).min_by_key(|volume| (&volume.size, &volume.name));
            }
            from = first((class, &format!("{key}\0"), ""), Quantity::default());
        }
        best
    }
}

fn first((class, key, value): (&str, &str, &str), size: Quantity) -> Place {
    (class.to_owned(), key.to_owned(), value.to_owned(), size, String::new())
}

/// The claim that a volume names.
fn owner_of(volume: &Bystander) -> Option<Key> {
    field(volume, "/claimRef")?;
    Some((text(volume, "/claimRef/namespace").to_owned(), text(volume, "/claimRef/name").to_owned()))
}

/// A field of the `spec`, by its pointer.
pub(crate) fn field<'b>(object: &'b Bystander, pointer: &str) -> Option<&'b Value> {
    let mut names = pointer.split('/').skip(1);
    names.try_fold(object.rest.get("spec")?, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// A text of the `spec`; empty where there is none.
pub(crate) fn text<'b>(object: &'b Bystander, pointer: &str) -> &'b str {
    field(object, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// An amount of the `spec`; zero where there is none.
pub(crate) fn amount(object: &Bystander, pointer: &str) -> Quantity {
    field(object, pointer).and_then(read_part).unwrap_or_default()
}

/// The class of a claim or a volume.
pub(crate) fn class_of(object: &Bystander) -> Option<&str> {
    let older = object.metadata.annotations.get("volume.beta.kubernetes.io/storage-class").map(String::as_str);
    older.or_else(|| field(object, "/storageClassName")?.as_str())
}

pub(crate) fn read_part<T: Json>(value: &Value) -> Option<T> {
    T::read(value.clone(), &Path::ROOT, &mut Vec::new()).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::api::object::{Object, read_object};
    use crate::cluster::Cluster;
    use crate::finding::ObjectRef;
    use crate::profile::Profile;

    fn read(object: Value) -> Object {
        read_object(object).object.unwrap()
    }

    fn volume(name: &str, size: &str, zones: &[&str], claim: Option<&str>) -> Object {
        let term = json!({ "matchExpressions": [{ "key": "zone", "operator": "In", "values": zones }] });
        let nodes = json!({ "required": { "nodeSelectorTerms": [term] } });
        let claim = claim.map(|name| json!({ "namespace": "d", "name": name }));
        read(
            json!({ "apiVersion": "v1", "kind": KIND, "metadata": { "name": name }, "spec": { "storageClassName": "disk",
            "capacity": { "storage": size }, "nodeAffinity": if zones.is_empty() { Value::Null } else { nodes }, "claimRef": claim } }),
        )
    }

    #[test]
    fn the_smallest_free_volume_of_a_node_is_found() {
        let mut cluster = Cluster::new(Profile::default());
        let found = |cluster: &Cluster, size: &str, zone: &str| {
            let labels = json!({ "zone": zone });
            let node =
                read(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n", "labels": labels } }));
            let Object::Node(node) = node else { panic!("{node:?}") };
            let size = Quantity::parse(size).unwrap();
            let volumes = cluster.free_volumes();
            volumes.smallest(("disk", &size), &node, |_| true).map(|volume| volume.name.clone())
        };
        for volume in [
            volume("large", "4Gi", &[], None),
            volume("here", "2Gi", &["a", "b"], None),
            volume("same", "2Gi", &["a"], None),
            volume("small", "1Gi", &["a"], None),
        ] {
            cluster.apply(volume);
        }
        assert_eq!(found(&cluster, "1Gi", "a").as_deref(), Some("small"));
        assert_eq!(found(&cluster, "1025Mi", "a").as_deref(), Some("here"));
        assert_eq!(found(&cluster, "1Gi", "c").as_deref(), Some("large"));
        assert_eq!(found(&cluster, "5Gi", "a"), None);
        cluster.apply(volume("here", "2Gi", &["a", "b"], Some("data")));
        assert_eq!(found(&cluster, "2Gi", "a").as_deref(), Some("same"));
        assert_eq!(found(&cluster, "2Gi", "b").as_deref(), Some("large"));
        let data = ("d".to_owned(), "data".to_owned());
        assert_eq!(cluster.free_volumes().kept_for(&data).collect::<Vec<_>>(), ["here"]);
        cluster.delete(&ObjectRef::new(KIND, "", "here"));
        cluster.delete(&ObjectRef::new(KIND, "", "large"));
        assert_eq!(cluster.free_volumes().kept_for(&data).count(), 0);
        assert_eq!(found(&cluster, "3Gi", "a"), None);
        let Some(Object::PersistentVolume(mut same)) = cluster.get(&ObjectRef::new(KIND, "", "same")) else {
            panic!("no volume")
        };
        Arc::make_mut(&mut same).metadata.deletion_timestamp = "2026-01-01T00:00:00Z".to_owned();
        cluster.apply(Object::PersistentVolume(same));
        assert_eq!(found(&cluster, "2Gi", "a"), None);
    }
}
