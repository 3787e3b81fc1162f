//! The commands. The file of each holds its arguments, what it asks and how it shows the answer.

mod allocate;
mod batch;
mod cel;
mod check;
mod completions;
mod controller;
mod convert;
mod crct;
mod diff;
mod explain;
mod fit;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod plan;
mod playground;
mod replay;
mod replay_trace;
mod run;
mod schema;
mod snapshot;
mod taint;
mod usage;
mod validate;
mod what_if;

use std::env;
use std::path::Path;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory, Parser, Subcommand};

use super::shown::Shown;
use crate::api_server::{PLANNED, READ, Resource, WATCHED};
use crate::controller::ControllerArguments;

/// Decides Kubernetes Dynamic Resource Allocation (DRA): which claim gets which devices, on which node, and why not.
///
/// Answers as kube-scheduler would, from manifests alone: no cluster is needed. With `--from-cluster` it answers for a live
/// one, which is only read.
#[derive(Parser, Debug)]
#[command(version, propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 yes, 1 no (an error in the input, or something that stays Pending), 2 could not ask \
(arguments, unreadable files, a limit), 101 a defect of apportion, 130 interrupted";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Run(run::RunArguments),
    Allocate(allocate::AllocateArguments),
    Validate(validate::ValidateArguments),
    Check(check::CheckArguments),
    Convert(convert::ConvertArguments),
    WhatIf(what_if::WhatIfArguments),
    Fit(fit::FitArguments),
    Usage(usage::UsageArguments),
    Diff(diff::DiffArguments),
    Taint(taint::TaintArguments),
    Batch(batch::BatchArguments),
    Cel(cel::CelArguments),
    Snapshot(snapshot::SnapshotArguments),
    Plan(plan::PlanArguments),
    /// Look after cluster-wide claim templates (kind ClusterResourceClaimTemplate of apportion.dev, short name `crct`)
    #[command(subcommand)]
    Crct(crct::CrctCommand),
    /// Work in a cluster: copy claim templates to namespaces, tell users why Pods wait for devices
    #[command(after_help = controller::EXAMPLE)]
    Controller(Box<ControllerArguments>),
    Replay(replay::ReplayArguments),
    ReplayTrace(replay_trace::ReplayTraceArguments),
    Schema(schema::SchemaArguments),
    Playground(playground::PlaygroundArguments),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
    #[command(alias = "explain-code")]
    Explain(explain::ExplainArguments),
}

impl Command {
    /// Whether it ends without somebody who ends it.
    pub(crate) const fn ends_by_itself(&self) -> bool {
        match self {
            Self::Controller(_) | Self::Playground(_) | Self::Batch(_) => false,
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => false,
            Self::Check(arguments) => !arguments.watch,
            _ => true,
        }
    }

    pub(crate) fn run(&self) -> Result<Shown> {
        match self {
            Self::Run(arguments) => run::run(arguments),
            Self::Allocate(arguments) => allocate::allocate(arguments),
            Self::Validate(arguments) => validate::validate(arguments),
            Self::Check(arguments) => check::check(arguments),
            Self::Convert(arguments) => convert::convert(arguments),
            Self::WhatIf(arguments) => what_if::what_if(arguments),
            Self::Fit(arguments) => fit::fit(arguments),
            Self::Usage(arguments) => usage::usage(arguments),
            Self::Diff(arguments) => diff::diff(arguments),
            Self::Taint(arguments) => taint::taint(arguments),
            Self::Batch(arguments) => batch::batch(arguments),
            Self::Cel(arguments) => cel::cel(arguments),
            Self::Snapshot(arguments) => snapshot::snapshot(arguments),
            Self::Plan(arguments) => plan::plan(arguments),
            Self::Crct(command) => command.run(),
            Self::Controller(arguments) => controller::controller(arguments),
            Self::Replay(arguments) => replay::replay(arguments),
            Self::ReplayTrace(arguments) => replay_trace::replay_trace(arguments),
            Self::Schema(arguments) => schema::schema(arguments),
            Self::Playground(arguments) => playground::playground(arguments),
            #[cfg(feature = "mcp")]
            Self::Mcp(arguments) => mcp::mcp(arguments),
            Self::Completions(arguments) => Ok(completions::completions(arguments, Arguments::command())),
            Self::Man(arguments) => man::pages(arguments, Arguments::command()),
            Self::Explain(arguments) => explain::explain(arguments),
        }
    }

    /// The kinds that are read of a live cluster, and how.
    pub(crate) const fn reads(&self) -> (&'static [Resource], &'static [&'static str]) {
        match self {
            Self::Plan(_) | Self::Crct(_) => (&PLANNED, &["list"]),
            Self::Check(arguments) if arguments.watch => (&WATCHED, &["list", "watch"]),
            _ => (&READ, &["list"]),
        }
    }
}

/// Whether nothing is wanted but the role that `--from-cluster` needs.
pub(crate) fn wants_role(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, of)| {
        let flag = |name| of.try_get_one::<bool>(name).ok().flatten().copied();
        (flag("from_cluster").is_some() && flag("print_rbac") == Some(true)) || wants_role(of)
    })
}

/// Name under which kubectl finds the program as a plugin: `kubectl apportion`.
const PLUGIN: &str = "kubectl-apportion";

/// The name that users type.
const AS_PLUGIN: &str = "kubectl apportion";

/// The arguments, with the name that the program was started by.
pub(crate) fn definition() -> clap::Command {
    let called = env::args_os().next();
    let stem = called.as_deref().and_then(|path| Path::new(path).file_stem());
    match stem.is_some_and(|stem| stem == PLUGIN) {
        true => Arguments::command().bin_name(AS_PLUGIN),
        false => Arguments::command(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
