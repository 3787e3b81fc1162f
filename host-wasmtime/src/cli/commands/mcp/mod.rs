//! `apportion mcp`: the answers for agents, over the Model Context Protocol.
//!
//! A call becomes a command line of this program, apart from its manifests, which are held in memory: a tool says what its
//! command says, and no call can name a file.

mod answer;
mod call;
mod resources;
mod server;
mod tools;

use anyhow::{Context, Result};
use clap::Args;
use tokio::runtime::Builder;

use crate::cli::arguments::{ClusterArguments, EngineArguments};
use crate::cli::shown::Shown;
use call::Setup;
use server::Server;

const EXAMPLE: &str = "\
Example:
  apportion mcp dump.yaml manifests/
  apportion mcp --from-cluster --context kind-test";

/// Answer agents: a server of the Model Context Protocol on standard input and output, which changes nothing
///
/// Reads the files and folders that are named here, the text in a call, and nothing else. Asks a cluster only with
/// `--from-cluster`, which lists.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArguments {
    /// Manifests that calls are about: files, and folders with all .yaml, .yml and .json below them; read anew for each call
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The same behind a flag, as kubectl has it
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH", num_args = 1..)]
    files: Vec<String>,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    engine: EngineArguments,
    /// Bytes of manifests that one call may be about
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20, help_heading = "Limits")]
    max_input: usize,
    /// Bytes of one answer
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10, help_heading = "Limits")]
    max_answer: usize,
}

/// Serves until the client closes standard input.
pub(super) fn mcp(arguments: &McpArguments) -> Result<Shown> {
    let server = Server::new(Setup::new(arguments)?);
    let runtime = Builder::new_current_thread().enable_all().build().context("no call can be answered")?;
    let served = runtime.block_on(server.serve());
    // A call that nobody waits for any more.
    runtime.shutdown_background();
    served.map(|()| Shown::text(String::new()))
}
