//! Time, chance and tasks: what the controller takes from its surroundings, beside the API server. Tests put a simulation there.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use apportion_core::decision::Time;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use tokio::sync::oneshot;

#[cfg(test)]
use super::simulation::processor;

/// Tells what a task gave, or fails where the task ended without.
pub(super) type Ended<T> = oneshot::Receiver<T>;

/// Something took longer than it may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late;

/// The time by a clock that may stand still with the machine.
pub(super) fn now() -> Instant {
    #[cfg(test)]
    if let Some(now) = processor::now() {
        return now;
    }
    Instant::now()
}

/// How long ago something was.
pub(super) fn since(earlier: Instant) -> Duration {
    now().saturating_duration_since(earlier)
}

/// The time by a clock that may be set.
pub(super) fn wall() -> SystemTime {
    #[cfg(test)]
    if let Some(wall) = processor::wall() {
        return wall;
    }
    SystemTime::now()
}

/// The same, as decisions are given it.
pub(super) fn time() -> Time {
    let since = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The same, as the API server is told it.
pub(super) fn micro_time() -> MicroTime {
    MicroTime(Timestamp::try_from(wall()).unwrap_or_default())
}

/// A number that nobody can foresee.
pub(super) fn chance() -> u64 {
    #[cfg(test)]
    if let Some(chance) = processor::chance() {
        return chance;
    }
    RandomState::new().build_hasher().finish()
}

/// Between 1 and 1.25, so that what failed together is not tried again together.
pub(super) fn jitter() -> f64 {
    1.0 + f64::from(u8::try_from(chance() & 0xff).unwrap_or(0)) / 1024.0
}

/// Waits until a time.
pub(super) async fn sleep_until(time: Instant) {
    #[cfg(test)]
    if processor::is_running() {
        return processor::Sleep::until(time).await;
    }
    tokio::time::sleep_until(time.into()).await;
}

/// Waits so long.
pub(super) async fn sleep(length: Duration) {
    let now = now();
    sleep_until(now.checked_add(length).unwrap_or(now)).await;
}

/// Waits for something, but not for ever.
///
/// # Errors
///
/// When it takes longer than it may.
pub(super) async fn timeout<F: Future>(most: Duration, something: F) -> Result<F::Output, Late> {
    tokio::select! {
        biased;
        done = something => Ok(done),
        () = sleep(most) => Err(Late),
    }
}

/// Does something beside everything else.
pub(super) fn spawn<T: Send + 'static>(something: impl Future<Output = T> + Send + 'static) -> Ended<T> {
    let (sender, ended) = oneshot::channel();
    let task = async move {
        // Nobody may want to know.
        let _ = sender.send(something.await);
    };
    #[cfg(test)]
    if processor::is_running() {
        processor::spawn(task);
        return ended;
    }
    tokio::spawn(task);
    ended
}
