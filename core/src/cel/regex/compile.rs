//! A tree to instructions.

use std::sync::Arc;

use super::RegexError;
use super::parse::{Assert, Node};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Inst {
    Match,
    Class(Arc<[(char, char)]>),
    Assert(Assert),
    Jump(usize),
    /// Goes on at both places, the first preferred.
    Split(usize, usize),
}

/// The most instructions of one pattern.
const MOST: usize = 50_000;

pub(super) fn compile(tree: &Node, pattern: &str) -> Result<Vec<Inst>, RegexError> {
    let mut program = Vec::new();
    emit(&mut program, tree);
    if program.len() >= MOST {
        let at = pattern.chars().take(100).collect();
        return Err(RegexError::Syntax { what: "expression too large", at });
    }
    program.push(Inst::Match);
    Ok(program)
}

fn emit(program: &mut Vec<Inst>, node: &Node) {
    if program.len() >= MOST {
        return;
    }
    match node {
        Node::Empty => {}
        Node::Class(ranges) => program.push(Inst::Class(Arc::clone(ranges))),
        Node::Assert(assert) => program.push(Inst::Assert(*assert)),
        Node::Concat(nodes) => nodes.iter().for_each(|node| emit(program, node)),
        Node::Alternate(nodes) => {
            let mut jumps = Vec::new();
            for (position, node) in nodes.iter().enumerate() {
                if position.saturating_add(1) == nodes.len() {
                    emit(program, node);
                } else {
                    let split = program.len();
                    program.push(Inst::Split(split.saturating_add(1), 0));
                    emit(program, node);
                    jumps.push(program.len());
                    program.push(Inst::Jump(0));
                    let next = program.len();
                    set(program, split, Inst::Split(split.saturating_add(1), next));
                }
            }
            let end = program.len();
            jumps.into_iter().for_each(|jump| set(program, jump, Inst::Jump(end)));
        }
        Node::Repeat { node, min, max, is_greedy } => repeat(program, node, *min, *max, *is_greedy),
    }
}

fn set(program: &mut [Inst], position: usize, inst: Inst) {
    if let Some(place) = program.get_mut(position) {
        *place = inst;
    }
}

fn split(body: usize, end: usize, is_greedy: bool) -> Inst {
    if is_greedy { Inst::Split(body, end) } else { Inst::Split(end, body) }
}

fn repeat(program: &mut Vec<Inst>, node: &Node, min: u32, max: Option<u32>, is_greedy: bool) {
    for _ in 0..min {
        emit(program, node);
        if program.len() >= MOST {
            return;
        }
    }
    match max {
        None => {
            let start = program.len();
            program.push(Inst::Match);
            emit(program, node);
            program.push(Inst::Jump(start));
            let end = program.len();
            set(program, start, split(start.saturating_add(1), end, is_greedy));
        }
        Some(max) => {
            let mut splits = Vec::new();
            for _ in min..max {
                splits.push(program.len());
                program.push(Inst::Match);
                emit(program, node);
                if program.len() >= MOST {
                    return;
                }
            }
            let end = program.len();
            for start in splits {
                set(program, start, split(start.saturating_add(1), end, is_greedy));
            }
        }
    }
}
