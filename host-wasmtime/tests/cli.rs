//! The command line as its users see it: what is printed where, and the exit code.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the repository, where the command is run, so that paths in the output are short and stable.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.args(arguments).current_dir(root()).env_clear();
    command
}

fn run_with(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut command = command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Everything that a call showed.
fn shown(arguments: &[&str], stdin: &str) -> String {
    let output = run_with(arguments, stdin.as_bytes());
    let mut text = format!("$ apportion {}\n", arguments.join(" "));
    for (name, bytes) in [("stderr", &output.stderr), ("stdout", &output.stdout)] {
        let stream = String::from_utf8(bytes.clone()).unwrap();
        if !stream.is_empty() {
            write!(text, "----- {name}\n{stream}").unwrap();
        }
    }
    writeln!(text, "----- exit code {}", output.status.code().unwrap()).unwrap();
    text
}

fn code(arguments: &[&str]) -> i32 {
    run_with(arguments, b"").status.code().unwrap()
}

macro_rules! or_empty {
    () => {
        ""
    };
    ($text:expr) => {
        $text
    };
}

macro_rules! snapshots {
    ($($name:ident: $arguments:expr $(, $stdin:expr)?;)*) => {
        $(#[test] fn $name() {
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(stringify!($name), shown(&$arguments, or_empty!($($stdin)?)));
            });
        })*
    };
}

/// A Pod of a dump, which has nothing else.
const DUMPED_POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml, uid: 1b6c7f0e}\nspec:\n  \
     containers: [{name: c, image: x}]\n  nodeName: node-a\n  resourceClaims: [{name: g, resourceClaimName: one}]\nstatus: {phase: Running}\n";

/// A Pod without a namespace, and the claim that it names in one.
const TWO_SPACES: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: x, resources: {claims: [{name: g}]}}]\n  \
     resourceClaims: [{name: g, resourceClaimName: one}]\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n\
     metadata: {name: one, namespace: team}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";

const SMALL: &str = "host-wasmtime/tests/cli/small.yaml";
const LIFE: &str = "examples/life/cluster.yaml";
const SCRIPT: &str = "examples/life/script.yaml";
const MISTAKES: &str = "host-wasmtime/tests/cli/mistakes.yaml";

