//! The parsed form of one document, before scalars are resolved.

use std::borrow::Cow;
use std::ops::Range;

/// A node's place in [`Tree`]; meaningless in any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// A byte range of the input, four bytes an end. The size limit keeps every offset below `u32::MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(end.max(start)) }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How a scalar was written, as far as it matters for its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// YAML without quotes: its text decides the type.
    Plain,
    /// Quoted or block text: a string.
    Text,
    /// A JSON number or one of the words `true`, `false`, `null`.
    Json,
}

/// A YAML tag that can change what a scalar means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Str,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    /// Any other tag: a scalar under it stays text.
    Other,
}

#[derive(Debug)]
pub(crate) enum Kind<'t> {
    Scalar {
        text: Cow<'t, str>,
        style: Style,
        tag: Option<Tag>,
    },
    List(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    /// Repeats an earlier, finished node.
    Alias(NodeId),
    /// Stands for what could not be read; a problem has been given.
    Broken,
}

#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) span: Span,
    pub(crate) kind: Kind<'t>,
}

/// All nodes of one document. Children come after their parents.
#[derive(Debug)]
pub(crate) struct Tree<'t> {
    pub(crate) nodes: Vec<Node<'t>>,
    pub(crate) root: NodeId,
}

impl<'t> Tree<'t> {
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node<'t>> {
        self.nodes.get(id.0 as usize)
    }
}
