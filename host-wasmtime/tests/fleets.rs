//! Many clusters in one call, and traces: `apportion batch` and `apportion replay-trace`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A folder of one test, empty at its start.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fleets-{test}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

fn run(arguments: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    command.args(arguments).current_dir(root).env_clear();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = stdin.as_bytes().to_vec();
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Standard output, standard error and the exit code.
fn said(arguments: &[&str], stdin: &str) -> (String, String, i32) {
    let Output { stdout, stderr, status } = run(arguments, stdin);
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code().unwrap())
}

fn answers(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A small cluster in which every third Pod fits nowhere.
fn cluster(number: usize) -> Value {
    let size = if number.is_multiple_of(3) { "9" } else { "1" };
    json!({
        "id": format!("cluster-{number}"),
        "objects": [
            {
                "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" },
                "status": { "allocatable": { "cpu": "2", "memory": "4Gi", "pods": "110" } },
            },
            {
                "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("pod-{number}") },
                "spec": { "containers": [{
                    "name": "main", "image": "registry.example/main:1", "resources": { "requests": { "cpu": size } },
                }] },
            },
        ],
    })
}

fn fleet(clusters: usize) -> String {
    (0..clusters).map(|number| format!("{}\n", cluster(number))).collect()
}

#[test]
fn shards_together_have_the_bytes_of_one_run() {
    let folder = Folder::new("shards");
    let lines = folder.write("fleet.ndjson", fleet(20));
    let (whole, stderr, code) = said(&["batch", &lines, "--ask", "run", "--ask", "usage"], "");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("20 clusters: 20 answered (7 of them with a no)"), "{stderr}");
    let ids: Vec<Value> = answers(&whole).iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, (0..20).map(|number| json!(format!("cluster-{number}"))).collect::<Vec<_>>());

    let (native, _, _) = said(&["batch", &lines, "--ask", "run", "--ask", "usage", "--native", "--jobs", "3"], "");
    assert!(whole == native, "outside of the component the answers are others");
    for shards in [2, 16, 64] {
        let outputs: Vec<String> = (0..shards).map(|shard| folder.path(&format!("{shards}-{shard}.ndjson"))).collect();
        for (shard, output) in outputs.iter().enumerate() {
            let shard = format!("{shard}/{shards}");
            let arguments =
                ["batch", &lines, "--ask", "run", "--ask", "usage", "--shard", &shard, "-o", output, "--native"];
            assert_eq!(said(&arguments, "").2, 0);
        }
        let mut merge = vec!["batch", "--merge"];
        merge.extend(outputs.iter().map(String::as_str));
        assert!(said(&merge, "").0 == whole, "{shards} shards give other bytes");
        merge.swap(2, 3);
        let (_, stderr, code) = said(&merge, "");
        assert!(code == 2 && stderr.contains("of all shards in their order"), "{stderr}");
        merge.pop();
        assert_eq!(said(&merge, "").2, 2);
    }
}

#[test]
fn what_cannot_be_read_is_an_answer_and_the_others_go_on() {
    let folder = Folder::new("unreadable");
    let long = format!(r#"{{"id":"long","objects":["{}"]}}"#, "x".repeat(1 << 20));
    let broken = json!({ "id": "broken", "objects": [{ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "b" }, "spec": 7 }] });
    let mut bytes = format!("{}\n\n{{\n{long}\n{broken}\n", cluster(1)).into_bytes();
    bytes.extend(b"\xff\xfe\n[]\n");
    bytes.extend(cluster(2).to_string().bytes());
    let lines = folder.write("fleet.ndjson", bytes);
    let (stdout, stderr, code) = said(&["batch", &lines, "--max-line", "1"], "");
    assert_eq!(code, 1, "{stderr}");
    let answers = answers(&stdout);
    let said: Vec<(u64, &str, &str)> = answers
        .iter()
        .map(|answer| {
            let code = answer["findings"][0]["code"].as_str().unwrap_or_default();
            (answer["index"].as_u64().unwrap(), answer["status"].as_str().unwrap(), code)
        })
        .collect();
    let wanted = [
        (0, "answered", ""),
        (1, "failed", "read/bad-json"),
        (2, "failed", "batch/too-long"),
        (3, "answered", ""),
        (4, "failed", "batch/unreadable"),
        (5, "failed", "read/bad-settings"),
        (6, "answered", ""),
    ];
    assert_eq!(said, wanted);
    assert_eq!((&answers[3]["id"], &answers[3]["input"]["refused"]), (&json!("broken"), &json!(1)));
    assert!(
        stderr.contains("4 failed") && stderr.contains("1 batch/too-long") && stderr.contains("1 object left out"),
        "{stderr}"
    );
}

