//! Published manifests: all are read, with sensible findings. `APPORTION_MANIFESTS` names the folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use apportion_yaml::{Limits, ProblemCode, read};

fn manifests() -> Vec<PathBuf> {
    let folder = std::env::var_os("APPORTION_MANIFESTS").unwrap_or_default();
    assert!(!folder.is_empty(), "APPORTION_MANIFESTS names a folder of manifests");
    let mut waiting = vec![PathBuf::from(folder)];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if path.extension().is_some_and(|ending| ending == "yaml" || ending == "json") => files.push(path),
            Err(_) => {}
        }
    }
    assert!(!files.is_empty(), "there are manifests in the folder");
    files.sort();
    files
}

#[test]
#[ignore = "needs a folder of published manifests"]
fn published_manifests_are_read() {
    let files = manifests();
    let mut counts: BTreeMap<ProblemCode, usize> = BTreeMap::new();
    let (mut documents, mut without_kind) = (0, 0);
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let reading = read(&bytes, &Limits::default());
        documents += reading.documents.len();
        let is_template = reading.problems.iter().any(|problem| problem.code == ProblemCode::Template);
        assert!(is_template || !reading.documents.is_empty(), "{}: nothing read", file.display());
        for problem in &reading.problems {
            // These files are in use: beyond templates nothing in them is wrong or surprising.
            assert_eq!(problem.code, ProblemCode::Template, "{}: {problem:?}", file.display());
            *counts.entry(problem.code).or_default() += 1;
        }
        for document in &reading.documents {
            let kind = document.positions.find("kind").unwrap();
            if !kind.is_exact {
                // Values files and test configurations stand among the manifests.
                without_kind += 1;
                continue;
            }
            let written = String::from_utf8_lossy(&bytes[kind.value]);
            assert_eq!(written.trim_matches('"'), document.value["kind"].as_str().unwrap(), "{}", file.display());
        }
    }
    println!("{} files, {documents} documents ({without_kind} without kind), problems {counts:?}", files.len());
}
