//! The name that was probably meant.

/// The candidate nearest to a name, if it is near enough to be a slip of the keyboard. Ties go to the first.
pub(crate) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c String>) -> Option<&'c String> {
    let allowed = (name.chars().count() / 6).clamp(1, 2);
    let mut best: Option<(usize, &String)> = None;
    for candidate in candidates {
        let distance = distance(name, candidate, allowed);
        if distance <= allowed && best.is_none_or(|(shortest, _)| distance < shortest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Number of letters to insert, remove, replace or swap with their neighbour; more than `allowed` where it surely is more.
fn distance(left: &str, right: &str, allowed: usize) -> usize {
    let right: Vec<char> = right.chars().collect();
    if left.chars().count().abs_diff(right.len()) > allowed {
        return allowed + 1;
    }
    let mut above_that: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut before = None;
    for (index, letter) in left.chars().enumerate() {
        let mut row = vec![index + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&above, column) + usize::from(letter != *other);
            let mut cost = replaced.min(at(&above, column + 1) + 1).min(at(&row, column) + 1);
            let swapped =
                column.checked_sub(1).filter(|earlier| right.get(*earlier) == Some(&letter) && before == Some(*other));
            if let Some(earlier) = swapped {
                cost = cost.min(at(&above_that, earlier) + 1);
            }
            row.push(cost);
        }
        above_that = std::mem::replace(&mut above, row);
        before = Some(letter);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_name_is_not() {
        let names = ["gpu.example.com".to_owned(), "nic.example.com".to_owned(), "single-gpu".to_owned()];
        let near = |name: &str| nearest(name, names.iter()).map(String::as_str);
        assert_eq!(near("gpu.exmaple.com"), Some("gpu.example.com"));
        assert_eq!(near("gpus.example.com"), Some("gpu.example.com"));
        assert_eq!(near("singel-gpu"), Some("single-gpu"));
        assert_eq!(near("multi-gpu-claim"), None);
        assert_eq!(near("gqu.example.com"), Some("gpu.example.com"));
        assert_eq!(near("imex.example.com"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn distances_are_counted() {
        assert_eq!(distance("abc", "abc", 3), 0);
        assert_eq!(distance("abc", "axc", 3), 1);
        assert_eq!(distance("abc", "ab", 3), 1);
        assert_eq!(distance("kitten", "sitting", 3), 3);
        assert_eq!(distance("trianer", "trainer", 2), 1);
    }
}
