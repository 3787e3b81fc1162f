//! A control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

use std::env;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::proxy::Proxy;
use crate::requests::Requests;

/// Who may do everything.
pub(crate) const ADMIN: &str = "admin";

/// Who may do what the roles of the deployment allow.
pub(crate) const CONTROLLER: &str = "controller";

/// Who may read what the printed role allows.
pub(crate) const READER: &str = "reader";

const MANAGER: &str = "kube-controller-manager";
pub(crate) const SCHEDULER: &str = "kube-scheduler";

pub(crate) const API_SERVER: &str = "kube-apiserver";

/// Users, each as the control plane knows it, with its groups.
const USERS: [(&str, &str, &str); 5] = [
    (ADMIN, "admin", "system:masters"),
    (
        CONTROLLER,
        "system:serviceaccount:apportion-system:apportion",
        "system:serviceaccounts,system:serviceaccounts:apportion-system",
    ),
    (READER, "reader", "readers"),
    (MANAGER, "system:kube-controller-manager", "system:masters"),
    (SCHEDULER, "system:kube-scheduler", "system:masters"),
];

/// Admission that would add to every object what plays no part.
const NOT_ADMITTING: &str = "ServiceAccount,DefaultTolerationSeconds,TaintNodesByCondition";

/// Every feature of devices and groups that this version has.
pub(crate) const GATES: [&str; 20] = [
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRAResourceClaimGranularStatusAuthorization",
    "DRAResourcePoolStatus",
    "DRASchedulerFilterTimeout",
    "DRAWorkloadResourceClaims",
    "GangScheduling",
    "GenericWorkload",
    // What else could hold up or place Pods of groups stays off.
    "TopologyAwareWorkloadScheduling=false",
    "WorkloadAwarePreemption=false",
    "WorkloadWithJob=false",
];

/// Upstream's controllers that do what a part of ours does.
pub(crate) const TWINS: [&str; 3] =
    ["resourceclaim-controller", "podgroup-protection-controller", "device-taint-eviction-controller"];

/// Controllers without a twin here.
const CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,resourcequota-controller,\
    clusterrole-aggregation-controller,validatingadmissionpolicy-status-controller";

/// The control plane; it ends with this value.
pub(crate) struct ControlPlane {
    /// Requests of who may do everything.
    pub(crate) requests: Requests,
    pub(crate) folder: PathBuf,
    programs: Vec<Program>,
    /// Features that are other than usual.
    features: Vec<(String, bool)>,
    /// Where requests are sent from.
    runtime: Runtime,
}

/// A part of the control plane that runs.
struct Program {
    name: &'static str,
    arguments: Vec<String>,
    child: Child,
}

