//! The lines of a batch: of files and standard input, and made of folders with clusters.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use apportion_core::ask::SNAPSHOT_FORMAT;
use apportion_core::finding::{Code, Finding};
use apportion_core::wire;
use serde_json::{Value, json};

use super::Shard;
use super::tally::Tally;
use crate::cli::files::{self, Source};
use crate::cli::note::severity_of;

/// What a file of lines ends with.
const ENDINGS: [&str; 2] = ["ndjson", "jsonl"];

/// What is answered by one line.
pub(super) enum Line {
    /// A line as it was read.
    Text(String),
    /// A file, or a folder with all manifests below it.
    Cluster { id: String, path: PathBuf, bytes: usize, max: usize },
    /// What is no line.
    Bad(Finding),
}

impl Line {
    /// What it takes in memory, roughly.
    pub(super) const fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Cluster { bytes, .. } => *bytes,
            Self::Bad(_) => 0,
        }
    }

    /// What an answer to it has as its `id`.
    fn id(&self) -> Value {
        match self {
            Self::Text(text) => wire::batch::id_of(text),
            Self::Cluster { id, .. } => json!(id),
            Self::Bad(_) => Value::Null,
        }
    }

    /// The line as text; else its id and why there is none.
    pub(super) fn text(self) -> Result<String, (Value, Finding)> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Cluster { id, path, bytes, max } if bytes > max => {
                let message = format!("`{}` has {bytes} bytes, a line may have {max}", path.display());
                Err((json!(id), too_long(message)))
            }
            Self::Cluster { id, path, .. } => {
                let read = cluster(&id, &path);
                read.map_err(|error| (json!(id), Finding::new(Code::BatchUnreadable, "", format!("{error:#}"))))
            }
            Self::Bad(finding) => Err((Value::Null, finding)),
        }
    }
}

fn too_long(message: String) -> Finding {
    let hint =
        "raise `--max-line`, or write the cluster by `apportion snapshot`, which leaves out what is not looked at";
    Finding::new(Code::BatchTooLong, "", message).with_hint(hint)
}

/// Where lines come from.
enum Origin {
    /// A file of lines, or standard input.
    File(String),
    /// A cluster.
    Cluster { id: String, path: PathBuf },
}

/// The lines of one shard, in order.
pub(super) struct Lines {
    origins: VecDeque<Origin>,
    open: Option<(String, Box<dyn BufRead + Send>)>,
    /// Longest line, in bytes.
    max: usize,
    shard: Shard,
    /// Index of the next line of the batch.
    next: u64,
}

impl Lines {
    /// What `paths` name, without the output. Nothing is read yet.
    pub(super) fn open(paths: &[String], output: Option<&Path>, max: usize, shard: Shard) -> Result<Self> {
        let output = output.and_then(|path| path.canonicalize().ok());
        let mut origins = VecDeque::new();
        for name in paths {
            let path = Path::new(name);
            if name == "-" {
                origins.push_back(Origin::File(name.clone()));
                continue;
            }
            let metadata = fs::metadata(path).with_context(|| format!("`{name}` cannot be read"))?;
            match metadata.is_dir() {
                true => fleet(path, output.as_deref(), &mut origins)?,
                // What a shell hands over as a path, such as `<(jq ...)`, is read as standard input is.
                false => origins.push_back(origin(path, is_lines(path) || !metadata.is_file())),
            }
        }
        Ok(Self { origins, open: None, max, shard, next: 0 })
    }

    /// The lines behind those that are answered already, and the last one that is.
    pub(super) fn after(mut self, before: &Tally) -> Result<(Self, Option<(u64, Line)>)> {
        let Some(last) = before.lines.checked_sub(1) else { return Ok((self, None)) };
        for place in 0..=last {
            let Some((index, line)) = self.step(place == last)? else {
                bail!(
                    "the output holds {} answers, the batch has {place} lines: it is the output of something else",
                    before.lines
                );
            };
            if place == last && line.id() != before.last {
                let (id, last) = (line.id(), &before.last);
                bail!(
                    "line {index} of the batch has the id {id}, in the output it has {last}: it is the output of something else"
                );
            }
            if place == last {
                return Ok((self, Some((index, line))));
            }
        }
        Ok((self, None))
    }

