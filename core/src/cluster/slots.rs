//! Typed positions and the one place that turns them into values.

use std::marker::PhantomData;

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

/// Values at positions that stay the same while other values come and go.
#[derive(Clone, Debug)]
pub(crate) struct Slots<I, T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
    index: PhantomData<I>,
}

impl<I, T> Default for Slots<I, T> {
    fn default() -> Self {
        Self { values: Vec::new(), free: Vec::new(), index: PhantomData }
    }
}

impl<I: Slot, T> Slots<I, T> {
    /// Puts a value in, at a position that is not in use.
    pub(crate) fn insert(&mut self, value: T) -> I {
        self.insert_with(|_| value)
    }

    /// Puts a value in that is made with its position, which is not in use.
    pub(crate) fn insert_with(&mut self, make: impl FnOnce(I) -> T) -> I {
        if let Some(position) = self.free.pop()
            && let Some(slot) = self.values.get_mut(position as usize)
        {
            *slot = Some(make(I::of(position)));
            return I::of(position);
        }
        // A cluster with 2^32 devices does not fit into memory.
        let position = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(Some(make(I::of(position))));
        I::of(position)
    }

    /// Takes the value out and frees its position.
    pub(crate) fn remove(&mut self, index: I) -> Option<T> {
        let value = self.values.get_mut(index.position() as usize)?.take();
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
        self.values.get_mut(index.position() as usize)?.as_mut()
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
}
