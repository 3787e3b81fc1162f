//! Two replicas under load for long, while replicas are killed, paused and replaced by another build, and the API server goes away.
//!
//! `cargo xtask e2e soak` does it for an hour; with all other scenarios it takes a minute. `APPORTION_SOAK_SECONDS` says another time, and
//! `APPORTION_OTHER` names another build, which replicas are upgraded from and downgraded to.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{ADMIN, API_SERVER, ControlPlane, signal};
use crate::deployment::install;
use crate::faults::{claims_by_owner, is_entitled};
use crate::objects::{copy, namespace, source};
use crate::placing::{GROUPS, devices, gang, make_nodes, member, template, waiting};
use crate::program::{Running, THIS};
use crate::world::Dice;

const PARTS: &str = "template-sync,explainer,claims,scheduler";
const ARGUMENTS: [&str; 4] = ["--qps", "500", "--burst", "500"];

/// Nodes, and devices of each: more than all that is there at once asks for.
const NODES: usize = 30;
const DEVICES: usize = 8;

/// Most Pods, gangs and namespaces of the team at once.
const PODS: usize = 120;
const GANGS: usize = 10;
const MEMBERS: usize = 4;
const NAMESPACES: usize = 30;

/// Between two steps of the load, and between two faults at most.
const STEP: Duration = Duration::from_millis(150);
const CALM: usize = 25;

/// Everything that is under way.
struct Soak {
    plane: ControlPlane,
    dice: Dice,
    replicas: Vec<Running>,
    builds: [String; 2],
    /// Which build runs next.
    next: usize,
    made: usize,
    pods: VecDeque<String>,
    gangs: VecDeque<String>,
    spaces: VecDeque<String>,
    faults: BTreeMap<&'static str, usize>,
    /// Most memory of a replica in MiB.
    memory: u64,
    traps: f64,
}

impl Soak {
    fn start(&mut self) {
        let build = self.builds[self.next % self.builds.len()].clone();
        self.replicas.push(Running::of(&build, &self.plane, PARTS, &ARGUMENTS));
    }

    fn make(&self, object: &Value) {
        self.plane.until("an object to be made", 60, |plane| match plane.requests.try_create(object, "") {
            Err(refused) if refused.code != 409 => None,
            _ => Some(()),
        });
    }

    fn delete(&self, object: &Value) {
        self.plane.until("an object to be deleted", 60, |plane| match plane.requests.try_delete(object) {
            Err(refused) if refused.code != 404 => None,
            _ => Some(()),
        });
    }

    /// Something that a user does.
    fn load(&mut self) {
        self.made += 1;
        let name = format!("x-{:05}", self.made);
        match self.dice.below(100) {
            0..55 if self.pods.len() < PODS => {
                self.make(&waiting("work", &name, "apportion"));
                self.pods.push_back(name);
            }
            55..60 if self.gangs.len() < GANGS => {
                self.make(&gang("work", &name, MEMBERS));
                for index in 0..MEMBERS {
                    self.make(&member("work", &format!("{name}-{index}"), &name, "apportion"));
                }
                self.gangs.push_back(name);
            }
            60..64 => self.end_gang(),
            64..70 if self.spaces.len() < NAMESPACES => {
                self.make(&namespace(&name, json!({ "team": "ml" })));
                self.spaces.push_back(name);
            }
            70..73 => {
                if let Some(gone) = self.spaces.pop_front() {
                    self.delete(&namespace(&gone, json!({})));
                }
            }
            73..75 => {
                let class = ["gpu", "other"][self.dice.below(2)];
                let _ = self.plane.requests.try_apply(&source(class), "");
            }
            _ => self.end_pod(),
        }
    }

    /// Ends a Pod: some finish first.
    fn end_pod(&mut self) {
        if self.pods.len() < PODS / 2 {
            return;
        }
        let Some(gone) = self.pods.pop_front() else { return };
        let pod = waiting("work", &gone, "apportion");
        if self.dice.chance(50) {
            let _ = self.plane.requests.try_merge(&pod, "status", &json!({ "status": { "phase": "Succeeded" } }));
        }
        self.delete(&pod);
    }

    fn end_gang(&mut self) {
        let Some(gone) = self.gangs.pop_front() else { return };
        for index in 0..MEMBERS {
            self.delete(&member("work", &format!("{gone}-{index}"), &gone, "apportion"));
        }
        self.delete(&gang("work", &gone, MEMBERS));
    }

