//! Running a model: every interleaving of a closure, within its bounds.

use std::cell::Cell;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;

std::thread_local! {
    /// Whether loom has found a race on this thread, on which it runs all threads of
    /// a model.
    static RACED: Cell<bool> = const { Cell::new(false) };
    /// Whether orders are explored at this point of the execution.
    static EXPLORES: Cell<bool> = const { Cell::new(true) };
}

/// The bounds of one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Model {
    preemptions: Option<usize>,
    branches: Option<usize>,
}

impl Model {
    /// A model without bounds of its own: complete, unless
    /// `LOOM_MAX_PREEMPTIONS` bounds it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Explores at most this many involuntary switches in one execution, and
    /// one more in a long run, which `RADDLE_LOOM_LONG` asks for; unless
    /// `LOOM_MAX_PREEMPTIONS` says otherwise or `RADDLE_LOOM_COMPLETE` is set.
    pub fn preemptions(mut self, bound: usize) -> Self {
        self.preemptions = Some(bound);
        self
    }

    /// Allows this many scheduling points in one execution.
    pub fn branches(mut self, bound: usize) -> Self {
        self.branches = Some(bound);
        self
    }

    /// How many switches are explored, as the environment wishes.
    fn bound(self) -> Option<usize> {
        let wished = |name| std::env::var_os(name).is_some();
        let bound = self
            .preemptions
            .filter(|_| !wished("RADDLE_LOOM_COMPLETE"))?;
        Some(bound + usize::from(wished("RADDLE_LOOM_LONG")))
    }

    /// Runs `body` in every execution within the bounds, and prints how many
    /// those were.
    ///
    /// # Panics
    ///
    /// If `body` panics, races, deadlocks or leaks in any execution; if it
    /// races, also if the code that does so is under a `catch_unwind`.
    #[track_caller]
    pub fn check(self, body: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        if builder.preemption_bound.is_none() {
            builder.preemption_bound = self.bound();
        }
        if let Some(branches) = self.branches {
            builder.max_branches = branches;
        }
        let bound = builder.preemption_bound;
        let executions = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&executions);
        let start = Instant::now();
        watch_for_races();
        builder.check(move || {
            // ORDERING: a tally that is read after the last execution.
            counted.fetch_add(1, Ordering::Relaxed);
            EXPLORES.set(true);
            body();
            refuse_races();
        });
        refuse_races();
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

/// Runs `body` as a [`Model`] without bounds of its own.
#[track_caller]
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().check(body);
}

/// Takes the rest of the execution in one order, until [`explore`]: for what
/// every execution goes through and other models are about, as the end of a
/// pool. What has run before is explored against it nevertheless.
pub fn stop_exploring() {
    if EXPLORES.replace(false) {
        loom::stop_exploring();
    }
}

/// Explores from here on again, after [`stop_exploring`].
pub fn explore() {
    if !EXPLORES.replace(true) {
        loom::explore();
    }
}

/// Runs `step` right after a point where threads switch, and at none of its own.
pub(crate) fn unbroken<R>(step: impl FnOnce() -> R) -> R {
    // ORDERING: none; a point to switch at. Nobody else has the word.
    loom::sync::atomic::AtomicBool::new(false).load(Ordering::Relaxed);
    let explores = EXPLORES.get();
    stop_exploring();
    let result = step();
    if explores {
        explore();
    }
    result
}

/// Remembers each race that loom finds. It says so by a panic, and a task or a
/// pool would take that for one of its user's.
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

fn refuse_races() {
    assert!(
        !RACED.get(),
        "Causality violation, caught by the modelled code as a panic of its user"
    );
}
