//! From the paths of `-f` to texts.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use apportion_yaml::{Limits, LineColumn, TextIndex};
use bytes::Bytes;

use super::fetch::{fetch, is_address};

/// Folders below a folder of `-f`; symbolic links can make a circle.
const MAX_DEPTH: usize = 32;

/// What a file of manifests ends with.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// How standard input is named.
pub(crate) const STDIN: &str = "standard input";

/// A file as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As a user would name it.
    pub(crate) name: String,
    pub(crate) text: Bytes,
    /// Whether it is a cluster, whose objects have no text.
    pub(crate) is_cluster: bool,
    /// Whether it was found in a folder or by a pattern, and not named.
    pub(crate) is_found: bool,
    /// Whether a Kustomization of the input names it as a patch.
    pub(crate) is_patch: bool,
    /// Made when somebody asks for a line.
    index: OnceLock<TextIndex<Bytes>>,
}

impl Source {
    pub(crate) fn new(name: String, text: Vec<u8>) -> Self {
        let index = OnceLock::new();
        Self { name, text: text.into(), is_cluster: false, is_found: false, is_patch: false, index }
    }

    /// The same source with another text.
    pub(crate) fn with_text(&self, text: Bytes) -> Self {
        let (name, index) = (self.name.clone(), OnceLock::new());
        let Self { is_cluster, is_found, is_patch, .. } = *self;
        Self { name, text, is_cluster, is_found, is_patch, index }
    }

    pub(crate) fn cluster(name: String) -> Self {
        Self { is_cluster: true, ..Self::new(name, Vec::new()) }
    }

    /// Line and column of a byte, both from one; the column in characters.
    pub(crate) fn line_column(&self, offset: usize) -> (usize, usize) {
        let index = self.index.get_or_init(|| TextIndex::new(self.text.clone()));
        let LineColumn { line, column } = index.line_column(offset);
        (line, column)
    }
}

/// Whether addresses may be asked for their text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Network {
    Allowed,
    Refused,
}

impl Network {
    pub(crate) const fn of(is_allowed: bool) -> Self {
        if is_allowed { Self::Allowed } else { Self::Refused }
    }
}

/// Reads what `-f` names, each file once: files, folders recursively in the order of names, `-`, and addresses.
pub(crate) fn read(paths: &[String], network: Network) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    let mut has_stdin = false;
    for name in paths {
        if name == "-" {
            if has_stdin {
                bail!("`-f -` can be given once: standard input can be read once");
            }
            has_stdin = true;
            let text = whole(std::io::stdin()).context("standard input cannot be read")?;
            sources.push(Source::new(STDIN.to_owned(), text));
            continue;
        }
        if is_address(name) {
            if network == Network::Refused {
                bail!("`{name}` is an address: with `--allow-network` it is asked for its text");
            }
            if seen.insert(PathBuf::from(name)) {
                sources.push(Source::new(name.clone(), fetch(name)?));
            }
            continue;
        }
        let mut files = Vec::new();
        let path = Path::new(name);
        if is_pattern(name) && !path.exists() {
            sources.extend(read_once(matching(name)?, true, &mut seen)?);
            continue;
        }
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no file or folder `{name}`"),
            metadata => metadata.with_context(|| format!("`{name}` cannot be read"))?,
        };
        if metadata.is_dir() {
            collect(path, MAX_DEPTH, &mut files)?;
            if files.is_empty() {
                bail!("folder `{name}` holds no .yaml, .yml or .json file");
            }
        } else {
            files.push(path.to_owned());
        }
        sources.extend(read_once(files, metadata.is_dir(), &mut seen)?);
    }
    Ok(sources)
}

/// Reads files, apart from those that are `seen` already. Of those that are found, not named, each has to be an ordinary file: a pipe may
/// have no end, or nobody who writes to it.
fn read_once(files: Vec<PathBuf>, is_found: bool, seen: &mut BTreeSet<PathBuf>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for file in files {
        let place = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if !seen.insert(place) {
            continue;
        }
        if is_found && fs::metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
            bail!("`{}` cannot be read: it is neither a file nor a folder", file.display());
        }
        let text = File::open(&file).and_then(whole);
        let text = text.with_context(|| format!("`{}` cannot be read", file.display()))?;
        sources.push(Source { is_found, ..Source::new(file.display().to_string(), text) });
    }
    Ok(sources)
}

/// Whether a path stands for several, as shells have it.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether an argument names manifests.
pub(crate) fn is_path(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
    text == "-"
        || is_address(text)
        || is_pattern(text)
        || Path::new(text).exists()
        || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The manifests that a pattern stands for, by name; folders with all that is below them.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in glob::glob(pattern).with_context(|| format!("`{pattern}` is not a pattern of paths"))? {
        let path = path.with_context(|| format!("`{pattern}` cannot be read"))?;
        if path.is_dir() { collect(&path, MAX_DEPTH, &mut files)? } else { files.push(path) }
    }
    if files.is_empty() {
        bail!("`{pattern}` matches no file");
    }
    Ok(files)
}

/// As much of a text as may be read, and a byte more where it is too long: some files have no end.
pub(crate) fn whole(reader: impl Read) -> io::Result<Vec<u8>> {
    let most = u64::try_from(Limits::default().max_bytes).unwrap_or(u64::MAX);
    let mut text = Vec::new();
    reader.take(most.saturating_add(1)).read_to_end(&mut text)?;
    Ok(text)
}

/// The manifests below a folder, by name.
pub(crate) fn manifests(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, MAX_DEPTH, &mut files)?;
    Ok(files)
}

/// Whether a file is named as manifests are.
pub(crate) fn is_manifest(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Reads files, each once.
pub(crate) fn read_files(files: Vec<PathBuf>) -> Result<Vec<Source>> {
    read_once(files, true, &mut BTreeSet::new())
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        bail!("folders below `{}` are nested too deeply", folder.display());
    };
    let unreadable = || format!("folder `{}` cannot be read", folder.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        entries.push(entry.with_context(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        let is_manifest = is_manifest(&path);
        // A dangling link that is no manifest is nobody's concern.
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() && leads_back(&path) => {}
            Ok(metadata) if metadata.is_dir() => collect(&path, depth, files)?,
            Err(error) if is_manifest => {
                return Err(error).with_context(|| format!("`{}` cannot be read", path.display()));
            }
            Ok(_) if is_manifest => files.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether a path is a link to a folder that it is in.
fn leads_back(path: &Path) -> bool {
    let above = || fs::canonicalize(path.parent()?).ok();
    path.is_symlink()
        && fs::canonicalize(path).is_ok_and(|target| above().is_some_and(|above| above.starts_with(target)))
}
