//! The parser's errors in our words.

use granit_parser::{ErrorKind, ScanError};

use crate::build::too_deep;
use crate::problem::{Problem, ProblemCode};
use crate::template;
use crate::tree::Span;

/// The problem that a parser error in `text` is. When the text is a template, that.
pub(crate) fn explain(error: &ScanError, text: &str, base: usize, max_depth: usize) -> Problem {
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let end = start + text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(max_depth, Span::new(base + start, base + end));
    }
    if let Some(action) = template::first_action(text) {
        return template::in_structure(action, base);
    }
    let (message, hint) = words(error.kind());
    let problem = Problem::new(ProblemCode::Syntax, base + start..base + end, message);
    if hint.is_empty() { problem } else { problem.with_hint(hint) }
}

/// Whether the error lies in how tokens follow each other, not in the first of them.
pub(crate) fn is_beyond_first_token(error: &ScanError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
            | ErrorKind::MisplacedFlowCollectionEnd
            | ErrorKind::BlockEntryInFlowCollection
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
    )
}

/// Message and hint; the hint may be empty.
fn words(kind: &ErrorKind) -> (String, &'static str) {
    let (message, hint) = match kind {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabNotAllowed => ("a tab is used as indentation", "indent with spaces"),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            ("a `:` cannot stand here", "check the indentation, or quote the text that holds it")
        }
        ErrorKind::MappingKeyNotAllowed => ("a `?` cannot stand here", "quote the text that begins with it"),
        ErrorKind::PlainScalarStartsWithDashFlowIndicator => {
            ("a `-` cannot stand before a bracket or comma", "quote it")
        }
        ErrorKind::TabAtBlockScalarStart => ("block text begins with a tab", "indent with spaces"),
        ErrorKind::InvalidIndentation => ("the indentation fits no line above", "align it with its siblings"),
        ErrorKind::InvalidBlockScalarIndent => {
            ("a line of block text is indented less than its first", "indent all its lines alike")
        }
        ErrorKind::InvalidQuotedScalarIndent => {
            ("a line of quoted text is indented less than its parent", "indent it further, or close the quote")
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quoted text is not closed", "add the closing quote")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            ("text follows a closing `'`", "write `''` for a quote inside a single-quoted text")
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            ("text follows a closing `\"`", "write `\\\"` for a quote inside a double-quoted text")
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate => {
            ("this escape means nothing in a double-quoted text", "write `\\\\` for a backslash, or use single quotes")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("this line needs a `:` after its key", "write `key: value`, or indent it if it continues the text above")
        }
        ErrorKind::ExpectedBlockMappingKey => ("a key was expected here", "check the indentation and the quotes"),
        ErrorKind::ExpectedBlockSequenceEntry => {
            ("a list entry (`- `) was expected here", "check the indentation of this line")
        }
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
            ("a list entry (`- `) cannot stand here", "begin the list on a line of its own")
        }
        ErrorKind::ExpectedFlowMappingSeparator => ("`,` or `}` was expected here", ""),
        ErrorKind::ExpectedFlowSequenceSeparator => ("`,` or `]` was expected here", ""),
        ErrorKind::UnclosedFlowCollection { open } => {
            return (format!("a `{open}` is not closed"), "");
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            return (format!("a `{open}` is closed by `{close}`"), "");
        }
        ErrorKind::MissingDirectiveName | ErrorKind::InvalidDirectiveName => {
            ("a line cannot begin with `%`", "quote it, or indent it if it belongs to a text")
        }
        ErrorKind::MisplacedFlowCollectionEnd => ("a closing bracket without an opening one", ""),
        ErrorKind::UnexpectedEofFlowSequence => ("the text ends inside `[ ... ]`", "add the `]`"),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("the text ends inside `{ ... }`", "add the `}`")
        }
        ErrorKind::UnexpectedEof | ErrorKind::UnexpectedEofBlockMapping | ErrorKind::UnexpectedEofBlockSequence => {
            ("the text ends too early", "")
        }
        ErrorKind::UnexpectedCharacter { character } => {
            return (format!("a value cannot begin with `{character}`"), "quote it");
        }
        ErrorKind::ExpectedNodeContent => ("a value was expected here", ""),
        ErrorKind::CommentNotSeparated => ("a comment needs a space before its `#`", ""),
        ErrorKind::CommentInterceptedScalar => {
            ("a comment stands inside a text of several lines", "quote the text, or move the comment")
        }
        ErrorKind::ExpectedDocumentStart | ErrorKind::MissingDocumentEndBeforeDirective => {
            ("kubectl cannot read a `%` directive before `---`", "remove the directive")
        }
        ErrorKind::UndeclaredTagHandle => ("the tag's prefix is not declared", "quote the text if it begins with `!`"),
        ErrorKind::MissingAnchorOrAliasName => {
            ("`&` and `*` need a name behind them", "quote the text if no anchor is meant")
        }
        ErrorKind::InvalidDocumentEnd => ("text follows the `...` of a document's end", ""),
        ErrorKind::InvalidBlockScalarHeader => ("text follows the `|` or `>` of a block", "begin it on the next line"),
        _ => ("this is not YAML", ""),
    };
    (message.to_owned(), hint)
}
