//! The arguments, command by command.

mod shared;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

pub(crate) use shared::{
    ClusterArguments, Color, EngineArguments, FileArguments, InputArguments, KubernetesArguments, LookArguments,
    ModeChoice, Output, RepeatedArguments, ReportOutput, RunOutput, ViewArguments,
};

use crate::api_server::{PLANNED, READ, Resource};
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
    /// Show what DRA does with manifests: Pods, their claims, the devices they get, and why the rest is Pending
    #[command(after_help = RUN_EXAMPLE)]
    Run(RunArguments),
    /// Allocate single claims together, without a Pod
    #[command(after_help = ALLOCATE_EXAMPLE)]
    Allocate(AllocateArguments),
    /// Say what the API server would answer to manifests, and what would only show when a Pod stays Pending
    #[command(after_help = VALIDATE_EXAMPLE)]
    Validate(ValidateArguments),
    /// Find what is wrong in a dump of a cluster, each with the next step that is safe
    #[command(after_help = CHECK_EXAMPLE)]
    Check(CheckArguments),
    /// Rewrite manifests for another version of their API, comments kept where the text allows
    #[command(after_help = CONVERT_EXAMPLE)]
    Convert(ConvertArguments),
    /// Say what would change if objects came or went, devices were tainted or nodes cordoned
    #[command(after_help = WHAT_IF_EXAMPLE)]
    WhatIf(WhatIfArguments),
    /// Say how many more of a claim fit, and what runs out first
    #[command(after_help = FIT_EXAMPLE)]
    Fit(FitArguments),
    /// Compare two clusters: nodes, devices, allocations, and which Pods became Pending, and why
    #[command(after_help = DIFF_EXAMPLE)]
    Diff(DiffArguments),
    /// Say which Pods would be evicted if devices were tainted, and when
    #[command(after_help = TAINT_EXAMPLE)]
    Taint(TaintArguments),
    /// Evaluate a CEL expression on devices: value, type, cost, and the values of its parts
    #[command(after_help = CEL_EXAMPLE)]
    Cel(CelArguments),
    /// Write a cluster into one file, without secrets, for `replay`
    Snapshot(SnapshotArguments),
    /// Say which copies of cluster-wide claim templates the controller would make, replace and delete
    #[command(after_help = PLAN_EXAMPLE)]
    Plan(PlanArguments),
    /// Look after cluster-wide claim templates (kind ClusterResourceClaimTemplate of apportion.dev, short name `crct`)
    #[command(subcommand)]
    Crct(CrctCommand),
    /// Work in a cluster: copy claim templates to namespaces, tell users why Pods wait for devices
    #[command(after_help = CONTROLLER_EXAMPLE)]
    Controller(Box<ControllerArguments>),
    /// Run a snapshot with the settings in it; the same bytes on every host
    Replay(ReplayArguments),
    /// Open the playground in a browser: a page that this program serves to this machine only
    #[command(after_help = PLAYGROUND_EXAMPLE)]
    Playground(PlaygroundArguments),
    /// Print what a shell needs to complete this program's arguments
    #[command(after_help = COMPLETIONS_EXAMPLE)]
    Completions(CompletionsArguments),
    /// Write the manual pages of the program and of all its commands
    #[command(after_help = MAN_EXAMPLE)]
    Man(ManArguments),
    /// Say why a claim, Pod or PodGroup is Pending and what would help; with a code such as `read/unknown-field`, what it means
    #[command(alias = "explain-code", after_help = EXPLAIN_EXAMPLE)]
    Explain(ExplainArguments),
}

impl Command {
    /// How a live cluster is read, for commands that can.
    pub(crate) const fn cluster(&self) -> Option<&ClusterArguments> {
        match self {
            Self::Run(arguments) => Some(&arguments.input.cluster),
            Self::Allocate(arguments) => Some(&arguments.input.cluster),
            Self::Check(arguments) => Some(&arguments.input.cluster),
            Self::Explain(arguments) => Some(&arguments.cluster),
            Self::WhatIf(arguments) => Some(&arguments.input.cluster),
            Self::Fit(arguments) => Some(&arguments.input.cluster),
            Self::Diff(arguments) => Some(&arguments.cluster),
            Self::Taint(arguments) => Some(&arguments.input.cluster),
            Self::Cel(arguments) => Some(&arguments.input.cluster),
            Self::Snapshot(arguments) => Some(&arguments.input.cluster),
            Self::Plan(arguments) => Some(&arguments.input.cluster),
            Self::Crct(CrctCommand::Status(arguments)) => Some(&arguments.input.cluster),
            Self::Crct(CrctCommand::Export(arguments)) => Some(&arguments.input.cluster),
            Self::Validate(_)
            | Self::Convert(_)
            | Self::Replay(_)
            | Self::Controller(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Playground(_) => None,
        }
    }
}

impl Command {
    /// The kinds that are read of a live cluster.
    pub(crate) const fn kinds(&self) -> &'static [Resource] {
        if matches!(self, Self::Plan(_) | Self::Crct(_)) { &PLANNED } else { &READ }
    }
}

