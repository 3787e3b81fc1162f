//! Constants in a selector's text, to be replaced by what devices have.

use std::ops::Range;

/// What a constant stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Literal {
    /// Inside `quantity("..")`.
    Quantity,
    /// Inside `semver("..")`.
    Version,
    /// Any other text that is not a key.
    Text,
    /// A whole number.
    Integer,
}

/// The constants of an expression with their places, in bytes; of texts what is between the quotes.
pub(crate) fn literals(source: &str) -> Vec<(Literal, Range<usize>)> {
    let bytes = source.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let mut found = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        let byte = at(index);
        if byte == b'"' || byte == b'\'' {
            let start = index.saturating_add(1);
            let mut end = start;
            while end < bytes.len() && at(end) != byte {
                end = end.saturating_add(if at(end) == b'\\' { 2 } else { 1 });
            }
            let before = source.get(..index).unwrap_or_default().trim_end();
            let kind = if before.ends_with("quantity(") {
                Some(Literal::Quantity)
            } else if before.ends_with("semver(") {
                Some(Literal::Version)
            } else if before.ends_with('[') && !before.ends_with("in [") || before.ends_with("[?") {
                // A key of a map, most likely a domain.
                None
            } else if before.ends_with("orValue(") {
                // What stands for a value that is not there.
                None
            } else {
                Some(Literal::Text)
            };
            found.extend(kind.map(|kind| (kind, start..end.min(bytes.len()))));
            index = end.saturating_add(1);
        } else if byte.is_ascii_digit() && (index == 0 || !is_word(at(index.saturating_sub(1)))) {
            let start = index;
            while at(index).is_ascii_digit() {
                index = index.saturating_add(1);
            }
            if !is_word(at(index)) {
                found.push((Literal::Integer, start..index));
            }
        } else {
            index = index.saturating_add(1);
        }
    }
    found
}

/// The expression with another constant in one place.
pub(crate) fn replaced(source: &str, place: &Range<usize>, by: &str) -> Option<String> {
    let (before, after) = (source.get(..place.start)?, source.get(place.end..)?);
    Some(format!("{before}{by}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_found_and_keys_are_left_alone() {
        let source = r#"device.attributes["d.example.com"].model == "A100" && device.capacity["d.example.com"].mem.compareTo(quantity("40Gi")) >= 0 && x1 > 12"#;
        let found: Vec<(Literal, &str)> =
            literals(source).into_iter().map(|(kind, place)| (kind, source.get(place).unwrap())).collect();
        let wanted =
            [(Literal::Text, "A100"), (Literal::Quantity, "40Gi"), (Literal::Integer, "0"), (Literal::Integer, "12")];
        assert_eq!(found, wanted);
        assert_eq!(literals("semver('1.2.3') == \"unfinished").len(), 2);
    }
}
