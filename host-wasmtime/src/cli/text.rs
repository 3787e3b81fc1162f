//! Words and columns.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::sync::OnceLock;

use console::Term;

/// Columns that text for people is wrapped at where nobody says how wide the terminal is.
const USUAL: usize = 100;

/// The narrowest and the widest text.
const WIDTHS: (usize, usize) = (80, 200);

/// Columns that text for people is wrapped at: those of the terminal, else those of `COLUMNS`, else always the same.
pub(crate) fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| {
        let of_terminal = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        let stated = || env::var("COLUMNS").ok()?.parse().ok();
        of_terminal.or_else(stated).map_or(USUAL, |columns| columns.clamp(WIDTHS.0, WIDTHS.1))
    })
}

/// Text of the user's in which every character is seen: those that control the terminal, change the direction of the text or take no
/// room are written as `\u{202E}`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().saturating_add(8));
    for character in text.chars() {
        match is_hidden(character) {
            true => shown.push_str(&format!("\\u{{{:X}}}", u32::from(character))),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// The same for a text that holds colours of ours: the last net before a terminal.
pub(crate) fn clean_painted(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (index, piece) in text.split('\u{1b}').enumerate() {
        let color = piece.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let color = color.filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
        match (index, color) {
            (0, _) => shown.push_str(&clean(piece)),
            (_, Some((code, rest))) => shown.push_str(&format!("\u{1b}[{code}m{}", clean(rest))),
            (_, None) => shown.push_str(&clean(&format!("\u{1b}{piece}"))),
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and what Unicode calls `Default_Ignorable_Code_Point`: it has no shape, or a power over the shape of others.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => character.is_control(),
    }
}

/// `1 Pod`, `2 Pods`, `2 ResourceClasses`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// The noun for that many.
pub(crate) fn plural(number: usize, noun: &str) -> Cow<'_, str> {
    match number {
        1 => Cow::Borrowed(noun),
        _ if noun.ends_with('s') => Cow::Owned(format!("{noun}es")),
        _ => Cow::Owned(format!("{noun}s")),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Lines of at most `width` columns, cut between words; a longer word has a line of its own, and so has quoted source.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        // A line that points into the one above it keeps its spaces.
        if paragraph.starts_with(" | ") {
            lines.push(paragraph.trim_end().to_owned());
            continue;
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && columns(&line).saturating_add(1).saturating_add(columns(word)) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Text behind a mark, with the following lines below its first word.
pub(crate) fn item(mark: &str, text: &str, depth: usize) -> Vec<String> {
    let lead = " ".repeat(depth);
    let hang = " ".repeat(columns(mark));
    let width = width().saturating_sub(depth).saturating_sub(columns(mark));
    let lines = wrap(&clean(text), width).into_iter().enumerate();
    lines.map(|(index, line)| format!("{lead}{}{line}", if index == 0 { mark } else { &hang })).collect()
}

pub(crate) fn indented(text: &str, depth: usize) -> Vec<String> {
    item("", text, depth)
}

/// Lines as one text.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Items that are alike together, in the order of the first of each.
pub(crate) fn alike<T, K: Ord>(items: impl IntoIterator<Item = T>, likeness: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let (mut groups, mut known) = (Vec::<Vec<T>>::new(), BTreeMap::new());
    for item in items {
        let place = *known.entry(likeness(&item)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Columns that a text takes up.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The text, filled up with spaces.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}

/// Cells of a table.
pub(crate) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(|cell| clean(cell).into_owned()).into()
}

/// Rows with aligned columns, two spaces apart; columns named in `right` are aligned to the right.
pub(crate) fn table(rows: &[Vec<String>], right: &[usize]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..count)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max().unwrap_or_default())
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| match right.contains(&column) {
                true => format!("{}{cell}", " ".repeat(width.saturating_sub(columns(cell)))),
                false => pad(cell, *width),
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Text of the user's as it may stand in XML and HTML, in attributes too. XML has no way to write most control characters.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_words() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("a-very-long-word b", 4), ["a-very-long-word", "b"]);
        assert_eq!(wrap("no such\n | a.bc\n | ..^", 4), ["no", "such", " | a.bc", " | ..^"]);
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let rows = [["node", "n"], ["a", "10"], ["bcdef", "2"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, &[1]), ["node    n", "a      10", "bcdef   2"]);
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb"), "a\\u{1B}[31mb");
        assert_eq!(clean("\u{9b}31m\r"), "\\u{9B}31m\\u{D}");
    }

    #[test]
    fn what_cannot_be_seen_or_changes_the_direction_is_written_out() {
        assert_eq!(clean("abc\u{202e}gpj.exe"), "abc\\u{202E}gpj.exe");
        for hidden in ['\u{ad}', '\u{61c}', '\u{200b}', '\u{200f}', '\u{2028}', '\u{2066}', '\u{feff}', '\u{e0041}'] {
            assert!(clean(&hidden.to_string()).starts_with("\\u{"), "{hidden:?}");
        }
        for plain in ["größe", "名前", "שם", "a\tb\nc", "\u{1f600}"] {
            assert_eq!(clean(plain), plain);
        }
    }

    #[test]
    fn of_escape_sequences_only_colours_pass() {
        let painted = "\u{1b}[1;31mbad\u{1b}[0m";
        assert_eq!(clean_painted(painted), painted);
        assert_eq!(clean_painted("\u{1b}]0;title\u{7}"), "\\u{1B}]0;title\\u{7}");
        assert_eq!(clean_painted("\u{1b}[2J\u{1b}[0mx\u{202e}"), "\\u{1B}[2J\u{1b}[0mx\\u{202E}");
    }

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!(count(1, "DeviceClass"), "1 DeviceClass");
        assert_eq!(count(0, "DeviceClass"), "0 DeviceClasses");
    }

    #[test]
    fn nothing_written_by_a_user_breaks_the_xml() {
        assert_eq!(escape("<a \"b\"> & '\u{1b}[0m\n"), "&lt;a &quot;b&quot;&gt; &amp; &#39;\\u{1B}[0m&#10;");
    }
}
