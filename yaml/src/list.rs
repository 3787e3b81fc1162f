//! Lists of objects, which `kubectl` takes apart.

use serde_json::Value;

use crate::resolve::fits_json;
use crate::tree::{Kind, NodeId, Style, Tree};

/// A list in a JSON text.
pub(crate) struct List {
    /// The kind of its items, as far as the list tells; empty for a plain `List`.
    kind: String,
    version: Option<Value>,
    pub(crate) items: Vec<NodeId>,
    /// The values of all fields but `items`.
    pub(crate) other_fields: Vec<NodeId>,
}

impl List {
    /// Gives an item the list's version and kind if it has none of its own.
    pub(crate) fn complete(&self, item: &mut Value) {
        complete(item, &self.kind, self.version.as_ref());
    }
}

/// Gives an item a version and kind if it has none of its own; a plain `List` has none to give.
pub(crate) fn complete(item: &mut Value, kind: &str, version: Option<&Value>) {
    let Some(item) = item.as_object_mut().filter(|_| !kind.is_empty()) else { return };
    if !item.contains_key("kind") && !item.contains_key("apiVersion") {
        item.insert("kind".into(), Value::String(kind.to_owned()));
        if let Some(version) = version {
            item.insert("apiVersion".into(), version.clone());
        }
    }
}

/// The list that a JSON text is, if nothing about it is unusual: every field once, no list among the items, no number
/// that JSON values cannot hold.
pub(crate) fn of_json(tree: &Tree<'_>) -> Option<List> {
    let mut list = List { kind: String::new(), version: None, items: Vec::new(), other_fields: Vec::new() };
    let (mut has_kind, mut is_list) = (false, false);
    let mut names = Vec::new();
    for (key, value) in entries(tree, tree.root)? {
        let name = text(tree, *key)?;
        if names.len() >= MOST_FIELDS || names.contains(&name) {
            return None;
        }
        names.push(name);
        match name {
            "items" => {
                let Kind::List(items) = &tree.node(*value)?.kind else { return None };
                list.items.clone_from(items);
                is_list = true;
                continue;
            }
            "kind" => {
                text(tree, *value)?.strip_suffix("List")?.clone_into(&mut list.kind);
                has_kind = true;
            }
            "apiVersion" => list.version = Some(Value::from(text(tree, *value)?)),
            _ => {}
        }
        list.other_fields.push(*value);
    }
    let is_usual = tree.nodes.iter().all(|node| match &node.kind {
        Kind::Scalar { text, style: Style::Json, .. } => fits_json(text),
        _ => true,
    });
    (has_kind && is_list && is_usual && !list.items.iter().any(|item| has_items(tree, *item))).then_some(list)
}

/// Whether a mapping has the field that makes a list of it.
pub(crate) fn has_items(tree: &Tree<'_>, id: NodeId) -> bool {
    let is_items = |key: NodeId| match tree.node(key).map(|node| &node.kind) {
        Some(Kind::Scalar { text, .. }) => text == "items",
        _ => false,
    };
    entries(tree, id).is_some_and(|entries| entries.iter().any(|(key, _)| is_items(*key)))
}

/// Fields of a list's own; there are four.
const MOST_FIELDS: usize = 16;

fn entries<'n>(tree: &'n Tree<'_>, id: NodeId) -> Option<&'n [(NodeId, NodeId)]> {
    match &tree.node(id)?.kind {
        Kind::Mapping(entries) => Some(entries.as_slice()),
        _ => None,
    }
}

fn text<'n>(tree: &'n Tree<'_>, id: NodeId) -> Option<&'n str> {
    match &tree.node(id)?.kind {
        Kind::Scalar { text, style: Style::Text, .. } => Some(text),
        _ => None,
    }
}
