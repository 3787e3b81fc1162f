//! The GitHub Action's scripts, run as a runner would: with its inputs as variables.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test reads files and fails by panicking")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What is fetched to run or to build is named by its content: a tag can be moved.
#[test]
fn actions_and_base_images_are_named_by_their_digest() {
    let lines = |name: &str, word: &str| -> Vec<String> {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
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
    let workflows = ["action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml"];
    let actions: Vec<String> = workflows.iter().flat_map(|file| lines(file, "uses:")).collect();
    assert!(actions.len() > 5, "{actions:?}");
    for action in actions {
        assert!(is_digest(action.split_once('@').map_or("", |(_, commit)| commit), 40), "{action}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A step of the action with its inputs, as GitHub starts it.
fn step(index: usize, inputs: &[(&str, &str)]) -> Command {
    let text = std::fs::read(root().join("action.yml")).unwrap();
    let reading = apportion_yaml::read(&text, &apportion_yaml::Limits::default());
    let action: &Value = &reading.documents.first().unwrap().value;
    let step = action.pointer(&format!("/runs/steps/{index}")).unwrap();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c"]).arg(step["run"].as_str().unwrap());
    command.current_dir(root());
    for (variable, expression) in step["env"].as_object().unwrap() {
        let expression = expression.as_str().unwrap();
        // What else there is, the runner says: tests set it themselves.
        if let Some(name) = expression.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}")) {
            let default = action.pointer(&format!("/inputs/{name}/default")).and_then(Value::as_str).unwrap();
            let given = inputs.iter().find(|(input, _)| *input == name).map_or(default, |(_, value)| *value);
            command.env(variable, given);
        }
    }
    command
}

/// Exit code and output of the step that validates.
fn run(inputs: &[(&str, &str)]) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_apportion"));
    let mut path = OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let output = step(1, inputs).env("PATH", path).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// A release in a folder, with an archive for each platform that is asked for here.
fn release(place: &Path, version: &str) -> PathBuf {
    let folder = place.join(format!("v{version}"));
    let script = format!(
        "for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-apple-darwin x86_64-pc-windows-msvc; do \
         stem=apportion-{version}-$target; mkdir $stem; echo program > $stem/apportion; tar -czf $stem.tar.gz $stem; done; \
         if command -v sha256sum > /dev/null; then sha256sum *.tar.gz; else shasum -a 256 *.tar.gz; fi > SHA256SUMS"
    );
    std::fs::create_dir_all(&folder).unwrap();
    assert!(Command::new("bash").args(["-ec", &script]).current_dir(&folder).status().unwrap().success());
    folder
}

#[test]
fn the_released_program_is_verified_and_kept() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("action");
    let _ = std::fs::remove_dir_all(&place);
    let folder = release(&place, env!("CARGO_PKG_VERSION"));
    let install = |inputs: &[(&str, &str)]| {
        let mut step = step(0, inputs);
        step.env("GITHUB_ACTION_PATH", root()).env("GITHUB_PATH", place.join("path"));
        step.env("RUNNER_TOOL_CACHE", place.join("tools")).env("ADDRESS", format!("file://{}", place.display()));
        // No program of ours, but all others.
        step.env("PATH", "/usr/local/bin:/usr/bin:/bin").output().unwrap()
    };
    let wrong = install(&[("checksum", &"0".repeat(64))]);
    assert!(!wrong.status.success(), "{wrong:?}");
    assert!(!install(&[("version", "0.0.1")]).status.success());
    assert!(!place.join("path").exists() && !place.join("tools").exists());

    let installed = install(&[]);
    assert!(installed.status.success(), "{installed:?}");
    let path = std::fs::read_to_string(place.join("path")).unwrap();
    assert_eq!(std::fs::read_to_string(Path::new(path.trim()).join("apportion")).unwrap(), "program\n");
    // The next time nothing is fetched, unless another checksum is asked for.
    std::fs::remove_dir_all(folder).unwrap();
    assert!(install(&[]).status.success());
    assert!(!install(&[("checksum", &"0".repeat(64))]).status.success());
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
