//! One command for the version, which stands in many files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Workspace;
use crate::command::{cargo, output, run};

/// A file, a line of it with `{}` for the version, and how often the line occurs.
type Place = (&'static str, &'static str, usize);

/// Every place with the version of the workspace. Lock files of npm have it once more for the package that they lock.
const PLACES: [Place; 15] = [
    ("Cargo.toml", "version = \"{}\"", 1),
    ("deploy/Containerfile", "#   podman build -f deploy/Containerfile -t apportion:{} .", 1),
    ("deploy/helm/apportion/Chart.yaml", "version: {}", 1),
    ("deploy/helm/apportion/Chart.yaml", "appVersion: {}", 1),
    ("deploy/helm/apportion/values.yaml", "  tag: {}", 1),
    ("deploy/kustomize/base/deployment.yaml", "        image: apportion:{}", 1),
    ("docs/python.md", "pip install target/python/wheel/apportion-{}-py3-none-any.whl", 1),
    ("host-python/pyproject.toml", "version = \"{}\"", 1),
    ("npm/package.json", "  \"version\": \"{}\",", 1),
    ("npm/package-lock.json", "  \"version\": \"{}\",", 1),
    ("npm/package-lock.json", "      \"name\": \"apportion\",\n      \"version\": \"{}\",", 1),
    ("web/package.json", "  \"version\": \"{}\",", 1),
    ("web/package-lock.json", "  \"version\": \"{}\",", 1),
    ("web/package-lock.json", "      \"name\": \"apportion-playground\",\n      \"version\": \"{}\",", 1),
    ("web/package-lock.json", "      \"name\": \"apportion\",\n      \"version\": \"{}\",", 1),
];

/// Writes a new version into every file that has it, and closes the list of changes.
///
/// # Errors
///
/// When the version is no newer one, or a place is not as it should be; then nothing was written.
pub fn bump(workspace: &Workspace, new: &str) -> Result<()> {
    let old = env!("CARGO_PKG_VERSION");
    match (numbers(old), numbers(new)) {
        (Some(before), Some(after)) if before < after => {}
        (_, None) => bail!("`{new}` is no version: write three numbers, for example 0.2.0"),
        _ => bail!("`{new}` is not newer than {old}"),
    }
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (file, line, count) in PLACES {
        let at = match texts.iter().position(|(name, _)| *name == file) {
            Some(at) => at,
            None => {
                texts.push((file, read(&workspace.path(file))?));
                texts.len().saturating_sub(1)
            }
        };
        if let Some((_, text)) = texts.get_mut(at) {
            *text =
                replaced(text, line, count, old, new).with_context(|| format!("{file} has not the version {old}"))?;
        }
    }
    let day =
        output(std::process::Command::new("git").current_dir(workspace.root()).args(["log", "-1", "--format=%cs"]));
    let day = day.context("git does not say the day of the last commit")?;
    let changes = read(&workspace.path("CHANGELOG.md"))?;
    texts.push(("CHANGELOG.md", closed(&changes, new, &day).context("CHANGELOG.md has no `## Unreleased`")?));
    for (file, text) in texts {
        fs::write(workspace.path(file), text).with_context(|| format!("`{file}` cannot be written"))?;
    }
    for folder in [".", "fuzz"] {
        let mut lock = cargo();
        lock.current_dir(workspace.path(folder)).args(["update", "--workspace", "--quiet"]);
        run(&mut lock, "writing Cargo.lock", "the message is above")?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))
}

/// The text with another version in whole lines; `None` where there are not as many as there should be.
fn replaced(text: &str, line: &str, count: usize, old: &str, new: &str) -> Option<String> {
    let with = |version: &str| format!("\n{}\n", line.replace("{}", version));
    let text = format!("\n{text}");
    let is_right = text.matches(&with(old)).count() == count;
    is_right.then(|| text.replace(&with(old), &with(new)).split_off(1))
}

/// The list of changes with what was unreleased as a version.
fn closed(text: &str, version: &str, day: &str) -> Option<String> {
    let (before, after) = text.split_once("\n## Unreleased\n")?;
    Some(format!("{before}\n## Unreleased\n\n## {version} - {day}\n{after}"))
}

fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    let found = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_the_version_of_the_workspace() {
        let workspace = Workspace::find().unwrap();
        for (file, line, count) in PLACES {
            let text = read(&workspace.path(file)).unwrap();
            let version = env!("CARGO_PKG_VERSION");
            assert!(
                replaced(&text, line, count, version, "9.9.9").is_some_and(|new| new.contains("9.9.9")),
                "{file}: {line}"
            );
        }
    }

    #[test]
    fn only_whole_lines_as_often_as_they_should_be_are_replaced() {
        assert_eq!(replaced("a\nv: 1\nb\n", "v: {}", 1, "1", "2").as_deref(), Some("a\nv: 2\nb\n"));
        assert_eq!(replaced("v: 1\nx\nv: 1\n", "v: {}", 1, "1", "2"), None);
        assert_eq!(replaced("rev: 1\n", "v: {}", 1, "1", "2"), None);
        assert_eq!(numbers("1.2.3"), Some([1, 2, 3]));
        assert_eq!((numbers("1.2"), numbers("v1.2.3"), numbers("1.2.3.4")), (None, None, None));
        let list = closed("# C\n\n## Unreleased\n\n- x\n", "1.0.0", "2030-01-02").unwrap();
        assert_eq!(list, "# C\n\n## Unreleased\n\n## 1.0.0 - 2030-01-02\n\n- x\n");
    }
}
