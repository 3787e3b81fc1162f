//! `apportion convert`.

use std::fs;
use std::io;

use anyhow::{Context, Result, bail};
use apportion::{Error, Validate};
use apportion_core::finding::{Code, Finding};
use apportion_yaml::{Limits, Reading, rewrite};
use clap::Args;

use crate::cli::arguments::{FileArguments, KubernetesArguments, LookArguments};
use crate::cli::diagnose::diagnose;
use crate::cli::files::{STDIN, Source};
use crate::cli::note::numbers;
use crate::cli::pen::Pen;
use crate::cli::read::of_sources;
use crate::cli::shown::{Shown, Verdict};
use crate::cli::text;
use crate::cli::validators::Validators;

const EXAMPLE: &str = "\
Example:
  apportion convert -f old.yaml --to v1 > new.yaml
  apportion convert -f manifests/ --to v1 --in-place";

/// Rewrite manifests for another version of their API, comments kept where the text allows
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    input: FileArguments,
    /// The version that the objects are to have
    #[arg(long, value_name = "VERSION", default_value = "v1")]
    to: String,
    /// Write the files instead of standard output
    #[arg(long)]
    in_place: bool,
    #[command(flatten)]
    kubernetes: KubernetesArguments,
    #[command(flatten)]
    view: LookArguments,
}

pub(super) fn convert(arguments: &ConvertArguments) -> Result<Shown> {
    let mut validator = Validators::new(&arguments.kubernetes)?.make();
    let sources = arguments.input.read()?;
    if arguments.in_place && sources.iter().any(|source| source.name == STDIN) {
        bail!("standard input cannot be written in place: leave `--in-place` out");
    }
    let mut stdout = Vec::new();
    let (mut findings, mut changed) = (Vec::new(), 0_usize);
    for source in &sources {
        let (converted, reading, told) = of_file(validator.as_mut(), source, &arguments.to)?;
        if converted != *source.text {
            changed = changed.saturating_add(1);
            if arguments.in_place {
                fs::write(&source.name, &converted).with_context(|| format!("`{}` cannot be written", source.name))?;
            }
        }
        if !arguments.in_place {
            append(&mut stdout, &converted);
        }
        let usable = reading.documents.iter().zip(told).filter(|(document, _)| !document.is_refused);
        findings.extend(usable.map(|(_, told)| told));
    }
    let input = of_sources(sources);
    let notes = input.notes(findings, Vec::new());
    let mut stderr = diagnose(&notes, &input.sources, Pen::new(&arguments.view, &io::stderr()), arguments.view.verbose);
    if arguments.in_place {
        stderr.push_str(&format!("{changed} of {} changed\n", text::count(input.sources.len(), "file")));
    }
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    Ok(Shown { stdout: stdout.into(), stderr, verdict: Verdict::of(numbers(&notes).0 == 0) })
}

/// Several files on one stream are documents of one.
fn append(stdout: &mut Vec<u8>, text: &[u8]) {
    let is_json = matches!(text.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'['));
    if !stdout.is_empty() && !is_json && !text.starts_with(b"---") {
        stdout.extend_from_slice(b"---\n");
    }
    stdout.extend_from_slice(text);
    if !stdout.ends_with(b"\n") {
        stdout.push(b'\n');
    }
}

/// The converted text of a file, what was read of it, and what there is to say by document.
fn of_file(
    validator: &mut dyn Validate,
    source: &Source,
    version: &str,
) -> Result<(Vec<u8>, Reading, Vec<Vec<Finding>>)> {
    let reading = apportion_yaml::read(&source.text, &Limits::default());
    let (mut values, mut findings) = (Vec::new(), Vec::new());
    for document in &reading.documents {
        // What kubectl refuses as text stays as it is.
        let converted = match document.is_refused {
            true => Ok(document.value.clone()),
            false => validator.convert(document.value.clone(), version),
        };
        let (value, told) = match converted {
            Ok(value) => (value, Vec::new()),
            Err(Error::Refused(told)) => (document.value.clone(), told),
            Err(error) => return Err(error.into()),
        };
        values.push(value);
        findings.push(told);
    }
    let Some(rewritten) = rewrite(&source.text, &reading, &values) else {
        // The text is as it was: nothing is lost.
        if let Some(first) = findings.first_mut() {
            let message = "the converted objects cannot be written into this file";
            let hint = "give each object a file of its own";
            first.push(Finding::new(Code::Internal, "", message).with_hint(hint));
        }
        return Ok((source.text.to_vec(), reading, findings));
    };
    for index in &rewritten.anew {
        let message = "the layout of this object does not allow a change in place: its comments are lost";
        if let Some(told) = findings.get_mut(*index) {
            told.push(Finding::new(Code::ConvertWrittenAnew, "", message));
        }
    }
    Ok((rewritten.text, reading, findings))
}

#[cfg(test)]
mod tests {
    use apportion::NativeValidator;
    use apportion_core::profile::Profile;

    use super::*;

    #[test]
    fn what_is_current_keeps_its_bytes() {
        let text = b"# c\napiVersion: v1\nkind:   Pod\nmetadata: {name: a}\n".to_vec();
        let source = Source::new("a.yaml".to_owned(), text);
        let (text, _, findings) = of_file(&mut NativeValidator(Profile::default()), &source, "v1").unwrap();
        assert_eq!(text, *source.text);
        assert!(findings.iter().all(Vec::is_empty));
    }
}
