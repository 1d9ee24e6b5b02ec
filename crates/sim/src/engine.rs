//! The loop of a simulation: it chooses what runs next, and moves the time.

mod hosts;

use std::cell::OnceCell;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

use raddle::runtime::Builder;
use raddle::runtime::stepped::{SteppedRuntime, SteppedWorker};
use raddle::time::Instant;
use raddle_primitives::sync::{Condvar, Mutex, MutexGuard};

use crate::clock::{Clock, Clocks};
use crate::context;
use crate::kernel::threads::{Place, ReadyThread, Turn, Woken};
use crate::kernel::{Caller, Happened, Kernel};
use crate::recording;
use crate::trace::Record;

pub(crate) use hosts::FILE;

/// The stack of the threads that step workers, in bytes: futures of a debug build are large.
const STACK: usize = 8 << 20;
/// How many times the loop waits a millisecond for a thread outside the simulation.
const MAX_OUTSIDE_WAITS: u32 = 2_000;
/// How many checks of the monitors in a row may lead to nothing, when nothing else is to come.
const MAX_QUIET_CHECKS: u32 = 1_000;
/// How many events the end of a simulation lets pass, so that its threads end too.
const MAX_LAST_EVENTS: u32 = 10_000;

/// What a host runs. An error is a failure of the simulation.
pub(crate) type Main = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Makes what a host runs, at each start.
pub(crate) type MakeMain = Arc<dyn Fn() -> Main + Send + Sync>;

pub(crate) struct Engine {
    this: Weak<Engine>,
    // UNRANKED: code of hosts calls the kernel under locks of its own. No other lock is taken under
    // it, and no code of hosts is called.
    pub(crate) kernel: Mutex<Kernel>,
    /// The start of the simulation on the clock of its hosts.
    start: Instant,
    limit: Duration,
    /// Whether the runtimes of hosts keep dumps of their tasks.
    has_dumps: bool,
    has_ended: AtomicBool,
    // UNRANKED: no lock is taken under it.
    outcome: Mutex<Option<Result<(), String>>>,
    ended: Condvar,
}

/// What the loop knows of a host.
pub(crate) struct Process {
    worker_count: usize,
    make_main: MakeMain,
    is_client: bool,
    /// How many faults keep it down, and how many pause it.
    down: u32,
    pub(crate) paused: u32,
    /// What a poll of a task takes, in nanoseconds.
    pub(crate) slow_cpu: u64,
    /// When the poll that takes this time ends.
    pub(crate) poll_ends: Option<u64>,
    pub(crate) runtime: Option<Arc<SteppedRuntime>>,
    /// `None`: a thread runs it, or it has ended.
    pub(crate) workers: Vec<Option<SteppedWorker>>,
    /// The time for which an event wakes the host, until then.
    wake_at: u64,
    /// Whether checks of the monitor are on their way.
    is_check_scheduled: bool,
}

/// How a host goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// Without a word, and without what was not synced.
    Crashed,
    /// Its process only: other hosts are told.
    Killed,
    /// With the simulation.
    Ended,
}

/// A host to be made.
pub(crate) struct NewHost {
    pub(crate) name: String,
    pub(crate) workers: usize,
    pub(crate) is_client: bool,
    pub(crate) make_main: MakeMain,
    pub(crate) clock: Clock,
}

thread_local! {
    static OWN_TURN: OnceCell<Arc<Turn>> = const { OnceCell::new() };
}

fn own_turn() -> Arc<Turn> {
    OWN_TURN.with(|turn| Arc::clone(turn.get_or_init(Arc::default)))
}

impl Process {
    pub(crate) fn new(host: NewHost) -> Self {
        Self {
            worker_count: host.workers,
            make_main: host.make_main,
            is_client: host.is_client,
            down: 0,
            paused: 0,
            slow_cpu: 0,
            poll_ends: None,
            runtime: None,
            workers: Vec::new(),
            wake_at: u64::MAX,
            is_check_scheduled: false,
        }
    }
}

