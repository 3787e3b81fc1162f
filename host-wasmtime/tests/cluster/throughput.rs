//! Two schedulers in one control plane, one after the other: how many Pods a second each places.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::control_plane::ControlPlane;
use crate::deployment::install;
use crate::objects::namespace;
use crate::placing::{GROUPS, devices, failures, gang, make_nodes, member, template, waiting};
use crate::program::Running;

const PODS: usize = 1000;
const GANGS: usize = 100;
const MEMBERS: usize = 10;

/// Threads that make Pods.
const MAKERS: usize = 4;

/// Makes so many things, several at a time: whoever makes them must not be what is measured.
fn side_by_side(count: usize, make: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for first in 0..MAKERS {
            let make = &make;
            scope.spawn(move || (first..count).step_by(MAKERS).for_each(make));
        }
    });
}

/// Seconds from the first Pod's creation until the last one has a node.
fn took(plane: &ControlPlane, space: &str, make: impl FnOnce(&ControlPlane)) -> f64 {
    plane.requests.create(&namespace(space, json!({})));
    plane.requests.create(&template(space));
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    make(plane);
    plane.until("all places", 300, |plane| {
        // Looking costs, too.
        std::thread::sleep(Duration::from_millis(150));
        (plane.requests.unplaced(space) == 0).then_some(())
    });
    start.elapsed().as_secs_f64()
}

fn clear(plane: &ControlPlane, space: &str) {
    plane.requests.delete_all("v1", "Pod", space);
    plane.requests.delete_all(GROUPS, "PodGroup", space);
    plane.until("all claims to go", 300, |plane| {
        std::thread::sleep(Duration::from_millis(500));
        plane.requests.list("resource.k8s.io/v1", "ResourceClaim").is_empty().then_some(())
    });
}

/// Pods a second of single Pods and of gangs, and how often some Pod failed in each.
fn of(plane: &ControlPlane, scheduler: &str, short: &str) -> [(f64, usize); 2] {
    let single = format!("{short}-single");
    let seconds = took(plane, &single, |plane| {
        side_by_side(PODS, |number| {
            plane.requests.create(&waiting(&single, &format!("p-{number:04}"), scheduler));
        });
    });
    assert_eq!(devices(plane).len(), PODS);
    let singles = (PODS as f64 / seconds, failures(plane, &single));
    clear(plane, &single);
    let gangs = format!("{short}-gangs");
    let seconds = took(plane, &gangs, |plane| {
        side_by_side(GANGS, |number| {
            let name = format!("g-{number:03}");
            plane.requests.create(&gang(&gangs, &name, MEMBERS));
            for index in 0..MEMBERS {
                plane.requests.create(&member(&gangs, &format!("{name}-{index}"), &name, scheduler));
            }
        });
    });
    let given: BTreeSet<String> = devices(plane);
    assert_eq!(given.len(), GANGS);
    let groups = ((GANGS * MEMBERS) as f64 / seconds, failures(plane, &gangs));
    clear(plane, &gangs);
    [singles, groups]
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn gangs_are_not_slower_and_no_member_fails() {
    let plane = ControlPlane::start("throughput");
    install(&plane);
    make_nodes(&plane, 200, 8);
    let theirs = of(&plane, "default-scheduler", "theirs");
    let running = Running::start(&plane, "scheduler", &["--qps", "1000", "--burst", "1000", "--leader-elect", "false"]);
    let ours = of(&plane, "apportion", "ours");
    println!("200 nodes x 8 devices            kube-scheduler       apportion");
    for (index, title) in ["1000 Pods with a claim each", "100 gangs of 10 with a claim"].into_iter().enumerate() {
        let ((theirs, failed), (ours, own)) = (theirs[index], ours[index]);
        println!("{title:<30} {theirs:>6.0}/s, {failed:>3} failed   {ours:>4.0}/s, {own} failed");
    }
    let metric = |name: &str| running.metric(name, &[]);
    let decision = 1000.0 * metric("apportion_decision_seconds_sum") / metric("apportion_decision_seconds_count");
    let write = 1000.0 * metric("apportion_write_seconds_sum") / metric("apportion_write_seconds_count");
    println!("{} writes of {write:.1} ms, decisions of {decision:.1} ms", running.writes());
    println!("{:.1} s computed, {} MiB", running.computed(), running.memory());
    assert_eq!((ours[0].1, ours[1].1), (0, 0), "nobody fails once");
    // Single Pods are bound by the API server in both, so that the busier time decides.
    assert!(ours[1].0 >= theirs[1].0, "gangs are not slower");
    assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
}

/// Pods a second, and for how many seconds.
const PACE: u64 = 50;
const SPAN: u64 = 24;

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn what_the_controller_takes_of_a_machine() {
    let plane = ControlPlane::start("cost");
    install(&plane);
    make_nodes(&plane, 200, 8);
    for (short, parts, scheduler) in [
        ("usual", "template-sync,explainer", "default-scheduler"),
        ("all", "template-sync,explainer,scheduler", "apportion"),
    ] {
        plane.requests.create(&namespace(short, json!({})));
        plane.requests.create(&template(short));
        let running = Running::start(&plane, parts, &["--qps", "500", "--burst", "500"]);
        plane.until("the lease", 30, |_| running.leads().then_some(()));
        std::thread::sleep(Duration::from_secs(5));
        let percent = |seconds: f64, since: f64| 100.0 * (running.computed() - since) / seconds;
        let since = running.computed();
        std::thread::sleep(Duration::from_secs(20));
        println!("{parts}: idle {:.1} % of a core, {} MiB", percent(20.0, since), running.memory());
        let (start, since) = (Instant::now(), running.computed());
        for number in 0..PACE * SPAN {
            plane.requests.create(&waiting(short, &format!("p-{number:04}"), scheduler));
            let due = Duration::from_millis(1000 * (number + 1) / PACE);
            std::thread::sleep(due.saturating_sub(start.elapsed()));
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{parts}: {:.0} Pods a second {:.1} % of a core, {} MiB",
            (PACE * SPAN) as f64 / seconds,
            percent(seconds, since),
            running.memory()
        );
        plane.until("all places", 120, |plane| (plane.requests.unplaced(short) == 0).then_some(()));
        assert_eq!(running.metric("apportion_component_traps_total", &[]), 0.0);
        running.stop();
        clear(&plane, short);
    }
}
