//! A part that hangs. Its thread is stopped from outside, as by a debugger, so that a call into the module does not end.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::io::Error;
use std::ptr;
use std::time::{Duration, Instant};

use crate::api_server::ApiServer;
use crate::running::{HOME, Running};
use libc::{__WALL, PTRACE_ATTACH, pid_t, ptrace, waitpid};
use serde_json::json;

const SYNC: &[&str] = &["--controllers", "template-sync"];

/// A thread that stands still. Only the thread of the test that stopped it may wait for it.
struct Still(pid_t);

impl Still {
    /// Stops the part's thread. `None` where the system does not allow that.
    fn of(running: &Running, name: &str) -> Option<Self> {
        let threads = format!("/proc/{}/task", running.child.as_ref().unwrap().id());
        let thread = fs::read_dir(threads)
            .unwrap()
            .map(|thread| thread.unwrap())
            .find(|thread| fs::read_to_string(thread.path().join("comm")).is_ok_and(|found| found.trim_end() == name));
        let id: pid_t = thread.unwrap().file_name().to_str().unwrap().parse().unwrap();
        let nothing = ptr::null_mut::<libc::c_void>();
        #[expect(unsafe_code, reason = "nothing else stops a single thread")]
        // SAFETY: stops a thread of another process; no memory is read or written.
        if unsafe { ptrace(PTRACE_ATTACH, id, nothing, nothing) } != 0 {
            println!("not tested: no thread can be stopped here: {}", Error::last_os_error());
            return None;
        }
        let still = Self(id);
        still.wait();
        Some(still)
    }

    /// Waits until the thread stands still, or has ended with its process.
    fn wait(&self) {
        #[expect(unsafe_code, reason = "the standard library waits for children only")]
        // SAFETY: the status is not asked for, so nothing is written.
        unsafe {
            waitpid(self.0, ptr::null_mut(), __WALL);
        }
    }
}

fn until_leading(server: &ApiServer, running: &Running) {
    server.until("leading", 30, |_| {
        (running.get("/readyz")?.0 == 200 && running.metric("apportion_leader") == 1.0).then_some(())
    });
}

/// Something that the part has to decide about.
fn work(server: &ApiServer) {
    let spec = json!({ "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] } });
    server.apply(&[
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "ml" } }),
        json!({
            "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu" },
            "spec": { "targets": [{ "names": ["ml"] }], "template": { "spec": spec } },
        }),
    ]);
}

fn has_copy(server: &ApiServer) -> bool {
    server.get("resourceclaimtemplates", "ml", "gpu").is_some()
}

#[test]
fn a_part_that_hangs_does_not_keep_the_program_from_ending() {
    let server = ApiServer::start("hangs-at-the-end");
    let running = Running::start(&server, SYNC);
    until_leading(&server, &running);
    let Some(still) = Still::of(&running, "template-sync") else { return };
    work(&server);
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    running.signal("-TERM");
    still.wait();
    let output = running.ended();
    let (took, says) = (start.elapsed(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(0), "{says}");
    assert!(took < Duration::from_secs(5), "{took:?}: {says}");
    assert!(says.contains("left behind") && !has_copy(&server), "it hung indeed: {says}");
    let lease = server.get("leases", HOME, "apportion-controller").unwrap();
    assert_ne!(lease["spec"]["holderIdentity"], "", "it ends by itself: a write may be under way");
}

/// The part gives no sign of life for a minute; then the Lease has to end.
#[test]
fn a_part_that_hangs_leaves_the_lease_to_another_replica() {
    let server = ApiServer::start("hangs-and-leads");
    let first = Running::start(&server, SYNC);
    until_leading(&server, &first);
    let second = Running::start(&server, SYNC);
    server.until("the second is ready", 30, |_| second.get("/readyz").filter(|answer| answer.0 == 200));
    let Some(still) = Still::of(&first, "template-sync") else { return };
    work(&server);
    server.until("the copy by the other replica", 120, |server| has_copy(server).then_some(()));
    assert_eq!((first.metric("apportion_leader"), second.metric("apportion_leader")), (0.0, 1.0));
    first.signal("-TERM");
    still.wait();
    assert_eq!(first.ended().status.code(), Some(0));
    assert_eq!(second.metric("apportion_leader"), 1.0, "the Lease is not given back by whom it left");
}

/// The API server that answers nothing any more is no reason to stay either.
#[test]
fn a_server_that_does_not_answer_does_not_keep_the_program_from_ending() {
    let server = ApiServer::start("hangs-outside");
    let running = Running::start(&server, SYNC);
    until_leading(&server, &running);
    // Whoever holds the store keeps every request waiting.
    let held = server.store();
    let start = Instant::now();
    running.signal("-TERM");
    let output = running.ended();
    let took = start.elapsed();
    drop(held);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// In a container it is the first process, which misses signals that it does not wait for.
#[test]
fn a_program_that_has_not_started_yet_ends_when_it_is_told_to() {
    let server = ApiServer::start("hangs-at-the-start");
    let held = server.store();
    let running = Running::start(&server, SYNC);
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    running.signal("-TERM");
    let output = running.ended();
    let took = start.elapsed();
    drop(held);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(took < Duration::from_secs(5), "{took:?}");
}