/// Makes what Raddle has once in a process, such as the pipe of the signals, outside a simulation:
/// the first one would make it on one of its hosts, and differ from all others.
fn init_process_state() {
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        let runtime = Builder::new_current_thread().enable_all().build();
        drop(runtime.expect("the system has descriptors for a runtime"));
    });
}

impl Engine {
    pub(crate) fn new(kernel: Kernel, limit: Duration, has_dumps: bool) -> Arc<Self> {
        init_process_state();
        let no_caller = Caller { host: 0, boot: 0 };
        let start = context::as_host(no_caller, Clock::default().at(0), Instant::now);
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            // UNRANKED: see the field.
            kernel: Mutex::new(kernel),
            start,
            limit,
            has_dumps,
            has_ended: AtomicBool::new(false),
            // UNRANKED: see the field.
            outcome: Mutex::new(None),
            ended: Condvar::new(),
        })
    }

    /// What the clocks of a host show.
    pub(crate) fn clocks(&self, host: usize) -> Clocks {
        self.kernel.lock().clocks(host)
    }

    /// The number of workers of a host.
    pub(crate) fn workers_of(&self, host: usize) -> usize {
        self.kernel.lock().hosts[host].process.worker_count
    }
}

/// Running.
impl Engine {
    /// Runs the simulation to its end, on a thread of its own.
    pub(crate) fn run(self: &Arc<Self>) -> Result<(), String> {
        self.start_loop();
        let mut outcome = self.outcome.lock();
        loop {
            match outcome.take() {
                Some(outcome) => return outcome,
                None => outcome = self.ended.wait(outcome),
            }
        }
    }

    fn start_loop(self: &Arc<Self>) {
        let engine = Arc::clone(self);
        let thread = std::thread::Builder::new()
            .name("simulation".to_owned())
            .stack_size(STACK);
        let run = move || {
            context::join(&engine);
            let running = AssertUnwindSafe(|| engine.run_loop());
            if let Err(payload) = std::panic::catch_unwind(running) {
                let text = text_of(&*payload);
                engine.end_with(Err(format!("the simulation itself has panicked: {text}")));
            }
        };
        thread
            .spawn(run)
            .expect("the system has a thread for the simulation");
    }

    fn run_loop(self: &Arc<Self>) {
        let mut outside_waits = MAX_OUTSIDE_WAITS;
        let mut last_events = MAX_LAST_EVENTS;
        let mut quiet_checks = 0;
        let mut kernel = self.kernel.lock();
        while !self.has_ended() {
            if !kernel.is_ending && (kernel.clients == 0 || kernel.failure.is_some()) {
                kernel.is_ending = true;
                kernel.record(Record::Ending);
                if let Some(recorder) = &kernel.recorder {
                    recorder.end(kernel.failure.as_deref());
                }
                let hosts = kernel.hosts.len();
                drop(kernel);
                for host in 0..hosts {
                    self.stop(host, Down::Ended);
                }
                kernel = self.kernel.lock();
            }
            let thread = match kernel.prefers_host() {
                true => None,
                false => kernel.choose_thread(),
            };
            if let Some(thread) = thread {
                quiet_checks = 0;
                kernel = self.pass_from_loop(kernel, &thread);
                continue;
            }
            if let Some(host) = kernel.take_ready() {
                quiet_checks = 0;
                kernel = self.run_host(kernel, host);
                continue;
            }
            quiet_checks = match kernel.has_only_checks() {
                true => quiet_checks + 1,
                false => 0,
            };
            let is_quiet = quiet_checks >= MAX_QUIET_CHECKS;
            if let Some(time) = kernel.next_time().filter(|_| !is_quiet) {
                if kernel.is_ending {
                    last_events -= 1;
                    if last_events == 0 {
                        drop(kernel);
                        return self.end();
                    }
                } else if Duration::from_nanos(time) > self.limit {
                    let failure = self.too_long();
                    kernel = self.fail_stuck(kernel, failure);
                    continue;
                }
                kernel = self.advance(kernel, time);
            } else if kernel.is_ending {
                drop(kernel);
                return self.end();
            } else if kernel.threads.has_futex_waiter() && outside_waits > 0 {
                // A thread outside the simulation may hold a lock, such as that of the standard
                // output.
                outside_waits -= 1;
                drop(kernel);
                std::thread::sleep(Duration::from_millis(1));
                kernel = self.kernel.lock();
            } else {
                let failure = kernel.no_progress();
                kernel = self.fail_stuck(kernel, failure);
            }
        }
    }

