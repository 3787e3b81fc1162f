//! Errors of compilation, collected and rendered as cel-go renders them.

use std::fmt::Write as _;

use crate::arrange::Arrange;

/// Where an error has no place in the source.
pub(super) const NOWHERE: u32 = u32::MAX;

const MOST_REPORTED: usize = 100;
const LONGEST_LINE: usize = 16384;

/// Collects the errors of one source text.
pub(super) struct Report<'a> {
    source: &'a str,
    errors: Vec<Problem>,
    count: usize,
}

struct Problem {
    offset: u32,
    message: String,
}

/// The line (from 1), the column in code points (from 0).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: i64,
    column: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, errors: Vec::new(), count: 0 }
    }

    /// Adds an error at an offset in code points, or [`NOWHERE`].
    pub(super) fn add(&mut self, offset: u32, message: impl Into<String>) {
        self.count += 1;
        if self.count <= MOST_REPORTED {
            self.errors.push(Problem { offset, message: message.into() });
        }
    }

    pub(super) fn syntax(&mut self, offset: u32, message: &str) {
        self.add(offset, format!("Syntax error: {message}"));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The offset in bytes, line (from 1) and column (from 1, in code points) of the first error.
    pub(super) fn first_place(&self) -> Option<(usize, u32, u32)> {
        let offset = self.errors.iter().map(|problem| problem.offset).filter(|offset| *offset != NOWHERE).min()?;
        let place = self.place(offset);
        let bytes = self.source.char_indices().nth(offset as usize).map_or(self.source.len(), |(position, _)| position);
        Some((bytes, u32::try_from(place.line).ok()?, u32::try_from(place.column).ok()?.saturating_add(1)))
    }

    /// All errors in order of their places, each with its source line and a mark under it.
    pub(super) fn render(&self) -> String {
        let mut errors: Vec<(Place, &str)> =
            self.errors.iter().map(|problem| (self.place(problem.offset), problem.message.as_str())).collect();
        errors.arrange_by_key(|(place, _)| *place);
        let mut text = String::new();
        for (position, (place, message)) in errors.into_iter().enumerate() {
            if position > 0 {
                text.push('\n');
            }
            self.render_one(&mut text, place, message);
        }
        if self.count > MOST_REPORTED {
            let more = self.count - MOST_REPORTED;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{more} more errors were truncated");
        }
        text
    }

    fn render_one(&self, text: &mut String, place: Place, message: &str) {
        let _ = write!(text, "ERROR: <input>:{}:{}: {message}", place.line, place.column.saturating_add(1));
        let line = usize::try_from(place.line).ok().and_then(|line| self.source.split('\n').nth(line.checked_sub(1)?));
        let Some(line) = line.filter(|line| line.len() <= LONGEST_LINE) else {
            return;
        };
        let _ = write!(text, "\n | {}\n | ", line.replace('\t', " "));
        let mut characters = line.chars();
        for character in characters.by_ref().take(place.column) {
            text.push(if character.len_utf8() > 1 { '．' } else { '.' });
        }
        text.push(if characters.next().is_some_and(|character| character.len_utf8() > 1) { '＾' } else { '^' });
    }

    fn place(&self, offset: u32) -> Place {
        if offset == NOWHERE {
            return Place { line: -1, column: 0 };
        }
        let (mut line, mut column) = (1, 0);
        for character in self.source.chars().take(offset as usize) {
            if character == '\n' {
                (line, column) = (line + 1, 0);
            } else {
                column += 1;
            }
        }
        Place { line, column }
    }
}
