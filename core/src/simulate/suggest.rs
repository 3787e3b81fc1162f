//! The name that was probably meant.

/// The candidate nearest to a name, if it is near enough to be a slip of the keyboard. Ties go to the first.
pub(crate) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c String>) -> Option<&'c String> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, &String)> = None;
    for candidate in candidates {
        let distance = distance(name, candidate, allowed);
        if distance <= allowed && best.is_none_or(|(shortest, _)| distance < shortest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Number of letters to insert, remove or replace; more than `allowed` where it surely is more.
fn distance(left: &str, right: &str, allowed: usize) -> usize {
    if left.chars().count().abs_diff(right.chars().count()) > allowed {
        return allowed + 1;
    }
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (index, a) in left.chars().enumerate() {
        let mut previous = index;
        let mut last = index + 1;
        let mut next = vec![last];
        for (b, above) in right.chars().zip(row.iter().skip(1)) {
            let cost = previous + usize::from(a != b);
            previous = *above;
            last = cost.min(last + 1).min(*above + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
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
        assert_eq!(near(""), None);
    }

    #[test]
    fn distances_are_counted() {
        assert_eq!(distance("abc", "abc", 3), 0);
        assert_eq!(distance("abc", "axc", 3), 1);
        assert_eq!(distance("abc", "ab", 3), 1);
        assert_eq!(distance("kitten", "sitting", 3), 3);
    }
}
