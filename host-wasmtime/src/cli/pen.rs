//! How words and trees look on a stream: colour, and the characters of the tree.

use std::env;
use std::io::IsTerminal;

use super::arguments::{Color, LookArguments};

/// What a stream can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pen {
    pub(crate) has_color: bool,
    pub(crate) has_unicode: bool,
}

/// What a word is, and so how it looks. The word itself says it too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// The main words.
    Strong,
    /// What is there for completeness.
    Faint,
    Good,
    Bad,
    Doubt,
    /// Names of devices.
    Device,
}

impl Pen {
    /// For a stream as the user wishes.
    pub(crate) fn new(view: &LookArguments, stream: &impl IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let has_color = match view.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !is_set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb"),
        };
        // A file or a pipe gets the tree in UTF-8; a terminal of another character set gets ASCII.
        let has_unicode = !is_terminal || speaks_utf8();
        Self { has_color: has_color && !view.plain, has_unicode: has_unicode && !view.plain }
    }

    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        if !self.has_color {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Bad => "1;31",
            Ink::Doubt => "33",
            Ink::Device => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// What stands before an entry of a tree, and before the lines below it.
    pub(crate) fn branch(self, is_last: bool) -> (&'static str, &'static str) {
        match (self.has_unicode, is_last) {
            (true, false) => ("├─ ", "│  "),
            (true, true) => ("└─ ", "   "),
            (false, false) => ("|- ", "|  "),
            (false, true) => ("`- ", "   "),
        }
    }

    pub(crate) fn arrow(self) -> &'static str {
        if self.has_unicode { "→" } else { "->" }
    }
}

/// Whether the locale says UTF-8, by the variables that decide it in their order; not saying counts as yes.
fn speaks_utf8() -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env::var_os).find(|value| !value.is_empty());
    locale.is_none_or(|value| {
        let value = value.to_string_lossy().to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}
