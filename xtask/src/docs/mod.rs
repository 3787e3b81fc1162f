//! The pages: links lead somewhere, and samples say what the program says.

mod page;
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::Workspace;
use crate::fingerprint::files;
use page::Page;
pub use samples::Outcome;

/// Pages by their path below the checkout.
type Pages = BTreeMap<PathBuf, Page>;

/// Checks links, anchors and blocks of all pages. Nothing is fetched: addresses of other hosts are not looked at.
///
/// # Errors
///
/// Names each mistake on standard error with its page and line.
pub fn check(workspace: &Workspace) -> Result<()> {
    let mistakes = mistakes(workspace.root(), &pages(workspace)?);
    for mistake in &mistakes {
        eprintln!("error: {mistake}");
    }
    match mistakes.len() {
        0 => Ok(()),
        count => bail!("mistakes in the pages: {count}, named above"),
    }
}

/// Runs the samples of the pages whose path begins with one of `wanted`, or of all pages, with the given program.
///
/// # Errors
///
/// When a page or a folder cannot be used. What is wrong with a sample is in the outcome.
pub fn samples(workspace: &Workspace, program: &Path, wanted: &[String]) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (path, page) in pages(workspace)? {
        if wanted.is_empty() || wanted.iter().any(|start| path.starts_with(start)) {
            samples::run(workspace, program, &path, &page, &mut outcome)?;
        }
    }
    Ok(outcome)
}

/// Where the links and pictures of a page lead, as they are written.
pub(crate) fn targets(text: &str) -> Vec<String> {
    Page::read(text).links.into_iter().map(|link| link.target).collect()
}

fn pages(workspace: &Workspace) -> Result<Pages> {
    let mut pages = Pages::new();
    for file in files(workspace, &[""])? {
        if file.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&file).with_context(|| format!("`{}` cannot be read", file.display()))?;
            let path = file.strip_prefix(workspace.root()).unwrap_or(&file).to_owned();
            pages.insert(path, Page::read(&text));
        }
    }
    Ok(pages)
}

/// One line for each mistake: page, line, what is wrong.
fn mistakes(root: &Path, pages: &Pages) -> Vec<String> {
    let mut found = Vec::new();
    for (path, page) in pages {
        let links = page.links.iter().filter_map(|link| Some((link.line, broken(root, pages, path, &link.target)?)));
        for (line, what) in page.mistakes.iter().cloned().chain(links) {
            found.push(format!("{}:{line}: {what}", path.display()));
        }
    }
    found
}

/// What is wrong with a link on a page.
fn broken(root: &Path, pages: &Pages, page: &Path, target: &str) -> Option<String> {
    let is_elsewhere = ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
    if is_elsewhere {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let to = match path {
        "" => Some(page.to_owned()),
        path => normal(&page.parent().unwrap_or(Path::new("")).join(path)),
    };
    let Some(to) = to else { return Some(format!("link to `{target}`: it leads out of the checkout")) };
    // What a build makes is not there for a reader.
    let is_made = to.iter().any(|part| part == "target" || part == "dist" || part == "node_modules");
    if is_made || !root.join(&to).exists() {
        return Some(format!("link to `{target}`: there is no `{}`", to.display()));
    }
    let anchor = anchor?;
    let has_anchor = pages.get(&to).is_some_and(|page| page.anchors.contains(anchor));
    (!has_anchor).then(|| format!("link to `{target}`: `{}` has no heading `#{anchor}`", to.display()))
}

/// A path below the checkout without `.` and `..`; `None` where it leads out.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => made.push(name),
            Component::ParentDir if made.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_this_checkout_lead_somewhere() {
        let workspace = Workspace::find().unwrap();
        assert_eq!(mistakes(workspace.root(), &pages(&workspace).unwrap()), [""; 0]);
    }

    #[test]
    fn a_link_to_nothing_is_a_mistake() {
        let root = Workspace::find().unwrap().root().to_owned();
        let pages = Pages::from([
            ("docs/reference.md".into(), Page::read("# One\n")),
            ("docs/testing.md".into(), Page::read("# Testing\n## The end\n## The end\n")),
        ]);
        let of = |target: &str| broken(&root, &pages, Path::new("docs/reference.md"), target);
        for good in ["testing.md", "testing.md#the-end", "./testing.md#the-end-1", "../README.md", "../core", "#one"] {
            assert_eq!(of(good), None, "{good}");
        }
        for bad in ["no.md", "testing.md#no", "#no", "../../x", "/etc", "../core#x", "../target/x", "../npm/dist"] {
            assert!(of(bad).is_some(), "{bad}");
        }
    }
}