    /// The next line of the shard; its text only if it is wanted.
    fn step(&mut self, wants_text: bool) -> Result<Option<(u64, Line)>> {
        loop {
            let index = self.next;
            let is_ours = index.checked_rem(self.shard.of) == Some(self.shard.index);
            let line = match &mut self.open {
                Some((name, reader)) => {
                    let kept = if is_ours && wants_text { self.max } else { 0 };
                    let read = read_line(reader.as_mut(), kept);
                    match read.with_context(|| format!("`{name}` cannot be read any further"))? {
                        None => {
                            self.open = None;
                            continue;
                        }
                        Some(Read { is_blank: true, .. }) => continue,
                        Some(read) if is_ours && wants_text => read.line(self.max),
                        Some(_) => Line::Text(String::new()),
                    }
                }
                None => match self.origins.pop_front() {
                    None => return Ok(None),
                    Some(Origin::File(name)) => {
                        let reader: Box<dyn BufRead + Send> = match name.as_str() {
                            "-" => Box::new(BufReader::new(io::stdin())),
                            _ => Box::new(BufReader::new(
                                File::open(&name).with_context(|| format!("`{name}` cannot be read"))?,
                            )),
                        };
                        self.open = Some((name, reader));
                        continue;
                    }
                    Some(Origin::Cluster { id, path }) => {
                        let bytes = if is_ours { size(&path) } else { 0 };
                        Line::Cluster { id, path, bytes, max: self.max }
                    }
                },
            };
            self.next = index.saturating_add(1);
            if is_ours {
                return Ok(Some((index, line)));
            }
        }
    }
}

impl Iterator for Lines {
    type Item = Result<(u64, Line)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(true).transpose()
    }
}

/// A line, or the beginning of it.
struct Read {
    kept: Vec<u8>,
    length: usize,
    is_blank: bool,
}

impl Read {
    fn line(self, max: usize) -> Line {
        if self.length > max {
            return Line::Bad(too_long(format!("the line has {} bytes, it may have {max}", self.length)));
        }
        String::from_utf8(self.kept).map_or_else(
            |_| Line::Bad(Finding::new(Code::BatchUnreadable, "", "the line is not UTF-8")),
            |text| Line::Text(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        )
    }
}

/// Reads to the end of a line and keeps at most so many bytes of it; `None` at the end.
fn read_line(reader: &mut dyn BufRead, most: usize) -> io::Result<Option<Read>> {
    let mut read = Read { kept: Vec::new(), length: 0, is_blank: true };
    let mut is_any = false;
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(is_any.then_some(read));
        }
        is_any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        read.length = read.length.saturating_add(part.len());
        read.is_blank &= part.trim_ascii().is_empty();
        match read.length > most {
            true => read.kept = Vec::new(),
            false => read.kept.extend_from_slice(part),
        }
        let used = part.len().saturating_add(usize::from(end.is_some()));
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(read));
        }
    }
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

fn is_lines(path: &Path) -> bool {
    has_ending(path, &ENDINGS)
}

fn origin(path: &Path, is_lines: bool) -> Origin {
    match is_lines {
        true => Origin::File(path.display().to_string()),
        false => {
            let id = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Origin::Cluster { id, path: path.to_owned() }
        }
    }
}