#[test]
fn a_cluster_that_needs_too_much_memory_costs_itself_only() {
    let large = json!({ "id": "large", "objects": [{
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "annotations": { "a": "x".repeat(24 << 20) } },
        "spec": { "containers": [{ "name": "main", "image": "registry.example/main:1" }] },
    }] });
    let lines = format!("{}\n{large}\n{}\n", cluster(1), cluster(2));
    let (stdout, stderr, code) = said(&["batch", "-", "--max-memory", "48", "--jobs", "1"], &lines);
    assert_eq!(code, 1, "{stderr}");
    let answers = answers(&stdout);
    assert_eq!((&answers[1]["id"], &answers[1]["findings"][0]["code"]), (&json!("large"), &json!("limit/memory")));
    assert_eq!((&answers[0]["status"], &answers[2]["status"]), (&json!("answered"), &json!("answered")));
    assert!(stderr.contains("the component was made anew 1 time"), "{stderr}");
}

#[test]
fn a_killed_batch_goes_on_where_it_was() {
    let folder = Folder::new("resume");
    let lines = folder.write("fleet.ndjson", fleet(9));
    let output = folder.path("out.ndjson");
    let arguments = ["batch", &lines, "--native", "--shard", "1/2", "--output", &output];
    let resumed = [&arguments[..], &["--resume"]].concat();
    assert_eq!(said(&arguments, "").2, 0);
    let whole = folder.read("out.ndjson");
    assert_eq!(whole.lines().count(), 4);
    assert_eq!(said(&arguments, "").2, 2, "an output is not written over");
    // Whatever was written when it was killed: nothing, whole lines, a part of one.
    for length in [0, 1, whole.len() / 2, whole.len() - 1, whole.len()] {
        fs::write(&output, whole.get(..length).unwrap()).unwrap();
        let (_, stderr, code) = said(&resumed, "");
        assert_eq!(code, 0, "{stderr}");
        assert!(folder.read("out.ndjson") == whole, "cut at {length}: {stderr}");
    }
    fs::remove_file(&output).unwrap();
    assert_eq!(said(&resumed, "").2, 0);
    assert!(folder.read("out.ndjson") == whole);

    let refused = |arguments: &[&str], words: &str| {
        let (_, stderr, code) = said(arguments, "");
        assert!(code == 2 && stderr.contains(words), "{words}: {stderr}");
        assert!(folder.read("out.ndjson") == whole);
    };
    refused(
        &["batch", &lines, "--native", "--shard", "0/2", "--output", &output, "--resume"],
        "no answer that shard 0/2 would have",
    );
    let other = folder.write("other.ndjson", fleet(9).replace("cluster-", "other-"));
    refused(
        &["batch", &other, "--native", "--shard", "1/2", "--output", &output, "--resume"],
        "it is the output of something else",
    );
    // Other questions, or another cluster under the same id: the answer that is there is another than the batch gives now.
    refused(
        &["batch", &lines, "--native", "--shard", "1/2", "--output", &output, "--resume", "--ask", "usage"],
        "the last answer of the output is another",
    );
    let changed = folder.write("changed.ndjson", fleet(9).replace("\"cpu\":\"2\"", "\"cpu\":\"0\""));
    refused(
        &["batch", &changed, "--native", "--shard", "1/2", "--output", &output, "--resume"],
        "the last answer of the output is another",
    );
    let short = folder.write("short.ndjson", fleet(4));
    refused(&["batch", &short, "--native", "--shard", "1/2", "--output", &output, "--resume"], "the batch has 2 lines");
}

