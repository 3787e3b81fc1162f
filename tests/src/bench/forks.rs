//! Forks of a large cluster on the native core: what it costs to try something out.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use apportion_core::allocate::{Answer, KnownQuestion, Limits, Outcome};
use apportion_core::engine::Engine;
use apportion_core::finding::Finding;
use apportion_core::profile::{Profile, Version};
use serde::{Deserialize, Serialize};

use super::scale::{pending, split_template};

/// How often each is done; the first tenth is not counted.
const ROUNDS: u32 = 10_000;

/// What was measured, each on average in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Forks {
    /// Fork, ask where a claim fits, drop.
    pub asked: f64,
    /// Fork, take a claim in, allocate it, drop.
    pub taken: f64,
}

/// Measures on so many nodes with 16 devices each, of which a quarter is in use.
///
/// # Errors
///
/// When an object is refused, or the claim finds no place.
pub fn measure(nodes: u64) -> Result<Forks> {
    let mut engine = Engine::new(Profile::of(Version::V1_36), Limits::default());
    let template = split_template();
    apply(&mut engine, &template.class)?;
    for index in 0..nodes {
        apply(&mut engine, &template.node(index))?;
        for half in 0..2 {
            apply(&mut engine, &template.slice(index, half, 0))?;
        }
    }
    for number in 0..nodes * 4 {
        allocate(&mut engine, number, true)?;
    }
    let (text, question) = pending(u64::from(u32::MAX), false)?;
    text.iter().try_for_each(|text| apply(&mut engine, text))?;
    // The cluster is warm, as for all questions: it has been asked since the last claim took devices.
    ask(&mut engine, &question)?;
    Ok(Forks {
        asked: time(|| ask(&mut engine.fork(), &question))?,
        taken: time(|| allocate(&mut engine.fork(), u64::from(u32::MAX) - 1, true))?,
    })
}

fn time(mut work: impl FnMut() -> Result<Answer>) -> Result<f64> {
    for _ in 0..ROUNDS / 10 {
        black_box(work()?);
    }
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(work()?);
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(ROUNDS))
}

fn allocate(engine: &mut Engine, number: u64, take: bool) -> Result<Answer> {
    let (text, question) = pending(number, take)?;
    text.iter().try_for_each(|text| apply(engine, text))?;
    ask(engine, &question)
}

fn ask(engine: &mut Engine, question: &KnownQuestion) -> Result<Answer> {
    let answer = engine.allocate_known(question).map_err(|found| refused(&found))?;
    ensure!(matches!(answer.outcome, Outcome::Allocated { .. }), "the claim finds no place");
    Ok(answer)
}

fn apply(engine: &mut Engine, text: &str) -> Result<()> {
    let found = engine.apply([text]).concat();
    if found.is_empty() { Ok(()) } else { Err(refused(&found)) }
}

fn refused(found: &[Finding]) -> anyhow::Error {
    anyhow::anyhow!("an object is refused: {found:?}")
}
