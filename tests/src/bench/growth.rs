//! How the cost of a question grows with the size of the problem.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::shapes;
use super::side::{self, Native};
use super::timing::{Effort, best_of, nanoseconds};
use super::workload::split;

/// One table: a shape at several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// What grows.
    pub title: String,
    /// Unit of the size.
    pub unit: &'static str,
    /// Sizes in ascending order.
    pub points: Vec<Point>,
}

/// A shape at one size.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The size.
    pub size: u64,
    /// Nanoseconds of one operation on the native core, the best of many.
    pub nanoseconds: f64,
    /// Search steps.
    pub steps: u64,
    /// What was wrong with the outcome, if anything.
    pub wrong: Option<String>,
}

impl Curve {
    /// The power of the size that the time grows with, over the upper half of the sizes: 1 is linear. Small sizes say
    /// little, because a question has a cost of its own.
    pub fn exponent(&self) -> Option<f64> {
        let last = self.points.last()?;
        let first = self.points.get(self.points.len() / 2)?;
        let sizes = last.size as f64 / first.size as f64;
        (sizes > 1.0).then(|| (last.nanoseconds / first.nanoseconds).ln() / sizes.ln())
    }
}

type Shape = Box<dyn Fn(u64) -> Value>;

/// Measures all shapes.
///
/// # Errors
///
/// When a shape cannot be set up.
pub fn measure(effort: Effort) -> Result<Vec<Curve>> {
    let in_devices: &[u64] = &[16, 32, 64, 128, 256, 512, 1024];
    let in_nodes: &[u64] = &[100, 250, 500, 1000, 2500, 5000, 10_000];
    let shapes: Vec<(&str, &'static str, &[u64], Shape)> = vec![
        (
            "one claim, all devices of the first 99 % of the nodes in use",
            "nodes",
            in_nodes,
            Box::new(|n| shapes::nodes(&[(n, 99)])),
        ),
        ("one claim, all devices of the first half in use", "nodes", in_nodes, Box::new(|n| shapes::nodes(&[(n, 50)]))),
        ("one claim, nothing in use", "nodes", in_nodes, Box::new(|n| shapes::nodes(&[(n, 0)]))),
        (
            "`match-pcie` with groups of 4",
            "devices",
            in_devices,
            Box::new(|n| shapes::match_groups("pcie", n / 4, 4, 1, true)),
        ),
        (
            "`match-numa` with 2 groups, 1 device per request",
            "devices",
            in_devices,
            Box::new(|n| shapes::match_groups("numa", 2, n / 2, 1, true)),
        ),
        (
            "`match-numa` with 2 groups, 2 devices per request",
            "devices",
            in_devices,
            Box::new(|n| shapes::match_groups("numa", 2, n / 2, 2, true)),
        ),
        (
            "`unsat-match-numa` with 2 groups, 2 devices per request",
            "devices",
            in_devices,
            Box::new(|n| shapes::match_groups("numa", 2, n / 2, 2, false)),
        ),
        (
            "`unsat-match-numa` with 2 groups, 4 devices per request",
            "devices",
            &[32, 64, 128, 256, 512, 1024],
            Box::new(|n| shapes::match_groups("numa", 2, n / 2, 4, false)),
        ),
        (
            "`unsat-match-pcie` with groups of 4",
            "devices",
            in_devices,
            Box::new(|n| shapes::match_groups("pcie", n / 4, 4, 1, false)),
        ),
        ("`unsat-count-(n+1)-of-n`", "devices", &[8, 12, 16, 20, 24, 28, 31], Box::new(shapes::unsat_count)),
        (
            "claims of 32 devices, one device too few",
            "devices",
            &[32, 64, 96, 128, 192, 256],
            Box::new(shapes::unsat_claims),
        ),
        ("`first-available-models`", "devices", in_devices, Box::new(shapes::first_available_models)),
        ("`first-available-counts`", "devices", in_devices, Box::new(shapes::first_available_counts)),
        (
            "one-device requests over n + 2 equal devices and an impossible one, as one claim",
            "requests",
            &[2, 4, 8, 12, 16, 24, 31],
            Box::new(|n| shapes::cliff(n, true)),
        ),
        ("the same as separate claims", "requests", &[2, 4, 8, 16, 32, 64], Box::new(|n| shapes::cliff(n, false))),
        (
            "`mig-1g`, the whole sequence of 7 claims per GPU",
            "GPUs",
            &[1, 2, 4, 8, 16, 32],
            Box::new(|n| shapes::mig(n, &["1g"], "mig-1g", 7 * n)),
        ),
        (
            "`mig-mixed`, the whole sequence of claims that fit",
            "GPUs",
            &[1, 2, 4, 8, 16, 32],
            Box::new(|n| shapes::mig(n, &["3g", "2g", "1g"], "mig-mixed", shapes::mixed_claims(n))),
        ),
        (
            "`consumable-nic`, the whole sequence of n claims",
            "claims",
            &[125, 250, 500, 1000, 2000, 4000],
            Box::new(shapes::consumable),
        ),
    ];
    shapes.into_iter().map(|(title, unit, sizes, shape)| curve(title, unit, sizes, &*shape, effort)).collect()
}

/// Sizes above one that took this long are left out.
const PATIENCE: Duration = Duration::from_secs(2);

fn curve(
    title: &str,
    unit: &'static str,
    sizes: &[u64],
    shape: &dyn Fn(u64) -> Value,
    effort: Effort,
) -> Result<Curve> {
    let mut points = Vec::new();
    let sizes = if effort.is_quick { sizes.get(..4).unwrap_or(sizes) } else { sizes };
    let time = Duration::from_millis(if effort.is_quick { 5 } else { 200 });
    for &size in sizes {
        let workload = split(shape(size)).pop().context("no workload")?.expand()?;
        let mut native = Native::new(&workload)?;
        let (done, verdict) = side::verify(&mut native, &workload)?;
        let once = done.asking;
        let best = if once > PATIENCE { once } else { best_of(&mut native, &workload, time)? };
        points.push(Point { size, nanoseconds: nanoseconds(best), steps: done.steps, wrong: verdict.err() });
        if once > PATIENCE {
            break;
        }
    }
    Ok(Curve { title: title.to_owned(), unit, points })
}
