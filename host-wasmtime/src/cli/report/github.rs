//! Workflow commands of GitHub Actions, which become annotations of the changed lines.

use apportion_core::finding::Severity;

use crate::cli::files::Source;
use crate::cli::note::Note;
use crate::cli::text::clean;

/// One line per note.
pub(crate) fn write(notes: &[Note], sources: &[Source]) -> String {
    notes.iter().map(|note| line(note, sources)).collect()
}

fn line(note: &Note, sources: &[Source]) -> String {
    let command = match note.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut properties = Vec::new();
    if let Some(region) = note.region(sources) {
        properties.push(format!("file={}", property(region.file)));
        properties.push(format!("line={},col={}", region.line, region.column));
        if region.end_line == region.line {
            properties.push(format!("endColumn={}", region.end_column));
        }
    }
    properties.push(format!("title={}", property(note.code)));
    let hint = note.hint.as_ref().map(|hint| format!("\nhelp: {hint}")).unwrap_or_default();
    format!("::{command} {}::{}\n", properties.join(","), message(&format!("{}{hint}", note.about())))
}

/// A text in which nothing ends the command.
fn message(text: &str) -> String {
    clean(text).replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_by_a_user_ends_a_command() {
        assert_eq!(message("100%\n::error::"), "100%25%0A::error::");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
