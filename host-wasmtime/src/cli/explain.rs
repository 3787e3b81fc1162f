//! `apportion explain`: what a code means.

use std::io;

use anyhow::{Result, bail};
use apportion_core::finding::{Code, Severity};
use apportion_yaml::{ProblemCode, Severity as YamlSeverity};
use serde_json::{Value, json};

use super::args::{ExplainArguments, Output};
use super::pen::{Ink, Pen};
use super::{Shown, Verdict, machine, text};

struct Entry {
    code: &'static str,
    severity: &'static str,
    paragraph: &'static str,
}

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Shown> {
    let pen = Pen::new(&arguments.view.look, &io::stdout());
    let entries = entries();
    let chosen: Vec<&Entry> = match &arguments.code {
        None => entries.iter().collect(),
        Some(code) => entries.iter().filter(|entry| entry.code == code).collect(),
    };
    if let (Some(code), []) = (&arguments.code, chosen.as_slice()) {
        let ending = code.rsplit('/').next().unwrap_or(code);
        let alike: Vec<String> = entries
            .iter()
            .filter(|entry| entry.code.contains(ending))
            .map(|entry| format!("`{}`", entry.code))
            .collect();
        let known = if alike.is_empty() || ending.is_empty() {
            "`apportion explain` lists all".to_owned()
        } else {
            format!("did you mean {}?", alike.join(" or "))
        };
        bail!("there is no code `{code}`; {known}");
    }
    let stdout = match arguments.view.output {
        Output::Json | Output::Yaml => {
            let codes: Vec<Value> = chosen
                .iter()
                .map(|entry| json!({ "code": entry.code, "severity": entry.severity, "paragraph": entry.paragraph }))
                .collect();
            let value = json!({ "format": machine::FORMAT, "kind": "Codes", "codes": codes });
            machine::text(&value, arguments.view.output)
        }
        Output::Table => match arguments.code {
            Some(_) => chosen.iter().map(|entry| paragraph(entry, pen)).collect(),
            None => {
                let rows: Vec<Vec<String>> =
                    chosen.iter().map(|entry| vec![entry.code.to_owned(), entry.severity.to_owned()]).collect();
                text::table(&rows, &[]).into_iter().map(|line| format!("{line}\n")).collect()
            }
        },
    };
    Ok(Shown { stdout, stderr: String::new(), verdict: Verdict::Yes })
}

/// What a code means, in a paragraph.
pub(crate) fn paragraph_of(code: &str) -> Option<&'static str> {
    entries().into_iter().find(|entry| entry.code == code).map(|entry| entry.paragraph)
}

fn paragraph(entry: &Entry, pen: Pen) -> String {
    let title = format!("{} ({})", pen.paint(Ink::Strong, entry.code), entry.severity);
    format!("{title}\n\n{}\n", text::wrap(entry.paragraph, text::WIDTH).join("\n"))
}

fn entries() -> Vec<Entry> {
    let findings = Code::ALL.iter().map(|code| Entry {
        code: code.text(),
        severity: match code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        },
        paragraph: code.paragraph(),
    });
    let problems = ProblemCode::ALL.iter().map(|code| Entry {
        code: code.text(),
        severity: match code.severity() {
            YamlSeverity::Error => "error",
            YamlSeverity::Warning => "warning",
        },
        paragraph: code.paragraph(),
    });
    problems.chain(findings).collect()
}
