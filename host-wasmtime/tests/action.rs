//! The GitHub Action's script, run as a runner would: with its inputs as variables.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test reads files and fails by panicking")]

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

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
