//! Who is asked, as the arguments want it, and the answer as they want it.

use std::io;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use apportion::{Door, HostLimits, Native, Runner};
use apportion_core::allocate::Limits;
use apportion_core::api::scheduler_configuration;
use apportion_core::ask::Inquiry;
use apportion_core::decision::Time;
use apportion_core::finding::{Finding, Severity};
use apportion_core::profile::{Features, Mode, Profile, Release, Version};
use apportion_core::wire;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::{
    ClusterArguments, EngineArguments, KubernetesArguments, LookArguments, ModeChoice, NamespaceArguments, Output,
    RankingChoice,
};
use super::diagnose::diagnose;
use super::input::{Document, Input, Taken};
use super::machine;
use super::pen::Pen;
use super::read::{gather, load};
use super::shown::{InputErrors, Shown, Verdict};
use super::stage;
use super::text::{self, clean, clean_painted};
use crate::api_server::READ;

/// The profile that the arguments describe.
pub(crate) fn profile(arguments: &KubernetesArguments, mode: Mode) -> Result<Profile> {
    let gates = arguments.feature_gates.iter().map(|(name, enabled)| (name.as_str(), *enabled));
    let version = arguments.kubernetes_version.version;
    if let Some(locked) = gates.clone().find_map(|(gate, enabled)| Features::locked(version, gate, enabled)) {
        bail!(locked);
    }
    match wire::profile(arguments.kubernetes_version, gates, mode) {
        Ok(profile) => Ok(profile),
        Err(findings) => match findings.first() {
            Some(finding) => {
                bail!("{}; {}", finding.message, finding.hint.as_deref().unwrap_or("see `--help`"))
            }
            None => bail!("the feature gates cannot be used"),
        },
    }
}

/// The profile that the arguments describe, with the mode and how nodes are chosen.
pub(crate) fn profile_of(arguments: &EngineArguments) -> Result<Profile> {
    let placement = arguments.placement().into();
    Ok(Profile { placement, ..profile(&arguments.kubernetes, arguments.mode.into())? })
}

/// An empty cluster: in the component, or outside of it for comparison.
fn empty(arguments: &EngineArguments) -> Result<Box<dyn Door>> {
    let profile = profile_of(arguments)?;
    let limits = Limits { max_steps: arguments.max_steps };
    match arguments.kubernetes.native {
        true => open(profile, limits, None),
        false => open(profile, limits, Some(&arguments.kubernetes.runner()?)),
    }
}

/// An empty cluster, without a runner outside of the component.
pub(crate) fn open(profile: Profile, limits: Limits, runner: Option<&Runner>) -> Result<Box<dyn Door>> {
    Ok(match runner {
        None => Box::new(Native::new(profile, limits)),
        Some(runner) => Box::new(runner.cluster(&profile, limits, HostLimits::default())?),
    })
}

/// Who is asked, and what it was told of.
pub(crate) struct Asked<'a, D> {
    pub(crate) door: D,
    pub(crate) input: Input,
    pub(crate) taken: Taken,
    pub(crate) look: &'a LookArguments,
    /// The Kubernetes that answers, for machines.
    pub(crate) kubernetes: Map<String, Value>,
}

/// A cluster with all that `-f` and `--from-cluster` name.
pub(crate) fn cluster<'a>(
    engine: &EngineArguments,
    look: &'a LookArguments,
    files: &[String],
    live: &ClusterArguments,
    namespace: &NamespaceArguments,
) -> Result<Asked<'a, Box<dyn Door>>> {
    let mut door = empty(engine)?;
    let input = read(engine, files, live, namespace)?;
    stage::wait(format!("taking in {}", text::count(input.documents.len(), "object")), String::new());
    let taken = input.apply(door.as_mut())?;
    stage::wait("deciding", taken.sentence(&input.sources));
    Ok(Asked { door, input, taken, look, kubernetes: machine::kubernetes_in_mode(engine) })
}

/// The file for kube-scheduler, where one is named.
fn configuration(engine: &EngineArguments, live: &ClusterArguments) -> Result<Option<Input>> {
    let Some(path) = &engine.scheduler_config else { return Ok(None) };
    let configuration = load(std::slice::from_ref(path), live.network())?;
    let is_one = |document: &Document| document.written_reference().kind == scheduler_configuration::KIND;
    if configuration.problems.is_empty() && !configuration.documents.iter().any(is_one) {
        bail!("`{path}` holds no {}", scheduler_configuration::KIND);
    }
    Ok(Some(configuration))
}

/// The objects of the file for kube-scheduler, for commands whose clusters are not read from manifests.
///
/// # Errors
///
/// Where it cannot be read, or has errors.
pub(crate) fn scheduler_configuration(engine: &EngineArguments) -> Result<Vec<Value>> {
    let Some(configuration) = configuration(engine, &ClusterArguments::default())? else { return Ok(Vec::new()) };
    if let Some(problem) = configuration.problems.first() {
        bail!("the configuration of kube-scheduler cannot be read: {}", problem.message);
    }
    let limits = Limits { max_steps: engine.max_steps };
    let found = Native::new(profile_of(engine)?, limits).submit(&configuration.texts)?;
    match found.into_iter().flatten().find(|finding| finding.severity == Severity::Error) {
        Some(error) => bail!("the configuration of kube-scheduler is refused: {}: {}", error.path, error.message),
        None => Ok(configuration.objects().collect()),
    }
}

