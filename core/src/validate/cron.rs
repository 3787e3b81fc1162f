//! When a CronJob starts its Jobs: five fields, or a word such as `@daily`.
//!
//! Source: `validateScheduleFormat`, `validateTimeZone`; the parser of `robfig/cron`.

use super::node::Node;
use super::report::{Report, shown};
use crate::cel::is_zone;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// `schedule` and `timeZone` of a CronJob.
pub(super) fn check(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let (schedule, zone) = (spec.field("schedule"), spec.field("timeZone"));
    let text = schedule.text();
    if text.is_empty() {
        out.required(schedule.at, "when the Job starts is needed");
        out.hint("write five fields, for instance `0 3 * * *`");
    } else if text.contains("TZ") {
        out.invalid(schedule.at, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        out.hint("write the zone into `timeZone`");
    } else if !is_schedule(text) {
        out.invalid(schedule.at, format!("`{}` is not a schedule", shown(text)));
        out.hint("write minute, hour, day of the month, month and day of the week, for instance `0 3 * * *`");
    }
    if zone.is_set() && !is_zone(zone.text()) {
        out.invalid(zone.at, format!("`{}` is not a time zone", shown(zone.text())));
        out.hint("write a zone such as `Europe/Berlin` or `Etc/UTC`");
    }
}

fn is_schedule(text: &str) -> bool {
    if let Some(every) = text.strip_prefix("@every ") {
        return every.starts_with(|first: char| first.is_ascii_digit()) && every.ends_with(['h', 'm', 's']);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    match fields.as_slice() {
        [minute, hour, day, month, weekday] => {
            is_field(minute, 0, 59, &[])
                && is_field(hour, 0, 23, &[])
                && is_field(day, 1, 31, &[])
                && is_field(month, 1, 12, &MONTHS)
                && is_field(weekday, 0, 6, &DAYS)
        }
        _ => WORDS.contains(&text),
    }
}

/// Ranges with commas between them: `*`, a value, or two of them, each with a step if there is one.
fn is_field(field: &str, least: u32, most: u32, names: &[&str]) -> bool {
    let value = |text: &str| {
        let named =
            names.iter().zip(least..).find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, number)| number);
        named.or_else(|| text.parse().ok()).filter(|number| (least..=most).contains(number))
    };
    field.split(',').all(|part| {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
        let is_range = match range.split_once('-') {
            _ if matches!(range, "*" | "?") => true,
            Some((first, last)) => value(first).zip(value(last)).is_some_and(|(first, last)| first <= last),
            None => value(range).is_some(),
        };
        is_range && step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0))
    })
}
