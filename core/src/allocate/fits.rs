//! On which nodes claims fit, without the devices and without the reasons: one bit per node.

use serde::Serialize;
use serde_json::Value;

use super::json::{Refused, refused};
use super::node::{self, Asking, Reply, Way};
use super::precheck::Stop;
use super::{Asked, Budget, Failure, Judge, Limits, Memory, Plan, Question, Quirks, nodes, overlay};
use crate::cluster::Cluster;

/// On which nodes the claims of a [`Question`] fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fits {
    /// What is known.
    pub outcome: FitsOutcome,
    /// Search steps taken, over all nodes.
    pub steps: u64,
}

/// What is known of a question's nodes.
#[derive(Clone, PartialEq, Debug)]
pub enum FitsOutcome {
    /// For each candidate in the order of trying, whether the claims fit there.
    Known(Vec<bool>),
    /// The input is wrong (a claim, a class, a slice).
    Failed {
        /// The node on which it was noticed.
        node: String,
        /// What is wrong.
        failure: Failure,
    },
    /// The step limit was reached.
    GaveUp {
        /// The node that was being searched.
        node: String,
        /// As far as it is known, the nodes before that one.
        fits: Vec<bool>,
    },
}

/// On which of a question's nodes the claims fit.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Places"))]
pub(crate) enum Written<'a> {
    /// It is known.
    Known(KnownPlaces),
    /// The input is wrong.
    Error(PlacesFailed<'a>),
    /// The step limit was reached.
    GaveUp(PlacesGaveUp<'a>),
}

/// It is known on which nodes the claims fit.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct KnownPlaces {
    /// For each candidate in the order of trying: `1` where the claims fit, `0` where they do not.
    bits: String,
    /// Search steps taken, over all nodes.
    steps: u64,
}

/// The input is wrong.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct PlacesFailed<'a> {
    /// The node on which it was noticed.
    node: &'a str,
    #[serde(flatten)]
    failure: Refused<'a>,
    /// Search steps taken, over all nodes.
    steps: u64,
}

/// The step limit was reached.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct PlacesGaveUp<'a> {
    /// The node that was being searched.
    node: &'a str,
    /// As far as it is known, the nodes before that one.
    bits: String,
    /// Search steps taken, over all nodes.
    steps: u64,
}

impl Fits {
    /// As JSON, with `1` for a node on which the claims fit and `0` for one on which they do not:
    ///
    /// ```text
    /// {"status": "known", "bits": "0110", "steps": S}
    /// {"status": "error", "node": N, "code": C, "error": text, "reference": text, "nodeLocal": false, "finding": {..}, "steps": S}
    /// {"status": "gave-up", "node": N, "bits": "01", "steps": S}
    /// ```
    pub fn to_json(&self) -> Value {
        let steps = self.steps;
        let written = match &self.outcome {
            FitsOutcome::Known(fits) => Written::Known(KnownPlaces { bits: bits(fits), steps }),
            FitsOutcome::Failed { node, failure } => {
                Written::Error(PlacesFailed { node, failure: refused(failure, false), steps })
            }
            FitsOutcome::GaveUp { node, fits } => Written::GaveUp(PlacesGaveUp { node, bits: bits(fits), steps }),
        };
        // All keys are text, so writing cannot fail.
        serde_json::to_value(written).unwrap_or_default()
    }
}

fn bits(fits: &[bool]) -> String {
    fits.iter().map(|fits| if *fits { '1' } else { '0' }).collect()
}

/// On which of the candidates the claims of a question fit, each node looked at by itself as [`super::allocate`] would if it were the
/// only one. The candidates and their order are those of [`super::allocate`].
///
/// The limit holds for all nodes together. What is wrong with the input on one node ends the question, as there.
pub fn fits(cluster: &mut Cluster, question: &Question, limits: &Limits) -> Fits {
    let mut memory = cluster.lend_memory();
    let answer = ask(cluster, &mut memory, question, limits);
    cluster.return_memory(memory);
    answer
}

fn ask(cluster: &Cluster, memory: &mut Memory, question: &Question, limits: &Limits) -> Fits {
    let claims = question.claims.iter().collect();
    let asked = &Asked { claims, nodes: &question.nodes, in_use: &question.in_use, barred: &[] };
    let plan = &Plan::new(&asked.claims, cluster);
    let overlay = &overlay(cluster, asked.in_use, asked.barred);
    let mut judge = Judge::new(plan, cluster.profile(), std::mem::take(&mut memory.selectors));
    let way = Way { quirks: Quirks::of(cluster.profile()), patience: node::PATIENCE };
    let pools = &mut memory.pools;
    let mut asking = Asking { cluster, overlay, plan, judge: &mut judge, pools, way, met_defect: false };
    let mut budget = Budget { steps: 0, limit: limits.max_steps };
    let outcome = ask_each(&mut asking, asked, &mut budget);
    memory.selectors = judge.into_selectors();
    Fits { outcome, steps: budget.steps }
}

fn ask_each(asking: &mut Asking<'_, '_>, asked: &Asked<'_>, budget: &mut Budget) -> FitsOutcome {
    let cluster = asking.cluster;
    let mut fits = Vec::new();
    // In the order of the candidates, some left out: there the claims do not fit.
    let mut worth_asking = nodes::worth_asking(cluster, asked, asking.plan).peekable();
    for name in nodes::candidates(cluster, asked) {
        if worth_asking.next_if_eq(&name).is_none() {
            fits.push(false);
            continue;
        }
        match asking.ask(&nodes::named(cluster, name), false, budget) {
            Ok(reply) => fits.push(matches!(reply, Reply::Fits(_))),
            Err(Stop::Failed(failure)) => return FitsOutcome::Failed { node: name.to_owned(), failure: *failure },
            Err(Stop::Limit) => return FitsOutcome::GaveUp { node: name.to_owned(), fits },
        }
    }
    FitsOutcome::Known(fits)
}
