//! Rights that are missing: reported once an hour each, not at every request that needs them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::runtime;

/// How long nothing is reported about a right that is missing.
const QUIET: Duration = Duration::from_secs(3600);

/// Rights that are missing, and when each was reported last. One for the process, as the log is.
static REPORTED: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());

/// Whether a refusal is to be reported now. One for another reason than a missing right always is.
pub(super) fn is_news(refusal: &str) -> bool {
    REPORTED.lock().map_or(true, |mut reported| is_news_at(&mut reported, refusal, runtime::now()))
}

fn is_news_at(reported: &mut BTreeMap<String, Instant>, refusal: &str, now: Instant) -> bool {
    let Some(right) = missing(refusal) else { return true };
    let is_quiet = |last: &Instant| now.duration_since(*last) < QUIET;
    if reported.get(right).is_some_and(is_quiet) {
        return false;
    }
    reported.insert(right.to_owned(), now);
    true
}

/// The right that a refusal is about, as `patch resource "pods/status"`, whatever the namespace. `None` for quotas, admission and
/// namespaces that go.
///
/// Source: `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, `forbiddenMessage`.
pub(super) fn missing(refusal: &str) -> Option<&str> {
    let (_, who) = refusal.split_once(" is forbidden: User ")?;
    let (_, right) = who.split_once(" cannot ")?;
    Some(right.split_once(" in API group ").map_or(right, |(right, _)| right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(verb: &str, namespace: &str) -> String {
        format!(
            "pods \"p\" is forbidden: User \"system:serviceaccount:a:apportion\" cannot {verb} resource \"pods/status\" \
             in API group \"\" in the namespace \"{namespace}\""
        )
    }

    #[test]
    fn a_missing_right_is_reported_once_an_hour_whatever_the_namespace() {
        let (mut reported, now) = (BTreeMap::new(), Instant::now());
        let mut at =
            |minutes: u64, text: &str| is_news_at(&mut reported, text, now + Duration::from_secs(60 * minutes));
        assert!(at(0, &denied("patch", "ml")));
        assert!(!at(0, &denied("patch", "ml")));
        assert!(!at(59, &denied("patch", "web")));
        assert!(at(59, &denied("update", "ml")), "another right");
        assert!(at(60, &denied("patch", "web")));
    }

    #[test]
    fn what_is_refused_for_another_reason_is_always_reported() {
        let mut reported = BTreeMap::new();
        for text in [
            "pods \"p\" is forbidden: exceeded quota: pods",
            "pods \"p\" is forbidden: unable to create new content in namespace ml because it is being terminated",
        ] {
            assert!(is_news_at(&mut reported, text, Instant::now()) && is_news_at(&mut reported, text, Instant::now()));
        }
    }
}
