//! What compiles and yet does not do what its author is likely to think.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::advice::{Advice, advice};
use super::ast::{Ast, Kind, Literal, NodeId};
use super::check::Checked;
use super::types::Type;
use crate::arrange::Arrange;

/// A habit that goes wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lint {
    /// An attribute or capacity is read without a test whether the device has it.
    Unguarded {
        /// The expression that reads it.
        access: String,
        /// The same with a test.
        guarded: String,
    },
    /// A name where the domain of a driver belongs.
    Unqualified {
        /// The name as written.
        name: String,
        /// How it may have been meant.
        meant: String,
    },
    /// A member of the API object where the value itself stands.
    WireMember {
        /// The member, for instance `bool`.
        member: String,
        /// The expression without it.
        meant: String,
    },
    /// Two sides that can never be equal.
    NeverEqual {
        /// One side.
        access: String,
        /// The type of the other.
        other: String,
    },
    /// What cannot be evaluated, whatever the device.
    Fails(Advice),
}

impl Lint {
    /// What is wrong, and what to do.
    pub(crate) fn in_words(&self) -> (String, String) {
        match self {
            Self::Unguarded { access, guarded } => (
                format!("`{access}` fails on devices without it, and then no Pod that asks for this is scheduled"),
                format!("test for it: `{guarded}`, or test `device.driver` first"),
            ),
            Self::Unqualified { name, meant } if name.contains('.') => {
                (format!("`{name}` without quotes is a row of names, not a domain"), format!("write `{meant}`"))
            }
            Self::Unqualified { name, meant } => {
                (format!("`{name}` stands where the domain of a driver belongs"), format!("write `{meant}`"))
            }
            Self::WireMember { member, meant } => (
                format!("`.{member}` is a member of the API object; in a selector the value stands for itself"),
                format!("write `{meant}`"),
            ),
            Self::NeverEqual { access, other } => (
                format!("`{access}` can never be equal to a value of type `{other}`"),
                "attributes are integers, booleans, texts, versions, or lists of these; amounts stand in `device.capacity`"
                    .to_owned(),
            ),
            Self::Fails(advice) => (advice.problem.clone(), advice.remedy.clone()),
        }
    }
}

/// Deepest nesting that is looked into; what is deeper is left unsaid.
const DEEPEST: usize = 200;

/// Most nodes that are looked at, since what is bound to a name is looked at wherever the name is used; beyond, nothing is said.
const MOST_LOOKS: usize = 200_000;

/// Looks through a checked expression.
pub(super) fn lint(ast: &Ast, root: NodeId, checked: &Checked) -> Vec<Lint> {
    let mut linter = Linter::new(ast, root, checked);
    linter.walk(root, &Guards::default(), 0);
    let of_any_device = advice(ast, root, checked, &|_, _| Vec::new());
    linter.found.extend(of_any_device.into_iter().filter(|one| !one.is_never_equal).map(Lint::Fails));
    if linter.is_lost() {
        return Vec::new();
    }
    linter.found.arrange();
    linter.found.dedup();
    linter.found
}

pub(super) struct Linter<'a> {
    ast: &'a Ast,
    checked: &'a Checked,
    bound: Bound,
    found: Vec<Lint>,
    looks: Cell<usize>,
}

/// What `cel.bind` put behind a name: the expression that stands for each node that is such a name.
#[derive(Default)]
struct Bound(BTreeMap<usize, NodeId>);

