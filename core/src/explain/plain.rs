//! The answer for somebody who does not know how devices are allocated: what is asked for, what is there, by how much it misses.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::holders;
use super::own::own_selectors;
use super::reasons::problems::{all_refused, attribute_meant};
use super::relax::asked;
use super::requests::{alike, subjects};
use super::statistics::{Counted, Held, counted};
use super::survey::Survey;
use super::together::together;
use super::words::{bottleneck, policy_in_words};
use super::{Explanation, ReasonCount, ReasonKind, RequestExplanation};
use crate::allocate::DeviceId;
use crate::allocate::inspect::{DeviceSeen, Obstacle, UnitSeen, inspect};
use crate::api::quantity::Quantity;
use crate::api::slice::AttributeValue;
use crate::arrange::Arrange;
use crate::cel::{Comparison, Constant, Environment, Field, Operator, comparisons};
use crate::cluster::Cluster;
use crate::cluster::selectors::Compiled;
use crate::finding::{Code, Finding, list};
use crate::near::distance;

/// Most wishes that are named; more are "its selectors".
const MOST_WISHES: usize = 3;

/// Most values of an attribute that are listed.
const MOST_VALUES: usize = 4;

/// Most alternatives that are gone through.
const MOST_ALTERNATIVES: usize = 3;

/// Most slips of the finger in the name of a driver: names of different drivers mostly differ in their first part only.
const MOST_SLIPS: usize = 2;

/// What is asked for.
const ASKS: &str = "asks for ";

/// The answer, where there is a plain one. The sentence goes on from its subject: `asks for 4 GPUs; all 8 are in use`.
pub(crate) fn plain(cluster: &mut Cluster, case: &Case, survey: &Survey, explanation: &Explanation) -> Option<String> {
    let Some(request) = bottleneck(explanation) else { return together(cluster, case, survey) };
    let main = |one: &RequestExplanation| one.request.split('/').next().unwrap_or_default().to_owned();
    let same = |one: &RequestExplanation| one.claim == request.claim && main(one) == main(request);
    let positions: Vec<usize> =
        explanation.requests.iter().enumerate().filter(|(_, one)| same(one)).map(|(position, _)| position).collect();
    if let [only] = positions.as_slice() {
        return of_request(cluster, case, survey, explanation, *only);
    }
    let shown = positions.iter().take(MOST_ALTERNATIVES);
    let parts = shown.filter_map(|position| {
        let text = of_request(cluster, case, survey, explanation, *position)?;
        let name = &explanation.requests.get(*position)?.request;
        Some(format!("`{name}` ({})", text.strip_prefix(ASKS).unwrap_or(&text)))
    });
    let mut parts: Vec<String> = parts.collect();
    let more = positions.len().saturating_sub(MOST_ALTERNATIVES);
    parts.extend((more > 0).then(|| format!("and {more} more")));
    Some(format!("can have none of its {} alternatives: {}", positions.len(), parts.join(", ")))
}

