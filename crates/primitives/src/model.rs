//! Running a model: every interleaving of a closure, within its bounds.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

std::thread_local! {
    /// Whether loom has found a race on this thread. loom runs all threads of a model on one
    /// thread.
    static RACED: Cell<bool> = const { Cell::new(false) };
    /// Whether loom explores interleavings at this point of the execution.
    static EXPLORES: Cell<bool> = const { Cell::new(true) };
}

/// The bounds of one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Model {
    preemptions: Option<usize>,
    branches: Option<usize>,
}

impl Model {
    /// A model without bounds of its own. It is complete unless `LOOM_MAX_PREEMPTIONS` bounds it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Explores at most this many involuntary switches in one execution, and one more if
    /// `RADDLE_LOOM_LONG` is set. `LOOM_MAX_PREEMPTIONS` overrides the number, and
    /// `RADDLE_LOOM_COMPLETE` removes the bound.
    pub fn preemptions(mut self, bound: usize) -> Self {
        self.preemptions = Some(bound);
        self
    }

    /// Allows this many scheduling points in one execution.
    pub fn branches(mut self, bound: usize) -> Self {
        self.branches = Some(bound);
        self
    }

    /// The number of switches to explore, from the model's bound and the environment.
    fn bound(self) -> Option<usize> {
        let bound = self
            .preemptions
            .filter(|_| !is_set("RADDLE_LOOM_COMPLETE"))?;
        Some(bound + usize::from(is_set("RADDLE_LOOM_LONG")))
    }

    /// Runs `body` in every execution within the bounds, and prints the number of executions. If
    /// `RADDLE_LOOM_ONCE` is set, it runs only the first execution, in which each thread runs until
    /// it blocks: a canary must fail in another one.
    ///
    /// # Panics
    ///
    /// Panics if `body` panics, races, deadlocks or leaks in any execution. A race fails the model
    /// even if the code that races is under a `catch_unwind`.
    #[track_caller]
    pub fn check(self, body: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        if builder.preemption_bound.is_none() {
            builder.preemption_bound = self.bound();
        }
        if let Some(branches) = self.branches {
            builder.max_branches = branches;
        }
        if is_set("RADDLE_LOOM_ONCE") {
            // Checked before each execution. The first has the number 1.
            builder.checkpoint_interval = 1;
            builder.max_permutations = Some(2);
        }
        let bound = builder.preemption_bound;
        let executions = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&executions);
        let start = Instant::now();
        watch_for_races();
        builder.check(move || {
            // ORDERING: a count that is read after the last execution.
            counted.fetch_add(1, Ordering::Relaxed);
            EXPLORES.set(true);
            body();
            fail_on_race();
        });
        fail_on_race();
        let name = std::thread::current().name().unwrap_or("model").to_owned();
        let extent = match bound {
            Some(bound) => format!("bounded at {bound} preemptions"),
            None => "complete".to_owned(),
        };
        // ORDERING: as above; no execution is running.
        let executions = executions.load(Ordering::Relaxed);
        println!(
            "model {name}: {executions} executions, {extent}, {:.2} s",
            start.elapsed().as_secs_f64()
        );
    }
}

/// Returns whether a variable is set in the environment.
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// Runs `body` as a [`Model`] without bounds of its own.
#[track_caller]
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().check(body);
}

/// A deliberate race for a canary: two accesses that are ordered only if [`first`](Self::first)
/// comes first.
///
/// In the first execution each thread runs until it blocks, so `first` comes first there if the
/// canary calls the two in this order. Then only a model that explores finds the race. The model
/// fails when the body has returned, so that the panic drops nothing.
#[derive(Debug)]
pub struct Race {
    cell: loom::cell::UnsafeCell<()>,
    turn: loom::sync::atomic::AtomicUsize,
}

// SAFETY: the cell has no content; the model checks its accesses.
unsafe impl Sync for Race {}
// SAFETY: as above.
unsafe impl Send for Race {}

impl Race {
    /// Makes a race for two threads.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            cell: loom::cell::UnsafeCell::new(()),
            turn: loom::sync::atomic::AtomicUsize::new(0),
        })
    }

    /// Accesses the cell, then publishes the access to the other thread.
    pub fn first(&self) {
        // ORDERING: none. loom's clock of the thread advances only at an atomic operation; without
        // this one, the access would belong to the operation before.
        self.turn.load(Ordering::Relaxed);
        self.access();
        // ORDERING: Release pairs with `second`.
        self.turn.fetch_add(1, Ordering::Release);
    }

    /// Synchronizes with [`first`](Self::first) if that came before, and accesses the cell.
    pub fn second(&self) {
        // ORDERING: Acquire pairs with `first`, if that came before.
        self.turn.fetch_add(1, Ordering::Acquire);
        self.access();
    }

    fn access(&self) {
        // The race is recorded, and the model fails when the body has returned.
        let access = AssertUnwindSafe(|| self.cell.with_mut(|_| ()));
        drop(panic::catch_unwind(access));
    }
}

/// Runs the rest of the execution in one order, until [`explore`] is called. Use it for code that
/// every execution runs and that other models explore, such as the shutdown of a pool. That code is
/// still explored together with the code that ran before.
pub fn stop_exploring() {
    if EXPLORES.replace(false) {
        loom::stop_exploring();
    }
}

/// Explores again, after [`stop_exploring`].
pub fn explore() {
    if !EXPLORES.replace(true) {
        loom::explore();
    }
}

/// Runs `step` directly after a point where loom may switch threads, without such points in
/// between.
pub(crate) fn without_switch<R>(step: impl FnOnce() -> R) -> R {
    // ORDERING: Relaxed: only a point to switch threads. No other thread has the word.
    loom::sync::atomic::AtomicBool::new(false).load(Ordering::Relaxed);
    let explores = EXPLORES.get();
    stop_exploring();
    let result = step();
    if explores {
        explore();
    }
    result
}

/// Records each race that loom finds. loom reports a race by a panic, which a task or a pool would
/// handle like a panic of user code.
fn watch_for_races() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let message = info.payload_as_str().unwrap_or_default();
            if message.starts_with("Causality violation") {
                RACED.set(true);
            }
            former(info);
        }));
    });
    RACED.set(false);
}

fn fail_on_race() {
    assert!(
        !RACED.get(),
        "Causality violation, caught by the modelled code as a panic of its user"
    );
}
