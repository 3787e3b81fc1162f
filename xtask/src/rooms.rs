//! The rooms of the core and the order in which they may know each other. This list is the only one; prose points here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Workspace;

/// Rooms from the innermost to the outermost. A file imports from its own level and those before it.
const LEVELS: [&[&str]; 15] = [
    // Objects, versions and gates, problems as data, names and ids.
    &["api", "profile", "finding", "near", "derive", "bits", "arrange", "gather"],
    &["cel"],
    &["validate"],
    // Facts and indexes.
    &["cluster"],
    &["evaluate"],
    &["allocate"],
    // Writes, Events and times as data.
    &["decision"],
    &["scheduler"],
    &["controllers"],
    &["control_plane"],
    &["explain"],
    // One page for each question.
    &["ask"],
    // A scheduler or controller in a real cluster.
    &["controller"],
    &["engine", "check"],
    // Types that cross a border.
    &["wire", "typescript"],
];

/// Checks that every import in `core/src` points to its own level or one before it.
///
/// # Errors
///
/// Names each import that points the other way, and each room that the list does not know.
pub fn check(workspace: &Workspace) -> Result<()> {
    let root = workspace.path("core/src");
    let mut wrong = Vec::new();
    visit(&root, &root, &mut wrong)?;
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("imports in `core/src` point the wrong way (`xtask/src/rooms.rs` has the order):\n  {}", wrong.join("\n  "))
}

fn visit(root: &Path, folder: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            visit(root, &path, wrong)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            wrong.extend(violations(&name, &text));
        }
    }
    Ok(())
}

/// Imports of one file that point the wrong way. Tests may import anything.
fn violations(file: &str, text: &str) -> Vec<String> {
    let room = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if room == "lib" || file.ends_with("tests.rs") {
        return Vec::new();
    }
    let Some(own) = level(room) else { return vec![format!("{file}: no level for the room `{room}`")] };
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.collect::<Vec<&str>>().join("\n");
    let mut rooms: Vec<&str> = code
        .split("crate::")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_').unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        })
        .collect();
    rooms.sort_unstable();
    rooms.dedup();
    let is_wrong = |other: &&str| level(other).is_some_and(|level| level > own);
    rooms.into_iter().filter(is_wrong).map(|other| format!("{file} imports `{other}`")).collect()
}

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_that_points_outwards_is_named() {
        let planted = "use crate::api::pod::Pod;\nuse crate::control_plane::Simulation;\n";
        assert_eq!(violations("scheduler/filter.rs", planted), ["scheduler/filter.rs imports `control_plane`"]);
        assert!(violations("explain/case.rs", planted).is_empty());
    }

    #[test]
    fn comments_and_tests_may_name_any_room() {
        let text = "//! See [`crate::engine::Engine`].\nuse crate::api::pod::Pod;\n#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\n";
        assert!(violations("cluster/mod.rs", text).is_empty());
    }

    #[test]
    fn a_room_that_nobody_listed_is_named() {
        assert_eq!(violations("attic/mod.rs", ""), ["attic/mod.rs: no level for the room `attic`"]);
    }
}
