//! Which findings are wanted: by options, by `.apportion.yaml`, and by comments beside what they are about.

mod comments;
mod settings;

use std::path::{Component, Path, PathBuf};
use std::{env, iter};

use anyhow::{Context, Result};
use apportion_core::finding::{Finding, Severity};
use clap::Args;
use glob::{MatchOptions, Pattern};

use crate::cli::codes;
use crate::cli::files::Source;
use crate::cli::input::{Input, Places};
use crate::cli::note::{Ignored, Note};

use comments::Comments;
use settings::Settings;

/// Where the settings of a repository stand.
const FILE: &str = ".apportion.yaml";

#[derive(Args, Debug)]
pub(super) struct ChoiceArguments {
    /// Leave out files and folders that are found, and not named, by a pattern such as `vendor` or `charts/*/templates`
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Say nothing of these codes, or of the codes of a group such as `yaml`
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    disable: Vec<String>,
    /// Say something of these codes only, and of what cannot be read
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    select: Vec<String>,
    /// The settings; without this, `.apportion.yaml` in this folder or the nearest one above it, up to the repository's root
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What is wanted.
#[derive(Debug)]
pub(super) struct Choice {
    /// Each with the folder that it is relative to.
    exclude: Vec<Place>,
    disable: Vec<String>,
    select: Vec<String>,
    ignore: Vec<Rule>,
    pub(super) deny_warnings: bool,
}

/// Files by a pattern.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    pattern: Pattern,
}

/// Findings that are ignored for a reason, from the settings.
#[derive(Debug)]
struct Rule {
    code: String,
    place: Option<Place>,
    /// `Kind/name` or `Kind/namespace/name`.
    object: Option<String>,
    reason: String,
}

impl Choice {
    /// # Errors
    ///
    /// Settings that cannot be read, patterns that are none, and unknown codes.
    pub(super) fn of(arguments: &ChoiceArguments) -> Result<Self> {
        let here = env::current_dir().context("the current folder cannot be read")?;
        let file = arguments.config.clone().or_else(|| settings_above(&here));
        let (folder, settings) = match &file {
            None => (here.clone(), Settings::default()),
            Some(file) => (here.join(file).parent().unwrap_or(&here).to_owned(), Settings::read(file)?),
        };
        let written = settings.exclude.iter().map(|pattern| Place::new(&folder, pattern));
        let given = arguments.exclude.iter().map(|pattern| Place::new(&here, pattern));
        let ignore = settings.ignore.into_iter().map(|rule| {
            let place = rule.path.map(|pattern| Place::new(&folder, &pattern)).transpose()?;
            Ok(Rule { code: rule.code, place, object: rule.object, reason: rule.reason })
        });
        let choice = Self {
            exclude: written.chain(given).collect::<Result<_>>()?,
            disable: [settings.disable, arguments.disable.clone()].concat(),
            select: if arguments.select.is_empty() { settings.select } else { arguments.select.clone() },
            ignore: ignore.collect::<Result<_>>()?,
            deny_warnings: settings.deny_warnings,
        };
        let rules = choice.ignore.iter().map(|rule| &rule.code);
        for code in choice.disable.iter().chain(&choice.select).chain(rules) {
            codes::known(code)?;
        }
        Ok(choice)
    }

    /// The files that are to be looked at. What is named is not excluded.
    pub(super) fn kept(&self, mut sources: Vec<Source>) -> Vec<Source> {
        sources.retain(|source| !source.is_found || !self.exclude.iter().any(|place| place.has(&source.name)));
        sources
    }

