//! The list of cases that do not pass yet. It can only shrink: a listed case that passes fails the run.

use std::collections::BTreeSet;

use crate::Verdict;

/// Ids that are allowed to fail.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline(BTreeSet<String>);

impl Baseline {
    /// Reads one id per line; `#` starts a comment.
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// The verdict with the list applied: a listed failure passes, a listed success fails.
    pub fn judge(&self, verdict: Verdict) -> Verdict {
        let listed = self.0.contains(&verdict.id);
        let failure = match (listed, verdict.failure) {
            (true, Some(_)) => None,
            (true, None) => Some("passes, but is listed in the baseline: remove it there".to_owned()),
            (false, failure) => failure,
        };
        Verdict { id: verdict.id, failure }
    }

    /// How many cases are listed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_case_that_passes_fails_the_run() {
        let baseline = Baseline::parse("a # why\n\n# only a comment\n");
        assert_eq!(baseline.len(), 1);
        assert!(baseline.judge(Verdict::new("a", Ok(()))).failure.is_some());
        assert!(baseline.judge(Verdict::new("a", Err("no".into()))).failure.is_none());
        assert!(baseline.judge(Verdict::new("b", Err("no".into()))).failure.is_some());
    }
}
