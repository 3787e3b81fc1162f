//! How findings come about and go away: written beside this file, one file for each group of codes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use apportion_yaml::Limits;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// The files, in the order in which groups are shown.
const FILES: [&str; 9] = [
    include_str!("yaml.yaml"),
    include_str!("read.yaml"),
    include_str!("validate.yaml"),
    include_str!("lint.yaml"),
    include_str!("link.yaml"),
    include_str!("run.yaml"),
    include_str!("alloc.yaml"),
    include_str!("check.yaml"),
    include_str!("others.yaml"),
];

/// Codes that are about the same.
#[derive(Deserialize)]
struct Topic {
    about: String,
    codes: Vec<Written>,
}

/// A code as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    code: String,
    way_out: String,
    rule: String,
    occurs: Option<String>,
    command: Option<String>,
    #[serde(default)]
    files: Vec<WrittenFile>,
    command_after: Option<String>,
}

#[derive(Deserialize)]
struct WrittenFile {
    name: String,
    text: String,
    #[serde(default)]
    changes: Vec<Change>,
    /// Documents that are added at its end.
    add: Option<String>,
}

#[derive(Deserialize)]
struct Change {
    from: String,
    to: String,
}

/// How findings of a code come about and go away.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lesson {
    /// What the code is about, as a title for it and others.
    pub(crate) about: String,
    /// What to do.
    pub(crate) way_out: String,
    /// Where Kubernetes has the rule.
    pub(crate) rule: String,
    /// When it is reported, where no example shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) occurs: Option<String>,
    /// What shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) example: Option<Example>,
}

/// A command with a finding, and the change that takes it away.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Example {
    /// The command, in a folder with the files.
    pub(crate) command: String,
    pub(crate) files: Vec<File>,
    /// The difference between the files and the corrected ones, as a unified diff; empty where the command changes.
    pub(crate) change: String,
    /// The command that takes the finding away, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command_after: Option<String>,
}

/// A file of an example.
#[derive(Serialize)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The text after the change.
    pub(crate) corrected: String,
}

/// The lesson of a code.
///
/// # Errors
///
/// None in a program that was tested: the files beside this one cannot be read.
pub(crate) fn lesson(code: &str) -> Result<&'static Lesson> {
    static LESSONS: OnceLock<BTreeMap<String, Lesson>> = OnceLock::new();
    let lessons = match LESSONS.get() {
        Some(lessons) => lessons,
        None => {
            let read = read()?;
            LESSONS.get_or_init(|| read)
        }
    };
    lessons.get(code).with_context(|| format!("nothing is written about `{code}`"))
}

fn read() -> Result<BTreeMap<String, Lesson>> {
    let mut lessons = BTreeMap::new();
    for text in FILES {
        let reading = apportion_yaml::read(text.as_bytes(), &Limits::default());
        let document = reading.documents.into_iter().next().context("a file about codes is empty")?;
        let topics: Vec<Topic> = serde_json::from_value(document.value).context("a file about codes is broken")?;
        for Topic { about, codes } in topics {
            lessons.extend(codes.into_iter().map(|written| (written.code.clone(), written.lesson(&about))));
        }
    }
    Ok(lessons)
}

impl Written {
    fn lesson(self, about: &str) -> Lesson {
        let files: Vec<File> = self.files.into_iter().map(WrittenFile::corrected).collect();
        let change = files.iter().map(File::change).collect();
        let command_after = self.command_after;
        let example = self.command.map(|command| Example { command, files, change, command_after });
        Lesson { about: about.to_owned(), way_out: self.way_out, rule: self.rule, occurs: self.occurs, example }
    }
}

impl WrittenFile {
    fn corrected(self) -> File {
        let changes = self.changes.iter();
        let changed = changes.fold(self.text.clone(), |text, change| text.replacen(&change.from, &change.to, 1));
        let added = self.add.map(|add| format!("---\n{add}")).unwrap_or_default();
        File { name: self.name, text: self.text, corrected: changed + &added }
    }
}

impl File {
    fn change(&self) -> String {
        if self.text == self.corrected {
            return String::new();
        }
        TextDiff::from_lines(&self.text, &self.corrected).unified_diff().header(&self.name, &self.name).to_string()
    }
}
