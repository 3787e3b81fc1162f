//! Arguments of more than one command.

use std::str::FromStr;

use anyhow::{Result, bail};
use apportion::{Door, Runner};
use apportion_core::ask::{Supposition, TaintSpec};
use apportion_core::control_plane::script::kind_named;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Mode, Ranking, Release};
use clap::{Args, ValueEnum};

use super::ask::{self, Asked};
use super::files::{self, Network, Source};

#[derive(Args, Debug)]
pub(crate) struct FileArguments {
    /// Manifests: files, folders (with all .yaml, .yml and .json below them), patterns, `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "files")]
    paths: Vec<String>,
    /// The same behind a flag, as kubectl has it
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH", num_args = 1..)]
    files: Vec<String>,
    /// Read manifests from addresses (`https://...`), too
    #[arg(long)]
    allow_network: bool,
    /// See [`ClusterArguments::held`].
    #[arg(skip)]
    pub(crate) held: Option<Vec<Source>>,
}

impl FileArguments {
    /// Reads all paths, those without a flag first.
    pub(crate) fn read(&self) -> Result<Vec<Source>> {
        match &self.held {
            Some(held) => Ok(held.clone()),
            None => files::read(&[self.paths.as_slice(), &self.files].concat(), Network::of(self.allow_network)),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// Manifests: files, folders (with all .yaml, .yml and .json below them), patterns, `-` for standard input
    #[arg(value_name = "PATH", required_unless_present_any = ["files", "from_cluster", "print_rbac"])]
    paths: Vec<String>,
    /// The same behind a flag, as kubectl has it
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH", num_args = 1..)]
    files: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
}

impl InputArguments {
    /// All paths, those without a flag first.
    pub(crate) fn files(&self) -> Vec<String> {
        [self.paths.as_slice(), &self.files].concat()
    }
}

// The same for commands whose arguments without a name are something else. One file behind each `-f`, and further ones where a path may
// stand without a flag.
#[derive(Args, Debug)]
pub(crate) struct RepeatedArguments {
    /// Manifests: a file, a folder (with all .yaml, .yml and .json below it), a pattern, `-` for standard input; may be repeated
    #[arg(long = "file", short = 'f', alias = "filename", value_name = "PATH")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
}

#[derive(Args, Default, Debug)]
pub(crate) struct NamespaceArguments {
    /// The namespace for names and manifests that have none
    #[arg(long, short = 'n', value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,
}

impl NamespaceArguments {
    /// The namespace; empty where none is given.
    pub(crate) fn name(&self) -> &str {
        &self.namespace
    }

    /// An object by its name, or `NAMESPACE/NAME`.
    pub(crate) fn named(&self, kind: &str, name: &str) -> ObjectRef {
        let (namespace, name) = name.split_once('/').unwrap_or((&self.namespace, name));
        ObjectRef::new(kind, namespace, name)
    }

    /// An object as kubectl names it, `KIND/NAME`, or `KIND/NAMESPACE/NAME`; `None` where the kind is none that is known.
    pub(crate) fn object(&self, text: &str) -> Option<ObjectRef> {
        let (word, name) = text.split_once('/')?;
        Some(self.named(kind_named(word)?, name))
    }
}

#[derive(Args, Default, Debug)]
pub(crate) struct ClusterArguments {
    /// List the objects of a cluster through the kubeconfig, without changing anything; manifests come on top
    #[arg(long, help_heading = "Cluster")]
    pub(crate) from_cluster: bool,
    /// The context of the kubeconfig; the current one where left out
    #[arg(long, value_name = "NAME", requires = "from_cluster", help_heading = "Cluster")]
    pub(crate) context: Option<String>,
    /// Print the role that `--from-cluster` needs, and do nothing else
    #[arg(long, help_heading = "Cluster")]
    pub(crate) print_rbac: bool,
    /// Read manifests from addresses (`-f https://...`), too
    #[arg(long, help_heading = "Cluster")]
    allow_network: bool,
    /// Texts that are read in the place of all files: no path of the arguments is looked at then.
    #[arg(skip)]
    pub(crate) held: Option<Vec<Source>>,
}

impl ClusterArguments {
    pub(crate) fn network(&self) -> Network {
        Network::of(self.allow_network)
    }
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct KubernetesArguments {
    /// The Kubernetes version to answer for: 1.34 to 1.37 (the newest patch), 1.36.2 (that patch), 1.38 (a preview, as of 1.38.0-beta.0), or all (the newest released with all feature gates on)
    #[arg(long, visible_alias = "profile", value_name = "VERSION", default_value = "all", value_parser = parse_release)]
    pub(crate) kubernetes_version: Release,
    /// Feature gates that differ from the version's defaults, for instance DRADeviceTaints=false
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = parse_gate)]
    pub(crate) feature_gates: Vec<(String, bool)>,
    /// Ask the same code outside of the component, for comparison
    #[arg(long)]
    pub(crate) native: bool,
    /// Gives the instances of the component, where the program asks for more than one answer.
    #[arg(skip)]
    pub(crate) runner: Option<Runner>,
}

impl KubernetesArguments {
    /// Who gives instances of the component.
    pub(crate) fn runner(&self) -> Result<Runner> {
        match &self.runner {
            Some(runner) => Ok(runner.clone()),
            None => Ok(Runner::new()?),
        }
    }
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct EngineArguments {
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    /// Whether known defects of that version are reproduced
    #[arg(long, value_enum, default_value_t = ModeChoice::Sound)]
    pub(crate) mode: ModeChoice,
    /// Which node a Pod gets, of those that fit
    #[arg(long, value_enum, default_value_t = RankingChoice::Scores)]
    placement: RankingChoice,
    /// The KubeSchedulerConfiguration of kube-scheduler; implies `--placement scores`
    #[arg(long, value_name = "FILE")]
    pub(crate) scheduler_config: Option<String>,
    /// Devices that one search may try before it gives up
    #[arg(long, value_name = "N", default_value_t = apportion_core::allocate::Limits::default().max_steps)]
    pub(crate) max_steps: u64,
}

impl EngineArguments {
    /// Which node a Pod gets, of those that fit.
    pub(crate) fn placement(&self) -> RankingChoice {
        if self.scheduler_config.is_some() { RankingChoice::Scores } else { self.placement }
    }

