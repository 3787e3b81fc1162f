//! Patches that a Kustomization names: parts of objects, which mean nothing without what they patch.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use apportion_yaml::{Limits, read};
use serde_json::Value;

use super::files::Source;

/// How the file of a Kustomization is named.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Its lists of patches. Each one is a path, an object with a `path`, or the patch itself.
const LISTS: [&str; 3] = ["patches", "patchesStrategicMerge", "patchesJson6902"];

/// Marks the sources that a Kustomization among them names as its patches.
pub(super) fn mark_patches(sources: &mut [Source]) {
    let named: BTreeSet<PathBuf> = sources.iter().flat_map(patches).collect();
    for source in sources.iter_mut().filter(|_| !named.is_empty()) {
        source.is_patch = named.contains(&real(Path::new(&source.name)));
    }
}

/// The files that a Kustomization patches with; none of another source.
fn patches(source: &Source) -> Vec<PathBuf> {
    let path = Path::new(&source.name);
    if !path.file_name().and_then(OsStr::to_str).is_some_and(|name| NAMES.contains(&name)) {
        return Vec::new();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = |patch: &Value| {
        let name = patch.as_str().or_else(|| patch.get("path")?.as_str())?;
        Some(real(&folder.join(name)))
    };
    let documents = read(&source.text, &Limits::default()).documents;
    let lists = documents.iter().flat_map(|one| LISTS.map(|list| one.value.get(list).and_then(Value::as_array)));
    lists.flatten().flatten().filter_map(file).collect()
}

/// A path by which a file is known, however it was named.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_kustomization_names_as_patches_are_marked() {
        let kustomization = "resources: [pod.yaml]\npatchesStrategicMerge: [old.yaml]\n\
                             patches: [{ path: ./patch.yaml }, { patch: \"kind: Pod\" }]\n";
        let files = [("kustomization.yaml", kustomization), ("old.yaml", ""), ("patch.yaml", ""), ("pod.yaml", "")];
        let source = |(name, text): (&str, &str)| Source::new(format!("app/{name}"), text.into());
        let mut sources = files.map(source).to_vec();
        sources.push(Source::new("patch.yaml".to_owned(), Vec::new()));
        mark_patches(&mut sources);
        assert_eq!(sources.iter().map(|one| one.is_patch).collect::<Vec<_>>(), [false, true, true, false, false]);
    }
}