    fn has_ended(&self) -> bool {
        // ORDERING: the thread that has the turn sets it, and gives the turn to this one.
        self.has_ended.load(Ordering::Relaxed)
    }

    fn end(&self) {
        let outcome = match self.kernel.lock().failure.take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        };
        self.end_with(outcome);
    }

    fn end_with(&self, outcome: Result<(), String>) {
        // ORDERING: as in `has_ended`.
        self.has_ended.store(true, Ordering::Relaxed);
        let spare = std::mem::take(&mut self.kernel.lock().threads.spare_loops);
        for turn in spare {
            turn.give(Woken::Released);
        }
        *self.outcome.lock() = Some(outcome);
        self.ended.notify_all();
    }

    /// Moves the time, and lets all events of that time happen.
    fn advance<'a>(
        &'a self,
        mut kernel: MutexGuard<'a, Kernel>,
        time: u64,
    ) -> MutexGuard<'a, Kernel> {
        while kernel.next_time() == Some(time) {
            match kernel.advance() {
                None | Some(Happened::Handled) => {}
                // The hosts have been stopped.
                Some(_) if kernel.is_ending => {}
                Some(Happened::Check(host)) => {
                    drop(kernel);
                    self.check(host);
                    kernel = self.kernel.lock();
                }
                Some(Happened::Fault(begin)) => {
                    drop(kernel);
                    begin(self);
                    kernel = self.kernel.lock();
                    kernel.watch_connections();
                }
            }
        }
        kernel
    }

    fn main_has_ended(&self, caller: Caller, result: Result<(), String>) {
        let mut kernel = self.kernel.lock();
        if !kernel.is_alive(caller) {
            // A thread was in a blocking call of it when the host went down, and has gone on.
            return;
        }
        let host = &kernel.hosts[caller.host];
        let failure = result
            .err()
            .map(|error| format!("host {:?} {error}", host.name));
        if host.process.is_client {
            kernel.clients = kernel.clients.saturating_sub(1);
        }
        if let Some(failure) = failure {
            kernel.fail_with(failure);
        }
    }

    fn too_long(&self) -> String {
        format!(
            "the clients have not ended after {:?} of virtual time; raise Sim::limit if they need \
             more",
            self.limit
        )
    }
}

fn describe(place: Place) -> &'static str {
    match place {
        Place::File(_) | Place::AnyFile(_) => "a socket",
        Place::Futex(_) => "a lock, a condition variable or an unpark",
        Place::Thread(_) => "the end of another thread",
        Place::Sleep => "the end of a sleep",
    }
}

/// Threads that block.
impl Engine {
    /// Lets other threads run until the place is released or the time is over. The calling thread,
    /// which runs code of a host, waits only if `is_needed` says so.
    pub(crate) fn block(
        self: &Arc<Self>,
        caller: Caller,
        place: Place,
        timeout: Option<Duration>,
        is_needed: impl FnOnce(&mut Kernel) -> bool,
    ) -> Option<Woken> {
        let turn = own_turn();
        let mut kernel = self.kernel.lock();
        if !is_needed(&mut kernel) {
            return None;
        }
        kernel.begin_wait(caller, Arc::clone(&turn), place, timeout);
        kernel.begin_checks(caller.host);
        drop(kernel);
        self.pass_to_loop();
        let woken = turn.wait();
        context::set_clocks(self.clocks(caller.host));
        Some(woken)
    }

    /// After the calling thread has woken another: one that can go on may have the turn first, by
    /// the seed.
    pub(crate) fn preempt(self: &Arc<Self>, caller: Caller) {
        let mut kernel = self.kernel.lock();
        if kernel.random.below(4) > 0 {
            return;
        }
        // A thread that ends has no turn of its own any more.
        let turn = OWN_TURN.try_with(|turn| Arc::clone(turn.get_or_init(Arc::default)));
        let Ok(turn) = turn else { return };
        kernel.record(Record::Blocked { host: caller.host });
        kernel.threads.add(caller.host, Arc::clone(&turn));
        drop(kernel);
        self.pass_to_loop();
        turn.wait();
        context::set_clocks(self.clocks(caller.host));
    }