    /// The same where nodes are compared.
    #[must_use]
    pub(crate) fn with_scores(self) -> Self {
        Self { placement: RankingChoice::Scores, ..self }
    }

    /// The same for somebody who gives all texts himself.
    #[must_use]
    pub(crate) fn without_files(self) -> Self {
        Self { placement: self.placement(), scheduler_config: None, ..self }
    }
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
    /// Only the cause and what would help.
    #[arg(skip)]
    pub(crate) is_brief: bool,
}

impl LookArguments {
    /// For what goes into a file.
    pub(crate) const FILE: Self = Self { color: Color::Never, plain: false, verbose: false, is_brief: false };
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
pub(crate) enum RunOutput {
    /// For people
    Table,
    /// For programs, format `apportion/v1`
    Json,
    /// The same as YAML
    Yaml,
    /// A page with a picture of what happens in time
    Html,
}

impl RunOutput {
    /// The same for what has no picture.
    pub(crate) const fn plain(self) -> Output {
        match self {
            Self::Table | Self::Html => Output::Table,
            Self::Json => Output::Json,
            Self::Yaml => Output::Yaml,
        }
    }
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

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RankingChoice {
    /// The first by name
    First,
    /// The best by kube-scheduler's scores; of equals the first by name
    Scores,
}

impl From<RankingChoice> for Ranking {
    fn from(choice: RankingChoice) -> Self {
        match choice {
            RankingChoice::First => Self::First,
            RankingChoice::Scores => Self::Scores,
        }
    }
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Sound => Self::Sound,
            ModeChoice::Reference => Self::Reference,
        }
    }
}

// What is changed before a question is answered.
#[derive(Args, Debug)]
pub(crate) struct ChangeArguments {
    /// Manifests that are added, or replace objects of the same name; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Changes")]
    with: Vec<String>,
    /// Objects that go, as KIND/NAME or KIND/NAMESPACE/NAME; with a node go its slices and Pods
    #[arg(long, value_name = "KIND/NAME", num_args = 1.., help_heading = "Changes")]
    without: Vec<String>,
    /// Taints, as DEVICES=KEY[=VALUE]:EFFECT; devices are DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE
    #[arg(long, value_name = "TAINT", num_args = 1.., value_parser = parse_taint, help_heading = "Changes")]
    taint: Vec<TaintSpec>,
    /// Nodes that take no new Pods
    #[arg(long, value_name = "NODE", num_args = 1.., help_heading = "Changes")]
    cordon: Vec<String>,
    /// See [`ClusterArguments::held`].
    #[arg(skip)]
    pub(crate) held: Option<Vec<Source>>,
}

impl ChangeArguments {
    /// The manifests that are added, in a cluster of their own, which tells their findings apart.
    pub(crate) fn with<'a>(
        &self,
        engine: &EngineArguments,
        view: &'a ViewArguments,
        namespace: &NamespaceArguments,
    ) -> Result<Option<Asked<'a, Box<dyn Door>>>> {
        if self.with.is_empty() && self.held.is_none() {
            return Ok(None);
        }
        let alone = ClusterArguments { held: self.held.clone(), ..ClusterArguments::default() };
        ask::cluster(engine, &view.look, &self.with, &alone, namespace).map(Some)
    }

