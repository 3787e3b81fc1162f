//! The program under test, with the rights of its roles.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json as object};

use crate::control_plane::{CONTROLLER, ControlPlane, computed, signal};
use crate::proxy::Proxy;

/// The build under test.
pub(crate) const THIS: &str = env!("CARGO_BIN_EXE_apportion");

/// The controller's namespace.
pub(crate) const HOME: &str = "apportion-system";

/// A controller that runs; it is killed with this value.
pub(crate) struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    /// Starts the parts with the rights that the deployment gives them, and waits until they know everything.
    pub(crate) fn start(plane: &ControlPlane, parts: &str, arguments: &[&str]) -> Self {
        Self::of(THIS, plane, parts, arguments)
    }

    /// The same with another build of the program.
    pub(crate) fn of(program: &str, plane: &ControlPlane, parts: &str, arguments: &[&str]) -> Self {
        Self::with(program, plane, &plane.kubeconfig(CONTROLLER), parts, arguments)
    }

    /// The same behind a proxy.
    pub(crate) fn behind(plane: &ControlPlane, proxy: &Proxy, parts: &str, arguments: &[&str]) -> Self {
        let kubeconfig = plane.folder.join("proxied");
        let server = object!({ "server": format!("http://{}", proxy.address) });
        let config = object!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{ "name": "test", "cluster": server }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
            "users": [{ "name": "test", "user": {} }],
        });
        std::fs::write(&kubeconfig, config.to_string()).unwrap();
        Self::with(THIS, plane, &kubeconfig, parts, arguments)
    }

    fn with(program: &str, plane: &ControlPlane, kubeconfig: &Path, parts: &str, arguments: &[&str]) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let log = File::options().create(true).append(true).open(plane.folder.join("controller.log")).unwrap();
        let mut command = Command::new(program);
        command.args(["controller", "--controllers", parts, "--namespace", HOME]);
        command.args(["--metrics-address", &address.to_string()]).args(arguments);
        command.env_clear().env("KUBECONFIG", kubeconfig).stdout(Stdio::null()).stderr(log);
        let running = Self { child: command.spawn().unwrap(), address };
        plane.until("the controller to be ready", 60, |_| (running.get("/readyz")?.0 == 200).then_some(()));
        running
    }

    fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let code = text.split(' ').nth(1)?.parse().ok()?;
        Some((code, text.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// The sum of all values of a metric whose labels have these texts.
    pub(crate) fn metric(&self, name: &str, labels: &[&str]) -> f64 {
        self.try_metric(name, labels).unwrap()
    }

    /// The same; `None` where it does not answer.
    pub(crate) fn try_metric(&self, name: &str, labels: &[&str]) -> Option<f64> {
        let (_, text) = self.get("/metrics")?;
        let fits = |line: &&str| {
            line.split(['{', ' ']).next() == Some(name) && labels.iter().all(|label| line.contains(label))
        };
        let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0);
        Some(text.lines().filter(fits).map(value).sum())
    }

    pub(crate) fn leads(&self) -> bool {
        self.metric("apportion_leader", &[]) == 1.0
    }

    /// All writes, whatever became of them.
    pub(crate) fn writes(&self) -> f64 {
        self.metric("apportion_writes_total", &[])
    }

    /// Ends it without a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Seconds that its threads computed so far.
    pub(crate) fn computed(&self) -> f64 {
        computed(&self.child)
    }

    /// Resident memory in MiB.
    pub(crate) fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() >> 10
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks the command line, as a user of the control plane.
pub(crate) fn ask(plane: &ControlPlane, user: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(THIS);
    command.args(arguments).env_clear().env("KUBECONFIG", plane.kubeconfig(user));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).output().unwrap()
}

/// An answer on standard output, as JSON.
pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}
