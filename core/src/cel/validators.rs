//! What is checked in literals after the types fit.

use super::ast::{Ast, Kind, Literal, NodeId};
use super::check::Checked;
use super::error::Report;
use super::regex::Regex;
use super::types::Type;
use super::{format, time};

/// Checks every literal below the root that is an argument of a conversion or a pattern, and that collections are homogeneous.
pub(super) fn validate(ast: &Ast, root: NodeId, checked: &Checked, report: &mut Report<'_>) {
    // With whether the node is part of a call of `format`, whose lists may mix types.
    let mut stack = vec![(root, false)];
    while let Some((id, is_exempt)) = stack.pop() {
        match ast.kind(id) {
            Kind::List(_) | Kind::Map(_) if is_exempt => {}
            Kind::Call { function, target, args } => call(ast, checked, id, (function, *target, args), report),
            Kind::List(elements) => {
                let values = elements.iter().map(|element| (element.value, element.is_optional));
                homogeneous(ast, checked, values, report, true);
            }
            Kind::Map(entries) => {
                homogeneous(ast, checked, entries.iter().map(|entry| (entry.key, false)), report, false);
                let values = entries.iter().map(|entry| (entry.value, entry.is_optional));
                homogeneous(ast, checked, values, report, false);
            }
            _ => {}
        }
        let is_exempt = is_exempt || matches!(ast.kind(id), Kind::Call { function, .. } if **function == *"format");
        ast.children(id, |child| stack.push((child, is_exempt)));
    }
}

fn call(
    ast: &Ast,
    checked: &Checked,
    id: NodeId,
    (function, target, args): (&str, Option<NodeId>, &[NodeId]),
    report: &mut Report<'_>,
) {
    let Some(first) = args.first() else {
        return;
    };
    if function == "format" {
        if let (Some(target), Kind::List(elements)) = (target, ast.kind(*first))
            && let Kind::Literal(Literal::Str(text)) = ast.kind(target)
        {
            format::validate(ast, checked, (id, text), elements, report);
        }
        return;
    }
    let Kind::Literal(literal) = ast.kind(*first) else {
        return;
    };
    let is_valid = match (function, literal) {
        ("duration", Literal::Str(text)) => time::parse_duration(text).is_some(),
        ("timestamp", Literal::Str(text)) => time::Timestamp::parse(text).is_ok(),
        ("timestamp", Literal::Int(seconds)) => time::Timestamp::from_seconds(*seconds).is_some(),
        ("duration", Literal::Int(_)) => false,
        ("matches", Literal::Str(text)) => Regex::is_valid(text),
        _ => true,
    };
    if !is_valid {
        report.add(ast.offset(*first), format!("invalid {function} argument"));
    }
}

fn homogeneous(
    ast: &Ast,
    checked: &Checked,
    values: impl Iterator<Item = (NodeId, bool)>,
    report: &mut Report<'_>,
    stops: bool,
) {
    let mut wanted: Option<&Type> = None;
    for (id, is_optional) in values {
        let found = checked.type_of(id);
        let found = if is_optional { found.unwrap_optional().0 } else { found };
        match wanted {
            None => wanted = Some(found),
            Some(wanted) if !wanted.is_equivalent(found) => {
                report.add(ast.offset(id), format!("expected type '{wanted}' but found '{found}'"));
                if stops {
                    return;
                }
            }
            Some(_) => {}
        }
    }
}
