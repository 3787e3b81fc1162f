//! `apportion check`: what is wrong in a dump, or in what happens.

mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::io;

use anyhow::{Context, Result};
use apportion::{HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::check::inspect;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::profile::Mode;
use clap::Args;
use serde_json::json;

use crate::api_server::READ;
use crate::cli::arguments::{InputArguments, KubernetesArguments, NamespaceArguments, Output, ViewArguments};
use crate::cli::diagnose::diagnose;
use crate::cli::input::{Places, refused};
use crate::cli::note::{Note, numbers, order};
use crate::cli::pen::{Ink, Pen};
use crate::cli::read::gather;
use crate::cli::shown::{Shown, Verdict};
use crate::cli::{ask, machine, stage, text};

const EXAMPLE: &str = "\
Example:
  kubectl get resourceclaims,resourceslices,pods,nodes -A -o yaml | apportion check -f -
  apportion check --watch --from-cluster --for 10m
  kubectl get resourceclaims -A --watch --output-watch-events -o json > claims.log
  apportion check --watch -f claims.log";

/// Find defects in a dump or a running cluster, each with the next safe step
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    kubernetes: KubernetesArguments,
    /// The time of the dump, as 2026-03-01T12:00:00Z; without it the latest that its objects speak of
    #[arg(long, value_name = "TIME", conflicts_with = "watch")]
    now: Option<String>,
    /// Follow a cluster, or logs of watch events, and report each change that allocates a device twice, takes devices from a Pod that uses them, or deletes a user's template
    #[arg(long)]
    pub(super) watch: bool,
    /// With `--watch --from-cluster`: how long to follow, such as 30s; without it until it is interrupted
    #[arg(long = "for", value_name = "DURATION", requires = "watch")]
    lasts: Option<String>,
    /// End with exit code 1 for warnings, too
    #[arg(long, conflicts_with = "watch")]
    deny_warnings: bool,
    #[command(flatten)]
    view: ViewArguments,
}

pub(super) fn check(arguments: &CheckArguments) -> Result<Shown> {
    if arguments.watch {
        return watch::watch(arguments);
    }
    let CheckArguments { input, namespace, kubernetes, now, view, deny_warnings, .. } = arguments;
    let profile = ask::profile(kubernetes, Mode::Sound)?;
    let now = match now {
        Some(text) => {
            Some(Time::parse(text).with_context(|| format!("`--now {text}` is no time such as 2026-03-01T12:00:00Z"))?)
        }
        // A dump may be old; a live cluster is looked at now.
        None => input.cluster.from_cluster.then(ask::now),
    };
    let mut input = gather(&input.files(), &input.cluster, &READ)?;
    input.put_into(namespace.name());
    stage::wait("checking", format!("{} read", text::count(input.documents.len(), "object")));
    let findings = match kubernetes.native {
        true => inspect(input.objects().collect(), &profile, now),
        false => Runner::new()?.inspect(&input.texts, &profile, now, HostLimits::default())?,
    };
    let (places, mut notes) = (Places::new(&input), input.problems.clone());
    // What is wrong with such a document stands in the one of which it is said, and equal words in one after the other.
    let ambiguous = input.ambiguous();
    let texts = ambiguous.iter().filter_map(|index| input.texts.get(*index)).map(String::as_str);
    let found = Engine::new(profile.clone(), Limits::default()).submit(texts);
    let refused = refused(&found).into_iter().filter_map(|position| ambiguous.get(position).copied()).collect();
    notes.extend(input.repeated(&places, &refused));
    let mut said: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
    for (index, finding) in
        ambiguous.iter().zip(&found).flat_map(|(index, found)| found.iter().map(move |one| (*index, one)))
    {
        said.entry(words(finding)).or_default().push_back(index);
    }
    notes.extend(findings.into_iter().map(|finding| {
        let place = match said.get_mut(&words(&finding)).and_then(VecDeque::pop_front) {
            Some(index) => places.of_document(index, &finding),
            None => places.find(&finding),
        };
        Note::of_finding(finding, place)
    }));
    notes.sort_by_key(order);
    let (errors, warnings) = numbers(&notes);
    let is_wrong = errors > 0 || (*deny_warnings && warnings > 0);
    let look = &view.look;
    let stdout = match view.output {
        Output::Table => {
            let pen = Pen::new(look, &io::stdout());
            let objects = text::count(input.documents.len().saturating_add(input.refused), "object");
            let has_pods = input.documents.iter().any(|document| document.reference().kind == "Pod");
            let verdict = match (errors, warnings) {
                (0, 0) if !has_pods => "nothing is wrong, but there is no Pod among them".to_owned(),
                (0, 0) => pen.paint(Ink::Good, "nothing is wrong"),
                _ => pen.paint(
                    if errors > 0 { Ink::Bad } else { Ink::Doubt },
                    &format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning")),
                ),
            };
            format!("{}{objects}: {verdict}\n", diagnose(&notes, &input.sources, pen, look.verbose))
        }
        output => {
            let body = json!({
                "files": machine::files(&input), "objects": input.documents.len(),
                "findings": machine::findings(&input, &notes),
            });
            machine::document("Check", &machine::kubernetes(kubernetes), body, output)
        }
    };
    Ok(Shown { stdout: stdout.into(), stderr: input.unread(), verdict: Verdict::of(!is_wrong) })
}

/// What a finding says, and of what.
fn words(finding: &Finding) -> (&'static str, Option<ObjectRef>, String, String) {
    let Finding { code, object, path, message, .. } = finding.clone();
    (code.text(), object, path, message)
}