snapshots! {
    run_shows_the_tour: ["run", "-f", "examples/gpu-sharing/"];
    run_in_plain_text: ["run", "--plain", "-f", "examples/gpu-sharing/"];
    run_in_colour: ["run", "--color", "always", "-f", "examples/gpu-sharing/"];
    run_where_everything_fits: ["run", "-f", SMALL];
    run_as_json: ["run", "-o", "json", "-f", SMALL];
    run_as_yaml: ["run", "-o", "yaml", "-f", SMALL, "--kubernetes-version", "1.36", "--feature-gates", "DRADeviceTaints=false"];
    run_shows_findings_under_their_line: ["run", "-f", "host-wasmtime/tests/cli/wrong.yaml"];
    run_shows_every_remark_when_asked: ["run", "-v", "-f", "host-wasmtime/tests/cli/wrong.yaml"];
    run_groups_what_is_alike: ["run", "-f", "-"], &alike();
    run_groups_replicas_that_are_pending_alike: ["run", "-f", "host-wasmtime/tests/cli/replicas.yaml"];
    run_says_when_an_object_replaces_another: ["run", "-f", "-"], TWICE;
    run_reads_json_lists_from_stdin: ["run", "-f", "-"], LIST;
    run_without_pods: ["run", "-f", "examples/gpu-sharing/00-cluster.yaml"];
    run_of_nothing: ["run", "-f", "-"];
    run_places_a_gang: ["run", "-f", LIFE];
    run_shares_claims_of_groups: ["run", "-f", "examples/groups/shared-claim.yaml"];
    run_reads_the_older_spelling_of_groups: ["run", "-f", "examples/groups/shared-claim-v1alpha1.yaml"];
    run_says_why_a_gang_waits: ["run", "-f", "examples/groups/gang.yaml"];
    run_uses_a_template_of_the_cluster: ["run", "-f", "examples/groups/cluster-template.yaml"];
    run_plays_a_script: ["run", "-f", LIFE, "--script", SCRIPT, "--until", "10m"];
    run_shows_events_and_each_step: ["run", "-f", LIFE, "--script", SCRIPT, "--until", "5m", "--events", "--step", "--plain"];
    run_draws_a_picture: ["run", "-f", LIFE, "--script", SCRIPT, "--until", "10m", "--output", "html"];
    run_plays_as_json: ["run", "-f", LIFE, "--until", "1m", "-o", "json"];
    run_places_as_a_scheduler_is_told: ["run", "examples/scheduler-config/cluster.yaml", "--scheduler-config", "examples/scheduler-config/config.yaml", "--scores"];
    run_says_what_is_wrong_with_a_scheduler_configuration: ["run", "examples/scheduler-config/cluster.yaml", "--scheduler-config", "host-wasmtime/tests/cli/scheduler-config.yaml"];
    run_in_a_namespace: ["run", "-n", "team", "host-wasmtime/tests/cli/no-namespace.yaml", "-f", "examples/gpu-sharing/"];
    run_says_which_steps_were_refused_or_not_reached: ["run", "examples/gpu-sharing/", "--script", "host-wasmtime/tests/cli/script.yaml", "--until", "5m"];
    run_names_a_step_that_it_does_not_understand: ["run", "-f", LIFE, "--script", "-"], "- at: 30s\n  explode: node-a\n";
    run_names_a_duration_that_is_none: ["run", "-f", LIFE, "--until", "soon"];
    plan_says_which_copies_would_be_made: ["plan", "-f", "examples/templates/"];
    plan_of_nothing: ["plan", "-f", SMALL];
    crct_status_says_where_copies_are_missing_and_why: ["crct", "status", "-f", "host-wasmtime/tests/cli/copies.yaml"];
    crct_status_of_one_template_has_all_its_namespaces: ["crct", "status", "well", "-f", "host-wasmtime/tests/cli/copies.yaml"];
    crct_status_as_json: ["crct", "status", "well", "-o", "json", "-f", "host-wasmtime/tests/cli/copies.yaml"];
    crct_status_of_nothing: ["crct", "status", "-f", SMALL];
    crct_status_of_an_unknown_template: ["crct", "status", "nobody", "-f", SMALL];
    crct_export_of_templates: ["crct", "export", "-f", "host-wasmtime/tests/cli/copies.yaml"];
    crct_export_as_cluster_templates: ["crct", "export", "--as", "cluster-templates", "-f", "host-wasmtime/tests/cli/copies.yaml", "-f", "examples/templates/"];
    crct_export_of_copies: ["crct", "export", "--as", "copies", "-f", "host-wasmtime/tests/cli/copies.yaml"];
    crct_status_of_masters: ["crct", "status", "-f", "host-wasmtime/tests/cli/masters.yaml"];
    crct_export_of_masters: ["crct", "export", "-f", "host-wasmtime/tests/cli/masters.yaml"];
    crct_export_of_masters_as_cluster_templates: ["crct", "export", "--as", "cluster-templates", "-f", "host-wasmtime/tests/cli/masters.yaml"];
    crct_export_of_nothing: ["crct", "export", "-f", SMALL];
    help_of_crct_export: ["crct", "export", "--help"];
    help_of_crct_status: ["crct", "status", "--help"];
    help_of_plan: ["plan", "--help"];
    help_of_controller: ["controller", "--help"];
    check_finds_what_is_wrong: ["check", "-f", "host-wasmtime/tests/cli/dump.yaml"];
    check_as_json: ["check", "-f", "host-wasmtime/tests/cli/dump.yaml", "-o", "json"];
    check_finds_nothing: ["check", "-f", SMALL];
    check_names_what_a_dump_lacks: ["check", "-f", "-"], DUMPED_POD;
    check_that_denies_warnings: ["check", "-f", "-", "--deny-warnings"], DUMPED_POD;
    validate_in_a_namespace: ["validate", "-n", "team", "-f", "-"], TWO_SPACES;
    check_of_a_log: ["check", "--watch", "-f", "host-wasmtime/tests/cli/log.ndjson"];
    check_of_a_log_as_json: ["check", "--watch", "-f", "host-wasmtime/tests/cli/log.ndjson", "-o", "json"];
    check_of_a_log_that_breaks_off: ["check", "--watch", "-f", "-"], "{\"type\": \"BOOKMARK\"}\n{\"type\": ";
    help_of_check: ["check", "--help"];
    run_keeps_escape_sequences_from_the_terminal: ["run", "-f", "-"], ESCAPES;
    allocate_shows_devices_and_configuration: ["allocate", "-f", SMALL, "--claim", "ml/tuned"];
    allocate_tries_the_nodes_given: ["allocate", "-f", "examples/gpu-sharing/", "--claim", "team-gpu", "--node", "node-c"];
    allocate_of_several_claims: ["allocate", "-f", "examples/gpu-sharing/", "--claim", "ml/team-gpu", "ml/flexible"];
    allocate_shows_why_not: ["allocate", "-f", "examples/gpu-sharing/", "--claim", "ml/huge"];
    allocate_as_json: ["allocate", "-o", "json", "-f", SMALL, "--claim", "ml/tuned"];
    allocate_names_the_claims_there_are: ["allocate", "-f", "examples/gpu-sharing/", "--claim", "ml/hug"];
    allocate_says_when_a_template_is_meant: ["allocate", "-f", "examples/gpu-sharing/", "--claim", "ml/small-gpu"];
    validate_shows_mistakes_under_their_lines: ["validate", "-f", MISTAKES];
    validate_skips_what_is_no_manifest: ["validate", "host-wasmtime/tests/cli/chart/"];
    run_skips_what_is_no_manifest: ["run", "host-wasmtime/tests/cli/chart/"];
    validate_of_a_file_that_is_named_skips_nothing: ["validate", "host-wasmtime/tests/cli/chart/values.yaml"];
    validate_shows_errors_first: ["validate", "-"], LATE_ERROR;
    validate_finds_nothing: ["validate", "-f", SMALL];
    validate_as_an_older_version: ["validate", "-f", SMALL, "--profile", "1.34"];
    validate_an_update: ["validate", "-f", "-", "--old", SMALL], CHANGED;
    validate_as_json: ["validate", "-f", MISTAKES, "-o", "json"];
    validate_as_sarif: ["validate", "-f", MISTAKES, "-o", "sarif"];
    validate_as_junit: ["validate", "-f", MISTAKES, "-o", "junit"];
    validate_as_annotations: ["validate", "-f", MISTAKES, "-o", "github"];
    convert_keeps_comments: ["convert", "-f", "host-wasmtime/tests/cli/old.yaml", "--to", "v1"];
    help_of_validate: ["validate", "--help"];
    explain_a_pod: ["explain", "-f", "examples/gpu-sharing/", "--pod", "ml/huge-model"];
    explain_everything_that_is_pending: ["explain", "-f", "examples/taints/"];
    explain_a_claim_on_a_node: ["explain", "-f", "examples/partitionable/", "--pod", "small-3", "--node", "node-a"];
    explain_the_pods_of_a_workload: ["explain", "examples/gpu-sharing/", "deploy/inference", "-n", "ml"];
    explain_what_is_no_file: ["explain", "examples/gpu-sharing/", "huge-model"];
    explain_a_node_that_does_not_exist: ["explain", "examples/gpu-sharing/", "pod/huge-model", "--node", "node-z"];
    explain_a_device_that_does_not_exist: ["explain", "examples/gpu-sharing/", "pod/huge-model", "--device", "gpu-42"];
    explain_without_manifests: ["explain", "pod/huge-model"];
    fit_of_a_template_that_does_not_exist: ["fit", "examples/gpu-sharing/", "-t", "smal-gpu"];
    what_if_a_node_that_does_not_exist: ["what-if", "examples/gpu-sharing/", "--cordon", "node-aa"];
    what_if_a_device_that_does_not_exist: ["what-if", "examples/gpu-sharing/", "--taint", "gpu.example.com/node-a/gpu-42=broken:NoExecute"];
    what_if_a_pod_that_does_not_exist: ["what-if", "examples/gpu-sharing/", "-n", "ml", "--without", "po/notebok"];
    a_pattern_that_matches_nothing: ["run", "examples/gpu-sharing/*.yml"];
    a_gate_that_is_spelled_wrongly: ["run", SMALL, "--feature-gates", "DRADeviceTaint=true"];
    explain_what_does_not_exist: ["explain", "-f", SMALL, "--pod", "ml/nobody"];
    explain_applies_a_suggestion: ["explain", "-f", "examples/gpu-sharing/", "--claim", "huge", "--apply", "1"];
    explain_as_yaml: ["explain", "-o", "yaml", "-f", "examples/extended-resource/", "--pod", "greedy"];
    explain_a_code: ["explain", "read/unknown-field"];
    explain_a_group_of_codes: ["explain", "lint"];
    explain_a_code_as_json: ["explain-code", "yaml/syntax", "-o", "json"];
    explain_a_code_that_does_not_exist: ["explain", "unknown-field"];
    schema_names: ["schema"];
    schema_that_does_not_exist: ["schema", "shoes"];
    what_if_a_device_is_tainted: ["what-if", "-f", SMALL, "--taint", "gpu.example.com=broken:NoExecute"];
    what_if_a_pod_goes: ["what-if", "-f", "examples/gpu-sharing/", "--without", "Pod/ml/batch-eval"];
    fit_per_node: ["fit", "-f", "examples/gpu-sharing/00-cluster.yaml", "host-wasmtime/tests/cli/wish.yaml", "-t", "wish"];
    fit_of_partitions: ["fit", "-f", "examples/partitionable/cluster.yaml", "host-wasmtime/tests/cli/wish.yaml", "-t", "wish"];
    fit_as_json: ["fit", "-f", "examples/partitionable/cluster.yaml", "host-wasmtime/tests/cli/wish.yaml", "-t", "wish", "--per", "class", "-o", "json"];
    fit_of_a_claim_that_is_not_written: ["fit", "examples/gpu-sharing/00-cluster.yaml", "--class", "gpu.example.com", "--count", "2", "--selector", "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))"];
    fit_after_a_node_is_cordoned: ["fit", "examples/gpu-sharing/00-cluster.yaml", "--class", "gpu.example.com", "--cordon", "node-a"];
    fit_where_every_node_is_cordoned: ["fit", "examples/taints/", "--class", "gpu.example.com", "--cordon", "node-a", "node-b"];
    fit_with_a_selector_that_does_not_compile: ["fit", SMALL, "--class", "gpu.example.com", "--selector", "device.foo == 1"];
    fit_of_nodes_that_do_not_exist_yet: ["fit", "examples/gpu-sharing/00-cluster.yaml", "--class", "gpu.example.com", "--copies", "12", "--node-like", "node-a"];
    fit_of_nodes_for_what_is_pending: ["fit", "examples/gpu-sharing/", "--node-like", "node-a", "node-b"];
    fit_of_nodes_with_an_open_attribute: ["fit", "examples/gpu-sharing/00-cluster.yaml", "--class", "gpu.example.com", "--selector", "device.attributes['gpu.example.com'].model == 'atlas-80'", "--copies", "9", "--node-like", "node-a", "--open-attribute", "gpu.example.com/model"];
    what_if_pods_keep_their_places: ["what-if", SMALL, "--without", "node/node-a", "--placing", "keep"];
    usage_of_devices: ["usage", "examples/gpu-sharing/"];
    usage_of_partitions: ["usage", "examples/partitionable/"];
    usage_says_why_devices_are_stranded: ["usage", "examples/taints/"];
    usage_as_json: ["usage", SMALL, "-o", "json"];
    help_of_fit: ["fit", "--help"];
    help_of_usage: ["usage", "--help"];
    diff_of_two_clusters: ["diff", SMALL, "examples/gpu-sharing/"];
    taint_shows_who_has_to_go: ["taint", "-f", "examples/gpu-sharing/", "--preview", "--now", "2026-01-01T00:00:00Z", "gpu.example.com=broken:NoExecute"];
    cel_shows_the_parts: ["cel", "device.driver == \"gpu.example.com\" && device.allowMultipleAllocations == true", "-f", SMALL];
    cel_after_the_manifests: ["cel", "-f", SMALL, "-f", "host-wasmtime/tests/cli/wish.yaml", "device.driver == \"nic.example.com\""];
    taint_of_members_of_a_group: ["taint", "--preview", "-f", "examples/groups/shared-claim.yaml", "fabric.example.com=broken:NoExecute", "--now", "2026-01-01T00:00:00Z"];
    explain_applies_a_setting: ["explain", "-f", "core/tests/explain/cases/gate-extended-resource.yaml", "--kubernetes-version", "1.35", "--pod", "wanted", "--apply", "1"];
    explain_a_pod_that_every_node_refuses: ["explain", "-f", "core/tests/explain/cases/node-short-or-selected.yaml", "--pod", "wanted"];
    explain_applies_a_change_to_a_pod: ["explain", "-f", "core/tests/explain/cases/node-taint.yaml", "--pod", "wanted", "--apply", "1"];
    help_of_cel: ["cel", "--help"];
    help_of_explain: ["explain", "--help"];
    cel_with_a_mistake: ["cel", "device.drivr == \"x\"", "-f", SMALL];
    snapshot_of_a_cluster: ["snapshot", "-f", SMALL];
    snapshot_with_other_names: ["snapshot", "--anonymize", "-f", SMALL];
    replay_of_something_else: ["replay", SMALL];
    help: ["--help"];
    help_of_run: ["run", "--help"];
    help_of_allocate: ["allocate", "--help"];
    a_missing_file: ["run", "-f", "no-such-file.yaml"];
    a_folder_without_manifests: ["run", "-f", "host-wasmtime/src/controller"];
    an_unknown_gate: ["run", "-f", SMALL, "--feature-gates", "DRAMagic=true"];
    a_locked_gate: ["run", SMALL, "--kubernetes-version", "1.38", "--feature-gates", "DRAPartitionableDevices=false"];
    a_missing_argument: ["run"];
}

