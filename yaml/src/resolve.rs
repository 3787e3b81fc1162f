//! From the parsed form to JSON and positions: scalars, keys, merge keys, aliases.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::build::{Budget, too_deep};
use crate::list::List;
use crate::number::Num;
use crate::positions::{self, Field, Place, Positions, Shape};
use crate::problem::{Problem, ProblemCode, Problems, quoted};
use crate::scalar::{self, Scalar};
use crate::surprise;
use crate::tree::{Kind, NodeId, Span, Style, Tag, Tree};

/// The document's JSON and the places of its fields. `None` when a limit was reached; the problems say which.
pub(crate) fn resolve(
    tree: &Tree<'_>,
    names: &mut Names,
    budget: &mut Budget,
    problems: &mut Problems,
) -> Option<(Value, Positions)> {
    let mut resolver = Resolver::new(tree, names, budget, problems);
    let value = resolver.value(tree.root, "", 0, true);
    if resolver.is_stopped {
        return None;
    }
    let places = Arc::new(OnceLock::from(resolver.places));
    Some((value, Positions::new(places, tree.root)))
}

/// The same for a tree that is a list of objects, one object at a time, so that the JSON of all of them need not be
/// held at once. The positions answer after the last one.
///
pub(crate) fn resolve_items(
    tree: &Tree<'_>,
    list: &List,
    names: &mut Names,
    budget: &mut Budget,
    problems: &mut Problems,
    mut emit: impl FnMut(Value, Positions, Span),
) {
    let mut resolver = Resolver::new(tree, names, budget, problems);
    // The list's own fields are no object, but there may be something to say about them.
    for value in &list.other_fields {
        resolver.value(*value, "", 1, true);
    }
    let places = Arc::new(OnceLock::new());
    for item in &list.items {
        let value = resolver.value(*item, "", 2, true);
        if resolver.is_stopped {
            break;
        }
        let span = tree.node(*item).map_or(Span::default(), |node| node.span);
        emit(value, Positions::new(Arc::clone(&places), *item), span);
    }
    // Nothing else fills it.
    drop(places.set(resolver.places));
}

/// Field names, each kept once.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<Arc<str>>);

impl Names {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

struct Resolver<'a, 't> {
    tree: &'a Tree<'t>,
    budget: &'a mut Budget,
    problems: &'a mut Problems,
    places: Vec<Place>,
    names: &'a mut Names,
    is_stopped: bool,
}

impl<'a, 't> Resolver<'a, 't> {
    fn new(tree: &'a Tree<'t>, names: &'a mut Names, budget: &'a mut Budget, problems: &'a mut Problems) -> Self {
        let places = tree.nodes.iter().map(|node| Place { span: node.span, shape: Shape::Leaf }).collect();
        Self { tree, budget, problems, places, names, is_stopped: false }
    }
}

/// A key as it is read.
enum Key {
    Name(String),
    Merge,
}

/// A mapping being put together.
#[derive(Default)]
struct Fields {
    values: Map<String, Value>,
    /// Only filled where places are wanted.
    fields: Vec<Field>,
    /// Names whose value came through a merge key.
    merged: BTreeSet<String>,
}

// `is_first` is true where a node is met in its own place: then its problems are told and its places kept. Behind an
// alias it is false, and what is unfolded is charged to the budget.
impl Resolver<'_, '_> {
    // The recursion is bounded by the depth limit.
    fn value(&mut self, id: NodeId, key: &str, depth: usize, is_first: bool) -> Value {
        let tree = self.tree;
        let Some(node) = tree.node(id) else { return Value::Null };
        if self.is_stopped || !(is_first || self.charge(&node.kind, node.span)) {
            return Value::Null;
        }
        if depth > self.budget.max_depth {
            self.stop(too_deep(self.budget.max_depth, node.span));
            return Value::Null;
        }
        match &node.kind {
            Kind::Scalar { text, style, tag } => self.scalar(text, *style, *tag, key, node.span, is_first),
            Kind::List(items) => {
                let values = items.iter().map(|item| self.value(*item, "", depth + 1, is_first)).collect();
                if is_first {
                    self.shape(id, Shape::List(items.as_slice().into()));
                }
                Value::Array(values)
            }
            Kind::Mapping(entries) => self.mapping(id, entries, depth, is_first),
            Kind::Alias(target) => {
                if is_first {
                    self.shape(id, Shape::Alias(*target));
                }
                self.value(*target, key, depth, false)
            }
            Kind::Broken => Value::Null,
        }
    }

