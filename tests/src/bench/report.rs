//! The measurements as a page: `docs/benchmarks.md`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::forks::Forks;
use super::go::Go;
use super::growth::Curve;
use super::life::{Life, WORLDS};
use super::reference::Measured;
use super::scale::Scale;
use super::targets;
use super::timing::{Timing, nanoseconds};

/// One workload on all sides.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// Name of the workload.
    pub id: String,
    /// Search steps of one operation.
    pub steps: u64,
    /// The native core.
    pub native: Option<Timing>,
    /// The component.
    pub component: Option<Timing>,
    /// How many times as long the component takes where the host may end a call.
    pub limited: Option<f64>,
    /// The reference.
    pub reference: Option<Measured>,
    /// Outcomes that are not what they must be.
    pub wrong: Vec<String>,
}

/// Everything measured in one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// Day of the run.
    pub date: String,
    /// Processor, cores, memory, system, compiler; one line each.
    pub machine: Vec<String>,
    /// Whether the run was a quick one.
    pub is_quick: bool,
    /// Single questions and sequences.
    pub rows: Vec<Row>,
    /// The large cluster: name of the engine and what it did.
    pub scales: Vec<(String, Scale)>,
    /// Many gangs: name of the engine and how long they took.
    pub lives: Vec<(String, Life)>,
    /// The Go package, where Go is installed.
    pub go: Option<Go>,
    /// Growth.
    pub curves: Vec<Curve>,
}

