//! Somebody who presses Ctrl+C hears what is known.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

/// A claim with a field that nobody knows.
const WRONG: &str = r#"{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"n"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu.example.com","cuont":1}}]}}}"#;

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_interrupt_ends_with_130_as_shells_see_it() {
    // Who starts the tests in the background of a script has interrupts ignored, and programs keep it so.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    if ignored.is_some_and(|signals| signals & 0b10 != 0) {
        eprintln!("skipped: interrupts are ignored here");
        return;
    }
    let mut child = start(&["run", "-f", "-"]);
    interrupt(&child);
    let status = child.wait().unwrap();
    assert_eq!(status.signal().map_or(status.code(), |signal| Some(128 + signal)), Some(130));
}

#[test]
fn whoever_interrupts_reading_hears_so() {
    for command in ["run", "validate", "explain", "usage"] {
        let mut child = start(&[command, "-f", "-"]);
        // Standard input stays open, so that it waits.
        let input = child.stdin.take();
        sleep(Duration::from_millis(700));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(130), "{command}: {}", said(&output));
        assert!(said(&output).starts_with("interrupted after "), "{command}: {}", said(&output));
    }
}

#[test]
fn validate_tells_what_it_found_until_it_was_interrupted() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted");
    fs::create_dir_all(&folder).unwrap();
    let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, vec![WRONG; 6000].join(","));
    // Seconds of work, however many processors share it.
    for number in 0..30 * available_parallelism().map_or(1, usize::from) {
        fs::write(folder.join(format!("{number:04}.json")), &list).unwrap();
    }
    let child = start(&["validate", "-o", "yaml", &folder.display().to_string()]);
    sleep(Duration::from_millis(1500));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).starts_with("interrupted: "), "{}", said(&output));
    assert!(said(&output).contains("the files were not read to the end"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("cuont"), "nothing was found");
}
