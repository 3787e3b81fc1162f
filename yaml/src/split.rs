//! Splits a text at its `---` lines, as `kubectl` does before it looks at the YAML.

use std::ops::Range;

use crate::problem::{Problem, ProblemCode, quoted};

/// The text between two separators.
pub(crate) struct Chunk {
    /// Bytes of the input.
    pub(crate) bytes: Range<usize>,
    /// A separator line with something behind it, which kubectl refuses.
    pub(crate) problem: Option<Problem>,
}

/// The chunks of `text` from byte `from` on. The separators are in none of them.
pub(crate) fn chunks(text: &[u8], from: usize) -> impl Iterator<Item = Chunk> {
    let mut at = Some(from);
    let mut problem = None;
    std::iter::from_fn(move || {
        let start = at?;
        let mut line_start = start;
        let mut found = problem.take();
        loop {
            let rest = text.get(line_start..).unwrap_or_default();
            let line_end = rest.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| line_start + end + 1);
            let line = text.get(line_start..line_end).unwrap_or_default();
            if let Some(behind) = line.strip_prefix(b"---") {
                problem = check_separator(behind, line_start);
                at = Some(line_end);
                return Some(Chunk { bytes: start..line_start, problem: found.take() });
            }
            if line_end >= text.len() {
                at = None;
                return Some(Chunk { bytes: start..text.len(), problem: found.take() });
            }
            line_start = line_end;
        }
    })
}

/// Where the next separator line begins at or after the line behind `from`; the text's end when there is none.
pub(crate) fn next_separator(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.windows(4).position(|window| window == b"\n---").map_or(text.len(), |found| from + found + 1)
}

fn check_separator(behind: &[u8], line_start: usize) -> Option<Problem> {
    let content = behind.trim_ascii();
    if content.is_empty() || content.first() == Some(&b'#') {
        return None;
    }
    let start = line_start + 3 + (behind.len() - behind.trim_ascii_start().len());
    let words = quoted(&String::from_utf8_lossy(content));
    let message = format!("kubectl takes this line for a separator and refuses {words} behind its `---`");
    let problem = Problem::new(ProblemCode::Separator, start..start + content.len(), message);
    Some(problem.with_hint("put the document on the next line, or indent the text if it belongs to a block"))
}