const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask bench`; `cargo xtask bench --quick` takes seconds and prints the same tables.

";

const OPERATIONS: &str = "\
## Workloads

An operation is one question on a warm cluster. For a sequence (`mig-*`, `consumable-*`) it is all claims in one call: each takes its
result in the cluster before the next one. `nodes-*` asks for a place on any node, in their order. Objects are read and indexed beforehand, and
every outcome is compared with the expected one first.

- **Native and component**: criterion takes the samples; the first number is the median, the one in brackets the best sample. Claims are in the
  cluster beforehand, and the component is asked by their keys. An allocation comes back as JSON, written and read within the time; in
  a sequence, what the answers have in common comes back once. The program has the memory allocator of the runner.
- **Limited** is the component in a host that may end a call after a time, as the controller and `apportion mcp` do, to the component without
  that. The two take turns, and the best of each counts.
- **Reference**: the allocator of kube-scheduler, Kubernetes 1.36.2, with compiled expressions cached, best of many.
- **Ratio** is component to native, **faster** is reference to native, both of the best.
- **Target** is met when the median is below it; the component may take 1.6 times the target.

";

/// The page as Markdown.
pub fn markdown(page: &Page) -> String {
    let mut text = HEAD.to_owned();
    let length = if page.is_quick { "A quick run: the numbers are rough." } else { "A full run." };
    line(&mut text, &format!("{length} {}.\n", page.date));
    for fact in &page.machine {
        line(&mut text, &format!("- {fact}"));
    }
    text.push('\n');
    text.push_str(OPERATIONS);
    workloads(&mut text, &page.rows);
    scale(&mut text, &page.scales);
    life(&mut text, &page.lives);
    page.go.as_ref().into_iter().for_each(|measured| go(&mut text, measured));
    growth(&mut text, &page.curves);
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

fn workloads(text: &mut String, rows: &[Row]) {
    line(
        text,
        "| workload | native | component | ratio | limited | reference | faster | steps | target | native | component |",
    );
    line(text, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|");
    for row in rows {
        let target = targets::target(&row.id);
        let (native, component) = (row.native, row.component);
        let ratio = native.zip(component).map(|(native, component)| component.best / native.best);
        let reference = row.reference.as_ref();
        let is_timeout = reference.is_some_and(|measured| measured.status == "timeout");
        let faster = reference.zip(native).map(|(measured, native)| measured.best / native.best);
        let more = if is_timeout { "> " } else { "" };
        let verdict = |timing: Option<Timing>, factor: f64| match (target, timing) {
            _ if !row.wrong.is_empty() => "**wrong**".to_owned(),
            (Some(target), Some(timing)) => met(timing, target.mul_f64(factor)),
            _ => String::new(),
        };
        line(
            text,
            &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.id,
                both(native),
                both(component),
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                row.limited.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                reference.map_or_else(String::new, |measured| format!("{more}{}", time(measured.best))),
                faster.map_or_else(String::new, |faster| format!("{more}{}", times(faster))),
                row.steps,
                target.map_or_else(String::new, |target| time(nanoseconds(target))),
                verdict(native, 1.0),
                verdict(component, targets::COMPONENT_FACTOR),
            ),
        );
    }
    text.push('\n');
    let limited: Vec<f64> = rows.iter().filter_map(|row| row.limited).collect();
    if !limited.is_empty() {
        let mean = (limited.iter().map(|ratio| ratio.ln()).sum::<f64>() / limited.len() as f64).exp();
        let most = limited.iter().copied().fold(0.0, f64::max);
        line(text, &format!("Limited: {mean:.3} in the geometric mean, {most:.2} at most.\n"));
    }
    for row in rows {
        for wrong in &row.wrong {
            let short: String = wrong.chars().take(300).collect();
            line(text, &format!("- **{} is wrong**: {short}", row.id));
        }
    }
}

fn met(timing: Timing, target: Duration) -> String {
    let target = nanoseconds(target);
    if timing.median <= target {
        "met".to_owned()
    } else if timing.best <= target {
        "best only".to_owned()
    } else {
        format!("**{:.1} x**", timing.best / target)
    }
}

fn both(timing: Option<Timing>) -> String {
    timing.map_or_else(String::new, |timing| format!("{} ({})", time(timing.median), time(timing.best)))
}

fn scale(text: &mut String, scales: &[(String, Scale)]) {
    let Some((_, first)) = scales.first() else { return };
    line(text, "## A large cluster\n");
    line(
        text,
        &format!(
            "Nodes with 16 devices in two slices, the first of the sizes being {:.1} MB of JSON. Peak memory is that of a process that \
             does nothing else; the runner of the component keeps every text as well, to fill a new instance after a trap. \
             One-device claims are placed one after another, all nodes being candidates of each; each claim comes in \
             as an event, as JSON, and takes its allocation in the cluster. Then slices are changed one by one, with the same question \
             asked twice after each.\n",
            first.bytes as f64 / 1e6
        ),
    );
    line(
        text,
        "| engine | nodes | slices | read | peak | first question | claims | claims/s | per question | per event | changed slice | question after | question warm |",
    );
    line(text, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (engine, scale) in scales {
        let placed = scale.placed.max(1) as f64;
        line(
            text,
            &format!(
                "| {engine} | {} | {} | {} | {} MiB | {} | {} | {:.0} | {} | {} | {} | {} | {} |",
                scale.nodes,
                scale.slices,
                seconds(scale.read),
                scale.peak >> 20,
                seconds(scale.first_question),
                scale.placed,
                scale.rate(),
                seconds(scale.asking / placed),
                seconds(scale.taking / placed),
                seconds(scale.changed_slice),
                seconds(scale.question_after),
                seconds(scale.question_warm),
            ),
        );
    }
    text.push('\n');
    for (engine, scale) in scales {
        let rates: Vec<String> = scale.rates.iter().map(|rate| format!("{rate:.0}")).collect();
        line(text, &format!("- {engine}, {} nodes, claims/s in tenths of the run: {}", scale.nodes, rates.join(", ")));
        if scale.nodes == first.nodes {
            line(text, &format!("  - {}", scale_verdict(engine, scale)));
        }
        if let Some(forks) = &scale.forks {
            line(text, &format!("  - {}", forks_verdict(forks)));
        }
    }
    text.push('\n');
}

const fn says(is_met: bool) -> &'static str {
    if is_met { "met" } else { "**missed**" }
}

fn forks_verdict(forks: &Forks) -> String {
    format!(
        "fork, ask about a claim, drop: {} ({}: {}); fork, take one claim in and allocate it, drop: {} ({}: {})",
        seconds(forks.asked),
        seconds(targets::FORK_ASKED),
        says(forks.asked <= targets::FORK_ASKED),
        seconds(forks.taken),
        seconds(targets::FORK_TAKEN),
        says(forks.taken <= targets::FORK_TAKEN),
    )
}

fn scale_verdict(engine: &str, scale: &Scale) -> String {
    let (rate, factor) = if engine == "native" {
        (targets::NATIVE_RATE, 1.0)
    } else {
        (targets::COMPONENT_RATE, targets::COMPONENT_FACTOR)
    };
    let read = targets::READ_SECONDS * factor;
    format!(
        "read in {read:.1} s: {}; below 1 GiB: {}; {rate:.0} claims/s: {}",
        says(scale.read <= read),
        says(scale.peak <= targets::PEAK_BYTES),
        says(scale.rate() >= rate),
    )
}

fn life(text: &mut String, lives: &[(String, Life)]) {
    if lives.is_empty() {
        return;
    }
    line(text, "## Many Pods\n");
    line(
        text,
        "YAML is read in one thread, the API server admits the objects, and the control plane settles. \
         `cargo xtask bench --write trace --output trace.yaml` writes a cluster to a file. Of the nodes that fit, Pods get the first by name.\n",
    );
    for (name, what, native, component) in WORLDS {
        line(text, &format!("- {name}: {what}; may take {native} s natively, {component} s through the component"));
    }
    line(text, "\n| cluster | engine | placed | read | admitted | settled | together | peak | target |");
    line(text, "|---|---|---:|---:|---:|---:|---:|---:|---|");
    for (engine, life) in lives {
        let together = life.read + life.admit + life.play;
        let target = WORLDS.iter().find(|(name, ..)| *name == life.world);
        let target =
            target.map_or(0.0, |(_, _, native, component)| if engine == "native" { *native } else { *component });
        let says = if together <= target { "met" } else { "**missed**" };
        let (world, (pods, placed), peak) = (&life.world, life.pods, life.peak >> 20);
        let [read, admit, play, together] = [life.read, life.admit, life.play, together].map(seconds);
        line(
            text,
            &format!(
                "| {world} | {engine} | {placed} of {pods} | {read} | {admit} | {play} | {together} | {peak} MiB | {says} |"
            ),
        );
    }
    text.push('\n');
}

fn go(text: &mut String, Go { calls, decisions }: &Go) {
    line(text, "## The Go package\n");
    line(
        text,
        "Calls over 5,000 nodes with 16 devices each, all of which the module has seen before: one claim for one device, types of k8s.io/api in \
         and out. Mean of 300.\n",
    );
    line(text, "| calls | time |\n|---|---:|");
    for (name, nanoseconds) in calls {
        line(text, &format!("| {} | {} |", name.replace(',', ", "), time(*nanoseconds)));
    }
    line(
        text,
        "\n`host-go/examples/autoscaling` decides over 5,000 nodes with 80,000 devices and 20,000 claims, with Apportion and with the reference. \
         The first question about a class goes through all nodes; it is the worst of the first row.\n",
    );
    for (index, cells) in decisions.iter().enumerate() {
        line(text, &format!("| {} |", cells.join(" | ")));
        if index == 0 {
            line(text, &format!("|---|---|{}", "---:|".repeat(cells.len().saturating_sub(2))));
        }
    }
    text.push('\n');
}

fn growth(text: &mut String, curves: &[Curve]) {
    if curves.is_empty() {
        return;
    }
    line(text, "## Growth\n");
    line(
        text,
        "The native core, best of many. *Power* is the exponent with which the time grows over the upper half of the \
         sizes: 1 is linear.\n",
    );
    for curve in curves {
        line(text, &format!("**{}**\n", curve.title));
        let cells = |head: &str, cell: &dyn Fn(&super::growth::Point) -> String| {
            let cells: Vec<String> = curve.points.iter().map(cell).collect();
            format!("| {head} | {} |", cells.join(" | "))
        };
        line(text, &cells(curve.unit, &|point| point.size.to_string()));
        line(text, &format!("|---|{}", "---:|".repeat(curve.points.len())));
        line(text, &cells("time", &|point| time(point.nanoseconds)));
        line(text, &cells("time per size", &|point| time(point.nanoseconds / point.size as f64)));
        line(text, &cells("steps", &|point| point.steps.to_string()));
        let power = curve.exponent().map_or_else(String::new, |power| format!("Power {power:.2}."));
        let wrong: Vec<String> = curve
            .points
            .iter()
            .filter_map(|p| Some(format!(" **Wrong at {}**: {}.", p.size, p.wrong.as_ref()?)))
            .collect();
        line(text, &format!("\n{power}{}\n", wrong.concat()));
    }
}

fn times(factor: f64) -> String {
    if factor >= 10.0 { format!("{factor:.0} x") } else { format!("{factor:.1} x") }
}

fn seconds(value: f64) -> String {
    time(value * 1e9)
}

/// Three digits and a unit.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "us"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(time(12.3), "12.3 ns");
        assert_eq!(time(1_234.0), "1.23 us");
        assert_eq!(time(123_456_789.0), "123 ms");
        assert_eq!(time(9.5e9), "9.50 s");
    }

    #[test]
    fn a_target_is_met_by_the_median_only() {
        let target = Duration::from_micros(10);
        assert_eq!(met(Timing { median: 9_000.0, best: 8_000.0 }, target), "met");
        assert_eq!(met(Timing { median: 11_000.0, best: 9_000.0 }, target), "best only");
        assert_eq!(met(Timing { median: 40_000.0, best: 30_000.0 }, target), "**3.0 x**");
    }
}