impl Bound {
    /// Follows the names from `id` on; `scope` holds those in sight, innermost last, and what is bound to each, if anything.
    fn collect(&mut self, ast: &Ast, id: NodeId, scope: &mut Vec<(Arc<str>, Option<NodeId>)>, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let next = depth.saturating_add(1);
        match ast.kind(id) {
            Kind::Ident(name) => {
                let inner = scope.iter().rfind(|(known, _)| known == name);
                if let Some(value) = inner.and_then(|(_, value)| *value) {
                    self.0.insert(id.index(), value);
                }
            }
            Kind::Fold(fold) => {
                self.collect(ast, fold.range, scope, next);
                self.collect(ast, fold.init, scope, next);
                let outside = scope.len();
                let value = ast.is_binding(fold).then_some(fold.init);
                scope.push((Arc::clone(&fold.accu_var), value));
                self.collect(ast, fold.result, scope, next);
                scope.extend(
                    [Some(&fold.iter_var), fold.iter_var2.as_ref()]
                        .into_iter()
                        .flatten()
                        .map(|name| (Arc::clone(name), None)),
                );
                self.collect(ast, fold.condition, scope, next);
                self.collect(ast, fold.step, scope, next);
                scope.truncate(outside);
            }
            _ => ast.children(id, |child| self.collect(ast, child, scope, next)),
        }
    }

    /// The node itself, or what is bound to the name that it is. Bindings only see earlier ones: this ends.
    fn meant(&self, id: NodeId) -> NodeId {
        std::iter::successors(Some(id), |id| self.0.get(&id.index()).copied()).last().unwrap_or(id)
    }
}

/// What is known to hold where an expression is evaluated.
#[derive(Clone, Default)]
struct Guards {
    /// The driver is known, and its own attributes are its author's business.
    drivers: BTreeSet<String>,
    /// These attributes and capacities are there.
    present: BTreeSet<Access>,
}

impl Guards {
    fn join(&mut self, more: Self) {
        self.drivers.extend(more.drivers);
        self.present.extend(more.present);
    }

    fn with(&self, more: Self) -> Self {
        let mut joined = self.clone();
        joined.join(more);
        joined
    }
}

/// An attribute or capacity by domain and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    /// `attributes` or `capacity`.
    pub(super) map: String,
    pub(super) domain: String,
    pub(super) name: String,
}

impl Access {
    pub(super) fn text(&self) -> String {
        format!("device.{}[\"{}\"].{}", self.map, self.domain, self.name)
    }

    fn test(&self) -> String {
        format!("\"{}\" in device.{}[\"{}\"]", self.name, self.map, self.domain)
    }
}

impl<'a> Linter<'a> {
    pub(super) fn new(ast: &'a Ast, root: NodeId, checked: &'a Checked) -> Self {
        let mut bound = Bound::default();
        bound.collect(ast, root, &mut Vec::new(), 0);
        Self { ast, checked, bound, found: Vec::new(), looks: Cell::new(0) }
    }

    fn is_lost(&self) -> bool {
        self.looks.get() > MOST_LOOKS
    }

    fn walk(&mut self, id: NodeId, guards: &Guards, depth: usize) {
        self.looks.update(|looks| looks.saturating_add(1));
        if depth > DEEPEST || self.is_lost() {
            return;
        }
        let next = depth.saturating_add(1);
        // It is read where it is used, under what is known there.
        let id = self.bound.meant(id);
        if self.row_of_names(id) {
            return;
        }
        self.unqualified(id);
        self.wire_member(id);
        if let Some(access) = self.access(id) {
            let mut inside = Vec::new();
            self.ast.children(id, |child| inside.push(child));
            inside.into_iter().for_each(|child| self.unqualified(child));
            if !guards.present.contains(&access) && !guards.drivers.contains(&access.domain) {
                let guarded = format!("{} && {}", access.test(), access.text());
                self.found.push(Lint::Unguarded { access: access.text(), guarded });
            }
            return;
        }
        match self.ast.kind(id) {
            Kind::Call { function, target: None, args } => match (&**function, args.as_slice()) {
                ("_&&_", [left, right]) => {
                    let (in_left, in_right) = (self.facts(*left, true, 0), self.facts(*right, true, 0));
                    self.walk(*left, &guards.with(in_right), next);
                    self.walk(*right, &guards.with(in_left), next);
                    return;
                }
                ("_||_", [left, right]) => {
                    let (in_left, in_right) = (self.facts(*left, false, 0), self.facts(*right, false, 0));
                    self.walk(*left, &guards.with(in_right), next);
                    self.walk(*right, &guards.with(in_left), next);
                    return;
                }
                ("_?:_" | "_?_:_", [condition, yes, no]) => {
                    self.walk(*condition, guards, next);
                    self.walk(*yes, &guards.with(self.facts(*condition, true, 0)), next);
                    self.walk(*no, &guards.with(self.facts(*condition, false, 0)), next);
                    return;
                }
                ("_==_" | "_!=_", [left, right]) => {
                    self.never_equal(*left, *right);
                    self.never_equal(*right, *left);
                }
                _ => {}
            },
            Kind::Fold(fold) if self.ast.is_binding(fold) => return self.walk(fold.result, guards, next),
            // A test for presence reads nothing.
            Kind::Select { operand, is_test: true, .. } => return self.unqualified(*operand),
            _ => {}
        }
        let mut children = Vec::new();
        self.ast.children(id, |child| children.push(child));
        for child in children {
            self.walk(child, guards, next);
        }
    }

