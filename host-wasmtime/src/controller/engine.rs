//! A controller of the component in a thread of its own: calls compute and must not hold up requests.

use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use apportion::{Controller, Error};
use tokio::sync::oneshot;

pub(super) type Job = Box<dyn FnOnce(&mut Controller) + Send>;

/// Where calls are sent to; false where nobody takes them any more. The thread ends with the last of these.
pub(super) struct Engine(Box<dyn Fn(Job) -> bool + Send + Sync>);

impl Engine {
    /// Starts the thread.
    pub(super) fn start(name: &str, mut controller: Controller) -> Result<Self> {
        #[cfg(test)]
        if super::simulation::processor::is_running() {
            return Ok(Self(Box::new(super::simulation::engine(controller))));
        }
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || jobs.into_iter().for_each(|job| job(&mut controller));
        thread::Builder::new().name(name.to_owned()).spawn(work).context("no thread can be started")?;
        Ok(Self(Box::new(move |job| sender.send(job).is_ok())))
    }

    /// Makes one call and waits for its answer.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Controller) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |controller| {
            let answer = call(controller);
            #[cfg(test)]
            let answer = super::simulation::stopped(controller, answer);
            drop(sender.send(answer));
        });
        let gone = || Error::Load("the thread of the component has ended".to_owned());
        if !(self.0)(job) {
            return Err(gone());
        }
        answer.await.map_err(|_| gone())?
    }
}
