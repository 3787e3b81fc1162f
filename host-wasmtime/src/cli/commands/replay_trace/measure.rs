//! How full the cluster is, and how much of what is free is of use.

use std::collections::BTreeMap;

use super::trace::{Node, Shape};

/// Shapes of Pods that fragmentation is measured by, the most frequent ones.
const MOST_SHAPES: usize = 200;

/// Thousandths of a GPU.
const WHOLE: u64 = 1000;

/// What is left of a node.
#[derive(Debug)]
struct Left {
    cpu_milli: u64,
    memory_mib: u64,
    /// Of each GPU, in thousandths.
    gpus: Vec<u64>,
    model: String,
}

/// All nodes.
#[derive(Debug)]
pub(super) struct Room {
    nodes: Vec<Left>,
    by_name: BTreeMap<String, usize>,
    /// Shapes with GPUs, each with how many Pods have it.
    shapes: Vec<(Shape, u64)>,
    total: u64,
    free: u64,
}

impl Room {
    /// Empty nodes, and the Pods that will come.
    pub(super) fn new(nodes: &[Node], shapes: impl IntoIterator<Item = Shape>) -> Self {
        let mut by_shape: BTreeMap<Shape, u64> = BTreeMap::new();
        for shape in shapes.into_iter().filter(|shape| shape.gpus > 0) {
            let number = by_shape.entry(shape).or_default();
            *number = number.saturating_add(1);
        }
        let mut shapes: Vec<(Shape, u64)> = by_shape.into_iter().collect();
        // Stable: of equally frequent ones the first by their order.
        shapes.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        shapes.truncate(MOST_SHAPES);
        let left = |node: &Node| Left {
            cpu_milli: node.cpu_milli,
            memory_mib: node.memory_mib,
            gpus: (0..node.gpus).map(|_| WHOLE).collect(),
            model: node.model.clone(),
        };
        let total = nodes.iter().map(|node| node.gpus.saturating_mul(WHOLE)).fold(0, u64::saturating_add);
        Self {
            nodes: nodes.iter().map(left).collect(),
            by_name: nodes.iter().enumerate().map(|(index, node)| (node.name.clone(), index)).collect(),
            shapes,
            total,
            free: total,
        }
    }

    /// GPUs in thousandths.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// GPUs in use, in thousandths.
    pub(super) const fn used(&self) -> u64 {
        self.total.saturating_sub(self.free)
    }

    /// A Pod takes its node's CPU and memory, and of these GPUs what it asks for.
    pub(super) fn take(&mut self, node: &str, shape: &Shape, gpus: &[usize]) {
        self.change(node, shape, gpus, u64::saturating_sub);
    }

    /// It gives them back.
    pub(super) fn give(&mut self, node: &str, shape: &Shape, gpus: &[usize]) {
        self.change(node, shape, gpus, u64::saturating_add);
    }

    fn change(&mut self, node: &str, shape: &Shape, gpus: &[usize], by: fn(u64, u64) -> u64) {
        let Some(left) = self.by_name.get(node).and_then(|index| self.nodes.get_mut(*index)) else { return };
        left.cpu_milli = by(left.cpu_milli, shape.cpu_milli);
        left.memory_mib = by(left.memory_mib, shape.memory_mib);
        for gpu in gpus {
            if let Some(free) = left.gpus.get_mut(*gpu) {
                *free = by(*free, shape.gpu_milli);
                self.free = by(self.free, shape.gpu_milli);
            }
        }
    }

    /// Of a hundred free GPUs how many the trace's GPU Pods cannot use, in tenths: for each shape of Pods, as often as there are such
    /// Pods, all of a node's free GPUs where the Pod does not fit, else those with too little left for it.
    ///
    /// Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 3.2, as a share of what is free.
    pub(super) fn fragmentation(&self) -> u64 {
        let weights: u128 = self.shapes.iter().map(|(_, number)| u128::from(*number)).sum();
        let all = weights.saturating_mul(u128::from(self.free));
        let of_use: u128 = self
            .shapes
            .iter()
            .map(|(shape, number)| {
                let free: u64 = self.nodes.iter().map(|left| left.of_use(shape)).fold(0, u64::saturating_add);
                u128::from(free).saturating_mul(u128::from(*number))
            })
            .sum();
        let lost = all.saturating_sub(of_use).saturating_mul(1000);
        lost.checked_div(all).and_then(|lost| u64::try_from(lost).ok()).unwrap_or_default()
    }
}

impl Left {
    /// Free thousandths of GPUs that are of use to such a Pod.
    fn of_use(&self, shape: &Shape) -> u64 {
        let has_room = self.cpu_milli >= shape.cpu_milli && self.memory_mib >= shape.memory_mib;
        if !has_room || !(shape.models.is_empty() || shape.models.contains(&self.model)) {
            return 0;
        }
        let able = self.gpus.iter().filter(|free| **free >= shape.gpu_milli);
        let (number, free) =
            able.fold((0_u64, 0_u64), |(number, sum), free| (number.saturating_add(1), sum.saturating_add(*free)));
        if number >= shape.gpus { free } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, gpus: u64, model: &str) -> Node {
        Node { name: name.to_owned(), cpu_milli: 8000, memory_mib: 1024, gpus, model: model.to_owned() }
    }

    fn shape(gpus: u64, gpu_milli: u64, models: &[&str]) -> Shape {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        Shape { cpu_milli: 1000, memory_mib: 1, gpus, gpu_milli, models }
    }

    #[test]
    fn what_is_free_in_pieces_is_fragmented() {
        let mut room = Room::new(&[node("a", 2, "x")], [shape(1, 500, &[])]);
        assert_eq!((room.total(), room.used(), room.fragmentation()), (2000, 0, 0));
        room.take("a", &shape(1, 600, &[]), &[0]);
        // 400 of the 1400 that are free are too little for a half.
        assert_eq!((room.used(), room.fragmentation()), (600, 285));
        room.give("a", &shape(1, 600, &[]), &[0]);
        assert_eq!((room.used(), room.fragmentation()), (0, 0));
    }

    #[test]
    fn where_cpu_number_or_model_is_missing_all_is_fragmented() {
        let nodes = [node("a", 2, "x"), node("b", 2, "y")];
        assert_eq!(Room::new(&nodes, [shape(4, 1000, &[])]).fragmentation(), 1000);
        assert_eq!(Room::new(&nodes, [shape(1, 1000, &["y"])]).fragmentation(), 500);
        let mut room = Room::new(&nodes, [shape(1, 1000, &[])]);
        room.take("a", &Shape { cpu_milli: 7500, ..shape(0, 0, &[]) }, &[]);
        assert_eq!(room.fragmentation(), 500);
        // Without GPU Pods there is nothing to measure by.
        assert_eq!(Room::new(&nodes, [shape(0, 0, &[])]).fragmentation(), 0);
    }
}
