//! What calls cost at most.

use super::path::Path;
use super::range::{Range, UNKNOWN, ZERO, exactly, quotient};
use super::{EntrySize, Estimator, ONE, Operand};
use crate::cel::ast::{Ast, Kind, Literal, NodeId};
use crate::cel::check::Reference;
use crate::cel::cost::compares_texts;
use crate::cel::types::Type;

/// The cost of a call without its arguments, and how large its result can be.
struct Estimate {
    cost: Range,
    result: Option<Range>,
}

const STRING_FACTOR: f64 = 0.1;
const PATTERN_FACTOR: f64 = 0.25;

fn cost(cost: Range) -> Option<Estimate> {
    Some(Estimate { cost, result: None })
}

fn sized(cost: Range, result: Range) -> Option<Estimate> {
    Some(Estimate { cost, result: Some(result) })
}

/// One call of one overload.
struct Call<'c, 'e> {
    id: NodeId,
    function: &'c str,
    overload: &'c str,
    target: Option<&'c Operand<'e>>,
    args: &'c [Operand<'e>],
}

impl Estimator<'_> {
    #[inline(never)]
    pub(super) fn call(&mut self, id: NodeId, function: &str, target: Option<NodeId>, args: &[NodeId]) -> Range {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(*arg);
            self.copy_sizes(id, *arg);
            return ONE.add(cost);
        }
        let (mut operands, mut costs) = (Vec::with_capacity(args.len()), Vec::with_capacity(args.len()));
        for arg in args {
            costs.push(self.cost(*arg));
            operands.push(self.operand(*arg));
        }
        let overloads: Vec<&'static str> = match self.checked.reference(id) {
            Reference::Call(_, overloads) => overloads.iter().map(|overload| overload.id).collect(),
            _ if function == "_?._" => vec!["select_optional_field"],
            _ => return ZERO,
        };
        let mut sum = ZERO;
        let target = target.map(|target| {
            sum = self.cost(target);
            self.operand(target)
        });
        let mut most = Range { min: u64::MAX, max: 0 };
        let mut result: Option<Range> = None;
        for overload in overloads {
            let call = Call { id, function, overload, target: target.as_ref(), args: &operands };
            let estimate = self.overload(&call, &costs);
            most = most.union(estimate.cost);
            if let Some(size) = estimate.result {
                result = Some(result.map_or(size, |known| known.union(size)));
            }
            if let ("index_list" | "index_map", Some(container)) = (overload, args.first()) {
                result = self.entries(*container).map(|entries| entries.value);
                let step = if overload == "index_list" { "@items" } else { "@values" };
                let path = self.path(*container).with(step);
                self.set_path(id, path);
            }
            if result.is_none() {
                result = self.size(id);
            }
        }
        self.set_size(id, result);
        sum.add(most)
    }

    /// With the arguments' costs.
    #[inline(never)]
    fn overload(&mut self, call: &Call<'_, '_>, costs: &[Range]) -> Estimate {
        let all = costs.iter().fold(ZERO, |sum, cost| sum.add(*cost));
        let found = lists(self.ast, call).or_else(|| library(self.ast, call));
        if let Some(estimate) = found {
            return Estimate { cost: estimate.cost.add(all), ..estimate };
        }
        match (call.overload, costs) {
            ("logical_or" | "logical_and", [left, right]) => {
                Estimate { cost: Range { min: left.min, max: left.add(*right).max }, result: None }
            }
            ("conditional", [condition, yes, no]) => {
                let size = call.args.get(1).zip(call.args.get(2)).map(|(yes, no)| {
                    self.join_entries(call.id, yes.id, no.id);
                    yes.size_or_unknown().union(no.size_or_unknown())
                });
                Estimate { cost: condition.add(yes.union(*no)), result: size }
            }
            _ => {
                let estimate = self.standard(call);
                Estimate { cost: estimate.cost.add(all), ..estimate }
            }
        }
    }

    fn join_entries(&mut self, id: NodeId, a: NodeId, b: NodeId) {
        if let (Some(a), Some(b)) = (self.entries(a), self.entries(b)) {
            let joined = EntrySize { is_list: a.is_list, key: a.key.union(b.key), value: a.value.union(b.value) };
            self.set_entries(id, Some(joined));
        }
    }

    #[inline(never)]
    fn standard(&mut self, call: &Call<'_, '_>) -> Estimate {
        let arg = |position: usize| call.args.get(position).map_or(UNKNOWN, Operand::size_or_unknown);
        let target = || call.target.map_or(UNKNOWN, Operand::size_or_unknown);
        let plain = |cost: Range| Estimate { cost, result: None };
        let with = |cost: Range, result: Range| Estimate { cost, result: Some(result) };
        match (call.overload, call.args.len(), call.target.is_some()) {
            ("string_format", _, true) => plain(target().scale(STRING_FACTOR)),
            ("string_to_bytes", 1, _) => {
                let size = arg(0);
                // The reference multiplies without looking at overflow.
                with(size.scale(STRING_FACTOR), Range { min: size.min, max: size.max.wrapping_mul(4) })
            }
            ("bytes_to_string", 1, _) => {
                let size = arg(0);
                with(size.scale(STRING_FACTOR), Range { min: size.min / 4, max: size.max })
            }
            ("strings_quote", 1, _) => {
                let size = arg(0);
                let result = Range { min: size.min.wrapping_add(2), max: size.max.wrapping_mul(2).wrapping_add(2) };
                with(size.scale(STRING_FACTOR), result)
            }
            ("starts_with_string" | "ends_with_string", 1, _) => plain(arg(0).scale(STRING_FACTOR)),
            ("in_list", 2, _) => plain(arg(1).scale(1.0)),
            ("matches", 2, false) if self.checked.is_after_1_36 => {
                let text = arg(0).add(ONE).scale(STRING_FACTOR);
                plain(text.times(arg(1).scale(PATTERN_FACTOR)))
            }
            ("matches_string", 1, true) => {
                let text = target().add(ONE).scale(STRING_FACTOR);
                plain(text.times(arg(0).scale(PATTERN_FACTOR)))
            }
            ("contains_string", 1, true) => plain(target().scale(STRING_FACTOR).times(arg(0).scale(STRING_FACTOR))),
            ("add_string" | "add_bytes" | "add_list", 2, _) => {
                let size = arg(0).add(arg(1));
                if let [left, right] = call.args {
                    self.join_entries(call.id, left.id, right.id);
                }
                with(if call.overload == "add_list" { ONE } else { size.scale(STRING_FACTOR) }, size)
            }
            (overload, ..) if compares_texts(overload) => {
                let max = arg(0).max.min(arg(1).max);
                plain(Range { min: u64::from(max > 0), max }.scale(STRING_FACTOR))
            }
            _ => plain(ONE),
        }
    }
}

