//! Questions about claims that are in the cluster, by their keys.

use super::{Answer, Asked, InUse, Limits, Outcome, answer, node, row};
use crate::cluster::{Cluster, Key, Memory};

/// The same as a [`Question`](super::Question) about claims that are in the cluster.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownQuestion {
    /// Keys of unallocated claims of one Pod, in its order.
    pub claims: Vec<Key>,
    /// As in [`Question`](super::Question).
    pub nodes: Vec<String>,
    /// As in [`Question`](super::Question).
    pub in_use: InUse,
    /// Whether the cluster's claims are to have the allocations of the answer from then on.
    pub take: bool,
}

/// Answers a question about claims that are in the cluster, and puts the answer there if that is asked for.
///
/// The answer is the one that [`allocate`](super::allocate) gives for the same claims.
///
/// # Errors
///
/// The first key that no claim has.
pub fn allocate_known(cluster: &mut Cluster, question: &KnownQuestion, limits: &Limits) -> Result<Answer, Key> {
    let mut memory = cluster.lend_memory();
    let answer = ask(cluster, &mut memory, &question.claims, question, limits);
    cluster.return_memory(memory);
    answer
}

/// Answers a question about claims that are in the cluster for each of them alone, one after another, and puts each answer there
/// before the next if that is asked for. After the first claim without an allocation none is asked.
///
/// The answers are those that [`allocate_known`] gives for one claim after the other.
///
/// # Errors
///
/// The first key that no claim has; then none is asked.
pub fn allocate_each(cluster: &mut Cluster, question: &KnownQuestion, limits: &Limits) -> Result<Vec<Answer>, Key> {
    let mut memory = cluster.lend_memory();
    let answers = ask_each(cluster, &mut memory, question, limits);
    cluster.return_memory(memory);
    answers
}

fn ask_each(
    cluster: &mut Cluster,
    memory: &mut Memory,
    question: &KnownQuestion,
    limits: &Limits,
) -> Result<Vec<Answer>, Key> {
    let claims = cluster.find_claims(&question.claims)?;
    let lengths = if question.take { row::lengths(&claims) } else { vec![1; claims.len()] };
    let first = claims.get(..lengths.first().copied().unwrap_or_default()).unwrap_or_default();
    let mut together = row::answers(cluster, memory, first, question, limits);
    let mut answers: Vec<Answer> = Vec::with_capacity(question.claims.len());
    let mut rest = question.claims.as_slice();
    for (position, length) in lengths.into_iter().enumerate() {
        let (keys, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if position > 0 {
            together = row::answers(cluster, memory, &cluster.find_claims(keys)?, question, limits);
        }
        let alone = keys.get(together.len()..).unwrap_or_default();
        let allocations = together.iter().flat_map(Answer::allocations);
        cluster.take_allocations(keys.iter().zip(allocations));
        answers.append(&mut together);
        for key in alone {
            let answer = ask(cluster, memory, std::slice::from_ref(key), question, limits)?;
            let is_last = !matches!(answer.outcome, Outcome::Allocated { .. });
            answers.push(answer);
            if is_last {
                return Ok(answers);
            }
        }
        rest = others;
    }
    Ok(answers)
}

/// Some of a question's claims together.
fn ask(
    cluster: &mut Cluster,
    memory: &mut Memory,
    keys: &[Key],
    question: &KnownQuestion,
    limits: &Limits,
) -> Result<Answer, Key> {
    let asked =
        Asked { claims: cluster.find_claims(keys)?, nodes: &question.nodes, in_use: &question.in_use, barred: &[] };
    let answer = answer(cluster, memory, &asked, limits, node::PATIENCE);
    if question.take {
        cluster.take_allocations(keys.iter().zip(answer.allocations()));
    }
    Ok(answer)
}
