//! Other expressions that might have been meant: another name for what no device has, another constant.

use std::collections::BTreeSet;

use super::change::Change;
use super::literals::{Literal, literals, replaced};
use super::relax::AllocatorTrials;
use super::requests::{alike, of_class, selectors, subjects};
use super::statistics::{counted, fields, likely, offers, statistics, written};
use crate::allocate::inspect::UnitSeen;
use crate::api::claim::ResourceClaim;
use crate::api::quantity::Quantity;
use crate::arrange::Arrange;
use crate::cel::Field;
use crate::near::nearest_name as nearest;

/// Most values that are tried in the place of one constant.
const MOST_VALUES: usize = 24;

/// Ladders about the selectors of a unit and of its class.
pub(crate) fn ladders(
    trials: &mut AllocatorTrials<'_>,
    index: usize,
    unit: &UnitSeen,
    claim: &ResourceClaim,
) -> Vec<Vec<Change>> {
    let (class, own) = selectors(trials.cluster, claim, unit);
    let text = |list: &[crate::api::claim::DeviceSelector]| -> Vec<String> {
        list.iter().map(|one| one.cel.as_ref().map(|cel| cel.expression.clone()).unwrap_or_default()).collect()
    };
    let (class, own) = (text(class), text(own));
    let is_empty = !has_devices(trials, index);
    let mut ladders = Vec::new();
    for (position, expression) in own.iter().enumerate() {
        let at = u64::try_from(position).unwrap_or(u64::MAX);
        let (claim, request) = (claim.metadata.name.clone(), unit.name.clone());
        let changed = other_expressions(trials, index, expression, is_empty);
        let rung = |to: String| Change::ChangeSelector {
            claim: claim.clone(),
            request: request.clone(),
            index: at,
            from: expression.clone(),
            to,
        };
        ladders.push(changed.into_iter().map(rung).collect());
        ladders.push(vec![Change::DropSelector { claim, request, index: at, expression: expression.clone() }]);
    }
    for (position, expression) in class.iter().enumerate().filter(|_| is_empty) {
        let at = u64::try_from(position).unwrap_or(u64::MAX);
        let mut changed = other_expressions(trials, index, expression, true);
        // A class is the administrator's: only slips of the keyboard are pointed out.
        changed.retain(|other| nearest(expression, std::iter::once(other)).is_some());
        let class = unit.class.clone();
        let rung = |to: String| Change::ChangeClass { class: class.clone(), index: at, from: expression.clone(), to };
        ladders.push(changed.into_iter().map(rung).collect());
    }
    ladders
}

/// Whether some device is of the class of a unit.
fn has_devices(trials: &AllocatorTrials<'_>, unit: usize) -> bool {
    of_class(trials.cluster, trials.survey, unit, false).next().is_some()
}

/// Expressions that might have been meant: another name for what no device has, another constant.
fn other_expressions(trials: &mut AllocatorTrials<'_>, unit: usize, expression: &str, takes_all: bool) -> Vec<String> {
    let mut memory = trials.cluster.lend_memory();
    let compiled = memory.selectors.program(trials.cluster.profile(), expression);
    let read: Vec<Field> = compiled.reads().map(fields).unwrap_or_default().into_iter().cloned().collect();
    let cluster = &*trials.cluster;
    let counted = counted(&alike(&mut memory.selectors, &compiled, cluster, trials.survey, (unit, takes_all)), &read);
    let all = || subjects(cluster, trials.survey, unit, takes_all);
    let mut changed = Vec::new();
    for (field, found) in read.iter().zip(statistics(&all, &read, &counted)) {
        if found.present > 0 {
            let whole = written(field);
            if found.present < counted.devices && !expression.contains("has(") {
                changed.push(format!("has({whole}) && ({})", expression.trim()));
            }
            continue;
        }
        if let Some(meant) = likely(&all(), field) {
            changed.extend(renamed(expression, field, &meant));
        }
    }
    let offers = offers(&counted);
    trials.cluster.return_memory(memory);
    for (kind, place) in literals(expression) {
        let Some(before) = expression.get(place.clone()) else { continue };
        let there = offers.iter().find(|(known, _)| *known == kind).map(|(_, values)| values.as_slice());
        let values = ordered(kind, before, there.unwrap_or_default());
        changed.extend(values.into_iter().filter_map(|value| replaced(expression, &place, &value)));
    }
    changed.retain(|one| one != expression);
    let mut seen = BTreeSet::new();
    changed.retain(|one| seen.insert(one.clone()));
    changed
}

/// The expression with another field in the place of one, in the spellings in which fields are written.
fn renamed(expression: &str, from: &Field, to: &Field) -> Option<String> {
    let (old, new) = (written(from), written(to));
    let accesses: [fn(&str) -> String; 4] = [
        |text| text.to_owned(),
        |text| text.replacen("].", "].?", 1),
        |text| text.replacen("[", "[?", 1).replacen("].", "].?", 1),
        |text| match text.rsplit_once("].") {
            Some((before, id)) => format!("{before}][\"{id}\"]"),
            None => text.to_owned(),
        },
    ];
    accesses.iter().find_map(|access| {
        ['"', '\''].into_iter().find_map(|quote| {
            let spell = |text: &str| access(text).replace('"', &quote.to_string());
            let old = spell(&old);
            expression.contains(&old).then(|| expression.replace(&old, &spell(&new)))
        })
    })
}

/// Values in the order of trying: amounts by their distance from what is written, names by their likeness and then frequency.
fn ordered(kind: Literal, before: &str, offers: &[String]) -> Vec<String> {
    let mut values: Vec<String> = offers.iter().filter(|value| *value != before).cloned().collect();
    let distance = |value: &String| -> Option<Quantity> {
        let (a, b) = (Quantity::parse(before).ok()?, Quantity::parse(value).ok()?);
        Some(if a < b { b.saturating_sub(&a) } else { a.saturating_sub(&b) })
    };
    match kind {
        Literal::Quantity | Literal::Integer => {
            values.retain(|value| distance(value).is_some());
            values.arrange_by_key(distance);
        }
        Literal::Text => {
            let is_same_word = |value: &String| !value.eq_ignore_ascii_case(before);
            values.arrange_by_key(is_same_word);
        }
        Literal::Version => {}
    }
    values.truncate(MOST_VALUES);
    values
}
