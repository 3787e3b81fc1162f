//! Time zones by name, without a time zone database.
//!
//! The zones that people write most, with the rule that holds today and the year since when it does. Every other name, and
//! every earlier time, is refused as not supported instead of being answered with a guess.

use super::time::{DAY, civil, days_from_civil};

/// When clocks are set forward.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Summer {
    Never,
    /// Last Sunday of March to last Sunday of October, at 01:00 UTC.
    Europe,
    /// Second Sunday of March to first Sunday of November, at 02:00 local time.
    America,
    /// First Sunday of October to first Sunday of April, at 02:00 standard time.
    Australia,
    /// Last Sunday of September to first Sunday of April, at 02:00 standard time.
    NewZealand,
}

struct Zone {
    names: &'static str,
    /// Minutes east of UTC in winter.
    offset: i64,
    summer: Summer,
    /// The first whole year in which this holds.
    since: i64,
}

const fn zone(names: &'static str, offset: i64, summer: Summer, since: i64) -> Zone {
    Zone { names, offset, summer, since }
}

static ZONES: [Zone; 32] = [
    zone("Etc/UTC Etc/GMT Etc/UCT GMT UCT Zulu Universal Greenwich Etc/Universal Etc/Zulu", 0, Summer::Never, 1),
    zone("Europe/London Europe/Dublin Europe/Lisbon GB WET", 0, Summer::Europe, 1997),
    zone(
        "Europe/Berlin Europe/Paris Europe/Madrid Europe/Rome Europe/Amsterdam Europe/Brussels Europe/Vienna Europe/Zurich \
         Europe/Stockholm Europe/Oslo Europe/Copenhagen Europe/Prague Europe/Warsaw Europe/Budapest Europe/Belgrade \
         Europe/Zagreb Europe/Ljubljana Europe/Bratislava Europe/Luxembourg Europe/Monaco CET",
        60,
        Summer::Europe,
        1997,
    ),
    zone("Europe/Athens Europe/Helsinki Europe/Bucharest Europe/Sofia EET", 120, Summer::Europe, 1998),
    zone("Europe/Tallinn Europe/Riga Europe/Vilnius", 120, Summer::Europe, 2004),
    zone("Europe/Istanbul Asia/Istanbul Turkey", 180, Summer::Never, 2017),
    zone("Europe/Moscow", 180, Summer::Never, 2015),
    zone("America/New_York US/Eastern America/Toronto America/Detroit", -300, Summer::America, 2007),
    zone("America/Chicago US/Central America/Winnipeg", -360, Summer::America, 2007),
    zone("America/Denver US/Mountain America/Edmonton America/Boise", -420, Summer::America, 2007),
    zone("America/Los_Angeles US/Pacific America/Vancouver", -480, Summer::America, 2007),
    zone("America/Anchorage US/Alaska", -540, Summer::America, 2007),
    zone("America/Halifax", -240, Summer::America, 2007),
    zone("America/Phoenix US/Arizona", -420, Summer::Never, 1969),
    zone("Pacific/Honolulu US/Hawaii", -600, Summer::Never, 1948),
    zone("America/Mexico_City", -360, Summer::Never, 2023),
    zone("America/Sao_Paulo", -180, Summer::Never, 2020),
    zone("America/Argentina/Buenos_Aires America/Buenos_Aires", -180, Summer::Never, 2010),
    zone("America/Bogota America/Lima", -300, Summer::Never, 1995),
    zone("Asia/Tokyo Japan", 540, Summer::Never, 1952),
    zone("Asia/Seoul ROK", 540, Summer::Never, 1989),
    zone("Asia/Shanghai Asia/Taipei PRC", 480, Summer::Never, 1992),
    zone("Asia/Hong_Kong Hongkong", 480, Summer::Never, 1980),
    zone("Asia/Singapore Singapore Asia/Kuala_Lumpur Asia/Manila", 480, Summer::Never, 1991),
    zone("Asia/Kolkata Asia/Calcutta", 330, Summer::Never, 1946),
    zone("Asia/Dubai", 240, Summer::Never, 1921),
    zone("Asia/Bangkok Asia/Jakarta Asia/Ho_Chi_Minh", 420, Summer::Never, 1976),
    zone("Africa/Johannesburg", 120, Summer::Never, 1945),
    zone("Africa/Nairobi", 180, Summer::Never, 1943),
    zone("Australia/Sydney Australia/Melbourne Australia/Hobart Australia/Canberra", 600, Summer::Australia, 2008),
    zone("Australia/Brisbane", 600, Summer::Never, 1993),
    zone("Pacific/Auckland NZ", 720, Summer::NewZealand, 2008),
];

