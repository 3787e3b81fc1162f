//! What calls cost at run time.

use super::value::{List, Value};

/// The rule of one call, chosen when the program is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// A fixed price.
    Fixed(u64),
    /// The size of the first argument, a tenth, rounded up.
    Text,
    /// The size of the first argument times tenths, rounded up.
    Tenths(u64),
    /// The size of the second argument, a tenth.
    Part,
    /// The size of the result times two tenths, rounded up.
    Result,
    /// Matching the first argument with the pattern in the second.
    Pattern,
    /// The same in a function of a library.
    Find,
    /// Walking through the first argument.
    Traversal,
    /// The smaller of two arguments, a tenth.
    Smaller,
    /// The same, but 1 for types of Kubernetes.
    Equality,
    /// Both arguments together, a tenth.
    Sum,
    /// Searching the second argument in the first.
    Search,
    /// The elements of the second argument.
    Elements,
    /// A network that contains an address or another network.
    Contains { is_network: bool, is_text: bool },
    /// The pattern behind a named format.
    Validate,
    /// Each element of the first with each of the second argument, so many times.
    Product(u64),
    /// A new list as long as the result.
    NewList,
    /// A new list: the first argument times the depth in the second.
    Flatten { is_after_1_36: bool },
    /// A new list after comparing each element of an argument with each other.
    Sort { argument: usize },
    /// Parsing a selector of an authorization check.
    Selector,
}

/// The rule for a function, given the overload if there is only one.
pub(super) fn rule(function: &str, overload: Option<&str>, is_after_1_36: bool) -> Rule {
    let by_overload = match overload.unwrap_or_default() {
        // Up to 1.36 the text counts, not what is looked for in it; and the function counts as cheap, unlike the member.
        "starts_with_string" | "ends_with_string" if is_after_1_36 => Some(Rule::Part),
        "matches" if is_after_1_36 => Some(Rule::Pattern),
        "list_slice" | "lists_range" | "list_reverse" => Some(Rule::NewList),
        "list_flatten" | "list_flatten_int" => Some(Rule::Flatten { is_after_1_36 }),
        "list_distinct" => Some(Rule::Sort { argument: 0 }),
        id if id.ends_with("_sort") => Some(Rule::Sort { argument: 0 }),
        id if id.ends_with("_sortByAssociatedKeys") => Some(Rule::Sort { argument: 1 }),
        "list_sets_contains_list" | "list_sets_intersects_list" => Some(Rule::Product(1)),
        "list_sets_equivalent_list" => Some(Rule::Product(2)),
        _ => None,
    };
    by_overload
        .or_else(|| by_function(function, overload.unwrap_or_default()))
        .unwrap_or_else(|| standard(overload.unwrap_or_default()))
}

fn by_function(function: &str, overload: &str) -> Option<Rule> {
    Some(match function {
        "check" => Rule::Fixed(350_000),
        "fieldSelector" | "labelSelector" => Rule::Selector,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Rule::Traversal,
        "includes" if overload == "list_includes_dyn_dyn" => Rule::Traversal,
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" => Rule::Tenths(1),
        "replace" | "split" | "ip.isCanonical" => Rule::Tenths(2),
        "join" => Rule::Result,
        "find" | "findAll" => Rule::Find,
        "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver" => Rule::Tenths(1),
        "ip" if overload == "cidr_ip" => Rule::Fixed(1),
        "ip" => Rule::Tenths(1),
        "containsIP" => Rule::Contains { is_network: false, is_text: overload == "cidr_contains_ip_string" },
        "containsCIDR" => Rule::Contains { is_network: true, is_text: overload == "cidr_contains_cidr_string" },
        "validate" => Rule::Validate,
        "_==_" => Rule::Equality,
        _ => return None,
    })
}

fn standard(overload: &str) -> Rule {
    match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
        | "string_format" => Rule::Text,
        "in_list" => Rule::Elements,
        overload if compares_texts(overload) => Rule::Smaller,
        "add_string" | "add_bytes" => Rule::Sum,
        "matches_string" => Rule::Pattern,
        "contains_string" => Rule::Search,
        _ => Rule::Fixed(1),
    }
}

/// Whether an overload compares values that may be long, up to the end of the shorter one.
pub(super) fn compares_texts(overload: &str) -> bool {
    let orders = ["less_", "greater_"].iter().any(|order| overload.starts_with(order));
    orders && ["_string", "_bytes"].iter().any(|of| overload.ends_with(of))
        || matches!(overload, "equals" | "not_equals")
}

/// `ceil(size * tenths * 0.1)`, in floating point as the reference computes it.
fn tenths(size: u64, tenths: u64) -> u64 {
    scaled(size.saturating_mul(tenths), 0.1, f64::ceil)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the reference rounds the same way"
)]
fn scaled(size: u64, factor: f64, round: impl Fn(f64) -> f64) -> u64 {
    round(size as f64 * factor) as u64
}

/// A product in floating point, converted as the reference's machines do: what is negative wraps.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "see above")]
fn multiplied(size: u64, depth: i64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    let product = size as f64 * depth as f64;
    match product {
        _ if product < HALF => (product as i64).cast_unsigned(),
        _ if product < 2.0 * HALF => product as u64,
        _ => 1 << 63,
    }
}

