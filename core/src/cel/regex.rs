//! Regular expressions in the RE2 dialect of Go.
//!
//! A parser of our own, because the dialect is part of the answer: what Go refuses must be refused. Matching simulates all
//! alternatives at once, so its time is at most the product of text and compiled pattern; nothing backtracks, and every step is counted.

mod classes;
mod compile;
mod exec;
mod parse;
mod unicode;

pub(super) use unicode::class;

use std::fmt;

use super::value::Eval;
use super::work::Work;
use compile::Inst;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Regex {
    program: Vec<Inst>,
}

/// Why a text is no pattern. `Display` gives Go's message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RegexError {
    Syntax {
        what: &'static str,
        at: String,
    },
    /// Go knows it and this implementation does not.
    Unsupported(String),
}

impl RegexError {
    pub(super) fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported(_))
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { what, at } => write!(f, "error parsing regexp: {what}: `{at}`"),
            Self::Unsupported(what) => f.write_str(what),
        }
    }
}

impl Regex {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// [`RegexError`].
    pub(super) fn new(pattern: &str) -> Result<Self, RegexError> {
        let tree = parse::parse(pattern)?;
        Ok(Self { program: compile::compile(&tree, pattern)? })
    }

    /// Whether the text is a pattern in Go, supported here or not.
    pub(super) fn is_valid(pattern: &str) -> bool {
        Self::new(pattern).map_or_else(|error| error.is_unsupported(), |_| true)
    }

    /// How long the program is.
    pub(super) fn size(&self) -> usize {
        self.program.len()
    }

    /// Whether the text has a match.
    ///
    /// # Errors
    ///
    /// As for all that follow, the end of the evaluation where `work` is too much.
    pub(super) fn is_match(&self, text: &str, work: &mut Work) -> Eval<bool> {
        Ok(exec::find(&self.program, text, 0, false, work)?.is_some())
    }

    /// The leftmost match at or after the byte offset, as a range of bytes.
    pub(super) fn find_at(&self, text: &str, start: usize, work: &mut Work) -> Eval<Option<(usize, usize)>> {
        exec::find(&self.program, text, start, true, work)
    }

    /// All matches that do not overlap, at most `limit`.
    pub(super) fn find_all<'t>(&self, text: &'t str, limit: usize, work: &mut Work) -> Eval<Vec<&'t str>> {
        let mut found = Vec::new();
        let (mut position, mut last_end) = (0, None);
        while found.len() < limit && position <= text.len() {
            let Some((start, end)) = self.find_at(text, position, work)? else {
                break;
            };
            let is_empty = start == end;
            // An empty match right after another match does not count.
            if !is_empty || last_end != Some(start) {
                found.push(text.get(start..end).unwrap_or_default());
            }
            last_end = Some(end);
            let step = text.get(end..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            position = if is_empty { end.saturating_add(step) } else { end };
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, text: &str) -> Option<(usize, usize)> {
        Regex::new(pattern).unwrap().find_at(text, 0, &mut Work::default()).unwrap()
    }

    #[test]
    fn the_first_alternative_wins_and_greed_is_respected() {
        assert_eq!(find("a|ab", "ab"), Some((0, 1)));
        assert_eq!(find("a*", "baaa"), Some((0, 0)));
        assert_eq!(find("a+?", "aaa"), Some((0, 1)));
        assert_eq!(find("(a|b)*c", "xabac"), Some((1, 5)));
        assert_eq!(find("(?i)É", "é"), Some((0, 2)));
        assert_eq!(find("^b", "a\nb"), None);
        assert_eq!(find("(?m)^b$", "a\nb\nc"), Some((2, 3)));
        assert_eq!(find(r"\bfoo\b", "a foo."), Some((2, 5)));
        assert_eq!(find("a{2,3}", "aaaa"), Some((0, 3)));
        assert_eq!(find("a{,3}", "a{,3}"), Some((0, 5)));
        assert_eq!(find("[^a-c\\d]", "b1z"), Some((2, 3)));
        assert_eq!(find("[[:alpha:]]+", "12ab"), Some((2, 4)));
        assert_eq!(find(r"\Qa.b\E+", "a.bbb"), Some((0, 5)));
        assert_eq!(find(r"\p{Greek}+", "a\u{3b1}\u{3b2}"), Some((1, 5)));
        assert_eq!(find(r"[\pN\p{^L}]", "ab1"), Some((2, 3)));
        assert_eq!(find(r"(?i)\p{Lu}\P{Lu}", "ab1"), Some((1, 3)));
        assert_eq!(find(r"(?i)\W", "\u{17f}!"), Some((2, 3)));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in [
            "(",
            "a)",
            "[a",
            "a**",
            "a{2}{3}",
            "*a",
            "(?x)a",
            r"\8",
            "a{1001}",
            "[b-a]",
            "(?P<n",
            r"\",
            "(a{1000}){1000}",
        ] {
            assert!(Regex::new(pattern).is_err_and(|error| !error.is_unsupported()), "{pattern}");
        }
        for pattern in [r"\p", r"\p{", r"\p{Greek", r"\p{Nothing}", r"[\pY]"] {
            assert!(Regex::new(pattern).is_err_and(|error| !error.is_unsupported()), "{pattern}");
        }
    }

    #[test]
    fn hostile_patterns_take_time_in_proportion() {
        let text = "a".repeat(2000);
        assert_eq!(find("(a*)*b", &text), None);
        assert_eq!(find(&format!("{}{}", "a?".repeat(200), "a".repeat(200)), &"a".repeat(200)), Some((0, 200)));
        assert!(Regex::new(&"(".repeat(5000)).is_err());
    }
}
