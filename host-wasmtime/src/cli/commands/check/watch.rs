//! `apportion check --watch`: what happens in a cluster, or happened in a log, held to laws.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use apportion::{HostLimits, Notes, Runner};
use apportion_core::check::History;
use apportion_core::control_plane::script::duration;
use apportion_core::finding::Finding;
use apportion_core::profile::Mode;
use serde_json::{Deserializer, Value, json};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::CheckArguments;
use crate::api_server::{Connection, Followed, Served, WATCHED, connect, follow};
use crate::cli::arguments::Output;
use crate::cli::diagnose::diagnose;
use crate::cli::note::{Note, numbers};
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::{Shown, Verdict};
use crate::cli::{ask, files, machine, text};
use crate::controller::wait_for_signal;

/// How long an event waits for those of other kinds that came before it and are heard later.
const PATIENCE: Duration = Duration::from_secs(5);

/// Events of a log that are noted together.
const TOGETHER: usize = 1000;

/// Follows until the log ends, the time is over, or somebody interrupts.
pub(super) fn watch(arguments: &CheckArguments) -> Result<Shown> {
    let profile = ask::profile(&arguments.kubernetes, Mode::Sound)?;
    let laws: Box<dyn Notes> = match arguments.kubernetes.native {
        true => Box::new(History::new(profile)),
        false => Box::new(Runner::new()?.history(&profile, HostLimits::default())?),
    };
    let mut told = Told { laws, arguments, notes: Vec::new(), events: 0, is_closed: false };
    match (arguments.input.cluster.from_cluster, arguments.input.files().as_slice()) {
        (true, []) => {
            let runtime = Builder::new_current_thread().enable_all().build().context("no request can be sent")?;
            runtime.block_on(live(&mut told))?;
        }
        (true, _) => bail!("`--watch` follows either a cluster or logs: leave `-f` or `--from-cluster` out"),
        (false, paths) => {
            for events in log(paths)?.chunks(TOGETHER) {
                told.note(events)?;
            }
        }
    }
    Ok(told.summary())
}

/// The events of logs, one or several for the kinds, in the order of their revisions.
fn log(paths: &[String]) -> Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    for source in files::read(paths, files::Network::Refused)? {
        let mut latest = 0;
        for value in Deserializer::from_slice(&source.text).into_iter::<Value>() {
            let number = events.len().saturating_add(1);
            let value = value.with_context(|| format!("event {number}, in `{}`, is not JSON", source.name))?;
            // What has no revision happened after what stands before it.
            let event = Event::of(value, latest);
            latest = event.revision;
            events.push(event);
        }
    }
    events.sort_by_key(|event| event.revision);
    Ok(events)
}

/// An event of a watch.
struct Event {
    revision: u64,
    value: Value,
}

impl Event {
    fn of(value: Value, otherwise: u64) -> Self {
        let object = value.get("object");
        let items = object.and_then(|object| object.get("items")).and_then(Value::as_array).into_iter().flatten();
        let revision = |object: &Value| object.pointer("/metadata/resourceVersion")?.as_str()?.parse().ok();
        let own = object.and_then(revision).or_else(|| items.filter_map(revision).max());
        Self { revision: own.unwrap_or(otherwise), value }
    }

    /// Whether this is a list of the kind that another event is about.
    fn lists(&self, other: &Self) -> bool {
        let kind = |event: &Self| event.value.pointer("/object/kind").and_then(Value::as_str).map(str::to_owned);
        kind(self).is_some_and(|list| list.strip_suffix("List").map(str::to_owned) == kind(other))
    }
}

