//! From a call to a command, and its answer.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use apportion::Runner;
use clap::Parser;
use serde_json::{Map, Value};

use super::McpArguments;
use super::answer::{self, Answer, Detail};
use super::tools::{DETAILS, Kind, Parameter, Tool};
use crate::cli::arguments::{
    ChangeArguments, Color, EngineArguments, KubernetesArguments, LookArguments, NamespaceArguments, Output,
    ViewArguments,
};
use crate::cli::commands::{Arguments, Command, explain};
use crate::cli::files::{self, Source};
use crate::cli::machine;
use crate::cli::shown::Shown;
use crate::cli::text::count;

/// Parameters of `explain` that ask for more than cause and remedy.
const WHOLE: [&str; 3] = ["apply", "node", "device"];

/// What was said when the server was started.
pub(super) struct Setup {
    paths: Vec<String>,
    /// The same without links; nothing outside of these is read.
    roots: Vec<PathBuf>,
    /// The context of the kubeconfig, where a cluster is read.
    cluster: Option<Option<String>>,
    engine: EngineArguments,
    max_input: usize,
    max_answer: usize,
}

/// A call, read.
#[derive(Default)]
struct Call {
    /// What stands on the command line in front of the options.
    plain: Vec<String>,
    options: Vec<String>,
    /// Names of the parameters that were given.
    given: Vec<&'static str>,
    manifests: Option<String>,
    with: Option<String>,
    files: Option<Vec<String>>,
    detail: Option<Detail>,
}

impl Setup {
    pub(super) fn new(arguments: &McpArguments) -> Result<Self> {
        let McpArguments { paths, files, cluster, engine, max_input, max_answer } = arguments;
        let configuration = engine.scheduler_config.as_slice();
        let paths = [paths.as_slice(), files, configuration].concat();
        let mut roots = Vec::new();
        for path in &paths {
            if path == "-" {
                bail!("standard input carries the calls: name files or folders");
            }
            let unreadable = || format!("`{path}` cannot be read; patterns are left to the shell");
            roots.push(fs::canonicalize(path).with_context(unreadable)?);
        }
        let mut engine = engine.clone().without_files();
        engine.kubernetes.runner = if engine.kubernetes.native { None } else { Some(Runner::timed()?) };
        let cluster = cluster.from_cluster.then(|| cluster.context.clone());
        let setup = Self { paths, roots, cluster, engine, max_input: *max_input, max_answer: *max_answer };
        setup.named(None)?;
        Ok(setup)
    }

    /// The longest line of the protocol that is read. JSON writes a byte of text in up to six.
    pub(super) fn max_line(&self) -> usize {
        self.max_input.saturating_mul(6).saturating_add(64 << 10)
    }

    /// What an agent reads before its first call.
    pub(super) fn instructions(&self) -> String {
        let files = match self.paths.as_slice() {
            [] => "no files".to_owned(),
            paths => format!("these files: {}", paths.join(", ")),
        };
        let cluster = match &self.cluster {
            None => "no cluster",
            Some(_) => "the cluster that it lists for each call",
        };
        format!(
            "Kubernetes Dynamic Resource Allocation (DRA), decided by a simulated control plane. Nothing is changed anywhere. The \
             server knows {files} and {cluster}; give further manifests as text. Ask `explain` first. Answers are short: `detail` \
             full says everything, json is for programs. Options in an answer, such as `--apply N` and `-v`, are the parameters \
             `apply` and `detail`. A call is about at most {} bytes of manifests, an answer has at most {} bytes, a search {} steps, a \
             call about 20 s.",
            self.max_input, self.max_answer, self.engine.max_steps,
        )
    }

    /// The answer to a call. What is wrong with the call or its input is an answer, too.
    pub(super) fn answer(&self, tool: &'static Tool, arguments: &Map<String, Value>) -> Answer {
        let call = match Call::read(tool, arguments) {
            Ok(call) => call,
            Err(error) => return answer::of(Err(error), Detail::Short, self.max_answer),
        };
        let detail = match call.detail.unwrap_or(Detail::Short) {
            // Manifests are of use only as a whole; devices are listed for those who ask for them.
            Detail::Short if tool.name == "explain" && call.given.iter().any(|name| WHOLE.contains(name)) => {
                Detail::Full
            }
            detail => detail,
        };
        answer::of(self.ask(tool, &call, detail), detail, self.max_answer)
    }

