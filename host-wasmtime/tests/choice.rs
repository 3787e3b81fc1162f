//! Which findings `apportion validate` tells: options, `.apportion.yaml`, and comments.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const CLAIM: &str = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: pair}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.example.com, cuont: 2}
";

/// A folder of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("apportion-choice-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // Settings further up are none of its.
        fs::create_dir_all(folder.join(".git")).unwrap();
        Self(folder)
    }

    fn validate(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
        command.arg("validate").args(arguments).current_dir(&self.0).env_clear().output().unwrap()
    }

    /// Codes that are told and codes that are ignored with their reasons; and the exit code.
    fn told(&self, arguments: &[&str]) -> (Vec<String>, Vec<String>, Option<i32>) {
        let more = ["--deny-warnings", "--disable", "link", "-o", "json"];
        let output = self.validate(&[arguments, &more].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let texts = |list: &str, fields: &[&str]| -> Vec<String> {
            let entries = answer.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
            let field = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
            entries
                .iter()
                .map(|entry| fields.iter().map(|name| field(entry, name)).collect::<Vec<_>>().join(" "))
                .collect()
        };
        (texts("findings", &["code"]), texts("ignored", &["code", "reason"]), output.status.code())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

const UNKNOWN: &str = "read/unknown-field";

#[test]
fn codes_are_disabled_and_selected() {
    let folder = Folder::new("codes", &[("claim.yaml", CLAIM)]);
    assert_eq!(folder.told(&["."]), (owned(&[UNKNOWN]), vec![], Some(1)));
    assert_eq!(folder.told(&[".", "--disable", UNKNOWN]), (vec![], vec![], Some(0)));
    assert_eq!(folder.told(&[".", "--disable", "yaml,read"]), (vec![], vec![], Some(0)));
    assert_eq!(folder.told(&[".", "--select", "validate"]), (vec![], vec![], Some(0)));
    assert_eq!(folder.told(&[".", "--select", "validate", "--select", UNKNOWN]).2, Some(1));
    let refused = folder.validate(&[".", "--disable", "unknown-feild,read/unknown-field"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no code `unknown-feild`"));
    // `--select` does not hide what cannot be read.
    fs::write(folder.0.join("broken.yaml"), "apiVersion: [\n").unwrap();
    let (told, _, code) = folder.told(&[".", "--select", "validate"]);
    assert!(told.iter().all(|code| code.starts_with("yaml/")) && !told.is_empty(), "{told:?}");
    assert_eq!(code, Some(1));
}

#[test]
fn a_comment_ignores_with_a_reason() {
    let beside =
        CLAIM.replace("cuont: 2}", "cuont: 2} # apportion-ignore read/unknown-field: a test of the API server");
    let above = CLAIM.replace("      exactly", "      # apportion-ignore read: a test\n      exactly");
    let whole =
        format!("# apportion-ignore read/unknown-field: a test\n{CLAIM}---\n{}", CLAIM.replace("pair", "other"));
    let folder = Folder::new("comments", &[("claim.yaml", &beside)]);
    let ignored = owned(&["read/unknown-field a test of the API server"]);
    assert_eq!(folder.told(&["."]), (vec![], ignored, Some(0)));
    fs::write(folder.0.join("claim.yaml"), above).unwrap();
    assert_eq!(folder.told(&["."]), (vec![], owned(&["read/unknown-field a test"]), Some(0)));
    // Of two objects the comment stands above the first.
    fs::write(folder.0.join("claim.yaml"), whole).unwrap();
    assert_eq!(folder.told(&["."]), (owned(&[UNKNOWN]), owned(&["read/unknown-field a test"]), Some(1)));
    fs::write(folder.0.join("claim.yaml"), CLAIM.replace("cuont: 2}", "cuont: 2} # apportion-ignore read")).unwrap();
    assert_eq!(folder.told(&["."]), (owned(&[UNKNOWN, "yaml/ignore"]), vec![], Some(1)));
}

#[test]
fn fix_leaves_alone_what_is_ignored() {
    let text = CLAIM.replace("cuont: 2}", "cuont: 2} # apportion-ignore read: a test");
    let folder = Folder::new("fix", &[("claim.yaml", &text)]);
    assert_eq!(folder.validate(&[".", "--fix"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(folder.0.join("claim.yaml")).unwrap(), text);
}

#[test]
fn settings_of_the_repository_are_found() {
    let settings = "exclude: [vendor]\nignore:\n- {code: read, path: 'a/*.yaml', reason: old}\n- {code: read, object: ResourceClaim/third, reason: it is known}\n";
    let folder = Folder::new(
        "settings",
        &[
            (".apportion.yaml", settings),
            ("a/one.yaml", CLAIM),
            ("b/two.yaml", &CLAIM.replace("pair", "second")),
            ("b/three.yaml", &CLAIM.replace("pair", "third")),
            ("vendor/deep/four.yaml", &CLAIM.replace("pair", "fourth")),
        ],
    );
    let (told, ignored, code) = folder.told(&["."]);
    assert_eq!((told, code), (owned(&[UNKNOWN]), Some(1)));
    assert_eq!(ignored, owned(&["read/unknown-field old", "read/unknown-field it is known"]));
    // From below, too; a file that is named is looked at.
    let mut below = Command::new(env!("CARGO_BIN_EXE_apportion"));
    let below = below.args(["validate", "one.yaml"]).current_dir(folder.0.join("a")).env_clear().output().unwrap();
    assert_eq!(below.status.code(), Some(0), "{}", String::from_utf8_lossy(&below.stdout));
    assert!(String::from_utf8_lossy(&below.stdout).contains("1 finding ignored for reasons that are given"));
    assert_eq!(folder.told(&["vendor/deep/four.yaml"]).2, Some(1));
    assert_eq!(folder.told(&["b", "--exclude", "b/two.yaml"]).2, Some(0));
    for (wrong, says) in [
        ("excludes: []\n", "unknown field `excludes`"),
        ("ignore: [{code: read}]\n", "reason"),
        ("ignore: [{code: read, reason: ''}]\n", "gives no reason"),
        ("disable: [nonsense]\n", "there is no code `nonsense`"),
    ] {
        fs::write(folder.0.join(".apportion.yaml"), wrong).unwrap();
        let refused = folder.validate(&["."]);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(says), "{wrong}: {:?}", refused.stderr);
    }
}

#[test]
fn code_scanning_sees_what_is_ignored_and_why() {
    let text = CLAIM.replace("cuont: 2}", "cuont: 2} # apportion-ignore read: a test");
    let folder = Folder::new("sarif", &[("claim.yaml", &text)]);
    let sarif: Value =
        serde_json::from_slice(&folder.validate(&[".", "--disable", "link", "-o", "sarif"]).stdout).unwrap();
    let of = |pointer: &str| sarif.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    assert_eq!(of("/runs/0/results/0/suppressions/0/kind"), "inSource");
    assert_eq!(of("/runs/0/results/0/suppressions/0/justification"), "a test");
    let help = of("/runs/0/tool/driver/rules/0/helpUri");
    assert!(help.ends_with("#readunknown-field"), "{help}");
}

#[test]
fn manifests_are_compared_with_dumps_both_ways() {
    let stored = CLAIM.replace(", cuont: 2", ", allocationMode: ExactCount, count: 1").replace(
        "pair}",
        "pair, namespace: default, uid: 1-2, resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z'}",
    );
    let manifest = CLAIM.replace(", cuont: 2", "");
    let folder = Folder::new("old", &[("dump.yaml", &stored), ("git.yaml", &manifest)]);
    assert_eq!(folder.told(&["git.yaml", "--old", "dump.yaml"]), (vec![], vec![], Some(0)));
    assert_eq!(folder.told(&["dump.yaml", "--old", "git.yaml"]), (vec![], vec![], Some(0)));
    fs::write(folder.0.join("git.yaml"), manifest.replace("gpu.example.com", "other.example.com")).unwrap();
    for arguments in [["git.yaml", "--old", "dump.yaml"], ["dump.yaml", "--old", "git.yaml"]] {
        assert_eq!(folder.told(&arguments).0, owned(&["validate/immutable"]), "{arguments:?}");
    }
}