/// Follows a cluster.
async fn live(told: &mut Told<'_>) -> Result<()> {
    let lasts = match &told.arguments.lasts {
        Some(text) => {
            let millis = duration(text).with_context(|| format!("`--for {text}` is no duration such as `30s`"))?;
            Duration::from_millis(u64::try_from(millis).unwrap_or_default())
        }
        None => Duration::MAX,
    };
    let Connection { client, context } = connect(told.arguments.input.cluster.context.as_deref()).await?;
    let (served, (sender, mut news)) = (Served::default(), mpsc::unbounded_channel());
    let mut lists = BTreeMap::new();
    for resource in &WATCHED {
        let name = resource.full_name();
        match served.find(&client, resource).await.with_context(|| format!("{name} cannot be listed"))? {
            Some(kind) => {
                lists.insert(kind.plural.clone(), None);
                tokio::spawn(follow(client.clone(), kind, sender.clone()));
            }
            None => told.remark(&format!("the cluster does not serve {name}: nothing is said about them"))?,
        }
    }
    let (mut heard, mut stop) = (Vec::new(), std::pin::pin!(wait_for_signal()?));
    let mut over = std::pin::pin!(sleep(lasts));
    // What there is at first is taken in kind by kind, however it arrives.
    while lists.values().any(Option::is_none) {
        tokio::select! {
            Some((plural, followed)) = news.recv() => match (followed, lists.get_mut(&plural)) {
                (Followed::Listed(list), Some(first @ None)) => *first = Some(Event::of(list, 0)),
                (Followed::Listed(event) | Followed::Happened(event), _) => heard.push((Instant::now(), Event::of(event, 0))),
                (Followed::Failed(error), _) => return Err(error).with_context(|| format!("{plural} cannot be watched")),
            },
            () = &mut over => bail!("the cluster's objects could not be listed in time"),
            () = &mut stop => return Ok(()),
        }
    }
    for resource in &WATCHED {
        let first = lists.remove(resource.plural).flatten();
        told.note(first.as_slice())?;
    }
    told.events = 0;
    told.remark(&format!("following context {context}; interrupt to end"))?;
    // Kinds of which nothing is heard: until they are listed again, what happened to the others waits, since it may follow from what
    // happened to them. One connection that ends may take a moment to end all watches.
    let (mut deaf, mut failed) = (BTreeMap::new(), Instant::now());
    let mut ticks = interval(PATIENCE / 5);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !told.is_closed {
        tokio::select! {
            Some((plural, followed)) = news.recv() => match followed {
                Followed::Happened(event) => heard.push((Instant::now(), Event::of(event, 0))),
                Followed::Listed(event) => match deaf.get_mut(&plural) {
                    Some(list) => {
                        let event = Event::of(event, 0);
                        heard.retain(|(_, old)| !event.lists(old));
                        *list = Some(event);
                    }
                    None => heard.push((Instant::now(), Event::of(event, 0))),
                },
                Followed::Failed(error) => {
                    failed = Instant::now();
                    if deaf.insert(plural.clone(), None).is_none() {
                        told.remark(&format!("{plural}: {error}; the watch is begun again"))?;
                    }
                }
            },
            _ = ticks.tick() => {
                let is_whole = deaf.values().all(Option::is_some);
                if is_whole && (deaf.is_empty() || failed.elapsed() > PATIENCE) {
                    for resource in &WATCHED {
                        let list = deaf.remove(resource.plural).flatten();
                        told.note(list.as_slice())?;
                    }
                    told.note(&ripe(&mut heard, Instant::now().checked_sub(PATIENCE)))?;
                }
            }
            () = &mut over => break,
            () = &mut stop => break,
        }
    }
    told.note(&ripe(&mut heard, Some(Instant::now())))
}

/// Takes out what was heard until a time, and what happened before that, in the order of revisions.
fn ripe(heard: &mut Vec<(Instant, Event)>, until: Option<Instant>) -> Vec<Event> {
    let latest =
        heard.iter().filter(|(when, _)| until.is_some_and(|until| *when <= until)).map(|(_, event)| event.revision);
    let Some(latest) = latest.max() else { return Vec::new() };
    let mut ripe: Vec<Event> =
        heard.extract_if(.., |(_, event)| event.revision <= latest).map(|(_, event)| event).collect();
    ripe.sort_by_key(|event| event.revision);
    ripe
}

/// What was noted, and what was said about it.
struct Told<'a> {
    laws: Box<dyn Notes>,
    arguments: &'a CheckArguments,
    notes: Vec<Note>,
    events: usize,
    /// Whether nobody reads any more.
    is_closed: bool,
}