/// Many objects that are wrong in the same way, and many that play no part.
fn alike() -> String {
    let mut text = String::new();
    for index in 0..300 {
        writeln!(text, "---\napiVersion: v1\nkind: Secret\nmetadata: {{ name: secret-{index} }}").unwrap();
    }
    for index in 0..40 {
        let head = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n";
        writeln!(text, "{head}metadata: {{ name: claim-{index} }}\nspec: {{ device: {{}} }}").unwrap();
    }
    text
}

const LIST: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "idle"}, "spec": {"containers": []}}
]}"#;

/// A warning, and the error behind it.
const LATE_ERROR: &str = "\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu.example.com }
spec: { selector: [] }
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: Not-A-Name }
spec: {}
";

const TWICE: &str = "\
apiVersion: v1
kind: Node
metadata: { name: node-a }
---
apiVersion: v1
kind: Node
metadata: { name: node-a, labels: { zone: a } }
---
apiVersion: v1
kind: Node
metadata: { name: node-a, labels: { zone: a } }
";

const ESCAPES: &str = "apiVersion: v1\nkind: Node\nmetadata: { name: \"\\e[31mred\\u202e\" }\n";

/// A claim of the small example whose spec is another one; that cannot be changed.
const CHANGED: &str = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: tuned, namespace: ml, resourceVersion: '1' }
spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: other.example.com } }] } }
";

