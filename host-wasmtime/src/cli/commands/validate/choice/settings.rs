//! The file `.apportion.yaml`.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use apportion_yaml::{Limits, Severity, read};
use serde::Deserialize;

use crate::cli::files::whole;

/// What it may hold.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Settings {
    /// Patterns of files and folders, relative to the file's own folder.
    pub(super) exclude: Vec<String>,
    pub(super) disable: Vec<String>,
    pub(super) select: Vec<String>,
    pub(super) ignore: Vec<Rule>,
    pub(super) deny_warnings: bool,
}

/// Findings that are ignored, and why.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) code: String,
    /// A pattern of files.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// `Kind/name` or `Kind/namespace/name`.
    #[serde(default)]
    pub(super) object: Option<String>,
    pub(super) reason: String,
}

impl Settings {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        let text = File::open(file).and_then(whole).with_context(|| format!("`{name}` cannot be read"))?;
        let reading = read(&text, &Limits::default());
        if let Some(problem) = reading.problems.iter().find(|problem| problem.severity == Severity::Error) {
            bail!("`{name}`: {}", problem.message);
        }
        let mut documents = reading.documents.into_iter();
        let settings = match (documents.next(), documents.next()) {
            (None, _) => Self::default(),
            (Some(document), None) => {
                serde_json::from_value::<Self>(document.value).with_context(|| format!("`{name}` cannot be read"))?
            }
            (Some(_), Some(_)) => bail!("`{name}` holds more than one document"),
        };
        if let Some(rule) = settings.ignore.iter().find(|rule| rule.reason.trim().is_empty()) {
            bail!("`{name}`: `ignore` of `{}` gives no reason", rule.code);
        }
        Ok(settings)
    }
}
