//! Field paths in the API server's notation.

/// One step of a path.
pub(crate) struct Segment<'p> {
    /// A field's name, a map's key or a list's index.
    pub(crate) text: &'p str,
    /// Where the step ends in the path.
    pub(crate) end: usize,
}

/// The steps of `spec.requests[0].attributes[dra.example.com/model]`.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = Segment<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = path.get(at..)?;
        let rest = match rest.strip_prefix('.') {
            Some(stripped) => {
                at += 1;
                stripped
            }
            None => rest,
        };
        if rest.is_empty() {
            return None;
        }
        if let Some(inside) = rest.strip_prefix('[') {
            let text = inside.split(']').next().unwrap_or(inside);
            at += (text.len() + 2).min(rest.len());
            return Some(Segment { text: unquote(text), end: at });
        }
        let text = rest.split(['.', '[']).next().unwrap_or(rest);
        at += text.len();
        Some(Segment { text, end: at })
    })
}

fn unquote(text: &str) -> &str {
    let quoted = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::segments;

    #[test]
    fn paths_are_split_at_dots_outside_brackets() {
        let split = |path| segments(path).map(|segment| segment.text).collect::<Vec<_>>();
        assert_eq!(split("spec.requests[0].exactly.count"), ["spec", "requests", "0", "exactly", "count"]);
        assert_eq!(split("a[x.io/y].b"), ["a", "x.io/y", "b"]);
        assert_eq!(split("a[\"x.io/y\"]['z'][1]"), ["a", "x.io/y", "z", "1"]);
        assert_eq!(split("[3].a"), ["3", "a"]);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split(".a..b["), ["a", "", "b", ""]);
        assert_eq!(split("a[x"), ["a", "x"]);
    }

    #[test]
    fn segments_end_where_the_next_begins() {
        let path = "a[x].b";
        let ends: Vec<_> = segments(path).map(|segment| path.get(..segment.end).unwrap()).collect();
        assert_eq!(ends, ["a", "a[x]", "a[x].b"]);
    }
}
