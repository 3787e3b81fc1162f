//! So many requests in a second, and some at once.

use std::time::{Duration, Instant};

use tokio::sync::{Mutex, watch};

use super::runtime;

/// How long the server is left alone at most, whatever it says: what it says is about one request, and may be a webhook's word.
const LONGEST: Duration = Duration::from_secs(60);

/// A bucket that fills with time; every request takes one out.
#[derive(Debug)]
pub(super) struct Limit {
    /// Time that one request costs.
    cost: Duration,
    /// Time that can be saved up.
    most: Duration,
    /// When the bucket was empty, reckoned from what was taken since.
    empty: Mutex<Instant>,
    /// Until when the server wants to be left alone.
    closed: watch::Sender<Option<Instant>>,
}

impl Limit {
    /// `rate` requests in a second, `burst` at once.
    pub(super) fn new(rate: u32, burst: u32) -> Self {
        let cost = Duration::from_secs(1).checked_div(rate.max(1)).unwrap_or_default();
        let most = cost.saturating_mul(burst.max(1));
        let now = runtime::now();
        let (empty, closed) = (Mutex::new(now.checked_sub(most).unwrap_or(now)), watch::Sender::new(None));
        Self { cost, most, empty, closed }
    }

    /// The server wants to be left alone for a while, by whoever writes.
    pub(super) fn pause(&self, pause: Duration) {
        let until = runtime::now().checked_add(pause.min(LONGEST));
        self.closed.send_modify(|closed| *closed = until.max(*closed));
    }

    fn closed_until(&self) -> Option<Instant> {
        self.closed.borrow().filter(|until| *until > runtime::now())
    }

    /// Waits until a request may be made.
    pub(super) async fn take(&self) {
        let mut empty = self.empty.lock().await;
        while let Some(until) = self.closed_until() {
            runtime::sleep_until(until).await;
        }
        let now = runtime::now();
        let earliest = now.checked_sub(self.most).unwrap_or(now);
        let next = (*empty).max(earliest).checked_add(self.cost).unwrap_or(now);
        if next > now {
            // The others wait behind, in their order.
            runtime::sleep_until(next).await;
        }
        *empty = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_the_rest_takes_its_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let took = runtime.block_on(async {
            let limit = Limit::new(100, 10);
            let start = Instant::now();
            for _ in 0..30 {
                limit.take().await;
            }
            start.elapsed()
        });
        assert!(took >= Duration::from_millis(190) && took < Duration::from_secs(2), "{took:?}");
    }

    #[test]
    fn whoever_is_asked_to_wait_waits_and_so_do_all_others() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let took = runtime.block_on(async {
            let (limit, start) = (Limit::new(100, 10), Instant::now());
            limit.take().await;
            limit.pause(Duration::from_millis(300));
            limit.pause(Duration::from_millis(100));
            limit.take().await;
            start.elapsed()
        });
        assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(2), "{took:?}");
    }

    #[test]
    fn nobody_can_have_it_wait_for_long() {
        let limit = Limit::new(100, 10);
        limit.pause(Duration::from_secs(u64::from(u32::MAX)));
        assert!(limit.closed_until().is_some_and(|until| until <= Instant::now() + LONGEST));
    }
}
