//! What somebody may have meant who wrote an unknown field.

use super::{Field, Type, fields};
use crate::arrange::Arrange;
use crate::finding::Fix;
use crate::near::{distance, is_near};

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
    near.arrange();
    let (nearest, name) = *near.first()?;
    if !is_near(nearest, unknown, name) {
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
