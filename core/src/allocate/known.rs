//! Questions about claims that are in the cluster, by their keys.

use super::{Answer, Asked, InUse, Limits, Outcome, answer, node, row};
use crate::cluster::{Cluster, Key, KeyRef, Memory};

/// Names of claims in one namespace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClaimNames {
    /// The namespace.
    pub namespace: String,
    /// The names, in the order of the question.
    pub names: Vec<String>,
}

impl ClaimNames {
    /// The same claims in the same order, those of one namespace that follow one another together.
    pub fn of(keys: impl IntoIterator<Item = Key>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (namespace, name) in keys {
            match groups.last_mut() {
                Some(group) if group.namespace == namespace => group.names.push(name),
                _ => groups.push(Self { namespace, names: vec![name] }),
            }
        }
        groups
    }
}

/// The same as a [`Question`](super::Question) about claims that are in the cluster.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownQuestion {
    /// Claims of one Pod, in its order. One that has devices is to get others; those that it has are in use meanwhile.
    pub claims: Vec<ClaimNames>,
    /// As in [`Question`](super::Question).
    pub nodes: Vec<String>,
    /// As in [`Question`](super::Question).
    pub in_use: InUse,
    /// Whether the cluster's claims are to have the allocations of the answer from then on.
    pub take: bool,
}

impl KnownQuestion {
    /// Namespace and name of each claim, in order.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.claims.iter().flat_map(|group| group.names.iter().map(|name| (group.namespace.as_str(), name.as_str())))
    }
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
    let keys: Vec<KeyRef<'_>> = question.keys().collect();
    let answer = ask(cluster, &mut memory, &keys, question, limits);
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
    let keys: Vec<KeyRef<'_>> = question.keys().collect();
    let claims = cluster.find_claims(&keys)?;
    let lengths = if question.take { row::lengths(&claims) } else { vec![1; claims.len()] };
    let first = claims.get(..lengths.first().copied().unwrap_or_default()).unwrap_or_default();
    let mut together = row::answers(cluster, memory, first, question, limits);
    let mut answers: Vec<Answer> = Vec::with_capacity(keys.len());
    let mut rest = keys.as_slice();
    for (position, length) in lengths.into_iter().enumerate() {
        let (keys, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if position > 0 {
            together = row::answers(cluster, memory, &cluster.find_claims(keys)?, question, limits);
        }
        let alone = keys.get(together.len()..).unwrap_or_default();
        let allocations = together.iter().flat_map(Answer::allocations);
        cluster.take_allocations(keys.iter().copied().zip(allocations));
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
    keys: &[KeyRef<'_>],
    question: &KnownQuestion,
    limits: &Limits,
) -> Result<Answer, Key> {
    let asked =
        Asked { claims: cluster.find_claims(keys)?, nodes: &question.nodes, in_use: &question.in_use, barred: &[] };
    let answer = answer(cluster, memory, &asked, limits, node::PATIENCE);
    if question.take {
        cluster.take_allocations(keys.iter().copied().zip(answer.allocations()));
    }
    Ok(answer)
}
