//! The two sides of a comparison: the core linked into this program, and the same core inside the component.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use apportion::{Door, HostLimits, Runner};
use apportion_core::allocate::{Answer, Limits, Outcome, Question, allocate};
use apportion_core::api::claim::{AllocationResult, ResourceClaim};
use apportion_core::api::object::{Object, read_object};
use apportion_core::cluster::Cluster;
use apportion_core::finding::{ObjectRef, Severity};

use super::workload::{Kind, Workload};

/// Something that holds a cluster and answers questions about it.
pub trait Side {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// One question.
    ///
    /// # Errors
    ///
    /// When the component stops.
    fn ask(&mut self, question: &Question) -> Result<Answer>;

    /// Puts an allocated claim into the cluster, and tells how long that took. The native side gets it as a typed
    /// object, the component as JSON text, the only form in which objects cross; writing that text is not counted.
    ///
    /// # Errors
    ///
    /// When the component stops.
    fn take(&mut self, claim: ResourceClaim) -> Result<Duration>;

    /// Forgets all claims that were taken.
    ///
    /// # Errors
    ///
    /// When the component stops.
    fn reset(&mut self) -> Result<()>;
}

impl Debug for dyn Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The core itself.
#[derive(Debug)]
pub struct Native {
    limits: Limits,
    start: Cluster,
    cluster: Cluster,
}

impl Native {
    /// A cluster with a workload's objects.
    ///
    /// # Errors
    ///
    /// When an object is refused.
    pub fn new(workload: &Workload) -> Result<Self> {
        let mut cluster = Cluster::new(workload.profile.clone());
        for text in &workload.objects {
            let reading = read_object(serde_json::from_str(text)?);
            let usable = reading.is_usable();
            match reading.object {
                Some(object) if usable => cluster.apply(object),
                _ => bail!("{}: an object is refused: {:?}", workload.id, reading.findings),
            }
        }
        let start = if workload.kind == Kind::Sequence { cluster.clone() } else { Cluster::default() };
        Ok(Self { limits: workload.limits, start, cluster })
    }
}

impl Side for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn ask(&mut self, question: &Question) -> Result<Answer> {
        Ok(allocate(&mut self.cluster, question, &self.limits))
    }

    fn take(&mut self, claim: ResourceClaim) -> Result<Duration> {
        let object = Object::ResourceClaim(Box::new(claim));
        let start = Instant::now();
        self.cluster.apply(object);
        Ok(start.elapsed())
    }

    fn reset(&mut self) -> Result<()> {
        self.cluster = self.start.clone();
        Ok(())
    }
}

/// The component.
#[derive(Debug)]
pub struct Component {
    cluster: apportion::Cluster,
    taken: Vec<ObjectRef>,
}

impl Component {
    /// An instance with a workload's objects.
    ///
    /// # Errors
    ///
    /// When an object is refused or the component stops.
    pub fn new(runner: &Runner, workload: &Workload) -> Result<Self> {
        let mut cluster = runner.cluster(&workload.profile, workload.limits, HostLimits::default())?;
        let findings = cluster.apply(&workload.objects)?;
        if let Some(finding) = findings.iter().flatten().find(|finding| finding.severity == Severity::Error) {
            bail!("{}: an object is refused: {finding:?}", workload.id);
        }
        Ok(Self { cluster, taken: Vec::new() })
    }
}

impl Side for Component {
    fn name(&self) -> &'static str {
        "component"
    }

    fn ask(&mut self, question: &Question) -> Result<Answer> {
        Ok(self.cluster.allocate(question)?)
    }

    fn take(&mut self, claim: ResourceClaim) -> Result<Duration> {
        let object = Object::ResourceClaim(Box::new(claim));
        self.taken.push(object.reference());
        let text = [object.write().to_string()];
        let start = Instant::now();
        self.cluster.apply(&text)?;
        Ok(start.elapsed())
    }

    fn reset(&mut self) -> Result<()> {
        for object in self.taken.drain(..) {
            self.cluster.delete(&object)?;
        }
        Ok(())
    }
}

/// What one operation did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Time for the questions.
    pub asking: Duration,
    /// Time for putting results into the cluster.
    pub taking: Duration,
    /// Search steps.
    pub steps: u64,
    /// Claims placed, in a sequence.
    pub claims: u64,
}

/// One operation, checked.
///
/// # Errors
///
/// When the side breaks. A wrong outcome is in the second part.
pub fn verify(side: &mut dyn Side, workload: &Workload) -> Result<(Done, Result<(), String>)> {
    match workload.kind {
        Kind::Question => {
            let start = Instant::now();
            let answer = side.ask(&workload.question)?;
            let done = Done { asking: start.elapsed(), steps: answer.steps, ..Done::default() };
            Ok((done, workload.check(&answer)))
        }
        Kind::Sequence => {
            let done = sequence(side, workload)?;
            let expected = workload.claim_count();
            let verdict = if done.claims == expected {
                Ok(())
            } else {
                Err(format!("expected {expected} claims, got {}", done.claims))
            };
            Ok((done, verdict))
        }
    }
}

/// The time of a number of operations.
///
/// # Errors
///
/// When the side breaks.
pub fn repeat(side: &mut dyn Side, workload: &Workload, times: u64) -> Result<Duration> {
    if workload.kind == Kind::Question {
        let start = Instant::now();
        for _ in 0..times {
            std::hint::black_box(side.ask(std::hint::black_box(&workload.question))?);
        }
        return Ok(start.elapsed());
    }
    let mut total = Duration::ZERO;
    for _ in 0..times {
        let done = sequence(side, workload)?;
        total += done.asking + done.taking;
    }
    Ok(total)
}

fn sequence(side: &mut dyn Side, workload: &Workload) -> Result<Done> {
    side.reset()?;
    let mut done = Done::default();
    let mut question = workload.question.clone();
    for claim in &workload.claims {
        question.claims = vec![claim.clone()];
        let start = Instant::now();
        let answer = side.ask(&question)?;
        done.asking += start.elapsed();
        done.steps += answer.steps;
        let Outcome::Allocated { allocations, .. } = answer.outcome else {
            break;
        };
        done.taking += side.take(allocated(claim, allocations))?;
        done.claims += 1;
    }
    Ok(done)
}

/// A claim with its allocation.
pub fn allocated(claim: &ResourceClaim, allocations: Vec<AllocationResult>) -> ResourceClaim {
    let mut claim = claim.clone();
    claim.status.allocation = allocations.into_iter().next();
    claim
}
