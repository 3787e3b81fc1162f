//! What is wrong in a dump, and laws over a history, through the contract.

use std::cell::RefCell;

use apportion_core::check::History;
use apportion_core::decision::Time;
use apportion_core::engine::parse;

use crate::bindings::exports::apportion::dra::decisions::Profile;
use crate::bindings::exports::apportion::dra::{inspection, types};
use crate::{Component, from_wire, to_wire};

/// One history; the host calls its methods one at a time.
pub(crate) struct Noted(RefCell<History>);

impl inspection::Guest for Component {
    type History = Noted;

    fn inspect(
        objects: Vec<String>,
        profile: Profile,
        now_millis: Option<i64>,
    ) -> Result<Vec<types::Finding>, Vec<types::Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let objects: Vec<_> = objects.iter().map(|text| parse(text).unwrap_or_default()).collect();
        let now = now_millis.map(Time::from_millis);
        Ok(to_wire::findings(apportion_core::check::inspect(objects, &profile, now)))
    }
}

impl inspection::GuestHistory for Noted {
    fn create(profile: Profile) -> Result<inspection::History, Vec<types::Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        Ok(inspection::History::new(Self(RefCell::new(History::new(profile)))))
    }

    fn note(&self, events: Vec<String>) -> Vec<Vec<types::Finding>> {
        let mut history = self.0.borrow_mut();
        let found =
            events.iter().map(|text| parse(text).map_or_else(|finding| vec![finding], |event| history.note(event)));
        found.map(to_wire::findings).collect()
    }
}