    /// Passes the turn to a thread that runs the loop.
    fn pass_to_loop(self: &Arc<Self>) {
        let spare = self.kernel.lock().threads.spare_loops.pop();
        match spare {
            Some(turn) => turn.give(Woken::Released),
            None => self.start_loop(),
        }
    }

    /// Passes the turn from the loop to a thread, and waits until the loop is needed again.
    fn pass_from_loop<'a>(
        &'a self,
        mut kernel: MutexGuard<'a, Kernel>,
        thread: &ReadyThread,
    ) -> MutexGuard<'a, Kernel> {
        let own = own_turn();
        kernel.record(Record::Resumed { host: thread.host });
        kernel.threads.spare_loops.push(Arc::clone(&own));
        drop(kernel);
        thread.turn.give(thread.woken);
        own.wait();
        self.kernel.lock()
    }

    /// Waits for the first turn of a thread that code of a host has started. The thread runs code
    /// of the host from then on.
    pub(crate) fn begin_thread(self: &Arc<Self>, caller: Caller, turn: Arc<Turn>) {
        context::join(self);
        let _new = OWN_TURN.with(|own| own.set(Arc::clone(&turn)));
        turn.wait();
        recording::begin_thread();
        context::enter_host(caller, self.clocks(caller.host));
    }

    /// Ends a thread that code of a host has started: another one gets the turn.
    pub(crate) fn end_thread(self: &Arc<Self>, number: u64) {
        context::leave_host();
        let mut kernel = self.kernel.lock();
        kernel.threads.release(Place::Thread(number), usize::MAX);
        drop(kernel);
        self.pass_to_loop();
    }
}

impl Kernel {
    pub(crate) fn clocks(&self, host: usize) -> Clocks {
        self.hosts[host].clock.at(self.now)
    }

    /// Takes note of a failure, which ends the simulation.
    pub(crate) fn fail_with(&mut self, failure: String) {
        if !self.is_ending {
            self.failure.get_or_insert(failure);
        }
    }

    /// Says what hosts wait for when nothing can happen any more.
    fn no_progress(&self) -> String {
        let mut text =
            "the simulation makes no progress: no host has anything to do, no packet is \
                        on its way, and no timer is set"
                .to_owned();
        for (host, place) in self.threads.waits() {
            let name = &self.hosts[host].name;
            text += &format!("\n  a thread of {name:?} waits for {}", describe(place));
        }
        for host in &self.hosts {
            if let Some(runtime) = &host.process.runtime {
                let tasks = runtime.handle().metrics().num_alive_tasks();
                text += &format!("\n  {:?} has {tasks} tasks that wait", host.name);
            }
        }
        text
    }

    /// Whether a host is to run before the threads that can go on, by the seed.
    fn prefers_host(&mut self) -> bool {
        self.threads.has_ready() && self.has_ready() && self.random.below(2) == 0
    }

    /// Takes a thread that can go on, by the seed.
    fn choose_thread(&mut self) -> Option<ReadyThread> {
        if !self.threads.has_ready() {
            return None;
        }
        let (mut chosen, mut count) = (None, 0);
        for (at, thread) in self.threads.ready().enumerate() {
            let process = &self.hosts[thread.host].process;
            if process.paused == 0 && process.has_computed(self.now) {
                count += 1;
                if count == 1 || self.random.below(count) == 0 {
                    chosen = Some(at);
                }
            }
        }
        let Some(chosen) = chosen else {
            self.begin_slow_threads();
            return None;
        };
        let thread = self.threads.take_ready(chosen)?;
        self.hosts[thread.host].process.poll_ends = None;
        Some(thread)
    }
}

/// The text of a panic.
pub(crate) fn text_of(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a value that is no text").to_owned()
}