impl Program {
    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program with all of Kubernetes in it.
fn program() -> PathBuf {
    env::var_os("APPORTION_CLUSTER").expect("`cargo xtask e2e` says where the control plane is").into()
}

/// What a deployment consists of, as `kustomize` or `chart` print it.
pub(crate) fn rendered(arguments: &[&str]) -> String {
    let output = Command::new(program()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A file or folder of the deployment.
pub(crate) fn deploy(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path).display().to_string()
}

/// A client; whether it repeats requests that failed.
async fn client(kubeconfig: &Path, repeats: bool) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = repeats;
    Client::try_from(config).unwrap()
}

/// Features as the programs take them, some of them other than usual.
fn gates(others: &[(String, bool)]) -> String {
    let usual = GATES.map(|gate| gate.split_once('=').map_or((gate, true), |(name, on)| (name, on == "true")));
    let is_other = |name: &str| others.iter().any(|(other, _)| other == name);
    let usual = usual.iter().filter(|(name, _)| !is_other(name)).map(|(name, on)| format!("{name}={on}"));
    let all: Vec<String> = usual.chain(others.iter().map(|(name, on)| format!("{name}={on}"))).collect();
    format!("--feature-gates={}", all.join(","))
}

/// Seconds that a program computed so far.
pub(crate) fn computed(program: &Child) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", program.id())).unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Sends a signal to a program.
pub(crate) fn signal(program: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &program.id().to_string()]).status().unwrap().success());
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl ControlPlane {
    /// One with all of upstream's controllers.
    pub(crate) fn start(name: &str) -> Self {
        Self::with(name, &TWINS)
    }

    /// One with some of the controllers that have a twin here.
    pub(crate) fn with(name: &str, twins: &[&str]) -> Self {
        Self::with_features(name, twins, &[])
    }

    /// One with some other controllers, and with some features other than usual.
    pub(crate) fn with_features(name: &str, controllers: &[&str], features: &[(String, bool)]) -> Self {
        let begin = Instant::now();
        let folder = env::temp_dir().join(format!("apportion-cluster-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        let (client_port, peer_port, port) = (free_port(), free_port(), free_port());
        let key = path("key.pem");
        rendered(&["key", &key]);
        let tokens = USERS.map(|(name, user, groups)| format!("{name}-token,{user},{name},\"{groups}\"\n"));
        fs::write(path("tokens.csv"), tokens.concat()).unwrap();
        for (name, ..) in USERS {
            let server = json!({ "server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true });
            let kubeconfig = json!({
                "apiVersion": "v1", "kind": "Config", "current-context": "test",
                "clusters": [{ "name": "test", "cluster": server }],
                "contexts": [{ "name": "test", "context": { "cluster": "test", "user": name } }],
                "users": [{ "name": name, "user": { "token": format!("{name}-token") } }],
            });
            fs::write(path(name), kubeconfig.to_string()).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(client(&folder.join(ADMIN), true));
        let requests = Requests::new(client, runtime.handle().clone());
        let mut plane =
            Self { requests, folder: folder.clone(), programs: Vec::new(), features: features.to_vec(), runtime };
        let (etcd, peer) = (format!("http://127.0.0.1:{client_port}"), format!("http://127.0.0.1:{peer_port}"));
        plane.launch("etcd", &["--folder", &folder.display().to_string(), "--client", &etcd, "--peer", &peer]);
        let gates = gates(features);
        plane.launch(
            API_SERVER,
            &[
                &gates,
                &format!("--etcd-servers={etcd}"),
                "--bind-address=127.0.0.1",
                &format!("--secure-port={port}"),
                &format!("--cert-dir={}", path("certs")),
                &format!("--token-auth-file={}", path("tokens.csv")),
                "--service-account-issuer=https://kubernetes.default.svc",
                &format!("--service-account-key-file={key}"),
                &format!("--service-account-signing-key-file={key}"),
                "--service-cluster-ip-range=10.96.0.0/16",
                "--endpoint-reconciler-type=none",
                "--authorization-mode=RBAC",
                "--runtime-config=api/all=true",
                &format!("--disable-admission-plugins={NOT_ADMITTING}"),
            ],
        );
        plane.until("the API server", 180, |plane| plane.requests.text("/readyz").ok());
        let controllers = [&[CONTROLLERS], controllers].concat().join(",");
        plane.launch(
            MANAGER,
            &[
                &gates,
                &format!("--kubeconfig={}", path(MANAGER)),
                "--leader-elect=false",
                "--secure-port=0",
                "--kube-api-qps=500",
                "--kube-api-burst=500",
                &format!("--controllers={controllers}"),
            ],
        );
        plane.start_scheduler();
        plane.until("the namespace `default`", 60, |plane| plane.requests.text("/api/v1/namespaces/default").ok());
        println!("control plane `{name}`: started in {:.1} s", begin.elapsed().as_secs_f64());
        plane
    }

    /// Starts kube-scheduler.
    pub(crate) fn start_scheduler(&mut self) {
        self.start_scheduler_with(&[]);
    }

    /// The same with some more features other than usual.
    pub(crate) fn start_scheduler_with(&mut self, others: &[(String, bool)]) {
        let others = [others, &self.features].concat();
        let kubeconfig = format!("--kubeconfig={}", self.folder.join(SCHEDULER).display());
        let limits = ["--kube-api-qps=1000", "--kube-api-burst=1000"];
        let arguments = [&gates(&others), &kubeconfig, "--leader-elect=false", "--secure-port=0", limits[0], limits[1]];
        self.launch(SCHEDULER, &arguments);
    }

    /// Kills a program and starts it anew, as it was.
    pub(crate) fn restart(&mut self, name: &str) {
        let at = self.programs.iter().position(|program| program.name == name).unwrap();
        let mut program = self.programs.remove(at);
        program.end();
        self.launch(program.name, &program.arguments.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Stops a program for a while, as `SIGSTOP` does.
    pub(crate) fn pause(&self, name: &str, seconds: u64) {
        let program = self.programs.iter().find(|program| program.name == name).unwrap();
        signal(&program.child, "STOP");
        std::thread::sleep(Duration::from_secs(seconds));
        signal(&program.child, "CONT");
    }

    /// How many lines of kube-scheduler's log say all of this.
    pub(crate) fn scheduler_says(&self, texts: &[&str]) -> usize {
        let log = fs::read_to_string(self.folder.join(format!("{SCHEDULER}.log"))).unwrap_or_default();
        log.lines().filter(|line| texts.iter().all(|text| line.contains(text))).count()
    }

    /// Ends kube-scheduler.
    pub(crate) fn stop_scheduler(&mut self) {
        let is_scheduler = |program: &&mut Program| program.name == SCHEDULER;
        self.programs.iter_mut().filter(is_scheduler).for_each(Program::end);
        self.programs.retain(|program| program.name != SCHEDULER);
    }

    /// Seconds that each program computed so far.
    pub(crate) fn computed(&self) -> Vec<(&'static str, f64)> {
        self.programs.iter().map(|program| (program.name, computed(&program.child))).collect()
    }

    fn launch(&mut self, name: &'static str, arguments: &[&str]) {
        let log = File::create(self.folder.join(format!("{name}.log"))).unwrap();
        let mut command = Command::new(program());
        command.arg(name).args(arguments).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self.programs.push(Program { name, arguments, child: command.spawn().unwrap() });
    }

    /// A proxy for the controller that does something to so many out of a hundred of its requests.
    pub(crate) fn proxy(&self, share: usize, seed: u64) -> Proxy {
        let client = self.runtime.block_on(client(&self.kubeconfig(CONTROLLER), false));
        Proxy::start(self.runtime.handle(), client, share, seed)
    }

    /// The kubeconfig of a user.
    pub(crate) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.folder.join(user)
    }

    /// Waits until something holds.
    pub(crate) fn until<T>(&self, what: &str, seconds: u64, mut holds: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(seconds);
        loop {
            if let Some(found) = holds(self) {
                return found;
            }
            assert!(Instant::now() < end, "waited {seconds} s for {what}; logs are in {}", self.folder.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.programs.iter_mut().rev().for_each(Program::end);
        // What a test that failed left behind helps to find out why.
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
