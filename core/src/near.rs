//! What somebody may have meant who wrote a name that does not exist.

use crate::api::quantity::Quantity;

/// The candidate that is nearest to a text, if it is near enough to be meant; the first of several.
pub(crate) fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A candidate at most half as long again can be near: what is further off is not, and need not be measured.
    let most = (text.chars().count() / 2).max(1);
    let (least, candidate) = least(text, &mut candidates.into_iter(), most)?;
    is_near(least, text, candidate).then_some(candidate)
}

/// The first of the candidates with the least distance, and that, where it is at most so much.
fn least<'c>(text: &str, candidates: &mut dyn Iterator<Item = &'c str>, most: usize) -> Option<(usize, &'c str)> {
    let text = Measured::of(text)?;
    let (mut found, mut most) = (None, Some(most));
    while let (Some(limit), Some(candidate)) = (most, candidates.next()) {
        if let Some(distance) = text.distance(candidate, limit) {
            found = Some((distance, candidate));
            most = distance.checked_sub(1);
        }
    }
    found
}

/// Whether so many slips of the finger still mean the candidate.
pub(crate) fn is_near(distance: usize, text: &str, candidate: &str) -> bool {
    let longest = text.chars().count().max(candidate.chars().count());
    distance <= (longest / 3).max(1)
}

/// How many characters must be put in, left out, replaced or swapped to get from one text to the other. Texts beyond the
/// length of any field are as far apart as can be.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let distance = Measured::of(left).and_then(|left| left.distance(right, usize::MAX));
    distance.unwrap_or(usize::MAX)
}

/// A text from which distances are measured, of at most 64 characters: where each character stands in it, one bit for each place.
struct Measured {
    length: usize,
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

impl Measured {
    fn of(text: &str) -> Option<Self> {
        let mut measured = Self { length: 0, ascii: [0; 128], others: Vec::new() };
        for letter in text.chars() {
            let place = 1_u64.checked_shl(u32::try_from(measured.length).ok()?)?;
            match measured.ascii.get_mut(usize::try_from(u32::from(letter)).ok()?) {
                Some(places) => *places |= place,
                None => measured.others.push((letter, place)),
            }
            measured.length = measured.length.saturating_add(1);
        }
        Some(measured)
    }

    fn places(&self, letter: char) -> u64 {
        let known = usize::try_from(u32::from(letter)).ok().and_then(|code| self.ascii.get(code));
        known.copied().unwrap_or_else(|| {
            let others = self.others.iter().filter(|(other, _)| *other == letter);
            others.fold(0, |places, (_, place)| places | place)
        })
    }

    /// The distance to another text, if it is at most so much.
    ///
    /// A column of the table of distances is two words: at which places it is one more, and one less, than at the place before.
    ///
    /// Source: Hyyrö, "A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances" (2003).
    fn distance(&self, other: &str, most: usize) -> Option<usize> {
        let mut left = other.chars().count();
        if self.length.abs_diff(left) > most {
            return None;
        }
        let Some(last) = self.length.checked_sub(1).and_then(|last| 1_u64.checked_shl(u32::try_from(last).ok()?))
        else {
            return Some(left);
        };
        let (mut more, mut less, mut before, mut diagonal) = (u64::MAX, 0_u64, 0_u64, 0_u64);
        let mut distance = self.length;
        for letter in other.chars() {
            let same = self.places(letter);
            let swapped = ((!diagonal & same) << 1) & before;
            diagonal = ((same & more).wrapping_add(more) ^ more) | same | less | swapped;
            let (up, down) = (less | !(diagonal | more), diagonal & more);
            distance = distance.saturating_add(usize::from(up & last != 0));
            distance = distance.saturating_sub(usize::from(down & last != 0));
            (more, less) = ((down << 1) | !(diagonal | (up << 1) | 1), ((up << 1) | 1) & diagonal);
            before = same;
            // Each letter that is left makes it one less at best.
            left = left.saturating_sub(1);
            if distance.saturating_sub(left) > most {
                return None;
            }
        }
        Some(distance)
    }
}

/// The name that was probably meant, if it is near enough to be a slip of the keyboard. Ties go to the first.
pub(crate) fn nearest_name<'c, C: AsRef<str> + ?Sized + 'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c C>,
) -> Option<&'c str> {
    slip(name, &mut candidates.map(C::as_ref))
}

fn slip<'c>(name: &str, candidates: &mut dyn Iterator<Item = &'c str>) -> Option<&'c str> {
    let allowed = (name.chars().count() / 6).clamp(1, 2);
    least(name, candidates, allowed).map(|(_, candidate)| candidate)
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
    let is_sibling = |other: &str| family(other).eq(family(name));
    let near = slip(name, &mut candidates.filter(|other| *other == name || !is_sibling(other)))?;
    (near != name).then(|| format!("did you mean `{near}`?"))
}

/// What siblings have in common.
fn family(text: &str) -> impl Iterator<Item = u8> {
    let stem = match text.rsplit_once(['-', '_', '.']) {
        Some((stem, last)) if last.len() == 1 => stem,
        None if text.len() == 1 => "",
        _ => text,
    };
    stem.bytes().filter(|letter| !letter.is_ascii_digit())
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
        assert_eq!((distance("", "abc"), distance("abc", "")), (3, 3));
        assert_eq!(distance("größe", "grösse"), 2);
        assert_eq!(distance(&"a".repeat(64), &"a".repeat(70)), 6);
        assert_eq!(distance(&"a".repeat(65), &"a".repeat(65)), usize::MAX);
    }

    /// Cell by cell, as the distance is defined.
    fn by_table(left: &str, right: &str) -> usize {
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
        for (row, column) in (0..=left.len()).flat_map(|row| (0..=right.len()).map(move |column| (row, column))) {
            table[row][column] = if row == 0 || column == 0 {
                row + column
            } else {
                let replaced = table[row - 1][column - 1] + usize::from(left[row - 1] != right[column - 1]);
                let best = replaced.min(table[row - 1][column] + 1).min(table[row][column - 1] + 1);
                let are_swapped =
                    row > 1 && column > 1 && left[row - 2] == right[column - 1] && left[row - 1] == right[column - 2];
                if are_swapped { best.min(table[row - 2][column - 2] + 1) } else { best }
            };
        }
        table[left.len()][right.len()]
    }

    #[test]
    fn distances_are_those_of_the_table_and_the_first_of_the_nearest_is_found() {
        let letters = ['a', 'b', 'c', 'ä', '-'];
        let text = |mut number: usize, length: usize| -> String {
            let mut next = || {
                number = (number * 31 + 7) % 10_007;
                letters[number % letters.len()]
            };
            (0..length).map(|_| next()).collect()
        };
        let texts: Vec<String> = (0..120).map(|number| text(number * 97, number % 17)).collect();
        for left in &texts {
            let all: Vec<usize> = texts.iter().map(|right| by_table(left, right)).collect();
            for (right, expected) in texts.iter().zip(&all) {
                assert_eq!(distance(left, right), *expected, "{left} {right}");
                for most in 0..6 {
                    let limited = Measured::of(left).unwrap().distance(right, most);
                    assert_eq!(limited, Some(*expected).filter(|expected| *expected <= most), "{left} {right}");
                }
            }
            let best =
                texts.iter().zip(&all).filter(|(other, _)| *other != left).min_by_key(|(_, distance)| **distance);
            let best =
                best.filter(|(other, distance)| is_near(**distance, left, other)).map(|(other, _)| other.as_str());
            let others = texts.iter().map(String::as_str).filter(|other| other != left);
            assert_eq!(nearest(left, others), best, "{left}");
        }
    }
}
