//! From what a command shows to what an agent reads: within limits, errors with code and hint.

use std::io::{self, Write};

use anyhow::{Result, bail};
use apportion_core::finding::Finding;

use crate::cli::shown::{InputErrors, Shown, Stdout};
use crate::cli::text::{clean, clean_painted};

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    /// Cause and remedy.
    Short,
    /// What the command line shows, with every remark.
    Full,
    /// The machine format.
    Json,
}

/// What an agent reads.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    /// Whether the question was not answered.
    pub(super) is_error: bool,
}

/// Lines and bytes of a short answer.
const SHORT: (usize, usize) = (40, 4 << 10);

/// What is written of an answer, at most so many bytes.
struct Bounded {
    text: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len().saturating_add(bytes.len()) > self.most {
            return Err(io::Error::other("the answer is too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answer as text, of at most `most` bytes.
pub(super) fn of(shown: Result<Shown>, detail: Detail, most: usize) -> Answer {
    match shown.and_then(|shown| text(shown, detail, most)) {
        Ok(text) => Answer { text, is_error: false },
        Err(error) => Answer { text: cut(&refusal(&error), SHORT.0, SHORT.1, LESS), is_error: true },
    }
}

/// Nothing came of a call, by a defect of ours.
pub(super) fn trapped(what: &str) -> Answer {
    let text = format!("error[internal/trap]: {}\nhelp: this call has no answer; the next one works\n", clean(what));
    Answer { text, is_error: true }
}

fn text(shown: Shown, detail: Detail, most: usize) -> Result<String> {
    let Shown { stdout, stderr, .. } = shown;
    let stdout = match stdout {
        Stdout::Text(text) => text,
        Stdout::Pieces(write) => {
            let mut bounded = Bounded { text: Vec::new(), most };
            if write(&mut bounded).is_err() {
                bail!("{}", too_long(most));
            }
            String::from_utf8(bounded.text)?
        }
    };
    if detail == Detail::Json {
        // Half a document is none. What stands on standard error is part of it.
        return if stdout.len() > most { bail!("{}", too_long(most)) } else { Ok(stdout) };
    }
    let mut text = stdout;
    if !stderr.trim().is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}Standard error:\n{}\n", clean_painted(&stderr).trim_end()));
    }
    let (lines, bytes) = if detail == Detail::Short { SHORT } else { (usize::MAX, most) };
    let advice = match detail {
        Detail::Short => "`detail` full has more, a question about less is shorter",
        Detail::Full | Detail::Json => LESS,
    };
    Ok(cut(&text, lines, bytes.min(most), advice))
}

fn too_long(most: usize) -> String {
    format!(
        "the answer as JSON is longer than the {most} bytes that an answer may have (`--max-answer`); ask about less, for instance \
         one Pod or one node, or leave `detail` out"
    )
}

/// What to do about an answer that is too long.
const LESS: &str = "ask about less, for instance one Pod or one node";

/// The first lines of a text, in so many lines and bytes; the last one says how much is left out, and what to do about it.
fn cut(text: &str, most_lines: usize, most_bytes: usize, advice: &str) -> String {
    if text.len() <= most_bytes && text.lines().count() <= most_lines {
        return text.to_owned();
    }
    let all = text.lines().count();
    let mut kept = String::new();
    let mut number = 0_usize;
    for line in text.lines().take(most_lines) {
        if kept.len().saturating_add(line.len()).saturating_add(1) > most_bytes {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
        number = number.saturating_add(1);
    }
    let left = all.saturating_sub(number);
    kept.push_str(&format!("[{left} of {all} lines are left out, an answer has a limit: {advice}]\n"));
    kept
}

/// Why a question was not answered: a line with the code where there is one, and the hint.
fn refusal(error: &anyhow::Error) -> String {
    if let Some(InputErrors(text)) = error.downcast_ref() {
        return clean_painted(text).into_owned();
    }
    let findings = error.downcast_ref::<apportion::Error>().map(apportion::Error::findings).unwrap_or_default();
    match findings.is_empty() {
        true => format!("error: {}\n", clean(&format!("{error:#}"))),
        false => findings.iter().map(line).collect(),
    }
}

fn line(finding: &Finding) -> String {
    let hint = finding.hint.as_ref().map(|hint| format!("help: {}\n", clean(hint))).unwrap_or_default();
    format!("error[{}]: {}\n{hint}", finding.code.text(), clean(&finding.message))
}

#[cfg(test)]
mod tests {
    use apportion::{Error, Stop};

    use super::*;

    #[test]
    fn a_text_is_cut_between_lines_and_says_so() {
        assert_eq!(cut("a\nb\n", 2, 4, LESS), "a\nb\n");
        let text = cut("one\ntwo\nthree\n", 2, 100, LESS);
        assert!(text.starts_with("one\ntwo\n[1 of 3 lines are left out"), "{text}");
        assert!(cut("a long line\n", 9, 5, LESS).starts_with("[1 of 1 lines"));
    }

    #[test]
    fn json_is_whole_or_refused() {
        let whole = of(Ok(Shown::text("{\"a\": 1}".to_owned())), Detail::Json, 8);
        assert_eq!(whole, Answer { text: "{\"a\": 1}".to_owned(), is_error: false });
        let refused = of(Ok(Shown::text("{\"a\": 1}".to_owned())), Detail::Json, 7);
        assert!(refused.is_error && refused.text.contains("--max-answer"), "{refused:?}");
    }

    #[test]
    fn a_limit_and_a_trap_have_their_codes() {
        let said = |stop| of(Err(Error::Stopped(stop).into()), Detail::Short, 1000).text;
        assert!(said(Stop::Memory { limit: 1 << 20 }).starts_with("error[limit/memory]: "));
        assert!(said(Stop::Trap("unreachable".to_owned())).starts_with("error[internal/trap]: "));
    }
}
