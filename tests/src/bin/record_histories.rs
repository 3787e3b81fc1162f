//! `record_histories --program PROGRAM [--output FILE] [--seed N] [--cases N]`: what happens to random histories in a real control plane,
//! recorded, and compared with the simulation.
//!
//! Many histories are played side by side, each of them twice. A history ends before a step that does not settle, and with the first step
//! that came out differently in its two runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use apportion_tests::api_server::ApiServer;
use apportion_tests::door;
use apportion_tests::generate::histories::{self, History};
use apportion_tests::history::{self, GATES, Outcome, Recorded, dependent, outcome};
use apportion_tests::view::{KINDS, Objects, state};
use clap::Parser;
use serde_json::{Value, json};

/// Records what happens to random histories in a real control plane, and compares it with the simulation.
#[derive(Parser)]
struct Arguments {
    /// The program with a whole control plane in it.
    #[arg(long)]
    program: PathBuf,
    /// Where the recording goes; without it the histories are only compared.
    #[arg(long)]
    output: Option<PathBuf>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 1000)]
    cases: u64,
    /// How many runs at a time.
    #[arg(long, default_value_t = 60)]
    at_a_time: usize,
}

/// How long a state must last to be the settled one.
const QUIET: Duration = Duration::from_secs(4);

/// The same where there is a rule: the controller writes its status every ten seconds.
const QUIET_WITH_RULE: Duration = Duration::from_secs(14);

/// The same where a PodGroup comes after Pods: kube-controller-manager looks for a PodGroup that it missed after a pause, which doubles each
/// time.
const QUIET_WITH_LATE_GROUP: Duration = Duration::from_secs(25);

/// How long a state may take to settle; a history ends before a step that takes longer.
const PATIENCE: Duration = Duration::from_secs(75);

/// How often the state is looked at.
const TICK: Duration = Duration::from_secs(1);

/// The two runs of a history, by what its name ends with.
const RUNS: [&str; 2] = ["", "b"];

/// A history that is being played.
struct Run {
    seed: u64,
    history: History,
    /// How the steps came out so far.
    outcomes: Vec<Outcome>,
    /// The settled state before the step that is under way.
    before: Vec<String>,
    /// Codes of the answers of the step that is under way.
    codes: Vec<u64>,
    /// Whether that step makes a PodGroup while Pods wait.
    has_late_group: bool,
    seen: Vec<String>,
    since: Instant,
    asked: Instant,
}

