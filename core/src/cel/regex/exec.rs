//! Matching: all alternatives at once, in order of preference. Each alternative of each position is a step.

use super::compile::Inst;
use super::parse::Assert;
use crate::cel::value::Eval;
use crate::cel::work::Work;

/// The alternatives alive at one position: where each is in the program and where its match started.
#[derive(Default)]
struct Threads {
    list: Vec<(usize, usize)>,
    /// The step in which each instruction was added last.
    seen: Vec<u32>,
    step: u32,
    /// Instructions that were looked at for this position.
    steps: usize,
}

impl Threads {
    fn clear(&mut self, size: usize) {
        self.list.clear();
        self.steps = 1;
        self.seen.resize(size, 0);
        self.step = self.step.wrapping_add(1);
    }

    fn is_new(&mut self, inst: usize) -> bool {
        match self.seen.get_mut(inst) {
            Some(step) if *step != self.step => {
                *step = self.step;
                true
            }
            _ => false,
        }
    }
}

/// The leftmost match, or any where nobody asks for its place.
pub(super) fn find(
    program: &[Inst],
    text: &str,
    start: usize,
    wants_place: bool,
    work: &mut Work,
) -> Eval<Option<(usize, usize)>> {
    let (mut current, mut next) = (Threads::default(), Threads::default());
    let mut stack = Vec::new();
    let mut found: Option<(usize, usize)> = None;
    let mut position = start;
    work.take(program.len() / 8)?;
    current.clear(program.len());
    loop {
        let Some(rest) = text.get(position..) else { return Ok(None) };
        let c = rest.chars().next();
        if found.is_none() {
            add(program, &mut current, &mut stack, (0, position), text, position);
        }
        if current.list.is_empty() && found.is_some() {
            return Ok(found);
        }
        work.take(current.steps)?;
        next.clear(program.len());
        let after = position.saturating_add(c.map_or(1, char::len_utf8));
        for (inst, from) in std::mem::take(&mut current.list) {
            match program.get(inst) {
                Some(Inst::Match) => {
                    // Everything that follows in the list is less preferred.
                    found = Some((from, position));
                    break;
                }
                Some(Inst::Class(ranges)) if c.is_some_and(|c| contains(ranges, c)) => {
                    add(program, &mut next, &mut stack, (inst.saturating_add(1), from), text, after);
                }
                _ => {}
            }
        }
        if c.is_none() || (found.is_some() && !wants_place) {
            return Ok(found);
        }
        std::mem::swap(&mut current, &mut next);
        position = after;
    }
}

fn contains(ranges: &[(char, char)], c: char) -> bool {
    match ranges {
        [(low, high)] => (*low..=*high).contains(&c),
        ranges => {
            let after = ranges.partition_point(|(low, _)| *low <= c);
            after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|(_, high)| c <= *high)
        }
    }
}

/// Adds an alternative and all it leads to without reading a character.
fn add(
    program: &[Inst],
    threads: &mut Threads,
    stack: &mut Vec<usize>,
    (inst, from): (usize, usize),
    text: &str,
    position: usize,
) {
    stack.push(inst);
    while let Some(inst) = stack.pop() {
        threads.steps = threads.steps.saturating_add(1);
        if !threads.is_new(inst) {
            continue;
        }
        match program.get(inst) {
            Some(Inst::Jump(target)) => stack.push(*target),
            Some(Inst::Split(first, second)) => {
                stack.push(*second);
                stack.push(*first);
            }
            Some(Inst::Assert(assert)) if !holds(*assert, text, position) => {}
            Some(Inst::Assert(_)) => stack.push(inst.saturating_add(1)),
            Some(Inst::Match | Inst::Class(_)) => threads.list.push((inst, from)),
            None => {}
        }
    }
}

fn holds(assert: Assert, text: &str, position: usize) -> bool {
    let before = position.checked_sub(1).and_then(|before| text.as_bytes().get(before)).copied();
    let after = text.as_bytes().get(position).copied();
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match assert {
        Assert::TextStart => before.is_none(),
        Assert::TextEnd => after.is_none(),
        Assert::LineStart => before.is_none_or(|byte| byte == b'\n'),
        Assert::LineEnd => after.is_none_or(|byte| byte == b'\n'),
        Assert::WordBoundary => is_word(before) != is_word(after),
        Assert::NotWordBoundary => is_word(before) == is_word(after),
    }
}
