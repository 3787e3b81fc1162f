//! How nodes compared for Pods, as tables.

use apportion_core::ask::{NodeScore, PodScores};
use apportion_core::scheduler::Plugin;

use super::listed::titled;
use super::pen::{Ink, Pen};
use super::text::{clean, count, row, table};

/// Nodes of one Pod that are listed, the best first.
const MAX_NODES: usize = 20;

/// One Pod: a line for the choice, and a table of nodes by the plugins that tell nodes apart or give them anything.
pub(crate) fn of_pod(scores: &PodScores, pen: Pen) -> Vec<String> {
    let name = clean(&format!("{}/{}", scores.pod.namespace, scores.pod.name)).into_owned();
    let Some(chosen) = &scores.chosen else {
        return vec![format!("  no node fits Pod {name}")];
    };
    let mut lines = vec![format!("  {name} {} {}", pen.arrow(), choice(scores, chosen))];
    if scores.had_node {
        let text = "It had its node before: nodes are compared as they are now, as if it had none.";
        lines.push(pen.paint(Ink::Faint, &format!("  {text}")));
    }
    let value = |node: &NodeScore, plugin: &Plugin| node.plugins.get(plugin.name()).copied().unwrap_or_default();
    let plugins: Vec<Plugin> =
        Plugin::ALL.into_iter().filter(|plugin| scores.nodes.iter().any(|node| value(node, plugin) != 0)).collect();
    let weighted = |plugin: &Plugin| match scores.weights.get(plugin.name()).copied().unwrap_or_default() {
        1 => plugin.name().to_owned(),
        weight => format!("{weight}×{}", plugin.name()),
    };
    let mut head = row(["  NODE", "SCORE"]);
    head.extend(plugins.iter().map(weighted));
    let mut nodes: Vec<&NodeScore> = scores.nodes.iter().collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(node.score));
    let mut rows = vec![head];
    for node in nodes.iter().take(MAX_NODES) {
        let mut cells = row([&format!("  {}", node.node), &node.score.to_string()]);
        cells.extend(plugins.iter().map(|plugin| value(node, plugin).to_string()));
        rows.push(cells);
    }
    let right: Vec<usize> = (1..plugins.len().saturating_add(2)).collect();
    lines.extend(table(&rows, &right));
    let hidden = nodes.len().saturating_sub(MAX_NODES);
    if hidden > 0 {
        lines.push(format!("  {} with lower or equal scores; `--output yaml` has all", count(hidden, "further node")));
    }
    lines
}

/// Many Pods: a line for each.
pub(crate) fn of_pods(all: &[PodScores], pen: Pen) -> Vec<String> {
    let chosen = all.iter().filter_map(|scores| Some((scores, scores.chosen.as_ref()?)));
    let rows: Vec<Vec<String>> = chosen
        .map(|(scores, chosen)| {
            let pod = format!("  {}/{}", scores.pod.namespace, scores.pod.name);
            row([&pod, pen.arrow(), &choice(scores, chosen)])
        })
        .collect();
    titled("SCORES", table(&rows, &[]), pen)
}

fn choice(scores: &PodScores, chosen: &str) -> String {
    let ties = match scores.ties {
        0 | 1 => String::new(),
        ties => format!(", the first by name of {ties} equal nodes"),
    };
    clean(&format!("{chosen}, score {}{ties}", scores.score)).into_owned()
}
