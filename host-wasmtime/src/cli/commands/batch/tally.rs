//! Answers counted.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::text::{clean, count};

/// What answers say, in numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Answers in all.
    pub(super) lines: u64,
    /// The `id` of the last one.
    pub(super) last: Value,
    /// The last one as it is written.
    pub(super) last_answer: String,
    /// Lines without an answer, by the code of the first finding.
    failed: BTreeMap<String, u64>,
    /// Objects that were left out.
    refused: u64,
    /// Lines with an answer that is a no.
    unsatisfied: u64,
}

/// Of an answer what is counted.
#[derive(Deserialize)]
struct Answer {
    index: u64,
    id: Value,
    status: String,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    answers: Vec<One>,
    input: Option<Input>,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
}

#[derive(Deserialize)]
struct One {
    satisfied: Option<bool>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Input {
    refused: u64,
}

impl Tally {
    /// One answer more; returns its index.
    pub(super) fn add(&mut self, answer: &str) -> Result<u64> {
        let Answer { index, id, status, findings, answers, input } =
            serde_json::from_str(answer).context("the line is no answer of a batch")?;
        self.lines = self.lines.saturating_add(1);
        self.last = id;
        answer.trim_end().clone_into(&mut self.last_answer);
        self.refused = self.refused.saturating_add(input.map_or(0, |input| input.refused));
        if status != "answered" {
            let first = findings.first().or_else(|| answers.iter().find_map(|one| one.findings.first()));
            let code = first.map(|finding| finding.code.clone()).unwrap_or_default();
            let failed = self.failed.entry(code).or_default();
            *failed = failed.saturating_add(1);
        }
        if answers.iter().any(|one| one.satisfied == Some(false)) {
            self.unsatisfied = self.unsatisfied.saturating_add(1);
        }
        Ok(index)
    }

    /// Whether everything was read and answered, by whatever.
    pub(super) fn is_fine(&self) -> bool {
        self.failed.is_empty() && self.refused == 0
    }

    /// All of it in words. `resumed` answers were there before, the rest took so long.
    pub(super) fn sentence(&self, resumed: u64, stops: u64, took: Duration) -> String {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let failed = self.failed.values().copied().fold(0, u64::saturating_add);
        let mut text =
            format!("{}: {} answered", count(number(self.lines), "cluster"), self.lines.saturating_sub(failed));
        if self.unsatisfied > 0 {
            text.push_str(&format!(" ({} of them with a no)", self.unsatisfied));
        }
        if failed > 0 {
            let codes: Vec<String> = self.failed.iter().map(|(code, number)| format!("{number} {code}")).collect();
            text.push_str(&format!(", {failed} failed ({})", codes.join(", ")));
        }
        if self.refused > 0 {
            text.push_str(&format!(", {} left out", count(number(self.refused), "object")));
        }
        if resumed > 0 {
            text.push_str(&format!("; {resumed} were answered before"));
        }
        if stops > 0 {
            text.push_str(&format!("; the component was made anew {}", count(number(stops), "time")));
        }
        let seconds = took.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a number for people")]
        let pace = self.lines.saturating_sub(resumed) as f64 / seconds.max(0.001);
        format!("{}; {seconds:.1} s, {pace:.1} a second\n", clean(&text))
    }
}
