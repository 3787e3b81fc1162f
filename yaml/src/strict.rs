//! What the YAML 1.2 parser takes and `kubectl`, reading YAML 1.1, refuses.

use std::ops::Range;

use crate::problem::{Problem, ProblemCode, Severity, quoted};

/// Collects while a document is parsed. All offsets are of the document's text.
#[derive(Default)]
pub(crate) struct Strict {
    /// Quoted texts of several lines and flow collections: tabs may begin their lines. In order, not overlapping.
    covered: Vec<Range<usize>>,
    flow_depth: usize,
    flow_start: usize,
    found: Vec<Problem>,
}

impl Strict {
    /// A scalar or alias that is neither quoted nor a block.
    pub(crate) fn plain(&mut self, text: &str, at: &Range<usize>) {
        self.token(text, at.start);
    }

    /// A quoted text.
    pub(crate) fn quoted(&mut self, text: &str, at: &Range<usize>) {
        self.token(text, at.start);
        let Some(written) = text.get(at.clone()) else { return };
        if self.flow_depth == 0 && written.contains('\n') {
            self.covered.push(at.clone());
        }
        if written.starts_with('"') {
            self.found.extend(refused_escape(written, at.start));
        }
    }

    /// The start of a flow collection.
    pub(crate) fn flow_start(&mut self, text: &str, at: usize) {
        self.token(text, at);
        if self.flow_depth == 0 {
            self.flow_start = at;
        }
        self.flow_depth += 1;
    }

    /// The end of a flow collection.
    pub(crate) fn flow_end(&mut self, end: usize) {
        self.flow_depth = self.flow_depth.saturating_sub(1);
        if self.flow_depth == 0 {
            self.covered.push(self.flow_start..end);
        }
    }

    /// The problems of the document, at their places in the input.
    pub(crate) fn finish(mut self, text: &str, base: usize) -> Vec<Problem> {
        self.tabs_at_line_starts(text);
        self.foreign_line_breaks(text);
        for problem in &mut self.found {
            problem.span = base + problem.span.start..base + problem.span.end;
        }
        self.found
    }

    /// Outside flow collections no tab may stand between a line's start, or its `-`, and what follows.
    fn token(&mut self, text: &str, at: usize) {
        if self.flow_depth > 0 {
            return;
        }
        let before = text.get(..at).unwrap_or_default();
        let prefix = before.trim_end_matches([' ', '\t', '-', '?', ':']);
        let is_line_start = prefix.is_empty() || prefix.ends_with('\n');
        // A tab in the first column is found by its line.
        let tab = before.get(prefix.len()..).and_then(|between| between.find('\t')).filter(|tab| *tab > 0);
        if let Some(tab) = tab
            && is_line_start
        {
            self.found.push(tab_problem(prefix.len() + tab));
        }
    }

    fn tabs_at_line_starts(&mut self, text: &str) {
        let first = text.starts_with('\t').then_some(0);
        let others = text.match_indices("\n\t").map(|(at, _)| at + 1);
        for tab in first.into_iter().chain(others) {
            let next = self.covered.partition_point(|range| range.end <= tab);
            if !self.covered.get(next).is_some_and(|range| range.contains(&tab)) {
                // One is enough: kubectl stops there too.
                self.found.push(tab_problem(tab));
                return;
            }
        }
    }

    fn foreign_line_breaks(&mut self, text: &str) {
        let is_break = |character: &char| matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}');
        if let Some((at, found)) = text.char_indices().find(|(_, character)| is_break(character)) {
            let message = format!("the character U+{:04X} ends a line for kubectl", u32::from(found));
            let mut problem = Problem::new(ProblemCode::Encoding, at..at + found.len_utf8(), message);
            problem.severity = Severity::Warning;
            self.found.push(problem.with_hint("write it as an escape in double quotes"));
        }
    }
}

fn tab_problem(at: usize) -> Problem {
    let problem = Problem::new(ProblemCode::Syntax, at..at + 1, "a tab is used as indentation, which kubectl refuses");
    problem.with_hint("indent with spaces")
}

/// `\/` and halves of surrogate pairs are escapes in JSON and YAML 1.2, not in YAML 1.1.
fn refused_escape(written: &str, start: usize) -> Option<Problem> {
    let mut rest = written;
    let mut at = start;
    while let Some((before, behind)) = rest.split_once('\\') {
        at += before.len();
        let length = match behind.as_bytes() {
            [b'/', ..] => 2,
            [b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] => 6,
            _ => 0,
        };
        if length > 0 {
            let escape = written.get(at - start..at - start + length).unwrap_or_default();
            let message = format!("kubectl refuses the escape {}", quoted(escape));
            let problem = Problem::new(ProblemCode::Syntax, at..at + length, message);
            return Some(problem.with_hint("write the character itself"));
        }
        // The backslash and what it escapes, which may be another backslash.
        let escaped = behind.chars().next().map_or(0, char::len_utf8);
        rest = behind.get(escaped..)?;
        at += 1 + escaped;
    }
    None
}
