//! Laws over what happens in a cluster, asked of an instance of their own, or of the same code outside of it.

use std::fmt;

use apportion_core::check::History as Core;
use apportion_core::engine::parse;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::inspection as wit;
use crate::cluster::batches;
use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;
use crate::to_wit;

/// What has happened in a cluster so far, held to laws: see [`apportion_core::check::History`].
pub trait Notes {
    /// Takes in events of watches in the order of their revisions, each one JSON text. Findings come per event, in order.
    ///
    /// # Errors
    ///
    /// When the component stops. Then all later calls fail, too: a history cannot be made again.
    fn note(&mut self, events: &[String]) -> Result<Vec<Vec<Finding>>, Error>;
}

impl Notes for Core {
    fn note(&mut self, events: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        let note = |text: &String| parse(text).map_or_else(|finding| vec![finding], |event| self.note(event));
        Ok(events.iter().map(note).collect())
    }
}

/// A history, kept in an instance of the component.
pub struct History {
    store: Store<Guard>,
    instance: Dra,
    handle: ResourceAny,
    limits: HostLimits,
    is_over: bool,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("limits", &self.limits).field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl Runner {
    /// A history in which nothing has happened yet, in an instance of its own.
    ///
    /// # Errors
    ///
    /// When an instance cannot be had within the limits.
    pub fn history(&self, profile: &Profile, limits: HostLimits) -> Result<History, Error> {
        let created = self.instantiate(limits).and_then(|(mut store, instance)| {
            let history = instance.apportion_dra_inspection().history();
            let handle = history.call_create(&mut store, &to_wit::profile(profile))?;
            Ok((store, instance, handle))
        });
        let (store, instance, handle) = created.map_err(|error| Error::Stopped(Stop::of(&error, limits)))?;
        let handle = handle.map_err(|findings| Error::Refused(from_wit::findings(findings)))?;
        Ok(History { store, instance, handle, limits, is_over: false })
    }
}

impl History {
    fn call<T>(
        &mut self,
        ask: impl FnOnce(wit::GuestHistory<'_>, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        if self.is_over {
            return Err(Error::Stopped(Stop::Trap("the history ended when an earlier call stopped".to_owned())));
        }
        guard::start(&mut self.store);
        let answer = ask(self.instance.apportion_dra_inspection().history(), &mut self.store, self.handle);
        answer.map_err(|error| {
            self.is_over = true;
            Error::Stopped(Stop::of(&error, self.limits))
        })
    }
}

impl Notes for History {
    fn note(&mut self, events: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        let mut findings = Vec::with_capacity(events.len());
        for batch in batches(events) {
            let found = self.call(|history, store, handle| history.call_note(store, handle, batch))?;
            findings.extend(found.into_iter().map(from_wit::findings));
        }
        Ok(findings)
    }
}
