//! How long an operation takes, measured by criterion.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use criterion::{Criterion, SamplingMode};
use serde::{Deserialize, Serialize};

use super::side::{Side, repeat};
use super::workload::Workload;

/// How long one side measures before it is the turn of the other.
const TURN: Duration = Duration::from_millis(5);

/// Operations that take longer are measured a few times by hand: criterion wants ten samples at least.
const SLOW: Duration = Duration::from_millis(200);

/// Time of one operation, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// The middle one of all samples.
    pub median: f64,
    /// The best sample: what the work costs when nothing else runs.
    pub best: f64,
}

impl Timing {
    fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        Some(Self { median: *samples.get(samples.len() / 2)?, best: *samples.first()? })
    }
}

/// How thoroughly to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Seconds for everything, instead of minutes.
    pub is_quick: bool,
}

/// Measures; keeps criterion's own results in a folder, so that it can tell what changed since the last run.
pub struct Stopwatch {
    criterion: Criterion,
    folder: PathBuf,
}

impl std::fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stopwatch").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// What criterion writes about each sample.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

impl Stopwatch {
    /// A stopwatch with its folder.
    pub fn new(folder: &Path, effort: Effort) -> Self {
        let (warm_up, measurement, samples) = if effort.is_quick { (10, 100, 10) } else { (300, 1500, 50) };
        let criterion = Criterion::default()
            .without_plots()
            .output_directory(folder)
            .warm_up_time(Duration::from_millis(warm_up))
            .measurement_time(Duration::from_millis(measurement))
            .sample_size(samples)
            .nresamples(if effort.is_quick { 1_000 } else { 10_000 });
        Self { criterion, folder: folder.to_owned() }
    }

    /// The time of one operation, which took `once` when it was checked.
    ///
    /// # Errors
    ///
    /// When the side breaks.
    pub fn time(&mut self, side: &mut dyn Side, workload: &Workload, once: Duration) -> Result<Timing> {
        if once > SLOW {
            let runs = if once > Duration::from_secs(3) { 0 } else { 2 };
            let mut samples = vec![nanoseconds(once)];
            for _ in 0..runs {
                samples.push(nanoseconds(repeat(side, workload, 1)?));
            }
            return Timing::of(samples).context("no samples");
        }
        let group = side.name();
        let broken = RefCell::new(None);
        let mut criterion_group = self.criterion.benchmark_group(group);
        criterion_group.sampling_mode(SamplingMode::Flat);
        criterion_group.bench_function(&workload.id, |bencher| {
            bencher.iter_custom(|times| match repeat(side, workload, times) {
                // Criterion divides by the time.
                Ok(elapsed) => elapsed.max(Duration::from_nanos(1)),
                Err(error) => {
                    broken.replace(Some(error));
                    Duration::from_nanos(1)
                }
            });
        });
        criterion_group.finish();
        if let Some(error) = broken.into_inner() {
            return Err(error);
        }
        let file = self.folder.join(group).join(&workload.id).join("new/sample.json");
        let text = fs::read_to_string(&file).with_context(|| format!("criterion did not write {}", file.display()))?;
        let sample: Sample = serde_json::from_str(&text)?;
        let per_operation = sample.times.iter().zip(&sample.iters).map(|(time, iters)| time / iters).collect();
        Timing::of(per_operation).context("no samples")
    }
}

/// A duration as a number.
pub fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// The best of as many operations as fit into a time, at least three: for tables with many small measurements.
///
/// # Errors
///
/// When the side breaks.
pub fn best_of(side: &mut dyn Side, workload: &Workload, time: Duration) -> Result<Duration> {
    let start = Instant::now();
    let mut best = repeat(side, workload, 1)?;
    for run in 1_u32.. {
        if run >= 3 && start.elapsed() > time || start.elapsed() > time.saturating_mul(20) {
            break;
        }
        best = best.min(repeat(side, workload, 1)?);
    }
    Ok(best)
}

/// How many times as long an operation takes on one side as on another. They take turns, and the best of each counts.
///
/// # Errors
///
/// When a side breaks.
pub fn ratio(
    one: &mut dyn Side,
    other: &mut dyn Side,
    workload: &Workload,
    once: Duration,
    effort: Effort,
) -> Result<f64> {
    let times = (TURN.as_nanos() / once.as_nanos().max(1)).clamp(1, 10_000) as u64;
    let (mut first, mut second) = (Duration::MAX, Duration::MAX);
    for _ in 0..if effort.is_quick { 5 } else { 100 } {
        first = first.min(repeat(one, workload, times)?);
        second = second.min(repeat(other, workload, times)?);
    }
    Ok(nanoseconds(first) / nanoseconds(second))
}
