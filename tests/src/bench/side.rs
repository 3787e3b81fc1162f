//! The two sides of a comparison: the core linked into this program, and the same core inside the component.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use apportion::{Door, HostLimits, Runner};
use apportion_core::allocate::{Answer, ClaimNames, KnownQuestion, Limits, Outcome, Question, allocate, allocate_each};
use apportion_core::api::claim::ResourceClaim;
use apportion_core::api::object::{Object, read_object};
use apportion_core::cluster::{Cluster, Key};
use apportion_core::finding::Severity;

use super::workload::{Kind, Workload};

/// Something that holds a cluster and answers questions about it.
pub trait Side {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// The question of the workload. The component has its claims already, as a watch would have brought them, and is asked by their keys;
    /// the allocation comes back as JSON.
    ///
    /// # Errors
    ///
    /// When the side stops.
    fn ask(&mut self) -> Result<Answer>;

    /// Allocates the claims of the workload's sequence one after another until one finds no place. They are in the cluster already,
    /// and take their answers.
    ///
    /// # Errors
    ///
    /// When the side stops.
    fn place(&mut self) -> Result<Vec<Answer>>;

    /// Takes all claims of the sequence back.
    ///
    /// # Errors
    ///
    /// When the side stops.
    fn reset(&mut self) -> Result<()>;
}

impl Debug for dyn Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The keys of claims, if they are different.
fn keys(claims: &[ResourceClaim]) -> Option<Vec<Key>> {
    let keys: Vec<Key> = claims.iter().map(|claim| claim.metadata.clone()).map(|m| (m.namespace, m.name)).collect();
    let distinct: BTreeSet<&Key> = keys.iter().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

/// Claims with a namespace.
fn named(claims: &[ResourceClaim]) -> Vec<ResourceClaim> {
    let named = claims.iter().cloned().map(|mut claim| {
        if claim.metadata.namespace.is_empty() {
            claim.metadata.namespace = "default".to_owned();
        }
        claim
    });
    named.collect()
}

/// The question of a sequence.
fn sequence_question(workload: &Workload, claims: &[ResourceClaim]) -> KnownQuestion {
    let key = |claim: &ResourceClaim| (claim.metadata.namespace.clone(), claim.metadata.name.clone());
    KnownQuestion {
        claims: ClaimNames::of(claims.iter().map(key)),
        nodes: workload.question.nodes.clone(),
        in_use: workload.question.in_use.clone(),
        take: true,
    }
}

/// The core itself.
#[derive(Debug)]
pub struct Native {
    limits: Limits,
    cluster: Cluster,
    question: Question,
    sequence: KnownQuestion,
    /// The claims of the sequence.
    claims: Vec<ResourceClaim>,
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
        let claims = named(&workload.claims);
        for claim in &claims {
            cluster.apply(Object::ResourceClaim(Arc::new(claim.clone())));
        }
        let sequence = sequence_question(workload, &claims);
        Ok(Self { limits: workload.limits, cluster, question: workload.question.clone(), sequence, claims })
    }
}

impl Side for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn ask(&mut self) -> Result<Answer> {
        Ok(allocate(&mut self.cluster, std::hint::black_box(&self.question), &self.limits))
    }

    fn place(&mut self) -> Result<Vec<Answer>> {
        allocate_each(&mut self.cluster, &self.sequence, &self.limits).map_err(|key| anyhow!("no claim {key:?}"))
    }

    fn reset(&mut self) -> Result<()> {
        for claim in &self.claims {
            self.cluster.apply(Object::ResourceClaim(Arc::new(claim.clone())));
        }
        Ok(())
    }
}

/// The component.
#[derive(Debug)]
pub struct Component {
    cluster: apportion::Cluster,
    question: Question,
    /// The same question by keys, unless claims have equal ones.
    known: Option<KnownQuestion>,
    sequence: KnownQuestion,
    /// The claims of the sequence as JSON.
    claims: Vec<String>,
}

impl Component {
    /// An instance with a workload's objects.
    ///
    /// # Errors
    ///
    /// When an object is refused or the component stops.
    pub fn new(runner: &Runner, workload: &Workload) -> Result<Self> {
        let mut cluster = runner.cluster(&workload.profile, workload.limits, HostLimits::default())?;
        let write = |claim: &ResourceClaim| Object::ResourceClaim(Arc::new(claim.clone())).write().to_string();
        let (asked, sequence) = (named(&workload.question.claims), named(&workload.claims));
        let claims: Vec<String> = sequence.iter().map(write).collect();
        let objects = workload.objects.iter().cloned().chain(asked.iter().map(write)).chain(claims.iter().cloned());
        let findings = cluster.apply(&objects.collect::<Vec<_>>())?;
        if let Some(finding) = findings.iter().flatten().find(|finding| finding.severity == Severity::Error) {
            bail!("{}: an object is refused: {finding:?}", workload.id);
        }
        let question = workload.question.clone();
        let (nodes, in_use) = (question.nodes.clone(), question.in_use.clone());
        let known = keys(&asked).map(ClaimNames::of).map(|claims| KnownQuestion { claims, nodes, in_use, take: false });
        Ok(Self { cluster, question, known, sequence: sequence_question(workload, &sequence), claims })
    }
}

impl Side for Component {
    fn name(&self) -> &'static str {
        "component"
    }

    fn ask(&mut self) -> Result<Answer> {
        Ok(match &self.known {
            Some(known) => self.cluster.allocate_known(known)?,
            None => self.cluster.allocate(&self.question)?,
        })
    }

    fn place(&mut self) -> Result<Vec<Answer>> {
        Ok(self.cluster.allocate_each(&self.sequence)?)
    }

    fn reset(&mut self) -> Result<()> {
        self.cluster.apply(&self.claims)?;
        Ok(())
    }
}

/// What one operation did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Time for the questions, and for having claims take the answers.
    pub asking: Duration,
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
            let answer = side.ask()?;
            let done = Done { asking: start.elapsed(), steps: answer.steps, ..Done::default() };
            Ok((done, workload.check(&answer)))
        }
        Kind::Sequence => {
            let done = sequence(side)?;
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
            std::hint::black_box(side.ask()?);
        }
        return Ok(start.elapsed());
    }
    let mut total = Duration::ZERO;
    for _ in 0..times {
        let done = sequence(side)?;
        total += done.asking;
    }
    Ok(total)
}

fn sequence(side: &mut dyn Side) -> Result<Done> {
    side.reset()?;
    let mut done = Done::default();
    let start = Instant::now();
    let answers = side.place()?;
    done.asking = start.elapsed();
    for answer in answers {
        done.steps += answer.steps;
        done.claims += u64::from(matches!(answer.outcome, Outcome::Allocated { .. }));
    }
    Ok(done)
}