const COMPLETIONS_EXAMPLE: &str = "\
Example:
  apportion completions bash > ~/.local/share/bash-completion/completions/apportion";

const MAN_EXAMPLE: &str = "\
Example:
  apportion man ~/.local/share/man/man1";

#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Folder for the pages; it is made where it is missing
    pub(crate) folder: std::path::PathBuf,
}

const RUN_EXAMPLE: &str = "\
Example:
  apportion run -f examples/gpu-sharing/
  kubectl get resourceslices,deviceclasses -o yaml | apportion run -f - -f my-job.yaml --kubernetes-version 1.36
  apportion run -f examples/life/cluster.yaml --script examples/life/script.yaml --until 10m --output html > life.html";

const ALLOCATE_EXAMPLE: &str = "\
Example:
  apportion allocate -f examples/gpu-sharing/ --claim ml/team-gpu --node node-c";

const VALIDATE_EXAMPLE: &str = "\
Example:
  apportion validate -f manifests/ --profile 1.35
  kubectl get resourceclaims,resourceslices -A -o yaml | apportion validate -f -";

const CHECK_EXAMPLE: &str = "\
Example:
  kubectl get resourceclaims,resourceslices,pods,nodes -A -o yaml | apportion check -f -";

const CONVERT_EXAMPLE: &str = "\
Example:
  apportion convert -f old.yaml --to v1 > new.yaml
  apportion convert -f manifests/ --to v1 --in-place";

const WHAT_IF_EXAMPLE: &str = "\
Example:
  apportion what-if -f examples/gpu-sharing/ --without pod/ml/notebook
  apportion what-if -f examples/gpu-sharing/ --cordon node-a --taint gpu.example.com/node-b=broken:NoExecute";

const FIT_EXAMPLE: &str = "\
Example:
  apportion fit -f examples/gpu-sharing/ --claim-template ml/small-gpu";

const DIFF_EXAMPLE: &str = "\
Example:
  apportion diff before.yaml after.yaml
  apportion diff before.yaml --from-cluster";

const TAINT_EXAMPLE: &str = "\
Example:
  apportion taint --preview gpu.example.com/node-a=broken:NoExecute -f examples/gpu-sharing/";

const PLAN_EXAMPLE: &str = "\
Example:
  apportion plan -f examples/templates/
  apportion plan --from-cluster -f new-template.yaml";

const CRCT_STATUS_EXAMPLE: &str = "\
Example:
  apportion crct status --from-cluster
  apportion crct status --from-cluster single-gpu";

const CRCT_EXPORT_EXAMPLE: &str = "\
Example:
  apportion crct export --from-cluster > templates.yaml
  apportion crct export --from-cluster --as copies > copies.yaml";

const CONTROLLER_EXAMPLE: &str = "\
Example:
  apportion controller --print-crd | kubectl apply -f -
  apportion controller --print-rbac --namespace apportion-system | kubectl apply -f -
  apportion controller --controllers template-sync --context kind-test";

const CEL_EXAMPLE: &str = "\
Example:
  apportion cel 'device.driver == \"nic.example.com\"' --device node-a/gpu-0 -f examples/gpu-sharing/";

const PLAYGROUND_EXAMPLE: &str = "\
Example:
  apportion playground --port 8080 --no-open";

const EXPLAIN_EXAMPLE: &str = "\
Example:
  apportion explain -f examples/gpu-sharing/ --pod ml/huge-model
  apportion explain -f examples/gpu-sharing/ --claim ml/huge --node node-a
  apportion explain --from-cluster --pod ml/huge-model
  apportion explain read/unknown-field";

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) life: LifeArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = RunOutput::Table, help_heading = "Output")]
    pub(crate) output: RunOutput,
    #[command(flatten)]
    pub(crate) look: LookArguments,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Time")]