/// The integer if the operand is written as one.
fn int_literal(ast: &Ast, operand: &Operand<'_>) -> Option<i64> {
    match ast.kind(operand.id) {
        Kind::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    }
}

fn count_literal(ast: &Ast, operand: &Operand<'_>, otherwise: u64) -> u64 {
    int_literal(ast, operand).map_or(otherwise, |value| u64::try_from(value).unwrap_or(0))
}

/// The list and set libraries.
fn lists(ast: &Ast, call: &Call<'_, '_>) -> Option<Estimate> {
    let new_list = |size: Range, factor: f64| sized(size.scale(factor).add(exactly(11)), size);
    match (call.overload, call.target, call.args) {
        ("list_slice", Some(target), [start, end]) => {
            let size = target.library_size();
            let (start, end) = (count_literal(ast, start, 0), count_literal(ast, end, size.max));
            new_list(exactly(end.wrapping_sub(start)), 1.0)
        }
        ("list_flatten" | "list_flatten_int", Some(target), args) => {
            let depth = args.first().map_or(1, |depth| count_literal(ast, depth, u64::MAX));
            #[expect(clippy::cast_precision_loss, reason = "the reference converts too")]
            new_list(target.library_size(), depth as f64)
        }
        ("lists_range", None, [length]) => new_list(exactly(count_literal(ast, length, u64::MAX)), 1.0),
        ("list_reverse", Some(target), []) => new_list(target.library_size(), 1.0),
        ("list_distinct", Some(target), []) => {
            let size = target.library_size();
            new_list(size.times(size), 2.0)
        }
        (id, Some(target), []) if id.ends_with("_sort") => {
            let size = target.library_size();
            new_list(size.times(size), sort_factor(id))
        }
        (id, Some(_), [keys]) if id.ends_with("_sortByAssociatedKeys") => {
            let size = keys.library_size();
            new_list(size.times(size), sort_factor(id))
        }
        ("list_sets_contains_list" | "list_sets_intersects_list", _, [a, b]) => {
            cost(a.library_size().times(b.library_size()).scale(1.0).add(ONE))
        }
        ("list_sets_equivalent_list", _, [a, b]) => cost(a.library_size().times(b.library_size()).scale(2.0).add(ONE)),
        _ => None,
    }
}

fn sort_factor(overload: &str) -> f64 {
    if overload.starts_with("list_string") || overload.starts_with("list_bytes") { 2.0 + STRING_FACTOR } else { 2.0 }
}