    /// The changes together.
    pub(crate) fn supposition<D>(
        &self,
        namespace: &NamespaceArguments,
        with: Option<&Asked<'_, D>>,
    ) -> Result<Supposition> {
        Ok(Supposition {
            without: self.without.iter().map(|text| gone(namespace, text)).collect::<Result<_>>()?,
            with: with.iter().flat_map(|with| with.input.objects()).collect(),
            taints: self.taint.clone(),
            cordon: self.cordon.clone(),
            now: ask::now().to_string(),
            ..Supposition::default()
        })
    }
}

/// What goes, as the user names it. A kind that is none of ours is taken at its word.
fn gone(namespace: &NamespaceArguments, text: &str) -> Result<ObjectRef> {
    match (namespace.object(text), text.split_once('/')) {
        (Some(object), _) => Ok(object),
        (None, Some((kind, name))) => Ok(namespace.named(kind, name)),
        (None, None) => bail!("`{text}` is not KIND/NAME or KIND/NAMESPACE/NAME"),
    }
}

/// Devices and the taint, cut at the first `=`.
pub(crate) fn parse_taint(text: &str) -> Result<TaintSpec, String> {
    let (devices, taint) = text.split_once('=').ok_or("write it as DEVICES=KEY:EFFECT")?;
    Ok(TaintSpec { devices: devices.to_owned(), taint: taint.to_owned() })
}

fn parse_release(text: &str) -> Result<Release, String> {
    Release::parse(text).ok_or_else(|| {
        format!("known are {}, also with a patch (1.36.2); 1.38 is a preview", Release::KNOWN.join(", "))
    })
}

/// Reads a number of things of which there is at least one.
pub(crate) fn parse_count<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, &'static str> {
    text.parse().ok().filter(|count| *count >= N::from(1)).ok_or("it is not a whole number from 1 on")
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
    use super::*;

    #[test]
    fn gates_are_written_as_for_kubernetes() {
        assert_eq!(parse_gate("DRADeviceTaints=False"), Ok(("DRADeviceTaints".to_owned(), false)));
        assert!(parse_gate("DRADeviceTaints").is_err() && parse_gate("X=yes").is_err());
    }
}
