//! Filling maps and sets entry by entry: [`Iterator::collect`] sorts first, and the standard library's sort is compiled anew for each type of
//! entry, at 5 kB of the module each.

/// Filling something with what an iterator gives; of equal keys the last one counts. What the search does all the time collects.
pub(crate) trait Gather: Iterator + Sized {
    /// All items in a new map or set.
    fn gather<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}
