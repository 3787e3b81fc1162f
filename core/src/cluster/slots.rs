//! Typed positions and the one place that turns them into values.

use std::marker::PhantomData;
use std::sync::Arc;

/// A position in a [`Slots`].
pub(crate) trait Slot: Copy {
    fn of(position: u32) -> Self;
    fn position(self) -> u32;
}

macro_rules! slot {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
            pub(crate) struct $name(u32);

            impl $crate::cluster::slots::Slot for $name {
                fn of(position: u32) -> Self {
                    Self(position)
                }

                fn position(self) -> u32 {
                    self.0
                }
            }
        )*
    };
}

slot! {
    /// Position of a published slice inside one cluster; meaningless in any other.
    SliceIdx;
    /// Position of a pool (driver and name) inside one cluster; meaningless in any other.
    PoolIdx;
    /// Position of a device (driver, pool and name) inside one cluster; meaningless in any other.
    DeviceIdx;
}

/// Values that copies of [`Slots`] share until one of them changes a value among these.
const SHARED: usize = 64;

/// Values at positions that stay the same while other values come and go. A copy costs little.
#[derive(Clone, Debug)]
pub(crate) struct Slots<I, T> {
    /// All but the last are full.
    chunks: Vec<Arc<Vec<Option<T>>>>,
    free: Vec<u32>,
    index: PhantomData<I>,
}

impl<I, T> Default for Slots<I, T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), free: Vec::new(), index: PhantomData }
    }
}

impl<I: Slot, T: Clone> Slots<I, T> {
    /// Puts a value in, at a position that is not in use.
    pub(crate) fn insert(&mut self, value: T) -> I {
        self.insert_with(|_| value)
    }

    /// Puts a value in that is made with its position, which is not in use.
    pub(crate) fn insert_with(&mut self, make: impl FnOnce(I) -> T) -> I {
        if let Some(position) = self.free.pop()
            && let Some(slot) = self.slot(I::of(position))
        {
            *slot = Some(make(I::of(position)));
            return I::of(position);
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() >= SHARED) {
            self.chunks.push(Arc::new(Vec::with_capacity(SHARED)));
        }
        let before = self.chunks.len().saturating_sub(1).saturating_mul(SHARED);
        let chunk = self.chunks.last_mut().map(Arc::make_mut);
        // A cluster with 2^32 devices does not fit into memory.
        let position = before.saturating_add(chunk.as_ref().map_or(0, |chunk| chunk.len()));
        let index = I::of(u32::try_from(position).unwrap_or(u32::MAX));
        if let Some(chunk) = chunk {
            chunk.push(Some(make(index)));
        }
        index
    }

    /// Takes the value out and frees its position.
    pub(crate) fn remove(&mut self, index: I) -> Option<T> {
        let value = self.slot(index)?.take();
        if value.is_some() {
            self.free.push(index.position());
        }
        value
    }

    /// The value at a position.
    pub(crate) fn get(&self, index: I) -> Option<&T> {
        let position = index.position() as usize;
        self.chunks.get(position / SHARED)?.get(position % SHARED)?.as_ref()
    }

    /// The value at a position, to be changed.
    pub(crate) fn get_mut(&mut self, index: I) -> Option<&mut T> {
        self.slot(index)?.as_mut()
    }

    fn slot(&mut self, index: I) -> Option<&mut Option<T>> {
        let position = index.position() as usize;
        Arc::make_mut(self.chunks.get_mut(position / SHARED)?).get_mut(position % SHARED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_position_is_used_again() {
        let mut slots: Slots<PoolIdx, &str> = Slots::default();
        let (a, b) = (slots.insert("a"), slots.insert("b"));
        assert_eq!(slots.remove(a), Some("a"));
        assert_eq!(slots.remove(a), None);
        let c = slots.insert("c");
        assert_eq!((c, slots.get(c), slots.get(b)), (a, Some(&"c"), Some(&"b")));
    }

    #[test]
    fn copies_change_one_without_another() {
        let mut slots: Slots<PoolIdx, u32> = Slots::default();
        let all: Vec<PoolIdx> = (0..200).map(|number| slots.insert(number)).collect();
        assert!(all.iter().zip(0..).all(|(index, number)| slots.get(*index) == Some(&number)));
        let mut copy = slots.clone();
        *copy.get_mut(all[130]).unwrap() = 7;
        copy.remove(all[0]);
        assert_eq!(copy.insert(9), all[0]);
        assert_eq!((slots.get(all[130]), slots.get(all[0])), (Some(&130), Some(&0)));
        assert_eq!((copy.get(all[130]), copy.get(all[0]), copy.get(all[199])), (Some(&7), Some(&9), Some(&199)));
    }
}
