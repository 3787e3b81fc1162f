//! What somebody may have meant who wrote an unknown field.

use super::{Field, Type, fields};
use crate::finding::Fix;

/// A way out for an unknown field among these, if one is near; with the correction, if only one thing can be meant.
pub(super) fn suggestion(
    unknown: &str,
    known: &'static [Field],
    is_there: impl Fn(&str) -> bool,
) -> Option<(String, Option<Fix>)> {
    if let Some(field) = known.iter().find(|field| field.name.eq_ignore_ascii_case(unknown)) {
        let fix = (!is_there(field.name)).then(|| Fix::Rename(field.name.to_owned()));
        return Some((format!("write `{}`: upper and lower case matter", field.name), fix));
    }
    for field in known {
        if fields(element(&field.holds)).iter().any(|inner| inner.name == unknown) {
            return Some((format!("`{unknown}` belongs into `{}`", field.name), None));
        }
    }
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter(|field| !is_there(field.name))
        .map(|field| (distance(unknown, field.name), field.name))
        .collect();
    near.sort_unstable();
    let (nearest, name) = *near.first()?;
    let longest = unknown.chars().count().max(name.len());
    if nearest > (longest / 3).max(1) {
        return None;
    }
    // One slip of the finger in a word long enough, and nothing else as near.
    let is_certain = nearest == 1 && unknown.len() > 4 && near.get(1).is_none_or(|(second, _)| *second > 2);
    Some((format!("did you mean `{name}`?"), is_certain.then(|| Fix::Rename(name.to_owned()))))
}

fn element(of: &'static Type) -> &'static Type {
    match of {
        Type::List(inner) | Type::Opt(inner) => element(inner),
        other => other,
    }
}

/// How many characters must be put in, left out, replaced or swapped to get from one text to the other. Texts beyond the
/// length of any field are as far apart as can be.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().take(65).collect(), right.chars().collect());
    if left.len() > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, a) in left.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(index.saturating_add(1));
        for (column, b) in right.iter().enumerate() {
            let at = |cells: &[usize], column: usize| cells.get(column).copied().unwrap_or(usize::MAX);
            let replaced = at(&row, column).saturating_add(usize::from(a != b));
            let removed = at(&row, column.saturating_add(1)).saturating_add(1);
            let added = at(&next, column).saturating_add(1);
            let mut best = replaced.min(removed).min(added);
            if let (Some(earlier), Some(previous)) = (column.checked_sub(1), index.checked_sub(1))
                && left.get(previous) == Some(b)
                && right.get(earlier) == Some(a)
            {
                best = best.min(at(&before, earlier).saturating_add(1));
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::field;
    use super::*;

    #[test]
    fn only_one_slip_of_the_finger_is_certain() {
        static KNOWN: [Field; 2] = [field("count", Type::Int64), field("deviceClassName", Type::Text)];
        let fix = |unknown: &str| suggestion(unknown, &KNOWN, |_| false).map(|(_, fix)| fix);
        let renamed = |name: &str| Some(Some(Fix::Rename(name.to_owned())));
        assert_eq!(fix("cuont"), renamed("count"));
        assert_eq!(fix("Count"), renamed("count"));
        assert_eq!(fix("deviceClasName"), renamed("deviceClassName"));
        assert_eq!(fix("deviceClass"), Some(None));
        assert_eq!(fix("replicas"), None);
        assert_eq!(suggestion("cuont", &KNOWN, |name| name == "count"), None);
    }

    #[test]
    fn swapped_letters_are_one_step() {
        assert_eq!(distance("reqeusts", "requests"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("deviceClass", "deviceClassName"), 4);
    }
}
