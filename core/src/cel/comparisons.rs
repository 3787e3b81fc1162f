//! What a selector wants of single attributes and capacities, where it says so plainly.

use super::ast::{Ast, Kind, Literal, NodeId};
use super::check::Checked;
use super::lint::Linter;
use super::reads::Field;

/// How a field is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`, or `in` of a list
    Equal,
    /// `!=`, or not `in` of a list
    Unequal,
}

impl Operator {
    fn of(function: &str) -> Option<Self> {
        Some(match function {
            "_<_" | "isLessThan" => Self::Less,
            "_<=_" => Self::AtMost,
            "_>_" | "isGreaterThan" => Self::Greater,
            "_>=_" => Self::AtLeast,
            "_==_" => Self::Equal,
            "_!=_" => Self::Unequal,
            _ => return None,
        })
    }

    /// As an expression writes it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }

    /// The same with both sides exchanged.
    fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::Greater,
            Self::Greater => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
        }
    }
}

/// What a field is compared with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Constant {
    /// Inside `quantity("..")`.
    Quantity(String),
    /// Inside `semver("..")`.
    Version(String),
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

/// One comparison of a field with constants; several only with [`Operator::Equal`] (any of them) and [`Operator::Unequal`] (none).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Comparison {
    /// The attribute or capacity.
    pub field: Field,
    /// How.
    pub operator: Operator,
    /// With what.
    pub constants: Vec<Constant>,
}

/// What must hold together, in the order in which it is written; `None` where something is wanted that is no comparison of one field with
/// constants. Tests whether a field is there at all (`has(..)`) are left out.
pub(super) fn comparisons(ast: &Ast, root: NodeId, checked: &Checked) -> Option<Vec<Comparison>> {
    let reader = Reader { ast, linter: Linter::new(ast, root, checked) };
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        match ast.kind(id) {
            Kind::Call { function, target: None, args } if &**function == "_&&_" => open.extend(args.iter().rev()),
            _ if reader.is_presence(id) => {}
            _ => found.push(reader.comparison(id)?),
        }
    }
    Some(found)
}

/// Reads comparisons off an expression.
pub(super) struct Reader<'a> {
    pub(super) ast: &'a Ast,
    pub(super) linter: Linter<'a>,
}

impl Reader<'_> {
    fn is_presence(&self, id: NodeId) -> bool {
        match self.ast.kind(id) {
            Kind::Select { is_test, .. } => *is_test,
            Kind::Call { function, target: None, args } if &**function == "@in" => {
                matches!(args.as_slice(), [name, map] if self.constant(*name).is_some() && self.list(*map).is_none())
            }
            _ => false,
        }
    }

    pub(super) fn comparison(&self, id: NodeId) -> Option<Comparison> {
        if let Some(field) = self.field(id) {
            return Some(Comparison { field, operator: Operator::Equal, constants: vec![Constant::Bool(true)] });
        }
        let Kind::Call { function, target, args } = self.ast.kind(id) else { return None };
        match (&**function, *target, args.as_slice()) {
            ("!_", None, [inner]) => {
                let inner = self.comparison(*inner)?;
                Some(Comparison { operator: inner.operator.negated(), ..inner })
            }
            ("@in", None, [value, list]) => {
                Some(Comparison { field: self.field(*value)?, operator: Operator::Equal, constants: self.list(*list)? })
            }
            (name, Some(target), [argument]) => {
                let (field, constants) = (self.field(target)?, vec![self.constant(*argument)?]);
                Some(Comparison { field, operator: Operator::of(name)?, constants })
            }
            (name, None, [left, right]) => {
                let operator = Operator::of(name)?;
                self.sides(operator, *left, *right).or_else(|| self.sides(operator.flipped(), *right, *left))
            }
            _ => None,
        }
    }

    /// A field on the left and a constant on the right, or `field.compareTo(constant)` and 0.
    fn sides(&self, operator: Operator, left: NodeId, right: NodeId) -> Option<Comparison> {
        let constant = self.constant(right)?;
        if let Some(field) = self.field(left) {
            return Some(Comparison { field, operator, constants: vec![constant] });
        }
        let Kind::Call { function, target: Some(target), args } = self.ast.kind(left) else { return None };
        match (&**function, args.as_slice(), constant) {
            ("compareTo", [amount], Constant::Int(0)) => {
                let (field, constants) = (self.field(*target)?, vec![self.constant(*amount)?]);
                Some(Comparison { field, operator, constants })
            }
            _ => None,
        }
    }

    pub(super) fn field(&self, id: NodeId) -> Option<Field> {
        let Some(access) = self.linter.access(id) else {
            return self.linter.is_driver(id).then_some(Field::Driver);
        };
        let (domain, id) = (access.domain, access.name);
        Some(match access.map.as_str() {
            "capacity" => Field::Capacity { domain, id },
            _ => Field::Attribute { domain, id },
        })
    }

    fn list(&self, id: NodeId) -> Option<Vec<Constant>> {
        match self.ast.kind(id) {
            Kind::List(items) => items.iter().map(|item| self.constant(item.value)).collect(),
            _ => None,
        }
    }

    fn constant(&self, id: NodeId) -> Option<Constant> {
        Some(match self.ast.kind(id) {
            Kind::Literal(Literal::Int(number)) => Constant::Int(*number),
            Kind::Literal(Literal::Bool(value)) => Constant::Bool(*value),
            Kind::Literal(Literal::Str(text)) => Constant::Text(text.to_string()),
            Kind::Call { function, target: None, args } => match (&**function, args.as_slice()) {
                ("quantity", [text]) => Constant::Quantity(self.text(*text)?),
                ("semver", [text]) => Constant::Version(self.text(*text)?),
                _ => return None,
            },
            _ => return None,
        })
    }

    pub(super) fn text(&self, id: NodeId) -> Option<String> {
        match self.constant(id)? {
            Constant::Text(text) => Some(text),
            _ => None,
        }
    }
}
