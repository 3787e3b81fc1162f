//! What somebody may have meant who wrote a name that does not exist.

use crate::api::quantity::Quantity;

/// The candidate that is nearest to a text, if it is near enough to be meant; the first of several.
pub(crate) fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let (least, candidate) = least(text, &mut candidates.into_iter())?;
    is_near(least, text, candidate).then_some(candidate)
}

/// The first of the candidates with the least distance, and that.
fn least<'c>(text: &str, candidates: &mut dyn Iterator<Item = &'c str>) -> Option<(usize, &'c str)> {
    candidates.map(|candidate| (distance(text, candidate), candidate)).min_by_key(|(distance, _)| *distance)
}

/// Whether so many slips of the finger still mean the candidate.
pub(crate) fn is_near(distance: usize, text: &str, candidate: &str) -> bool {
    let longest = text.chars().count().max(candidate.len());
    distance <= (longest / 3).max(1)
}

/// How many characters must be put in, left out, replaced or swapped to get from one text to the other. Texts beyond the
/// length of any field are as far apart as can be.
pub(crate) fn distance(left: &str, right: &str) -> usize {
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

/// The name that was probably meant, if it is near enough to be a slip of the keyboard. Ties go to the first.
pub(crate) fn nearest_name<'c>(name: &str, candidates: impl Iterator<Item = &'c String>) -> Option<&'c str> {
    slip(name, &mut candidates.map(String::as_str))
}

fn slip<'c>(name: &str, candidates: &mut dyn Iterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().count();
    let allowed = (length / 6).clamp(1, 2);
    let may_be = |other: &&str| other.chars().count().abs_diff(length) <= allowed;
    let (least, candidate) = least(name, &mut candidates.filter(may_be))?;
    (least <= allowed).then_some(candidate)
}

/// The name that was probably meant: one that is near, the same in other cases, or one of which the name is the beginning or the end.
pub(crate) fn kin<'c>(name: &str, candidates: impl Iterator<Item = &'c String>) -> Option<&'c str> {
    let candidates: Vec<&String> = candidates.collect();
    let is_part = |other: &str| {
        let rest = other.strip_prefix(name).map(|rest| rest.starts_with('.'));
        let start = other.strip_suffix(name).map(|start| start.ends_with('.'));
        !name.is_empty() && (rest == Some(true) || start == Some(true))
    };
    let is_kin = |other: &&str| other.eq_ignore_ascii_case(name) || is_part(other);
    nearest_name(name, candidates.iter().copied()).or_else(|| candidates.into_iter().map(String::as_str).find(is_kin))
}

/// The question whether another name was meant, where one is near enough and the name itself is not there: the rule for names that refer to
/// something. Names that differ only in numbers, or in a letter as their last part, are those of siblings.
pub(crate) fn did_you_mean(name: &str, candidates: &mut dyn Iterator<Item = &str>) -> Option<String> {
    let family = |text: &str| -> Vec<u8> {
        let stem = match text.rsplit_once(['-', '_', '.']) {
            Some((stem, last)) if last.len() == 1 => stem,
            None if text.len() == 1 => "",
            _ => text,
        };
        stem.bytes().filter(|letter| !letter.is_ascii_digit()).collect()
    };
    let own = family(name);
    let near = slip(name, &mut candidates.filter(|other| *other == name || family(other) != own))?;
    (near != name).then(|| format!("did you mean `{near}`?"))
}

/// The amounts that a text can stand for that is none: the decimal one, then the binary one; a byte's letter, spaces and upper case aside.
pub(crate) fn amount_meant(text: &str) -> Vec<String> {
    let text = text.trim();
    let digits = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = ["bytes", "byte", "b"].iter().find_map(|bytes| unit.strip_suffix(bytes)).unwrap_or(&unit);
    let (prefix, is_binary) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (unit, false),
    };
    let binary = || format!("{number}{}i", prefix.to_ascii_uppercase());
    let decimal =
        || if prefix == "k" { format!("{number}k") } else { format!("{number}{}", prefix.to_ascii_uppercase()) };
    let meant = match prefix {
        "" if !is_binary => vec![number.to_owned()],
        "k" | "m" | "g" | "t" | "p" | "e" if is_binary => vec![binary()],
        "k" | "m" | "g" | "t" | "p" | "e" => vec![decimal(), binary()],
        _ => Vec::new(),
    };
    meant.into_iter().filter(|amount| !number.is_empty() && Quantity::parse(amount).is_ok()).collect()
}

/// What to write instead of a text that is no amount.
pub(crate) fn amount_remedy(text: &str) -> String {
    match amount_meant(text).as_slice() {
        [] => "write a number with an optional suffix, for instance `40Gi`, `500m` or `2`".to_owned(),
        several => format!("write {}", several.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_name_is_not() {
        let names = ["gpu.example.com".to_owned(), "nic.example.com".to_owned(), "single-gpu".to_owned()];
        let near = |name: &str| nearest_name(name, names.iter());
        assert_eq!(near("gpu.exmaple.com"), Some("gpu.example.com"));
        assert_eq!(near("gpus.example.com"), Some("gpu.example.com"));
        assert_eq!(near("singel-gpu"), Some("single-gpu"));
        assert_eq!(near("multi-gpu-claim"), None);
        assert_eq!(near("gqu.example.com"), Some("gpu.example.com"));
        assert_eq!(near("imex.example.com"), None);
        assert_eq!(near(""), None);
        for (name, meant) in [("gpu.example", "gpu.example.com"), ("GPU.Example.Com", "gpu.example.com")] {
            assert_eq!((near(name), kin(name, names.iter())), (None, Some(meant)));
        }
        assert_eq!((kin("gpu", names.iter()), kin("", names.iter())), (Some("gpu.example.com"), None));
    }

    #[test]
    fn siblings_are_not_meant() {
        let asked = |name: &str| did_you_mean(name, &mut ["node-1", "node-2", "memory"].into_iter());
        assert_eq!(asked("nod-1").as_deref(), Some("did you mean `node-1`?"));
        assert_eq!(asked("memroy").as_deref(), Some("did you mean `memory`?"));
        assert_eq!(asked("node-3"), None);
        assert_eq!(asked("node-z"), None);
        assert_eq!(did_you_mean("s", &mut ["t"].into_iter()), None);
        assert_eq!(asked("memory"), None);
    }

    #[test]
    fn amounts_are_told_from_the_habits_of_others() {
        for (text, meant) in [
            ("80GB", "80G 80Gi"),
            ("80 GiB", "80Gi"),
            ("1.5tb", "1.5T 1.5Ti"),
            ("512kb", "512k 512Ki"),
            ("40Gib", "40Gi"),
            ("7 bytes", "7"),
            ("many", ""),
            ("GB", ""),
            ("", ""),
        ] {
            assert_eq!(amount_meant(text).join(" "), meant, "{text}");
        }
    }

    #[test]
    fn distances_are_counted() {
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", "axc"), 1);
        assert_eq!(distance("abc", "ab"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("trianer", "trainer"), 1);
    }
}
