//! The sources of the site, as the generator reads them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use crate::{Workspace, docs};

/// The generator's settings.
const SETTINGS: &str = r##"[book]
title = "Apportion"
language = "en"
src = "src"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true

[output.html.fold]
enable = true
level = 1
"##;

/// Pages in their order, by their path in the checkout or among the generated ones. A line that begins with `#` is a part.
const CONTENTS: &str = "\
Apportion: README.md
# Begin
Start: docs/start.md
Concepts of DRA: docs/concepts.md
The playground: docs/playground.md
Examples: examples/README.md
Examples in the playground: examples/live.md
# Tutorials
A Pending Pod: docs/tutorials/pending-pod.md
Capacity and changes: docs/tutorials/platform-team.md
Testing a driver's slices: docs/tutorials/driver-author.md
Asking from a program: docs/tutorials/scheduler-author.md
Checks in CI: docs/tutorials/ci.md
Watching a cluster: docs/tutorials/cluster-admin.md
# Reference
Commands: reference/commands.md
Machine formats: docs/formats.md
Codes of findings: reference/codes.md
Kubernetes versions: reference/versions.md
Where answers differ from Kubernetes: docs/reference.md
Go: docs/go.md
The Go package: host-go/README.md
Python: docs/python.md
The npm package: npm/README.md
Embedding the picture: docs/embedding.md
Agents: docs/agents.md
Skill of an agent: docs/SKILL.md
Cases for agents: docs/agent-cases.md
Types of the npm package: reference/npm.md
The contract of the component: reference/wit.md
What versions promise: docs/compatibility.md
# Operations
Operating the controller: docs/operations.md
Many clusters at once: docs/fleets.md
Security: SECURITY.md
# Background
Other tools: docs/comparison.md
Benchmarks: docs/benchmarks.md
Search: docs/search.md
Architecture: ARCHITECTURE.md
Tests: docs/testing.md
The corpus: tests/conformance/README.md
Requirements: docs/requirements.md
Changes: CHANGELOG.md
Contributing: CONTRIBUTING.md
Code of conduct: CODE_OF_CONDUCT.md
Releasing: docs/releasing.md
Governance: GOVERNANCE.md
";

/// Writes settings, contents and all pages below `to`.
pub(super) fn write(workspace: &Workspace, to: &Path, generated: &[(&str, String)]) -> Result<()> {
    let source = to.join("src");
    put(&to.join("book.toml"), SETTINGS)?;
    put(&source.join("SUMMARY.md"), &summary())?;
    let pages: BTreeSet<PathBuf> = pages().map(PathBuf::from).collect();
    for path in &pages {
        let made = generated.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| text);
        let Some(made) = made else {
            let text = fs::read_to_string(workspace.root().join(path));
            let text = text.with_context(|| format!("`{}` of the site cannot be read", path.display()))?;
            put(&source.join(path), &taken(workspace, &source, path, &text, &pages)?)?;
            continue;
        };
        put(&source.join(path), made)?;
    }
    Ok(())
}

fn pages() -> impl Iterator<Item = &'static str> {
    CONTENTS.lines().filter_map(|line| line.split_once(": ").map(|(_, path)| path))
}

fn summary() -> String {
    let line = |line: &str| match (line.strip_prefix("# "), line.split_once(": ")) {
        (Some(part), _) => format!("\n# {part}\n\n"),
        (None, Some((title, "README.md"))) => format!("[{title}](README.md)\n"),
        (None, Some((title, path))) => format!("- [{title}]({path})\n"),
        (None, None) => String::new(),
    };
    CONTENTS.lines().map(line).collect()
}

/// A page for the site: a link to another page stays a link, a file that is linked comes along, and of a link to a folder only the text is left.
fn taken(workspace: &Workspace, source: &Path, path: &Path, text: &str, pages: &BTreeSet<PathBuf>) -> Result<String> {
    let mut made = text.to_owned();
    for target in docs::targets(text) {
        let file = target.split('#').next().unwrap_or_default();
        if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
            continue;
        }
        let to = normal(&path.parent().unwrap_or(Path::new("")).join(file));
        let from = workspace.root().join(&to);
        if pages.contains(&to) {
            // The generator makes an index of a README, but leaves links to it as they are.
            made = made.replace(&format!("]({target})"), &format!("]({})", target.replace("README.md", "index.md")));
            continue;
        }
        if from.is_file() && to.extension().is_none_or(|ending| ending != "md") {
            let copy = source.join(&to);
            fs::create_dir_all(copy.parent().unwrap_or(source))?;
            fs::copy(&from, &copy).with_context(|| format!("`{}` cannot be copied", from.display()))?;
        } else {
            made = without_link(&made, &target);
        }
    }
    Ok(made)
}

/// The text with links to a target replaced by what they show.
fn without_link(text: &str, target: &str) -> String {
    let end = format!("]({target})");
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&end) {
        let (head, shown) = before.rsplit_once('[').unwrap_or((before, ""));
        made.push_str(head);
        made.push_str(shown);
        rest = after;
    }
    made.push_str(rest);
    made
}

fn normal(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(made.pop()),
            Component::Normal(name) => made.push(name),
            _ => {}
        }
    }
    made
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path)).with_context(|| format!("a folder for `{}`", path.display()))?;
    fs::write(path, text).with_context(|| format!("`{}` cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_for_readers_is_in_the_contents() {
        let workspace = Workspace::find().unwrap();
        let listed: BTreeSet<&str> = pages().collect();
        assert_eq!(listed.len(), pages().count(), "a page stands twice");
        for folder in ["docs", "docs/tutorials"] {
            for entry in fs::read_dir(workspace.path(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(!name.ends_with(".md") || listed.contains(&*format!("{folder}/{name}")), "{folder}/{name}");
            }
        }
    }

    #[test]
    fn a_link_that_leads_out_of_the_site_leaves_its_text() {
        let text = "see [`core/`](../core) and [two](../core), [three](three.md)";
        assert_eq!(without_link(text, "../core"), "see `core/` and two, [three](three.md)");
    }
}
