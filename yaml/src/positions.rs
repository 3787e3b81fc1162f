//! Where each field of a document stands in the text.

use std::ops::Range;
use std::sync::Arc;

use crate::path;
use crate::tree::{NodeId, Span};

/// One field's place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Located {
    /// The bytes of the key; `None` for list entries and for the document itself.
    pub key: Option<Range<usize>>,
    /// The bytes of the value; empty where the value is left out (`key:`). What stands behind an alias is
    /// found where its anchor is.
    pub value: Range<usize>,
    /// How much of the path exists, as a prefix of the path asked for: all of it, or the part that the place belongs to.
    pub found: String,
    /// Whether the whole path exists.
    pub is_exact: bool,
}

/// Where each field of one document stands in the text.
#[derive(Clone, Debug)]
pub struct Positions {
    places: Arc<[Place]>,
    root: NodeId,
}

/// A node's place and what can be found below it.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) span: Span,
    pub(crate) shape: Shape,
}

#[derive(Debug, Default)]
pub(crate) enum Shape {
    #[default]
    Leaf,
    List(Box<[NodeId]>),
    /// In written order; of two fields of one name the later counts.
    Mapping(Box<[Field]>),
    Alias(NodeId),
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) key: Span,
    pub(crate) value: NodeId,
}

impl Positions {
    pub(crate) fn new(places: Arc<[Place]>, root: NodeId) -> Self {
        Self { places, root }
    }

    /// Finds a field by its path in the API server's notation: `spec.devices.requests[0].exactly.count`, keys with
    /// dots or slashes in brackets: `spec.devices[3].attributes[dra.example.com/model].string`. The empty path is the
    /// document.
    ///
    /// When the path does not exist, the place of its longest existing prefix, with `is_exact` false. `None` only
    /// when the positions are of no document.
    pub fn find(&self, field_path: &str) -> Option<Located> {
        let mut node = self.root;
        let mut located = self.located(None, node)?;
        for segment in path::segments(field_path) {
            let next = match self.shape_of(node) {
                Shape::List(items) => {
                    segment.text.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (None, *item))
                }
                Shape::Mapping(fields) => fields
                    .iter()
                    .rev()
                    .find(|field| *field.name == *segment.text)
                    .map(|field| (Some(field.key), field.value)),
                Shape::Leaf | Shape::Alias(_) => None,
            };
            let Some((key, value)) = next else { return Some(located) };
            node = value;
            located = self.located(key, value)?;
            located.found = field_path.get(..segment.end).unwrap_or(field_path).to_owned();
            located.is_exact = false;
        }
        located.is_exact = true;
        Some(located)
    }

    /// The same positions seen from a list entry or field's value.
    pub(crate) fn at(&self, root: NodeId) -> Self {
        Self { places: Arc::clone(&self.places), root }
    }

    /// The entries of the list under a key of the root.
    pub(crate) fn list_under(&self, name: &str) -> Vec<NodeId> {
        let Shape::Mapping(fields) = self.shape_of(self.root) else { return Vec::new() };
        match fields.iter().rev().find(|field| *field.name == *name).map(|field| self.shape_of(field.value)) {
            Some(Shape::List(items)) => items.to_vec(),
            _ => Vec::new(),
        }
    }

    fn located(&self, key: Option<Span>, value: NodeId) -> Option<Located> {
        let span = self.places.get(value.0 as usize)?.span;
        Some(Located { key: key.map(Span::range), value: span.range(), found: String::new(), is_exact: false })
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The bytes of a node where it stands; of an alias, its own.
    pub(crate) fn span(&self, node: NodeId) -> Option<Range<usize>> {
        Some(self.places.get(node.0 as usize)?.span.range())
    }

    pub(crate) fn shape_of(&self, node: NodeId) -> &Shape {
        let shape = |id: NodeId| self.places.get(id.0 as usize).map_or(&Shape::Leaf, |place| &place.shape);
        match shape(node) {
            // INVARIANT: an alias repeats a node, never another alias.
            Shape::Alias(target) => shape(*target),
            other => other,
        }
    }
}
