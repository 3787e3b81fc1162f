//! Durations and timestamps.

use std::cmp::Ordering;
use std::fmt;

use super::call::Func;
use super::value::{Eval, Value, fail, no_overload};
use super::zones::{self, NoOffset};

/// A point in time and the offset it was written with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamp {
    /// Since 1970 in UTC.
    pub(super) seconds: i64,
    nanos: u32,
    /// Of the zone, in seconds east of UTC. Seen only when printed.
    offset: i32,
}

const FIRST_SECOND: i64 = -62_135_596_800;
pub(super) const LAST_SECOND: i64 = 253_402_300_799;
pub(super) const DAY: i64 = 86_400;
const BILLION: i64 = 1_000_000_000;

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl Timestamp {
    pub(super) fn from_seconds(seconds: i64) -> Option<Self> {
        (FIRST_SECOND..=LAST_SECOND).contains(&seconds).then_some(Self { seconds, nanos: 0, offset: 0 })
    }

    pub(super) fn nearest(seconds: i64) -> Self {
        Self { seconds: seconds.clamp(FIRST_SECOND, LAST_SECOND), nanos: 0, offset: 0 }
    }

    /// Reads RFC 3339.
    ///
    /// # Errors
    ///
    /// True if the text is a time outside the years 1 to 9999, false if it is none.
    pub(super) fn parse(text: &str) -> Result<Self, bool> {
        let time = parse_rfc3339(text).ok_or(false)?;
        if (FIRST_SECOND..=LAST_SECOND).contains(&time.seconds) { Ok(time) } else { Err(true) }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.seconds == FIRST_SECOND && self.nanos == 0
    }

    /// The time so many nanoseconds later.
    pub(super) fn add(self, nanos: i64) -> Option<Self> {
        let total = i64::from(self.nanos).checked_add(nanos.rem_euclid(BILLION))?;
        let seconds = self.seconds.checked_add(nanos.div_euclid(BILLION))?.checked_add(total / BILLION)?;
        let nanos = u32::try_from(total % BILLION).ok()?;
        (FIRST_SECOND..=LAST_SECOND).contains(&seconds).then_some(Self { seconds, nanos, offset: self.offset })
    }

    /// The nanoseconds from the other time to this one.
    pub(super) fn since(self, other: Self) -> Option<i64> {
        let seconds = self.seconds.checked_sub(other.seconds)?;
        let nanos = i64::from(self.nanos).checked_sub(i64::from(other.nanos))?;
        i64::try_from(i128::from(seconds) * i128::from(BILLION) + i128::from(nanos)).ok()
    }
}

/// Year, month (from 1), day (from 1) of a day since 1970.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    // Years start in March here, so that the leap day is the last one.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days since 1970.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_from_civil(next_year, next_month, 1) - days_from_civil(year, month, 1)
}

fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let mut rest = text;
    let mut number = |width: usize, end: &str| {
        let (digits, after) = rest.split_at_checked(width)?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        rest = after.strip_prefix(end)?;
        digits.parse::<i64>().ok()
    };
    let (year, month, day) = (number(4, "-")?, number(2, "-")?, number(2, "T")?);
    let (hour, minute, second) = (number(2, ":")?, number(2, ":")?, number(2, "")?);
    let is_valid = (1..=12).contains(&month)
        && day >= 1
        && day <= days_in_month(year, month)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_valid {
        return None;
    }
    let mut nanos = 0u32;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = fraction.split_at_checked(length).filter(|(digits, _)| !digits.is_empty())?;
        let kept: String = digits.chars().chain("000000000".chars()).take(9).collect();
        nanos = kept.parse().ok()?;
        rest = after;
    }
    let offset = if rest == "Z" { 0 } else { parse_offset(rest)? };
    let seconds = days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - i64::from(offset);
    Some(Timestamp { seconds, nanos, offset })
}

/// `+02:00`, in seconds.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix('-')?),
    };
    let (hours, minutes) = rest.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 || !rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.seconds.saturating_add(i64::from(self.offset));
        let (year, month, day) = civil(local.div_euclid(DAY));
        let second = local.rem_euclid(DAY);
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.unsigned_abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Reads `1h30m`, `-1.5s`, `0`; in nanoseconds.
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0u64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), split_digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(length)?;
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let value = whole.checked_mul(unit)?.checked_add(fraction_of(fraction, unit))?;
        total = total.checked_add(value).filter(|total| *total <= 1 << 63)?;
        rest = after;
    }
    if is_negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The part of a unit that the digits after the point mean, truncated.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the reference computes in floating point too"
)]
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1.0);
    for digit in digits.bytes().take(18) {
        value = value * 10 + u64::from(digit.wrapping_sub(b'0'));
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// The text of a duration: seconds.
#[expect(clippy::cast_precision_loss, reason = "the reference prints a floating point number")]
pub(super) fn duration_text(nanos: i64) -> String {
    let seconds = (nanos / BILLION) as f64 + (nanos % BILLION) as f64 / 1e9;
    format!("{seconds}s")
}

/// A part of a timestamp, in UTC or the given zone, or of a duration.
pub(super) fn part<'a>(func: Func, value: &Value<'a>, zone: Option<&Value<'a>>) -> Eval<Value<'a>> {
    let time = match value {
        Value::Timestamp(time) => time,
        Value::Duration(nanos) => {
            let unit = match func {
                Func::Hours => 3600 * BILLION,
                Func::Minutes => 60 * BILLION,
                Func::Seconds => BILLION,
                Func::Milliseconds => 1_000_000,
                _ => return no_overload(),
            };
            return Ok(Value::Int(nanos / unit));
        }
        _ => return no_overload(),
    };
    let offset = match zone.map(|zone| zone.as_str()) {
        None => 0,
        Some(Some(zone)) => zone_offset(zone, time.seconds).or_else(fail)?,
        Some(None) => return no_overload(),
    };
    let local = time.seconds.saturating_add(offset);
    let days = local.div_euclid(DAY);
    let second = local.rem_euclid(DAY);
    let (year, month, day) = civil(days);
    Ok(Value::Int(match func {
        Func::FullYear => year,
        Func::Month => month - 1,
        Func::DayOfYear => days - days_from_civil(year, 1, 1),
        Func::DayOfMonth => day - 1,
        Func::Date => day,
        Func::DayOfWeek => (days + 4).rem_euclid(7),
        Func::Hours => second / 3600,
        Func::Minutes => second / 60 % 60,
        Func::Seconds => second % 60,
        _ => i64::from(time.nanos) / 1_000_000,
    }))
}

/// Seconds east of UTC.
///
/// # Errors
///
/// For unknown names and for what is not known here about known ones.
fn zone_offset(zone: &str, seconds: i64) -> Result<i64, String> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return zones::offset(zone, seconds).map_err(|reason| match reason {
            NoOffset::Unknown => format!("unknown time zone {zone}"),
            NoOffset::Invalid => "time: invalid location name".to_owned(),
            NoOffset::Local => "time zone Local is not supported here".to_owned(),
        });
    };
    let number = |text: &str| {
        let bad = || format!("strconv.Atoi: parsing \"{text}\": invalid syntax");
        text.parse::<i32>().map(i64::from).map_err(|_| bad())
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let total = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
    Ok(total * 60)
}
