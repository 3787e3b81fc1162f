//! A simulation as calls with JSON in and out, for doors that speak JSON; and what every door offers of it.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{no_call, read, texts, unreadable};
use crate::ask::{Report, report_of};
use crate::control_plane::server::{Entry, Refused};
use crate::control_plane::{Command, Moment, Settled, Simulation};
use crate::decision::{EventRecord, Time};
use crate::finding::{Finding, ObjectRef};

/// The calls of a simulation: what each answers, and how a [`Simulation`] in this program answers it.
macro_rules! plays {
    ($($(#[$doc:meta])* $name:ident(&mut $it:ident $(, $argument:ident: $of:ty)*) -> $answer:ty { $own:expr })*) => {
        /// A simulation, on whichever side of a border it is. See the methods of [`Simulation`]; each fails where there is no answer.
        pub trait Plays {
            /// Why a call has no answer.
            type Error;
            $($(#[$doc])* fn $name(&mut self $(, $argument: $of)*) -> Result<$answer, Self::Error>;)*
        }

        impl Plays for Simulation {
            type Error = Infallible;
            $(fn $name(&mut $it $(, $argument: $of)*) -> Result<$answer, Infallible> {
                Ok($own)
            })*
        }
    };
}

plays! {
    /// [`Simulation::apply`].
    apply(&mut self, objects: &[String]) -> Vec<Vec<Finding>> { Self::apply(self, objects.iter().map(String::as_str)) }
    /// [`Simulation::submit`].
    submit(&mut self, objects: &[String]) -> Vec<Vec<Finding>> { Self::submit(self, objects.iter().map(String::as_str)) }
    /// [`Simulation::begin`].
    begin(&mut self) -> Vec<Finding> { Self::begin(self) }
    /// [`Simulation::perform`].
    perform(&mut self, command: Command) -> Result<(), Refused> { Self::perform(self, command) }
    /// [`Simulation::tell`].
    tell(&mut self, object: &ObjectRef, detail: &str) -> () { Self::tell(self, object.clone(), detail) }
    /// [`Simulation::run_until`].
    run_until(&mut self, until: Time) -> Settled { Self::run_until(self, until) }
    /// [`Simulation::step`].
    step(&mut self) -> bool { Self::step(self) }
    /// [`Simulation::now`].
    now(&mut self) -> Time { Self::now(self) }
    /// [`Simulation::next_work`].
    next_work(&mut self) -> Option<Time> { Self::next_work(self) }
    /// [`Simulation::writes`].
    writes(&mut self) -> u64 { Self::writes(self) }
    /// [`Simulation::timeline`] from a position on.
    timeline(&mut self, from: u64) -> Vec<Moment> { Self::timeline(self).iter().skip(position(from)).cloned().collect() }
    /// [`report_of`].
    report(&mut self) -> Report { report_of(self) }
    /// An object as stored.
    get(&mut self, object: &ObjectRef) -> Option<Value> { self.server().get(object) }
    /// All objects of a kind, by namespace and name.
    list(&mut self, kind: &str) -> Vec<Value> { self.server().list(kind).collect() }
    /// Events recorded so far, each with how often.
    events(&mut self) -> Vec<(EventRecord, u64)> { self.server().events().to_vec() }
    /// Keeps every version of every object from now on.
    keep_history(&mut self) -> () { self.server_mut().keep_history() }
    /// The versions that were kept, from a position on.
    history(&mut self, from: u64) -> Vec<Entry> { self.server().history().iter().skip(position(from)).cloned().collect() }
}

/// A simulation of these settings without objects, which begins at a time. For the settings see [`super::settings`]; those in
/// `components` give single components a version and gates of their own.
///
/// # Errors
///
/// A finding for every setting that is not known.
pub fn create(settings: Value, now: Time) -> Result<Simulation, Vec<Finding>> {
    let (profile, limits) = super::settings(settings.clone())?;
    let components = super::components(&settings, &profile)?;
    let mut simulation = Simulation::new(profile, limits, now);
    components.into_iter().for_each(|(component, profile)| simulation.begin_as(component, profile));
    Ok(simulation)
}

fn position(from: u64) -> usize {
    usize::try_from(from).unwrap_or(usize::MAX)
}

/// What was asked for from outside, for the timeline.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    object: ObjectRef,
    detail: String,
}

/// A Kubernetes Event, and how often it was recorded.
#[derive(Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub(crate) struct RecordedEvent {
    /// The Event.
    event: EventRecord,
    /// How often.
    #[cfg_attr(feature = "types", ts(type = "number"))]
    count: u64,
}

/// Makes one call by name; the answer of a call that cannot be read is `{"status": "unreadable", "findings": [..]}`.
///
/// | call | argument | answer |
/// |---|---|---|
/// | `apply` | a list of objects | a list of findings per object |
/// | `submit` | a list of objects | a list of findings per object |
/// | `begin` | `null` | findings |
/// | `perform` | a [`Command`] | `{}`, or `{"refused": {"status", "reason", "message"}}` |
/// | `tell` | `{"object", "detail"}` | `{}` |
/// | `runUntil` | milliseconds since 1970 | `quiet`, `restless` |
/// | `step` | `null` | whether something was done |
/// | `now`, `nextWork` | `null` | milliseconds since 1970; `null` where nothing comes |
/// | `writes` | `null` | a number |
/// | `timeline` | a position | a list of [`Moment`] |
/// | `report` | `null` | a [`Report`] |
/// | `get` | `{"kind", "namespace", "name"}` | the object or `null` |
/// | `list` | a kind | objects |
/// | `events` | `null` | a list of `{"event", "count"}` |
/// | `keepHistory` | `null` | `{}` |
/// | `history` | a position | a list of `{"atMillis", "happened", "object", "value"}` |
///
/// # Errors
///
/// When there is no answer.
pub fn call<P: Plays>(plays: &mut P, name: &str, argument: Value) -> Result<Value, P::Error> {
    macro_rules! read {
        ($ty:ty) => {
            match read::<$ty>(argument, name) {
                Ok(read) => read,
                Err(findings) => return Ok(unreadable(&findings)),
            }
        };
    }
    Ok(match name {
        "apply" => {
            json!(plays.apply(&texts(&read!(Vec<Value>)))?)
        }
        "submit" => {
            json!(plays.submit(&texts(&read!(Vec<Value>)))?)
        }
        "begin" => json!(plays.begin()?),
        "perform" => match plays.perform(read!(Command))? {
            Ok(()) => json!({}),
            Err(refused) => json!({ "refused": refused }),
        },
        "tell" => {
            let told = read!(Told);
            plays.tell(&told.object, &told.detail)?;
            json!({})
        }
        "runUntil" => json!(plays.run_until(Time::from_millis(read!(i64)))?),
        "step" => json!(plays.step()?),
        "now" => json!(plays.now()?.millis()),
        "nextWork" => json!(plays.next_work()?.map(Time::millis)),
        "writes" => json!(plays.writes()?),
        "timeline" => json!(plays.timeline(read!(u64))?),
        "report" => json!(plays.report()?),
        "get" => json!(plays.get(&read!(ObjectRef))?),
        "list" => json!(plays.list(&read!(String))?),
        "events" => {
            let events = plays.events()?.into_iter().map(|(event, count)| json!(RecordedEvent { event, count }));
            events.collect()
        }
        "keepHistory" => {
            plays.keep_history()?;
            json!({})
        }
        "history" => {
            let entries = plays.history(read!(u64))?.into_iter().map(|entry| {
                json!({
                    "atMillis": entry.at.millis(), "happened": entry.happened, "object": entry.object, "value": entry.value,
                })
            });
            entries.collect()
        }
        _ => return Ok(unreadable(&no_call(name))),
    })
}
