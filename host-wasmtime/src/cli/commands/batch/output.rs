//! Where answers go, and what is there already.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Shard;
use super::tally::Tally;

/// A file, or standard output.
pub(super) struct Output {
    to: Box<dyn Write>,
    before: Tally,
}

impl Output {
    pub(super) fn stdout() -> Self {
        Self { to: Box::new(io::stdout()), before: Tally::default() }
    }

    /// A file that is not there yet, or one that an earlier run of the same shard left.
    pub(super) fn file(path: &Path, resume: bool, shard: Shard) -> Result<Self> {
        if !resume {
            return Ok(Self { to: Box::new(new_file(path)?), before: Tally::default() });
        }
        let name = path.display();
        let cannot = || format!("`{name}` cannot be gone on with");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).with_context(cannot)?;
        let (mut file, mut before, mut end) = (BufReader::new(file), Tally::default(), 0_u64);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line).with_context(cannot)?;
            // The end, or a line that was being written when the run was killed.
            if line.pop_if(|byte| *byte == b'\n').is_none() {
                break;
            }
            let number = before.lines.saturating_add(1);
            let wanted = before.lines.checked_mul(shard.of).and_then(|lines| lines.checked_add(shard.index));
            let index = std::str::from_utf8(&line).ok().and_then(|line| before.add(line).ok());
            if index.is_none() || index != wanted {
                bail!(
                    "line {} of `{name}` is no answer that shard {}/{} would have there: it is the output of something else",
                    number,
                    shard.index,
                    shard.of
                );
            }
            end = end.saturating_add(u64::try_from(length)?);
        }
        let mut file = file.into_inner();
        file.set_len(end).with_context(cannot)?;
        file.seek(SeekFrom::Start(end)).with_context(cannot)?;
        Ok(Self { to: Box::new(file), before })
    }

    /// What an earlier run answered.
    pub(super) const fn before(&self) -> &Tally {
        &self.before
    }

    /// Writes an answer whole: who reads along sees it at once, and a run that is killed has not lost it.
    pub(super) fn write(&mut self, answer: &str) -> io::Result<()> {
        self.to.write_all(format!("{answer}\n").as_bytes())?;
        self.to.flush()
    }
}

/// A file that is not there yet, or empty.
pub(super) fn new_file(path: &Path) -> Result<File> {
    let name = path.display();
    if path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0) {
        bail!("`{name}` is there already: remove it, or go on with it by `--resume`");
    }
    File::create(path).with_context(|| format!("`{name}` cannot be written"))
}
