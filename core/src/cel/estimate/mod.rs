//! The reference's estimate of what an expression costs at most, from the sizes that a device can have.
//!
//! It is part of the API: the API server refuses new expressions by it. So it is reproduced to the unit, with the cases in
//! which it is lower than the actual cost.

mod calls;
mod path;
mod range;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Ast, Element, Entry, Fold, Kind, Literal, NodeId};
use super::check::{Checked, Reference};
use super::macros::ACCUMULATOR;
use super::types::Type;
use path::Path;
use range::{Range, UNKNOWN, ZERO, exactly};

/// The most that an evaluation costs by the estimate.
pub(super) fn max_cost(ast: &Ast, root: NodeId, checked: &Checked) -> u64 {
    let count = ast.len();
    let mut estimator = Estimator {
        ast,
        checked,
        paths: vec![None; count],
        sizes: vec![None; count],
        entries: vec![None; count],
        scopes: BTreeMap::new(),
    };
    estimator.cost(root).max
}

/// The sizes of what a collection holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct EntrySize {
    is_list: bool,
    key: Range,
    value: Range,
}

#[derive(Clone)]
struct Local {
    path: Path,
    size: Option<Range>,
    entries: Option<EntrySize>,
}

struct Estimator<'e> {
    ast: &'e Ast,
    checked: &'e Checked,
    paths: Vec<Option<Path>>,
    sizes: Vec<Option<Range>>,
    entries: Vec<Option<EntrySize>>,
    scopes: BTreeMap<Arc<str>, Vec<Local>>,
}

/// An operand of a call.
#[derive(Clone)]
struct Operand<'e> {
    id: NodeId,
    found: &'e Type,
    path: Path,
    /// What is known of its size.
    size: Option<Range>,
}

const ONE: Range = exactly(1);

impl<'e> Estimator<'e> {
    fn cost(&mut self, id: NodeId) -> Range {
        match self.ast.kind(id) {
            Kind::Literal(_) | Kind::Invalid => ZERO,
            Kind::Ident(name) => self.ident(id, name),
            Kind::Select { operand, field, is_test } => self.select(id, *operand, field, *is_test),
            Kind::Call { function, target, args } => self.call(id, function, *target, args),
            Kind::List(elements) => self.list(id, elements),
            Kind::Map(entries) => self.map(id, entries),
            Kind::Struct { values, .. } => values.iter().fold(exactly(40), |sum, value| sum.add(self.cost(*value))),
            Kind::Fold(fold) => {
                if self.ast.is_binding(fold) {
                    self.bind(id, fold)
                } else {
                    self.fold(id, fold)
                }
            }
        }
    }

    fn ident(&mut self, id: NodeId, name: &str) -> Range {
        let name = name.strip_prefix('.').unwrap_or(name);
        let path = self.local(name).map_or_else(|| Path::of(name), |local| local.path.clone());
        self.set_path(id, path);
        ONE
    }

    #[inline(never)]
    fn select(&mut self, id: NodeId, operand: NodeId, field: &str, is_test: bool) -> Range {
        match self.checked.reference(id) {
            Reference::Variable(name) | Reference::Type(name) => return self.ident(id, name),
            Reference::Call(..) | Reference::None => {}
        }
        let cost = self.cost(operand);
        if is_test {
            return cost;
        }
        let has_price = matches!(self.checked.type_of(operand), Type::Map(..) | Type::Struct(_));
        let path = self.path(operand).with(field);
        self.set_path(id, path);
        if has_price { cost.add(ONE) } else { cost }
    }

    #[inline(never)]
    fn list(&mut self, id: NodeId, elements: &[Element]) -> Range {
        let mut cost = exactly(10);
        let mut value = Range { min: if elements.is_empty() { 0 } else { u64::MAX }, max: 0 };
        for element in elements {
            cost = cost.add(self.cost(element.value));
            value = value.union(self.size_or_unknown(element.value));
        }
        self.set_entries(id, Some(EntrySize { is_list: true, key: ONE, value }));
        cost
    }

    #[inline(never)]
    fn map(&mut self, id: NodeId, entries: &[Entry]) -> Range {
        let mut cost = exactly(30);
        let start = Range { min: if entries.is_empty() { 0 } else { u64::MAX }, max: 0 };
        let (mut key, mut value) = (start, start);
        for entry in entries {
            cost = cost.add(self.cost(entry.key));
            cost = cost.add(self.cost(entry.value));
            key = key.union(self.size_or_unknown(entry.key));
            value = value.union(self.size_or_unknown(entry.value));
        }
        self.set_entries(id, Some(EntrySize { is_list: false, key, value }));
        cost
    }

