//! Pages that the program and the sources write.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::output;

/// The help of every command.
pub(super) fn commands(program: &Path) -> Result<String> {
    let mut text = String::from("# Commands\n\nThis is what `apportion COMMAND --help` prints.\n");
    let mut open = vec![Vec::<String>::new()];
    while let Some(command) = open.pop() {
        let help = output(Command::new(program).env("COLUMNS", "100").args(&command).arg("--help"));
        let help = help.with_context(|| format!("`apportion {} --help` fails", command.join(" ")))?;
        let name = format!("apportion {}", command.join(" "));
        text.push_str(&format!("\n## {}\n\n```text\n{help}\n```\n", name.trim_end()));
        for below in below(&help).into_iter().rev().filter(|name| *name != "help") {
            open.push([command.as_slice(), &[below.to_owned()]].concat());
        }
    }
    Ok(text)
}

/// Names of the commands that a help lists.
fn below(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next()).collect()
}

/// Every code of a finding, with what it means.
pub(super) fn codes(program: &Path) -> Result<String> {
    let json = output(Command::new(program).args(["explain", "-o", "json"])).context("`apportion explain` fails")?;
    let document: Value = serde_json::from_str(&json).context("`apportion explain -o json` is no JSON")?;
    let codes = document.get("codes").and_then(Value::as_array).context("the codes are missing")?;
    let mut text =
        String::from("# Codes of findings\n\nThis is what `apportion explain CODE` prints. A code is never renamed.\n");
    for code in codes {
        let field = |name: &str| field(code, name);
        text.push_str(&format!("\n## `{}`\n\n*{}.* {}\n\n", field("code"), field("severity"), field("paragraph")));
        text.push_str(&format!(
            "- About: {}\n- Way out: {}\n- Rule: {}\n",
            field("about"),
            field("wayOut"),
            field("rule")
        ));
        if let Some(occurs) = code.get("occurs").and_then(Value::as_str) {
            text.push_str(&format!("- Occurs: {occurs}\n"));
        }
        code.get("example").into_iter().for_each(|found| text.push_str(&example(found)));
    }
    Ok(text)
}

fn field<'v>(of: &'v Value, name: &str) -> &'v str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The example of a code, folded up.
fn example(example: &Value) -> String {
    let command = field(example, "command");
    let mut text = format!("\n<details>\n<summary>Example: <code>apportion {command}</code></summary>\n");
    for file in example.get("files").and_then(Value::as_array).into_iter().flatten() {
        let lines: String =
            field(file, "text").chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
        text.push_str(&format!("\n`{}`:\n\n```yaml\n{}\n```\n", field(file, "name"), lines.trim_end()));
    }
    match (field(example, "change"), field(example, "commandAfter")) {
        ("", after) => text.push_str(&format!("\n`apportion {after}` does not have the finding.\n")),
        (change, _) => {
            let lines: String = change.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
            text.push_str(&format!("\nThis change takes it away:\n\n```diff\n{}\n```\n", lines.trim_end()));
        }
    }
    text + "\n</details>\n"
}

/// The gates with their default in each version, from the table of the core.
pub(super) fn versions(source: &str) -> Result<String> {
    let names = ["1.34", "1.35", "1.36", "1.37"];
    let mut text = format!(
        "# Kubernetes versions\n\n`--kubernetes-version` names a version, `--feature-gates` changes its defaults. `all`, the default, is the newest \
         released version with every gate on. From the last column's version on, a gate cannot be turned off. `1.38` is a preview, as of 1.38.0-beta.0: its defaults are those of 1.37, with \
         `PodGroupPreemptionPolicy` on, as that gate was taken out.\n\n| gate | what it is for | {} | locked from |\n|---|---|{}---|\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let table = source.split_once("\nfeatures! {").map(|(_, rest)| rest).context("the core has no table of gates")?;
    let table = table.split("\n}").next().unwrap_or_default();
    let mut about = String::new();
    let mut rows = 0_usize;
    for line in table.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("/// ") {
            about.push_str(&format!("{words} "));
        } else if let Some((_, rest)) = line.split_once(": \"") {
            let (gates, rest) = rest.split_once('"').with_context(|| format!("`{line}` has no gate"))?;
            let (defaults, lock) = rest.split_once(']').with_context(|| format!("`{line}` has no defaults"))?;
            let defaults: Vec<&str> = defaults.trim_start_matches([',', ' ', '[']).split(' ').collect();
            let lock = lock.trim_matches([' ', ';']).trim_start_matches("locked V").replace('_', ".");
            if defaults.len() != names.len() {
                bail!("`{line}` has not one default for each version");
            }
            let cells: Vec<&str> = defaults.iter().map(|on| if *on == "true" { "on" } else { "off" }).collect();
            let gates: Vec<String> = gates.split(' ').map(|gate| format!("`{gate}`")).collect();
            let (gates, cells) = (gates.join(", "), cells.join(" | "));
            text.push_str(&format!("| {gates} | {} | {cells} | {lock} |\n", about.trim_end()));
            about.clear();
            rows = rows.saturating_add(1);
        }
    }
    if rows == 0 {
        bail!("the table of gates in the core is empty");
    }
    Ok(text)
}

/// A page that is one file.
pub(super) fn listing(title: &str, language: &str, text: &str) -> String {
    format!("# {title}\n\n```{language}\n{}\n```\n", text.trim_end())
}

/// The examples of the playground, each as a link that opens it, and one that runs on the page.
pub(super) fn live(catalogue: &str) -> Result<String> {
    let mut text = String::from(
        "# Examples in the playground\n\nEach link opens the playground with the example and its answer. Nothing leaves your browser.\n\n\
         | example | shows |\n|---|---|\n",
    );
    let rows = catalogue.lines().filter_map(|line| {
        let field = |name: &str| line.split_once(&format!("{name}: \""))?.1.split('"').next();
        Some((field("{ name")?, field(" title")?, field(" shows")?))
    });
    let rows: Vec<String> = rows
        .map(|(name, title, shows)| format!("| [{title}](../playground/index.html#example={name}) | {shows} |\n"))
        .collect();
    if rows.is_empty() {
        bail!("the playground has no examples");
    }
    text.push_str(&rows.concat());
    text.push_str(
        "\n<iframe src=\"../playground/index.html#example=tour\" title=\"The tour in the playground\" loading=\"lazy\" \
         style=\"width: 100%; height: 40rem; border: 1px solid\"></iframe>\n",
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    #[test]
    fn commands_are_read_from_a_help() {
        let help = "Usage: x\n\nCommands:\n  run        Show\n             more\n  what-if    Say\n\nOptions:\n  -h\n";
        assert_eq!(below(help), ["run", "what-if"]);
        assert_eq!(below("Usage: x\n"), [""; 0]);
    }

    #[test]
    fn gates_and_examples_are_read_from_the_sources() {
        let workspace = Workspace::find().unwrap();
        let read = |path: &str| std::fs::read_to_string(workspace.path(path)).unwrap();
        let versions = versions(&read("core/src/profile.rs")).unwrap();
        assert!(versions.contains("| `DRAPartitionableDevices` | Shared counters and per-device node selection (KEP-4815). | off | off | on | on | 1.38 |"));
        assert!(versions.contains("| off | off | off | off |  |\n"));
        let live = live(&read("web/src/windows/catalogue.ts")).unwrap();
        assert!(live.contains("[MIG](../playground/index.html#example=mig)"), "{live}");
    }
}
