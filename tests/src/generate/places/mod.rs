//! Seeded clusters in which one Pod asks for a node: everything that kube-scheduler's plugins look at meets everything else.
//!
//! Objects have what the API server would have set by default, because a scheduler that is asked directly sees no defaults.

mod configuration;
mod devices;
mod nodes;
mod pods;
mod volumes;

use apportion_core::profile::Version;
use serde_json::{Map, Value, json};

use super::dice::Dice;

/// Namespaces, with a label.
const NAMESPACES: [(&str, &str); 3] = [("default", "red"), ("other", "red"), ("third", "blue")];

/// Namespace and name of the Pod that asks.
pub const ASKING: (&str, &str) = ("default", "asking");

/// What a cluster has more of than others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Theme {
    /// A little of everything.
    Mixed,
    /// Requests that fill nodes.
    Resources,
    /// Taints, tolerations, unschedulable nodes.
    Taints,
    /// Node selectors and node affinity.
    Affinity,
    /// Affinity and anti-affinity between Pods.
    Neighbours,
    /// Topology spread.
    Spread,
    /// Spread by default, of Pods with Services and owners.
    Alike,
    /// Images.
    Images,
    /// Host ports.
    Ports,
    /// Pods of lower priority that may go.
    Preemption,
    /// Claims and slices.
    Devices,
    /// Prioritised lists.
    Alternatives,
    /// Declared features.
    Features,
}

impl Theme {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Mixed,
        Self::Resources,
        Self::Taints,
        Self::Affinity,
        Self::Neighbours,
        Self::Spread,
        Self::Alike,
        Self::Images,
        Self::Ports,
        Self::Preemption,
        Self::Devices,
        Self::Alternatives,
        Self::Features,
    ];
}

/// What a cluster is made from.
struct Maker {
    dice: Dice,
    theme: Theme,
    /// Whose kube-scheduler is asked.
    version: Version,
    objects: Vec<Value>,
    /// Names of the nodes.
    nodes: Vec<String>,
}

impl Maker {
    /// True in so many of a hundred cases of the theme, and in few others.
    fn dwells(&mut self, theme: Theme, percent: u64) -> bool {
        let percent = if self.theme == theme { percent } else { percent / 8 };
        self.dice.chance(percent)
    }

    fn push(&mut self, api_version: &str, kind: &str, mut object: Value) {
        if let Some(map) = object.as_object_mut() {
            map.insert("apiVersion".to_owned(), json!(api_version));
            map.insert("kind".to_owned(), json!(kind));
        }
        self.objects.push(object);
    }
}

/// Makes the cluster of a seed; the same seed makes the same one for ever, except for what the version does not have.
pub fn cluster(seed: u64, version: Version) -> Value {
    let mut dice = Dice(seed);
    let theme = dice.pick(&Theme::ALL).copied().unwrap_or(Theme::Mixed);
    let mut maker = Maker { dice, theme, version, objects: Vec::new(), nodes: Vec::new() };
    for (name, team) in NAMESPACES {
        let labels = json!({ "kubernetes.io/metadata.name": name, "team": team });
        maker.push("v1", "Namespace", json!({ "metadata": { "name": name, "labels": labels } }));
    }
    maker.make_nodes();
    maker.make_device_supply();
    maker.make_running_pods();
    maker.make_budgets();
    maker.make_asking_pod();
    let has_volumes = maker.make_volumes(seed);
    let configuration = if maker.dice.chance(25) { maker.configuration() } else { Value::Null };
    Value::Object(without_nulls(json!({
        "schedulerConfiguration": configuration,
        "id": format!("places-{seed}"),
        "theme": if has_volumes { "Volumes".to_owned() } else { format!("{theme:?}") },
        "objects": maker.objects,
        "namespace": ASKING.0,
        "pod": ASKING.1,
    })))
}

/// A map without the fields that are `null`.
fn without_nulls(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_cluster_every_time() {
        assert_eq!(cluster(7, Version::V1_37), cluster(7, Version::V1_37));
        assert_ne!(cluster(7, Version::V1_37), cluster(8, Version::V1_37));
    }
}