pub(crate) struct LifeArguments {
    /// Let so much virtual time pass, for instance 10m, and show what happens in it
    #[arg(long, value_name = "DURATION")]
    pub(crate) until: Option<String>,
    /// What is done to the cluster and when: a YAML list of steps such as `at: 30s, delete: pod/x`
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<String>,
    /// Show the Events that users would see
    #[arg(long)]
    pub(crate) events: bool,
    /// Show how things stand after each step of the script
    #[arg(long)]
    pub(crate) step: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    /// The time of the dump, as 2026-03-01T12:00:00Z; without it the latest that its objects speak of
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct AllocateArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// A ResourceClaim of the manifests, as NAMESPACE/NAME; the name alone where it is the only one. Several are
    /// allocated together, as those of one Pod
    #[arg(long = "claim", short = 'c', value_name = "CLAIM", required = true, num_args = 1..)]
    pub(crate) claims: Vec<String>,
    /// Nodes to try, in this order; without any, all nodes by name
    #[arg(long = "node", short = 'n', value_name = "NODE", num_args = 1..)]
    pub(crate) nodes: Vec<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArguments {
    #[command(flatten)]
    pub(crate) input: FileArguments,
    /// Manifests as they are stored: an object that is among them is updated, not created
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) old: Vec<String>,
    /// The update is one of the status, through the subresource; needs `--old`
    #[arg(long, requires = "old")]
    pub(crate) status: bool,
    /// Correct what has one certain correction in the files
    #[arg(long)]
    pub(crate) fix: bool,
    /// End with exit code 1 for warnings, too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = ReportOutput::Table, help_heading = "Output")]
    pub(crate) output: ReportOutput,
    #[command(flatten)]
    pub(crate) view: LookArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    pub(crate) input: FileArguments,
    /// The version that the objects are to have
    #[arg(long, value_name = "VERSION", default_value = "v1")]
    pub(crate) to: String,
    /// Write the files instead of standard output
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    #[command(flatten)]
    pub(crate) view: LookArguments,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("objects").args(["files", "from_cluster"]).multiple(true)))]
pub(crate) struct ExplainArguments {
    /// A code; without one and without objects, all codes are listed
    #[arg(conflicts_with = "objects")]
    pub(crate) code: Option<String>,
    /// Manifests: a file, a folder (with all .yaml, .yml and .json below it), `-` for standard input; may be repeated
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// A ResourceClaim, as NAMESPACE/NAME; the name alone where it is the only one
    #[arg(long, short = 'c', value_name = "NAME", requires = "objects", group = "subject", help_heading = "What")]
    pub(crate) claim: Option<String>,
    /// A Pod; without any of these four, everything that is Pending
    #[arg(long, short = 'p', value_name = "NAME", requires = "objects", group = "subject", help_heading = "What")]
    pub(crate) pod: Option<String>,
    /// A PodGroup
    #[arg(long, value_name = "NAME", requires = "objects", group = "subject", help_heading = "What")]
    pub(crate) podgroup: Option<String>,
    /// A ResourceClaimTemplate: whether a claim made from it would fit
    #[arg(long, value_name = "NAME", requires = "objects", group = "subject", help_heading = "What")]
    pub(crate) claim_template: Option<String>,
    /// List every device of a node with all reasons against it, and ask for these nodes only
    #[arg(long = "node", short = 'n', value_name = "NODE", num_args = 1.., requires = "objects", help_heading = "What")]
    pub(crate) nodes: Vec<String>,
    /// List this device only: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE
    #[arg(long, short = 'd', value_name = "DEVICE", requires = "objects", help_heading = "What")]
    pub(crate) device: Option<String>,
    /// Print the changed manifests of the suggestion with this number, or the setting
    #[arg(long, value_name = "N", requires = "objects")]
    pub(crate) apply: Option<usize>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct WhatIfArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// Manifests that are added, or replace objects of the same name
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "Changes")]
    pub(crate) with: Vec<String>,
    /// Objects that go, as KIND/NAME or KIND/NAMESPACE/NAME; with a node go its slices and Pods
    #[arg(long, value_name = "KIND/NAME", num_args = 1.., help_heading = "Changes")]
    pub(crate) without: Vec<String>,
    /// Taints, as DEVICES=KEY[=VALUE]:EFFECT; devices are DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE
    #[arg(long, value_name = "TAINT", num_args = 1.., value_parser = parse_taint, help_heading = "Changes")]
    pub(crate) taint: Vec<(String, String)>,
    /// Nodes that take no new Pods
    #[arg(long, value_name = "NODE", num_args = 1.., help_heading = "Changes")]
    pub(crate) cordon: Vec<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// A ResourceClaimTemplate, as NAMESPACE/NAME; the name alone where it is the only one
    #[arg(long, short = 't', value_name = "NAME", required_unless_present = "claim")]
    pub(crate) claim_template: Option<String>,
    /// A ResourceClaim
    #[arg(long, short = 'c', value_name = "NAME", conflicts_with = "claim_template")]
    pub(crate) claim: Option<String>,
    /// What is counted
    #[arg(long, value_enum, default_value_t = PerChoice::Node)]
    pub(crate) per: PerChoice,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PerChoice {
    /// Nodes
    Node,
    /// Pools: the devices of one pool alone
    Pool,
    /// Device classes: single devices of each
    Class,
}