#[test]
fn a_folder_is_a_fleet() {
    let folder = Folder::new("folder");
    let objects = cluster(1)["objects"].as_array().unwrap().clone();
    let manifests: Vec<String> = objects.iter().map(Value::to_string).collect();
    folder.write("fleet/a.yaml", manifests.join("\n---\n"));
    folder.write("fleet/b/node.yaml", &manifests[0]);
    folder.write("fleet/b/pods/pod.json", &manifests[1]);
    folder.write("fleet/b/values.yaml", "replicas: 3\n");
    folder.write(
        "fleet/c.json",
        json!({ "format": "apportion/snapshot/v1", "settings": {}, "objects": objects }).to_string(),
    );
    folder.write("fleet/d.yaml", format!("{}\n---\nkind: [\n", manifests.join("\n---\n")));
    folder.write("fleet/e.ndjson", fleet(2));
    folder.write("fleet/README.md", "no cluster");
    folder.write("fleet/.hidden/x.yaml", &manifests[0]);
    let (stdout, stderr, code) = said(&["batch", &folder.path("fleet"), "--native", "--ask", "run"], "");
    assert_eq!(code, 1, "{stderr}");
    let answers = answers(&stdout);
    let ids: Vec<&str> = answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a.yaml", "b", "c.json", "d.yaml", "cluster-0", "cluster-1"]);
    for answer in &answers[..4] {
        assert_eq!(answer["answers"][0]["answer"]["pods"][0]["node"], "node-a", "{answer}");
    }
    let finding = &answers[3]["input"]["findings"][0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("yaml/syntax"), &json!("error")));
    assert!(
        finding["file"].as_str().unwrap().ends_with("d.yaml") && finding["line"].as_u64().unwrap() > 1,
        "{finding}"
    );
    // The output may lie in the fleet: it is no cluster.
    let (fleet, output) = (folder.path("fleet"), folder.path("fleet/answers.ndjson"));
    let asked = ["batch", &fleet, "--native", "--ask", "run", "--output", &output];
    assert_eq!(said(&asked, "").2, 1);
    assert_eq!(said(&[&asked[..], &["--resume"]].concat(), "").2, 1);
    assert!(folder.read("fleet/answers.ndjson") == stdout);

    let empty = Folder::new("empty");
    assert_eq!(said(&["batch", empty.0.to_str().unwrap()], "").2, 2);
}

