//! A suggestion as what a person does: steps with commands, and the manifests that these read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use apportion_core::explain::{Change, Step, Suggestion};

use crate::cli::text::clean;

/// The arguments of a suggestion that is a setting.
fn settings(suggestion: &Suggestion) -> Option<String> {
    let setting = |change: &Change| match change {
        Change::EnableGate { gate } => Some(format!("{gate}=true")),
        _ => None,
    };
    let gates: Vec<String> = suggestion.changes.iter().filter_map(setting).collect();
    (!gates.is_empty()).then(|| format!("--feature-gates={}\n", gates.join(",")))
}

/// The steps as comments above the manifests; where there is nothing to write, the commands alone. What is printed can be given to
/// `run` beside the input.
pub(super) fn printed(suggestion: &Suggestion, number: usize) -> Result<String> {
    if let Some(settings) = settings(suggestion) {
        return Ok(settings);
    }
    let steps = &suggestion.steps;
    let manifests: Vec<String> =
        steps.iter().filter_map(|step| step.manifest.as_ref()).map(apportion_yaml::write).collect();
    let commands: Vec<&String> = steps.iter().filter_map(|step| step.command.as_ref()).collect();
    if commands.is_empty() {
        bail!("no command does suggestion {number}: {}", suggestion.text);
    }
    if manifests.is_empty() {
        return Ok(commands.into_iter().map(|command| format!("{command}\n")).collect());
    }
    let mut text = String::new();
    let is_plain = steps.iter().all(|step| step.command.as_deref() == Some("kubectl apply -f -"));
    for (index, step) in steps.iter().enumerate().filter(|_| !is_plain) {
        text.push_str(&format!("# {}. {}\n", index.saturating_add(1), one_line(&step.text)));
        if let Some(command) = &step.command {
            text.push_str(&format!("#    {}\n", clean(command)));
        }
    }
    text.push_str(&manifests.join("---\n"));
    Ok(text)
}

/// Writes the manifest of each step, and the commands, into a folder; what was written.
pub(super) fn written(suggestion: &Suggestion, folder: &Path) -> Result<String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("`{}` cannot be written", path.display()))
    };
    fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    let mut script = "#!/bin/sh\nset -eu\ncd \"$(dirname \"$0\")\"\n".to_owned();
    let mut names = Vec::new();
    for (index, step) in suggestion.steps.iter().enumerate() {
        let number = index.saturating_add(1);
        script.push_str(&format!("\n# {number}. {}\n", one_line(&step.text)));
        let Step { command, manifest, .. } = step;
        let Some(command) = command else {
            script.push_str("# No command does this.\n");
            continue;
        };
        match manifest {
            Some(manifest) => {
                let name = format!("step-{number}.yaml");
                write(&name, &apportion_yaml::write(manifest))?;
                let from_file = command.strip_suffix(" -").unwrap_or(command);
                script.push_str(&format!("{from_file} {name}\n"));
                names.push(name);
            }
            None => script.push_str(&format!("{command}\n")),
        }
    }
    write("steps.sh", &script)?;
    names.push("steps.sh".to_owned());
    Ok(names.iter().map(|name| format!("{}\n", folder.join(name).display())).collect())
}

/// Text of the user's in a comment of a script.
fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\r'], " ")
}