/// What a folder holds, by name: each manifest and each folder with manifests is a cluster. What is hidden is none, nor is the output.
fn fleet(folder: &Path, output: Option<&Path>, origins: &mut VecDeque<Origin>) -> Result<()> {
    let unreadable = || format!("folder `{}` cannot be read", folder.display());
    let before = origins.len();
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        entries.push(entry.with_context(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let is_cluster = match path.is_dir() {
            // One that cannot be listed is a cluster that cannot be read.
            true => files::manifests(&path).map_or(true, |files| !files.is_empty()),
            false => files::is_manifest(&path) || is_lines(&path),
        };
        let is_output = output.is_some_and(|output| path.canonicalize().is_ok_and(|path| path == output));
        if is_cluster && !is_hidden && !is_output {
            origins.push_back(origin(&path, path.is_file() && is_lines(&path)));
        }
    }
    if origins.len() == before {
        bail!(
            "folder `{}` holds no cluster: no folder with manifests, and no .yaml, .yml, .json, .ndjson or .jsonl file",
            folder.display()
        );
    }
    Ok(())
}

/// Bytes of the manifests of a cluster; what cannot be read has none.
fn size(path: &Path) -> usize {
    let files = if path.is_dir() { files::manifests(path).unwrap_or_default() } else { vec![path.to_owned()] };
    let sizes = files.iter().filter_map(|file| fs::metadata(file).ok()?.len().try_into().ok());
    sizes.fold(0, usize::saturating_add)
}

/// A line made of a file, or of a folder's manifests. A snapshot, or a question in a file of its own, is taken as it is.
fn cluster(id: &str, path: &Path) -> Result<String> {
    let is_folder = path.is_dir();
    let files = if is_folder { files::manifests(path)? } else { vec![path.to_owned()] };
    let (mut objects, mut findings) = (Vec::new(), Vec::new());
    for source in files::read_files(files)? {
        let reading = apportion_yaml::read(&source.text, &apportion_yaml::Limits::default());
        let has_kind = reading.documents.iter().any(|document| document.value.get("kind").is_some());
        let is_whole = reading.documents.iter().all(|document| !document.is_refused);
        // As in every folder: what has no kind, such as `values.yaml`, is no manifest.
        if is_folder && !reading.documents.is_empty() && !has_kind && is_whole {
            continue;
        }
        findings.extend(reading.problems.iter().filter_map(|problem| finding(problem, &source)));
        let taken = reading.documents.into_iter().filter(|document| !document.is_refused);
        let mut taken: Vec<Value> = taken.map(|document| document.value).collect();
        if let ([only], false) = (taken.as_mut_slice(), is_folder)
            && is_line(only)
            && let Some(line) = only.as_object_mut()
        {
            line.insert("id".to_owned(), json!(id));
            return Ok(only.to_string());
        }
        objects.append(&mut taken);
    }
    if objects.is_empty() {
        let said = |finding: &Value| finding.get("message").and_then(Value::as_str).map(str::to_owned);
        let because = findings.iter().find_map(said).map(|message| format!(": {message}")).unwrap_or_default();
        bail!("no object can be read from `{}`{because}", path.display());
    }
    Ok(json!({ "id": id, "objects": objects, "findings": findings }).to_string())
}

fn is_line(value: &Value) -> bool {
    let format = value.get("format").and_then(Value::as_str);
    format.is_some_and(|format| format == wire::batch::FORMAT || format == SNAPSHOT_FORMAT)
}

/// What the reader says of a file, with its place.
fn finding(problem: &apportion_yaml::Problem, source: &Source) -> Option<Value> {
    let (line, column) = source.line_column(problem.span.start);
    let mut finding = json!({
        "code": problem.code.text(), "severity": severity_of(problem.severity), "message": problem.message,
        "file": source.name, "line": line, "column": column,
    });
    finding.as_object_mut()?.extend(problem.hint.iter().map(|hint| ("hint".to_owned(), json!(hint))));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8], most: usize) -> Vec<(Vec<u8>, usize, bool)> {
        // Two bytes at a time, so that lines go over buffers.
        let mut reader = BufReader::with_capacity(2, text);
        std::iter::from_fn(|| read_line(&mut reader, most).unwrap())
            .map(|read| (read.kept, read.length, read.is_blank))
            .collect()
    }

    #[test]
    fn lines_are_cut_and_long_ones_are_not_kept() {
        let read = read_all(b"abc\n\n \r\nabcdef\nx", 3);
        let wanted: [(&[u8], usize, bool); 5] =
            [(b"abc", 3, false), (b"", 0, true), (b" \r", 2, true), (b"", 6, false), (b"x", 1, false)];
        assert_eq!(read, wanted.map(|(kept, length, is_blank)| (kept.to_vec(), length, is_blank)));
        assert!(read_all(b"", 3).is_empty());
    }

    #[test]
    fn shards_share_the_lines_out() {
        let open = |index| Lines {
            origins: VecDeque::new(),
            open: Some((
                "x".to_owned(),
                Box::new(io::Cursor::new(&b"{\"id\":0}\n\n{\"id\":1}\n{\"id\":2}\n{\"id\":3}"[..])),
            )),
            max: 100,
            shard: Shard { index, of: 2 },
            next: 0,
        };
        let ids =
            |lines: Lines| lines.map(|line| line.map(|(index, line)| (index, line.id())).unwrap()).collect::<Vec<_>>();
        assert_eq!(ids(open(0)), [(0, json!(0)), (2, json!(2))]);
        assert_eq!(ids(open(1)), [(1, json!(1)), (3, json!(3))]);
        let before = |lines, last| {
            let mut tally = Tally::default();
            (tally.lines, tally.last) = (lines, last);
            tally
        };
        assert_eq!(ids(open(1).after(&before(1, json!(1))).unwrap().0), [(3, json!(3))]);
        let wrong = |before: Tally| open(1).after(&before).err().unwrap().to_string();
        assert!(wrong(before(1, json!("y"))).contains("line 1 of the batch has the id 1"));
        assert!(wrong(before(3, json!(1))).contains("the batch has 2 lines"));
    }
}
