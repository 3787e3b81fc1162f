//! A controller of the component in a thread of its own: calls compute and must not hold up requests.

use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use apportion::{Controller, Error};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce(&mut Controller) + Send>;

/// Where calls are sent to. The thread ends with the last of these.
#[derive(Clone, Debug)]
pub(super) struct Engine(mpsc::Sender<Job>);

impl Engine {
    /// Starts the thread.
    pub(super) fn start(name: &str, mut controller: Controller) -> Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || jobs.into_iter().for_each(|job| job(&mut controller));
        thread::Builder::new().name(name.to_owned()).spawn(work).context("no thread can be started")?;
        Ok(Self(sender))
    }

    /// Makes one call and waits for its answer.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Controller) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |controller| drop(sender.send(call(controller))));
        let gone = || Error::Load("the thread of the component has ended".to_owned());
        self.0.send(job).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}
