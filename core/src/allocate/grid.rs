//! Small values by row and column.

use smallvec::{SmallVec, smallvec};

/// A table whose missing entries are the default.
#[derive(Clone, Debug)]
pub(super) struct Grid<T> {
    columns: usize,
    values: SmallVec<[T; 4]>,
}

impl<T: Copy + Default> Grid<T> {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { columns, values: smallvec![T::default(); rows.saturating_mul(columns)] }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> T {
        let position = row.saturating_mul(self.columns).saturating_add(column);
        self.values.get(position).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, row: usize, column: usize, value: T) {
        let position = row.saturating_mul(self.columns).saturating_add(column);
        if let Some(slot) = self.values.get_mut(position) {
            *slot = value;
        }
    }
}
