//! What a reading has to tell the author.

use std::fmt;
use std::ops::Range;

use crate::order::in_order;

/// How much a problem matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// `kubectl` refuses the document, or this reader could not read it.
    Error,
    /// `kubectl` reads it, but not as its author is likely to think.
    Warning,
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $severity:ident, $paragraph:literal;)*) => {
        /// The published code of a problem.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum ProblemCode {
            $(#[doc = $paragraph] $variant,)*
        }

        impl ProblemCode {
            /// All codes, in the order of this table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as printed, for instance `yaml/duplicate-key`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The severity that a problem of this code has unless the place says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What the code means and what to do, in a paragraph.
            pub const fn paragraph(self) -> &'static str {
                match self { $(Self::$variant => $paragraph,)* }
            }
        }
    };
}

codes! {
    Syntax = "yaml/syntax", Error,
        "The text is neither YAML nor JSON at this place. The document is left out; the other documents of the file are read.";
    Encoding = "yaml/encoding", Error,
        "The bytes are not UTF-8 text, or hold a control character that YAML forbids. The document is left out.";
    Separator = "yaml/separator", Error,
        "kubectl splits a file at every line that begins with `---` and refuses anything but a comment behind it.";
    IgnoredText = "yaml/ignored-text", Warning,
        "Between two `---` lines kubectl reads one YAML document. What follows it, for instance after `...`, is dropped without a word.";
    DuplicateKey = "yaml/duplicate-key", Warning,
        "The same key stands twice in one mapping. kubectl takes the last and drops the others without a word.";
    SurprisingScalar = "yaml/surprising-scalar", Warning,
        "An unquoted value that kubectl reads by the rules of YAML 1.1 as something else than it looks: `yes` as true, `012` as ten, `1.10` as 1.1. Quote it to keep the text.";
    SurprisingKey = "yaml/surprising-key", Warning,
        "An unquoted key that kubectl reads by the rules of YAML 1.1 as something else than it looks: `on` becomes `true`, `012` becomes `10`. Quote it to keep the text.";
    LargeNumber = "yaml/large-number", Warning,
        "An integer beyond 64 bits signed. Kubernetes keeps it as a floating point number, which has about 16 digits.";
    NotInJson = "yaml/not-in-json", Error,
        "JSON, and so Kubernetes, has no infinity and no not-a-number. kubectl refuses the document.";
    BadKey = "yaml/bad-key", Error,
        "A key must be text, a number or a boolean. kubectl refuses mappings, lists and null as keys.";
    BadAlias = "yaml/bad-alias", Error,
        "An alias (`*name`) needs an anchor (`&name`) earlier in the same document, and cannot stand inside the value that it repeats.";
    BadMerge = "yaml/bad-merge", Error,
        "The merge key `<<` takes a mapping or a list of mappings.";
    MergeOverrides = "yaml/merge-overrides", Warning,
        "A merge key (`<<`) below a key of the same name. kubectl lets the merged value win, other readers the written one. Put `<<` first.";
    BadTag = "yaml/bad-tag", Error,
        "The value cannot be read as the type that its tag (`!!int`, `!!bool`, ...) demands. kubectl refuses the document.";
    Template = "yaml/template", Error,
        "The text holds template actions (`{{ ... }}`). It is not a manifest yet: expand it first, for instance with `helm template`.";
    Ignore = "yaml/ignore", Warning,
        "A comment `# apportion-ignore CODE: REASON` ignores nothing, since it names no known code or gives no reason.";
    Limit = "yaml/limit", Error,
        "A limit on size, depth, number of nodes or what aliases unfold to was reached. What lies beyond is not read.";
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Something the author should know, at a place in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What kind of problem; published, never renamed or reused.
    pub code: ProblemCode,
    /// How much it matters.
    pub severity: Severity,
    /// The bytes of the input it is about; empty where something is missing.
    pub span: Range<usize>,
    /// What is wrong: one line, lower case, no full stop, the user's words in backticks.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a hint, of the severity that its code has.
    pub fn new(code: ProblemCode, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, severity: code.severity(), span, message: message.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Problems as they are found; beyond a number they are only counted.
#[derive(Debug)]
pub(crate) struct Problems {
    pub(crate) kept: Vec<Problem>,
    max: usize,
    pub(crate) dropped: usize,
    /// Problems of [`Severity::Error`], kept or not.
    pub(crate) errors: usize,
    dropped_errors: usize,
}

impl Problems {
    pub(crate) fn new(max: usize) -> Self {
        Self { kept: Vec::new(), max, dropped: 0, errors: 0, dropped_errors: 0 }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        let is_error = usize::from(problem.severity == Severity::Error);
        self.errors += is_error;
        if self.kept.len() < self.max {
            self.kept.push(problem);
        } else {
            self.dropped += 1;
            self.dropped_errors += is_error;
        }
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }

    /// Takes over what was found elsewhere.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.dropped += other.dropped;
        self.errors += other.dropped_errors;
        self.dropped_errors += other.dropped_errors;
        self.extend(other.kept);
    }

    /// All problems in the order of the text, each within `end`; the last one tells how many are missing.
    pub(crate) fn finish(mut self, end: usize) -> Vec<Problem> {
        for problem in &mut self.kept {
            // Parsers point behind the last byte where something is missing at the end.
            problem.span = problem.span.start.min(end)..problem.span.end.min(end);
        }
        self.kept = in_order(self.kept, |problem| problem.span.start);
        if self.dropped > 0 {
            let message = format!("{} more problems are not listed", self.dropped);
            let mut rest = Problem::new(ProblemCode::Limit, end..end, message);
            if self.dropped_errors == 0 {
                rest.severity = Severity::Warning;
            }
            self.kept.push(rest);
        }
        self.kept
    }
}

/// The user's words for a message: one line, at most 40 characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == 40 {
            shown.push_str("...");
            break;
        }
        shown.push(if character.is_control() { ' ' } else { character });
    }
    shown.push('`');
    shown
}