/// All that `-f` and `--from-cluster` name, with the namespace of manifests that name none, and the configuration of kube-scheduler.
///
/// # Errors
///
/// Where something cannot be read, or the file for kube-scheduler is none.
pub(crate) fn read(
    engine: &EngineArguments,
    files: &[String],
    live: &ClusterArguments,
    namespace: &NamespaceArguments,
) -> Result<Input> {
    let mut input = gather(files, live, &READ)?;
    input.put_into(namespace.name());
    if let Some(configuration) = configuration(engine, live)? {
        input.add(configuration);
    }
    Ok(input)
}

impl<D> Asked<'_, D> {
    /// What is to be said of the input.
    pub(crate) fn stderr(&self) -> String {
        let pen = Pen::new(self.look, &io::stderr());
        let notes = diagnose(&self.taken.notes, &self.input.sources, pen, self.look.verbose);
        format!("{notes}{}", self.input.unread())
    }

    /// Adds what is to be said of this input, the second of a command, to its answer; an error makes that a no.
    pub(crate) fn add_to(&self, shown: &mut Shown) {
        shown.stderr.push_str(&self.stderr());
        if self.taken.has_errors() {
            shown.verdict = Verdict::No;
        }
    }

    /// Where the input has errors and something that is not there is named, the errors are the answer. They are none to a call that
    /// stopped on its way.
    pub(crate) fn or_input<T>(&self, found: Result<T>) -> Result<T> {
        let is_stopped = |error: &anyhow::Error| matches!(error.downcast_ref(), Some(apportion::Error::Stopped(_)));
        found.map_err(|error| match self.taken.has_errors() && !is_stopped(&error) {
            true => InputErrors(format!("{}error: {error}\n", self.stderr())).into(),
            false => error,
        })
    }

    /// The answer as the user wishes it: for machines the fields of `body` and the input.
    pub(crate) fn show(
        &self,
        output: Output,
        kind: &str,
        body: impl FnOnce() -> Value,
        table: impl FnOnce(Pen) -> String,
        is_fine: bool,
    ) -> Shown {
        let stdout = match output {
            Output::Table => clean_painted(&table(Pen::new(self.look, &io::stdout()))).into_owned(),
            Output::Json | Output::Yaml => {
                let mut body = body();
                if let Some(body) = body.as_object_mut() {
                    body.insert("input".to_owned(), machine::input(&self.input, &self.taken));
                }
                machine::document(kind, &self.kubernetes, body, output)
            }
        };
        Shown { stdout: stdout.into(), stderr: self.stderr(), verdict: self.taken.verdict(is_fine) }
    }
}

impl Asked<'_, Box<dyn Door>> {
    /// Asks an inquiry; see [`Asked::or_input`]. The answer as it is, and read.
    pub(crate) fn inquire<T: DeserializeOwned>(&mut self, inquiry: &Inquiry) -> Result<(Value, T)> {
        let answer = self.inquire_once(inquiry);
        let answer = self.or_input(answer)?;
        Ok((answer.clone(), serde_json::from_value(answer)?))
    }

    /// The same where nothing is named that might be missing.
    pub(crate) fn inquire_once(&mut self, inquiry: &Inquiry) -> Result<Value> {
        self.door.inquire(&serde_json::to_value(inquiry)?).map_err(refused)
    }

    /// Adds what is not looked at and matters to the answer.
    pub(crate) fn with_remarks(&mut self, mut shown: Shown) -> Result<Shown> {
        let findings: Vec<Finding> = serde_json::from_value(self.inquire_once(&Inquiry::Unmodelled)?)?;
        for finding in &findings {
            let hint = finding.hint.iter().map(|hint| format!("; {hint}")).collect::<String>();
            let (kind, object) = match (&finding.object, finding.severity) {
                (Some(object), Severity::Error) => ("error", format!("{object}: ")),
                _ => ("note", String::new()),
            };
            let line = format!("{kind}: {object}{}{hint}\n", finding.message);
            let line = clean(&line);
            // Of two inputs that are compared each may give cause to it.
            if !shown.stderr.contains(&*line) {
                shown.stderr.push_str(&line);
            }
            if finding.severity == Severity::Error {
                shown.verdict = Verdict::No;
            }
        }
        Ok(shown)
    }
}

/// An inquiry that names what is not there is a mistake in the arguments.
fn refused(error: apportion::Error) -> anyhow::Error {
    let apportion::Error::Refused(findings) = &error else { return error.into() };
    let Some(Finding { message, hint, .. }) = findings.first() else { return error.into() };
    match hint {
        Some(hint) => anyhow!("{message}; {hint}"),
        None => anyhow!("{message}"),
    }
}

/// The time of this machine, in whole seconds.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_seconds(i64::try_from(since.as_secs()).unwrap_or_default())
}

/// The Kubernetes that answers, in a few words.
pub(crate) fn in_words(arguments: &EngineArguments) -> String {
    let mode = match arguments.mode {
        ModeChoice::Sound => "",
        ModeChoice::Reference => ", known defects included",
    };
    let placement = match arguments.placement() {
        RankingChoice::First => ", the first node by name that fits",
        RankingChoice::Scores => "",
    };
    format!("{}{mode}{placement}", kubernetes_in_words(&arguments.kubernetes))
}

/// The version and its gates, in a few words.
pub(crate) fn kubernetes_in_words(arguments: &KubernetesArguments) -> String {
    let version = match arguments.kubernetes_version {
        Release { version: Version::All, .. } => "the newest Kubernetes with all feature gates on".to_owned(),
        release => format!("Kubernetes {release}"),
    };
    let gates: Vec<String> =
        arguments.feature_gates.iter().map(|(name, enabled)| format!("{name}={enabled}")).collect();
    match gates.is_empty() {
        true => version,
        false => format!("{version}, {}", gates.join(", ")),
    }
}