    fn scalar(&mut self, text: &str, style: Style, tag: Option<Tag>, key: &str, span: Span, is_first: bool) -> Value {
        let scalar = match scalar::resolve(text, style, tag) {
            Ok(scalar) => scalar,
            Err(mismatch) => {
                if is_first {
                    let message = format!("{} is not {}, as its tag demands", quoted(text), mismatch.wanted);
                    self.problems.push(Problem::new(ProblemCode::BadTag, span.range(), message));
                }
                return Value::Null;
            }
        };
        if is_first && tag.is_none() {
            self.problems.extend(match style {
                Style::Plain => surprise::about_value(text, &scalar, key, span.range()),
                Style::Json => surprise::about_json(text, &scalar, span.range()),
                Style::Text => None,
            });
        }
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Text(text) => Value::String(text.into_owned()),
            Scalar::Merge => Value::String("<<".into()),
            Scalar::Number(number) => json_number(number, style).unwrap_or_else(|| {
                if is_first {
                    let message = format!("{} is no number that JSON can hold", quoted(text));
                    let problem = Problem::new(ProblemCode::NotInJson, span.range(), message);
                    self.problems.push(problem.with_hint("quote it if text is meant"));
                }
                Value::Null
            }),
        }
    }

    fn mapping(&mut self, id: NodeId, entries: &[(NodeId, NodeId)], depth: usize, is_first: bool) -> Value {
        let mut fields = Fields::default();
        for (key_id, value_id) in entries {
            if self.is_stopped {
                break;
            }
            let key_span = self.tree.node(*key_id).map_or(Span::default(), |node| node.span);
            match self.key(*key_id, key_span, is_first) {
                Some(Key::Name(name)) => {
                    let value = self.value(*value_id, &name, depth + 1, is_first);
                    self.insert(&mut fields, name, key_span, *value_id, value, is_first);
                }
                Some(Key::Merge) => self.merge(&mut fields, *value_id, key_span, depth, is_first),
                // The problem is told; the value is still looked at for its own.
                None => {
                    self.value(*value_id, "", depth + 1, is_first);
                }
            }
        }
        if is_first {
            self.shape(id, Shape::Mapping(positions::Fields::new(fields.fields)));
        }
        Value::Object(fields.values)
    }

    fn insert(&mut self, fields: &mut Fields, name: String, key: Span, value_id: NodeId, value: Value, is_first: bool) {
        if is_first {
            fields.fields.push(Field { name: self.names.shared(&name), key, value: value_id });
        }
        let was_merged = fields.merged.remove(&name);
        if is_first && !was_merged && fields.values.contains_key(&name) {
            let message = format!("key {} stands twice in this mapping, the last one counts", quoted(&name));
            let problem = Problem::new(ProblemCode::DuplicateKey, key.range(), message);
            self.problems.push(problem.with_hint("remove one of them"));
        }
        fields.values.insert(name, value);
    }

    /// A key's name; `None` when it cannot be one, which is told.
    fn key(&mut self, id: NodeId, span: Span, is_first: bool) -> Option<Key> {
        let tree = self.tree;
        let (kind, is_alias) = match tree.node(id).map(|node| &node.kind) {
            Some(Kind::Alias(target)) => (tree.node(*target).map(|node| &node.kind), true),
            kind => (kind, false),
        };
        if is_alias && !kind.is_some_and(|kind| self.charge(kind, span)) {
            return None;
        }
        let refused = match kind {
            Some(Kind::Scalar { text, style, tag }) => match scalar::resolve(text, *style, *tag) {
                Ok(Scalar::Merge) if !is_alias => return Some(Key::Merge),
                Ok(scalar) => match key_name(&scalar) {
                    Some(name) => {
                        if is_first && *style == Style::Plain && tag.is_none() {
                            self.problems.extend(surprise::about_key(text, &name, span.range()));
                        }
                        return Some(Key::Name(name));
                    }
                    None => scalar.type_name(),
                },
                Err(_) => "a value that its tag does not fit",
            },
            Some(Kind::List(_)) => "a list",
            Some(Kind::Mapping(_)) => "a mapping",
            Some(Kind::Alias(_) | Kind::Broken) | None => return None,
        };
        if is_first {
            let message = format!("{refused} cannot be a key");
            self.problems.push(
                Problem::new(ProblemCode::BadKey, span.range(), message).with_hint("a key is text; quote it if needed"),
            );
        }
        None
    }

