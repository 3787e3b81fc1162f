//! Manifests as drivers and projects have them: every one runs, twice alike, and nothing panics.

use std::fs;
use std::path::{Path, PathBuf};

use apportion_core::allocate::Limits;
use apportion_core::ask::Report;
use apportion_core::engine::Engine;
use apportion_core::finding::Code;
use apportion_core::profile::Profile;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, "yaml" | "yml" | "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The objects of a file.
fn objects(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap();
    let reading = apportion_yaml::read(&bytes, &apportion_yaml::Limits::default());
    reading.documents.iter().map(|document| document.value.to_string()).collect()
}

fn run(objects: &[String]) -> Report {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    engine.apply(objects.iter().map(String::as_str));
    let report = engine.run();
    let again = engine.run();
    assert_eq!((&report.nodes, &report.pods, &report.claims), (&again.nodes, &again.pods, &again.claims));
    report
}

#[test]
fn the_examples_run() {
    let files = files(&root().join("examples"));
    let mut pods = 0;
    for path in &files {
        let report = run(&objects(path));
        for pod in &report.pods {
            assert!(pod.node.is_some() || !pod.reasons.is_empty(), "{}: {}", path.display(), pod.name);
        }
        pods += report.pods.len();
    }
    assert!(pods > 100, "{} files with {pods} Pods", files.len());
}

#[test]
fn the_tour_gives_what_its_comments_say() {
    let folder = root().join("examples/gpu-sharing");
    let objects: Vec<String> = files(&folder).iter().flat_map(|path| objects(path)).collect();
    let report = run(&objects);
    let names: Vec<&str> = report.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-a", "node-b", "node-c"]);
    let places: Vec<&str> = report.pods.iter().map(|pod| pod.node.as_deref().unwrap_or("-")).collect();
    let expected = ["node-a", "node-a", "node-b", "node-b", "node-b", "node-a", "node-c", "node-b", "node-a", "-"];
    assert_eq!(places, expected);
    assert_eq!(report.pods[9].reasons[0].code, Code::RunTooFewMatching);
    let claim = |name: &str| report.claims.iter().find(|claim| claim.name == name).unwrap();
    assert_eq!(claim("team-gpu").reserved_for, ["ml/notebook", "ml/profiler"]);
    assert_eq!(claim("flexible").devices[0].request, "gpus/small");
}
