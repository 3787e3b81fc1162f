//! The steps in which a decision is carried out, and what becomes of it.

use std::time::Duration;

use apportion_core::controller::Conclusion;
use apportion_core::decision::{Action, EventRecord};
use apportion_core::finding::ObjectRef;
use serde_json::Value;

use super::watch::Seen;

/// What the API server has now, as far as its answers say.
#[derive(Clone, Debug)]
pub(super) enum Feedback {
    Has(Seen),
    Lost(ObjectRef, String),
}

/// What became of a plan.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) conclusion: Conclusion,
    pub(super) feedback: Vec<Feedback>,
    /// How long the API server wants to be left alone.
    pub(super) pause: Option<Duration>,
    /// Whether an object was made.
    pub(super) has_created: bool,
}

/// Why a write did not happen.
pub(super) enum Failure {
    /// The lease may be somebody else's.
    Fenced,
    /// Somebody else was faster, or the server has no time.
    Again(String, Option<Duration>),
    /// What was to be made is there: this is it.
    Exists(Feedback),
    /// Nobody answered in time, or nobody knows what the server did.
    Unanswered(String),
    /// The server does not want it.
    Refused(u16, String),
}

/// One write, and the Events that are told once it has happened.
pub(super) struct Step {
    pub(super) write: Action<Value>,
    pub(super) told: Vec<EventRecord>,
}

/// A step that was carried out.
pub(super) struct Done {
    pub(super) answer: Result<Option<Feedback>, Failure>,
    pub(super) is_create: bool,
    /// What is told if it was refused; then the following steps happen all the same.
    pub(super) refused: Option<EventRecord>,
    pub(super) told: Vec<EventRecord>,
}

/// Steps that are taken one after the other; Pods are bound side by side, since no binding builds on another one. Events that
/// come before any write are given beside.
pub(super) fn turns(writes: Vec<Action<Value>>) -> (Vec<Vec<Step>>, Vec<EventRecord>) {
    let (mut turns, mut told): (Vec<Vec<Step>>, _) = (Vec::new(), Vec::new());
    for write in writes {
        match write {
            Action::Record(event) => match turns.last_mut().and_then(|turn| turn.last_mut()) {
                Some(step) => step.told.push(event),
                None => told.push(event),
            },
            Action::Bind { .. } => {
                let is_binding =
                    |turn: &&mut Vec<Step>| turn.iter().all(|step| matches!(step.write, Action::Bind { .. }));
                let step = Step { write, told: Vec::new() };
                match turns.last_mut().filter(is_binding) {
                    Some(turn) => turn.push(step),
                    None => turns.push(vec![step]),
                }
            }
            write => turns.push(vec![Step { write, told: Vec::new() }]),
        }
    }
    (turns, told)
}

impl Outcome {
    /// Nothing has gone wrong so far.
    pub(super) fn new() -> Self {
        Self { conclusion: Conclusion::Done, feedback: Vec::new(), pause: None, has_created: false }
    }

    /// Takes in what became of a step. False where the following ones must not happen.
    pub(super) fn hear(&mut self, done: Done, events: &mut Vec<EventRecord>) -> bool {
        let Done { answer, is_create, refused, told } = done;
        match answer {
            Ok(feedback) => {
                self.has_created |= is_create;
                self.feedback.extend(feedback);
                events.extend(told);
                true
            }
            Err(Failure::Refused(status, message)) => {
                self.worsen(Conclusion::Refused { status, message: message.clone() });
                let Some(mut event) = refused else { return false };
                event.note.push_str(&message);
                events.push(event);
                events.extend(told);
                true
            }
            Err(Failure::Again(_, pause)) => {
                self.worsen(Conclusion::Failed);
                self.pause = self.pause.max(pause);
                false
            }
            Err(Failure::Exists(found)) => {
                self.feedback.push(found);
                self.worsen(Conclusion::Failed);
                false
            }
            Err(Failure::Unanswered(_)) => {
                self.worsen(Conclusion::Unanswered);
                false
            }
            Err(Failure::Fenced) => {
                self.worsen(Conclusion::Failed);
                false
            }
        }
    }

    /// Of several steps the one counts about which least is known; of refusals the last one.
    fn worsen(&mut self, conclusion: Conclusion) {
        let weight = |conclusion: &Conclusion| match conclusion {
            Conclusion::Done => 0,
            Conclusion::Refused { .. } => 1,
            Conclusion::Failed => 2,
            Conclusion::Unanswered => 3,
        };
        if weight(&conclusion) >= weight(&self.conclusion) {
            self.conclusion = conclusion;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, name: &str) -> ObjectRef {
        ObjectRef { kind: kind.to_owned(), namespace: "ml".to_owned(), name: name.to_owned() }
    }

    fn bind(name: &str) -> Action<Value> {
        Action::Bind { pod: object("Pod", name), uid: String::new(), node: "n".to_owned() }
    }

    fn event(reason: &str) -> EventRecord {
        EventRecord {
            regarding: object("Pod", "p"),
            uid: String::new(),
            is_warning: false,
            reason: reason.to_owned(),
            note: String::new(),
            controller: String::new(),
            action: String::new(),
        }
    }

    fn done(answer: Result<Option<Feedback>, Failure>, reason: &str) -> Done {
        Done { answer, is_create: false, refused: None, told: vec![event(reason)] }
    }

    #[test]
    fn pods_are_bound_side_by_side_and_all_else_in_its_order() {
        let delete = || Action::Delete {
            object: object("ResourceClaim", "c"),
            uid: String::new(),
            resource_version: String::new(),
        };
        let record = |reason: &str| Action::Record(event(reason));
        let writes = vec![
            record("first"),
            delete(),
            delete(),
            bind("a"),
            record("a is bound"),
            bind("b"),
            record("b is bound"),
            delete(),
            bind("c"),
        ];
        let (turns, told) = turns(writes);
        assert_eq!(told, [event("first")]);
        let sizes: Vec<usize> = turns.iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 1, 2, 1, 1]);
        let reasons: Vec<&str> = turns[2].iter().map(|step| step.told[0].reason.as_str()).collect();
        assert_eq!(reasons, ["a is bound", "b is bound"]);
    }

    #[test]
    fn of_steps_side_by_side_the_least_known_counts_and_only_what_happened_is_told() {
        let mut outcome = Outcome::new();
        let mut events = Vec::new();
        let refused = Failure::Refused(404, "gone".to_owned());
        let wish = Some(Duration::from_secs(3));
        assert!(outcome.hear(done(Ok(None), "a"), &mut events));
        assert!(!outcome.hear(done(Err(Failure::Unanswered("lost".to_owned())), "b"), &mut events));
        assert!(!outcome.hear(done(Err(refused), "c"), &mut events));
        assert!(!outcome.hear(done(Err(Failure::Again("busy".to_owned(), wish)), "d"), &mut events));
        assert!(outcome.hear(done(Ok(None), "e"), &mut events));
        assert_eq!((outcome.conclusion, outcome.pause), (Conclusion::Unanswered, wish));
        assert_eq!(events, [event("a"), event("e")]);
    }
}
