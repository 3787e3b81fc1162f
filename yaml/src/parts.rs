//! A large text in parts that can be read at the same time.

use std::iter;
use std::ops::Range;

use crate::build::Budget;
use crate::documents::{Document, Limits, Outcome, budget, read_between, read_whole, start};
use crate::json;
use crate::problem::{Problem, Problems};
use crate::split;

/// Cuts a text into parts of at least `size` bytes that can be read one without another, in the order of the text:
/// before `---` lines. What cannot be cut, as JSON, is one part, and so is what has more documents than allowed: it is not read to its
/// end.
pub fn parts(text: &[u8], limits: &Limits, size: usize) -> Vec<Range<usize>> {
    let is_too_large = text.len() > limits.max_bytes.min(u32::MAX as usize);
    let is_utf16 = text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF");
    // JSON values may stand one behind the other, and nothing but reading them tells where one ends.
    let is_json = text.get(json::skip_space(text, start(text))) == Some(&b'{');
    if is_too_large || is_utf16 || is_json || has_more_separators(text, limits.max_documents) {
        return iter::once(0..text.len()).collect();
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = split::next_separator(text, at.saturating_add(size.max(1)));
        parts.push(at..end);
        at = end;
    }
    parts
}

fn has_more_separators(text: &[u8], most: usize) -> bool {
    let next = |at: &usize| Some(split::next_separator(text, *at)).filter(|at| *at < text.len());
    iter::successors(next(&0), next).nth(most).is_some()
}

/// What there is to say about a part, and what reading it cost.
#[derive(Debug)]
pub struct Part(Outcome);

impl Part {
    /// How many documents were found in it.
    pub fn documents(&self) -> usize {
        self.0.documents
    }
}

/// Reads one of the [`parts`] of a text: `emit` gets its documents, whose places are those in the whole text.
///
/// The positions of a document answer when this function has returned, not before.
pub fn read_part(text: &[u8], part: &Range<usize>, limits: &Limits, emit: impl FnMut(Document)) -> Part {
    Part(if *part == (0..text.len()) { read_whole(text, limits, emit) } else { read_between(text, part, limits, emit) })
}

/// The problems of a text whose parts were all read, given in their order: those that reading it at once would have
/// found. `None` when the parts together go beyond a limit: then only [`read_each`](crate::read_each) tells where.
pub fn join(text: &[u8], limits: &Limits, parts: Vec<Part>) -> Option<Vec<Problem>> {
    let may = budget(text.len(), limits);
    let used = |of: fn(&Budget) -> usize| {
        parts.iter().map(|Part(outcome)| of(&may).saturating_sub(of(&outcome.budget))).fold(0, usize::saturating_add)
    };
    // A part that is the whole text has met the limits itself.
    let is_within = parts.len() == 1
        || (parts.iter().all(|Part(outcome)| !outcome.budget.has_run_out)
            && used(|budget| budget.nodes) < may.nodes
            && used(|budget| budget.alias_nodes) <= may.alias_nodes
            && used(|budget| budget.alias_bytes) <= may.alias_bytes
            && parts.iter().map(Part::documents).fold(0, usize::saturating_add) <= limits.max_documents);
    is_within.then(|| {
        let mut problems = Problems::new(limits.max_problems);
        parts.into_iter().for_each(|Part(outcome)| problems.absorb(outcome.problems));
        problems.finish(text.len())
    })
}