/// The libraries of Kubernetes, where a call costs more than one unit.
fn library(ast: &Ast, call: &Call<'_, '_>) -> Option<Estimate> {
    let first = call.args.first().map(Operand::library_size);
    match (call.function, call.target, call.args) {
        ("includes", Some(_), _) if call.overload == "dra_includes_dyn_dyn" => cost(Range { min: 0, max: 48 }),
        ("includes", Some(target), _) => {
            let is_collection = element(target).is_some();
            cost(if is_collection { traversal(target) } else { target.library_size() })
        }
        ("check", _, _) => cost(exactly(350_000)),
        ("fieldSelector" | "labelSelector", _, [selector]) => {
            let length = selector.library_size();
            cost(exactly(10).add(length.scale(STRING_FACTOR)).add(length.scale(0.5).scale(50.0)))
        }
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => cost(traversal(target)),
        ("url", _, [text]) => {
            let size = text.library_size();
            sized(size.scale(STRING_FACTOR), size)
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
            let size = target.library_size();
            sized(size.scale(STRING_FACTOR), size)
        }
        ("replace", Some(target), [old, new, ..]) => {
            let size = target.library_size();
            let result = replaced(size, old.library_size(), new.library_size());
            sized(size.scale(2.0 * STRING_FACTOR), result)
        }
        ("split", Some(target), args) => {
            let size = target.library_size();
            let limit = args.get(1).and_then(|limit| int_literal(ast, limit));
            let max = limit.map_or(size.max, i64::cast_unsigned);
            sized(size.scale(2.0 * STRING_FACTOR), Range { min: 0, max })
        }
        ("join", Some(target), args) => {
            let size = joined(target, args.first());
            sized(size.scale(STRING_FACTOR), size)
        }
        ("find" | "findAll", Some(target), [pattern, ..]) => {
            let size = target.library_size();
            let text = size.add(ONE).scale(STRING_FACTOR);
            let price = text.times(pattern.library_size().scale(PATTERN_FACTOR));
            sized(price, Range { min: 0, max: size.max })
        }
        ("ip", _, _) if call.overload == "cidr_ip" => cost(ONE),
        ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, _) => {
            cost(first?.scale(STRING_FACTOR))
        }
        ("ip.isCanonical", _, _) => cost(first?.scale(2.0 * STRING_FACTOR)),
        ("containsIP" | "containsCIDR", _, [other, ..]) => cost(contains(call, other)),
        ("validate", _, [text, ..]) => cost(text.library_size().scale(STRING_FACTOR).scale(128.0 * PATTERN_FACTOR)),
        ("_==_", _, [left, right]) => equality(left, right),
        _ => None,
    }
}

/// Walking through a list, or a text if it is none.
fn traversal(target: &Operand<'_>) -> Range {
    let size = target.library_size();
    match element(target) {
        Some((Type::Str | Type::Bytes, path)) => {
            let each = path.declared_size().unwrap_or(UNKNOWN);
            size.times(ONE.add(each.scale(STRING_FACTOR)))
        }
        Some(_) => size.times(ONE),
        None => size.scale(STRING_FACTOR),
    }
}

/// The type of a collection's first parameter, and the path of an element.
fn element<'e>(list: &Operand<'e>) -> Option<(&'e Type, Path)> {
    match list.found {
        Type::List(inner) | Type::Map(inner, _) | Type::Optional(inner) | Type::Meta(inner) => {
            Some((inner, list.path.separate("@items")))
        }
        _ => None,
    }
}

fn joined(list: &Operand<'_>, separator: Option<&Operand<'_>>) -> Range {
    let count = list.library_size();
    let mut size = ZERO;
    if let Some((_, path)) = element(list) {
        size = count.times(path.declared_size().unwrap_or(UNKNOWN));
    }
    if let Some(separator) = separator {
        let separators = Range { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
        size = size.add(separator.library_size().times(separators));
    }
    size
}

/// The size of a text after replacing.
fn replaced(size: Range, old: Range, new: Range) -> Range {
    let (mut count, mut retained) = (ZERO, ZERO);
    if old.min == 0 {
        count.max = size.max.saturating_add(1);
        retained.max = size.max;
    } else if new.max <= old.min {
        retained.max = size.max;
    } else {
        count.max = quotient(size.max, old.min);
    }
    if old.max == 0 {
        count.min = size.min.saturating_add(1);
        retained.min = size.min;
    } else if old.max <= new.min {
        retained.min = size.min;
    } else {
        count.min = quotient(size.min, old.max);
    }
    count.times(new).add(retained)
}

fn contains(call: &Call<'_, '_>, other: &Operand<'_>) -> Range {
    let size = Range { min: 4, max: 16 };
    let mut price = size.add(size).scale(STRING_FACTOR);
    if call.function == "containsCIDR" {
        price = price.add(size.scale(STRING_FACTOR)).add(ONE);
    }
    if matches!(call.overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
        price = price.add(other.library_size().scale(STRING_FACTOR));
    }
    price
}

fn equality(left: &Operand<'_>, right: &Operand<'_>) -> Option<Estimate> {
    if left.found != right.found {
        return None;
    }
    match left.found {
        Type::Opaque(_) | Type::Struct("kubernetes.Quantity" | "kubernetes.Semver") => cost(ONE),
        Type::Struct("kubernetes.NamedFormat") => cost(Range { min: 1, max: 64 }.scale(STRING_FACTOR)),
        Type::Struct("kubernetes.URL") => {
            let max = right.size.map_or(1, |size| size.max);
            cost(Range { min: 1, max }.scale(STRING_FACTOR))
        }
        _ => None,
    }
}
