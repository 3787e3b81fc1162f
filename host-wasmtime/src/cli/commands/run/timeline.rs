//! `apportion run` in virtual time: what happens to claims and Pods, step by step.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use apportion::{HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::ask::Report;
use apportion_core::control_plane::script::{self, Step, duration, is_namespaced};
use apportion_core::control_plane::{Command, Happening, Moment, Settled, Simulation};
use apportion_core::decision::{EventRecord, Time, clock};
use apportion_core::finding::{Finding, ObjectRef, Severity};
use apportion_core::wire::simulation::Plays;
use serde_json::{Value, json};

use crate::cli::arguments::EngineArguments;
use crate::cli::input::{Input, Taken};
use crate::cli::{ask, files, stage};

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
    /// Steps that the API server refused, in the order in which they were tried.
    pub(crate) refused: Vec<Refusal>,
    /// Steps after the end, which were not tried.
    pub(crate) left: Vec<Left>,
}

/// A step that changed nothing.
pub(crate) struct Refusal {
    pub(crate) at_millis: i64,
    pub(crate) says: String,
    /// Where it stands, as `file:line`.
    pub(crate) place: String,
    pub(crate) message: String,
}

/// A step that was not reached.
pub(crate) struct Left {
    pub(crate) at_millis: i64,
    pub(crate) says: String,
    pub(crate) place: String,
}

/// The cluster when a step was done and everything that follows at once had happened.
pub(crate) struct Stage {
    pub(crate) at_millis: u64,
    pub(crate) says: String,
    pub(crate) report: Report,
}

/// A step with its place in a file.
struct Placed {
    step: Step,
    place: String,
}

impl Placed {
    fn left(&self) -> Left {
        let Self { step, place } = self;
        Left { at_millis: step.at_millis, says: step.says.clone(), place: place.clone() }
    }
}

fn read_script(path: &str) -> Result<Vec<Placed>> {
    let mut steps = Vec::new();
    for source in files::read(&[path.to_owned()], files::Network::Refused)? {
        let reading = apportion_yaml::read(&source.text, &apportion_yaml::Limits::default());
        let problem = reading.problems.iter().find(|problem| problem.severity == apportion_yaml::Severity::Error);
        if let Some(problem) = problem {
            bail!("{}:{}: {}", source.name, source.line_column(problem.span.start).0, problem.message);
        }
        let Some(document) = reading.documents.into_iter().next() else { bail!("{} is empty", source.name) };
        let place = |path: &str| match document.positions.find(path) {
            Some(located) => format!("{}:{}", source.name, source.line_column(located.value.start).0),
            None => source.name.clone(),
        };
        match script::script(&document.value) {
            Ok(read) => {
                steps.extend(read.into_iter().map(|step| Placed { place: place(&format!("[{}]", step.index)), step }));
            }
            Err(findings) => {
                let line = |finding: &Finding| format!("{}: {}", place(&finding.path), finding.message);
                bail!("{}", findings.iter().map(line).collect::<Vec<String>>().join("\n"));
            }
        }
    }
    steps.sort_by_key(|placed| placed.step.at_millis);
    Ok(steps)
}

/// What happens to the cluster.
pub(super) struct Steps {
    steps: Vec<Placed>,
    until: i64,
    /// Whether the cluster is shown after each step.
    keeps_stages: bool,
}

impl Steps {
    pub(super) fn new(script: Option<&str>, until: Option<&str>, keeps_stages: bool) -> Result<Self> {
        let steps = script.map(read_script).transpose()?.unwrap_or_default();
        let until = match until {
            Some(text) => duration(text).with_context(|| format!("`--until {text}` is no duration such as `10m`"))?,
            None => steps.last().map_or(0, |placed| placed.step.at_millis).saturating_add(USUAL),
        };
        Ok(Self { steps, until, keeps_stages })
    }

