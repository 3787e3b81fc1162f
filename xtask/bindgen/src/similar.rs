//! An order in which functions with much equal code are near each other, because compressors find what is repeated within a short distance only.
//!
//! Source: Dhulipala and others, "Compressing graphs and indexes with recursive graph bisection", 2016. The functions are halved again and again.
//! At each halving those change sides that share more with the other half.
#![expect(clippy::indexing_slicing, reason = "positions come from the lists that they are for")]

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// So few need no better order than the one they came in.
const FEW: usize = 16;

/// How often functions change sides at most.
const ROUNDS: usize = 20;

struct Item {
    /// Where it stood at first.
    position: usize,
    /// The numbers of its parts, each once.
    parts: Vec<usize>,
    is_right: bool,
}

/// The positions of the lists of parts in their new order. Lists with nothing in common keep the order they have.
pub(crate) fn order<P: Eq + Hash>(lists: Vec<Vec<P>>) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let mut items: Vec<Item> = lists
        .into_iter()
        .enumerate()
        .map(|(position, list)| {
            let mut parts: Vec<usize> = list
                .into_iter()
                .map(|part| {
                    let next = numbers.len();
                    *numbers.entry(part).or_insert(next)
                })
                .collect();
            parts.sort_unstable();
            parts.dedup();
            Item { position, parts, is_right: false }
        })
        .collect();
    let costs: Vec<i64> = (0..=items.len()).map(|count| count as i64 * logarithm(count as u64 + 1)).collect();
    halve(&mut items, &costs);
    items.into_iter().map(|item| item.position).collect()
}

fn halve(items: &mut [Item], costs: &[i64]) {
    if items.len() <= FEW {
        return;
    }
    let middle = items.len() / 2;
    let mut counts = shared(items);
    for (at, item) in items.iter_mut().enumerate() {
        item.is_right = at >= middle;
        for part in &item.parts {
            counts[*part][usize::from(item.is_right)] += 1;
        }
    }
    for _ in 0..ROUNDS {
        // What it saves when one function with this part leaves the left half, and the right one.
        let saved = |[left, right]: [usize; 2]| {
            let of = |left: usize, right: usize| -costs[left] - costs[right];
            let now = of(left, right);
            [
                if left > 0 { now - of(left - 1, right + 1) } else { 0 },
                if right > 0 { now - of(left + 1, right - 1) } else { 0 },
            ]
        };
        let saved: Vec<[i64; 2]> = counts.iter().copied().map(saved).collect();
        let mut moves = [Vec::new(), Vec::new()];
        for (at, item) in items.iter().enumerate() {
            let side = usize::from(item.is_right);
            moves[side].push((item.parts.iter().map(|part| saved[*part][side]).sum::<i64>(), at));
        }
        moves.iter_mut().for_each(|moves| moves.sort_unstable_by_key(|(gain, at)| (-gain, *at)));
        let [left, right] = moves;
        let better: Vec<_> =
            left.into_iter().zip(right).take_while(|((there, _), (back, _))| there + back > 0).collect();
        if better.is_empty() {
            break;
        }
        for at in better.into_iter().flat_map(|((_, left), (_, right))| [left, right]) {
            let item = &mut items[at];
            for part in &item.parts {
                counts[*part][usize::from(item.is_right)] -= 1;
                counts[*part][usize::from(!item.is_right)] += 1;
            }
            item.is_right = !item.is_right;
        }
    }
    items.sort_unstable_by_key(|item| (item.is_right, item.position));
    let (left, right) = items.split_at_mut(middle);
    halve(left, costs);
    halve(right, costs);
}

/// Numbers the parts anew, those that some but not all have, and returns room to count each on both sides.
fn shared(items: &mut [Item]) -> Vec<[usize; 2]> {
    let mut uses = BTreeMap::new();
    for part in items.iter().flat_map(|item| &item.parts) {
        *uses.entry(*part).or_insert(0) += 1;
    }
    uses.retain(|_, count| *count > 1 && *count < items.len());
    let numbers: HashMap<usize, usize> = uses.into_keys().zip(0..).collect();
    for item in items {
        item.parts = item.parts.iter().filter_map(|part| numbers.get(part).copied()).collect();
    }
    vec![[0; 2]; numbers.len()]
}

/// The binary logarithm in parts of 1,024, without floating point: equal on every machine.
fn logarithm(of: u64) -> i64 {
    // Squaring doubles a logarithm, so each squaring of the mantissa gives one bit more.
    let (mut whole, mut scaled) = (i64::from(of.ilog2()), (u128::from(of) << 32) >> of.ilog2());
    for _ in 0..10 {
        scaled = (scaled * scaled) >> 32;
        let carry = scaled >> 33;
        scaled >>= carry;
        whole = 2 * whole + i64::from(carry == 1);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_come_together() {
        let kinds: Vec<usize> = (0..64_usize).map(|at| at.pow(2) / 7 % 4).collect();
        let runs = |kinds: Vec<usize>| kinds.chunk_by(|a, b| a == b).count();
        let lists = kinds.iter().map(|kind| (10 * kind..10 * kind + 10).collect()).collect();
        let ordered: Vec<usize> = order(lists).into_iter().map(|position| kinds[position]).collect();
        assert!(runs(kinds) > 40 && runs(ordered.clone()) < 20, "{ordered:?}");
    }

    #[test]
    fn lists_with_nothing_in_common_stay() {
        assert_eq!(order((0..100).map(|at| vec![at]).collect()), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn logarithms_are_exact_to_a_thousandth() {
        assert_eq!([1, 2, 3, 1 << 20].map(logarithm), [0, 1024, 1623, 20 * 1024]);
    }
}
