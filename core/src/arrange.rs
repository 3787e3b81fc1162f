//! Sorting through one compiled sort: the standard library's is compiled anew for each type, at 5 kB of the module each.

use std::cmp::Ordering;

/// Stable sorting where time does not matter. What the search does all the time uses the standard library's own.
pub(crate) trait Arrange<T> {
    /// Sorts by the items' own order.
    fn arrange(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison.
    fn arrange_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key, which is made once for each item.
    fn arrange_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> Arrange<T> for [T] {
    fn arrange(&mut self)
    where
        T: Ord,
    {
        self.arrange_by(T::cmp);
    }

    fn arrange_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let swaps = swaps(self.len(), &mut |left, right| compare_at(self, left, right, &mut compare));
        swaps.into_iter().for_each(|(left, right)| self.swap(left, right));
    }

    fn arrange_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        let swaps = swaps(self.len(), &mut |left, right| compare_at(&keys, left, right, &mut K::cmp));
        swaps.into_iter().for_each(|(left, right)| self.swap(left, right));
    }
}

fn compare_at<T>(items: &[T], left: usize, right: usize, compare: &mut impl FnMut(&T, &T) -> Ordering) -> Ordering {
    match (items.get(left), items.get(right)) {
        (Some(left), Some(right)) => compare(left, right),
        _ => Ordering::Equal,
    }
}

/// The swaps that sort so many items, in order.
fn swaps(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    // At each place the position of the item that belongs there.
    let mut wanted: Vec<usize> = (0..length).collect();
    wanted.sort_by(|left, right| compare(*left, *right));
    let mut swaps = Vec::new();
    for start in 0..length {
        let mut place = start;
        // An item that is in its place marks the end of a circle.
        while let Some(slot) = wanted.get_mut(place) {
            let from = std::mem::replace(slot, place);
            if from == start {
                break;
            }
            swaps.push((place, from));
            place = from;
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_are_arranged_as_the_standard_library_sorts(mut items in prop::collection::vec((0_u8..8, 0_u8..8), 0..80)) {
            let mut by_key = items.clone();
            by_key.arrange_by_key(|item| item.0);
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            prop_assert_eq!(by_key, expected);

            let mut backwards = items.clone();
            backwards.arrange_by(|one, other| other.1.cmp(&one.1));
            let mut expected = items.clone();
            expected.sort_by_key(|item| std::cmp::Reverse(item.1));
            prop_assert_eq!(backwards, expected);

            let mut expected = items.clone();
            expected.sort();
            items.arrange();
            prop_assert_eq!(items, expected);
        }
    }
}
