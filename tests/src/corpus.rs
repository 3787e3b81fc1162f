//! Where the cases are: the project's own corpus, or any path in the same schemas.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::allocator::{self, Mode};
use crate::answers::{self, Listed, Tally};
use crate::door::Door;
use crate::published::Published;
use crate::reference::Release;
use crate::seeds::{Kind, Line, Recording};
use crate::{Verdict, cel, history, lifecycle, seeds, units, validation};

/// One case with the id that names it everywhere.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// File below the corpus, and the case's own id or line.
    pub id: String,
    /// What it holds.
    pub content: Content,
}

/// What a case holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// All of it, in one of the schemas.
    Whole(Value),
    /// A seed, from which it is made.
    Seed(Kind, Release, Line),
}

impl Case {
    /// Whether it is one of very many alike.
    pub fn is_one_of_many(&self) -> bool {
        match &self.content {
            Content::Whole(content) => history::is_case(content),
            Content::Seed(..) => true,
        }
    }
}

/// The project's own corpus.
pub const OWN: &str = "tests/conformance";

/// Reads every case below a path: `.json` (one case, or a list) and `.jsonl` (a case per line), `.txt` (a seed per line).
///
/// # Errors
///
/// When a file cannot be read, is not JSON or of another generator; when there is no case.
pub fn read(path: &Path) -> Result<Vec<Case>> {
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort();
    let (mut cases, mut has_answers) = (Vec::new(), false);
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        if file.extension().is_some_and(|extension| extension == "txt") {
            cases.extend(of_seeds(&file, &text)?);
            continue;
        }
        // Answers of API servers are read by `answers`.
        if answers::is_recording(&text) {
            has_answers = true;
            continue;
        }
        let parsed: Result<Vec<Value>, _> = if file.extension().is_some_and(|extension| extension == "jsonl") {
            text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
        } else {
            serde_json::from_str(&text).map(|value| match value {
                Value::Array(items) => items,
                one => vec![one],
            })
        };
        let parsed = parsed.with_context(|| format!("{} is not JSON", file.display()))?;
        let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let mut published = Published::beside(&file);
        for (index, mut content) in parsed.into_iter().enumerate() {
            // The recorded server's gates are no case.
            if content.get("defaults").is_some() {
                continue;
            }
            if Published::is_verdict(&content) {
                content = published.complete(content);
            }
            let name = content.get("id").and_then(Value::as_str).map_or((index + 1).to_string(), str::to_owned);
            let id = if name == stem { format!("{folder}/{stem}") } else { format!("{folder}/{stem}/{name}") };
            cases.push(Case { id, content: Content::Whole(content) });
        }
    }
    ensure!(has_answers || !cases.is_empty(), "there is no case below {}", path.display());
    Ok(cases)
}

fn of_seeds(file: &Path, text: &str) -> Result<Vec<Case>> {
    let recording = Recording::parse(text).with_context(|| format!("{} is no recording", file.display()))?;
    let Recording { kind, release, lines } = recording;
    let case = |line: Line| {
        let id = format!("{}-{release}/{}", kind.name(), line.seed);
        Case { id, content: Content::Seed(kind, release, line) }
    };
    Ok(lines.into_iter().map(case).collect())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|extension| ["json", "jsonl", "txt"].iter().any(|known| extension == *known))
        && path.file_name().is_some_and(|name| name != "baseline.txt")
    {
        files.push(path.to_owned());
    } else if !path.exists() {
        anyhow::bail!("{} does not exist", path.display());
    }
    Ok(())
}

/// Asks a door about every case. `answers` gets each raw answer by id, to compare doors.
pub fn run(cases: &[&Case], door: &mut dyn Door, answers: &mut BTreeMap<String, String>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for Case { id, content } in cases {
        let content = match content {
            Content::Whole(content) => content,
            Content::Seed(kind, release, line) => {
                let (answer, result) = seeds::check(*kind, *release, line, door);
                answers.insert(id.clone(), answer);
                verdicts.push(Verdict::new(id.clone(), result));
                continue;
            }
        };
        if content.get("claims").is_some() && content.get("expected").is_some() {
            for mode in [Mode::Sound, Mode::Reference] {
                let id = format!("{id}@{}", mode.name());
                let result = door.ask(&allocator::asked(content, mode)).map_err(|error| error.to_string());
                let result = result.and_then(|answer| {
                    let result = allocator::check(content, mode, &answer);
                    answers.insert(id.clone(), answer);
                    result
                });
                verdicts.push(Verdict::new(id, result));
            }
        } else if content.get("expression").is_some() {
            let result = door.ask(&cel::asked(content)).map_err(|error| error.to_string()).and_then(|answer| {
                let result = cel::check(content, &answer);
                answers.insert(id.clone(), answer);
                result
            });
            verdicts.push(Verdict::new(id.clone(), result));
        } else if history::is_case(content) {
            let (answer, result) = history::check(content, door);
            answers.insert(id.clone(), answer);
            verdicts.push(Verdict::new(id.clone(), result));
        } else if lifecycle::is_case(content) {
            let id = format!("{id}@reference");
            let (answer, result) = lifecycle::check(content, door);
            answers.insert(id.clone(), answer);
            verdicts.push(Verdict::new(id, result));
        } else if validation::is_case(content) {
            let result = door.ask(&validation::asked(content)).map_err(|error| error.to_string()).and_then(|answer| {
                let result = validation::check(content, &answer);
                answers.insert(id.clone(), answer);
                result
            });
            verdicts.push(Verdict::new(id.clone(), result));
        } else {
            verdicts.push(Verdict::new(id.clone(), units::check(content, door)));
        }
    }
    verdicts
}

/// Asks a door about every recorded request: one verdict per request, and one per difference that is not as listed. With a `step` above
/// one only about one of so many, to compare doors: then nothing is counted.
pub fn run_recorded(
    recordings: &[answers::Recording],
    listed: &Listed,
    step: usize,
    door: &mut dyn Door,
    answers: &mut BTreeMap<String, String>,
) -> Vec<Verdict> {
    let (mut verdicts, mut tally) = (Vec::new(), Tally::default());
    for recording in recordings {
        for (index, line) in recording.lines.iter().enumerate().step_by(step) {
            let id = format!("validation/{}/{}", recording.header.minor(), index + 1);
            let asked = recording.asked(&line.request).ok_or_else(|| "the request cannot be made".to_owned());
            let result = asked.and_then(|asked| door.ask(&asked).map_err(|error| error.to_string())).map(|answer| {
                let parsed = serde_json::from_str(&answer).unwrap_or_default();
                tally.add(recording, line, answers::differences(recording, line, &parsed));
                answers.insert(id.clone(), answer);
            });
            verdicts.push(Verdict::new(id, result));
        }
    }
    if step > 1 {
        return verdicts;
    }
    let releases: Vec<&str> = recordings.iter().map(|recording| recording.header.minor()).collect();
    let is_asked = |key: &str| releases.iter().any(|release| key.starts_with(&format!("{release} ")));
    let wrong = tally.judge(listed, |key| is_asked(key) && !answers::is_of_storage(key));
    verdicts.extend(wrong.into_iter().map(|why| Verdict::new("validation/differences", Err(why))));
    verdicts
}
