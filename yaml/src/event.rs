//! One YAML document's events as a [`Tree`].

use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, options};

use crate::build::{Budget, Builder};
use crate::problem::{Problem, ProblemCode, Problems, quoted};
use crate::strict::Strict;
use crate::syntax;
use crate::template;
use crate::tree::{Kind, NodeId, Span, Style, Tag, Tree};

/// What the text between two `---` lines holds.
pub(crate) struct Parsed<'t> {
    /// The document; `None` when there is none or when it could not be read.
    pub(crate) tree: Option<Tree<'t>>,
    pub(crate) problems: Problems,
}

/// Parses the first YAML document in `text`, which stands at byte `base` of the input.
///
/// Keeps at most `max_problems`.
pub(crate) fn parse<'t>(text: &'t str, base: usize, budget: &mut Budget, max_problems: usize) -> Parsed<'t> {
    let mut problems = Problems::new(max_problems);
    let tree = match parse_events(text, base, budget, &mut problems) {
        Ok(tree) => tree,
        Err(problem) => {
            problems.kept.retain(|earlier| earlier.code != ProblemCode::Template);
            problems.push(problem);
            None
        }
    };
    Parsed { tree, problems }
}

fn parse_events<'t>(
    text: &'t str,
    base: usize,
    budget: &mut Budget,
    problems: &mut Problems,
) -> Result<Option<Tree<'t>>, Problem> {
    let options = options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: budget.max_depth,
        block_nesting_limit: budget.max_depth,
    };
    let max_depth = budget.max_depth;
    let mut builder = Builder::new(budget);
    let mut anchors: BTreeMap<usize, NodeId> = BTreeMap::new();
    let mut strict = Strict::default();
    let mut has_template = false;
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = match next {
            Ok(next) => next,
            // kubectl reads one node and only the first token of what stands behind it.
            Err(error) if builder.is_complete() && syntax::is_beyond_first_token(&error) => {
                let at = builder.end().saturating_sub(base);
                problems.extend(ignored_text(text, at, base));
                break;
            }
            Err(error) => return Err(syntax::explain(&error, text, base, max_depth)),
        };
        let local = span.byte_range().unwrap_or(0..0);
        let span = Span::new(base + local.start, base + local.end);
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                match style {
                    ScalarStyle::Plain => strict.plain(text, &local),
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => strict.quoted(text, &local),
                    ScalarStyle::Literal | ScalarStyle::Folded => {}
                }
                let style = if style == ScalarStyle::Plain { Style::Plain } else { Style::Text };
                let tag = tag.as_deref().map(known_tag);
                if style == Style::Plain && !has_template && template::is_in(&value) {
                    has_template = true;
                    problems.push(template::in_text(span.range()));
                }
                // A value left out stands behind its colon.
                let is_left_out = local.is_empty() && style == Style::Plain;
                let shift =
                    usize::from(is_left_out && text.get(local.start..).is_some_and(|rest| rest.starts_with(':')));
                let span = Span::new(base + local.start + shift, base + local.end + shift);
                // It comes as the text `~`; under `!!str` it is the empty text.
                let value = if is_left_out { "".into() } else { value };
                let id = builder.leaf(Kind::Scalar { text: value, style, tag }, span)?;
                anchor_at(&mut anchors, anchor, id);
            }
            Event::SequenceStart(style, anchor, _) => {
                if style == StructureStyle::Flow {
                    strict.flow_start(text, local.start);
                }
                let id = builder.open(Kind::List(Vec::new()), span)?;
                anchor_at(&mut anchors, anchor, id);
            }
            Event::MappingStart(style, anchor, _) => {
                if style == StructureStyle::Flow && text.get(local.start..).is_some_and(|rest| rest.starts_with("{{")) {
                    return Err(template::in_structure(template::action_at(text, local.start), base));
                }
                if style == StructureStyle::Flow {
                    strict.flow_start(text, local.start);
                }
                let id = builder.open(Kind::Mapping(Vec::new()), span)?;
                anchor_at(&mut anchors, anchor, id);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                // A block collection has no closing token.
                let end = (!local.is_empty()).then_some(span.end);
                if end.is_some() {
                    strict.flow_end(local.end);
                }
                builder.close(end);
            }
            Event::Anchor(_, name) => problems.extend(refused_name(&name, span.range())),
            Event::Alias(anchor) => {
                strict.plain(text, &local);
                let kind = match anchors.get(&anchor) {
                    Some(target) if builder.is_inside(*target) => {
                        problems.push(bad_alias(text, &local, span.range(), "repeats the value that it stands in"));
                        Kind::Broken
                    }
                    Some(target) => Kind::Alias(*target),
                    None => Kind::Broken,
                };
                builder.leaf(kind, span)?;
            }
            Event::UnresolvedAlias(name) => {
                problems.extend(refused_name(&name, span.range()));
                problems.push(bad_alias(text, &local, span.range(), "has no anchor before it"));
                builder.leaf(Kind::Broken, span)?;
            }
            // kubectl reads one document between two `---` lines.
            Event::DocumentEnd => {
                let rest = local.end.max(local.start);
                problems.extend(ignored_text(text, rest, base));
                break;
            }
            // `Event` may grow; what it may grow by is no node.
            _ => {}
        }
    }
    problems.extend(strict.finish(text, base));
    Ok(builder.finish())
}

/// Remembers an anchored node; 0 is no anchor.
fn anchor_at(anchors: &mut BTreeMap<usize, NodeId>, anchor: usize, id: NodeId) {
    if anchor != 0 {
        anchors.insert(anchor, id);
    }
}

fn bad_alias(text: &str, local: &Range<usize>, span: Range<usize>, what: &str) -> Problem {
    let name = text.get(local.clone()).unwrap_or_default();
    Problem::new(ProblemCode::BadAlias, span, format!("alias {} {what}", quoted(name)))
}

/// An anchor's name that YAML 1.2 allows and kubectl does not: `&a.b`, `&name:`.
fn refused_name(name: &str, span: Range<usize>) -> Option<Problem> {
    let is_taken = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (!is_taken).then(|| {
        let message = format!("kubectl refuses the anchor name {}", quoted(name));
        Problem::new(ProblemCode::BadAlias, span, message).with_hint("use letters, digits, `-` and `_` only")
    })
}

/// A warning when more than comments follows a document's end.
fn ignored_text(text: &str, from: usize, base: usize) -> Option<Problem> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') && content != "..." {
            let start = base + at + (line.len() - line.trim_start().len());
            let message = "kubectl ignores everything from here to the next `---` line";
            return Some(
                Problem::new(ProblemCode::IgnoredText, start..start + content.len(), message)
                    .with_hint("separate documents with `---`"),
            );
        }
        at += line.len();
    }
    None
}

fn known_tag(tag: &granit_parser::Tag) -> Tag {
    match tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() {
        Some("str") => Tag::Str,
        Some("bool") => Tag::Bool,
        Some("int") => Tag::Int,
        Some("float") => Tag::Float,
        Some("null") => Tag::Null,
        Some("timestamp") => Tag::Timestamp,
        Some("binary") => Tag::Binary,
        Some("merge") => Tag::Merge,
        Some(_) | None => Tag::Other,
    }
}
