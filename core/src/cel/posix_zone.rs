//! The rule of a time zone for all times to come: `CET-1CEST,M3.5.0,M10.5.0/3`.
//!
//! Source: POSIX, environment variable `TZ`, with the hours of RFC 9636.

use super::time::{DAY, civil, days_from_civil, days_in_month};

/// A rule.
pub(super) struct PosixZone {
    /// Seconds east of UTC in winter.
    winter: i64,
    summer: Option<Summer>,
}

struct Summer {
    /// Seconds east of UTC in summer.
    offset: i64,
    start: Change,
    end: Change,
}

/// When clocks change every year.
struct Change {
    day: Day,
    /// Seconds after midnight, by the clock before the change.
    time: i64,
}

enum Day {
    /// From 1; never the 29th of February.
    Julian(i64),
    /// From 0.
    OfYear(i64),
    /// Month, week (5 for the last one) and day of the week, from Sunday.
    OfMonth(i64, i64, i64),
}

impl PosixZone {
    /// Reads a rule; `None` where it is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut text = Text(text);
        text.name()?;
        let winter = text.offset()?.checked_neg()?;
        if text.0.is_empty() {
            return Some(Self { winter, summer: None });
        }
        text.name()?;
        let has_offset = !text.0.is_empty() && !text.0.starts_with(',');
        let offset = if has_offset { text.offset()?.checked_neg()? } else { winter + 3600 };
        if text.0.is_empty() {
            text = Text(",M3.2.0,M11.1.0");
        }
        let start = text.change()?;
        let end = text.change()?;
        text.0.is_empty().then_some(Self { winter, summer: Some(Summer { offset, start, end }) })
    }

    /// Seconds east of UTC at a time, which is in seconds since 1970.
    pub(super) fn offset(&self, seconds: i64) -> i64 {
        let Some(Summer { offset, start, end }) = &self.summer else {
            return self.winter;
        };
        let (year, _, _) = civil(seconds.saturating_add(self.winter).div_euclid(DAY));
        let (start, end) = (start.at(year) - self.winter, end.at(year) - offset);
        let is_summer = if start < end { (start..end).contains(&seconds) } else { !(end..start).contains(&seconds) };
        if is_summer { *offset } else { self.winter }
    }
}

impl Change {
    /// Local seconds since 1970.
    fn at(&self, year: i64) -> i64 {
        let first = days_from_civil(year, 1, 1);
        let day = match self.day {
            Day::OfYear(day) => first + day,
            Day::Julian(day) => {
                let is_leap = days_from_civil(year, 3, 1) - first == 60;
                first + day - 1 + i64::from(is_leap && day >= 60)
            }
            Day::OfMonth(month, week, weekday) => {
                let start = days_from_civil(year, month, 1);
                let next = start + days_in_month(year, month);
                // Day 0 was a Thursday.
                let first = start + (weekday - start - 4).rem_euclid(7);
                let day = first + (week - 1) * 7;
                if day < next { day } else { day - 7 }
            }
        };
        day * DAY + self.time
    }
}

/// What is left to be read.
struct Text<'t>(&'t str);

impl Text<'_> {
    fn accept(&mut self, letter: char) -> bool {
        let rest = self.0.strip_prefix(letter);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Skips an abbreviation.
    fn name(&mut self) -> Option<()> {
        self.0 = match self.0.strip_prefix('<') {
            Some(quoted) => quoted.split_once('>')?.1,
            None => {
                let rest = self.0.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                (self.0.len() >= rest.len() + 3).then_some(rest)?
            }
        };
        Some(())
    }

    fn number(&mut self) -> Option<i64> {
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_digit());
        let (digits, rest) = self.0.split_at_checked(self.0.len() - rest.len())?;
        self.0 = rest;
        digits.parse().ok().filter(|number| *number < 1000)
    }

    /// Hours, minutes and seconds, in seconds.
    fn offset(&mut self) -> Option<i64> {
        let sign = if self.accept('-') { -1 } else { 1 };
        if sign == 1 {
            self.accept('+');
        }
        let mut seconds = self.number()? * 3600;
        for unit in [60, 1] {
            if self.accept(':') {
                seconds += self.number()? * unit;
            }
        }
        Some(sign * seconds)
    }

    fn change(&mut self) -> Option<Change> {
        if !self.accept(',') {
            return None;
        }
        let day = if self.accept('J') {
            Day::Julian(self.number()?)
        } else if self.accept('M') {
            let month = self.number().filter(|month| (1..=12).contains(month))?;
            let week = self.accept('.').then(|| self.number())?.filter(|week| (1..=5).contains(week))?;
            Day::OfMonth(month, week, self.accept('.').then(|| self.number())?.filter(|day| *day <= 6)?)
        } else {
            Day::OfYear(self.number()?)
        };
        let time = if self.accept('/') { self.offset()? } else { 7200 };
        Some(Change { day, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_every_form_are_read() {
        let at = |text, seconds| PosixZone::parse(text).map(|zone| zone.offset(seconds) / 60);
        assert_eq!(at("<+0545>-5:45", 0), Some(345));
        // 2025-07-01 and 2025-01-01.
        let (summer, winter) = (1_751_328_000, 1_735_689_600);
        assert_eq!((at("EST5EDT,M3.2.0,M11.1.0", summer), at("EST5EDT", winter)), (Some(-240), Some(-300)));
        assert_eq!((at("XXX3YYY2,J60,J300/1", summer), at("XXX3YYY2,59,299/-1", winter)), (Some(-120), Some(-180)));
        // Summer in the south.
        let south = "NZST-12NZDT,M9.5.0,M4.1.0/3";
        assert_eq!((at(south, summer), at(south, winter)), (Some(720), Some(780)));
        for bad in ["", "X", "EST", "EST5EDT,M3.2.0", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M3.2.0,M11.1.0x"] {
            assert!(PosixZone::parse(bad).is_none(), "{bad}");
        }
    }
}
