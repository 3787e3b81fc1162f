//! Classes of Unicode by name: `\\p{Greek}`, `\\pL`, `\\P{Lowercase Letter}`.

use super::classes::{ALIASES, CATEGORIES, SCRIPTS};
use super::parse::{negate, normalize};

/// Ranges of characters, sorted and apart.
type Ranges = Vec<(char, char)>;

/// The characters of a class. Names are compared without regard to case, spaces, hyphens and underscores.
pub(in crate::cel) fn class(name: &str) -> Option<Ranges> {
    let name = canonical(name);
    match name.as_str() {
        "Any" => return Some(vec![('\0', char::MAX)]),
        "Ascii" => return Some(vec![('\0', '\u{7f}')]),
        "Assigned" => return Some(negate(&unassigned())),
        _ => {}
    }
    if let Some(ranges) = category(&name) {
        return Some(ranges);
    }
    let find = |list: &[(&'static str, &'static str)]| {
        list.binary_search_by_key(&name.as_str(), |entry| entry.0).ok().and_then(|at| list.get(at)).map(|entry| entry.1)
    };
    match find(&SCRIPTS) {
        Some(text) => Some(decode(text)),
        None => find(&ALIASES).and_then(|short| category(&canonical(short))),
    }
}

/// A category of two letters, or all categories that begin with a letter.
fn category(name: &str) -> Option<Ranges> {
    let of = |is_meant: &dyn Fn(&str) -> bool| {
        let texts = CATEGORIES.iter().filter(|(category, _)| is_meant(category)).map(|(_, text)| decode(text));
        normalize(texts.flatten().collect())
    };
    Some(match name {
        "Cn" => unassigned(),
        // Half characters, which no text holds.
        "Cs" => Ranges::new(),
        "Lc" => of(&|category| matches!(category, "Ll" | "Lt" | "Lu")),
        "C" => normalize([of(&|category| category.starts_with('C')), unassigned()].concat()),
        "L" | "M" | "N" | "P" | "S" | "Z" => of(&|category| category.starts_with(name)),
        two => {
            let at = CATEGORIES.binary_search_by_key(&two, |entry| entry.0).ok()?;
            decode(CATEGORIES.get(at)?.1)
        }
    })
}

fn unassigned() -> Ranges {
    let assigned: Ranges = CATEGORIES.iter().flat_map(|(_, text)| decode(text)).collect();
    negate(&normalize(assigned))
}

/// The first letter large, the others small, and nothing that separates words.
fn canonical(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_'));
    letters.enumerate().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

/// Reads a text of the table: pairs of a gap and a length, in digits of five bits.
fn decode(text: &str) -> Ranges {
    let mut numbers = Vec::new();
    let (mut number, mut shift) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = u32::from(byte.saturating_sub(b'?'));
        number |= (digit & 31).checked_shl(shift).unwrap_or(0);
        shift += 5;
        if digit < 32 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    let mut ranges = Ranges::new();
    let mut next = 0_u32;
    for pair in numbers.chunks(2) {
        if let [gap, length] = pair {
            let low = next.saturating_add(*gap);
            let high = low.saturating_add(*length);
            ranges.extend(char::from_u32(low).zip(char::from_u32(high)));
            next = high.saturating_add(1);
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(name: &str, c: char) -> bool {
        class(name).is_some_and(|ranges| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)))
    }

    #[test]
    fn names_are_found_in_every_spelling() {
        assert!(holds("Greek", '\u{3b1}') && holds("greek", '\u{3b1}') && !holds("Greek", 'a'));
        assert!(holds("L", '\u{e4}') && holds("Letter", '\u{e4}') && holds("lowercase_letter", '\u{e4}'));
        assert!(holds("Nd", '7') && holds("decimal-number", '\u{663}') && !holds("Nd", 'x'));
        assert!(holds("Cn", '\u{378}') && holds("C", '\u{378}') && !holds("Assigned", '\u{378}'));
        assert!(holds("LC", '\u{1c5}') && holds("Any", '\u{378}') && !holds("ASCII", '\u{80}'));
        // Go does not find scripts of several words.
        assert!(class("Old_Italic").is_none() && class("Nothing").is_none() && class("").is_none());
    }
}
