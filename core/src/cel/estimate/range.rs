//! Ranges of sizes and costs, with arithmetic that stops at the largest number.

/// The least and the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

pub(super) const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
pub(super) const ZERO: Range = Range { min: 0, max: 0 };

pub(super) const fn exactly(value: u64) -> Range {
    Range { min: value, max: value }
}

impl Range {
    pub(super) fn add(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Times a factor, rounded up.
    pub(super) fn scale(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// The range around both.
    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the reference computes in floating point; conversion saturates"
)]
fn scale(value: u64, factor: f64) -> u64 {
    let value = value as f64;
    if value > 0.0 && factor > 0.0 && value > u64::MAX as f64 / factor {
        return u64::MAX;
    }
    (value * factor).ceil() as u64
}

/// `a / b`, rounded up, in floating point as the reference does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the reference computes in floating point; conversion saturates"
)]
pub(super) fn quotient(a: u64, b: u64) -> u64 {
    (a as f64 / b as f64).ceil() as u64
}
