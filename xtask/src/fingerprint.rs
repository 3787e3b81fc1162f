//! What a step was made from, so that it can be skipped when nothing changed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Workspace;

/// Folders that hold results or foreign code, never inputs.
const SKIPPED: [&str; 6] = ["target", "node_modules", "dist", "test-results", "playwright-report", ".git"];

/// A hash (FNV-1a, 128 bits) over the names and bytes of files; equal on every machine for equal inputs.
#[derive(Clone, Debug)]
pub struct Fingerprint(u128);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fingerprint {
    /// The fingerprint of files and folders below the checkout. A path that does not exist counts as empty.
    ///
    /// # Errors
    ///
    /// When one of the files cannot be read.
    pub fn of(workspace: &Workspace, paths: &[&str]) -> Result<Self> {
        let mut made = Self::default();
        for file in files(workspace, paths)? {
            let name = file.strip_prefix(workspace.root()).unwrap_or(&file);
            made.add(name.to_string_lossy().as_bytes());
            made.add(&fs::read(&file).with_context(|| format!("`{}` cannot be read", file.display()))?);
        }
        Ok(made)
    }

    /// Mixes in one more piece; its length counts, so that pieces do not run into each other.
    pub fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// Whether `output` exists and was made from this. Its fingerprint lies beside it, with `.inputs` added.
    #[must_use]
    pub fn is_of(&self, output: &Path) -> bool {
        output.exists() && fs::read_to_string(beside(output)).is_ok_and(|text| text == self.text())
    }

    /// Notes that `output` was made from this.
    ///
    /// # Errors
    ///
    /// When the note cannot be written.
    pub fn note(&self, output: &Path) -> Result<()> {
        let path = beside(output);
        fs::write(&path, self.text()).with_context(|| format!("`{}` cannot be written", path.display()))
    }

    fn text(&self) -> String {
        format!("{:032x}\n", self.0)
    }
}

fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".inputs");
    name.into()
}

/// All files below the paths, sorted. Links are not followed.
///
/// # Errors
///
/// When a folder cannot be listed.
pub fn files(workspace: &Workspace, paths: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = paths.iter().map(|path| workspace.path(path)).collect();
    while let Some(path) = open.pop() {
        let Ok(kind) = fs::symlink_metadata(&path).map(|data| data.file_type()) else { continue };
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() {
            for entry in fs::read_dir(&path).with_context(|| format!("`{}` cannot be listed", path.display()))? {
                let entry = entry?;
                if !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                    open.push(entry.path());
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Holds a lock file until dropped, so that two builds of the same thing wait for each other.
///
/// # Errors
///
/// When the folder or the file cannot be made.
pub fn lock(folder: &Path, name: &str) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    let path = folder.join(name);
    let file = File::create(&path).with_context(|| format!("`{}` cannot be made", path.display()))?;
    file.lock().with_context(|| format!("`{}` cannot be locked", path.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let (mut left, mut right) = (Fingerprint::default(), Fingerprint::default());
        left.add(b"ab");
        left.add(b"c");
        right.add(b"a");
        right.add(b"bc");
        assert_ne!(left.text(), right.text());
    }

    #[test]
    fn a_changed_input_asks_for_a_new_build() {
        let folder = std::env::temp_dir().join(format!("apportion-xtask-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let output = folder.join("made");
        let mut print = Fingerprint::default();
        assert!(!print.is_of(&output));
        fs::write(&output, "x").unwrap();
        assert!(!print.is_of(&output));
        print.note(&output).unwrap();
        assert!(print.is_of(&output));
        print.add(b"more");
        assert!(!print.is_of(&output));
        fs::remove_dir_all(&folder).unwrap();
    }
}
