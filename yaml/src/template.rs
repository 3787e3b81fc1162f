//! Go template actions (`{{ ... }}`) in what should be a manifest.

use std::ops::Range;

use crate::problem::{Problem, ProblemCode, Severity};

const HINT: &str = "expand the template first, for instance with `helm template`, and read the result";

/// Whether an unquoted text holds a template action.
pub(crate) fn is_in(text: &str) -> bool {
    text.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"))
}

/// The action that begins at `start`, to its end or the line's.
pub(crate) fn action_at(text: &str, start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let length = line.find("}}").map_or(line.len(), |end| end + 2);
    start..start + length
}

/// The first action outside comments and quotes, if there is one.
pub(crate) fn first_action(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#')
            && let Some((before, rest)) = line.split_once("{{")
            && rest.contains("}}")
            && is_outside_quotes(before)
        {
            return Some(action_at(text, at + before.len()));
        }
        at += line.len();
    }
    None
}

fn is_outside_quotes(before: &str) -> bool {
    ['"', '\''].into_iter().all(|quote| before.matches(quote).count() % 2 == 0)
}

/// A problem about an action that makes the document unreadable.
pub(crate) fn in_structure(action: Range<usize>, base: usize) -> Problem {
    let message = "the document is a template: `{{ ... }}` is not expanded";
    Problem::new(ProblemCode::Template, base + action.start..base + action.end, message).with_hint(HINT)
}

/// A warning about an action that stands in a text, where kubectl takes it literally.
pub(crate) fn in_text(span: Range<usize>) -> Problem {
    let message = "the document looks like a template: `{{ ... }}` is read as text";
    let mut problem = Problem::new(ProblemCode::Template, span, message).with_hint(HINT);
    problem.severity = Severity::Warning;
    problem
}