    #[inline(never)]
    fn bind(&mut self, id: NodeId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range);
        let cost = cost.add(self.cost(fold.init));
        self.push_value(&fold.accu_var, fold.init);
        let cost = cost.add(self.cost(fold.result));
        self.pop(&fold.accu_var);
        self.copy_sizes(id, fold.result);
        cost
    }

    #[inline(never)]
    fn fold(&mut self, id: NodeId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range);
        let cost = cost.add(self.cost(fold.init));
        self.push_value(&fold.accu_var, fold.init);
        match &fold.iter_var2 {
            Some(second) => {
                self.push_part(&fold.iter_var, fold.range, Part::Key);
                self.push_part(second, fold.range, Part::Value);
            }
            None => self.push_part(&fold.iter_var, fold.range, Part::Element),
        }
        let condition = self.cost(fold.condition);
        let step = self.cost(fold.step);
        self.pop(&fold.iter_var);
        if let Some(second) = &fold.iter_var2 {
            self.pop(second);
        }
        let cost = cost.add(self.cost(fold.result));
        self.pop(&fold.accu_var);
        let count = self.size_or_unknown(fold.range);
        match self.ast.kind(fold.init) {
            Kind::Literal(_) => {
                let size = self.size(fold.init);
                self.set_size(id, size);
            }
            Kind::List(_) | Kind::Map(_) => {
                self.set_size(id, Some(count));
                let entries = self.entries(fold.step);
                self.set_entries(id, entries);
            }
            _ => {}
        }
        cost.add(count.times(step.add(condition)))
    }

    fn push(&mut self, name: &Arc<str>, local: Local) {
        self.scopes.entry(Arc::clone(name)).or_default().push(local);
    }

    fn push_value(&mut self, name: &Arc<str>, value: NodeId) {
        let path = self.path(value);
        let entries = self.entries(value);
        let size = self.size(value);
        self.push(name, Local { path, size, entries });
    }

    fn push_part(&mut self, name: &Arc<str>, range: NodeId, part: Part) {
        let entries = self.entries(range);
        let is_list =
            entries.map_or_else(|| matches!(self.checked.type_of(range), Type::List(_)), |entries| entries.is_list);
        let (is_key, subpath) = match (part, is_list) {
            (Part::Key, true) => (true, "@indices"),
            (Part::Key | Part::Element, false) => (true, "@keys"),
            (Part::Value | Part::Element, true) => (false, "@items"),
            (Part::Value, false) => (false, "@values"),
        };
        let size = entries.map(|entries| if is_key { entries.key } else { entries.value });
        let path = self.path(range).with(subpath);
        self.push(name, Local { path, size, entries: None });
    }

    fn pop(&mut self, name: &Arc<str>) {
        if let Some(locals) = self.scopes.get_mut(name) {
            locals.pop();
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.scopes.get(name).and_then(|locals| locals.last())
    }

    /// The variable that the node names.
    fn local_of(&self, id: NodeId) -> Option<&Local> {
        self.ast.ident(id).and_then(|name| self.local(name.strip_prefix('.').unwrap_or(name)))
    }

    fn path(&self, id: NodeId) -> Path {
        if let Some(local) = self.local_of(id) {
            return local.path.clone();
        }
        self.paths.get(id.index()).cloned().flatten().unwrap_or_default()
    }

    fn set_path(&mut self, id: NodeId, path: Path) {
        if let Some(place) = self.paths.get_mut(id.index()) {
            *place = Some(path);
        }
    }

    fn set_size(&mut self, id: NodeId, size: Option<Range>) {
        if let (Some(place), Some(size)) = (self.sizes.get_mut(id.index()), size) {
            *place = Some(size);
        }
    }

    fn entries(&self, id: NodeId) -> Option<EntrySize> {
        let known = self.entries.get(id.index()).copied().flatten();
        known.or_else(|| self.local_of(id).and_then(|local| local.entries))
    }

    fn set_entries(&mut self, id: NodeId, entries: Option<EntrySize>) {
        if let (Some(place), Some(entries)) = (self.entries.get_mut(id.index()), entries) {
            *place = Some(entries);
        }
    }

    fn copy_sizes(&mut self, to: NodeId, from: NodeId) {
        let size = self.size(from);
        self.set_size(to, size);
        let entries = self.entries(from);
        self.set_entries(to, entries);
    }

    fn size_or_unknown(&mut self, id: NodeId) -> Range {
        self.size(id).unwrap_or(UNKNOWN)
    }

    fn size(&mut self, id: NodeId) -> Option<Range> {
        if let Some(size) = self.sizes.get(id.index()).copied().flatten() {
            return Some(size);
        }
        if let Some(size) = written_size(self.ast.kind(id)) {
            return Some(exactly(size));
        }
        if let Some(size) = self.path(id).declared_size() {
            self.set_size(id, Some(size));
            return Some(size);
        }
        if is_scalar(self.checked.type_of(id)) {
            return Some(ONE);
        }
        self.local_of(id).and_then(|local| local.size)
    }

    fn operand(&mut self, id: NodeId) -> Operand<'e> {
        let path = self.path(id);
        let is_accumulator = path.starts_with(ACCUMULATOR) || path.starts_with("__result__");
        let path = if is_accumulator { Path::default() } else { path };
        Operand { id, found: self.checked.type_of(id), path, size: self.size(id) }
    }
}

/// Which part of its range a variable stands for.
#[derive(Clone, Copy)]
enum Part {
    Key,
    Value,
    /// The element of a list or the key of a map.
    Element,
}

impl Operand<'_> {
    /// The size as libraries ask for it.
    fn library_size(&self) -> Range {
        self.size.or_else(|| self.path.declared_size()).unwrap_or(UNKNOWN)
    }

    fn size_or_unknown(&self) -> Range {
        self.size.unwrap_or(UNKNOWN)
    }
}

/// The size of what is written out.
fn written_size(kind: &Kind) -> Option<u64> {
    let size = match kind {
        Kind::Literal(Literal::Str(text)) => text.chars().count(),
        Kind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Kind::Literal(_) => 1,
        Kind::List(elements) => elements.len(),
        Kind::Map(entries) => entries.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

fn is_scalar(found: &Type) -> bool {
    match found {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
