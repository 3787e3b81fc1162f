//! Which attributes and capacities an expression names, and what it compares them with.

use super::ast::{Ast, Kind, NodeId};
use super::check::Checked;
use super::lint::Linter;
use crate::arrange::Arrange;

/// An attribute or capacity that an expression reads under a fixed name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mention {
    /// Whether it is read from `device.capacity`, not from `device.attributes`.
    pub is_capacity: bool,
    /// The domain as written.
    pub domain: String,
    /// The name within the domain.
    pub name: String,
    /// The CEL type that it is compared with by `==` or `!=`, such as `string`; `None` where the type is not known.
    pub compared_with: Option<String>,
}

/// Looks through a checked expression.
pub(super) fn mentions(ast: &Ast, root: NodeId, checked: &Checked) -> Vec<Mention> {
    let linter = Linter::new(ast, root, checked);
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let mut note = |id: NodeId, other: Option<NodeId>| {
            let Some(access) = linter.access(id) else { return };
            let compared_with = other.and_then(|other| checked.type_of(other).known_value());
            found.push(Mention {
                is_capacity: access.map == "capacity",
                domain: access.domain,
                name: access.name,
                compared_with,
            });
        };
        match ast.kind(id) {
            Kind::Call { function, target: None, args } if matches!(&**function, "_==_" | "_!=_") => {
                if let [left, right] = args.as_slice() {
                    note(*left, Some(*right));
                    note(*right, Some(*left));
                }
            }
            _ => note(id, None),
        }
        ast.children(id, |child| open.push(child));
    }
    // What is compared somewhere need not be told without its type as well.
    found.arrange_by(|one, other| other.cmp(one));
    found.dedup_by(|later, before| {
        let is_same =
            (later.is_capacity, &later.domain, &later.name) == (before.is_capacity, &before.domain, &before.name);
        is_same && (later.compared_with.is_none() || later.compared_with == before.compared_with)
    });
    found.reverse();
    found
}