    /// Plays them in a cluster of the input's objects.
    pub(super) fn play(&self, engine: &EngineArguments, input: &Input) -> Result<(Taken, Played)> {
        let profile = ask::profile_of(engine)?;
        let limits = Limits { max_steps: engine.max_steps };
        let now = Simulation::start_of(&input.objects().collect::<Vec<Value>>());
        match engine.kubernetes.native {
            true => self.play_in(Simulation::new(profile, limits, now), input),
            false => self.play_in(Runner::new()?.play(&profile, limits, HostLimits::default(), Some(now), &[])?, input),
        }
    }

    fn play_in<P: Plays>(&self, mut plays: P, input: &Input) -> Result<(Taken, Played)>
    where
        P::Error: std::error::Error + Send + Sync + 'static,
    {
        let taken = input.taken(plays.submit(&input.texts)?);
        stage::wait("letting time pass", taken.sentence(&input.sources));
        let namespaces = namespaces(input, &self.steps);
        Ok((taken, play(&mut plays, self, &namespaces)?))
    }
}

fn play<P: Plays>(
    plays: &mut P,
    Steps { steps, until, keeps_stages }: &Steps,
    namespaces: &BTreeSet<String>,
) -> Result<Played>
where
    P::Error: std::error::Error + Send + Sync + 'static,
{
    plays.begin()?;
    let start = plays.now()?;
    let mut settled = Settled::Quiet;
    let mut stages = Vec::new();
    let millis = |now: Time| u64::try_from(now.millis().saturating_sub(start.millis())).unwrap_or_default();
    let mut refusals = Vec::new();
    for Placed { step, place } in steps.iter().filter(|placed| placed.step.at_millis <= *until) {
        let at = start.plus_millis(step.at_millis);
        // What is due before the step happens before it, and so does what is due at its time.
        settled = worse(settled, plays.run_until(at)?);
        let object = placed(plays, &step.object, namespaces)?;
        let command = in_namespace(step.command.clone(), &object.namespace);
        plays.tell(&object, &step.says)?;
        if let Err(refused) = plays.perform(command)? {
            plays.tell(&object, &format!("refused: {}", refused.message))?;
            refusals.push(Refusal {
                at_millis: step.at_millis,
                says: step.says.clone(),
                place: place.clone(),
                message: refused.message,
            });
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
        refused: refusals,
        left: steps.iter().filter(|placed| placed.step.at_millis > *until).map(Placed::left).collect(),
    })
}

fn worse(one: Settled, other: Settled) -> Settled {
    if one == Settled::Restless { one } else { other }
}

/// The object with its namespace: the one that is written, the only one of some that has such an object, or `default`.
fn placed<P: Plays>(plays: &mut P, object: &ObjectRef, namespaces: &BTreeSet<String>) -> Result<ObjectRef, P::Error> {
    if !object.namespace.is_empty() || !is_namespaced(&object.kind) {
        return Ok(object.clone());
    }
    let mut found = Vec::new();
    for namespace in namespaces {
        let there = ObjectRef { namespace: namespace.clone(), ..object.clone() };
        if plays.get(&there)?.is_some() {
            found.push(there);
        }
    }
    Ok(match <[ObjectRef; 1]>::try_from(found) {
        Ok([only]) => only,
        Err(_) => ObjectRef { namespace: "default".to_owned(), ..object.clone() },
    })
}

/// Where objects can be that something is done to: namespaces of what is given and of what steps bring.
fn namespaces(input: &Input, steps: &[Placed]) -> BTreeSet<String> {
    let of = |object: &Value| object.pointer("/metadata/namespace").and_then(Value::as_str).map(str::to_owned);
    let brought = steps.iter().filter_map(|placed| match &placed.step.command {
        Command::Create(object) | Command::Apply(object) => of(object),
        _ => None,
    });
    let given = input.objects().filter_map(|object| of(&object));
    given.chain(brought).chain(["default".to_owned()]).collect()
}

