//! Small sets of positions.

use smallvec::{SmallVec, smallvec};

/// A set of positions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Bits(SmallVec<[u64; 2]>);

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let mut bits = Self::default();
        for position in positions {
            bits.insert(position);
        }
        bits
    }
}

impl Bits {
    /// All positions below a number.
    pub(super) fn below(count: usize) -> Self {
        let mut words = smallvec![u64::MAX; count / 64];
        if !count.is_multiple_of(64) {
            words.push((1 << (count % 64)) - 1);
        }
        Self(words)
    }

    /// The first position from a given one on that is in both sets.
    pub(super) fn next_common(&self, other: &Self, from: usize) -> Option<usize> {
        let pairs = self.0.iter().zip(&other.0).enumerate().skip(from / 64);
        let mut mask = u64::MAX << (from % 64);
        for (word, (mine, theirs)) in pairs {
            let both = mine & theirs & mask;
            if both != 0 {
                return Some(word * 64 + both.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The first position from a given one on.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        self.next_common(self, from)
    }

    pub(super) fn insert(&mut self, position: usize) {
        let word = position / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= 1 << (position % 64);
        }
    }

    pub(super) fn contains(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|bits| bits & (1 << (position % 64)) != 0)
    }

    pub(super) fn remove(&mut self, position: usize) {
        if let Some(bits) = self.0.get_mut(position / 64) {
            *bits &= !(1 << (position % 64));
        }
    }

    /// How many positions are in both sets.
    pub(super) fn count_common(&self, other: &Self) -> u64 {
        self.0.iter().zip(&other.0).map(|(mine, theirs)| u64::from((mine & theirs).count_ones())).sum()
    }

    /// Adds the positions that are in both of two other sets.
    pub(super) fn extend_common(&mut self, a: &Self, b: &Self) {
        let length = a.0.len().min(b.0.len());
        if self.0.len() < length {
            self.0.resize(length, 0);
        }
        for (mine, (a, b)) in self.0.iter_mut().zip(a.0.iter().zip(&b.0)) {
            *mine |= a & b;
        }
    }

    /// How many positions there are.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The positions in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }

    /// Adds all positions of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Whether the sets have a position in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(mine, theirs)| mine & theirs != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_position_is_found_across_words() {
        let all = Bits::below(130);
        assert_eq!((all.count(), all.contains(129), all.contains(130)), (130, true, false));
        assert_eq!(Bits::below(64).count(), 64);
        let some: Bits = [3, 64, 129].into_iter().collect();
        let found: Vec<_> = [0, 3, 4, 65, 130, 1000].map(|from| all.next_common(&some, from)).into();
        assert_eq!(found, [Some(3), Some(3), Some(64), Some(129), None, None]);
        assert_eq!((some.next(4), Bits::default().next(0)), (Some(64), None));
    }

    #[test]
    fn sets_of_different_length_are_joined_and_compared() {
        let (mut a, mut b) = (Bits::default(), Bits::default());
        a.insert(3);
        b.insert(200);
        assert!(!a.meets(&b));
        a.extend(&b);
        assert!(a.contains(3) && a.contains(200) && !a.contains(199) && a.meets(&b));
    }
}
