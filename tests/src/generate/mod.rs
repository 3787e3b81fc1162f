//! Seeded scenarios in the schema of the allocation vectors: small clusters in which every feature meets every other.

mod claims;
mod dice;
mod expressions;
mod functions;
pub mod histories;
mod literals;
pub mod places;
mod pools;
pub mod requests;
mod signatures;

use serde_json::{Map, Value, json};

use crate::reference::Release;
use dice::Dice;
pub use expressions::selector;

/// Which generator made a case: it goes up with each change of what a seed makes, and all seeds are recorded again.
pub const GENERATOR: u32 = 2;

const DRIVERS: [&str; 3] = ["a.example.com", "b.example.com", "c.example.com"];
const MODELS: [&str; 3] = ["small", "medium", "large"];

/// The features of one scenario, and what it dwells on.
struct Features {
    on: Map<String, Value>,
    release: Release,
    theme: Theme,
}

/// What a scenario has more of than others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Theme {
    /// A little of everything.
    Mixed,
    /// Partitions that draw from counter sets.
    Counters,
    /// Shared devices and capacity.
    Capacity,
    /// Constraints, over lists where the feature is on.
    Constraints,
    /// Pools that are incomplete, outdated or invalid.
    Pools,
    /// Many devices, mode `All`, the limit of a claim.
    Limits,
    /// Many claims at once.
    Claims,
    /// Pools of dozens of devices.
    Large,
    /// Several nodes, tried in order.
    Nodes,
    /// Amounts at the borders of what a device's policy allows.
    Borders,
}

impl Features {
    fn on(&self, name: &str) -> bool {
        self.on.get(name) == Some(&Value::Bool(true))
    }

    fn is(&self, theme: Theme) -> bool {
        self.theme == theme
    }

    /// Whether it dwells on shares.
    fn is_of_shares(&self) -> bool {
        self.is(Theme::Capacity) || self.is(Theme::Borders)
    }

    /// Whether the release has what the vectors do not know yet.
    fn is_next(&self) -> bool {
        self.release.is_next()
    }
}

/// Features of the vectors, with the chance of each in percent.
const KNOWN: [(&str, u64); 7] = [
    ("adminAccess", 70),
    ("consumableCapacity", 70),
    ("deviceBindingAndStatus", 70),
    ("deviceTaints", 70),
    ("listTypeAttributes", 30),
    ("partitionableDevices", 75),
    ("prioritizedList", 75),
];

/// Features that came with 1.37.
const NEXT: [(&str, u64); 4] = [
    ("compatibilityGroups", 60),
    ("derivedAttributes", 60),
    ("fractionalCapacityRange", 60),
    ("optionalNodeOperations", 60),
];

/// Makes the scenario of a seed; the same seed and release make the same scenario for ever.
pub fn scenario(seed: u64, release: Release) -> Value {
    let mut dice = Dice(seed.wrapping_mul(2) + u64::from(release.is_next()));
    let themes = [
        Theme::Mixed,
        Theme::Mixed,
        Theme::Counters,
        Theme::Capacity,
        Theme::Constraints,
        Theme::Pools,
        Theme::Limits,
        Theme::Claims,
        Theme::Large,
        Theme::Nodes,
        Theme::Borders,
    ];
    let theme = dice.pick(&themes).copied().unwrap_or(Theme::Mixed);
    let mut on = Map::new();
    let next = if release.is_next() { &NEXT[..] } else { &[] };
    for (name, likely) in KNOWN.iter().chain(next) {
        on.insert((*name).to_owned(), Value::Bool(dice.chance(*likely)));
    }
    let needed = match theme {
        Theme::Counters => "partitionableDevices",
        Theme::Capacity | Theme::Borders => "consumableCapacity",
        Theme::Constraints => "listTypeAttributes",
        _ => "prioritizedList",
    };
    if theme != Theme::Mixed && dice.chance(80) {
        on.insert(needed.to_owned(), Value::Bool(true));
    }
    let features = Features { on, release, theme };
    let mut slices = Vec::new();
    let mut devices = Vec::new();
    for pool in 0..dice.between(2, 5) {
        pools::make(&mut dice, &features, pool, &mut slices, &mut devices);
    }
    let (in_use, shares, consumed) = pools::usage(&mut dice, &features, &devices);
    let classes: Vec<Value> = ["any", "picky"].iter().map(|name| claims::class(&mut dice, &features, name)).collect();
    let claims: Vec<Value> = {
        let most = if features.is(Theme::Claims) { 10 } else { 3 };
        let count = if dice.below(300) == 0 { 0 } else { dice.between(1, most) };
        (0..count).map(|index| claims::claim(&mut dice, &features, index)).collect()
    };
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "node-0", "labels": { "zone": "z0", "cores": "8", "kubernetes.io/hostname": "node-0" } },
    });
    if let (true, Some(map)) = (features.is_next() && dice.chance(70), node.as_object_mut()) {
        map.insert("status".to_owned(), json!({ "declaredFeatures": ["DRAOptionalNodeOperations"] }));
    }
    let mut scenario = json!({
        "id": format!("seed-{seed}"),
        "source": "generated",
        "theme": format!("{theme:?}"),
        "version": release.to_string(),
        "features": features.on,
        "node": &node,
        "classes": classes,
        "claims": claims,
        "slices": slices,
        "allocatedDevices": in_use,
        "allocatedSharedDevices": shares,
        "consumedCapacity": consumed,
    });
    if features.is(Theme::Nodes)
        && let Some(map) = scenario.as_object_mut()
    {
        let nodes: Vec<Value> = (0..dice.between(2, 4)).map(|index| node_like(&mut dice, &node, index)).collect();
        map.insert("nodes".to_owned(), json!(nodes));
    }
    scenario
}

/// One of several nodes, some of which pools know by name and some not.
fn node_like(dice: &mut Dice, first: &Value, index: u64) -> Value {
    let mut node = first.clone();
    let name = format!("node-{index}");
    if let Some(metadata) = node.get_mut("metadata") {
        *metadata = json!({ "name": name, "labels": {
            "zone": dice.word(&["z0", "z1", "z2"]), "cores": dice.word(&["4", "8", "16"]), "kubernetes.io/hostname": name,
        } });
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_scenario_every_time() {
        assert_eq!(scenario(7, Release::V1_36), scenario(7, Release::V1_36));
        assert_ne!(scenario(7, Release::V1_36), scenario(8, Release::V1_36));
        assert_ne!(scenario(7, Release::V1_36), scenario(7, Release::V1_37));
        assert_eq!(selector(7, Release::V1_36), selector(7, Release::V1_36));
    }
}
