//! No input makes the engine panic: manifests, each of them cut short or garbled, and hand-made monsters end
//! in findings. Reading, applying and running are all part of it.

use std::fs;
use std::path::{Path, PathBuf};

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::profile::Profile;

/// Everything a shell does with a file, in the order it does it. Returns how many documents and findings there were.
fn feed(text: &[u8]) -> (usize, usize) {
    let reading = apportion_yaml::read(text, &apportion_yaml::Limits::default());
    let texts: Vec<String> = reading.documents.iter().map(|document| document.value.to_string()).collect();
    let mut engine = Engine::new(Profile::default(), Limits { max_steps: 10_000 });
    let findings = engine.apply(texts.iter().map(String::as_str)).iter().map(Vec::len).sum::<usize>();
    let report = engine.run();
    // What is said about a decision is said once; the decisions stand.
    let again = engine.run();
    assert_eq!((&report.nodes, &report.claims), (&again.nodes, &again.claims), "a second run changes nothing");
    (texts.len(), findings + reading.problems.len() + report.findings.len())
}

fn manifests() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    let mut folders = vec![root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") => {
                    files.push(path);
                }
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_manifest_is_read_and_run() {
    let files = manifests();
    let documents: usize = files.iter().map(|file| feed(&fs::read(file).unwrap()).0).sum();
    println!("{} files, {documents} documents", files.len());
    assert!(documents > 20);
}

#[test]
fn manifests_cut_short_or_garbled_end_in_findings() {
    for (seed, file) in manifests().iter().enumerate() {
        let text = fs::read(file).unwrap();
        for part in 1..6 {
            feed(&text[..text.len() * part / 6]);
        }
        let mut garbled = text.clone();
        for step in 0..20_usize {
            let at = (seed * 7919 + step * 104_729) % garbled.len().max(1);
            if let Some(byte) = garbled.get_mut(at) {
                *byte = b"\0{}[]:-#\"'\xff\n9"[(seed + step) % 13];
            }
        }
        feed(&garbled);
    }
}

#[test]
fn deep_and_huge_values_end_in_findings() {
    let claim = |field: &str, value: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {{devices: {{{field}: {value}}}}}\n"
        )
    };
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("[{}]", "{name: r, exactly: {deviceClassName: c, count: 9223372036854775807}}, ".repeat(2_000));
    let numbers =
        "[{name: r, exactly: {deviceClassName: c, count: -9223372036854775808}}, {name: s, exactly: {count: 1e400}}]";
    let expression = format!("device.driver == '{}'{}", "x".repeat(20_000), " && true".repeat(20_000));
    let selector = format!(
        "[{{name: r, exactly: {{deviceClassName: c, selectors: [{{cel: {{expression: \"{expression}\"}}}}]}}}}]"
    );
    let nested = format!("{}true{}", "(".repeat(100_000), ")".repeat(100_000));
    let brackets =
        format!("[{{name: r, exactly: {{deviceClassName: c, selectors: [{{cel: {{expression: \"{nested}\"}}}}]}}}}]");
    for value in [&deep, &long, &numbers.to_owned(), &selector, &brackets] {
        let with_pod = format!(
            "{}---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: c}}\n---\n\
             apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s}}\nspec: {{driver: d, allNodes: true, pool: {{name: p, generation: 1, resourceSliceCount: 1}}, devices: [{{name: x}}]}}\n---\n\
             apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{resourceClaims: [{{name: c, resourceClaimName: c}}], containers: [{{name: c}}]}}\n",
            claim("requests", value)
        );
        feed(with_pod.as_bytes());
    }
    let json =
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let mut engine = Engine::new(Profile::default(), Limits::default());
    assert_eq!(engine.apply([json.as_str()])[0][0].code.text(), "read/bad-json");
}

#[test]
fn values_of_the_wrong_type_are_named_and_the_object_is_left_out() {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    let slice = r#"{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},
        "spec":{"driver":7,"pool":"p","devices":[{"name":"d","attributes":{"m":{"int":"3"}}}]}}"#;
    let findings = engine.apply([slice]).remove(0);
    let paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["spec.driver", "spec.pool", "spec.devices[0].attributes[m].int"]);
    assert!(engine.cluster().slices().is_empty());
}
