//! What Prometheus is told.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;

type Labels = Vec<(&'static str, String)>;
type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// All metrics; `docs/operations.md` says what each means.
pub(super) struct Metrics {
    registry: Registry,
    reconciled: Family<Labels, Counter>,
    reconcile_seconds: Histograms,
    queue_depth: Family<Labels, Gauge>,
    writes: Family<Labels, Counter>,
    write_seconds: Histograms,
    traps: Family<Labels, Counter>,
    unreadable: Family<Labels, Counter>,
    lists: Family<Labels, Counter>,
    watch_failures: Family<Labels, Counter>,
    copies: Family<Labels, Gauge>,
    copy_seconds: Histogram,
    repairs: Counter,
    held: Counter,
    gap_seconds: Histogram,
    leader: Gauge,
    left_out: Family<Labels, Counter>,
    given_twice: Counter,
}

/// From a millisecond to a minute.
fn seconds() -> Histogram {
    Histogram::new([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0])
}

impl Metrics {
    pub(super) fn new() -> Self {
        let histograms = || Family::new_with_constructor(seconds as fn() -> Histogram);
        let mut metrics = Self {
            registry: Registry::with_prefix("apportion"),
            reconciled: Family::default(),
            reconcile_seconds: histograms(),
            queue_depth: Family::default(),
            writes: Family::default(),
            write_seconds: histograms(),
            traps: Family::default(),
            unreadable: Family::default(),
            lists: Family::default(),
            watch_failures: Family::default(),
            copies: Family::default(),
            copy_seconds: seconds(),
            repairs: Counter::default(),
            held: Counter::default(),
            gap_seconds: seconds(),
            leader: Gauge::default(),
            left_out: Family::default(),
            given_twice: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register(
            "reconciled",
            "Decisions that were carried out, by part and result",
            metrics.reconciled.clone(),
        );
        let help = "Time that the component took for a decision, by part";
        registry.register("decision_seconds", help, metrics.reconcile_seconds.clone());
        registry.register("queue_depth", "Queued objects, by part and lane", metrics.queue_depth.clone());
        registry.register("writes", "Writes to the API server, by part, verb and HTTP status", metrics.writes.clone());
        registry.register(
            "write_seconds",
            "Time that the API server took for a write, by part",
            metrics.write_seconds.clone(),
        );
        registry.register(
            "component_traps",
            "How often the component trapped and was made again, by part",
            metrics.traps.clone(),
        );
        registry.register("unreadable_objects", "Objects that could not be read, by part", metrics.unreadable.clone());
        registry.register("lists", "How often a kind was listed as a whole", metrics.lists.clone());
        registry.register("watch_failures", "Lists and watches that failed, by kind", metrics.watch_failures.clone());
        registry.register("copies", "Copies of cluster-wide templates, by source and state", metrics.copies.clone());
        let help = "From hearing of a namespace until its copy was made";
        registry.register("template_sync_seconds", help, metrics.copy_seconds.clone());
        let help = "Copies that somebody else had changed or deleted and that were made right again";
        registry.register("drift_repairs", help, metrics.repairs.clone());
        let help = "How often a copy was not deleted because too many would have gone at once";
        registry.register("deletions_held", help, metrics.held.clone());
        let help = "From deciding to delete an outdated copy until it was made again";
        registry.register("recreate_gap_seconds", help, metrics.gap_seconds.clone());
        let help = "Events that were not written because too many waited, by part";
        registry.register("events_left_out", help, metrics.left_out.clone());
        let help = "How often a Pod was not bound because another claim has one of its devices, too";
        registry.register("devices_given_twice", help, metrics.given_twice.clone());
        registry.register("leader", "Whether this replica leads", metrics.leader.clone());
        metrics
    }

    /// The text that Prometheus reads.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Counts of what should never happen are there from the start: of a count that appears Prometheus does not see that it rose.
    pub(super) fn starts(&self, part: &str) {
        for count in [&self.traps, &self.unreadable] {
            drop(count.get_or_create(&vec![("part", part.to_owned())]));
        }
    }

    pub(super) fn reconciled(&self, part: &str, result: &str) {
        self.reconciled.get_or_create(&vec![("part", part.to_owned()), ("result", result.to_owned())]).inc();
    }

    pub(super) fn decided(&self, part: &str, took: Duration) {
        self.reconcile_seconds.get_or_create(&vec![("part", part.to_owned())]).observe(took.as_secs_f64());
    }

    pub(super) fn queued(&self, part: &str, lane: &str, depth: usize) {
        let labels = vec![("part", part.to_owned()), ("lane", lane.to_owned())];
        self.queue_depth.get_or_create(&labels).set(i64::try_from(depth).unwrap_or(i64::MAX));
    }

    /// `code` is 0 where there was no answer.
    pub(super) fn wrote(&self, part: &str, verb: &str, code: u16, took: Duration) {
        let labels = vec![("part", part.to_owned()), ("verb", verb.to_owned()), ("code", code.to_string())];
        self.writes.get_or_create(&labels).inc();
        self.write_seconds.get_or_create(&vec![("part", part.to_owned())]).observe(took.as_secs_f64());
    }

    pub(super) fn left_out(&self, part: &str, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.left_out.get_or_create(&vec![("part", part.to_owned())]).inc_by(count);
    }

    pub(super) fn given_twice(&self) {
        self.given_twice.inc();
    }

    pub(super) fn trapped(&self, part: &str) {
        self.traps.get_or_create(&vec![("part", part.to_owned())]).inc();
    }

    pub(super) fn unreadable(&self, part: &str) {
        self.unreadable.get_or_create(&vec![("part", part.to_owned())]).inc();
    }

    pub(super) fn watch_listed(&self, kind: &str) {
        self.lists.get_or_create(&vec![("kind", kind.to_owned())]).inc();
    }

    pub(super) fn watch_failed(&self, kind: &str) {
        self.watch_failures.get_or_create(&vec![("kind", kind.to_owned())]).inc();
    }

    pub(super) fn copied(&self, took: Duration) {
        self.copy_seconds.observe(took.as_secs_f64());
    }

    pub(super) fn repaired(&self) {
        self.repairs.inc();
    }

    pub(super) fn held(&self) {
        self.held.inc();
    }

    pub(super) fn replaced(&self, took: Duration) {
        self.gap_seconds.observe(took.as_secs_f64());
    }

    /// The numbers in the status of a source.
    pub(super) fn copies(&self, source: &str, status: &Value) {
        for state in ["current", "updating", "conflicting", "refused"] {
            let number = status.get(state).and_then(Value::as_i64).unwrap_or(0);
            self.copies.get_or_create(&vec![("source", source.to_owned()), ("state", state.to_owned())]).set(number);
        }
    }

    /// A source that is gone has no numbers.
    pub(super) fn forget_copies(&self, source: &str) {
        for state in ["current", "updating", "conflicting", "refused"] {
            self.copies.remove(&vec![("source", source.to_owned()), ("state", state.to_owned())]);
        }
    }

    pub(super) fn leads(&self, is_leader: bool) {
        self.leader.set(i64::from(is_leader));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::json;

    use super::*;

    /// Metrics with a value each.
    fn metrics() -> Metrics {
        let (metrics, second) = (Metrics::new(), Duration::from_secs(1));
        metrics.reconciled("part", "done");
        metrics.decided("part", second);
        metrics.queued("part", "urgent", 1);
        metrics.wrote("part", "bind", 200, second);
        metrics.trapped("part");
        metrics.unreadable("part");
        metrics.watch_listed("pods");
        metrics.watch_failed("pods");
        metrics.copied(second);
        metrics.repaired();
        metrics.held();
        metrics.replaced(second);
        metrics.left_out("part", 1);
        metrics.copies("source", &json!({ "current": 1 }));
        metrics.given_twice();
        metrics.leads(true);
        metrics
    }

    /// Names of all series.
    fn series() -> BTreeSet<String> {
        let text = metrics().text();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| Some(line.split(['{', ' ']).next()?.to_owned())).collect()
    }

    /// What looks like a series in a text.
    fn named(text: &str) -> BTreeSet<String> {
        let is_part = |char: char| char.is_ascii_lowercase() || char == '_';
        let words = text.split(|char: char| !is_part(char));
        words.filter(|word| word.starts_with("apportion_")).map(str::to_owned).collect()
    }

    fn file(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
    }

    #[test]
    fn alerts_and_dashboard_name_nothing_that_is_not_exported() {
        let series = series();
        for name in ["alerts.yaml", "alerts-test.yaml", "dashboard.json"] {
            let named = named(&fs::read_to_string(file("deploy/monitoring").join(name)).unwrap());
            assert!(named.len() >= 4, "{name} is about something");
            assert!(named.is_subset(&series), "{name}: {:?}", named.difference(&series));
        }
    }

    #[test]
    fn what_should_never_happen_is_counted_from_nothing() {
        let metrics = Metrics::new();
        metrics.starts("explainer");
        for name in ["component_traps", "unreadable_objects"] {
            let line = format!("apportion_{name}_total{{part=\"explainer\"}} 0\n");
            assert!(metrics.text().contains(&line), "{line}");
        }
    }

    #[test]
    fn the_manual_says_what_each_metric_and_each_alert_means() {
        let manual = fs::read_to_string(file("docs/operations.md")).unwrap();
        let explained = named(&manual);
        let base = |name: &String| {
            let ends = ["_bucket", "_count", "_sum"];
            ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
        };
        assert_eq!(series().iter().map(base).collect::<BTreeSet<_>>(), explained);
        let rules = fs::read_to_string(file("deploy/monitoring/alerts.yaml")).unwrap();
        for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
            assert!(manual.contains(&format!("| `{alert}` |")), "{alert}");
        }
    }
}