/// What `validate --fix` makes of a file, and its output.
fn fixed(name: &str, before: &str) -> (String, Output) {
    let file = std::env::temp_dir().join(format!("apportion-fix-{name}-{}.yaml", std::process::id()));
    std::fs::write(&file, before).unwrap();
    let output = run_with(&["validate", "--fix", "-f", file.to_str().unwrap()], b"");
    let after = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    (after, output)
}

#[test]
fn every_schema_is_printed_as_it_is_kept() {
    let print = |arguments: &[&str]| String::from_utf8(run_with(arguments, b"").stdout).unwrap();
    let mut kept: Vec<String> = std::fs::read_dir(root().join("schema/v1"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    kept.sort();
    assert_eq!(print(&["schema"]).lines().collect::<Vec<_>>(), kept);
    for name in &kept {
        let text = std::fs::read_to_string(root().join(format!("schema/v1/{name}.json"))).unwrap();
        assert_eq!(print(&["schema", name.as_str()]), text);
    }
    assert_eq!(print(&["schema", "diff"]), print(&["schema", "what-if"]));
}

#[test]
fn fix_corrects_what_is_certain_and_leaves_the_rest_alone() {
    let before = std::fs::read_to_string(root().join(MISTAKES)).unwrap();
    let (after, output) = fixed("certain", &before);
    assert_eq!(output.status.code(), Some(1), "what is not certain is left");
    let expected = before
        .replace("allocationMode: exactcount #", "allocationMode: ExactCount #")
        .replace("cuont: 2", "count: 2")
        .replace("    source:\n      resourceClaimName", "    resourceClaimName");
    assert_eq!(after, expected);
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("3 corrections made in 1 file"));
}

#[test]
fn fix_with_diff_shows_corrections_and_writes_nothing() {
    let mistakes = std::fs::read_to_string(root().join(MISTAKES)).unwrap();
    let before = mistakes.replace("exactcount", "ExactCount");
    let file = std::env::temp_dir().join(format!("apportion-diff-{}.yaml", std::process::id()));
    std::fs::write(&file, &before).unwrap();
    let output = run_with(&["validate", "--fix", "--diff", "-f", file.to_str().unwrap()], b"");
    let diff = String::from_utf8(output.stdout).unwrap();
    assert!(diff.contains("\n-        cuont: 2 # two\n+        count: 2 # two\n"), "{diff}");
    assert!(diff.contains("@@"), "{diff}");
    assert_eq!((std::fs::read_to_string(&file).unwrap(), output.status.code()), (before, Some(1)));
    let stdin = run_with(&["validate", "--fix", "--diff", "-"], mistakes.as_bytes());
    assert!(String::from_utf8(stdin.stdout).unwrap().contains("+        count: 2"));
    std::fs::remove_file(file).unwrap();
}

#[test]
fn fix_puts_fields_where_they_belong() {
    let before = "\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: { name: pair }
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
      # Both.
      count: 2
---
apiVersion: v1
kind: Pod
metadata:
  name: user
spec:
  containers:
  - name: main
    image: image
    resources:
      claims:
      - gpu # the pair
  resourceClaims:
  - name: gpu
    source: # Which one?
      resourceClaimName: pair
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: { name: gpu.example.com }
spec:
  selectors:
  - cel: device.driver == 'gpu.example.com'
";
    let expected = before
        .replace(
            "      deviceClassName: gpu.example.com\n      # Both.\n      count: 2\n",
            "      exactly:\n        deviceClassName: gpu.example.com\n        # Both.\n        count: 2\n",
        )
        .replace("      - gpu #", "      - name: gpu #")
        .replace("    source: # Which one?\n      resource", "    # Which one?\n    resource")
        .replace(
            "cel: device.driver == 'gpu.example.com'",
            "cel:\n      expression: \"device.driver == 'gpu.example.com'\"",
        );
    let (after, output) = fixed("places", before);
    assert_eq!(after, expected);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn convert_in_place_changes_only_what_is_old() {
    let folder = std::env::temp_dir().join(format!("apportion-convert-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["old.yaml", "small.yaml"] {
        std::fs::copy(root().join("host-wasmtime/tests/cli").join(name), folder.join(name)).unwrap();
    }
    let arguments = ["convert", "--in-place", "-f", folder.to_str().unwrap()];
    let first = run_with(&arguments, b"");
    let second = run_with(&arguments, b"");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((first.status.code(), first.stdout.as_slice()), (Some(0), &b""[..]));
    assert!(String::from_utf8(first.stderr).unwrap().ends_with("1 of 2 files changed\n"));
    assert!(String::from_utf8(second.stderr).unwrap().ends_with("0 of 2 files changed\n"));
}

#[test]
fn files_are_given_with_and_without_a_flag_and_as_patterns() {
    let answer = |arguments: &[&str]| run_with(arguments, b"").stdout;
    let wanted = answer(&["run", "-f", "examples/gpu-sharing/"]);
    assert_eq!(answer(&["run", "examples/gpu-sharing/"]), wanted);
    assert_eq!(answer(&["run", "examples/gpu-sharing/*.yaml"]), wanted);
    assert_eq!(answer(&["run", "examples/gpu-sharing/[0-3]*.yaml", "-f", "examples/gpu-sharing/[4-9]*.yaml"]), wanted);
    let wanted = answer(&["taint", "--preview", "-f", SMALL, "gpu.example.com=broken:NoExecute"]);
    assert_eq!(answer(&["taint", "--preview", "gpu.example.com=broken:NoExecute", SMALL]), wanted);
}

#[test]
fn a_subject_is_named_as_for_kubectl_or_by_its_flag() {
    let answer =
        |arguments: &[&str]| run_with(&[&["explain", "examples/gpu-sharing/"], arguments].concat(), b"").stdout;
    let wanted = answer(&["--pod", "ml/huge-model"]);
    for arguments in [["pod/ml/huge-model", "-nother"], ["po/huge-model", "-nml"], ["--pod=huge-model", "-nml"]] {
        assert_eq!(answer(&arguments), wanted, "{arguments:?}");
    }
}

#[test]
fn text_follows_the_width_of_the_terminal() {
    for arguments in [&["explain", "examples/gpu-sharing/", "pod/ml/huge-model"][..], &["run", "--help"]] {
        let lines = |columns: &str| -> Vec<usize> {
            let output = command(arguments).env("COLUMNS", columns).output().unwrap();
            String::from_utf8(output.stdout).unwrap().lines().map(|line| line.chars().count()).collect()
        };
        for columns in [80, 120, 200] {
            let widest = lines(&columns.to_string()).into_iter().max().unwrap();
            assert!(widest <= columns, "{arguments:?} at {columns}: {widest}");
        }
        assert!(lines("200").len() < lines("80").len());
        assert_eq!((lines("20"), lines("1000")), (lines("80"), lines("200")), "nothing is narrower or wider");
    }
}

#[test]
fn every_error_is_a_failure_of_junit() {
    let claim = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: p }\nspec: { devices: { requests: [{ name: g }] } }\n";
    let output = run_with(&["validate", "-", "-o", "junit"], claim.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("tests=\"2\" failures=\"1\""), "{text}");
    assert!(text.contains("<failure type=\"validate/required\""), "{text}");
}

#[test]
fn version_is_the_package_version() {
    let output = run_with(&["--version"], b"");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("apportion {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn exit_code_says_yes_no_or_could_not_ask() {
    assert_eq!(code(&["run", "-f", SMALL]), 0);
    assert_eq!(code(&["run", "-f", "examples/gpu-sharing/"]), 1);
    assert_eq!(code(&["run", "-f", "no-such-file.yaml"]), 2);
    assert_eq!(code(&["run", "--no-such-option"]), 2);
    assert_eq!(code(&["allocate", "-f", SMALL, "--claim", "ml/tuned"]), 0);
    assert_eq!(code(&["allocate", "-f", "examples/gpu-sharing/", "--claim", "ml/huge"]), 1);
}

#[test]
fn fit_says_what_it_cannot_read_of_what_is_added() {
    for added in [&["--with", "-"][..], &["--node-like", "node-a", "--node-template", "-"][..]] {
        let asked = ["fit", "examples/gpu-sharing/00-cluster.yaml", "--class", "gpu.example.com"];
        let text = shown(&[&asked[..], added].concat(), "a: [");
        assert!(text.contains("error[yaml/syntax]") && text.ends_with("exit code 1\n"), "{text}");
    }
}

#[test]
fn a_number_that_is_none_is_refused_with_what_it_must_be() {
    for count in ["0", "-1", "two", "99999999999999999999"] {
        let text = shown(&["fit", SMALL, "--class", "gpu.example.com", &format!("--count={count}")], "");
        assert!(text.contains("it is not a whole number from 1 on"), "{text}");
        assert!(text.ends_with("exit code 2\n"), "{text}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = command(&["run", "-v", "-f", "examples/"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
}

#[test]
fn no_colour_and_a_pipe_mean_no_colour() {
    let plain = |extra: &[&str]| {
        let output = run_with(&[&["run", "-f", "examples/typos/"], extra].concat(), b"");
        [output.stdout, output.stderr].iter().all(|stream| !stream.contains(&0x1b))
    };
    assert!(plain(&[]) && plain(&["--color", "never"]) && plain(&["--color", "always", "--plain"]));
    assert!(!plain(&["--color", "always"]));
}

#[test]
fn plain_text_is_ascii() {
    let output = run_with(&["run", "--plain", "-f", "examples/gpu-sharing/"], b"");
    assert!(output.stdout.is_ascii() && output.stderr.is_ascii());
}

#[test]
fn the_component_and_the_native_core_print_the_same() {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    for folder in folders {
        let path = folder.to_str().unwrap();
        let [component, native] =
            [&["run", "-v", "-o", "json", "-f", path][..], &["run", "-v", "-o", "json", "--native", "-f", path]]
                .map(|arguments| run_with(arguments, b""));
        assert_eq!(component, native, "{path}");
    }
}

#[test]
fn nothing_that_is_read_is_our_defect() {
    let whole = std::fs::read(root().join("examples/gpu-sharing/40-fallback.yaml")).unwrap();
    let mut inputs: Vec<Vec<u8>> = (0..whole.len()).step_by(97).map(|end| whole[..end].to_vec()).collect();
    inputs.push(b"\xff\xfe\0\x01{[".to_vec());
    inputs.push("[".repeat(100_000).into_bytes());
    inputs.push(format!("a: {}", "{a: ".repeat(50_000)).into_bytes());
    inputs.push("- ".repeat(100_000).into_bytes());
    inputs.push("x: &a [1]\n".repeat(10_000).into_bytes());
    for input in inputs {
        let output = run_with(&["run", "-f", "-"], &input);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}: {input:.40?}", output.status);
    }
}

/// The report of a snapshot is the same, byte by byte, from the component and from the core outside of it.
#[test]
fn a_replay_has_the_same_bytes_on_every_host() {
    for input in ["examples/gpu-sharing/", "examples/partitionable/", "examples/taints/", LIFE] {
        let snapshot = run_with(&["snapshot", "-f", input], b"").stdout;
        let component = run_with(&["replay", "-"], &snapshot).stdout;
        let native = run_with(&["replay", "--native", "-"], &snapshot).stdout;
        assert!(component.len() > 500, "{input}");
        assert_eq!(String::from_utf8(component).unwrap(), String::from_utf8(native).unwrap(), "{input}");
    }
}

/// The controller deletes many copies slowly; the plan has all of them.
#[test]
fn a_plan_tells_of_every_copy_that_goes() {
    let mut input = String::from(
        "{apiVersion: apportion.dev/v1alpha1, kind: ClusterResourceClaimTemplate, metadata: {name: gpu, uid: u}, \
         spec: {targets: [{names: [other]}], template: {spec: {devices: {requests: []}}}}}\n",
    );
    for number in 0..35 {
        write!(
            input,
            "---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: n{number}}}}}\n---\n{{apiVersion: resource.k8s.io/v1, \
             kind: ResourceClaimTemplate, metadata: {{name: gpu, namespace: n{number}, uid: u{number}, labels: \
             {{app.kubernetes.io/managed-by: apportion-template-sync, apportion.dev/source-uid: u}}}}, spec: {{}}}}\n"
        )
        .unwrap();
    }
    let text = shown(&["plan", "-f", "-"], &input);
    assert_eq!(text.matches("\ndelete ").count(), 35, "{text}");
}

#[test]
fn check_shows_the_place_of_each_document_without_a_name() {
    for (input, lines) in
        [("a: 1\n", vec![1]), ("a: 1\n---\na: 1\n---\n[x]\n---\nkind: Pod\n---\nkind: Pod\n", vec![1, 3, 5, 7, 9])]
    {
        let text = shown(&["check", "-f", "-", "-o", "json"], input);
        for line in lines {
            assert!(text.contains(&format!("\"line\": {line},")), "{text}");
        }
    }
}

#[test]
fn plan_says_which_source_is_refused() {
    let source = "
apiVersion: apportion.dev/v1alpha1
kind: ClusterResourceClaimTemplate
metadata: { name: gpu }
spec:
  targets: [{ names: ['*'] }]
  template: { spec: { devices: { requests: [{ name: GPU, exactly: { deviceClassName: gpu } }] } } }
";
    let text = shown(&["plan", "-f", "-"], source);
    assert!(text.contains("error[") && text.contains("standard input:7:") && text.ends_with("exit code 1\n"), "{text}");
}

/// Answers one request after another, each with the next text, and returns its address.
fn server(answers: &'static [&'static str]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            std::io::Read::read(&mut stream, &mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn addresses_are_read_where_that_is_allowed() {
    const ANSWERS: &[&str] = &[
        "HTTP/1.1 302 Found\r\nlocation: /claim.yaml\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 58\r\nconnection: close\r\n\r\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nspec: {}\n",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    ];
    let address = server(ANSWERS);
    let says = |arguments: &[&str]| {
        let output = run_with(arguments, b"");
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), texts.concat())
    };
    let (code, text) = says(&["validate", "-f", &address]);
    assert_eq!(code, Some(2));
    assert!(text.contains("`--allow-network`"), "{text}");
    let (code, text) = says(&["validate", "--allow-network", "-f", &address]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("metadata.name") && text.contains(&address), "{text}");
    let (code, text) = says(&["run", "--allow-network", "-f", &address]);
    assert_eq!(code, Some(2));
    assert!(text.contains("404 Not Found"), "{text}");
}

/// Each Pod that `run` places has its score.
#[test]
fn run_shows_the_scores_of_the_pods_that_it_places() {
    let output = run_with(&["run", "examples/gpu-sharing", "--scores", "-o", "json"], b"");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let scores = answer["scores"].as_array().unwrap();
    assert!(!scores.is_empty());
    for one in scores {
        assert!(one["chosen"].is_string() && one["score"].as_i64() > Some(0), "{one}");
    }
}