impl Told<'_> {
    /// Holds events to the laws, and prints at once what breaks them.
    fn note(&mut self, events: &[Event]) -> Result<()> {
        let texts: Vec<String> = events.iter().map(|event| event.value.to_string()).collect();
        for (event, findings) in events.iter().zip(self.laws.note(&texts)?) {
            self.events = self.events.saturating_add(1);
            for finding in findings {
                self.print(event.revision, finding)?;
            }
        }
        Ok(())
    }

    fn print(&mut self, revision: u64, finding: Finding) -> Result<()> {
        let note = Note::of_finding(finding, None);
        let view = &self.arguments.view;
        let line = || json!({ "revision": revision.to_string(), "finding": note.for_machines(&[]) });
        let printed = match view.output {
            Output::Table => {
                let pen = Pen::new(&view.look, &io::stdout());
                format!("at revision {revision}:\n{}", diagnose(std::slice::from_ref(&note), &[], pen, true))
            }
            Output::Json => format!("{}\n", line()),
            Output::Yaml => format!("---\n{}", machine::text(&line(), Output::Yaml)),
        };
        self.notes.push(note);
        let mut stdout = io::stdout().lock();
        match stdout.write_all(printed.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_closed = true,
            written => written?,
        }
        Ok(())
    }

    /// Says something beside the answer.
    fn remark(&self, remark: &str) -> Result<()> {
        Ok(writeln!(io::stderr(), "note: {}", text::clean(remark))?)
    }

    fn summary(self) -> Shown {
        let look = &self.arguments.view.look;
        let verdict = Verdict::of(self.notes.is_empty());
        let pen = Pen::new(look, &io::stdout());
        let stdout = match (self.arguments.view.output, numbers(&self.notes)) {
            (Output::Json | Output::Yaml, _) => String::new(),
            (Output::Table, counts) => {
                let said = match counts {
                    (0, 0) => pen.paint(Ink::Good, "no law was broken"),
                    (errors, warnings) => pen.paint(
                        if errors > 0 { Ink::Bad } else { Ink::Doubt },
                        &format!("{}, {}", text::count(errors, "error"), text::count(warnings, "warning")),
                    ),
                };
                format!("{}: {said}\n", text::count(self.events, "event"))
            }
        };
        Shown { stdout: stdout.into(), stderr: String::new(), verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(revision: u64) -> Event {
        Event::of(json!({ "type": "ADDED", "object": { "metadata": { "resourceVersion": revision.to_string() } } }), 0)
    }

    #[test]
    fn what_is_heard_late_and_happened_before_is_noted_before() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut heard = vec![(at(0), event(7)), (at(10), event(5)), (at(20), event(8)), (at(20), event(6))];
        let revisions = |events: Vec<Event>| events.iter().map(|event| event.revision).collect::<Vec<_>>();
        assert_eq!(revisions(ripe(&mut heard, start.checked_sub(PATIENCE))), [] as [u64; 0]);
        assert_eq!(revisions(ripe(&mut heard, Some(start))), [5, 6, 7]);
        assert_eq!(revisions(ripe(&mut heard, Some(at(20)))), [8]);
    }

    #[test]
    fn a_list_replaces_what_was_heard_of_its_kind() {
        let of = |kind: &str| Event::of(json!({ "type": "LISTED", "object": { "kind": kind } }), 0);
        assert!(of("PodList").lists(&of("Pod")));
        assert!(!of("PodList").lists(&of("ResourceClaim")) && !of("PodList").lists(&of("PodList")));
    }

    #[test]
    fn a_list_is_of_its_latest_object() {
        let item = |version: &str| json!({ "metadata": { "resourceVersion": version } });
        let list =
            json!({ "type": "LISTED", "object": { "metadata": {}, "items": [item("3"), item("9"), item("x")] } });
        assert_eq!(Event::of(list, 1).revision, 9);
        assert_eq!(Event::of(json!(7), 4).revision, 4);
    }
}
