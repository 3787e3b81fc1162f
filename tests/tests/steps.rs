//! The amount of search, recorded: a rise shows in review as a changed line of `snapshots/steps.txt`.
//!
//! After a deliberate change, `APPORTION_RECORD=1 cargo test -p apportion-tests --test steps` writes the file anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use apportion_tests::allocator::Mode;
use apportion_tests::bench::side::{Native, verify};
use apportion_tests::bench::workload::sources;
use apportion_tests::corpus::Content;
use apportion_tests::{allocator, corpus, door};
use serde_json::Value;

/// Cases whose schema is that of the allocator, in both modes, and the workloads of the benchmark.
#[expect(clippy::unwrap_used, reason = "part of a test")]
fn steps(root: &Path) -> BTreeMap<String, u64> {
    let mut steps = BTreeMap::new();
    let mut native = door::open("native", root).unwrap();
    for case in corpus::read(&root.join(corpus::OWN)).unwrap() {
        let Content::Whole(content) = &case.content else { continue };
        if content.get("claims").is_none() || content.get("expected").is_none() {
            continue;
        }
        for mode in [Mode::Sound, Mode::Reference] {
            let answer = native.ask(&allocator::asked(content, mode)).unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let count = answer.get("steps").and_then(Value::as_u64).unwrap_or(0);
            steps.insert(format!("{}@{}", case.id, mode.name()), count);
        }
    }
    for source in sources() {
        let workload = source.expand().unwrap();
        let (done, verdict) = verify(&mut Native::new(&workload).unwrap(), &workload).unwrap();
        assert_eq!(verdict, Ok(()), "{}", source.id);
        steps.insert(format!("bench/{}", source.id), done.steps);
    }
    steps
}

#[test]
fn no_case_takes_more_search_steps_than_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let file = root.join("tests/snapshots/steps.txt");
    let steps = steps(root);
    if std::env::var_os("APPORTION_RECORD").is_some() {
        let lines: Vec<String> = steps.iter().map(|(id, count)| format!("{id} {count}\n")).collect();
        fs::write(&file, lines.concat()).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap();
    let recorded: BTreeMap<&str, u64> =
        text.lines().filter_map(|line| line.rsplit_once(' ')).map(|(id, count)| (id, count.parse().unwrap())).collect();
    let mut differences = Vec::new();
    for (id, count) in &steps {
        match recorded.get(id.as_str()) {
            Some(before) if before == count => {}
            Some(before) => differences.push(format!("{id}: {before} -> {count}")),
            None => differences.push(format!("{id}: not recorded, {count}")),
        }
    }
    println!("{} cases and workloads compared, {} recorded", steps.len(), recorded.len());
    let why = "search steps differ from those recorded; where that is meant, record them with APPORTION_RECORD=1";
    assert!(differences.is_empty(), "{why}:\n{}", differences.join("\n"));
}