    /// Something that goes wrong.
    fn fault(&mut self) {
        self.look();
        let leader = self.replicas.iter().position(|one| one.try_metric("apportion_leader", &[]) == Some(1.0));
        let at = leader.unwrap_or_default();
        let what = match self.dice.below(6) {
            0 => {
                self.replicas.remove(at).kill();
                self.start();
                "the leader is killed"
            }
            1 => {
                for _ in 0..self.replicas.len() {
                    self.replicas.remove(0).stop();
                    self.start();
                }
                self.next += 1;
                "all are replaced by the other build, one after the other"
            }
            2 => {
                // Longer than the Lease: another one leads, and the one that wakes up believes in its own term at first.
                self.replicas[at].signal("STOP");
                self.load_for(Duration::from_secs(22));
                self.replicas[at].signal("CONT");
                "the leader is paused"
            }
            3 => {
                self.plane.restart(API_SERVER);
                self.plane.until("the API server", 180, |plane| plane.requests.text("/readyz").ok());
                "the API server is restarted"
            }
            4 => {
                self.plane.pause(API_SERVER, 8);
                "the API server is paused"
            }
            _ => {
                self.replicas.drain(..).for_each(Running::kill);
                self.start();
                self.start();
                "all are killed"
            }
        };
        *self.faults.entry(what).or_insert(0) += 1;
    }

    fn load_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.load();
            std::thread::sleep(STEP);
        }
    }

    /// Looks at the replicas, before one of them goes with what it counted.
    fn look(&mut self) {
        for replica in &self.replicas {
            self.memory = self.memory.max(replica.memory());
            self.traps += replica.try_metric("apportion_component_traps_total", &[]).unwrap_or_default();
        }
    }

    /// Everything that was asked for is there.
    fn is_settled(&self) -> Option<()> {
        let requests = &self.plane.requests;
        let source = requests.get(&source(""))?;
        let class = &source["spec"]["template"]["spec"]["devices"]["requests"][0]["exactly"];
        let is_copied = |space: &String| {
            let found = requests.get(&copy(space))?;
            (found["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == class["deviceClassName"])
                .then_some(())
        };
        let owners = claims_by_owner(&self.plane);
        let is_done = !requests.has_unplaced("work")
            && source["status"]["current"] == self.spaces.len()
            && source["status"]["matched"] == self.spaces.len()
            && self.spaces.iter().all(|space| is_copied(space).is_some())
            && owners.len() == self.pods.len() + self.gangs.len()
            && owners.values().all(|count| *count == 1);
        is_done.then_some(())
    }
}

/// `apportion check --watch`, at work beside everything else.
fn laws(plane: &ControlPlane) -> Child {
    let mut command = Command::new(THIS);
    command.args(["check", "--watch", "--from-cluster", "-o", "json"]);
    command.env_clear().env("KUBECONFIG", plane.kubeconfig(ADMIN));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn two_replicas_go_on_whatever_happens() {
    let seconds = env::var("APPORTION_SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let plane = ControlPlane::with("soak", &["podgroup-protection-controller"]);
    install(&plane);
    make_nodes(&plane, NODES, DEVICES);
    plane.requests.create(&namespace("work", json!({})));
    plane.requests.create(&template("work"));
    plane.requests.apply(&source("gpu"));
    let other = env::var("APPORTION_OTHER").unwrap_or_else(|_| THIS.to_owned());
    let mut soak = Soak {
        plane,
        dice: Dice::new(20_261_125),
        replicas: Vec::new(),
        builds: [THIS.to_owned(), other],
        next: 0,
        made: 0,
        pods: VecDeque::new(),
        gangs: VecDeque::new(),
        spaces: VecDeque::new(),
        faults: BTreeMap::new(),
        memory: 0,
        traps: 0.0,
    };
    soak.start();
    soak.start();
    let laws = laws(&soak.plane);
    let (start, mut told) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        let calm = Duration::from_secs(5 + u64::try_from(soak.dice.below(CALM)).unwrap());
        soak.load_for(calm);
        soak.fault();
        if start.elapsed().as_secs() / 300 > told {
            told = start.elapsed().as_secs() / 300;
            println!("{} min: {} steps, {:?}, {} MiB", told * 5, soak.made, soak.faults, soak.memory);
        }
    }
    let late = Instant::now();
    soak.plane.until("everything to be settled", 300, |_| soak.is_settled());
    println!("settled {:.0} s after the last fault", late.elapsed().as_secs_f64());
    soak.look();
    signal(&laws, "INT");
    let said = laws.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
    assert_eq!(devices(&soak.plane).len(), soak.pods.len() + soak.gangs.len());
    is_entitled(&soak.plane);

    // One that begins anew finds nothing to do.
    soak.replicas.drain(..).for_each(Running::stop);
    soak.next = 0;
    soak.start();
    let fresh = &soak.replicas[0];
    soak.plane.until("the lease", 30, |_| fresh.leads().then_some(()));
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(fresh.writes(), 0.0, "a fresh start writes something");
    println!(
        "{seconds} s, {} steps of load, faults: {:?}; most memory of a replica {} MiB",
        soak.made, soak.faults, soak.memory
    );
    assert_eq!(soak.traps, 0.0);
    let groups = soak.plane.requests.list(GROUPS, "PodGroup");
    let names: Vec<&Value> = groups.iter().map(|group| &group["metadata"]["name"]).collect();
    assert_eq!(names.len(), soak.gangs.len(), "{names:?}");
}
