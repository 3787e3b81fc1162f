//! What a command prints, and its answer in one word.

use std::io::{self, Write};

use anyhow::Result;

use super::text::clean_painted;

/// The answer in one word; the exit code says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Everything was satisfied.
    Yes,
    /// Something is wrong with the input, or stays Pending.
    No,
}

impl Verdict {
    pub(crate) const fn of(is_fine: bool) -> Self {
        if is_fine { Self::Yes } else { Self::No }
    }
}

/// What a command prints.
pub(crate) struct Shown {
    /// The answer.
    pub(crate) stdout: Stdout,
    /// Everything else.
    pub(crate) stderr: String,
    pub(crate) verdict: Verdict,
}

/// An answer.
pub(crate) enum Stdout {
    Text(String),
    /// Written piece by piece: as one text it would take more room than all that it is about.
    Pieces(Box<Writing>),
}

/// What writes an answer.
type Writing = dyn FnOnce(&mut dyn Write) -> io::Result<()>;

impl From<String> for Stdout {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Shown {
    /// An answer with nothing beside it.
    pub(crate) fn text(text: String) -> Self {
        Self { stdout: text.into(), stderr: String::new(), verdict: Verdict::Yes }
    }

    /// Writes both streams. A reader that has seen enough is no failure.
    pub(crate) fn print(self) -> Result<Verdict> {
        let quietly = |written: io::Result<()>| match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        };
        quietly(io::stderr().write_all(clean_painted(&self.stderr).as_bytes()))?;
        let mut stdout = io::stdout().lock();
        let written = match self.stdout {
            Stdout::Text(text) => stdout.write_all(text.as_bytes()),
            Stdout::Pieces(write) => write(&mut stdout),
        };
        quietly(written.and_then(|()| stdout.flush()))?;
        Ok(self.verdict)
    }
}

/// Errors of the input that explain why something that a user named is not there: they are the answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InputErrors(pub(crate) String);

impl From<InputErrors> for Shown {
    fn from(InputErrors(stderr): InputErrors) -> Self {
        Self { stdout: String::new().into(), stderr, verdict: Verdict::No }
    }
}
