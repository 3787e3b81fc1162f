//! The syntax tree: nodes in one vector, named by their position in it.

use std::sync::Arc;

/// Position of a node in an [`Ast`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NodeId(u32);

/// A parsed expression with its macros expanded.
#[derive(Default)]
pub(super) struct Ast {
    nodes: Vec<Node>,
}

/// One node and where it stands.
#[derive(Clone)]
pub(super) struct Node {
    /// In code points from the start of the source; of the operator, bracket or name that made the node.
    pub(super) offset: u32,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    Literal(Literal),
    Ident(Arc<str>),
    Select {
        operand: NodeId,
        field: Arc<str>,
        is_test: bool,
    },
    Call {
        function: Arc<str>,
        target: Option<NodeId>,
        args: Vec<NodeId>,
    },
    List(Vec<Element>),
    Map(Vec<Entry>),
    /// Construction of a message by its type's name.
    Struct {
        name: Arc<str>,
        values: Vec<NodeId>,
    },
    Fold(Box<Fold>),
    /// Stands where an error was reported.
    Invalid,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
}

#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) value: NodeId,
    pub(super) is_optional: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: NodeId,
    pub(super) value: NodeId,
    pub(super) is_optional: bool,
}

/// A comprehension: `accu` starts as `init`; for each element of `range` while `condition` holds it becomes `step`; then
/// `result` is the value.
#[derive(Clone)]
pub(super) struct Fold {
    pub(super) range: NodeId,
    pub(super) iter_var: Arc<str>,
    /// The second variable of the two-variable macros.
    pub(super) iter_var2: Option<Arc<str>>,
    pub(super) accu_var: Arc<str>,
    pub(super) init: NodeId,
    pub(super) condition: NodeId,
    pub(super) step: NodeId,
    pub(super) result: NodeId,
}

static INVALID: Node = Node { offset: 0, kind: Kind::Invalid };

impl Ast {
    pub(super) fn add(&mut self, offset: u32, kind: Kind) -> NodeId {
        // More nodes than this are refused long before by the parser.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { offset, kind });
        id
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.index()).unwrap_or(&INVALID)
    }

    pub(super) fn kind(&self, id: NodeId) -> &Kind {
        &self.node(id).kind
    }

    pub(super) fn offset(&self, id: NodeId) -> u32 {
        self.node(id).offset
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn set(&mut self, id: NodeId, kind: Kind) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.kind = kind;
        }
    }

    /// The name if the node is a plain identifier.
    pub(super) fn ident(&self, id: NodeId) -> Option<&Arc<str>> {
        match self.kind(id) {
            Kind::Ident(name) => Some(name),
            _ => None,
        }
    }

    /// `a.b.c` if the node is made of an identifier and selections only.
    pub(super) fn qualified_name(&self, id: NodeId) -> Option<String> {
        match self.kind(id) {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, is_test: false } => {
                let mut name = self.qualified_name(*operand)?;
                name.push('.');
                name.push_str(field);
                Some(name)
            }
            _ => None,
        }
    }

    /// A copy of the node and everything below it.
    pub(super) fn copy(&mut self, id: NodeId) -> NodeId {
        let mut node = self.node(id).clone();
        match &mut node.kind {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Invalid => {}
            Kind::Select { operand, .. } => *operand = self.copy(*operand),
            Kind::Call { target, args, .. } => {
                *target = target.map(|target| self.copy(target));
                args.iter_mut().for_each(|arg| *arg = self.copy(*arg));
            }
            Kind::List(elements) => elements.iter_mut().for_each(|element| element.value = self.copy(element.value)),
            Kind::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.key = self.copy(entry.key);
                entry.value = self.copy(entry.value);
            }),
            Kind::Struct { values, .. } => values.iter_mut().for_each(|value| *value = self.copy(*value)),
            Kind::Fold(fold) => {
                for part in [&mut fold.range, &mut fold.init, &mut fold.condition, &mut fold.step, &mut fold.result] {
                    *part = self.copy(*part);
                }
            }
        }
        self.add(node.offset, node.kind)
    }

    /// How many nodes [`Ast::copy`] would add, up to `limit`.
    pub(super) fn size(&self, id: NodeId, limit: usize) -> usize {
        let mut count = 0usize;
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            count += 1;
            if count >= limit {
                break;
            }
            self.children(id, |child| stack.push(child));
        }
        count
    }

    /// Whether the comprehension is made by `cel.bind`: its `accu_var` is `init` within `result`, computed when it is first used.
    pub(super) fn is_binding(&self, fold: &Fold) -> bool {
        matches!(self.kind(fold.range), Kind::List(elements) if elements.is_empty())
            && matches!(self.kind(fold.condition), Kind::Literal(Literal::Bool(false)))
    }

    /// Calls `visit` with each direct child, in source order.
    pub(super) fn children(&self, id: NodeId, mut visit: impl FnMut(NodeId)) {
        match self.kind(id) {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Invalid => {}
            Kind::Select { operand, .. } => visit(*operand),
            Kind::Call { target, args, .. } => target.iter().chain(args).for_each(|child| visit(*child)),
            Kind::List(elements) => elements.iter().for_each(|element| visit(element.value)),
            Kind::Map(entries) => entries.iter().for_each(|entry| {
                visit(entry.key);
                visit(entry.value);
            }),
            Kind::Struct { values, .. } => values.iter().for_each(|child| visit(*child)),
            Kind::Fold(fold) => {
                [fold.range, fold.init, fold.condition, fold.step, fold.result].into_iter().for_each(visit);
            }
        }
    }
}

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
