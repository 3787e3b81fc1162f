//! Builds a [`Tree`] from a stream of nodes, within the limits. Shared by the YAML and the JSON parser.

use crate::problem::{Problem, ProblemCode};
use crate::tree::{Kind, Node, NodeId, Span, Tree};

/// What one reading may still use up.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) nodes: usize,
    pub(crate) max_nodes: usize,
    pub(crate) max_depth: usize,
    pub(crate) alias_nodes: usize,
    pub(crate) max_alias_nodes: usize,
    pub(crate) alias_bytes: usize,
    /// Whether somebody wanted more than there was.
    pub(crate) has_run_out: bool,
}

/// Values of a document from which on there is room for as many as are allowed.
const MANY: usize = 1 << 14;

/// A collection that is still being filled.
struct Open {
    id: NodeId,
    key: Option<NodeId>,
}

pub(crate) struct Builder<'t, 'b> {
    budget: &'b mut Budget,
    nodes: Vec<Node<'t>>,
    open: Vec<Open>,
    root: Option<NodeId>,
    /// Where the last finished node ends; a block collection ends with its last child.
    last_end: u32,
}

impl<'t, 'b> Builder<'t, 'b> {
    pub(crate) fn new(budget: &'b mut Budget) -> Self {
        Self { budget, nodes: Vec::new(), open: Vec::new(), root: None, last_end: 0 }
    }

    /// Whether the collection being filled is this one or inside it.
    pub(crate) fn is_inside(&self, id: NodeId) -> bool {
        self.open.iter().any(|open| open.id == id)
    }

    /// Whether the document is a mapping or a list, and finished.
    pub(crate) fn is_complete(&self) -> bool {
        let root = self.root.and_then(|root| self.nodes.get(root.0 as usize));
        self.open.is_empty() && root.is_some_and(|root| matches!(root.kind, Kind::List(_) | Kind::Mapping(_)))
    }

    /// Where the last finished node ends.
    pub(crate) fn end(&self) -> usize {
        self.last_end as usize
    }

    pub(crate) fn leaf(&mut self, kind: Kind<'t>, span: Span) -> Result<NodeId, Problem> {
        let id = self.add(kind, span)?;
        self.last_end = span.end;
        Ok(id)
    }

    pub(crate) fn open(&mut self, kind: Kind<'t>, span: Span) -> Result<NodeId, Problem> {
        if self.open.len() >= self.budget.max_depth {
            return Err(too_deep(self.budget.max_depth, span));
        }
        let id = self.add(kind, span)?;
        self.open.push(Open { id, key: None });
        self.last_end = span.end;
        Ok(id)
    }

    /// Ends the innermost collection at `end`, or where its last child ended when `end` is `None`.
    pub(crate) fn close(&mut self, end: Option<u32>) {
        let end = end.unwrap_or(self.last_end);
        if let Some(open) = self.open.pop()
            && let Some(node) = self.nodes.get_mut(open.id.0 as usize)
        {
            node.span.end = end.max(node.span.start);
            self.last_end = node.span.end;
        }
    }

    /// The finished document; `None` when there was no node.
    pub(crate) fn finish(self) -> Option<Tree<'t>> {
        Some(Tree { root: self.root?, nodes: self.nodes })
    }

    fn add(&mut self, kind: Kind<'t>, span: Span) -> Result<NodeId, Problem> {
        let Some(left) = self.budget.nodes.checked_sub(1) else {
            self.budget.has_run_out = true;
            let message = format!("the input has more than {} values", self.budget.max_nodes);
            return Err(Problem::new(ProblemCode::Limit, span.range(), message)
                .with_hint("split it, or ask for a higher limit"));
        };
        self.budget.nodes = left;
        if self.nodes.len() == MANY {
            // Growing step by step would copy a large document again and again; room that is not used costs nothing.
            self.nodes.reserve_exact(left);
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { span, kind });
        match self.open.last_mut() {
            None => self.root = self.root.or(Some(id)),
            Some(parent) => match self.nodes.get_mut(parent.id.0 as usize).map(|node| &mut node.kind) {
                Some(Kind::List(items)) => items.push(id),
                Some(Kind::Mapping(entries)) => match parent.key.take() {
                    None => parent.key = Some(id),
                    Some(key) => entries.push((key, id)),
                },
                Some(Kind::Scalar { .. } | Kind::Alias(_) | Kind::Broken) | None => {}
            },
        }
        Ok(id)
    }
}

pub(crate) fn too_deep(max_depth: usize, span: Span) -> Problem {
    let message = format!("the document nests deeper than {max_depth} levels");
    Problem::new(ProblemCode::Limit, span.range(), message)
}
