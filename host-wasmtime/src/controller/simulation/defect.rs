//! Defects that the controller once had, to be planted again: a simulation that finds none of them is worth nothing.

use std::cell::Cell;
use std::sync::Arc;

use apportion_core::api::source::SOURCE_API_VERSION;
use serde_json::Value;

/// What may be wrong again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Defect {
    /// A source that cannot be read is left out, and copies of a source that is not known go without a question.
    Unread,
    /// A field of a later version counts as nothing.
    Later,
    /// The end of any object counts as that of one that was deleted here and had its name.
    AnyEnd,
    /// An answer about an object that is gone counts for whatever has its name by now.
    AnyUid,
    /// A controller that starts may delete as many copies as one that has deleted none for a minute.
    FreshBrake,
    /// A leader trusts a clock that may have stood still, and writes whatever has changed since.
    OneClock,
}

thread_local! {
    static PLANTED: Cell<Option<Defect>> = const { Cell::new(None) };
    static STOPS: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn plant(defect: Option<Defect>) {
    PLANTED.set(defect);
    STOPS.set(false);
}

pub(in super::super) fn has(defect: Defect) -> bool {
    PLANTED.get() == Some(defect)
}

/// Lets the component stop in the next call of any replica.
pub(super) fn stop() {
    STOPS.set(true);
}

pub(super) fn stops() -> bool {
    STOPS.replace(false)
}

/// What is in a source that the controller does not understand.
pub(super) fn is_not_understood(source: &Value) -> bool {
    is_not_readable(source) || is_of_later_version(source)
}

fn is_not_readable(source: &Value) -> bool {
    source.pointer("/spec/template/spec/devices/requests/0/exactly/count").is_some_and(Value::is_string)
}

fn is_of_later_version(source: &Value) -> bool {
    source.pointer("/spec/targets/0/namespaceQuery").is_some()
}

/// Objects as they are taken in with the defect that is planted.
pub(in super::super) fn misread(mut texts: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let source =
        |text: &str| serde_json::from_str(text).ok().filter(|one: &Value| one["apiVersion"] == SOURCE_API_VERSION);
    if has(Defect::Unread) {
        texts.retain(|text| !source(text).is_some_and(|source| is_not_readable(&source)));
    }
    if has(Defect::Later) {
        for text in &mut texts {
            if let Some(mut source) = source(text).filter(is_of_later_version) {
                source["spec"]["targets"] = Value::Array(Vec::new());
                *text = source.to_string().into();
            }
        }
    }
    texts
}
