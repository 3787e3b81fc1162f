//! `apportion snapshot`.

use anyhow::Result;
use apportion_core::ask::Inquiry;
use clap::Args;

use crate::cli::arguments::{EngineArguments, InputArguments, LookArguments, NamespaceArguments};
use crate::cli::ask;
use crate::cli::shown::Shown;

/// Write a cluster into one file, without secrets, for `replay`
#[derive(Args, Debug)]
pub(crate) struct SnapshotArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Give nodes, pools, namespaces and namespaced objects other names; drivers, classes, devices and their attributes stay
    #[arg(long, visible_alias = "anonymise")]
    anonymize: bool,
    #[command(flatten)]
    engine: EngineArguments,
}

pub(super) fn snapshot(arguments: &SnapshotArguments) -> Result<Shown> {
    let SnapshotArguments { input, namespace, anonymize, engine } = arguments;
    let mut asked = ask::cluster(engine, &LookArguments::FILE, &input.files(), &input.cluster, namespace)?;
    let answer = asked.inquire_once(&Inquiry::Snapshot { anonymize: *anonymize })?;
    Ok(Shown { stdout: format!("{answer:#}\n").into(), stderr: asked.stderr(), verdict: asked.taken.verdict(true) })
}
