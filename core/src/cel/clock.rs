//! RFC 3339, shared with whoever reads and writes the times of API objects.

use super::time::Timestamp;

/// Whole seconds since 1970; `None` for a text that is no time.
pub(crate) fn parse(text: &str) -> Option<i64> {
    Timestamp::parse(text).ok().map(|time| time.seconds)
}

/// The time in UTC; times beyond the years 1 to 9999 are moved to the nearest of them.
pub(crate) fn format(seconds: i64) -> String {
    Timestamp::nearest(seconds).to_string()
}
