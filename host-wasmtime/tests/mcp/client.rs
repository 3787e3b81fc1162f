//! A session: the program as a child, and the SDK's client at its pipes.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams, ResourceContents};
use rmcp::service::{Peer, RunningService};
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tokio::net::unix::pipe;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.args(arguments).current_dir(root()).env_clear().stdin(Stdio::null());
    command
}

pub(crate) fn arguments(tool: &str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.as_object().unwrap().clone())
}

pub(crate) struct Session {
    pub(crate) peer: Peer<RoleClient>,
    running: RunningService<RoleClient, ()>,
    child: Child,
}

impl Session {
    async fn start(arguments: &[&str]) -> Self {
        let mut command = command(&[&["mcp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = pipe::Receiver::from_owned_fd(OwnedFd::from(child.stdout.take().unwrap())).unwrap();
        let output = pipe::Sender::from_owned_fd(OwnedFd::from(child.stdin.take().unwrap())).unwrap();
        let running = ().serve((input, output)).await.unwrap();
        Self { peer: running.peer().clone(), running, child }
    }

    /// The text of an answer, and whether it is an error.
    pub(crate) async fn ask(&self, tool: &str, asked: &Value) -> (String, bool) {
        let answer = self.peer.call_tool(arguments(tool, asked)).await.unwrap();
        let text: String = answer.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        (text, answer.is_error == Some(true))
    }

    pub(crate) async fn resource(&self, uri: &str) -> Option<String> {
        let read = self.peer.read_resource(ReadResourceRequestParams::new(uri)).await.ok()?;
        match read.contents.into_iter().next()? {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The program ends when its input does.
    async fn end(mut self) {
        self.running.cancel().await.unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// Does something in a session with a server that was started with these arguments.
pub(crate) fn in_session(arguments: &[&str], work: impl AsyncFnOnce(&Session)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = Session::start(arguments).await;
        work(&session).await;
        session.end().await;
    });
}
