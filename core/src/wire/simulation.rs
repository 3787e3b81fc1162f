//! A simulation as calls with JSON in and out, for doors that speak JSON; and what every door offers of it.

use std::convert::Infallible;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ask::{Report, report_of};
use crate::control_plane::server::{Entry, Refused};
use crate::control_plane::{Command, Moment, Settled, Simulation};
use crate::decision::{EventRecord, Time};
use crate::finding::{Code, Finding, ObjectRef};

/// A simulation, on whichever side of a border it is. See the methods of [`Simulation`]; each fails where there is no answer.
pub trait Plays {
    /// Why a call has no answer.
    type Error;

    /// [`Simulation::apply`].
    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Self::Error>;
    /// [`Simulation::submit`].
    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Self::Error>;
    /// [`Simulation::begin`].
    fn begin(&mut self) -> Result<Vec<Finding>, Self::Error>;
    /// [`Simulation::perform`].
    fn perform(&mut self, command: Command) -> Result<Result<(), Refused>, Self::Error>;
    /// [`Simulation::tell`].
    fn tell(&mut self, object: &ObjectRef, detail: &str) -> Result<(), Self::Error>;
    /// [`Simulation::run_until`].
    fn run_until(&mut self, until: Time) -> Result<Settled, Self::Error>;
    /// [`Simulation::step`].
    fn step(&mut self) -> Result<bool, Self::Error>;
    /// [`Simulation::now`].
    fn now(&mut self) -> Result<Time, Self::Error>;
    /// [`Simulation::next_work`].
    fn next_work(&mut self) -> Result<Option<Time>, Self::Error>;
    /// [`Simulation::writes`].
    fn writes(&mut self) -> Result<u64, Self::Error>;
    /// [`Simulation::timeline`] from a position on.
    fn timeline(&mut self, from: u64) -> Result<Vec<Moment>, Self::Error>;
    /// [`report_of`].
    fn report(&mut self) -> Result<Report, Self::Error>;
    /// An object as stored.
    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Self::Error>;
    /// All objects of a kind, by namespace and name.
    fn list(&mut self, kind: &str) -> Result<Vec<Value>, Self::Error>;
    /// Events recorded so far, each with how often.
    fn events(&mut self) -> Result<Vec<(EventRecord, u64)>, Self::Error>;
    /// Keeps every version of every object from now on.
    fn keep_history(&mut self) -> Result<(), Self::Error>;
    /// The versions that were kept, from a position on.
    fn history(&mut self, from: u64) -> Result<Vec<Entry>, Self::Error>;
}

impl Plays for Simulation {
    type Error = Infallible;

    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Infallible> {
        Ok(Self::apply(self, objects.iter().map(String::as_str)))
    }

    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Infallible> {
        Ok(Self::submit(self, objects.iter().map(String::as_str)))
    }

    fn begin(&mut self) -> Result<Vec<Finding>, Infallible> {
        Ok(Self::begin(self))
    }

    fn perform(&mut self, command: Command) -> Result<Result<(), Refused>, Infallible> {
        Ok(Self::perform(self, command))
    }

    fn tell(&mut self, object: &ObjectRef, detail: &str) -> Result<(), Infallible> {
        Self::tell(self, object.clone(), detail);
        Ok(())
    }

    fn run_until(&mut self, until: Time) -> Result<Settled, Infallible> {
        Ok(Self::run_until(self, until))
    }

    fn step(&mut self) -> Result<bool, Infallible> {
        Ok(Self::step(self))
    }

    fn now(&mut self) -> Result<Time, Infallible> {
        Ok(Self::now(self))
    }

    fn next_work(&mut self) -> Result<Option<Time>, Infallible> {
        Ok(Self::next_work(self))
    }

    fn writes(&mut self) -> Result<u64, Infallible> {
        Ok(Self::writes(self))
    }

    fn timeline(&mut self, from: u64) -> Result<Vec<Moment>, Infallible> {
        Ok(Self::timeline(self).iter().skip(position(from)).cloned().collect())
    }

    fn report(&mut self) -> Result<Report, Infallible> {
        Ok(report_of(self))
    }

    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Infallible> {
        Ok(self.server().get(object))
    }

    fn list(&mut self, kind: &str) -> Result<Vec<Value>, Infallible> {
        Ok(self.server().list(kind).collect())
    }

    fn events(&mut self) -> Result<Vec<(EventRecord, u64)>, Infallible> {
        Ok(self.server().events().to_vec())
    }

    fn keep_history(&mut self) -> Result<(), Infallible> {
        self.server_mut().keep_history();
        Ok(())
    }

    fn history(&mut self, from: u64) -> Result<Vec<Entry>, Infallible> {
        Ok(self.server().history().iter().skip(position(from)).cloned().collect())
    }
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
    let unreadable = |message: String| {
        let finding = Finding::new(Code::ReadBadSettings, name, message);
        Ok(json!({ "status": "unreadable", "findings": [finding] }))
    };
    macro_rules! read {
        ($ty:ty) => {
            match read::<$ty>(argument) {
                Ok(read) => read,
                Err(message) => return unreadable(message),
            }
        };
    }
    Ok(match name {
        "apply" => {
            let objects: Vec<String> = read!(Vec<Value>).iter().map(Value::to_string).collect();
            json!(plays.apply(&objects)?)
        }
        "submit" => {
            let objects: Vec<String> = read!(Vec<Value>).iter().map(Value::to_string).collect();
            json!(plays.submit(&objects)?)
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
        _ => return unreadable(format!("there is no call `{name}`")),
    })
}

fn read<T: DeserializeOwned>(argument: Value) -> Result<T, String> {
    serde_json::from_value(argument).map_err(|error| error.to_string())
}
