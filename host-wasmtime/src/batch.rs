//! Lines of a batch, one after another, in one instance of the component.

use apportion_core::finding::Finding;
use apportion_core::wire;
use serde_json::Value;
use wasmtime::Store;

use crate::bindings::Dra;
use crate::error::{Error, Stop};
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;

/// Answers lines; see [`wire::batch::answer`]. No line knows of another.
///
/// A line at which the component stops is answered with why; the next one finds a fresh instance.
pub struct Batch {
    runner: Runner,
    limits: HostLimits,
    /// What holds for lines that do not say it, as JSON.
    defaults: String,
    live: Option<(Store<Guard>, Dra)>,
    stops: u64,
}

impl Runner {
    /// A batch; `defaults` is `{"settings", "ask"}`.
    pub fn batch(&self, limits: HostLimits, defaults: &Value) -> Batch {
        Batch { runner: self.clone(), limits, defaults: defaults.to_string(), live: None, stops: 0 }
    }
}

impl Batch {
    /// How often the component stopped in the middle of a line.
    pub const fn stops(&self) -> u64 {
        self.stops
    }

    /// The answer to a line, as JSON text. `index` is its position in the whole batch.
    pub fn answer(&mut self, line: &str, index: u64) -> String {
        self.ask(line, index).unwrap_or_else(|error| {
            let stop = Stop::of(&error, self.limits);
            self.stops = self.stops.saturating_add(1);
            failed(index, wire::batch::id_of(line), &Error::Stopped(stop).findings())
        })
    }

    fn ask(&mut self, line: &str, index: u64) -> wasmtime::Result<String> {
        let (mut store, instance) = match self.live.take() {
            Some(live) => live,
            None => self.runner.instantiate(self.limits)?,
        };
        guard::start(&mut store);
        let answer = instance.apportion_dra_batches().call_answer(&mut store, line, index, &self.defaults)?;
        self.live = Some((store, instance));
        Ok(answer)
    }
}

fn failed(index: u64, id: Value, findings: &[Finding]) -> String {
    wire::batch::failed(index, id, findings).to_string()
}