    /// What holds if a condition is true, or false.
    fn facts(&self, id: NodeId, truth: bool, depth: usize) -> Guards {
        let mut facts = Guards::default();
        self.looks.update(|looks| looks.saturating_add(1));
        if depth > DEEPEST || self.is_lost() {
            return facts;
        }
        let next = depth.saturating_add(1);
        let id = self.bound.meant(id);
        match self.ast.kind(id) {
            Kind::Fold(fold) if self.ast.is_binding(fold) => facts.join(self.facts(fold.result, truth, next)),
            Kind::Select { is_test: true, .. } if truth => {
                facts.present.extend(self.access_of_select(id));
            }
            Kind::Call { function, target: None, args } => match (&**function, args.as_slice(), truth) {
                ("_&&_", [left, right], true) | ("_||_", [left, right], false) => {
                    facts.join(self.facts(*left, truth, next));
                    facts.join(self.facts(*right, truth, next));
                }
                ("!_", [inner], _) => facts.join(self.facts(*inner, !truth, next)),
                ("@in", [name, map], true) => {
                    if let (Some(name), Some((kind, domain))) = (self.text(*name), self.domain(*map)) {
                        facts.present.insert(Access { map: kind, domain, name });
                    }
                }
                ("_==_", [left, right], true) | ("_!=_", [left, right], false) => {
                    for (one, other) in [(left, right), (right, left)] {
                        if self.is_driver(*one) {
                            facts.drivers.extend(self.text(*other));
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
        facts
    }

    /// Whether the node reads the driver of the device.
    pub(super) fn is_driver(&self, id: NodeId) -> bool {
        self.qualified_name(id).as_deref() == Some("device.driver")
    }

    /// [`Ast::qualified_name`] with bound names replaced, as far as a device needs it.
    fn qualified_name(&self, id: NodeId) -> Option<String> {
        match self.ast.kind(self.bound.meant(id)) {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, is_test: false } => match self.ast.kind(self.bound.meant(*operand)) {
                Kind::Ident(name) => Some(format!("{name}.{field}")),
                _ => None,
            },
            _ => None,
        }
    }

    fn text(&self, id: NodeId) -> Option<String> {
        match self.ast.kind(self.bound.meant(id)) {
            Kind::Literal(Literal::Str(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// `attributes` or `capacity` if the node is that map of the device.
    fn map(&self, id: NodeId) -> Option<String> {
        match self.qualified_name(id).as_deref() {
            Some("device.attributes") => Some("attributes".to_owned()),
            Some("device.capacity") => Some("capacity".to_owned()),
            _ => None,
        }
    }

    /// The map and the domain if the node is one domain of a map.
    fn domain(&self, id: NodeId) -> Option<(String, String)> {
        match self.ast.kind(self.bound.meant(id)) {
            Kind::Call { function, target: None, args } if &**function == "_[_]" => match args.as_slice() {
                [map, domain] => Some((self.map(*map)?, self.text(*domain)?)),
                _ => None,
            },
            Kind::Select { operand, field, is_test: false } => Some((self.map(*operand)?, field.to_string())),
            _ => None,
        }
    }

    /// The attribute or capacity that a node reads and that must be there.
    pub(super) fn access(&self, id: NodeId) -> Option<Access> {
        let id = self.bound.meant(id);
        match self.ast.kind(id) {
            Kind::Select { is_test: false, .. } => self.access_of_select(id),
            Kind::Call { function, target: None, args } if &**function == "_[_]" => match args.as_slice() {
                [inner, name] => {
                    let (map, domain) = self.domain(*inner)?;
                    Some(Access { map, domain, name: self.text(*name)? })
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn access_of_select(&self, id: NodeId) -> Option<Access> {
        match self.ast.kind(id) {
            Kind::Select { operand, field, .. } => {
                let (map, domain) = self.domain(*operand)?;
                Some(Access { map, domain, name: field.to_string() })
            }
            _ => None,
        }
    }

    /// A domain whose dots are written as in `device.attributes.gpu.example.com.model`.
    fn row_of_names(&mut self, id: NodeId) -> bool {
        let Kind::Select { operand, field, .. } = self.ast.kind(id) else { return false };
        let Some(name) = self.ast.qualified_name(*operand).map(|name| format!("{name}.{field}")) else { return false };
        let maps = ["attributes", "capacity"];
        let row = maps
            .iter()
            .find_map(|map| Some((map, name.strip_prefix("device.")?.strip_prefix(map)?.strip_prefix('.')?)));
        let Some((map, (domain, attribute))) = row.and_then(|(map, row)| Some((map, row.rsplit_once('.')?))) else {
            return false;
        };
        let is_row = domain.contains('.');
        if is_row {
            let meant = format!("device.{map}[\"{domain}\"].{attribute}");
            self.found.push(Lint::Unqualified { name: domain.to_owned(), meant });
        }
        is_row
    }

    /// A domain without a dot or with a slash is no domain.
    fn unqualified(&mut self, id: NodeId) {
        let Some((map, domain)) = self.domain(id) else { return };
        let meant = match domain.split_once('/') {
            Some((domain, name)) => format!("device.{map}[\"{domain}\"].{name}"),
            None if domain.contains('.') => return,
            None => format!("device.{map}[\"<domain of the driver>\"].{domain}"),
        };
        self.found.push(Lint::Unqualified { name: domain, meant });
    }

    fn wire_member(&mut self, id: NodeId) {
        let Kind::Select { operand, field, .. } = self.ast.kind(id) else { return };
        let Some(access) = self.access(*operand) else { return };
        let members: &[&str] = if access.map == "capacity" {
            &["value", "requestPolicy"]
        } else {
            &["bool", "int", "string", "version", "bools", "ints", "strings", "versions"]
        };
        if members.contains(&&**field) {
            self.found.push(Lint::WireMember { member: field.to_string(), meant: access.text() });
        }
    }

    /// An attribute is an integer, a boolean, a text, a version, or a list of these.
    fn never_equal(&mut self, one: NodeId, other: NodeId) {
        let Some(access) = self.access(one).filter(|access| access.map == "attributes") else { return };
        let found = self.checked.type_of(other);
        let never = match found {
            Type::Opaque(name) | Type::Struct(name) => *name != "kubernetes.Semver",
            Type::Null | Type::Bytes | Type::Duration | Type::Timestamp | Type::Map(..) | Type::Optional(_) => true,
            _ => false,
        };
        if never {
            self.found.push(Lint::NeverEqual { access: access.text(), other: found.to_string() });
        }
    }
}
