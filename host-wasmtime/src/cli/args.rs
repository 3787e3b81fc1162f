//! The arguments.

use apportion_core::profile::{Mode, Version};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Decides Kubernetes Dynamic Resource Allocation (DRA): which claim gets which devices, on which node, and why not.
///
/// Answers as kube-scheduler would, from manifests alone: no cluster is needed and none is touched.
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
    /// Rewrite manifests for another version of their API, comments kept where the text allows
    #[command(after_help = CONVERT_EXAMPLE)]
    Convert(ConvertArguments),
    /// Say why a claim, Pod or PodGroup is Pending and what would help; with a code such as `read/unknown-field`, what it means
    #[command(alias = "explain-code", after_help = EXPLAIN_EXAMPLE)]
    Explain(ExplainArguments),
}

const RUN_EXAMPLE: &str = "\
Example:
  apportion run -f examples/gpu-sharing/
  kubectl get resourceslices,deviceclasses -o yaml | apportion run -f - -f my-job.yaml --kubernetes-version 1.36";

const ALLOCATE_EXAMPLE: &str = "\
Example:
  apportion allocate -f examples/gpu-sharing/ --claim ml/team-gpu --node node-c";

const VALIDATE_EXAMPLE: &str = "\
Example:
  apportion validate -f manifests/ --profile 1.35
  kubectl get resourceclaims,resourceslices -A -o yaml | apportion validate -f -";

const CONVERT_EXAMPLE: &str = "\
Example:
  apportion convert -f old.yaml --to v1 > new.yaml
  apportion convert -f manifests/ --to v1 --in-place";

const EXPLAIN_EXAMPLE: &str = "\
Example:
  apportion explain -f examples/gpu-sharing/ --pod ml/huge-model
  apportion explain -f examples/gpu-sharing/ --claim ml/huge --node node-a
  apportion explain read/unknown-field";

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
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
    pub(crate) input: InputArguments,
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
    pub(crate) input: InputArguments,
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
pub(crate) struct ExplainArguments {
    /// A code; without one and without manifests, all codes are listed
    #[arg(conflicts_with = "files")]
    pub(crate) code: Option<String>,
    /// Manifests: files, folders (with all .yaml, .yml and .json below them), `-` for standard input
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH", num_args = 1..)]
    pub(crate) files: Vec<String>,
    /// A ResourceClaim, as NAMESPACE/NAME; the name alone where it is the only one
    #[arg(long, short = 'c', value_name = "NAME", requires = "files", group = "subject", help_heading = "What")]
    pub(crate) claim: Option<String>,
    /// A Pod; without any of these four, everything that is Pending
    #[arg(long, short = 'p', value_name = "NAME", requires = "files", group = "subject", help_heading = "What")]
    pub(crate) pod: Option<String>,
    /// A PodGroup
    #[arg(long, value_name = "NAME", requires = "files", group = "subject", help_heading = "What")]
    pub(crate) podgroup: Option<String>,
    /// A ResourceClaimTemplate: whether a claim made from it would fit
    #[arg(long, value_name = "NAME", requires = "files", group = "subject", help_heading = "What")]
    pub(crate) claim_template: Option<String>,
    /// List every device of a node with all reasons against it, and ask for these nodes only
    #[arg(long = "node", short = 'n', value_name = "NODE", num_args = 1.., requires = "files", help_heading = "What")]
    pub(crate) nodes: Vec<String>,
    /// List this device only: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE
    #[arg(long, short = 'd', value_name = "DEVICE", requires = "files", help_heading = "What")]
    pub(crate) device: Option<String>,
    /// Print the changed manifests of the suggestion with this number
    #[arg(long, value_name = "N", requires = "files")]
    pub(crate) apply: Option<usize>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
}

#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// Manifests: files, folders (with all .yaml, .yml and .json below them), `-` for standard input
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH", required = true, num_args = 1..)]
    pub(crate) files: Vec<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct KubernetesArguments {
    /// The Kubernetes that answers: 1.34, 1.35, 1.36, 1.37, or all for the newest with every feature on
    #[arg(long, visible_alias = "profile", value_name = "VERSION", default_value = "all", value_parser = parse_version)]
    pub(crate) kubernetes_version: Version,
    /// Feature gates that differ from the version's defaults, for instance DRADeviceTaints=false
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = parse_gate)]
    pub(crate) feature_gates: Vec<(String, bool)>,
    /// Ask the same code outside of the component, for comparison
    #[arg(long)]
    pub(crate) native: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct EngineArguments {
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    /// Whether known defects of that version are reproduced
    #[arg(long, value_enum, default_value_t = ModeChoice::Sound)]
    pub(crate) mode: ModeChoice,
    /// Devices that one search may try before it gives up
    #[arg(long, value_name = "N", default_value_t = apportion_core::allocate::Limits::default().max_steps)]
    pub(crate) max_steps: u64,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewArguments {
    /// How the answer is written
    #[arg(long, short = 'o', value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) look: LookArguments,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct LookArguments {
    /// Colour; `auto` is on a terminal only, and honours NO_COLOR
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// ASCII only, no colour, reads well aloud
    #[arg(long)]
    pub(crate) plain: bool,
    /// Show every remark, also those that are only worth knowing
    #[arg(long, short = 'v')]
    pub(crate) verbose: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// For people
    Table,
    /// For programs, format `apportion/v1`
    Json,
    /// The same as YAML
    Yaml,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReportOutput {
    /// For people, under the lines of the manifests
    Table,
    /// For programs, format `apportion/v1`
    Json,
    /// The same as YAML
    Yaml,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit, a test case for each object
    Junit,
    /// Annotations of GitHub's workflows
    Github,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ModeChoice {
    /// No: the correct answer
    Sound,
    /// Yes: the version's answer
    Reference,
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Sound => Self::Sound,
            ModeChoice::Reference => Self::Reference,
        }
    }
}

fn parse_version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| "known are 1.34, 1.35, 1.36, 1.37 and all".to_owned())
}

fn parse_gate(text: &str) -> Result<(String, bool), String> {
    let (name, value) = text.split_once('=').ok_or("write it as GATE=true or GATE=false")?;
    let value = match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => true,
        "false" | "f" | "0" => false,
        _ => return Err(format!("`{value}` is neither true nor false")),
    };
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn gates_are_written_as_for_kubernetes() {
        assert_eq!(parse_gate("DRADeviceTaints=False"), Ok(("DRADeviceTaints".to_owned(), false)));
        assert!(parse_gate("DRADeviceTaints").is_err() && parse_gate("X=yes").is_err());
    }
}
