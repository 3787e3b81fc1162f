//! Which nodes are compared in `reference` mode: of a large cluster only as many as kube-scheduler takes to be enough. It takes nodes from
//! each zone in turn, and begins where it stopped for the Pod before.
//!
//! kube-scheduler looks at several nodes at the same time, and may therefore stop a few nodes later.
//!
//! Source: `pkg/scheduler/schedule_one.go`, `pkg/scheduler/backend/cache/node_tree.go`.

use super::node_cache::NodeCache;
use crate::api::node::Node;
use crate::arrange::Arrange;
use crate::cluster::Key;

/// Of so few nodes all are compared, and of more never fewer.
const FEWEST: usize = 100;

/// The nodes to look at, and how many of them.
pub(super) struct Sample {
    /// By position of nodes: how many are looked at before each.
    before: Vec<usize>,
    /// So many nodes that fit are enough.
    pub(super) enough: usize,
}

impl Sample {
    /// How many nodes are looked at before the one at a position.
    pub(super) fn before(&self, position: usize) -> usize {
        self.before.get(position).copied().unwrap_or_default()
    }
}

impl NodeCache {
    /// The next sample, of so many percent; `None` where all nodes are compared.
    pub(super) fn sample(&self, percentage: Option<i64>) -> Option<Sample> {
        let count = self.nodes.len();
        let enough = enough(percentage, count);
        if enough >= count {
            return None;
        }
        let mut before = vec![0; count];
        let order = self.turns();
        for (number, position) in order.iter().cycle().skip(self.turn).take(count).enumerate() {
            before.get_mut(*position).into_iter().for_each(|before| *before = number);
        }
        Some(Sample { before, enough })
    }

    /// Begins the next sample so many nodes later.
    pub(super) fn go_on_after(&mut self, looked_at: usize) {
        self.turn = self.turn.saturating_add(looked_at).checked_rem(self.nodes.len()).unwrap_or_default();
    }

    /// Positions of nodes, one of each zone in turn. Nodes are in the order of their names, zones in that of their first nodes.
    fn turns(&self) -> Vec<usize> {
        let mut nodes: Vec<(Key, usize)> = self.nodes.iter().map(|state| zone(&state.node)).zip(0..).collect();
        nodes.arrange();
        // The number of a node in its zone, and the first node of that.
        let turn = |zone: &[(Key, usize)]| {
            let first = zone.first().map(|(_, position)| *position);
            zone.iter().enumerate().map(|(number, (_, position))| (number, first, *position)).collect::<Vec<_>>()
        };
        let mut turns: Vec<_> = nodes.chunk_by(|(one, _), (other, _)| one == other).flat_map(turn).collect();
        turns.arrange();
        turns.into_iter().map(|(.., position)| position).collect()
    }
}

/// Region and zone.
fn zone(node: &Node) -> Key {
    let label = |older: &str, newer: &str| {
        let labels = &node.metadata.labels;
        labels.get(newer).or_else(|| labels.get(older)).cloned().unwrap_or_default()
    };
    (
        label("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        label("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    )
}

/// How many nodes that fit are enough. Without a percentage, or with 0, the share falls from 50 percent to 5 as clusters grow.
fn enough(percentage: Option<i64>, nodes: usize) -> usize {
    if nodes < FEWEST {
        return nodes;
    }
    let given = percentage.and_then(|given| usize::try_from(given).ok()).filter(|given| *given > 0);
    let percentage = given.unwrap_or_else(|| 50_usize.saturating_sub(nodes / 125).max(5));
    (nodes.saturating_mul(percentage) / 100).max(FEWEST)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::object::read_object;
    use crate::decision::Trigger;

    fn cache(count: usize) -> NodeCache {
        let mut cache = NodeCache::default();
        for number in 0..count {
            // A third is in the one zone, the others in the other.
            let zone = if number % 3 == 0 { "a" } else { "b" };
            let name = format!("n{number:03}");
            let labels = json!({ "topology.kubernetes.io/zone": zone });
            let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": labels } });
            let node = read_object(node).object.unwrap();
            cache.note(&Trigger { before: None, after: Some(Box::new(node)) });
        }
        cache
    }

    #[test]
    fn large_clusters_are_compared_in_part() {
        let cases = [(None, 99, 99), (None, 100, 100), (None, 1000, 420), (None, 6000, 300), (Some(0), 1000, 420)];
        let given = [(Some(10), 2000, 200), (Some(10), 500, 100), (Some(100), 500, 500)];
        for (percentage, nodes, expected) in cases.into_iter().chain(given) {
            assert_eq!(enough(percentage, nodes), expected, "{percentage:?} of {nodes}");
        }
    }

    #[test]
    fn zones_take_turns_and_the_next_sample_begins_where_the_last_one_stopped() {
        let mut cache = cache(300);
        assert_eq!(cache.turns()[..6], [0, 1, 3, 2, 6, 4]);
        assert_eq!(cache.turns()[298..], [298, 299]);
        let sample = cache.sample(None).unwrap();
        assert_eq!((sample.enough, sample.before(3)), (144, 2));
        cache.go_on_after(299);
        let sample = cache.sample(None).unwrap();
        assert_eq!((sample.before(299), sample.before(0), sample.before(3)), (0, 1, 3));
        assert!(cache.sample(Some(100)).is_none());
    }
}
