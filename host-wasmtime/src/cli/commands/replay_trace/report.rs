//! What a trace came to: numbers, a table, JSON.

use apportion_core::decision::clock;
use serde_json::{Value, json};

use super::play::{Fate, Played, Sample};
use super::trace::{Pod, Trace};
use crate::cli::pen::{Ink, Pen};
use crate::cli::text::{self, clean, count, row, table};

/// Rows of measurements that are shown.
const MOST_ROWS: usize = 12;

/// Pods without a node, and problems, that are named.
const MOST_NAMES: usize = 8;

/// Times that Pods waited, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Waiting {
    pub(super) mean: u64,
    pub(super) median: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
    pub(super) longest: u64,
}

/// The trace in numbers.
pub(super) struct Summary {
    pub(super) placed: usize,
    pub(super) waiting: Waiting,
    /// GPUs in use on average over the whole time, in tenths of a percent.
    pub(super) used: u64,
    /// See [`super::measure::Room::fragmentation`], on average over the whole time and at its worst.
    pub(super) fragmentation: (u64, u64),
}

impl Summary {
    pub(super) fn new(trace: &Trace, played: &Played) -> Self {
        let pairs = trace.pods.iter().zip(&played.fates);
        let mut waits: Vec<u64> =
            pairs.filter_map(|(pod, fate)| Some(fate.placed?.saturating_sub(pod.arrival))).collect();
        waits.sort_unstable();
        let at = |percent: usize| {
            // The smallest wait that so many of a hundred Pods do not exceed.
            let rank = waits.len().saturating_mul(percent).div_ceil(100);
            waits.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        let sum: u64 = waits.iter().copied().fold(0, u64::saturating_add);
        let mean = sum.checked_div(u64::try_from(waits.len()).unwrap_or(u64::MAX)).unwrap_or_default();
        let waiting = Waiting { mean, median: at(50), p95: at(95), p99: at(99), longest: at(100) };
        let ended = |(pod, fate): (&Pod, &Fate)| fate.placed.map(|at| at.saturating_add(pod.duration.unwrap_or(0)));
        let last =
            trace.pods.iter().zip(&played.fates).filter_map(ended).chain(trace.pods.last().map(|pod| pod.arrival));
        // What is tried again after the last Pod ended is no part of the trace.
        let time = last.max().unwrap_or_default().min(played.end_millis);
        let whole = u128::from(played.total).saturating_mul(u128::from(time));
        let used = played.work.saturating_mul(1000).checked_div(whole).unwrap_or_default();
        let worst = played.samples.iter().map(|sample| sample.fragmentation).max().unwrap_or_default();
        Self {
            placed: waits.len(),
            waiting,
            used: u64::try_from(used).unwrap_or_default(),
            fragmentation: (mean_over_time(&played.samples), worst),
        }
    }
}

/// A measurement holds until the next one.
fn mean_over_time(samples: &[Sample]) -> u64 {
    let (mut sum, mut time) = (0_u128, 0_u128);
    for (one, next) in samples.iter().zip(samples.iter().skip(1)) {
        let passed = u128::from(next.at_millis.saturating_sub(one.at_millis));
        sum = sum.saturating_add(passed.saturating_mul(u128::from(one.fragmentation)));
        time = time.saturating_add(passed);
    }
    sum.checked_div(time).and_then(|mean| u64::try_from(mean).ok()).unwrap_or_default()
}

/// Tenths of a percent as text.
pub(super) fn percent(tenths: u64) -> String {
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// So many tenths of a percent of the whole.
pub(super) fn share(part: u64, whole: u64) -> u64 {
    part.saturating_mul(1000).checked_div(whole).unwrap_or_default()
}

/// GPUs in words, from thousandths.
fn gpus(milli: u64) -> String {
    format!("{}.{}", milli / 1000, milli % 1000 / 100)
}

/// The verdict in one line.
pub(super) fn verdict(trace: &Trace, played: &Played, summary: &Summary) -> String {
    format!("{} of {} got a node in {}", summary.placed, count(trace.pods.len(), "Pod"), clock(played.end_millis))
}

/// Lines of a name and a value, for all forms that people read.
pub(super) fn lines(trace: &Trace, played: &Played, summary: &Summary) -> Vec<(&'static str, String)> {
    let Waiting { mean, median, p95, p99, longest } = summary.waiting;
    let (usual, worst) = summary.fragmentation;
    vec![
        ("Nodes", format!("{} with {} GPUs", trace.nodes.len(), played.total / 1000)),
        ("Pods placed", format!("{} of {}", summary.placed, trace.pods.len())),
        ("Most Pods waiting at a time", played.most_waiting.to_string()),
        ("Waiting time, mean", clock(mean)),
        ("Waiting time, median, 95%, 99%", [median, p95, p99].map(clock).join(", ")),
        ("Waiting time, longest", clock(longest)),
        ("GPUs in use, mean", percent(summary.used)),
        ("Fragmentation, mean and worst", format!("{}, {}", percent(usual), percent(worst))),
    ]
}

pub(super) const FRAGMENTATION: &str = "Fragmentation is the share of free GPU capacity that the GPU Pods of the trace cannot use, on average \
over them: too little of one GPU, too few GPUs, CPU or memory of a node, or another model.";

/// The answer for people.
pub(super) fn show(trace: &Trace, played: &Played, summary: &Summary, kubernetes: &str, pen: Pen) -> String {
    let mut out = vec![pen.paint(Ink::Strong, &verdict(trace, played, summary))];
    out.extend(text::wrap(&format!("Simulated for {kubernetes}."), text::width()));
    out.push(String::new());
    let rows: Vec<Vec<String>> =
        lines(trace, played, summary).into_iter().map(|(name, value)| row([name, &value])).collect();
    out.extend(table(&rows, &[]));
    out.push(String::new());
    let mut rows = vec![row(["TIME", "RUNNING", "WAITING", "GPUS IN USE", "", "FRAGMENTED"])];
    rows.extend(thinned(&played.samples).map(|sample| {
        let Sample { at_millis, running, waiting, used, fragmentation } = sample;
        let share = percent(share(*used, played.total));
        row([
            &clock(*at_millis),
            &running.to_string(),
            &waiting.to_string(),
            &gpus(*used),
            &share,
            &percent(*fragmentation),
        ])
    }));
    out.extend(table(&rows, &[1, 2, 3, 4, 5]));
    out.push(String::new());
    out.extend(text::wrap(FRAGMENTATION, text::width()).iter().map(|line| pen.paint(Ink::Faint, line)));
    out.extend(without_node(trace, played, pen));
    out.push(String::new());
    out.join("\n")
}

/// As many measurements as fit a screen; the first and the last are among them.
fn thinned(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    let last = samples.len().saturating_sub(1);
    let steps = MOST_ROWS.saturating_sub(1).min(last);
    let place = move |step: usize| step.saturating_mul(last).checked_div(steps).unwrap_or_default();
    (0..=steps).filter_map(move |step| samples.get(place(step)))
}

fn without_node(trace: &Trace, played: &Played, pen: Pen) -> Vec<String> {
    let waiting: Vec<(&str, &str)> = pairs(trace, played).collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec![String::new(), pen.paint(Ink::Bad, &format!("{} without a node", count(waiting.len(), "Pod")))];
    for (name, why) in waiting.iter().take(MOST_NAMES) {
        lines.extend(text::item("  ", &clean(&format!("{name}: {why}")), 0));
    }
    let more = waiting.len().saturating_sub(MOST_NAMES);
    if more > 0 {
        lines.push(format!("  and {more} more (see `--output json`)"));
    }
    lines
}

/// Pods without a node, and why.
fn pairs<'t>(trace: &'t Trace, played: &'t Played) -> impl Iterator<Item = (&'t str, &'t str)> {
    let pairs = trace.pods.iter().zip(&played.fates);
    pairs.filter(|(_, fate)| fate.is_waiting()).map(|(pod, fate)| (pod.name.as_str(), fate.why.as_str()))
}

/// What is wrong with the trace, for standard error.
pub(super) fn problems(trace: &Trace, played: &Played) -> String {
    let all = || trace.problems.iter().chain(&played.problems);
    let mut text: String = all().take(MOST_NAMES).map(|problem| format!("error: {problem}\n")).collect();
    let more = all().count().saturating_sub(MOST_NAMES);
    if more > 0 {
        text.push_str(&format!("error: {more} more rows are left out (see `--output json`)\n"));
    }
    if played.is_restless {
        text.push_str("error: components write without end; the rest of the trace was not played\n");
    }
    text
}

/// The answer for programs.
pub(super) fn to_json(trace: &Trace, played: &Played, summary: &Summary) -> Value {
    let Waiting { mean, median, p95, p99, longest } = summary.waiting;
    #[expect(clippy::cast_precision_loss, reason = "at most a few thousand")]
    let percent = |tenths: u64| json!(tenths as f64 / 10.0);
    let sample = |sample: &Sample| {
        json!({
            "atMillis": sample.at_millis, "running": sample.running, "waiting": sample.waiting, "gpuMilliUsed": sample.used,
            "fragmentationPercent": percent(sample.fragmentation),
        })
    };
    let pods = trace.pods.iter().zip(&played.fates).map(|(pod, fate)| match fate.placed {
        Some(placed) => json!({
            "name": pod.name, "arrivalMillis": pod.arrival, "waitMillis": placed.saturating_sub(pod.arrival), "node": fate.node,
        }),
        None => json!({ "name": pod.name, "arrivalMillis": pod.arrival, "reason": fate.why }),
    });
    let problems: Vec<&String> = trace.problems.iter().chain(&played.problems).collect();
    json!({
        "summary": {
            "nodes": trace.nodes.len(), "gpuMilli": played.total, "pods": trace.pods.len(), "placed": summary.placed,
            "endMillis": played.end_millis, "mostWaiting": played.most_waiting,
            "waitMillis": { "mean": mean, "median": median, "p95": p95, "p99": p99, "longest": longest },
            "gpuUsedPercent": percent(summary.used),
            "fragmentationPercent": { "mean": percent(summary.fragmentation.0), "worst": percent(summary.fragmentation.1) },
        },
        "samples": played.samples.iter().map(sample).collect::<Value>(), "pods": pods.collect::<Value>(), "problems": problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_holds_until_the_next_one() {
        let sample = |at_millis, fragmentation| Sample { at_millis, running: 0, waiting: 0, used: 0, fragmentation };
        assert_eq!(mean_over_time(&[sample(0, 100), sample(30, 500), sample(40, 900)]), 200);
        assert_eq!(mean_over_time(&[sample(0, 100)]), 0);
        assert_eq!(thinned(&[sample(0, 1)]).count(), 1);
        let many: Vec<Sample> = (0..100).map(|at| sample(at, 0)).collect();
        let shown: Vec<u64> = thinned(&many).map(|sample| sample.at_millis).collect();
        assert_eq!((shown.len(), shown.first(), shown.last()), (MOST_ROWS, Some(&0), Some(&99)));
    }
}
