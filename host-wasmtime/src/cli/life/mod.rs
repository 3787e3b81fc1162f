//! `apportion run` in virtual time: the life of claims and Pods, step by step.

mod html;
mod lanes;
mod table;

use std::io;

use anyhow::{Context, Result, bail};
use apportion::{HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::ask::Report;
use apportion_core::control_plane::script::{self, Step, duration, is_namespaced};
use apportion_core::control_plane::{Command, Happening, Moment, Settled, Simulation};
use apportion_core::decision::{EventRecord, Time};
use apportion_core::finding::{ObjectRef, Severity};
use apportion_core::wire::simulation::Plays;
use serde_json::{Value, json};

use super::args::{RunArguments, RunOutput};
use super::diagnose::diagnose;
use super::input::{self, Input, Taken};
use super::pen::Pen;
use super::{Shown, ask, files, machine, show_run};
use crate::api_server::READ;

/// How long is played where nobody says it: until this long after the last step.
const USUAL: i64 = 600_000;

/// All that is known at the end.
pub(crate) struct Played {
    pub(crate) start: Time,
    pub(crate) end_millis: u64,
    pub(crate) settled: Settled,
    pub(crate) moments: Vec<Moment>,
    pub(crate) events: Vec<(EventRecord, u64)>,
    pub(crate) report: Report,
    /// The cluster after each step of the script, with what was done.
    pub(crate) stages: Vec<Stage>,
}

/// The cluster when a step was done and everything that follows at once had happened.
pub(crate) struct Stage {
    pub(crate) at_millis: u64,
    pub(crate) says: String,
    pub(crate) report: Report,
}

/// Whether the arguments ask for more than where everything lands.
pub(crate) fn is_asked_for(arguments: &RunArguments) -> bool {
    let life = &arguments.life;
    let has_any = life.until.is_some() || life.script.is_some() || life.events || life.step;
    has_any || arguments.output == RunOutput::Html
}

pub(crate) fn run(arguments: &RunArguments) -> Result<Shown> {
    let steps = arguments.life.script.as_deref().map(read_script).transpose()?.unwrap_or_default();
    let until = match &arguments.life.until {
        Some(text) => duration(text).with_context(|| format!("`--until {text}` is no duration such as `10m`"))?,
        None => steps.last().map_or(0, |step| step.at_millis).saturating_add(USUAL),
    };
    let input = input::gather(&arguments.input.files, &arguments.input.cluster, &READ)?;
    let profile = ask::profile(&arguments.engine.kubernetes, arguments.engine.mode.into())?;
    let limits = Limits { max_steps: arguments.engine.max_steps };
    let values: Vec<Value> = input.objects().collect();
    let now = Simulation::start_of(&values);
    let steps = Steps { steps, until, keeps_stages: arguments.life.step };
    let (taken, played) = if arguments.engine.kubernetes.native {
        steps.play(Simulation::new(profile, limits, now), &input)?
    } else {
        steps.play(Runner::new()?.play(&profile, limits, HostLimits::default(), Some(now), &[])?, &input)?
    };
    let look = &arguments.look;
    let pen = Pen::new(look, &io::stdout());
    let words = ask::in_words(&arguments.engine);
    let stdout = match arguments.output {
        RunOutput::Table => {
            let mut text = table::show(&played, pen, arguments.life.events, look.verbose, arguments.life.step);
            text.push('\n');
            text.push_str(&show_run::show(&played.report, &input, &taken, &words, pen, look.verbose));
            text
        }
        RunOutput::Html => html::write(&played, &words),
        RunOutput::Json | RunOutput::Yaml => {
            let mut body = body(&played);
            if let Some(map) = body.as_object_mut() {
                map.insert("input".to_owned(), machine::input(&input, &taken));
            }
            machine::write("Run", &arguments.engine, body, arguments.output.plain())
        }
    };
    let stderr = diagnose(&taken.notes, &input.sources, Pen::new(look, &io::stderr()), look.verbose);
    let is_satisfied = played.settled == Settled::Quiet && super::run::is_satisfied(&played.report);
    let verdict = taken.verdict(is_satisfied);
    Ok(Shown { stdout: stdout.into(), stderr, verdict })
}

fn read_script(path: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for source in files::read(&[path.to_owned()])? {
        let reading = apportion_yaml::read(&source.text, &apportion_yaml::Limits::default());
        let problem = reading.problems.iter().find(|problem| problem.severity == apportion_yaml::Severity::Error);
        if let Some(problem) = problem {
            bail!("{}:{}: {}", source.name, source.line_column(problem.span.start).0, problem.message);
        }
        let Some(document) = reading.documents.into_iter().next() else { bail!("{} is empty", source.name) };
        match script::script(&document.value) {
            Ok(read) => steps.extend(read),
            Err(findings) => {
                let lines: Vec<String> = findings
                    .iter()
                    .map(|finding| format!("{}: step {} {}", source.name, finding.path, finding.message))
                    .collect();
                bail!("{}", lines.join("\n"));
            }
        }
    }
    steps.sort_by_key(|step| step.at_millis);
    Ok(steps)
}

/// What happens to the cluster.
struct Steps {
    steps: Vec<Step>,
    until: i64,
    /// Whether the cluster is shown after each step.
    keeps_stages: bool,
}

impl Steps {
    fn play<P: Plays>(&self, mut plays: P, input: &Input) -> Result<(Taken, Played)>
    where
        P::Error: std::error::Error + Send + Sync + 'static,
    {
        let taken = input.taken(plays.submit(&input.texts)?);
        Ok((taken, play(&mut plays, self)?))
    }
}

fn play<P: Plays>(plays: &mut P, Steps { steps, until, keeps_stages }: &Steps) -> Result<Played>
where
    P::Error: std::error::Error + Send + Sync + 'static,
{
    plays.begin()?;
    let start = plays.now()?;
    let mut settled = Settled::Quiet;
    let mut stages = Vec::new();
    let millis = |now: Time| u64::try_from(now.millis().saturating_sub(start.millis())).unwrap_or_default();
    for step in steps.iter().filter(|step| step.at_millis <= *until) {
        let at = start.plus_millis(step.at_millis);
        // What is due before the step happens before it, and so does what is due at its time.
        settled = worse(settled, plays.run_until(at)?);
        let object = placed(plays, &step.object)?;
        let command = in_namespace(step.command.clone(), &object.namespace);
        plays.tell(&object, &step.says)?;
        if let Err(refused) = plays.perform(command)? {
            plays.tell(&object, &format!("refused: {}", refused.message))?;
        }
        if *keeps_stages {
            settled = worse(settled, plays.run_until(at)?);
            stages.push(Stage { at_millis: millis(at), says: step.says.clone(), report: plays.report()? });
        }
    }
    settled = worse(settled, plays.run_until(start.plus_millis(*until))?);
    let end = plays.now()?;
    Ok(Played {
        start,
        end_millis: millis(end),
        settled,
        moments: plays.timeline(0)?,
        events: plays.events()?,
        report: plays.report()?,
        stages,
    })
}

fn worse(one: Settled, other: Settled) -> Settled {
    if one == Settled::Restless { one } else { other }
}

/// The object with its namespace: the one that is written, the only one that has such an object, or `default`.
fn placed<P: Plays>(plays: &mut P, object: &ObjectRef) -> Result<ObjectRef, P::Error> {
    if !object.namespace.is_empty() || !is_namespaced(&object.kind) {
        return Ok(object.clone());
    }
    let text = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let all = plays.list(&object.kind)?;
    let mut found = all.iter().filter(|value| text(value, "/metadata/name") == object.name);
    let namespace = match (found.next(), found.next()) {
        (Some(only), None) => text(only, "/metadata/namespace"),
        _ => "default".to_owned(),
    };
    Ok(ObjectRef { namespace, ..object.clone() })
}

fn in_namespace(mut command: Command, namespace: &str) -> Command {
    match &mut command {
        Command::Delete { object, .. } | Command::Patch { object, .. } | Command::Finish { pod: object, .. } => {
            namespace.clone_into(&mut object.namespace);
        }
        Command::Create(object) => {
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            if let Some(metadata) = metadata.filter(|_| !namespace.is_empty()) {
                metadata.entry("namespace").or_insert_with(|| json!(namespace));
            }
        }
        _ => {}
    }
    command
}

/// The answer for programs.
fn body(played: &Played) -> Value {
    let events: Vec<Value> =
        played.events.iter().map(|(event, count)| json!({ "event": event, "count": count })).collect();
    let stages = played.stages.iter();
    let stages: Vec<Value> = stages
        .map(|stage| json!({ "atMillis": stage.at_millis, "step": stage.says, "report": stage.report }))
        .collect();
    let mut body = json!({
        "simulation": {
            "start": played.start.to_string(), "endMillis": played.end_millis, "settled": played.settled,
        },
        "timeline": played.moments, "events": events, "report": played.report,
    });
    if let (Some(map), false) = (body.as_object_mut(), stages.is_empty()) {
        map.insert("steps".to_owned(), Value::Array(stages));
    }
    body
}

/// Moments that people look for first.
pub(crate) fn is_main(happened: Happening) -> bool {
    match happened {
        Happening::Requested
        | Happening::Created
        | Happening::Deleting
        | Happening::Deleted
        | Happening::Placed
        | Happening::Pending
        | Happening::Phase
        | Happening::Allocated
        | Happening::Deallocated
        | Happening::Taints
        | Happening::Condition => true,
        Happening::Recorded
        | Happening::Reserved
        | Happening::Released
        | Happening::Protected
        | Happening::Unprotected
        | Happening::Changed
        | Happening::Event => false,
    }
}

/// Whether something went wrong with an object, for those who look at severities.
pub(crate) fn severity(happened: Happening) -> Option<Severity> {
    (happened == Happening::Pending).then_some(Severity::Warning)
}

/// A time of the simulation: `0s`, `1m30s`, `2h5m`.
pub(crate) fn clock(millis: u64) -> String {
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let (seconds, rest) = (millis / 1000 % 60, millis % 1000);
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&format!("{hours}h"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}m"));
    }
    match rest {
        0 if seconds == 0 && !text.is_empty() => {}
        0 => text.push_str(&format!("{seconds}s")),
        _ => text.push_str(&format!("{seconds}.{rest:03}s")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_durations() {
        let shown: Vec<String> = [0, 5, 1500, 30_000, 90_000, 60_000, 7_500_000].map(clock).into();
        assert_eq!(shown, ["0s", "0.005s", "1.500s", "30s", "1m30s", "1m", "2h5m"]);
    }
}
