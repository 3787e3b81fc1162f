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

/// Values of a chunk: what copies share until one of them changes a value among these. Values are larger than references to chunks.
const CHUNK: usize = 16;

/// Chunks of a group.
const GROUP: usize = 64;

type Group<T> = Arc<Vec<Arc<Vec<T>>>>;

/// Values by position, from 0. A copy costs one count.
#[derive(Clone, Debug)]
pub(super) struct Sheet<T> {
    /// Groups of chunks; all but the last of each are full.
    groups: Arc<Vec<Group<T>>>,
    len: usize,
}

impl<T> Default for Sheet<T> {
    fn default() -> Self {
        Self { groups: Arc::default(), len: 0 }
    }
}

impl<T: Clone> Sheet<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a value at the end.
    pub(super) fn push(&mut self, value: T) {
        let groups = Arc::make_mut(&mut self.groups);
        if groups.last().is_none_or(|group| self.len.is_multiple_of(CHUNK) && group.len() >= GROUP) {
            groups.push(Arc::default());
        }
        let Some(group) = groups.last_mut().map(Arc::make_mut) else {
            return;
        };
        if self.len.is_multiple_of(CHUNK) {
            group.push(Arc::new(Vec::with_capacity(CHUNK)));
        }
        if let Some(chunk) = group.last_mut() {
            Arc::make_mut(chunk).push(value);
            self.len = self.len.saturating_add(1);
        }
    }

    /// Takes the last value out.
    fn pop(&mut self) -> Option<T> {
        let groups = Arc::make_mut(&mut self.groups);
        let group = Arc::make_mut(groups.last_mut()?);
        let chunk = Arc::make_mut(group.last_mut()?);
        let value = chunk.pop()?;
        self.len = self.len.saturating_sub(1);
        if chunk.is_empty() {
            group.pop();
        }
        if group.is_empty() {
            groups.pop();
        }
        Some(value)
    }

    pub(super) fn get(&self, position: usize) -> Option<&T> {
        self.groups.get(position / (CHUNK * GROUP))?.get(position / CHUNK % GROUP)?.get(position % CHUNK)
    }

    pub(super) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let group = Arc::make_mut(Arc::make_mut(&mut self.groups).get_mut(position / (CHUNK * GROUP))?);
        Arc::make_mut(group.get_mut(position / CHUNK % GROUP)?).get_mut(position % CHUNK)
    }
}

/// Values at positions that stay the same while other values come and go. A copy costs little.
#[derive(Clone, Debug)]
pub(crate) struct Slots<I, T> {
    values: Sheet<Option<T>>,
    free: Sheet<u32>,
    index: PhantomData<I>,
}

impl<I, T> Default for Slots<I, T> {
    fn default() -> Self {
        Self { values: Sheet::default(), free: Sheet::default(), index: PhantomData }
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
        // A cluster with 2^32 devices does not fit into memory.
        let index = I::of(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        self.values.push(Some(make(index)));
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
        self.values.get(index.position() as usize)?.as_ref()
    }

    /// The value at a position, to be changed.
    pub(crate) fn get_mut(&mut self, index: I) -> Option<&mut T> {
        self.slot(index)?.as_mut()
    }

    fn slot(&mut self, index: I) -> Option<&mut Option<T>> {
        self.values.get_mut(index.position() as usize)
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
        let all: Vec<PoolIdx> = (0..5000).map(|number| slots.insert(number)).collect();
        assert!(all.iter().zip(0..).all(|(index, number)| slots.get(*index) == Some(&number)));
        let mut copy = slots.clone();
        *copy.get_mut(all[130]).unwrap() = 7;
        copy.remove(all[0]);
        assert_eq!(copy.insert(9), all[0]);
        assert_eq!((slots.get(all[130]), slots.get(all[0])), (Some(&130), Some(&0)));
        assert_eq!((copy.get(all[130]), copy.get(all[0]), copy.get(all[4999])), (Some(&7), Some(&9), Some(&4999)));
    }
}
