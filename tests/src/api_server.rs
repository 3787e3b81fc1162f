//! A real API server as child processes: etcd, kube-apiserver, and who sends the requests; with controllers and a scheduler where asked for.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Gates outside of `DRA...` that fields or kinds of devices and groups depend on.
const GATES: [&str; 7] = [
    "CompositePodGroup",
    "GangScheduling",
    "GenericWorkload",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
    "WorkloadAwarePreemption",
    "WorkloadWithJob",
];

/// Admission that adds what plays no part.
const NOT_ADMITTING: [&str; 3] = ["DefaultTolerationSeconds", "ServiceAccount", "TaintNodesByCondition"];

/// Controllers that play a part in histories.
const CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,resourceclaim-controller,\
    podgroup-protection-controller,device-taint-eviction-controller";

/// Admission that adds what plays no part, or looks at other objects.
const BLIND: [&str; 6] = [
    "DefaultTolerationSeconds",
    "PodGroup",
    "PodGroupWorkloadExists",
    "Priority",
    "ServiceAccount",
    "TaintNodesByCondition",
];

/// An API server with its storage. It ends with this value.
pub struct ApiServer {
    program: PathBuf,
    folder: PathBuf,
    etcd: Child,
    storage: String,
    server: Option<Child>,
    /// Controllers and scheduler, if there are any.
    others: Vec<Child>,
    asker: Option<(ChildStdin, BufReader<ChildStdout>, Child)>,
    /// What `--help` of the server says.
    help: String,
}

/// An answer: HTTP status and body.
pub type Answer = (u64, Value);

