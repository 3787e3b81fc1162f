//! Points in time, as arguments: nothing here asks for the time.

use std::fmt;

use serde::Serialize;

use crate::cel::clock;

/// A point in time, in milliseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Time(i64);

impl Time {
    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// From seconds since 1970.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// So many milliseconds later.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// So many seconds later.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_millis(seconds.saturating_mul(1000))
    }

    /// Reads RFC 3339, as API objects carry it.
    pub fn parse(text: &str) -> Option<Self> {
        clock::parse(text).map(Self::from_seconds)
    }
}

impl fmt::Display for Time {
    /// RFC 3339 in whole seconds, as API objects carry it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clock::format(self.0.div_euclid(1000)))
    }
}

/// A time of a simulation, in milliseconds since its start: `0s`, `1m30s`, `2h5m`.
pub fn clock(millis: u64) -> String {
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let (seconds, rest) = (millis / 1000 % 60, millis % 1000);
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&format!("{hours}h"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}m"));
    }
    match rest {
        0 if seconds == 0 && !text.is_empty() => {}
        0 => text.push_str(&format!("{seconds}s")),
        _ => text.push_str(&format!("{seconds}.{rest:03}s")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_durations() {
        let shown: Vec<String> = [0, 5, 1500, 30_000, 90_000, 60_000, 7_500_000].map(clock).into();
        assert_eq!(shown, ["0s", "0.005s", "1.500s", "30s", "1m30s", "1m", "2h5m"]);
    }
}