/// What one request asks for, and what is in its way.
fn of_request(
    cluster: &mut Cluster,
    case: &Case,
    survey: &Survey,
    explanation: &Explanation,
    position: usize,
) -> Option<String> {
    let request = explanation.requests.get(position)?;
    let unit = survey.units.get(position)?;
    let noun = noun(&request.class);
    let count = match (request.is_all, request.needed) {
        (true, _) => format!("all {noun}s"),
        (false, 1) => format!("a {noun}"),
        (false, many) => format!("{many} {noun}s"),
    };
    if request.devices == 0 {
        let class = &request.class;
        if let Some(driver) = silent_driver(cluster, class).filter(|_| request.other_devices > 0) {
            let mut drivers = cluster.slices().values().map(|slice| slice.spec.driver.as_str());
            let way = match drivers.find(|other| distance(&driver, other) <= MOST_SLIPS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see whether its Pod runs on the nodes".to_owned(),
            };
            return Some(format!("{ASKS}{count}, and driver `{driver}` publishes no ResourceSlice: {way}"));
        }
        return match request.other_devices {
            0 => {
                let why = all_refused(cluster, "ResourceSlice");
                Some(format!("{ASKS}{count}, and {}", why.unwrap_or_else(|| "no driver offers any device".to_owned())))
            }
            1 => Some(format!("{ASKS}{count} of class `{class}`, and the only device there is not one")),
            other => Some(format!("{ASKS}{count} of class `{class}`, and none of the {other} devices there is one")),
        };
    }
    let refused = request.reasons.iter().filter(|reason| is_of_selector(reason));
    let refused = refused.fold(0u64, |sum, reason| sum.saturating_add(reason.devices));
    let matching = request.devices.saturating_sub(refused);
    let wishes = if refused > 0 { wishes(cluster, case, unit, request) } else { Wishes::default() };
    let wanted = format!("{ASKS}{count}{}", wishes.in_words());
    if matching == 0 {
        let miss = miss(cluster, survey, position, &wishes, (noun, request.devices));
        return Some(format!("{wanted}; {miss}"));
    }
    if let Some(amounts) = amounts(cluster, case, survey, (position, unit), request, noun) {
        return Some(format!("{wanted}{amounts}"));
    }
    let others = obstacles(request);
    let total = match refused {
        0 => there_are(request.devices, noun),
        _ => format!("{matching} of {} {}", request.devices, verb(matching, "matches", "match")),
    };
    let refusing = refusing_nodes(case);
    let in_words = |reason: &ReasonCount| {
        let text = match reason.kind {
            ReasonKind::OtherNode if refusing.is_some() => {
                verb(reason.devices, "is on a node that refuses the Pod", "are on nodes that refuse the Pod")
            }
            // What members before it take is in use as long as the group is tried.
            ReasonKind::InUse if case.is_of_group => verb(
                reason.devices,
                "is in use, or taken by another Pod of the PodGroup",
                "are in use, or taken by other Pods of the PodGroup",
            ),
            ReasonKind::InUse => verb(reason.devices, "is in use", "are in use"),
            _ => &reason.text,
        };
        reason_in_words(reason, text, matching, refused)
    };
    let reasons: Vec<String> = others.iter().map(in_words).collect();
    let is_refused = others.iter().all(|reason| reason.kind == ReasonKind::OtherNode);
    let because = refusing.filter(|_| is_refused).map(|message| format!(": {message}")).unwrap_or_default();
    let is_short = !request.is_all && matching < request.needed;
    let best = match (request.usable, request.needed) {
        _ if is_short || request.is_all => String::new(),
        (usable, needed) if usable > 0 && needed > 1 => format!(", at most {} on one node", request.best),
        _ => String::new(),
    };
    Some(match (reasons.as_slice(), request.usable) {
        _ if is_short && refused > 0 => format!("{wanted}; only {total}"),
        _ if is_short => format!("{wanted}, and {total}"),
        ([], _) => format!("{wanted} on one node; {total}{best}"),
        ([only], 0) => {
            let near = others.first().and_then(|reason| near_attribute(cluster, survey, position, reason));
            format!("{wanted}; {only}{because}{}", near.unwrap_or_default())
        }
        (_, 0) => format!("{wanted}; {total}: {}", list_of(&reasons)),
        (_, usable) => format!("{wanted}; {total}, {usable} can be had{best}: {}", list_of(&reasons)),
    })
}

/// The driver that a class selects and of which there is no slice.
fn silent_driver(cluster: &Cluster, class: &str) -> Option<String> {
    let profile = cluster.profile();
    let environment = Environment::stored(profile.version, &profile.features);
    let selectors = cluster.classes().get(class)?.spec.selectors.iter().filter_map(|selector| selector.cel.as_ref());
    let wanted = selectors.filter_map(|cel| comparisons(&cel.expression, &environment)).flatten();
    let is_driver = |one: &Comparison| one.field == Field::Driver && one.operator == Operator::Equal;
    wanted.filter(|one| is_driver(one) && !names_driver(cluster, one)).find_map(|one| match one.constants.as_slice() {
        [Constant::Text(driver)] => Some(driver.clone()),
        _ => None,
    })
}

