//! An instance of the component with one resource in it, which is made again after a stop.

use std::fmt;

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::decisions::Finding as WitFinding;
use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;

/// A call that makes the component stop fails, and the instance is dropped. The next call finds a fresh one.
pub(crate) struct Session {
    runner: Runner,
    limits: HostLimits,
    live: Option<Live>,
    /// How often the component stopped in the middle of a call.
    pub(crate) stops: u64,
}

/// An instance that has not stopped.
struct Live {
    store: Store<Guard>,
    instance: Dra,
    handle: ResourceAny,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("limits", &self.limits).field("stops", &self.stops).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(runner: Runner, limits: HostLimits) -> Self {
        Self { runner, limits, live: None, stops: 0 }
    }

    /// Drops the instance.
    pub(crate) fn renew(&mut self) {
        self.live = None;
    }

    /// Asks the live instance, or else a fresh one in which `make` makes the resource.
    pub(crate) fn call<T>(
        &mut self,
        make: impl FnOnce(&Dra, &mut Store<Guard>) -> wasmtime::Result<Result<ResourceAny, Vec<WitFinding>>>,
        ask: impl FnOnce(&Dra, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let mut live = match self.live.take() {
            Some(live) => live,
            None => {
                let made = self.runner.instantiate(self.limits).and_then(|(mut store, instance)| {
                    let handle = make(&instance, &mut store)?;
                    Ok(handle.map(|handle| Live { store, instance, handle }))
                });
                let refused = |findings| Error::Refused(from_wit::findings(findings));
                made.map_err(|error| self.stopped(&error))?.map_err(refused)?
            }
        };
        guard::start(&mut live.store);
        let answer = ask(&live.instance, &mut live.store, live.handle).map_err(|error| self.stopped(&error))?;
        self.live = Some(live);
        Ok(answer)
    }

    fn stopped(&mut self, error: &wasmtime::Error) -> Error {
        self.stops = self.stops.saturating_add(1);
        Error::Stopped(Stop::of(error, self.limits))
    }
}