/// Beginnings of names that a time zone database has.
const AREAS: [&str; 16] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Brazil/",
    "Canada/",
    "Chile/",
    "Etc/",
    "Europe/",
    "Indian/",
    "Mexico/",
    "Pacific/",
    "US/",
];

/// Names without an area that a time zone database has.
const NAMES: &str = "Local CST6CDT Cuba EST EST5EDT Egypt Eire Factory GB-Eire GMT+0 GMT-0 GMT0 HST Iceland Iran Israel Jamaica \
                     Kwajalein Libya MET MST MST7MDT NZ-CHAT Navajo PST8PDT Poland Portugal ROC W-SU";

/// Why there is no offset.
pub(super) enum NoOffset {
    /// No time zone has that name.
    Unknown,
    /// There is one, and nothing about it here, or nothing about that time.
    Unsupported,
}

/// Whether a name is one of a real time zone about which nothing is known here.
pub(super) fn is_unsupported(name: &str) -> bool {
    !matches!(name, "" | "UTC")
        && find(name).is_none()
        && (AREAS.iter().any(|area| name.starts_with(area)) || NAMES.split(' ').any(|known| known == name))
}

fn find(name: &str) -> Option<&'static Zone> {
    ZONES.iter().find(|zone| zone.names.split(' ').any(|known| known == name))
}

/// Seconds east of UTC at a time.
pub(super) fn offset(name: &str, seconds: i64) -> Result<i64, NoOffset> {
    if matches!(name, "" | "UTC") {
        return Ok(0);
    }
    let Some(zone) = find(name) else {
        return Err(if is_unsupported(name) { NoOffset::Unsupported } else { NoOffset::Unknown });
    };
    let standard = zone.offset * 60;
    let (year, _, _) = civil(seconds.saturating_add(standard).div_euclid(DAY));
    if year < zone.since {
        return Err(NoOffset::Unsupported);
    }
    // The local time by the winter clock.
    let local = seconds.saturating_add(standard);
    let is_summer = match zone.summer {
        Summer::Never => false,
        Summer::Europe => {
            let (start, end) = (last_sunday(year, 3) * DAY + 3600, last_sunday(year, 10) * DAY + 3600);
            (start..end).contains(&seconds)
        }
        Summer::America => {
            let start = first_sunday(year, 3) * DAY + 7 * DAY + 7200;
            let end = first_sunday(year, 11) * DAY + 3600;
            (start..end).contains(&local)
        }
        Summer::Australia => {
            let (end, start) = (first_sunday(year, 4) * DAY + 7200, first_sunday(year, 10) * DAY + 7200);
            !(end..start).contains(&local)
        }
        Summer::NewZealand => {
            let (end, start) = (first_sunday(year, 4) * DAY + 7200, last_sunday(year, 9) * DAY + 7200);
            !(end..start).contains(&local)
        }
    };
    Ok(standard + if is_summer { 3600 } else { 0 })
}

/// The day since 1970.
fn first_sunday(year: i64, month: i64) -> i64 {
    let first = days_from_civil(year, month, 1);
    // Day 0 was a Thursday.
    first + (3 - first).rem_euclid(7)
}

fn last_sunday(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    first_sunday(next_year, next_month) - 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_change_at_the_hour_of_the_rule() {
        let at = |name, seconds| offset(name, seconds).ok().map(|seconds| seconds / 60);
        // 2024-03-31T01:00:00Z and 2024-10-27T01:00:00Z.
        assert_eq!((at("Europe/Berlin", 1_711_846_799), at("Europe/Berlin", 1_711_846_800)), (Some(60), Some(120)));
        assert_eq!((at("Europe/Berlin", 1_729_990_799), at("Europe/Berlin", 1_729_990_800)), (Some(120), Some(60)));
        // 2024-03-10T07:00:00Z and 2024-11-03T06:00:00Z.
        assert_eq!((at("US/Eastern", 1_710_053_999), at("US/Eastern", 1_710_054_000)), (Some(-300), Some(-240)));
        assert_eq!((at("US/Eastern", 1_730_613_599), at("US/Eastern", 1_730_613_600)), (Some(-240), Some(-300)));
        // 2024-04-06T16:00:00Z and 2024-10-05T16:00:00Z.
        assert_eq!(
            (at("Australia/Sydney", 1_712_419_199), at("Australia/Sydney", 1_712_419_200)),
            (Some(660), Some(600))
        );
        assert_eq!(
            (at("Australia/Sydney", 1_728_143_999), at("Australia/Sydney", 1_728_144_000)),
            (Some(600), Some(660))
        );
        assert!(offset("Europe/Berlin", 0).is_err() && is_unsupported("Africa/Cairo") && !is_unsupported("Mars/Base"));
    }
}