/// The attribute that was probably meant by a constraint whose attribute no device has.
fn near_attribute(cluster: &Cluster, survey: &Survey, position: usize, reason: &ReasonCount) -> Option<String> {
    let unit = survey.units.get(position).filter(|_| reason.kind == ReasonKind::ConstraintMissing)?;
    let missing = unit.constraints.iter().find(|(_, attribute)| reason.text.contains(attribute.as_str()))?;
    attribute_meant(cluster, &missing.1).map(|meant| format!(": {meant}"))
}

/// What the most nodes have against the Pod that all nodes were asked for.
fn refusing_nodes(case: &Case) -> Option<&str> {
    let is_of_node = |finding: &&Finding| finding.code == Code::RunNodeUnsuitable;
    let asks_all = case.pod.is_some() && case.other_nodes.is_empty();
    case.stage.iter().find(is_of_node).filter(|_| asks_all).map(|finding| finding.message.as_str())
}

/// What people call devices of a class: by the name of the class, as nothing else says it.
pub(super) fn noun(class: &str) -> &'static str {
    let class = class.to_ascii_lowercase();
    let is = |word: &str| class.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| part == word);
    match () {
        () if is("mig") => "MIG device",
        () if class.contains("gpu") => "GPU",
        () if is("tpu") => "TPU",
        () if is("nic") => "NIC",
        () => "device",
    }
}

