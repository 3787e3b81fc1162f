//! Cases that a seed makes: the recording keeps a line of each, what the reference answered as a digest.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::door::Door;
use crate::reference::Release;
use crate::{allocator, cel, differential, generate};

/// What a seed makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An allocation problem.
    Scenarios,
    /// A CEL expression and a device.
    Selectors,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Scenarios, Self::Selectors];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scenarios => "scenarios",
            Self::Selectors => "selectors",
        }
    }

    /// The case of a seed.
    pub fn make(self, seed: u64, release: Release) -> Value {
        match self {
            Self::Scenarios => generate::scenario(seed, release),
            Self::Selectors => generate::selector(seed, release),
        }
    }

    fn essence(self, outcome: &Value, case: &Value) -> Value {
        match self {
            Self::Scenarios => allocator::essence(outcome, case),
            Self::Selectors => cel::essence(outcome),
        }
    }
}

/// The recorded line of a seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The seed.
    pub seed: u64,
    /// Digest of the case, so that a changed generator is told from a changed answer.
    pub case: String,
    /// What the reference came to, in a word.
    pub status: String,
    /// Digest of what counts of the outcome.
    pub outcome: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.seed, self.case, self.status, self.outcome)
    }
}

/// The recorded lines of a kind and a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// What the seeds make.
    pub kind: Kind,
    /// Who answered.
    pub release: Release,
    /// The seeds in ascending order.
    pub lines: Vec<Line>,
}

impl Recording {
    /// Asks the reference about seeds. Those that it does not finish are left out.
    ///
    /// # Errors
    ///
    /// When the reference does not build or breaks.
    pub fn record(root: &Path, kind: Kind, release: Release, seeds: impl Iterator<Item = u64>) -> Result<Self> {
        let seeds: Vec<u64> = seeds.collect();
        let mut lines = Vec::new();
        for seeds in seeds.chunks(1000) {
            let cases = seeds.iter().map(|seed| kind.make(*seed, release)).collect();
            let cases = differential::with_outcomes(root, release, cases)?;
            for (seed, mut case) in seeds.iter().zip(cases).filter(|(_, case)| differential::is_finished(case)) {
                let expected = case.as_object_mut().and_then(|case| case.remove("expected")).unwrap_or_default();
                lines.push(Line {
                    seed: *seed,
                    case: digest(&case),
                    status: expected.get("status").and_then(Value::as_str).unwrap_or_default().to_owned(),
                    outcome: digest(&kind.essence(&expected, &case)),
                });
            }
        }
        Ok(Self { kind, release, lines })
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}-{}.txt", self.kind.name(), self.release)
    }

    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// When it is not one, of another generator than this, or empty.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [kind, "of", release, "generator", generator] = head.as_slice() else {
            anyhow::bail!("the first line is `{}`, not `KIND of RELEASE generator N`", head.join(" "));
        };
        let kind = Kind::ALL.into_iter().find(|known| known.name() == *kind).context("there is no such kind")?;
        let release = Release::parse(release).context("there is no such release")?;
        let is_current = *generator == generate::GENERATOR.to_string();
        ensure!(is_current, "recorded with generator {generator}, this is {}: record it again", generate::GENERATOR);
        let lines: Result<Vec<Line>> = lines.map(line).collect();
        let lines = lines?;
        ensure!(!lines.is_empty(), "no seed is recorded");
        Ok(Self { kind, release, lines })
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} of {} generator {}", self.kind.name(), self.release, generate::GENERATOR)?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

fn line(text: &str) -> Result<Line> {
    let words: Vec<&str> = text.split(' ').collect();
    let [seed, case, status, outcome] = words.as_slice() else { anyhow::bail!("`{text}` has not four words") };
    let own = |text: &&str| (*text).to_owned();
    Ok(Line {
        seed: seed.parse().with_context(|| format!("`{seed}` is no seed"))?,
        case: own(case),
        status: own(status),
        outcome: own(outcome),
    })
}

/// Asks a door about a recorded seed. Gives the raw answer beside the verdict.
///
/// # Errors
///
/// What differs, in one line.
pub fn check(kind: Kind, release: Release, line: &Line, door: &mut dyn Door) -> (String, Result<(), String>) {
    let case = kind.make(line.seed, release);
    if digest(&case) != line.case {
        return (
            String::new(),
            Err("the generator makes another case of this seed: raise GENERATOR, record again".to_owned()),
        );
    }
    let mut answers = String::new();
    let result = judge(kind, &case, line, door, &mut answers);
    (answers, result)
}

fn judge(kind: Kind, case: &Value, line: &Line, door: &mut dyn Door, answers: &mut String) -> Result<(), String> {
    let agrees = |answer: &str| {
        let got = match kind {
            Kind::Scenarios => allocator::outcome(answer, case)?,
            Kind::Selectors => cel::outcome(answer)?,
        };
        let is_same = digest(&got) == line.outcome;
        is_same.then_some(()).ok_or_else(|| format!("expected another `{}`, got {got}", line.status))
    };
    let mut ask = |asked| {
        let answer = door.ask(&asked).map_err(|error| error.to_string())?;
        answers.push_str(&answer);
        Ok::<_, String>(answer)
    };
    match kind {
        Kind::Scenarios => differential::scenario(case, &mut ask, &agrees).map(drop),
        Kind::Selectors => agrees(&ask(cel::asked(case))?),
    }
}

/// A short digest of a JSON value.
pub(crate) fn digest(value: &Value) -> String {
    let bytes = Sha256::digest(json!(value).to_string());
    bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_as_it_is_written() {
        let line = Line { seed: 7, case: "aa".to_owned(), status: "none".to_owned(), outcome: "bb".to_owned() };
        let recording = Recording { kind: Kind::Selectors, release: Release::V1_36, lines: vec![line] };
        assert_eq!(Recording::parse(&recording.to_string()).unwrap(), recording);
    }

    #[test]
    fn an_empty_recording_and_one_of_another_generator_fail() {
        let head = format!("scenarios of 1.36.6 generator {}", generate::GENERATOR);
        assert!(Recording::parse(&head).unwrap_err().to_string().contains("no seed"));
        let other = "scenarios of 1.36.6 generator 0\n7 aa none bb\n";
        assert!(Recording::parse(other).unwrap_err().to_string().contains("record it again"));
    }
}