impl Rule {
    /// The price of a call. For an argument that failed, `null` stands in.
    pub(super) fn price(self, args: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
        let value = |position: usize| args.get(position);
        // Libraries do not look into optional values; what the language itself has does.
        let looks_inside = matches!(
            self,
            Self::Text
                | Self::Part
                | Self::Pattern
                | Self::Smaller
                | Self::Equality
                | Self::Sum
                | Self::Search
                | Self::Elements
        );
        let size = |position: usize| match value(position) {
            None => 1,
            Some(Value::Optional(_)) if !looks_inside => 1,
            Some(value) => value.cost_size(),
        };
        match self {
            Self::Fixed(price) => price,
            Self::Text => tenths(size(0), 1),
            Self::Tenths(count) => tenths(size(0), count),
            Self::Part => tenths(size(1), 1),
            Self::Result => tenths(result.map_or(1, Value::cost_size), 2),
            Self::Pattern | Self::Find => pattern(size(0), size(1)),
            Self::Traversal => value(0).map_or(1, traversal),
            Self::Smaller => tenths(size(0).min(size(1)), 1),
            Self::Equality if value(0).is_some_and(has_unit_equality) => 1,
            Self::Equality => tenths(size(0).min(size(1)), 1),
            Self::Sum => tenths(size(0).saturating_add(size(1)), 1),
            Self::Search => tenths(size(0), 1).saturating_mul(tenths(size(1), 1)),
            Self::Elements => size(1),
            Self::Contains { is_network, is_text } => {
                let compare = tenths(size(0), 2);
                let mask = if is_network { tenths(size(0), 1).saturating_add(1) } else { 0 };
                let parse = if is_text { tenths(size(1), 1) } else { 0 };
                compare.saturating_add(mask).saturating_add(parse)
            }
            Self::Validate => match value(0) {
                Some(Value::Format(position)) => pattern(size(1), super::format_names::pattern_size(*position)),
                _ => 1,
            },
            Self::Product(times) => size(0).saturating_mul(size(1)).saturating_mul(times).saturating_add(1),
            Self::NewList => result.map_or(1, Value::cost_size).saturating_add(11),
            Self::Flatten { is_after_1_36 } => {
                let depth = match value(1) {
                    Some(Value::Int(depth)) if !is_after_1_36 || *depth >= 0 => *depth,
                    _ => 1,
                };
                let list = multiplied(size(0), depth);
                if is_after_1_36 { list.saturating_add(11) } else { list.wrapping_add(11) }
            }
            Self::Sort { argument } => {
                let count = size(argument);
                let is_text = matches!(
                    value(argument),
                    Some(Value::List(list)) if matches!(list.get(0), Some(Value::Str(_) | Value::Bytes(_)))
                );
                let factor = if is_text { 2.1 } else { 2.0 };
                scaled(count.saturating_mul(count), factor, f64::floor).saturating_add(11)
            }
            Self::Selector => {
                // A list of requirements, one for each two characters, each a struct and a list.
                let length = size(1);
                let requirements = length.div_ceil(2).saturating_mul(50);
                requirements.saturating_add(tenths(length, 1)).saturating_add(10)
            }
        }
    }
}

impl Rule {
    /// The message of the reference's crash when it cannot price the call, given the arguments and which of them failed.
    pub(super) fn crash(self, args: &[Value<'_>], failed: impl Fn(usize) -> bool) -> Option<String> {
        let name = |position: usize| match args.get(position) {
            _ if failed(position) => "*types.Err",
            Some(value) => super::eval::go_type(value),
            None => "nil",
        };
        match self {
            Self::Sort { argument } => match args.get(argument) {
                Some(Value::List(_)) if !failed(argument) => None,
                found => {
                    let can_add =
                        !failed(argument) && found.is_some_and(|value| super::call::Trait::Add.is_met_by(value));
                    let method = if can_add { "Contains" } else { "Add" };
                    Some(format!(
                        "interface conversion: {} is not traits.Lister: missing method {method}",
                        name(argument)
                    ))
                }
            },
            Self::Flatten { .. } if args.len() > 1 && (failed(1) || !matches!(args.get(1), Some(Value::Int(_)))) => {
                Some(format!("interface conversion: ref.Val is {}, not types.Int", name(1)))
            }
            _ => None,
        }
    }
}

fn pattern(text: u64, pattern: u64) -> u64 {
    tenths(text.saturating_add(1), 1).saturating_mul(pattern.div_ceil(4))
}

fn has_unit_equality(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Quantity(_) | Value::Ip(_) | Value::Cidr(_) | Value::Format(_) | Value::Url(_) | Value::Semver(_)
    )
}

fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::Str(text) => tenth_of_bytes(text.as_str().len()),
        Value::Bytes(bytes) => tenth_of_bytes(bytes.len()),
        Value::List(List::Ints(_) | List::Bools(_)) => value.cost_size(),
        Value::List(list) => list.iter().fold(0, |sum: u64, element| sum.saturating_add(traversal(&element))),
        Value::Map(map) => map
            .entries()
            .iter()
            .fold(0, |sum: u64, (key, value)| sum.saturating_add(traversal(key)).saturating_add(traversal(value))),
        _ => 1,
    }
}

fn tenth_of_bytes(length: usize) -> u64 {
    scaled(u64::try_from(length).unwrap_or(u64::MAX), 0.1, f64::floor)
}
