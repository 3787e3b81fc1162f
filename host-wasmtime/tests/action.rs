//! The GitHub Action's script, run as a runner would: with its inputs as variables.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test reads files and fails by panicking")]

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What is fetched to run or to build is named by its content: a tag can be moved.
#[test]
fn actions_and_base_images_are_named_by_their_digest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let lines = |name: &str, word: &str| -> Vec<String> {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        let lines =
            text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(word)).map(str::trim);
        lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let is_digest = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let images = lines("deploy/Containerfile", "FROM ");
    assert_eq!(images.last().unwrap(), "scratch");
    for image in images.iter().filter(|image| *image != "scratch") {
        let digest = image.split_once("@sha256:").map_or("", |(_, digest)| digest);
        assert!(is_digest(digest, 64), "{image}");
    }
    for action in lines("action.yml", "uses:") {
        assert!(is_digest(action.split_once('@').map_or("", |(_, commit)| commit), 40), "{action}");
    }
}

/// Exit code and output of the step that validates.
fn run(inputs: &[(&str, &str)]) -> (i32, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read(root.join("action.yml")).unwrap();
    let reading = apportion_yaml::read(&text, &apportion_yaml::Limits::default());
    let action: &Value = &reading.documents.first().unwrap().value;
    let step = action.pointer("/runs/steps/1").unwrap();
    let mut command = Command::new("bash");
    // As GitHub starts it.
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c"]).arg(step["run"].as_str().unwrap());
    let program = Path::new(env!("CARGO_BIN_EXE_apportion"));
    let mut path = OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    command.env("PATH", path).current_dir(root);
    for (variable, expression) in step["env"].as_object().unwrap() {
        let name = expression.as_str().unwrap().trim_start_matches("${{ inputs.").trim_end_matches(" }}");
        let default = action.pointer(&format!("/inputs/{name}/default")).and_then(Value::as_str).unwrap();
        let given = inputs.iter().find(|(input, _)| *input == name).map_or(default, |(_, value)| *value);
        command.env(variable, given);
    }
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn findings_become_annotations_and_fail_the_step() {
    let (code, text) = run(&[("path", "host-wasmtime/tests/cli/mistakes.yaml\nexamples/taints\n")]);
    assert_eq!(code, 1);
    assert!(text.contains("::error file=host-wasmtime/tests/cli/mistakes.yaml,line="), "{text}");
}

#[test]
fn manifests_without_mistakes_pass_under_the_inputs_given() {
    let path = ("path", "host-wasmtime/tests/cli/small.yaml");
    assert_eq!(run(&[path]).0, 0);
    let strict = [path, ("profile", "1.34"), ("feature-gates", "DRADeviceTaints=true"), ("deny-warnings", "true")];
    assert_eq!(run(&strict).0, run(&[path, ("profile", "1.34"), ("deny-warnings", "true"), ("feature-gates", "")]).0);
    // Nothing in an input is run.
    assert_eq!(run(&[("path", "$(touch /nowhere/x); no-such-file")]).0, 2);
}
