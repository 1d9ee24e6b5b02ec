//! The thread of the monitor, which checks the pools of the whole process.
//!
//! It starts when the first worker of a pool that has a monitor begins to run, and never ends. While
//! all workers of all pools are parked, it checks at longer intervals, and sleeps without a limit
//! after a second. A worker that begins to run then wakes it: `sleep.rs`.
//!
//! # After a fork
//!
//! The child of a fork has the memory of the monitor but not its thread, and perhaps a lock that
//! the thread holds. A pool that starts in another process than the monitor makes a new one.

use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicPtr, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};
use raddle_primitives::thread::{self, Thread, ThreadId};

use super::sleep::SleepState;
use super::{FIRST_INTERVAL, Monitor, MonitorCheck, PARKED_INTERVAL};
use crate::id::Id;
use crate::worker::retirement::Retirement;

/// How long the monitor checks pools that do nothing before it sleeps.
const STAY_AWAKE: Duration = Duration::from_secs(1);
/// The time to the next attempt if the system refuses the thread.
const RETRY: Duration = Duration::from_millis(100);

/// The monitor of a process.
pub(super) struct MonitorThread {
    process: u32,
    sleep: SleepState,
    state: Mutex<State>,
    /// Notified when `looks_at` of [`State`] changes.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    watched: Vec<Arc<Retirement>>,
    /// The scheduler that the thread checks without the lock.
    looks_at: Option<Id>,
    is_started: bool,
    /// The thread, once it runs.
    thread: Option<(ThreadId, Thread)>,
    /// When to start the thread again that the system has refused.
    next_start: Option<Instant>,
}

/// Has the monitor of this process check a pool, from the first call on.
pub(crate) fn watch(retirement: &Arc<Retirement>) {
    let Some(monitor) = &retirement.shard.monitor else {
        return;
    };
    // In a model no time passes.
    if cfg!(raddle_loom) {
        return;
    }
    monitor.thread.get_or_init(|| {
        let thread = MonitorThread::of_process();
        thread.state.lock().watched.push(retirement.clone());
        thread
    });
    monitor.wake_thread();
}

/// Ends the checks of a pool. After this call the monitor has no reference to it.
pub(crate) fn forget(retirement: &Retirement) {
    let monitor = retirement.shard.monitor.as_ref();
    if let Some(thread) = monitor.and_then(|monitor| monitor.thread.get()) {
        thread.forget(retirement);
    }
}

/// Whether the calling thread is the one that checks a pool.
pub(crate) fn is_current(retirement: &Retirement) -> bool {
    let monitor = retirement.shard.monitor.as_ref();
    let thread = monitor.and_then(|monitor| monitor.thread.get());
    thread.is_some_and(|thread| thread.state.lock().is_on_thread())
}

impl State {
    /// Whether the calling thread is the monitor.
    fn is_on_thread(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|(id, _)| *id == thread::current_id())
    }
}

impl MonitorThread {
    fn of_process() -> &'static Self {
        static CURRENT: OnceLock<AtomicPtr<MonitorThread>> = OnceLock::new();

        let current = CURRENT.get_or_init(|| AtomicPtr::new(std::ptr::null_mut()));
        let process = process::id();
        loop {
            // ORDERING: Acquire pairs with the exchange below.
            let found = current.load(Ordering::Acquire);
            // SAFETY: the pointer is null or of a monitor that is never freed.
            match unsafe { found.as_ref() } {
                Some(monitor) if monitor.process == process => return monitor,
                _ => {}
            }
            let new = Box::into_raw(Box::new(Self::new(process)));
            // ORDERING: Release makes the new monitor visible to the load above.
            let exchanged =
                current.compare_exchange(found, new, Ordering::Release, Ordering::Relaxed);
            if exchanged.is_err() {
                // SAFETY: the box was made above, and no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    fn new(process: u32) -> Self {
        Self {
            process,
            sleep: SleepState::asleep(),
            state: Mutex::ranked(Rank::leaf("monitor of the process"), State::default()),
            changed: Condvar::new(),
        }
    }

    #[inline]
    pub(super) fn wake_if_asleep(&'static self) {
        if self.sleep.is_asleep() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&'static self) {
        let mut state = self.state.lock();
        if state.is_started {
            self.sleep.wake();
            if let Some((_, thread)) = &state.thread {
                thread.unpark();
            }
            return;
        }
        if state.next_start.is_some_and(|at| Instant::now() < at) {
            return;
        }
        let builder = thread::Builder::new().name("raddle-monitor".to_owned());
        match thread::spawn_boxed(builder, Box::new(|| self.run())) {
            Ok(_) => {
                state.is_started = true;
                self.sleep.wake();
            }
            // Without the thread, tasks wait for the polls before them.
            Err(_) => state.next_start = Instant::now().checked_add(RETRY),
        }
    }

    fn run(&self) {
        self.state.lock().thread = Some((thread::current_id(), thread::current()));
        let start = Instant::now();
        let mut last_active = Duration::ZERO;
        let mut interval = FIRST_INTERVAL;
        loop {
            thread::park_timeout(interval);
            let now = start.elapsed();
            let check = self.check(now);
            interval = check.next;
            if check.is_active {
                last_active = now;
            } else if now - last_active >= STAY_AWAKE && self.sleep() {
                last_active = start.elapsed();
                interval = FIRST_INTERVAL;
            }
        }
    }

    /// Checks all pools.
    fn check(&self, now: Duration) -> MonitorCheck {
        let mut all = MonitorCheck {
            next: PARKED_INTERVAL,
            is_active: false,
        };
        for index in 0.. {
            let mut state = self.state.lock();
            let Some(retirement) = state.watched.get(index).cloned() else {
                break;
            };
            state.looks_at = Some(retirement.shard.id);
            drop(state);
            let monitor = Monitor(retirement);
            let check = monitor.check(now);
            all.next = all.next.min(check.next);
            all.is_active |= check.is_active;
            drop(monitor);
            // After the reference is gone: `forget` waits for this.
            self.state.lock().looks_at = None;
            self.changed.notify_all();
        }
        all
    }

    /// Sleeps until a worker runs. Returns false if one runs already.
    fn sleep(&self) -> bool {
        let state = self.state.lock();
        let is_any_running = || state.watched.iter().any(|it| it.shard.is_any_running());
        let sleeps = self.sleep.try_sleep(is_any_running);
        drop(state);
        while sleeps && self.sleep.is_asleep() {
            thread::park();
        }
        sleeps
    }

    fn forget(&self, retirement: &Retirement) {
        let id = retirement.shard.id;
        let mut state = self.state.lock();
        let index = state.watched.iter().position(|it| it.shard.id == id);
        let watched = index.map(|index| state.watched.swap_remove(index));
        // The monitor itself may end a pool: if it returns the last spare worker of a closed pool,
        // and the system refuses the thread that would end the pool.
        let is_monitor = state.is_on_thread();
        while !is_monitor && state.looks_at == Some(id) {
            state = self.changed.wait(state);
        }
        drop(state);
        drop(watched);
    }
}
