//! No input of 10 MB takes long or much memory, whatever it is.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SIZE: usize = 10_000_000;

/// What one validation may take: 2 s on a machine that does nothing else. Tests share theirs.
const MOST_TIME: Duration = Duration::from_secs(8);

/// In MiB.
const MOST_MEMORY: u64 = 512;

fn repeated(unit: &str) -> String {
    unit.repeat(SIZE / unit.len())
}

fn list(item: &Value) -> String {
    let item = item.to_string();
    let items = vec![item.as_str(); SIZE / (item.len() + 1)].join(",");
    format!(r#"{{"apiVersion":"v1","kind":"List","items":[{items}]}}"#)
}

fn claim(request: Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "n" },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": request }] } },
    })
}

fn slice(devices: usize) -> Value {
    let attributes: serde_json::Map<String, Value> =
        (0..20).map(|index| (format!("a{index}"), json!({ "int": index }))).collect();
    let device = |index| json!({ "name": format!("d{index}"), "attributes": attributes, "capacity": { "m": { "value": "80Gi" } } });
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "gpu.example.com", "nodeName": "n",
            "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
            "devices": (0..devices).map(device).collect::<Vec<Value>>(),
        },
    })
}

/// Inputs with their names: what clusters hold, mistakes without end, and shapes made to hurt.
fn inputs() -> Vec<(&'static str, String)> {
    let selector = |number: usize| vec![format!("device.driver == 'a{number}'"); 450].join(" && ");
    let selectors: Vec<Value> = (0..32).map(|number| json!({ "cel": { "expression": selector(number) } })).collect();
    let wrong = json!({ "deviceClassName": "gpu.example.com", "allocationMode": "x", "count": -1, "cuont": 1 });
    let fields: Vec<String> = (0..SIZE / 12).map(|number| format!(r#""k{number}":1"#)).collect();
    vec![
        ("claims.json", list(&claim(json!({ "deviceClassName": "gpu.example.com" })))),
        ("wrong-claims.json", list(&claim(wrong))),
        ("slices.json", list(&slice(128))),
        ("one-slice.json", slice(20_000).to_string()),
        ("selectors.json", list(&claim(json!({ "deviceClassName": "gpu.example.com", "selectors": selectors })))),
        (
            "one-selector.json",
            claim(json!({ "selectors": [{ "cel": { "expression": "a".repeat(SIZE) } }] })).to_string(),
        ),
        ("unknown-fields.json", format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{{{}}}}}"#, fields.join(","))),
        ("numbers.json", format!(r#"{{"kind":"Pod","x":[{}]}}"#, vec!["1"; SIZE / 2].join(","))),
        (
            "pods.yaml",
            repeated(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  resourceClaims:\n  - {name: a, resourceClaimName: b}\n  containers:\n  - name: c\n    resources: {claims: [{name: a}]}\n",
            ),
        ),
        ("small-objects.yaml", repeated("---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\n")),
        ("smallest-documents.yaml", repeated("---\nkind: A\n")),
        ("entries.yaml", repeated("- yes\n")),
        ("anchors.yaml", repeated("- &a x\n- *a\n")),
        ("keys.yaml", (0..SIZE / 11).map(|number| format!("k{number}: 1\n")).collect()),
        ("one-text.yaml", format!("kind: Pod\nmetadata: {{name: {}}}\n", "a".repeat(SIZE))),
        ("braces.yaml", "{".repeat(SIZE)),
        ("brackets.json", "[".repeat(SIZE)),
        ("quotes.yaml", "\"".repeat(SIZE)),
        ("questions.yaml", repeated("? ")),
        ("colons.yaml", repeated("a: ")),
        ("newlines.yaml", "\n".repeat(SIZE)),
    ]
}

/// The highest resident memory of a process so far, in MiB; `None` when it has ended.
fn memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

#[test]
fn ten_megabytes_of_anything_are_validated_within_the_limits() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits");
    fs::create_dir_all(&folder).unwrap();
    let mut beyond = Vec::new();
    for (name, text) in inputs() {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_apportion"))
            .args(["validate", "-o", "json", "-f"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut most = 0;
        let code = loop {
            most = memory(child.id()).unwrap_or(0).max(most);
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let time = start.elapsed();
        println!("{name}: {:.2} s, {most} MiB, exit code {code:?}", time.as_secs_f64());
        fs::remove_file(&path).unwrap();
        if !matches!(code, Some(0 | 1)) || time > MOST_TIME || most > MOST_MEMORY {
            beyond.push(name);
        }
    }
    assert!(beyond.is_empty(), "beyond the limits: {beyond:?}");
}
