//! Comments `# apportion-ignore CODE: REASON`: behind what they are about, above it, or above the first line of an object for all of it.

use std::collections::BTreeMap;
use std::str;

use apportion_yaml::{Problem, ProblemCode};

use super::names;
use crate::cli::codes;
use crate::cli::files::Source;
use crate::cli::note::Note;

const MARK: &str = "apportion-ignore";

/// The comments of all files.
#[derive(Debug, Default)]
pub(super) struct Comments {
    by_source: BTreeMap<usize, Places>,
}

/// Where comments of one file count: by the code that they name.
#[derive(Debug, Default)]
struct Places {
    /// Those about a line, and those about an object.
    lines: BTreeMap<String, Reasons>,
    objects: BTreeMap<String, Reasons>,
}

/// By the last line that a comment is about: the first one, and the reason. No two overlap, since lines and objects do not.
type Reasons = BTreeMap<usize, (usize, String)>;

/// One comment.
#[derive(PartialEq, Eq, Debug)]
struct Comment {
    codes: Vec<String>,
    reason: String,
    /// Whether it stands above an object.
    is_of_object: bool,
    /// The lines that it is about, both included; from one.
    lines: (usize, usize),
}

impl Comments {
    /// The comments, and what is wrong with some.
    pub(super) fn of(sources: &[Source]) -> (Self, Vec<Note>) {
        let (mut comments, mut mistakes) = (Self::default(), Vec::new());
        for (index, source) in sources.iter().enumerate() {
            // One pass decides for files without any, which is nearly all.
            let Some(text) = str::from_utf8(&source.text).ok().filter(|text| text.contains(MARK)) else { continue };
            let (found, wrong) = read(text);
            mistakes.extend(wrong.into_iter().map(|problem| Note::of_problem(index, problem)));
            comments.by_source.insert(index, Places::of(found));
        }
        (comments, mistakes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    /// Why what is said of a line is ignored.
    pub(super) fn reason(&self, source: usize, line: usize, code: &str) -> Option<&str> {
        self.by_source.get(&source)?.reason(line, code)
    }
}

impl Places {
    fn of(comments: Vec<Comment>) -> Self {
        let mut places = Self::default();
        for comment in comments {
            let (first, last) = comment.lines;
            let by_code = if comment.is_of_object { &mut places.objects } else { &mut places.lines };
            for code in comment.codes {
                // Of several above the same line the first one is about the most lines.
                let reasons = by_code.entry(code).or_default();
                reasons.entry(last).or_insert_with(|| (first, comment.reason.clone()));
            }
        }
        places
    }

    fn reason(&self, line: usize, code: &str) -> Option<&str> {
        [&self.lines, &self.objects].into_iter().find_map(|by_code| {
            names(code).find_map(|name| {
                let (_, (first, reason)) = by_code.get(name)?.range(line..).next()?;
                (*first <= line).then_some(reason.as_str())
            })
        })
    }
}

fn read(text: &str) -> (Vec<Comment>, Vec<Problem>) {
    let (mut comments, mut problems) = (Vec::new(), Vec::new());
    // Comments on lines of their own, until the line that they stand above.
    let mut waiting: Vec<Comment> = Vec::new();
    // Those above an object, until its end.
    let mut open: Vec<Comment> = Vec::new();
    let (mut is_head, mut start, mut number) = (true, 0_usize, 0_usize);
    for line in text.split_inclusive('\n') {
        number = number.saturating_add(1);
        let trimmed = line.trim();
        if let Some((at, written)) = comment(line) {
            let offset = start.saturating_add(at);
            match parse(written) {
                Ok((codes, reason)) => {
                    let comment = Comment { codes, reason, is_of_object: false, lines: (number, number) };
                    if trimmed.starts_with('#') { waiting.push(comment) } else { comments.push(comment) }
                }
                Err(message) => {
                    let span = offset..offset.saturating_add(written.len());
                    problems.push(Problem::new(ProblemCode::Ignore, span, message));
                }
            }
        }
        start = start.saturating_add(line.len());
        if line.starts_with("---") {
            comments.append(&mut closed(&mut open, number));
            is_head = true;
        } else if !trimmed.is_empty() && !trimmed.starts_with('#') {
            let to_here =
                |comment: Comment| Comment { is_of_object: is_head, lines: (comment.lines.0, number), ..comment };
            let below = waiting.drain(..).map(to_here);
            if is_head {
                open.extend(below)
            } else {
                comments.extend(below)
            }
            is_head = false;
        }
    }
    comments.append(&mut closed(&mut open, number));
    (comments, problems)
}

/// Comments above an object, which ends with this line.
fn closed(open: &mut Vec<Comment>, last: usize) -> Vec<Comment> {
    open.drain(..).map(|comment| Comment { lines: (comment.lines.0, last), ..comment }).collect()
}

/// The comment of a line that begins with the mark, and where it begins.
fn comment(line: &str) -> Option<(usize, &str)> {
    let (at, _) = line.match_indices('#').find(|(at, _)| {
        let before = line.get(..*at).unwrap_or_default();
        let is_comment = before.is_empty() || before.ends_with([' ', '\t']);
        is_comment && line.get(at.saturating_add(1)..).is_some_and(|text| text.trim_start().starts_with(MARK))
    })?;
    Some((at, line.get(at..)?.trim_end()))
}

/// Codes and reason.
fn parse(comment: &str) -> Result<(Vec<String>, String), String> {
    let text = comment.trim_start_matches('#').trim_start();
    let text = text.strip_prefix(MARK).unwrap_or_default();
    let (named, reason) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
    let codes: Vec<String> = named.split([',', ' ']).filter(|code| !code.is_empty()).map(ToOwned::to_owned).collect();
    if codes.is_empty() {
        return Err("nothing is ignored: the comment names no code".to_owned());
    }
    for code in &codes {
        codes::known(code).map_err(|error| format!("nothing is ignored: {error}"))?;
    }
    match reason.trim() {
        "" => Err("nothing is ignored: the comment gives no reason".to_owned()),
        reason => Ok((codes, reason.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_about_its_line_the_next_one_or_the_object() {
        let text = "\
# apportion-ignore yaml: all of the object
a: 1
b: yes # apportion-ignore yaml/surprising-scalar: it is meant

# apportion-ignore yaml/syntax, yaml/limit: two codes
c: 1
---
d: 2
";
        let (comments, problems) = read(text);
        assert_eq!(problems, Vec::new());
        let lines: Vec<(usize, usize)> = comments.iter().map(|comment| comment.lines).collect();
        assert_eq!(lines, [(3, 3), (5, 6), (1, 7)]);
        assert_eq!(comments.iter().map(|comment| comment.codes.len()).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(comments.first().map(|comment| comment.reason.as_str()), Some("it is meant"));
    }

    #[test]
    fn a_comment_without_code_or_reason_ignores_nothing() {
        for text in [
            "# apportion-ignore",
            "# apportion-ignore yaml",
            "# apportion-ignore yaml:  ",
            "a: 1 # apportion-ignore nonsense: x",
        ] {
            let (comments, problems) = read(text);
            assert_eq!((comments.len(), problems.len()), (0, 1), "{text}");
        }
        assert_eq!(read("a: 'b#apportion-ignore'\n"), (Vec::new(), Vec::new()));
    }
}