impl ApiServer {
    /// Starts the storage of a program that `tests/cluster` builds.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub fn new(program: &Path) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("apportion-record-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let (storage, peer) =
            (format!("http://127.0.0.1:{}", free_port()?), format!("http://127.0.0.1:{}", free_port()?));
        let etcd = Command::new(program)
            .args(["etcd", "--client", &storage, "--peer", &peer, "--folder"])
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("etcd.log"))?)
            .stderr(Stdio::null())
            .spawn()
            .context("the control plane does not start")?;
        ensure!(Command::new(program).arg("key").arg(folder.join("key.pem")).status()?.success(), "no key was made");
        fs::write(folder.join("tokens.csv"), "token,admin,admin,\"system:masters\"\n")?;
        let help = Command::new(program).args(["kube-apiserver", "--help"]).output()?;
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        Ok(Self {
            program: program.to_owned(),
            folder,
            etcd,
            storage,
            server: None,
            others: Vec::new(),
            asker: None,
            help,
        })
    }

    /// The gates of devices and groups that this release lets one choose.
    pub fn gates(&self) -> Vec<String> {
        let all = self.help.split(|character: char| character.is_whitespace() || character == ':');
        let names = all.filter_map(|word| word.strip_suffix("=true|false"));
        let mut names: Vec<String> = names
            .map(|name| name.rsplit(':').next().unwrap_or(name).to_owned())
            .filter(|name| name.starts_with("DRA") || GATES.contains(&name.as_str()))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Starts the server, in place of one that runs, with what is stored.
    ///
    /// # Errors
    ///
    /// When it is not ready within three minutes.
    pub fn start(&mut self, gates: &[String], on: bool) -> Result<()> {
        let gates: Vec<(&str, bool)> = gates.iter().map(|gate| (gate.as_str(), on)).collect();
        self.launch(&gates, &BLIND).map(drop)
    }

    /// The same with those gates that this release knows, with the usual admission, with controllers and kube-scheduler, which tries a
    /// Pod again a second after it failed, however often that was.
    ///
    /// # Errors
    ///
    /// When one of them does not start.
    pub fn start_all(&mut self, gates: &[(&str, bool)]) -> Result<()> {
        let known: Vec<(&str, bool)> =
            gates.iter().filter(|(gate, _)| self.help.contains(&format!("{gate}=true|false"))).copied().collect();
        let address = self.launch(&known, &NOT_ADMITTING)?;
        let path = |name: &str| self.folder.join(name).display().to_string();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{ "name": "c", "cluster": { "server": address, "insecure-skip-tls-verify": true } }],
            "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
            "users": [{ "name": "u", "user": { "token": "token" } }],
        });
        fs::write(path("kubeconfig"), kubeconfig.to_string())?;
        let scheduling = json!({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "clientConnection": { "kubeconfig": path("kubeconfig"), "qps": 1000, "burst": 1000 },
            "leaderElection": { "leaderElect": false }, "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1,
        });
        fs::write(path("scheduler.json"), scheduling.to_string())?;
        let features = feature_gates(&known);
        let manager = [
            features.clone(),
            format!("--kubeconfig={}", path("kubeconfig")),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            "--kube-api-qps=1000".to_owned(),
            "--kube-api-burst=1000".to_owned(),
            format!("--controllers={CONTROLLERS}"),
        ];
        let scheduler = [features, format!("--config={}", path("scheduler.json")), "--secure-port=0".to_owned()];
        for (name, arguments) in [("kube-controller-manager", &manager[..]), ("kube-scheduler", &scheduler[..])] {
            let log = File::create(path(&format!("{name}.log")))?;
            let mut program = Command::new(&self.program);
            program.arg(name).args(arguments).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
            self.others.push(program.spawn()?);
        }
        Ok(())
    }

    /// Starts the server, in place of one that runs. Gives its address.
    fn launch(&mut self, gates: &[(&str, bool)], not_admitting: &[&str]) -> Result<String> {
        self.stop();
        let port = free_port()?;
        let path = |name: &str| self.folder.join(name).display().to_string();
        let address = format!("https://127.0.0.1:{port}");
        let not_admitting: Vec<&str> =
            not_admitting.iter().filter(|name| self.help.contains(&format!(" {name},"))).copied().collect();
        let log = File::create(self.folder.join("kube-apiserver.log"))?;
        let server = Command::new(&self.program)
            .arg("kube-apiserver")
            .args([
                feature_gates(gates),
                format!("--etcd-servers={}", self.storage),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--secure-port={port}"),
                format!("--cert-dir={}", path("certs")),
                format!("--token-auth-file={}", path("tokens.csv")),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--service-account-key-file={}", path("key.pem")),
                format!("--service-account-signing-key-file={}", path("key.pem")),
                "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
                "--authorization-mode=AlwaysAllow".to_owned(),
                "--runtime-config=api/all=true".to_owned(),
                format!("--disable-admission-plugins={}", not_admitting.join(",")),
                "--max-requests-inflight=0".to_owned(),
                "--max-mutating-requests-inflight=0".to_owned(),
                "--enable-priority-and-fairness=false".to_owned(),
            ])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.server = Some(server);
        let mut asker = Command::new(&self.program)
            .args(["ask", "--token", "token", "--server", &address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = asker.stdin.take().context("no input")?;
        let output = BufReader::new(asker.stdout.take().context("no output")?);
        self.asker = Some((input, output, asker));
        let (begin, log) = (Instant::now(), path("kube-apiserver.log"));
        while self.ask("GET", "/readyz", &Value::Null)?.0 != 200
            || self.ask("GET", "/api/v1/namespaces/default", &Value::Null)?.0 != 200
        {
            ensure!(begin.elapsed() < Duration::from_secs(180), "the API server is not ready: see {log}");
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(address)
    }

    /// Sends one request.
    ///
    /// # Errors
    ///
    /// When the program that sends it breaks.
    pub fn ask(&mut self, method: &str, path: &str, body: &Value) -> Result<Answer> {
        let (input, output, _) = self.asker.as_mut().context("no server was started")?;
        writeln!(input, "{}", json!({ "method": method, "path": path, "body": body }))?;
        input.flush()?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        let mut answer: Value = serde_json::from_str(&line).context("no answer")?;
        let code = answer.get("code").and_then(Value::as_u64).unwrap_or_default();
        Ok((code, answer.get_mut("body").map(Value::take).unwrap_or_default()))
    }

    fn stop(&mut self) {
        if let Some((input, _, mut asker)) = self.asker.take() {
            drop(input);
            drop(asker.wait());
        }
        for mut program in self.others.drain(..).chain(self.server.take()) {
            drop(program.kill());
            drop(program.wait());
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.stop();
        drop(self.etcd.kill());
        drop(self.etcd.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn feature_gates(gates: &[(&str, bool)]) -> String {
    let gates: Vec<String> = gates.iter().map(|(gate, on)| format!("{gate}={on}")).collect();
    format!("--feature-gates={}", gates.join(","))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
