//! Machines with one processor between them: tasks in an order that a seed chooses, clocks that pass in no time, stand still or go back.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::Builder;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A machine that a replica runs on. The first one is the world: it never stands still, and its clocks are right.
#[derive(Clone, Copy, Default)]
struct Machine {
    stands: bool,
    /// How far its clocks are behind: the one that stands still with it, and the one that is set.
    behind: (Duration, Duration),
}

/// The machine of users, the network and the API server.
pub(super) const WORLD: usize = 0;

/// Turns that tasks have at one time, unless one waits for what has come already.
const MOST_TURNS: u32 = 1_000_000;

struct State {
    random: u64,
    start: Instant,
    now: Duration,
    machines: Vec<Machine>,
    /// The machine of the task that runs.
    here: usize,
    /// Each with its machine; without the one that runs.
    tasks: BTreeMap<u64, (usize, Option<Task>)>,
    ready: Arc<Mutex<BTreeSet<u64>>>,
    timers: BTreeMap<(Duration, u64), Waker>,
    /// Number of the next task or timer.
    next: u64,
}

thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// Does something with the state; `None` outside of a simulation.
fn with<T>(act: impl FnOnce(&mut State) -> T) -> Option<T> {
    // Not where a thread ends whose test failed.
    STATE.try_with(|state| state.try_borrow_mut().ok()?.as_mut().map(act)).ok()?
}