#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// The cluster before: a file or folder
    pub(crate) before: String,
    /// The cluster after
    #[arg(required_unless_present_any = ["from_cluster", "print_rbac"], conflicts_with = "from_cluster")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct TaintArguments {
    /// Taints, as DEVICES=KEY[=VALUE]:EFFECT; without one, who has to go as things are
    #[arg(value_name = "TAINT", value_parser = parse_taint)]
    pub(crate) taints: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) input: RepeatedArguments,
    /// Only show what would happen; nothing else is done so far. Where no claim has devices yet, the manifests are played first,
    /// as `run` does
    #[arg(long, required = true)]
    pub(crate) preview: bool,
    /// The time, as RFC 3339, for taints that are tolerated for a while; now, where left out
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct CelArguments {
    /// The expression
    pub(crate) expression: String,
    #[command(flatten)]
    pub(crate) input: RepeatedArguments,
    /// The device: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE; without one, every device
    #[arg(long, short = 'd', value_name = "DEVICE", default_value = "", hide_default_value = true)]
    pub(crate) device: String,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct SnapshotArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// Give nodes, pools, namespaces and namespaced objects other names; drivers, classes, devices and their attributes stay
    #[arg(long, visible_alias = "anonymise")]
    pub(crate) anonymize: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CrctCommand {
    /// Say how the copies of each template stand: in numbers, and where one is missing, why
    #[command(after_help = CRCT_STATUS_EXAMPLE)]
    Status(CrctStatusArguments),
    /// Print templates or their copies as manifests that stand by themselves, to keep them or to go on without the controller
    #[command(after_help = CRCT_EXPORT_EXAMPLE)]
    Export(CrctExportArguments),
}

#[derive(Args, Debug)]
pub(crate) struct CrctExportArguments {
    #[command(flatten)]
    pub(crate) input: RepeatedArguments,
    /// What is printed
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = ExportForm::Sources)]
    pub(crate) form: ExportForm,
    /// The controller's namespace, where master templates are
    #[arg(long, value_name = "NAMESPACE", default_value = "apportion-system")]
    pub(crate) namespace: String,
    #[command(flatten)]
    pub(crate) look: LookArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExportForm {
    /// The templates, without what servers add
    Sources,
    /// ClusterResourceClaimTemplates as KEP-5978 proposed them for resource.k8s.io: for every namespace, with the names of the copies
    ClusterTemplates,
    /// The copies, without the marks by which the controller knows them
    Copies,
}

#[derive(Args, Debug)]
pub(crate) struct CrctStatusArguments {
    /// Templates, with all their namespaces; without a name all of them, with the namespaces that lack the current copy
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) input: RepeatedArguments,
    /// Show namespaces that have the current copy, too
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) sync: TemplateSyncArguments,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

/// What template-sync would be told when it starts.
#[derive(Args, Debug)]
pub(crate) struct TemplateSyncArguments {
    /// The controller's namespace, where master templates are
    #[arg(long, value_name = "NAMESPACE", default_value = "apportion-system")]
    pub(crate) namespace: String,
    /// As the controller's argument of this name
    #[arg(long)]
    pub(crate) allow_admin_access: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) sync: TemplateSyncArguments,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    /// The snapshot; `-` for standard input
    pub(crate) file: String,
    /// Ask the same code outside of the component, for comparison
    #[arg(long)]
    pub(crate) native: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PlaygroundArguments {
    /// Port on 127.0.0.1; any free one where it is 0
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Print the address and leave the browser alone
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Devices and the taint, cut at the first `=`.
fn parse_taint(text: &str) -> Result<(String, String), String> {
    let (devices, taint) = text.split_once('=').ok_or("write it as DEVICES=KEY:EFFECT")?;
    Ok((devices.to_owned(), taint.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