fn verb(number: u64, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

fn there_are(number: u64, noun: &str) -> String {
    if number == 1 { format!("there is 1 {noun}") } else { format!("there are {number} {noun}s") }
}

fn list_of(texts: &[String]) -> String {
    texts.join(", ")
}

/// Whether one of the request's own selectors refuses devices.
fn is_of_selector(reason: &ReasonCount) -> bool {
    reason.selector.as_ref().is_some_and(|selector| !selector.of_class)
}

fn by_number(request: &RequestExplanation) -> Vec<&ReasonCount> {
    let mut reasons: Vec<&ReasonCount> = request.reasons.iter().collect();
    reasons.arrange_by_key(|reason| std::cmp::Reverse(reason.devices));
    reasons
}

/// Why devices that match cannot be had, by the number of devices. Counters of which too little is left are one reason to a person.
fn obstacles(request: &RequestExplanation) -> Vec<ReasonCount> {
    let mut all: Vec<ReasonCount> = Vec::new();
    for reason in request.reasons.iter().filter(|reason| !is_of_selector(reason)) {
        match all.iter_mut().find(|other| shares_hardware(other) && shares_hardware(reason)) {
            Some(other) => other.devices = other.devices.saturating_add(reason.devices),
            None => all.push(reason.clone()),
        }
    }
    all.arrange_by_key(|reason| std::cmp::Reverse(reason.devices));
    all
}

fn shares_hardware(reason: &ReasonCount) -> bool {
    matches!(reason.kind, ReasonKind::CounterShort | ReasonKind::OtherGroup)
}

/// A reason behind its number: `all 16 are in use`, `2 are in use`.
fn reason_in_words(reason: &ReasonCount, text: &str, matching: u64, refused: u64) -> String {
    let number = reason.devices;
    let who = match number == matching {
        true if number == 1 && refused == 0 => "the only one".to_owned(),
        true if number == 1 => "that one".to_owned(),
        true => format!("all {number}"),
        false => number.to_string(),
    };
    match shares_hardware(reason) {
        true => format!("{who} {} hardware with devices in use", verb(number, "shares", "share")),
        false => format!("{who} {text}"),
    }
}

/// What the selectors want that refuse devices.
#[derive(Default)]
struct Wishes {
    /// What they want by plain comparisons, in the order in which it is written.
    comparisons: Vec<Comparison>,
    /// The selectors whose comparisons these are.
    expressions: Vec<String>,
    /// Whether there are selectors that say it less plainly.
    has_others: bool,
}

impl Wishes {
    /// Whether they are few and plain enough to be named.
    fn are_named(&self) -> bool {
        !self.has_others && (1..=MOST_WISHES).contains(&self.comparisons.len())
    }

    fn in_words(&self) -> String {
        match (self.are_named(), self.comparisons.is_empty() && !self.has_others) {
            (_, true) => String::new(),
            (true, _) => format!(" with {}", self.comparisons.iter().map(wish).collect::<Vec<_>>().join(" and ")),
            (false, _) => " that its selectors accept".to_owned(),
        }
    }
}

fn wishes(cluster: &Cluster, case: &Case, unit: &UnitSeen, request: &RequestExplanation) -> Wishes {
    let Some(claim) = case.question.claims.get(unit.claim) else { return Wishes::default() };
    let profile = cluster.profile();
    let environment = Environment::stored(profile.version, &profile.features);
    let refuses = |index: usize| {
        let refusing = request.reasons.iter().filter(|reason| is_of_selector(reason));
        refusing
            .filter_map(|reason| reason.selector.as_ref())
            .any(|selector| usize::try_from(selector.index) == Ok(index))
    };
    let mut wishes = Wishes::default();
    let own = own_selectors(claim, unit).iter().enumerate().filter(|(index, _)| refuses(*index));
    for selector in own.filter_map(|(_, selector)| selector.cel.as_ref()) {
        match comparisons(&selector.expression, &environment) {
            Some(found) if !found.is_empty() => {
                // The driver of the class is what is looked for; only one that there is not needs a word.
                let is_plain = |one: &Comparison| one.field != Field::Driver || !names_driver(cluster, one);
                wishes.comparisons.extend(found.into_iter().filter(is_plain));
                wishes.expressions.push(selector.expression.clone());
            }
            _ => wishes.has_others = true,
        }
    }
    wishes
}

/// Whether a comparison asks for a driver that publishes slices.
fn names_driver(cluster: &Cluster, comparison: &Comparison) -> bool {
    let is_it = |driver: &str| comparison.constants.contains(&Constant::Text(driver.to_owned()));
    comparison.operator == Operator::Equal && cluster.slices().values().any(|slice| is_it(&slice.spec.driver))
}

fn name(field: &Field) -> &str {
    match field {
        Field::Attribute { id, .. } | Field::Capacity { id, .. } => id,
        Field::AttributesOf(domain) | Field::CapacityOf(domain) => domain,
        Field::Driver => "driver",
        Field::AllowMultipleAllocations => "allowMultipleAllocations",
        Field::Attributes | Field::Capacities => "",
    }
}

/// `at least 80Gi of memory`, `model A100 or H100`.
fn wish(comparison: &Comparison) -> String {
    let name = format!("`{}`", name(&comparison.field));
    let values: Vec<String> = comparison.constants.iter().map(constant).collect();
    let values = values.join(" or ");
    let amount = match comparison.operator {
        Operator::AtLeast => "at least",
        Operator::Greater => "more than",
        Operator::AtMost => "at most",
        Operator::Less => "less than",
        Operator::Equal if matches!(comparison.field, Field::Capacity { .. }) => "exactly",
        Operator::Equal => return format!("{name} {values}"),
        Operator::Unequal => return format!("{name} other than {values}"),
    };
    match comparison.field {
        Field::Capacity { .. } => format!("{amount} {values} of {name}"),
        _ => format!("{name} of {amount} {values}"),
    }
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Quantity(text) | Constant::Version(text) => text.clone(),
        Constant::Text(text) => format!("\"{text}\""),
        Constant::Int(number) => number.to_string(),
        Constant::Bool(value) => value.to_string(),
    }
}