impl State {
    fn random(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn machine(&self) -> Machine {
        self.machines.get(self.here).copied().unwrap_or_default()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

pub(in super::super) fn is_running() -> bool {
    with(|_| ()).is_some()
}

pub(in super::super) fn now() -> Option<Instant> {
    with(|state| state.start + state.now - state.machine().behind.0)
}

pub(in super::super) fn wall() -> Option<SystemTime> {
    // The year 2026 begins.
    let first = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    with(|state| first + state.now - state.machine().behind.1)
}

pub(in super::super) fn chance() -> Option<u64> {
    with(State::random)
}

/// A number below another one.
pub(super) fn below(end: u64) -> u64 {
    with(State::random).unwrap_or(0) % end.max(1)
}

/// Whether something happens that happens so often in a thousand.
pub(super) fn happens(in_thousand: u64) -> bool {
    below(1000) < in_thousand
}

/// One of several.
pub(super) fn one<T: Copy>(of: &[T]) -> T {
    of[usize::try_from(below(of.len() as u64)).unwrap()]
}

/// The machine of the task that runs.
pub(super) fn here() -> usize {
    with(|state| state.here).unwrap_or(WORLD)
}

/// Time since the beginning.
pub(super) fn elapsed() -> Duration {
    with(|state| state.now).unwrap_or_default()
}

pub(in super::super) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    spawn_on(here(), task);
}

pub(super) fn spawn_on(machine: usize, task: impl Future<Output = ()> + Send + 'static) {
    with(|state| {
        let number = state.number();
        state.tasks.insert(number, (machine, Some(Box::pin(task))));
        state.ready.lock().unwrap().insert(number);
    });
}

/// Takes the processor away from a machine, or gives it back. False where that is so already.
pub(super) fn stand(machine: usize, stands: bool) -> bool {
    with(|state| std::mem::replace(&mut state.machines[machine].stands, stands)) != Some(stands)
}

/// Sets the clocks of a machine behind: the one that stands still with it, and the one that is set.
pub(super) fn set_behind(machine: usize, change: impl FnOnce(&mut (Duration, Duration))) {
    with(|state| change(&mut state.machines[machine].behind));
}

/// Ends everything on a machine.
pub(super) fn kill(machine: usize) {
    let dead = with(|state| {
        let dead: Vec<u64> =
            state.tasks.iter().filter(|(_, task)| task.0 == machine).map(|(number, _)| *number).collect();
        dead.iter().filter_map(|number| state.tasks.remove(number)).collect::<Vec<_>>()
    });
    // Outside, since timers are taken back.
    drop(dead);
}

/// Waits until a time by the clock of its machine.
pub(in super::super) struct Sleep {
    until: Instant,
    timer: Option<(Duration, u64)>,
}

impl Sleep {
    pub(in super::super) fn until(until: Instant) -> Self {
        Self { until, timer: None }
    }

    fn stop(&mut self) {
        if let Some(timer) = self.timer.take() {
            with(|state| state.timers.remove(&timer));
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.stop();
        let left = self.until.saturating_duration_since(now().unwrap());
        if left.is_zero() {
            return Poll::Ready(());
        }
        self.timer = with(|state| {
            let timer = (state.now + left, state.number());
            state.timers.insert(timer, context.waker().clone());
            timer
        });
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Lets a task be looked at.
struct Ready {
    task: u64,
    ready: Arc<Mutex<BTreeSet<u64>>>,
    runtime: Arc<Mutex<Option<Waker>>>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.ready.lock().unwrap().insert(self.task);
        if let Some(waker) = &*self.runtime.lock().unwrap() {
            waker.wake_by_ref();
        }
    }
}

/// Runs something on the machine of the world, with so many other machines. The same seed lets the same happen.
pub(super) fn run<T: Send + 'static>(seed: u64, machines: usize, main: impl Future<Output = T> + Send + 'static) -> T {
    let (ready, runtime) = (Arc::new(Mutex::new(BTreeSet::new())), Arc::new(Mutex::new(None)));
    STATE.set(Some(State {
        random: seed,
        start: Instant::now(),
        now: Duration::ZERO,
        machines: vec![Machine::default(); machines + 1],
        here: WORLD,
        tasks: BTreeMap::new(),
        ready: Arc::clone(&ready),
        timers: BTreeMap::new(),
        next: 0,
    }));
    let result = Arc::new(Mutex::new(None));
    let place = Arc::clone(&result);
    spawn_on(WORLD, async move { *place.lock().unwrap() = Some(main.await) });
    let (mut quiet, mut turns) = (0, 0);
    // The client has a task of its own, which tokio runs whenever this one gives way.
    let tokio = Builder::new_current_thread().enable_time().build().unwrap();
    let done = tokio.block_on(poll_fn(|context| {
        if let Some(done) = result.lock().unwrap().take() {
            return Poll::Ready(done);
        }
        *runtime.lock().unwrap() = Some(context.waker().clone());
        quiet = if step(&ready, &runtime) { 0 } else { quiet + 1 };
        turns += 1;
        assert!(turns < MOST_TURNS, "somebody goes on and on at {:?}", elapsed());
        if quiet > 2 {
            assert!(advance(), "everybody waits for ever");
            turns = 0;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    drop(STATE.take());
    done
}

/// Lets one task go on, any that can. False where there is none.
fn step(ready: &Arc<Mutex<BTreeSet<u64>>>, runtime: &Arc<Mutex<Option<Waker>>>) -> bool {
    let chosen = with(|state| {
        let mut ready = ready.lock().unwrap();
        ready.retain(|task| state.tasks.contains_key(task));
        let stands = |task: &u64| state.machines[state.tasks[task].0].stands;
        let waiting: Vec<u64> = ready.iter().filter(|task| !stands(task)).copied().collect();
        let last = waiting.len().checked_sub(1)?;
        let chosen = waiting[usize::try_from(state.random() & 0xffff).unwrap() % (last + 1)];
        ready.remove(&chosen);
        let (machine, task) = state.tasks.get_mut(&chosen)?;
        state.here = *machine;
        Some((chosen, task.take()?))
    });
    let Some(Some((number, mut task))) = chosen else { return false };
    let waker = Arc::new(Ready { task: number, ready: Arc::clone(ready), runtime: Arc::clone(runtime) }).into();
    let is_done = task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
    let over = with(|state| {
        state.here = WORLD;
        match state.tasks.get_mut(&number) {
            Some(place) if !is_done => {
                place.1 = Some(task);
                None
            }
            // It has ended, or its machine has.
            _ => {
                state.tasks.remove(&number);
                Some(task)
            }
        }
    });
    drop(over);
    true
}

/// Lets time pass until the next timer. False where there is none.
fn advance() -> bool {
    let due = with(|state| {
        let ((now, _), _) = state.timers.first_key_value()?;
        state.now = *now;
        let later = state.timers.split_off(&(*now, u64::MAX));
        Some(std::mem::replace(&mut state.timers, later))
    });
    let Some(Some(due)) = due else { return false };
    due.into_values().for_each(Waker::wake);
    true
}