fn in_namespace(mut command: Command, namespace: &str) -> Command {
    match &mut command {
        Command::Delete { object, .. } | Command::Patch { object, .. } | Command::Finish { pod: object, .. } => {
            namespace.clone_into(&mut object.namespace);
        }
        Command::Create(object) | Command::Apply(object) => {
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            if let Some(metadata) = metadata.filter(|_| !namespace.is_empty()) {
                metadata.entry("namespace").or_insert_with(|| json!(namespace));
            }
        }
        _ => {}
    }
    command
}

impl Played {
    /// The answer for programs.
    pub(super) fn to_json(&self) -> Value {
        let event = |(event, count): &(EventRecord, u64)| json!({ "event": event, "count": count });
        let stage = |stage: &Stage| json!({ "atMillis": stage.at_millis, "step": stage.says, "report": stage.report });
        let mut body = json!({
            "simulation": {
                "start": self.start.to_string(), "endMillis": self.end_millis, "settled": self.settled,
            },
            "timeline": self.moments, "events": self.events.iter().map(event).collect::<Value>(), "report": self.report,
        });
        if let (Some(map), false) = (body.as_object_mut(), self.stages.is_empty()) {
            map.insert("steps".to_owned(), self.stages.iter().map(stage).collect());
        }
        if let (Some(map), false) = (body.as_object_mut(), self.refused.is_empty()) {
            let refused = |Refusal { at_millis, says, place, message }: &Refusal| json!({ "atMillis": at_millis, "step": says, "place": place, "message": message });
            map.insert("refusedSteps".to_owned(), self.refused.iter().map(refused).collect());
        }
        if let (Some(map), false) = (body.as_object_mut(), self.left.is_empty()) {
            let left =
                |Left { at_millis, says, place }: &Left| json!({ "atMillis": at_millis, "step": says, "place": place });
            map.insert("stepsAfterEnd".to_owned(), self.left.iter().map(left).collect());
        }
        body
    }

    /// What is to be said of the script's steps: those that were refused, and those that were not reached.
    pub(super) fn remarks(&self) -> String {
        let time = |millis: i64| clock(u64::try_from(millis).unwrap_or_default());
        let refused = self.refused.iter().map(|Refusal { at_millis, says, place, message }| {
            format!("error: {place}: step `{says}` at {} was refused: {message}\n", time(*at_millis))
        });
        let left = self.left.iter().map(|Left { at_millis, says, place }| {
            let at = time(*at_millis);
            format!("note: {place}: step `{says}` at {at} was not played: the end is at {}\n", clock(self.end_millis))
        });
        refused.chain(left).collect()
    }
}

/// Moments that people look for first.
pub(crate) const fn is_main(happened: Happening) -> bool {
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

/// What happened, in words.
pub(crate) fn words(moment: &Moment) -> String {
    let detail = &moment.detail;
    let with = |what: &str| if detail.is_empty() { what.to_owned() } else { format!("{what} {detail}") };
    match moment.happened {
        Happening::Requested => format!("> {detail}"),
        Happening::Created => with("created"),
        Happening::Deleting if detail.is_empty() => "is to go".to_owned(),
        Happening::Deleting => format!("is to go, {detail}"),
        Happening::Deleted => "gone".to_owned(),
        Happening::Placed => format!("placed on {detail}"),
        Happening::Pending => format!("pending: {detail}"),
        Happening::Phase => detail.to_lowercase(),
        Happening::Recorded => format!("records {detail}"),
        Happening::Allocated => format!("gets {detail}"),
        Happening::Deallocated => format!("gives back {detail}"),
        Happening::Reserved => format!("reserved {detail}"),
        Happening::Released => format!("no longer reserved for {detail}"),
        Happening::Protected => format!("finalizer {detail}"),
        Happening::Unprotected => format!("without finalizer {detail}"),
        Happening::Condition | Happening::Taints | Happening::Event => detail.clone(),
        Happening::Changed => "changed".to_owned(),
    }
}