    fn ask(&self, tool: &Tool, call: &Call, detail: Detail) -> Result<Shown> {
        let look = || LookArguments {
            color: Color::Never,
            plain: false,
            verbose: detail == Detail::Full,
            is_brief: detail == Detail::Short,
        };
        if tool.name == "explain-code" {
            let output = if detail == Detail::Json { Output::Json } else { Output::Table };
            return explain::codes(&ViewArguments { output, look: look() }, call.plain.first().map(String::as_str));
        }
        let mut command = self.command(tool, call, detail)?;
        let held = self.held(call)?;
        let parts = parts(&mut command).context("the command cannot be asked")?;
        parts.kubernetes.runner.clone_from(&self.engine.kubernetes.runner);
        parts.kubernetes.native = self.engine.kubernetes.native;
        *parts.look = look();
        *parts.held = Some(held);
        if let (Some(changes), Some(with)) = (parts.changes, &call.with) {
            changes.held = Some(vec![Source::new("with".to_owned(), with.clone().into_bytes())]);
        }
        command.run()
    }

    /// The command line of a call. Without a shell, and every value behind its option or a `--`: no value can be taken for an option.
    fn command(&self, tool: &Tool, call: &Call, detail: Detail) -> Result<Command> {
        let mut line = vec!["apportion".to_owned(), tool.name.to_owned()];
        let is_subject = tool.parameters().any(|parameter| parameter.kind == Kind::Subject);
        line.extend(call.plain.iter().filter(|_| is_subject).cloned());
        line.push("--file=-".to_owned());
        line.extend(call.options.iter().cloned());
        line.extend(self.settings(tool, call));
        if detail == Detail::Json {
            line.push("--output=json".to_owned());
        }
        if self.cluster.is_some() && tool.name != "validate" {
            line.push("--from-cluster".to_owned());
            line.extend(self.cluster.iter().flatten().map(|context| format!("--context={context}")));
        }
        if !is_subject && !call.plain.is_empty() {
            line.push("--".to_owned());
            line.extend(call.plain.iter().cloned());
        }
        let arguments = Arguments::try_parse_from(line).map_err(|error| {
            let text = error.to_string();
            let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
            anyhow::anyhow!("{}", lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: "))
        })?;
        if let Some(settings) = searching(&arguments.command)
            && settings.max_steps > self.engine.max_steps
        {
            bail!(
                "`max_steps` may be {} at most here, as the server was started (`--max-steps`)",
                self.engine.max_steps
            );
        }
        Ok(arguments.command)
    }

    /// The server's own settings, where a call has none.
    fn settings(&self, tool: &Tool, call: &Call) -> Vec<String> {
        let EngineArguments { kubernetes, mode, max_steps, .. } = &self.engine;
        let gates = kubernetes.feature_gates.iter().map(|(name, enabled)| format!("{name}={enabled}"));
        let (mode, placement) = (machine::mode(*mode), machine::placement(self.engine.placement()));
        let mut all = vec![
            ("kubernetes_version", format!("--kubernetes-version={}", kubernetes.kubernetes_version)),
            ("mode", format!("--mode={mode}")),
            ("placement", format!("--placement={placement}")),
            ("max_steps", format!("--max-steps={max_steps}")),
        ];
        all.extend(gates.map(|gate| ("feature_gates", format!("--feature-gates={gate}"))));
        all.retain(|(name, _)| tool.parameters().any(|known| known.name == *name) && !call.given.contains(name));
        all.into_iter().map(|(_, option)| option).collect()
    }

    /// The texts that a call is about, within the limit.
    fn held(&self, call: &Call) -> Result<Vec<Source>> {
        let mut held = self.named(call.files.as_deref())?;
        if let Some(text) = &call.manifests {
            held.push(Source::new("manifests".to_owned(), text.clone().into_bytes()));
        }
        if held.is_empty() && self.cluster.is_none() {
            bail!(
                "there are no manifests: give them as `manifests`, or start the server with files or `--from-cluster`"
            );
        }
        let with = call.with.as_ref().map_or(0, String::len);
        let bytes = held.iter().map(|source| source.text.len()).fold(with, usize::saturating_add);
        if bytes > self.max_input {
            bail!(
                "the call is about {bytes} bytes of manifests, {} are allowed (`--max-input`); leave out kinds without a part in \
                 allocation, or files",
                self.max_input
            );
        }
        Ok(held)
    }

    /// Reads what was named at the start: all of it, or what a call picks.
    fn named(&self, wanted: Option<&[String]>) -> Result<Vec<Source>> {
        if self.paths.is_empty() || wanted.is_some_and(<[String]>::is_empty) {
            return match wanted {
                Some([first, ..]) => bail!("there is no file `{first}`: the server was started without files"),
                _ => Ok(Vec::new()),
            };
        }
        let mut sources = files::read(&self.paths, files::Network::Refused)?;
        for source in &sources {
            let place = fs::canonicalize(&source.name).with_context(|| format!("`{}` cannot be read", source.name))?;
            if !self.roots.iter().any(|root| place.starts_with(root)) {
                bail!("`{}` leads out of what the server was started with", source.name);
            }
        }
        let Some(wanted) = wanted else { return Ok(sources) };
        let is_in = |source: &Source, wanted: &str| {
            let rest = source.name.strip_prefix(wanted.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(unknown) = wanted.iter().find(|wanted| !sources.iter().any(|source| is_in(source, wanted))) {
            let known: Vec<&str> = sources.iter().take(10).map(|source| source.name.as_str()).collect();
            let all = count(sources.len(), "file");
            bail!("the server was not started with a file `{unknown}`; it knows {all}, such as {}", known.join(", "));
        }
        sources.retain(|source| wanted.iter().any(|wanted| is_in(source, wanted)));
        Ok(sources)
    }
}

impl Call {
    fn read(tool: &'static Tool, arguments: &Map<String, Value>) -> Result<Self> {
        let mut call = Self::default();
        for name in arguments.keys() {
            if !tool.parameters().any(|known| known.name == name) {
                let known: Vec<&str> = tool.parameters().map(|known| known.name).collect();
                bail!("`{}` has no parameter `{name}`; it has {}", tool.name, known.join(", "));
            }
        }
        for parameter in tool.parameters() {
            match arguments.get(parameter.name) {
                Some(value) if !value.is_null() => call.take(parameter, value)?,
                _ if parameter.kind == Kind::Plain => bail!("`{}` needs `{}`", tool.name, parameter.name),
                _ => {}
            }
        }
        Ok(call)
    }

    fn take(&mut self, parameter: &'static Parameter, value: &Value) -> Result<()> {
        let name = parameter.name;
        let text = || value.as_str().map(str::to_owned).with_context(|| format!("`{name}` is a text"));
        let option = |value: &str| format!("--{}={value}", name.replace('_', "-"));
        match parameter.kind {
            Kind::Plain => self.plain.push(text()?),
            Kind::Subject => {
                let subject = text()?;
                if NamespaceArguments::default().object(&subject).is_none() {
                    bail!("`{subject}` is not KIND/NAME or KIND/NAMESPACE/NAME, such as pod/ml/train");
                }
                self.plain.push(subject);
            }
            Kind::Text => self.options.push(option(&text()?)),
            Kind::Texts => self.options.extend(texts(name, value)?.iter().map(|text| option(text))),
            Kind::Number => {
                let number = value.as_u64().with_context(|| format!("`{name}` is a whole number"))?;
                self.options.push(option(&number.to_string()));
            }
            Kind::Choice(words) => self.options.push(option(&one_of(name, &text()?, words)?)),
            Kind::Manifests => self.manifests = Some(text()?),
            Kind::With => self.with = Some(text()?),
            Kind::Files => self.files = Some(texts(name, value)?),
            Kind::Detail => {
                self.detail = Some(match one_of(name, &text()?, &DETAILS)?.as_str() {
                    "json" => Detail::Json,
                    "full" => Detail::Full,
                    _ => Detail::Short,
                });
            }
        }
        self.given.push(name);
        Ok(())
    }
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>> {
    let of = || value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>();
    of().with_context(|| format!("`{name}` is a list of texts"))
}

fn one_of(name: &str, word: &str, words: &[&str]) -> Result<String> {
    match words.contains(&word) {
        true => Ok(word.to_owned()),
        false => bail!("`{name}` is one of {}, not `{word}`", words.join(", ")),
    }
}

/// What a server sets in a command.
struct Parts<'c> {
    held: &'c mut Option<Vec<Source>>,
    kubernetes: &'c mut KubernetesArguments,
    look: &'c mut LookArguments,
    changes: Option<&'c mut ChangeArguments>,
}

/// `None` for a command that is no tool.
fn parts(command: &mut Command) -> Option<Parts<'_>> {
    let (held, kubernetes, look, changes) = match command {
        Command::Explain(of) => (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.view.look, None),
        Command::Run(of) => (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.look, None),
        Command::Validate(of) => (&mut of.input.held, &mut of.kubernetes, &mut of.view, None),
        Command::Fit(of) => {
            (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.view.look, Some(&mut of.changes))
        }
        Command::WhatIf(of) => {
            (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.view.look, Some(&mut of.changes))
        }
        Command::Usage(of) => (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.view.look, None),
        Command::Cel(of) => (&mut of.input.cluster.held, &mut of.engine.kubernetes, &mut of.view.look, None),
        _ => return None,
    };
    Some(Parts { held, kubernetes, look, changes })
}

/// The settings of a command that searches.
fn searching(command: &Command) -> Option<&EngineArguments> {
    match command {
        Command::Explain(of) => Some(&of.engine),
        Command::Run(of) => Some(&of.engine),
        Command::Fit(of) => Some(&of.engine),
        Command::WhatIf(of) => Some(&of.engine),
        Command::Usage(of) => Some(&of.engine),
        Command::Cel(of) => Some(&of.engine),
        _ => None,
    }
}
