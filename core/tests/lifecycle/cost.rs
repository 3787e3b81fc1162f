//! What playing a life costs, counted rather than timed: looks at nodes and writes.

use crate::play::{Play, TEMPLATE, group, pod};

/// Members of each gang.
const MEMBERS: usize = 10;

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cost {
    looks: u64,
    writes: u64,
}

/// Nodes with 24 CPUs and four GPUs.
fn world(nodes: usize) -> Play {
    let mut play = Play::new();
    play.delete("Node", "node-1");
    for index in 0..nodes {
        play.apply(&format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: n-{index:03}}}\nstatus: {{allocatable: {{cpu: \"24\", pods: \"110\"}}}}\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: n-{index:03}}}\nspec:\n  driver: gpu.example.com\n  nodeName: n-{index:03}\n  pool: {{name: n-{index:03}, generation: 1, resourceSliceCount: 1}}\n  devices: [{{name: a}}, {{name: b}}, {{name: c}}, {{name: d}}]\n"
        ));
    }
    play
}

/// Gangs, each with one claim for all. All find a place.
fn cost(groups: usize, nodes: usize, cpu_each: u64) -> Cost {
    let mut play = world(nodes);
    let (looks, writes) = (play.simulation.looks_at_nodes(), play.simulation.writes());
    let resources = format!("resources: {{requests: {{cpu: \"{cpu_each}\"}}, claims");
    for index in 0..groups {
        let name = format!("g-{index:03}");
        let members: String = (0..MEMBERS).map(|member| pod(&format!("{name}-{member}"), TEMPLATE, &name)).collect();
        let members = members.replace("resources: {claims", &resources);
        play.apply(&format!("{}{members}", group(&name, &format!("gang: {{minCount: {MEMBERS}}}"), TEMPLATE)));
    }
    let pods = play.simulation.server().cluster().pods();
    assert_eq!(pods.len(), groups * MEMBERS);
    assert!(pods.values().all(|pod| !pod.spec.node_name.is_empty()));
    Cost { looks: play.simulation.looks_at_nodes() - looks, writes: play.simulation.writes() - writes }
}

#[test]
fn nodes_behind_the_place_are_not_looked_at() {
    assert_eq!(cost(12, 6, 0), cost(12, 60, 0));
}

#[test]
fn writes_grow_with_the_groups() {
    assert_eq!(cost(16, 20, 0).writes, 2 * cost(8, 20, 0).writes);
}

/// Two gangs fill a node up to four CPUs, which are no place for a third; every later gang meets such nodes first.
#[test]
fn a_gang_that_meets_full_nodes_looks_at_each_a_few_times() {
    let (groups, nodes) = (24, 40);
    let looks = cost(groups, nodes, 1).looks;
    let (groups, nodes) = (groups as u64, nodes as u64);
    assert!(looks <= 3 * groups * nodes, "{looks} looks of {groups} gangs at {nodes} nodes");
}

/// The last Pods and one that takes the place of the first.
#[test]
fn nodes_that_refused_a_pod_are_looked_at_again_when_something_may_have_helped() {
    for nodes in [10, 40] {
        let (mut play, pods) = (world(nodes), 4 * nodes);
        let mut before = 0;
        for index in 0..pods {
            if index == pods - 4 {
                before = play.simulation.looks_at_nodes();
            }
            play.apply(&pod(&format!("p-{index:03}"), TEMPLATE, ""));
        }
        let looks = play.simulation.looks_at_nodes() - before;
        assert!(looks <= 5, "{looks} looks of four Pods at the last of {nodes} nodes");
        play.delete("Pod", "p-000");
        let before = play.simulation.looks_at_nodes();
        play.apply(&pod("late", TEMPLATE, ""));
        let looks = play.simulation.looks_at_nodes() - before;
        assert_eq!((play.pod("late").spec.node_name.as_str(), looks), ("n-000", 1));
    }
}

/// Pods that ask for five to eight CPUs, of which two to four fit on a node.
#[test]
fn the_cost_of_a_pod_does_not_grow_with_the_number_of_full_nodes() {
    for nodes in [10, 20, 40] {
        let (mut play, pods, last) = (world(nodes), 3 * nodes, 8);
        let mut before = 0;
        for index in 0..pods {
            if index == pods - last {
                before = play.simulation.looks_at_nodes();
            }
            let resources = format!("resources: {{requests: {{cpu: \"{}\"}}, claims", 5 + index % 4);
            play.apply(&pod(&format!("p-{index:03}"), TEMPLATE, "").replace("resources: {claims", &resources));
        }
        let looks = play.simulation.looks_at_nodes() - before;
        assert!(looks <= 3 * last as u64, "{looks} looks of {last} Pods beside {nodes} nodes");
    }
}

/// Pods of high priority take places one after another: each looks at all nodes for what they have against it, and tries only those that
/// changed for whose place it may take.
#[test]
fn nodes_that_stayed_as_they_were_are_not_tried_again_for_a_place_to_take() {
    let plain = |name: String, priority: i32| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  priority: {priority}\n  containers: [{{name: c, resources: {{requests: {{cpu: \"24\"}}}}}}]\n"
        )
    };
    for nodes in [10, 20, 40] {
        let (mut play, last) = (world(nodes), 8);
        for index in 0..nodes {
            play.apply(&plain(format!("low-{index:03}"), 0));
        }
        play.apply(&plain("first".to_owned(), 10));
        let before = play.simulation.looks_at_nodes();
        for index in 0..last {
            play.apply(&plain(format!("high-{index:03}"), 10));
        }
        let looks = play.simulation.looks_at_nodes() - before;
        let evicted =
            play.simulation.server().cluster().pods().values().filter(|pod| pod.metadata.is_deleting()).count();
        assert_eq!(evicted, 1 + last);
        assert!(looks <= (last * (nodes + 4)) as u64, "{looks} looks of {last} Pods beside {nodes} nodes");
    }
}
