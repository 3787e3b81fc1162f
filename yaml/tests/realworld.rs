//! Published manifests: all are read, and what is told about them is sensible.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use apportion_yaml::{Limits, ProblemCode, read};

fn manifests() -> Vec<PathBuf> {
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/realworld")];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if path.extension().is_some_and(|ending| ending == "yaml" || ending == "json") => files.push(path),
            Err(_) => {}
        }
    }
    files.sort();
    files
}

#[test]
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
    if files.is_empty() {
        println!("no published manifests beside the repository: nothing checked");
    }
}