    /// Takes away what is not wanted, and returns what is ignored for a reason.
    pub(super) fn take(
        &self,
        input: &mut Input,
        findings: &mut [Vec<Finding>],
        repeated: &mut Vec<Note>,
    ) -> Vec<Ignored> {
        let (comments, mistakes) = Comments::of(&input.sources);
        let mut problems = std::mem::take(&mut input.problems);
        problems.extend(mistakes);
        let mut ignored = Vec::new();
        let places = Places::new(input);
        let mut keeps = |note: &Note| match self.reason(note, &input.sources, &comments) {
            None => true,
            Some(None) => false,
            Some(Some((reason, is_in_source))) => {
                ignored.push(Ignored { note: note.clone(), reason, is_in_source });
                false
            }
        };
        problems.retain(&mut keeps);
        repeated.retain(&mut keeps);
        if self.is_active() || !comments.is_empty() {
            for (index, (findings, document)) in findings.iter_mut().zip(&input.documents).enumerate() {
                findings.retain(|finding| {
                    let place = places.of_document(index, finding);
                    let mut finding = finding.clone();
                    finding.object.get_or_insert_with(|| document.written_reference());
                    keeps(&Note::of_finding(finding, place))
                });
            }
        }
        input.problems = problems;
        ignored
    }

    fn is_active(&self) -> bool {
        !(self.disable.is_empty() && self.select.is_empty() && self.ignore.is_empty())
    }

    /// `None` for what is wanted; else why it is not, and whether that stands beside it: `Some(None)` where an option says so.
    #[expect(clippy::option_option, reason = "three cases, told where they are made")]
    fn reason(&self, note: &Note, sources: &[Source], comments: &Comments) -> Option<Option<(String, bool)>> {
        let has = |codes: &[String]| codes.iter().any(|code| is_of(note.code, code));
        // A document that cannot be read is never passed over by a choice of other codes.
        let is_unread = note.severity == Severity::Error && is_of(note.code, "yaml");
        if has(&self.disable) || !(self.select.is_empty() || is_unread || has(&self.select)) {
            return Some(None);
        }
        let region = note.region(sources);
        if let (Some(place), Some(region)) = (&note.place, region)
            && let Some(reason) = comments.reason(place.source, region.line, note.code)
        {
            return Some(Some((reason.to_owned(), true)));
        }
        let file = region.map(|region| region.file);
        let rule = self.ignore.iter().find(|rule| rule.is_about(note, file))?;
        Some(Some((rule.reason.clone(), false)))
    }
}

/// Whether a code is the named one, or one of the named group.
fn is_of(code: &str, name: &str) -> bool {
    names(code).any(|one| one == name)
}

/// A code, and the groups that it is in.
fn names(code: &str) -> impl Iterator<Item = &str> {
    let groups = code.match_indices('/').filter_map(|(at, _)| code.get(..at));
    iter::once(code).chain(groups)
}

impl Rule {
    fn is_about(&self, note: &Note, file: Option<&str>) -> bool {
        let is_there = self.place.as_ref().is_none_or(|place| file.is_some_and(|file| place.has(file)));
        let is_it = self.object.as_ref().is_none_or(|wanted| {
            note.object.as_ref().is_some_and(|object| {
                let namespace = if object.namespace.is_empty() { "default" } else { &object.namespace };
                *wanted == format!("{}/{}", object.kind, object.name)
                    || *wanted == format!("{}/{namespace}/{}", object.kind, object.name)
            })
        });
        is_of(note.code, &self.code) && is_there && is_it
    }
}

impl Place {
    fn new(folder: &Path, pattern: &str) -> Result<Self> {
        let text = pattern.trim_start_matches("./").trim_end_matches('/');
        let parsed = Pattern::new(text).with_context(|| format!("`{pattern}` is not a pattern of paths"))?;
        Ok(Self { folder: normal(folder), pattern: parsed })
    }

    /// Whether it stands for the file, or for a folder that the file is in.
    fn has(&self, file: &str) -> bool {
        let Ok(path) = env::current_dir().map(|here| normal(&here.join(file))) else { return false };
        let Ok(path) = path.strip_prefix(&self.folder) else { return false };
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        path.ancestors().any(|path| self.pattern.matches_path_with(path, options))
    }
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(made.pop()),
            part => made.push(part),
        }
    }
    made
}

/// The settings in a folder or in the nearest one above it, not beyond the root of a repository.
fn settings_above(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}
