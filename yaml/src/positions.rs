//! Where each field of a document stands in the text.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::order::in_order;
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
    places: Places,
    root: NodeId,
}

/// The places of one text's nodes, shared by the documents in it. They are known when all of the text is resolved.
pub(crate) type Places = Arc<OnceLock<Vec<Place>>>;

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
    /// Of two fields of one name the later counts.
    Mapping(Fields),
    Alias(NodeId),
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) key: Span,
    pub(crate) value: NodeId,
}

/// The fields of a mapping: few in written order, many sorted by name, so that each is found at once.
#[derive(Debug)]
pub(crate) struct Fields(Box<[Field]>);

impl Fields {
    /// Of fields in written order.
    pub(crate) fn new(mut fields: Vec<Field>) -> Self {
        if fields.len() > MOST_UNSORTED {
            fields.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Self(fields.into())
    }

    fn find(&self, name: &str) -> Option<&Field> {
        if self.0.len() <= MOST_UNSORTED {
            return self.0.iter().rev().find(|field| *field.name == *name);
        }
        let behind = self.0.partition_point(|field| *field.name <= *name);
        self.0.get(behind.checked_sub(1)?).filter(|field| *field.name == *name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Field> {
        self.0.iter()
    }

    /// The fields as they stand in the text.
    pub(crate) fn in_written_order(&self) -> Vec<&Field> {
        let fields: Vec<&Field> = self.0.iter().collect();
        if fields.len() > MOST_UNSORTED { in_order(fields, |field| field.key.start as usize) } else { fields }
    }
}

/// Fields that are looked through one by one.
const MOST_UNSORTED: usize = 64;

impl Positions {
    /// Of no document: nothing is found.
    pub fn nowhere() -> Self {
        Self { places: Places::default(), root: NodeId(0) }
    }

    pub(crate) fn new(places: Places, root: NodeId) -> Self {
        Self { places, root }
    }

    fn place(&self, node: NodeId) -> Option<&Place> {
        self.places.get()?.get(node.0 as usize)
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
                Shape::Mapping(fields) => fields.find(segment.text).map(|field| (Some(field.key), field.value)),
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
        match fields.find(name).map(|field| self.shape_of(field.value)) {
            Some(Shape::List(items)) => items.to_vec(),
            _ => Vec::new(),
        }
    }

    fn located(&self, key: Option<Span>, value: NodeId) -> Option<Located> {
        let span = self.place(value)?.span;
        Some(Located { key: key.map(Span::range), value: span.range(), found: String::new(), is_exact: false })
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The bytes of a node where it stands; of an alias, its own.
    pub(crate) fn span(&self, node: NodeId) -> Option<Range<usize>> {
        Some(self.place(node)?.span.range())
    }

    pub(crate) fn shape_of(&self, node: NodeId) -> &Shape {
        let shape = |id: NodeId| self.place(id).map_or(&Shape::Leaf, |place| &place.shape);
        match shape(node) {
            // INVARIANT: an alias repeats a node, never another alias.
            Shape::Alias(target) => shape(*target),
            other => other,
        }
    }
}