struct Recorder {
    server: ApiServer,
    /// The patch release.
    kubernetes: String,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut server = ApiServer::new(&arguments.program)?;
    server.start_all(&GATES)?;
    let (_, version) = server.ask("GET", "/version", &Value::Null)?;
    let kubernetes = text(&version, "/gitVersion").trim_start_matches('v').to_owned();
    ensure!(!kubernetes.is_empty(), "the control plane does not say its version");
    let recorder = Recorder { server, kubernetes };
    let found = recorder.record(&arguments)?;
    println!("{} passed, {} failed", found.agreed, found.differ);
    Ok(if found.differ == 0 || arguments.output.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How the recorded histories compare with the simulation.
#[derive(Default)]
struct Found {
    agreed: usize,
    differ: usize,
    steps: usize,
    drawn: usize,
}

impl Found {
    fn all(&self) -> usize {
        self.agreed + self.differ
    }
}

impl Recorder {
    fn record(mut self, arguments: &Arguments) -> Result<Found> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let differences = root.join("target/differences");
        fs::create_dir_all(&differences)?;
        let mut native = door::open("native", root)?;
        let mut output = arguments.output.as_ref().map(File::create).transpose()?;
        let seeds = arguments.seed..arguments.seed + arguments.cases;
        let mut waiting = seeds.flat_map(|seed| RUNS.map(|run| (seed, run)));
        let (mut playing, mut ended) = (Vec::new(), BTreeMap::<u64, Run>::new());
        let (mut found, mut told, begin) = (Found::default(), 0, Instant::now());
        // Lines that wait for those of lower seeds.
        let (mut lines, mut next) = (BTreeMap::new(), arguments.seed);
        loop {
            while playing.len() < arguments.at_a_time {
                let Some((seed, run)) = waiting.next() else { break };
                playing.push(self.begin(seed, run)?);
            }
            if playing.is_empty() {
                break;
            }
            std::thread::sleep(TICK);
            for run in self.look(&mut playing)? {
                self.clear(&run.history.name)?;
                let Some(other) = ended.remove(&run.seed) else {
                    ended.insert(run.seed, run);
                    continue;
                };
                let recorded = self.recorded(&run, &other);
                found.steps += recorded.steps.len();
                found.drawn += usize::from(!recorded.either.is_empty());
                let recorded = json!(recorded);
                match history::check(&recorded, native.as_mut()).1 {
                    Ok(()) => found.agreed += 1,
                    Err(why) => {
                        found.differ += 1;
                        println!("FAILED history {} of {}: {why}", run.seed, self.kubernetes);
                        let file = differences.join(format!("history-{}-{}.json", run.seed, self.kubernetes));
                        fs::write(file, recorded.to_string())?;
                    }
                }
                lines.insert(run.seed, recorded);
                while let Some(line) = lines.remove(&next) {
                    next += 1;
                    if let Some(output) = &mut output {
                        writeln!(output, "{line}")?;
                    }
                }
            }
            if found.all() >= told + 25 {
                told = found.all();
                eprintln!("{told} histories with {} steps, {} s", found.steps, begin.elapsed().as_secs());
            }
        }
        eprintln!(
            "{}: {} histories with {} steps, {} of them drawn at random at the end, {} s",
            self.kubernetes,
            found.all(),
            found.steps,
            found.drawn,
            begin.elapsed().as_secs()
        );
        Ok(found)
    }

    /// What two runs have in common.
    fn recorded(&self, run: &Run, other: &Run) -> Recorded {
        let history = history::history(run.seed, &self.kubernetes, "");
        let (mut steps, mut either) = (Vec::new(), Vec::new());
        for (one, other) in run.outcomes.iter().zip(&other.outcomes) {
            if one != other {
                either = vec![one.clone(), other.clone()];
                break;
            }
            steps.push(one.clone());
        }
        Recorded {
            history: run.seed,
            generator: histories::VERSION,
            kubernetes: self.kubernetes.clone(),
            requests: history::requests_digest(&history),
            steps,
            either,
        }
    }

    fn begin(&mut self, seed: u64, run: &str) -> Result<Run> {
        let now = Instant::now();
        let mut run = Run {
            seed,
            history: history::history(seed, &self.kubernetes, run),
            outcomes: Vec::new(),
            before: Vec::new(),
            codes: Vec::new(),
            has_late_group: false,
            seen: Vec::new(),
            since: now,
            asked: now,
        };
        self.step(&mut run)?;
        Ok(run)
    }

    /// Makes the requests of the next step.
    fn step(&mut self, run: &mut Run) -> Result<()> {
        let step = run.history.steps.get(run.outcomes.len()).cloned().unwrap_or_default();
        let is_group = |request: &Value| text(request, "/create/kind") == "PodGroup";
        let waits = |line: &String| line.starts_with("Pod ") && line.contains("Pending") && !line.contains(", on ");
        run.has_late_group = step.iter().any(is_group) && run.before.iter().any(waits);
        run.codes = step.iter().map(|request| self.request(request)).collect::<Result<_>>()?;
        (run.asked, run.since) = (Instant::now(), Instant::now());
        Ok(())
    }

    /// The code of the answer to a request; 0 where there is nothing to ask.
    fn request(&mut self, request: &Value) -> Result<u64> {
        if let Some(object) = request.get("create") {
            let path = path(text(object, "/apiVersion"), text(object, "/kind"), text(object, "/metadata/namespace"));
            return self.ask("POST", &path, object);
        }
        if let Some(delete) = request.get("delete") {
            let mut options = json!({ "propagationPolicy": "Background" });
            if let (Some(map), Some(seconds)) = (options.as_object_mut(), delete.get("graceSeconds")) {
                map.insert("gracePeriodSeconds".to_owned(), seconds.clone());
            }
            return self.ask("DELETE", &self.object(delete.get("object").context("no object")?), &options);
        }
        if let Some(patch) = request.get("patch") {
            let part = if patch.get("status") == Some(&json!(true)) { "/status" } else { "" };
            let path = format!("{}{part}", self.object(patch.get("object").context("no object")?));
            return self.ask("PATCH", &path, patch.get("fields").context("no fields")?);
        }
        let (pod, phase) = (request.pointer("/phase/pod"), request.pointer("/phase/phase"));
        let pod = pod.or_else(|| request.get("deleteClaimOf")).context("an unknown request")?;
        let (_, stored) = self.server.ask("GET", &self.object(pod), &Value::Null)?;
        dependent(&stored, pod, phase).map_or(Ok(0), |command| self.request(&command))
    }

    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Result<u64> {
        Ok(self.server.ask(method, path, body)?.0)
    }

    fn list(&self, kind: &str, namespace: &str) -> String {
        let version = match kind {
            "Namespace" | "Node" | "Pod" => "v1",
            "PodGroup" if self.kubernetes.starts_with("1.36.") => "scheduling.k8s.io/v1alpha2",
            "PodGroup" => "scheduling.k8s.io/v1alpha3",
            "DeviceTaintRule" => "resource.k8s.io/v1beta2",
            _ => "resource.k8s.io/v1",
        };
        path(version, kind, namespace)
    }

    fn object(&self, key: &Value) -> String {
        format!("{}/{}", self.list(text(key, "/kind"), text(key, "/namespace")), text(key, "/name"))
    }

    /// Looks at the state, goes on with those whose state has settled, and takes out those that have come to an end.
    fn look(&mut self, playing: &mut Vec<Run>) -> Result<Vec<Run>> {
        let mut all: BTreeMap<String, Objects> = BTreeMap::new();
        for kind in KINDS {
            let (code, mut answer) = self.server.ask("GET", &self.list(kind, ""), &Value::Null)?;
            ensure!(code == 200, "{kind}: {answer}");
            let items = answer.get_mut("items").map(Value::take).unwrap_or_default();
            for object in items.as_array().into_iter().flatten() {
                let owner = match text(object, "/metadata/namespace") {
                    "" => text(object, "/metadata/name").split('-').next().unwrap_or_default(),
                    namespace => namespace,
                };
                all.entry(owner.to_owned()).or_default().entry(kind).or_default().push(object.clone());
            }
        }
        let none = Objects::new();
        let mut ended = Vec::new();
        for mut run in std::mem::take(playing) {
            let objects = all.get(&run.history.name).unwrap_or(&none);
            let now = state(objects, &run.history.name);
            let quiet = match objects.contains_key("DeviceTaintRule") {
                _ if run.has_late_group => QUIET_WITH_LATE_GROUP,
                true => QUIET_WITH_RULE,
                false => QUIET,
            };
            if now != run.seen {
                (run.seen, run.since) = (now, Instant::now());
            } else if run.since.elapsed() > quiet {
                run.outcomes.push(outcome(&run.codes, &run.before, &run.seen));
                run.before.clone_from(&run.seen);
                if run.outcomes.len() == run.history.steps.len() {
                    ended.push(run);
                    continue;
                }
                self.step(&mut run)?;
            }
            if run.asked.elapsed() > PATIENCE {
                ended.push(run);
            } else {
                playing.push(run);
            }
        }
        Ok(ended)
    }

    /// Removes a history's objects.
    fn clear(&mut self, name: &str) -> Result<()> {
        let at_once = json!({ "gracePeriodSeconds": 0 });
        self.server.ask("DELETE", &self.list("Pod", name), &at_once)?;
        for (kind, ends) in [
            ("Namespace", [""].as_slice()),
            ("Node", &["-a", "-b"]),
            ("ResourceSlice", &["-a", "-b", "-a-counters", "-b-counters"]),
            ("DeviceClass", &["-class"]),
            ("DeviceTaintRule", &["-rule"]),
        ] {
            for end in ends {
                let path = format!("{}/{name}{end}", self.list(kind, ""));
                self.server.ask("DELETE", &path, &json!({}))?;
            }
        }
        Ok(())
    }
}

/// Where the objects of a kind are, in a namespace where one is given.
fn path(version: &str, kind: &str, namespace: &str) -> String {
    let folder = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    let mut plural = kind.to_lowercase();
    plural.push_str(if plural.ends_with('s') { "es" } else { "s" });
    match namespace {
        "" => format!("{folder}/{plural}"),
        namespace => format!("{folder}/namespaces/{namespace}/{plural}"),
    }
}

fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}