#[test]
fn a_cluster_of_which_nothing_can_be_read_has_no_answer() {
    let folder = Folder::new("unreadable");
    folder.write("fleet/cut.yaml", "a: [");
    folder.write("fleet/empty.yaml", "");
    folder.write("fleet/wide.yaml", "kind: Pod\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let (stdout, _, code) = said(&["batch", &folder.path("fleet"), "--native"], "");
    assert_eq!(code, 1);
    for answer in answers(&stdout) {
        assert_eq!((&answer["status"], &answer["findings"][0]["code"]), (&json!("failed"), &json!("batch/unreadable")));
    }
}

#[test]
fn lists_and_kube_schedulers_configuration_are_heeded() {
    let line = json!({ "kind": "List", "id": "l", "items": cluster(1)["objects"], "ask": "usage" }).to_string();
    let (stdout, _, _) = said(&["batch", "-", "--native"], &line);
    assert_eq!(answers(&stdout)[0]["answers"][0]["ask"]["kind"], "usage", "{stdout}");

    let folder = Folder::new("configured");
    let packing = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{
            "schedulerName": "default-scheduler", "pluginConfig": [{ "name": "NodeResourcesFit", "args": {
                "scoringStrategy": { "type": "MostAllocated", "resources": [{ "name": "cpu", "weight": 1 }] },
            } }],
        }],
    });
    let packing = folder.write("config.json", packing.to_string());
    let node = |name: &str| json!({ "name": name, "cpu_milli": 8000, "memory_mib": 8192 }).to_string();
    let nodes = folder.write("nodes.ndjson", [node("a"), node("b")].join("\n"));
    let pods = "name,arrival,duration,cpu_milli,memory_mib\nx,0,,2000,100\ny,1,,2000,100\n";
    let pods = folder.write("pods.csv", pods);
    let places = |more: &[&str]| {
        let trace = ["replay-trace", "--nodes", &nodes, "--pods", &pods, "--native", "-o", "json"];
        let played: Value = serde_json::from_str(&said(&[&trace, more].concat(), "").0).unwrap();
        [0, 1].map(|pod| played["pods"][pod]["node"].as_str().unwrap().to_owned())
    };
    assert_eq!(places(&[]), ["a", "b"]);
    assert_eq!(places(&["--placement", "first"]), ["a", "a"]);
    assert_eq!(places(&["--scheduler-config", &packing]), ["a", "a"]);

    let object = |name: &str, cpu: &str| {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name }, "spec": { "containers": [
            { "name": "main", "image": "x", "resources": { "requests": { "cpu": cpu } } },
        ] } })
    };
    let node = |name: &str| {
        let allocatable = json!({ "cpu": "8", "memory": "8Gi", "pods": "110" });
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name }, "status": { "allocatable": allocatable } })
    };
    let line = json!({ "objects": [node("a"), node("b"), object("x", "2"), object("y", "2")] }).to_string();
    let placed = |more: &[&str]| {
        let (stdout, _, _) = said(&[&["batch", "-", "--native"], more].concat(), &line);
        let pods = answers(&stdout)[0]["answers"][0]["answer"]["pods"].clone();
        [0, 1].map(|pod| pods[pod]["node"].as_str().unwrap().to_owned())
    };
    assert_eq!(placed(&[]), ["a", "b"]);
    assert_eq!(placed(&["--placement", "first"]), ["a", "a"]);
    assert_eq!(placed(&["--scheduler-config", &packing]), ["a", "a"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_not_waited_for() {
    let folder = Folder::new("pipes");
    folder.write("fleet/b/node.yaml", cluster(1)["objects"][0].to_string());
    for name in ["fleet/a.yaml", "fleet/b/pod.yaml", "fleet/c.ndjson"] {
        assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
    }
    let fleet = folder.path("fleet");
    let (stdout, _, code) = said(&["batch", &fleet, "--native"], "");
    let messages: Vec<String> =
        answers(&stdout).iter().map(|answer| answer["findings"][0]["message"].as_str().unwrap().to_owned()).collect();
    let wanted = ["a.yaml", "b/pod.yaml", "c.ndjson"]
        .map(|name| format!("`{fleet}/{name}` cannot be read: it is neither a file nor a folder"));
    assert_eq!((messages, code), (wanted.to_vec(), 1));
    let (_, stderr, code) = said(&["run", "-f", &fleet], "");
    assert!(code == 2 && stderr.contains("neither a file nor a folder"), "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_is_named_holds_lines() {
    let (piped, _, code) = said(&["batch", "/dev/stdin", "--native"], &fleet(2));
    assert_eq!((code, answers(&piped).len()), (0, 2));
    assert_eq!(piped, said(&["batch", "-", "--native"], &fleet(2)).0);
}

/// A trace with the columns of the published one, the same for the same seed: nodes of a few kinds, Pods that share GPUs, take some or none.
fn trace(seed: u64, nodes: u64, pods: u64) -> (String, String) {
    let mut state = seed;
    let mut between = |low: u64, high: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (state >> 33) % (high - low + 1)
    };
    let mut node_list = "sn,cpu_milli,memory_mib,gpu,model\n".to_owned();
    for node in 0..nodes {
        let (cpu, gpus, model) = [(96_000, 8, "A"), (104_000, 2, "B"), (32_000, 4, "A"), (64_000, 0, "")]
            [usize::try_from(between(0, 3)).unwrap()];
        writeln!(node_list, "node-{node:04},{cpu},393216,{gpus},{model}").unwrap();
    }
    let mut pod_list = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n".to_owned();
    let mut now = 0;
    for pod in 0..pods {
        now += between(0, 60);
        let (gpus, milli) = match between(0, 99) {
            0..=12 => (0, 0),
            13..=50 => (1, between(23, 81) * 10),
            51..=97 => (1, 1000),
            _ => (4, 1000),
        };
        let model = if gpus > 0 && between(0, 9) == 0 { "A|C" } else { "" };
        let (cpu, end) = (between(4, 64) * 250, now + between(60, 3600));
        writeln!(pod_list, "pod-{pod:04},{cpu},{},{gpus},{milli},{model},LS,Succeeded,{now},{end},{now}", cpu * 4)
            .unwrap();
    }
    (node_list, pod_list)
}

#[test]
fn a_trace_is_played_to_its_end() {
    let folder = Folder::new("trace");
    let (nodes, pods) = trace(1, 6, 80);
    let (nodes, pods) = (folder.write("nodes.csv", nodes), folder.write("pods.csv", pods));
    let play =
        |more: &[&str]| said(&[&["replay-trace", "--nodes", &nodes, "--pods", &pods, "--native"], more].concat(), "");
    let (stdout, stderr, code) = play(&["-o", "json"]);
    assert_eq!((stderr.as_str(), code), ("", 0), "{stdout}");
    let played: Value = serde_json::from_str(&stdout).unwrap();
    let summary = &played["summary"];
    assert_eq!((&summary["pods"], &summary["placed"]), (&json!(80), &json!(80)), "{summary}");
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(
        number(&summary["gpuUsedPercent"]) > 5.0 && number(&summary["fragmentationPercent"]["worst"]) > 0.0,
        "{summary}"
    );
    assert!(number(&summary["waitMillis"]["median"]) <= number(&summary["waitMillis"]["longest"]), "{summary}");
    // At the end nothing is left, and nothing was given out twice on the way.
    let samples = played["samples"].as_array().unwrap();
    let last = samples.last().unwrap();
    assert_eq!((&last["running"], &last["waiting"], &last["gpuMilliUsed"]), (&json!(0), &json!(0), &json!(0)));
    assert!(samples.iter().all(|sample| sample["gpuMilliUsed"].as_u64() <= summary["gpuMilli"].as_u64()));
    assert!(samples.iter().any(|sample| sample["gpuMilliUsed"].as_u64() > Some(0)));

    // Times may count from anywhere: those of a trace begin with its first Pod.
    let later = folder.read("pods.csv").replacen("\n", "\r", 1);
    let (head, rows) = later.split_once('\r').unwrap();
    let columns: Vec<&str> = head.split(',').collect();
    let times = ["arrival", "creation_time", "scheduled_time", "deletion_time"];
    let shift = |row: &str| {
        let cells =
            row.split(',').zip(&columns).map(|(cell, column)| match (times.contains(column), cell.parse::<f64>()) {
                (true, Ok(time)) => (time + 1e6).to_string(),
                _ => cell.to_owned(),
            });
        cells.collect::<Vec<_>>().join(",")
    };
    let shifted: Vec<String> = rows.lines().map(shift).collect();
    let shifted = folder.write("later.csv", format!("{head}\n{}\n", shifted.join("\n")));
    let (stdout, _, _) = said(&["replay-trace", "--nodes", &nodes, "--pods", &shifted, "--native", "-o", "json"], "");
    assert_eq!(&serde_json::from_str::<Value>(&stdout).unwrap()["summary"], summary);
    let misspelt = folder.write("misspelt.csv", folder.read("pods.csv").replacen("gpu", "gpuz", 1));
    let (_, stderr, code) = said(&["replay-trace", "--nodes", &nodes, "--pods", &misspelt, "--native"], "");
    assert!(code == 1 && stderr.contains("is not read; columns are"), "{stderr}");

    let (table, _, _) = play(&[]);
    assert!(table.starts_with("80 of 80 Pods got a node in ") && table.contains("FRAGMENTED"), "{table}");
    let (page, _, _) = play(&["-o", "html"]);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(
        page.matches("class=\"curve\"").count() == 3 && !page.contains("http") && !page.contains("<script"),
        "{page}"
    );
}

#[test]
fn a_trace_says_who_waits_and_which_rows_are_wrong() {
    let folder = Folder::new("wrong-trace");
    let node = r#"{"name":"node-a","cpu_milli":8000,"memory_mib":8192,"gpus":1,"model":"A"}"#;
    let nodes = folder.write("nodes.ndjson", format!("{node}\n{node}\n"));
    let pods = "\
name,arrival,duration,cpu_milli,memory_mib,gpus,gpu_milli,models
first,0,100,1000,1024,1,600,
second,10,100,1000,1024,1,600,
third,20,5,1000,1024,1,400,
other-model,30,5,1000,1024,1,100,B
Bad_Name,40,5,1000,1024,0,,
broken,x,5,1000,1024,0,,
forever,50,,1000,1024,0,,
";
    let pods = folder.write("pods.csv", pods);
    let play = |engine: &[&str]| {
        said(&[&["replay-trace", "--nodes", &nodes, "--pods", &pods, "-o", "json"], engine].concat(), "")
    };
    let (stdout, stderr, code) = play(&[]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout == play(&["--native"]).0, "outside of the component the trace is played otherwise");
    let played: Value = serde_json::from_str(&stdout).unwrap();
    let pods: Vec<(&str, Option<u64>)> = played["pods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| (pod["name"].as_str().unwrap(), pod["waitMillis"].as_u64()))
        .collect();
    // The second waits for the first to end: 400 thousandths are too little for it, and enough for the third.
    let wait = pods[1].1.unwrap();
    assert!((90_000..105_000).contains(&wait), "{pods:?}");
    let wanted = [
        ("first", Some(0)),
        ("second", Some(wait)),
        ("third", Some(0)),
        ("other-model", None),
        ("Bad_Name", None),
        ("forever", Some(0)),
    ];
    assert_eq!(pods, wanted);
    assert!(!played["pods"][3]["reason"].as_str().unwrap().is_empty());
    assert_eq!(played["problems"].as_array().unwrap().len(), 3, "{}", played["problems"]);
    // A node that is written twice is there once.
    assert!(stderr.contains("nodes.ndjson:2: there is a node `node-a` already"), "{stderr}");
    assert_eq!((&played["summary"]["nodes"], &played["summary"]["gpuMilli"]), (&json!(1), &json!(1000)));
    assert!(stderr.contains("pods.csv:7: `arrival`") && stderr.contains("Bad_Name"), "{stderr}");
    assert_eq!(said(&["replay-trace", "--nodes", &nodes, "--pods", &nodes], "").2, 2);
}

#[test]
fn the_job_runs_the_shards_that_it_says() {
    let folder = Folder::new("job");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (_, stderr, code) = said(&["validate", "deploy/batch/", "--native"], "");
    assert_eq!(code, 0, "{stderr}");
    let text = fs::read_to_string(root.join("deploy/batch/job.yaml")).unwrap();
    let job = apportion_yaml::read(text.as_bytes(), &apportion_yaml::Limits::default()).documents.remove(0).value;
    let spec = &job["spec"];
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!(
        (&spec["completionMode"], &spec["podFailurePolicy"]["rules"][1]["action"]),
        (&json!("Indexed"), &json!("FailIndex"))
    );
    let shards = spec["completions"].as_u64().unwrap();
    folder.write("fleet/questions.ndjson", fleet(20));
    fs::create_dir(folder.0.join("answers")).unwrap();
    // What the kubelet does with the arguments, with the volumes in the test's folder.
    for shard in 0..shards {
        let given = container["args"].as_array().unwrap().iter().map(|argument| {
            let argument = argument.as_str().unwrap().replace("$(JOB_COMPLETION_INDEX)", &shard.to_string());
            argument.replace("/fleet/", &folder.path("fleet/")).replace("/answers/", &folder.path("answers/"))
        });
        let arguments: Vec<String> = given.chain(["--native".to_owned()]).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (_, stderr, code) = said(&arguments, "");
        assert_eq!(code, 0, "{stderr}");
    }
    let outputs: Vec<String> =
        (0..shards).map(|shard| folder.path(&format!("answers/answers-{shard}.ndjson"))).collect();
    let merge: Vec<&str> = ["batch", "--merge"].into_iter().chain(outputs.iter().map(String::as_str)).collect();
    let (merged, _, _) = said(&merge, "");
    let (whole, _, _) = said(&["batch", &folder.path("fleet/questions.ndjson"), "--native", "--ask=explain"], "");
    assert!(merged == whole);
}
