//! `apportion explain`: why something is Pending; with a code, what that means.

use std::io;

use anyhow::{Result, anyhow, bail};
use apportion_core::ask::Inquiry;
use apportion_core::explain::{Change, Explanation, Request, State};
use apportion_core::finding::{Code, Finding, ObjectRef, Severity};
use apportion_yaml::{ProblemCode, Severity as YamlSeverity};
use serde_json::{Value, json};

use super::args::{ExplainArguments, Output};
use super::diagnose::diagnose;
use super::pen::{Ink, Pen};
use super::{Shown, Verdict, ask, input, machine, show_explain, text};
use crate::api_server::READ;

struct Entry {
    code: &'static str,
    severity: &'static str,
    paragraph: &'static str,
}

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Shown> {
    let has_objects = arguments.cluster.from_cluster || !arguments.files.is_empty();
    if has_objects { cluster(arguments) } else { codes(arguments) }
}

/// Why something in manifests is Pending.
fn cluster(arguments: &ExplainArguments) -> Result<Shown> {
    let view = &arguments.view;
    let request = Request {
        subject: subject(arguments),
        nodes: arguments.nodes.clone(),
        device: arguments.device.clone(),
        suggestions: true,
    };
    let mut door = ask::cluster(&arguments.engine)?;
    let input = input::gather(&arguments.files, &arguments.cluster, &READ)?;
    let taken = input.apply(door.as_mut())?;
    let asked = ask::inquire(door.as_mut(), &Inquiry::Explain(request), (&input, &taken), &view.look)?;
    let answer = match asked {
        Ok(answer) => answer,
        Err(shown) => return Ok(shown),
    };
    let explanations: Vec<Explanation> = serde_json::from_value(answer.clone())?;
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(&view.look, &io::stderr()), view.look.verbose);
    if let Some(number) = arguments.apply {
        let stdout = applied(&explanations, number)?;
        return Ok(Shown { stdout: stdout.into(), stderr, verdict: taken.verdict(true) });
    }
    let stdout = match view.output {
        Output::Table if explanations.is_empty() => match taken.problems() {
            Some(problems) if taken.has_errors() => format!("Nothing that was read is Pending. {problems}\n"),
            _ => "Nothing is Pending.\n".to_owned(),
        },
        Output::Table => show_explain::show(&explanations, Pen::new(&view.look, &io::stdout())),
        Output::Json | Output::Yaml => {
            let body = json!({ "input": machine::input(&input, &taken), "explanations": answer });
            machine::write("Explanations", &arguments.engine, body, view.output)
        }
    };
    let is_fine = |one: &Explanation| matches!(one.state, State::Placed | State::Fits);
    let verdict = taken.verdict(explanations.iter().all(is_fine));
    ask::with_remarks(Shown { stdout: stdout.into(), stderr, verdict }, door.as_mut())
}

/// What the user named.
fn subject(arguments: &ExplainArguments) -> Option<ObjectRef> {
    let named = [
        ("ResourceClaim", &arguments.claim),
        ("Pod", &arguments.pod),
        ("PodGroup", &arguments.podgroup),
        ("ResourceClaimTemplate", &arguments.claim_template),
    ];
    named.into_iter().find_map(|(kind, name)| {
        let name = name.as_ref()?;
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        Some(ObjectRef { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
    })
}

/// An inquiry that names what is not there is a mistake in the arguments.
pub(crate) fn refused(error: apportion::Error) -> anyhow::Error {
    let apportion::Error::Refused(findings) = &error else { return error.into() };
    let Some(Finding { message, hint, .. }) = findings.first() else { return error.into() };
    match hint {
        Some(hint) => anyhow!("{message}; {hint}"),
        None => anyhow!("{message}"),
    }
}

/// The manifests of a suggestion, or the setting or command.
fn applied(explanations: &[Explanation], number: usize) -> Result<String> {
    let [explanation] = explanations else {
        bail!("`--apply` needs one Pod, claim or PodGroup to be named, {} are Pending", explanations.len());
    };
    let suggestion = number.checked_sub(1).and_then(|index| explanation.suggestions.get(index));
    let Some(suggestion) = suggestion else {
        bail!("there are {} suggestions, none is number {number}", explanation.suggestions.len());
    };
    let gates: Vec<String> = suggestion.changes.iter().filter_map(setting).collect();
    if !gates.is_empty() {
        return Ok(format!("--feature-gates={}\n", gates.join(",")));
    }
    if let [Change::Uncordon { node }] = suggestion.changes.as_slice() {
        return Ok(format!("kubectl uncordon {node}\n"));
    }
    if suggestion.manifests.is_empty() {
        bail!("suggestion {number} changes no manifest: {}", suggestion.text);
    }
    let texts: Vec<String> = suggestion.manifests.iter().map(apportion_yaml::write).collect();
    Ok(texts.join("---\n"))
}

/// A feature gate as the arguments of Kubernetes' programs, and of this one, spell it.
fn setting(change: &Change) -> Option<String> {
    match change {
        Change::EnableGate { gate } => Some(format!("{gate}=true")),
        _ => None,
    }
}

/// What codes mean.
fn codes(arguments: &ExplainArguments) -> Result<Shown> {
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
    Ok(Shown { stdout: stdout.into(), stderr: String::new(), verdict: Verdict::Yes })
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
