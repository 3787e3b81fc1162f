//! Small sets of positions.

use smallvec::{SmallVec, smallvec};

/// A set of positions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Bits(SmallVec<[u64; 2]>);

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
    pub(crate) fn below(count: usize) -> Self {
        let mut words = smallvec![u64::MAX; count / 64];
        if !count.is_multiple_of(64) {
            words.push((1 << (count % 64)) - 1);
        }
        Self(words)
    }

    /// The first position from a given one on that is in both sets.
    pub(crate) fn next_common(&self, other: &Self, from: usize) -> Option<usize> {
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

    /// The first position from a given one on that is in all three sets.
    pub(crate) fn next_common_of(&self, second: &Self, third: &Self, from: usize) -> Option<usize> {
        let words = self.0.iter().zip(&second.0).zip(&third.0).enumerate().skip(from / 64);
        let mut mask = u64::MAX << (from % 64);
        for (word, ((one, two), three)) in words {
            let all = one & two & three & mask;
            if all != 0 {
                return Some(word * 64 + all.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The first position from a given one on.
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        self.next_common(self, from)
    }

    pub(crate) fn insert(&mut self, position: usize) {
        let word = position / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= 1 << (position % 64);
        }
    }

    pub(crate) fn contains(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|bits| bits & (1 << (position % 64)) != 0)
    }

    pub(crate) fn remove(&mut self, position: usize) {
        if let Some(bits) = self.0.get_mut(position / 64) {
            *bits &= !(1 << (position % 64));
        }
    }

    /// Puts a position in front of the one that has this number so far, which moves on by one with all behind it.
    pub(crate) fn open(&mut self, position: usize) {
        let (word, below) = (position / 64, (1u64 << (position % 64)) - 1);
        let mut carry = None;
        for bits in self.0.iter_mut().skip(word) {
            let next = *bits >> 63;
            *bits = match carry {
                None => (*bits & below) | ((*bits & !below) << 1),
                Some(carry) => (*bits << 1) | carry,
            };
            carry = Some(next);
        }
        if carry == Some(1) {
            self.0.push(1);
        }
        self.insert(position);
    }

    /// Takes a position out; all behind it move back by one.
    pub(crate) fn close(&mut self, position: usize) {
        let (word, below) = (position / 64, (1u64 << (position % 64)) - 1);
        let mut carry = 0;
        for bits in self.0.iter_mut().skip(word + 1).rev() {
            let next = *bits & 1;
            *bits = (*bits >> 1) | (carry << 63);
            carry = next;
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits = (*bits & below) | ((*bits >> 1) & !below) | (carry << 63);
        }
    }

    /// How many positions are in both sets.
    pub(crate) fn count_common(&self, other: &Self) -> u64 {
        self.0.iter().zip(&other.0).map(|(mine, theirs)| u64::from((mine & theirs).count_ones())).sum()
    }

    /// Adds the positions that are in both of two other sets.
    pub(crate) fn extend_common(&mut self, a: &Self, b: &Self) {
        let length = a.0.len().min(b.0.len());
        if self.0.len() < length {
            self.0.resize(length, 0);
        }
        for (mine, (a, b)) in self.0.iter_mut().zip(a.0.iter().zip(&b.0)) {
            *mine |= a & b;
        }
    }

    /// How many positions there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The positions in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
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
    pub(crate) fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Takes out the positions that another set lacks.
    pub(crate) fn keep_common(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// Whether the sets have a position in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
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
    fn positions_move_where_one_comes_or_goes() {
        for position in [0, 1, 63, 64, 65, 130, 140] {
            let before: Vec<usize> = vec![0, 2, 62, 63, 64, 127, 128, 131];
            let mut bits: Bits = before.iter().copied().collect();
            bits.open(position);
            let moved = before.iter().map(|known| known + usize::from(*known >= position));
            let mut expected: Vec<usize> = moved.chain([position]).collect();
            expected.sort_unstable();
            assert_eq!(bits.iter().collect::<Vec<_>>(), expected, "{position} comes");
            bits.close(position);
            assert_eq!(bits.iter().collect::<Vec<_>>(), before, "{position} goes");
        }
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
