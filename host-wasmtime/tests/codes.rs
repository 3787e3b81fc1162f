//! Each example of `apportion explain CODE` has the finding, and the change takes it away.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

/// Codes that no manifest and no argument leads to, or only ones too large to show.
const WITHOUT_EXAMPLE: usize = 36;

/// Everything that a command says, in a folder.
fn said(folder: &Path, command: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_apportion"));
    program.args(command.split(' ')).current_dir(folder).env_clear();
    if !command.starts_with("convert ") {
        program.args(["-o", "json"]);
    }
    let output = program.output().unwrap();
    assert_ne!(output.status.code(), Some(2), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// What is wrong with the example of a code.
fn problem(code: &Value) -> Option<String> {
    let name = code["code"].as_str().unwrap();
    let example = code.get("example")?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codes").join(name.replace('/', "-"));
    fs::create_dir_all(&folder).unwrap();
    let has_it = |text: &str, command: &str| {
        for file in example["files"].as_array().unwrap() {
            fs::write(folder.join(file["name"].as_str().unwrap()), file[text].as_str().unwrap()).unwrap();
        }
        let said = said(&folder, command);
        said.contains(&format!("\"{name}\"")) || said.contains(&format!("[{name}]"))
    };
    let command = example["command"].as_str().unwrap();
    let after = example["commandAfter"].as_str().unwrap_or(command);
    match (has_it("text", command), has_it("corrected", after)) {
        (false, _) => Some(format!("{name}: the example does not show it")),
        (true, true) => Some(format!("{name}: the way out does not take it away")),
        (true, false) => None,
    }
}

fn codes() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_apportion")).args(["explain", "-o", "json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["codes"].as_array().unwrap().clone()
}

#[test]
fn the_pages_that_rules_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let codes = codes();
    let rules = codes.iter().map(|code| code["rule"].as_str().unwrap());
    let mut pages = 0;
    for rule in rules.filter(|rule| rule.starts_with("docs/")) {
        let page = rule.split([' ', ',']).next().unwrap();
        let text = fs::read_to_string(root.join(page)).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let heading = rule.split_once(", ").map(|(_, heading)| format!("\n## {heading}\n"));
        assert!(heading.is_none_or(|heading| text.contains(&heading)), "{rule}: no such heading");
        pages += 1;
    }
    assert_ne!(pages, 0);
}

#[test]
fn every_example_shows_its_code_and_the_way_out_takes_it_away() {
    let codes = codes();
    let without = codes.iter().filter(|code| code.get("example").is_none());
    assert!(without.clone().all(|code| code["occurs"].is_string()));
    assert_eq!(without.count(), WITHOUT_EXAMPLE);
    let problems: Vec<String> = thread::scope(|scope| {
        let halves = codes.chunks(codes.len().div_ceil(2));
        let threads: Vec<_> =
            halves.map(|half| scope.spawn(|| half.iter().filter_map(problem).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{problems:#?}");
}