    /// Takes over the fields of the mapping, or of the list of mappings, under a merge key.
    fn merge(&mut self, fields: &mut Fields, source: NodeId, key: Span, depth: usize, is_first: bool) {
        let tree = self.tree;
        let sources: Vec<NodeId> = match tree.node(source).map(|node| &node.kind) {
            // Of several mappings the first wins, so it comes last.
            Some(Kind::List(items)) => {
                if is_first {
                    self.shape(source, Shape::List(items.as_slice().into()));
                }
                items.iter().rev().copied().collect()
            }
            _ => vec![source],
        };
        for source in sources {
            let target = match tree.node(source).map(|node| &node.kind) {
                Some(Kind::Alias(target)) => *target,
                _ => source,
            };
            let value = self.value(source, "", depth, is_first);
            let Value::Object(values) = value else {
                if is_first && !self.is_stopped && !self.is_broken(target) {
                    let message = "`<<` takes a mapping or a list of mappings";
                    self.problems.push(Problem::new(ProblemCode::BadMerge, key.range(), message));
                }
                continue;
            };
            if is_first {
                self.take_places(fields, target);
            }
            for (name, value) in values {
                if fields.values.contains_key(&name) && is_first && !fields.merged.contains(&name) {
                    let message = format!("key {} is replaced by the one merged in here", quoted(&name));
                    self.problems.push(
                        Problem::new(ProblemCode::MergeOverrides, key.range(), message)
                            .with_hint("put `<<` first, or remove the key"),
                    );
                }
                fields.merged.insert(name.clone());
                fields.values.insert(name, value);
            }
        }
    }

    fn take_places(&mut self, fields: &mut Fields, target: NodeId) {
        if let Some(Shape::Mapping(taken)) = self.places.get(target.0 as usize).map(|place| &place.shape) {
            fields.fields.extend(taken.iter().cloned());
        }
    }

    fn is_broken(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id).map(|node| &node.kind), Some(Kind::Broken) | None)
    }

    fn shape(&mut self, id: NodeId, shape: Shape) {
        if let Some(place) = self.places.get_mut(id.0 as usize) {
            place.shape = shape;
        }
    }

    /// Takes a node that an alias repeats out of the budget; false when nothing is left.
    fn charge(&mut self, kind: &Kind<'_>, span: Span) -> bool {
        let bytes = match kind {
            Kind::Scalar { text, .. } => text.len(),
            Kind::List(_) | Kind::Mapping(_) | Kind::Alias(_) | Kind::Broken => 0,
        };
        match (self.budget.alias_nodes.checked_sub(1), self.budget.alias_bytes.checked_sub(bytes)) {
            (Some(nodes), Some(bytes)) => {
                self.budget.alias_nodes = nodes;
                self.budget.alias_bytes = bytes;
                true
            }
            _ => {
                self.budget.has_run_out = true;
                let message =
                    format!("the aliases unfold to more than {} values or too much text", self.budget.max_alias_nodes);
                self.stop(Problem::new(ProblemCode::Limit, span.range(), message));
                false
            }
        }
    }

    fn stop(&mut self, problem: Problem) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.problems.push(problem);
        }
    }
}

/// Whether a scalar of a JSON text is a number that JSON values can hold, or no number at all.
pub(crate) fn fits_json(text: &str) -> bool {
    match scalar::resolve(text, Style::Json, None) {
        Ok(Scalar::Number(number)) => json_number(number, Style::Json).is_some(),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// The number in the JSON that Kubernetes gets: from YAML after a conversion, from JSON as it stands.
fn json_number(number: Num, style: Style) -> Option<Value> {
    match (number, style) {
        (Num::Float(float), Style::Json) => serde_json::Number::from_f64(float).map(Value::Number),
        _ => number.to_json(),
    }
}

/// The key as kubectl writes it; `None` when it refuses.
fn key_name(scalar: &Scalar<'_>) -> Option<String> {
    match scalar {
        Scalar::Null => None,
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Number(number) => number.to_key(),
        Scalar::Text(text) => Some(text.clone().into_owned()),
        Scalar::Merge => Some("<<".into()),
    }
}
