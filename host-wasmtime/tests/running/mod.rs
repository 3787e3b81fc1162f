//! The controller as a program that runs beside a test.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "helpers of tests, of which each program uses a part")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::api_server::ApiServer;

/// The controller's namespace.
pub(crate) const HOME: &str = "apportion-system";

/// A controller that runs; it is killed with this value.
pub(crate) struct Running {
    pub(crate) child: Option<Child>,
    address: SocketAddr,
}

impl Running {
    pub(crate) fn start(server: &ApiServer, arguments: &[&str]) -> Self {
        Self::with(server, arguments, &[])
    }

    /// The same with variables.
    pub(crate) fn with(server: &ApiServer, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
        command.args(["controller", "--namespace", HOME, "--metrics-address", &address.to_string()]).args(arguments);
        command.env_clear().env("KUBECONFIG", server.kubeconfig()).envs(variables.iter().copied());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child: Some(child), address }
    }

    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let code = text.split(' ').nth(1)?.parse().ok()?;
        Some((code, text.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// The value of a metric with these labels.
    pub(crate) fn metric(&self, line: &str) -> f64 {
        let (_, text) = self.get("/metrics").unwrap();
        let found = text.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(' ')?.parse().ok());
        found.unwrap_or_else(|| panic!("{line} is not in\n{text}"))
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(self) -> Output {
        self.signal("-TERM");
        self.ended()
    }

    /// Waits until it ends.
    pub(crate) fn ended(mut self) -> Output {
        self.child.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