/// What is nearest to what no device of the class has.
fn miss(cluster: &mut Cluster, survey: &Survey, unit: usize, wishes: &Wishes, (noun, all): (&str, u64)) -> String {
    let none = match all {
        1 => format!("the only {noun} does not match"),
        all => format!("none of the {all} {noun}s matches"),
    };
    if !wishes.are_named() {
        return none;
    }
    let fields: Vec<Field> = wishes.comparisons.iter().map(|one| one.field.clone()).collect();
    let mut memory = cluster.lend_memory();
    let compiled: Vec<Compiled> =
        wishes.expressions.iter().map(|expression| memory.selectors.program(cluster.profile(), expression)).collect();
    let seen = &*cluster;
    let devices = match compiled.as_slice() {
        // What one selector cannot tell apart counts as one.
        [only] => alike(&mut memory.selectors, only, seen, survey, (unit, false)),
        _ => subjects(seen, survey, unit, false).into_iter().map(|one| (one, 1)).collect(),
    };
    let text = nearest(&wishes.comparisons, &counted(&devices, &fields), noun).unwrap_or(none);
    cluster.return_memory(memory);
    text
}

/// What is nearest to wishes of which no device meets all, from what devices have for the field of each.
fn nearest(wanted: &[Comparison], counted: &Counted<'_>, noun: &str) -> Option<String> {
    let wanted: Vec<(&Comparison, &BTreeMap<Held<'_>, u64>)> = wanted.iter().zip(&counted.by_field).collect();
    let is_met = |(one, there): &(&Comparison, &BTreeMap<Held<'_>, u64>)| {
        there.keys().any(|held| meets(*held, one) != Some(false))
    };
    let unmet = wanted.iter().filter(|one| wanted.len() == 1 || !is_met(one));
    let texts: Vec<String> = unmet.map(|(one, there)| offer(one, there, noun)).collect();
    match (texts.is_empty(), wanted.len()) {
        (false, _) => Some(texts.join(", ")),
        (true, 0 | 1) => None,
        (true, _) => Some(format!("each of these can be found, but no {noun} has all of them")),
    }
}

/// Whether a value meets a wish; `None` where it cannot be told here.
fn meets(held: Held<'_>, wanted: &Comparison) -> Option<bool> {
    let orders = wanted.constants.iter().map(|constant| order(held, constant));
    let orders = orders.collect::<Option<Vec<Ordering>>>()?;
    let any = |accepts: fn(Ordering) -> bool| orders.iter().copied().any(accepts);
    Some(match wanted.operator {
        Operator::Less => any(Ordering::is_lt),
        Operator::AtMost => any(Ordering::is_le),
        Operator::Greater => any(Ordering::is_gt),
        Operator::AtLeast => any(Ordering::is_ge),
        Operator::Equal => any(Ordering::is_eq),
        Operator::Unequal => !any(Ordering::is_eq),
    })
}

fn order(held: Held<'_>, constant: &Constant) -> Option<Ordering> {
    match (held, constant) {
        (Held::Capacity(_, has), Constant::Quantity(text)) => Some(has.cmp(&Quantity::parse(text).ok()?)),
        (Held::Driver(has), Constant::Text(text)) => Some(has.cmp(text)),
        (Held::Attribute(AttributeValue::Int(has)), Constant::Int(number)) => Some(has.cmp(number)),
        (Held::Attribute(AttributeValue::Bool(has)), Constant::Bool(value)) => Some(has.cmp(value)),
        (Held::Attribute(AttributeValue::String(has)), Constant::Text(text)) => Some(has.as_str().cmp(text)),
        _ => None,
    }
}

/// What there is of something that no device has as it is wanted.
fn offer(wanted: &Comparison, there: &BTreeMap<Held<'_>, u64>, noun: &str) -> String {
    let name = name(&wanted.field);
    if there.is_empty() {
        let kind = if matches!(wanted.field, Field::Capacity { .. }) { "capacity" } else { "attribute" };
        return format!("no {noun} has the {kind} `{name}`");
    }
    let mut held: Vec<(Held<'_>, u64)> = there.iter().map(|(held, number)| (*held, *number)).collect();
    let numbers = || held.iter().filter_map(|(held, _)| number(*held).map(|number| (number, *held)));
    let extreme = match wanted.operator {
        Operator::AtLeast | Operator::Greater => numbers().max_by(|one, other| one.0.cmp(&other.0)),
        Operator::AtMost | Operator::Less => numbers().min_by(|one, other| one.0.cmp(&other.0)),
        Operator::Equal | Operator::Unequal => None,
    };
    if let Some((_, extreme)) = extreme {
        let word = match wanted.operator {
            Operator::AtLeast | Operator::Greater => "largest",
            _ => "smallest",
        };
        let like = wanted.constants.first().map(constant).unwrap_or_default();
        let text = extreme.in_words();
        let converted = in_unit_of(&text, &like).map(|text| format!(" ({text})")).unwrap_or_default();
        return match wanted.field {
            Field::Capacity { .. } => format!("the {word} {noun} has {text}{converted}"),
            _ => format!("the {word} `{name}` there is {text}"),
        };
    }
    held.arrange_by_key(|(_, number)| std::cmp::Reverse(*number));
    let more = held.len().saturating_sub(MOST_VALUES);
    let mut values: Vec<String> = held.iter().take(MOST_VALUES).map(|(held, _)| held.in_words()).collect();
    if more > 0 {
        values.push(format!("{more} more"));
    }
    let values = match values.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => values.concat(),
    };
    format!("the {noun}s there have {values}")
}

fn number(held: Held<'_>) -> Option<Quantity> {
    match held {
        Held::Capacity(_, quantity) => Some(quantity.clone()),
        Held::Attribute(AttributeValue::Int(number)) => {
            Some(Quantity::from_i64(*number, crate::api::quantity::Format::DecimalSi))
        }
        _ => None,
    }
}

/// An amount in the unit of another one, to a tenth, where it is written in another unit.
fn in_unit_of(text: &str, like: &str) -> Option<String> {
    let unit = |text: &str| text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned();
    let wanted = unit(like);
    if wanted.is_empty() || wanted.contains(|letter: char| letter.is_ascii_digit()) || wanted == unit(text) {
        return None;
    }
    let one = Quantity::parse(&format!("1{wanted}")).ok()?.value_rounded_up();
    let tenths = Quantity::parse(text).ok()?.value_rounded_up().checked_mul(10)?.checked_div(one)?;
    let (whole, tenth) = (tenths.checked_div(10)?, tenths.checked_rem(10)?);
    Some(match tenth {
        0 => format!("{whole}{wanted}"),
        tenth => format!("{whole}.{tenth}{wanted}"),
    })
}

/// What is asked of shared devices and counters, and the most that is left, where that is what most devices lack.
fn amounts(
    cluster: &mut Cluster,
    case: &Case,
    survey: &Survey,
    (position, unit): (usize, &UnitSeen),
    request: &RequestExplanation,
    noun: &str,
) -> Option<String> {
    let first = *by_number(request).first()?;
    if request.usable > 0
        || !matches!(first.kind, ReasonKind::CapacityShort | ReasonKind::CapacityNever | ReasonKind::CounterShort)
    {
        return None;
    }
    let lacks = |kind| by_number(request).iter().any(|reason| reason.kind == kind);
    // Some have too little left, the others never had it.
    let is_mixed = lacks(ReasonKind::CapacityShort) && lacks(ReasonKind::CapacityNever);
    let claim = case.question.claims.get(unit.claim)?;
    let asked = asked(claim, &unit.name);
    let mut most: Option<(String, Option<Quantity>, Quantity)> = None;
    let mut drained: Option<(DeviceId, String, Quantity)> = None;
    let mut lacking: Option<(String, BTreeSet<String>)> = None;
    let mut allowed: Vec<String> = Vec::new();
    let mut has_smaller = false;
    let mut note = |name: &str, needs: Option<&Quantity>, left: &Quantity| {
        if most.as_ref().is_none_or(|(_, _, known)| left > known) {
            most = Some((name.to_owned(), needs.cloned(), left.clone()));
        }
    };
    let question = case.question.on(survey.order());
    let mut observe = |unit: usize, device: &DeviceSeen<'_, '_>, obstacles: &[Obstacle<'_>]| {
        let is_other = |obstacle: &Obstacle<'_>| matches!(obstacle, Obstacle::SelectorFalse { .. });
        if unit != position || obstacles.iter().any(is_other) {
            return;
        }
        for obstacle in obstacles {
            match (obstacle, first.kind) {
                (Obstacle::CapacityShort { name, needs, left }, kind)
                    if is_mixed || kind == ReasonKind::CapacityShort =>
                {
                    note(name, Some(needs), left)
                }
                (Obstacle::CapacityNever { name, needs, has: Some(has) }, kind)
                    if is_mixed || kind == ReasonKind::CapacityNever =>
                {
                    let is_of_policy = needs.as_ref().is_some_and(|needs| needs <= has);
                    if !(is_mixed && is_of_policy) {
                        note(name, needs.as_ref(), has);
                    }
                    let policy =
                        device.device.capacity.get(name).and_then(|capacity| capacity.request_policy.as_deref());
                    has_smaller |= !is_of_policy;
                    let words = policy.filter(|_| is_of_policy).map(policy_in_words);
                    allowed.extend(words.filter(|words| !allowed.contains(words)));
                }
                (Obstacle::CapacityNever { name, has: None, .. }, ReasonKind::CapacityNever) => {
                    let (lacked, others) = lacking.get_or_insert_with(|| (name.clone(), BTreeSet::new()));
                    if lacked == name {
                        others.extend(device.device.capacity.keys().cloned());
                    }
                }
                (Obstacle::CounterShort { set, counter, needs, left }, ReasonKind::CounterShort) => {
                    note(counter, Some(needs), left);
                    if drained.as_ref().is_none_or(|(_, _, known)| left > known) {
                        let id = DeviceId::of(device.slice, device.device);
                        drained = Some((id, format!("{set}/{counter}"), left.clone()));
                    }
                }
                _ => {}
            }
        }
    };
    inspect(cluster, &question, &mut observe);
    if let (None, Some((name, others))) = (&most, lacking) {
        let needs = asked.get(&name).map(|needs| format!("{needs} of ")).unwrap_or_default();
        let others = match others.is_empty() {
            true => "no capacities".to_owned(),
            false => list(others.iter()),
        };
        return Some(format!(" with {needs}`{name}`; what {noun}s have is {others}"));
    }
    let (name, needs, left) = most?;
    let needs = asked.get(&name).cloned().or(needs)?;
    let left = match left.signum() {
        sign if sign > 0 => left.to_string(),
        _ => "none".to_owned(),
    };
    Some(match first.kind {
        ReasonKind::CapacityShort | ReasonKind::CapacityNever if is_mixed => {
            format!(" with {needs} of `{name}`; the most that one {noun} can grant now is {left}")
        }
        ReasonKind::CounterShort => {
            let held = case.held.get_or_init(|| holders::Held::of(cluster));
            let drawing =
                drained.map(|(id, name, _)| holders::of_counter(cluster, held, &id, &name)).unwrap_or_default();
            let by =
                if drawing.is_empty() { String::new() } else { format!("; in use by {}", holders::in_words(&drawing)) };
            format!("; each needs {needs} of the shared counter `{name}`, of which {left} is left{by}")
        }
        ReasonKind::CapacityNever => match allowed.split_first() {
            Some((only, [])) if !has_smaller => {
                format!(" with {needs} of `{name}`; the request policy allows {only}")
            }
            Some((one, more)) => {
                let whose = if more.is_empty() { format!("{noun}s that have as much") } else { format!("one {noun}") };
                format!(" with {needs} of `{name}`; the request policy of {whose} allows {one}")
            }
            None => format!(" with {needs} of `{name}`; the most that one {noun} can grant is {left}"),
        },
        _ => format!(" with {needs} of `{name}`; the most that one {noun} has left is {left}"),
    })
}
