//! The executor of a set: the side that stays on the thread of the set.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::ptr;
use std::rc::Rc;
use std::task::Waker;

use raddle_primitives::sync::Arc;

use super::shared::Shared;
use crate::{JoinHandle, LocalList, LocalRunnable};

/// The number of tasks that one poll of a set runs before it lets the outer scheduler run others.
const POLLS: usize = 61;

raddle_primitives::thread_local! {
    /// The set whose tasks this thread runs, or that was entered.
    static CURRENT: RefCell<Option<Rc<Executor>>> = RefCell::new(None);
    /// The number of sets that this thread polls, one inside the other.
    static POLLED: Cell<usize> = Cell::new(0);
}

/// Runs the tasks of a set: has them all, and the queue of those that are ready.
pub(super) struct Executor {
    /// Whether a poll of the set may run another task.
    may_poll: fn() -> bool,
    tasks: LocalList,
    due: RefCell<VecDeque<LocalRunnable>>,
    /// Set while a poller polls the set: the poller checks `due` before it waits.
    driven: Cell<bool>,
    /// Set when the set is dropped. A guard may still keep it entered.
    closed: Cell<bool>,
    /// The number of tasks that were spawned since then, and whose futures are being dropped. One
    /// of them may own the set.
    refusing: Cell<usize>,
    /// Whether the panic of a task shuts the set down.
    pub(super) shuts_down_on_panic: Cell<bool>,
    /// Set when a task has panicked and this shuts the set down.
    panicked: Cell<bool>,
    shared: Arc<Shared>,
}

impl Executor {
    pub(super) fn new(may_poll: fn() -> bool) -> Rc<Self> {
        Rc::new(Self {
            may_poll,
            tasks: LocalList::new(),
            due: RefCell::default(),
            driven: Cell::new(false),
            closed: Cell::new(false),
            refusing: Cell::new(0),
            shuts_down_on_panic: Cell::new(false),
            panicked: Cell::new(false),
            shared: Arc::default(),
        })
    }

    /// Returns the number of tasks that have not ended.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether the set is being polled.
    pub(super) fn is_driven(&self) -> bool {
        self.driven.get()
    }

    #[track_caller]
    pub(super) fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let (task, handle) = self.tasks.spawn(future, Arc::clone(&self.shared));
        if self.closed.get() {
            handle.abort();
            self.refusing.set(self.refusing.get() + 1);
            self.run(task);
            self.refusing.set(self.refusing.get() - 1);
            return handle;
        }
        self.due.borrow_mut().push_back(task);
        if !self.driven.get() {
            self.shared.wake_pollers();
        }
        handle
    }

    /// Runs the ready tasks in their order. Tasks that were woken on other threads go behind tasks
    /// that were woken here before, so neither kind starves the other.
    ///
    /// Stops early when `may_poll` returns false. If `has_waiting` returns that the future beside
    /// the tasks was woken, it also stops as soon as the only ready tasks are those that have woken
    /// themselves. Tasks that other tasks wake and spawn run before that future, as on Tokio.
    fn tick(&self, has_waiting: impl Fn() -> bool) {
        self.shared.take(&mut self.due.borrow_mut());
        // The number of polls until the only ready tasks are those that have woken themselves.
        let mut polls_left = self.due.borrow().len();
        for ran in 0..POLLS {
            if ran > 0 && polls_left == 0 && !self.due.borrow().is_empty() && has_waiting() {
                return;
            }
            if ran > 0 && !(self.may_poll)() {
                return;
            }
            let is_empty = self.due.borrow().is_empty();
            let Some(task) = self.next() else {
                return;
            };
            let before = self.due.borrow().len();
            if is_empty {
                // All remaining tasks were woken on other threads.
                polls_left = before + 1;
            }
            let requeued = self.run(task);
            let others = self.due.borrow().len() - usize::from(requeued);
            polls_left = match others > before {
                // The task has spawned or woken other tasks, which are behind all queued ones.
                true => others,
                false => polls_left.saturating_sub(1),
            };
            if self.panicked.get() {
                return;
            }
        }
    }

    fn next(&self) -> Option<LocalRunnable> {
        let mut due = self.due.borrow_mut();
        due.pop_front().or_else(|| {
            self.shared.take(&mut due);
            due.pop_front()
        })
    }

    /// Polls a task. Returns whether it has woken itself, and is queued again.
    fn run(&self, task: LocalRunnable) -> bool {
        let again = raddle_leaf::coop::budget_of(task.waker_address(), || self.tasks.run(task));
        let woke_itself = again.is_some();
        self.due.borrow_mut().extend(again);
        if self.shared.take_panicked() && self.shuts_down_on_panic.get() {
            self.panicked.set(true);
        }
        woke_itself
    }

    /// # Panics
    ///
    /// Panics if a task has panicked and this shuts the set down.
    #[track_caller]
    fn check_panic(&self) {
        assert!(
            !self.panicked.get(),
            "a task of a LocalSet panicked, and the set is set to shut down then; its own message \
             says why it panicked, and UnhandledPanic::Ignore lets the set go on"
        );
    }

    /// Drops the futures of all tasks.
    pub(super) fn close(self: &Rc<Self>) {
        let _entered = Entered::enter(Rc::clone(self));
        self.closed.set(true);
        self.tasks
            .abort_all(|task| self.due.borrow_mut().push_back(task));
        loop {
            while let Some(task) = self.next() {
                self.run(task);
            }
            // No other task can run here: a poller borrows the set, which cannot be dropped then.
            if self.tasks.len() == self.refusing.get() {
                return;
            }
            // Another thread has woken a task and is about to push it.
            self.shared.wait();
        }
    }
}

/// A future that polls a set, and is woken when a task of it is ready.
pub(super) struct Poller {
    executor: Rc<Executor>,
    /// The index among the set's pollers.
    place: usize,
}

impl Poller {
    pub(super) fn new(executor: &Rc<Executor>) -> Self {
        Self {
            executor: Rc::clone(executor),
            place: executor.shared.join(),
        }
    }

    /// Calls `first`, and runs some of the tasks unless it returns a result. Meanwhile their set is
    /// the current one. `is_woken` returns whether `first` must be called again; `waker` causes
    /// that call.
    ///
    /// # Panics
    ///
    /// Panics if a task has panicked and this shuts the set down.
    #[track_caller]
    pub(super) fn poll<R>(
        &self,
        waker: &Waker,
        first: impl FnOnce() -> Option<R>,
        is_woken: impl Fn() -> bool,
    ) -> Option<R> {
        let executor = &self.executor;
        executor.check_panic();
        executor.shared.register(self.place, waker);
        let _entered = Entered::enter(Rc::clone(executor));
        let _driven = Driven::begin(executor);
        let result = first();
        if result.is_none() {
            executor.tick(is_woken);
            if !executor.due.borrow().is_empty() {
                // Wakes this poller too, unless it was woken since it registered.
                executor.shared.wake_pollers();
            }
            executor.check_panic();
        }
        result
    }
}

/// Leaves the ready tasks to the other pollers.
impl Drop for Poller {
    fn drop(&mut self) {
        let executor = &*self.executor;
        executor.shared.leave(self.place);
        // The push of a task that has arrived has woken the other pollers.
        if !executor.due.borrow().is_empty() {
            executor.shared.wake_pollers();
        }
    }
}

/// Sets `driven` until it is dropped. The outermost one closes a set that a panic has shut down, in
/// which no task runs any more.
struct Driven<'a> {
    executor: &'a Rc<Executor>,
    outer: bool,
}

impl<'a> Driven<'a> {
    fn begin(executor: &'a Rc<Executor>) -> Self {
        POLLED.with(|polled| polled.set(polled.get() + 1));
        let outer = executor.driven.replace(true);
        Self { executor, outer }
    }
}

impl Drop for Driven<'_> {
    fn drop(&mut self) {
        POLLED.with(|polled| polled.set(polled.get() - 1));
        self.executor.driven.set(self.outer);
        if self.executor.panicked.get() && !self.outer {
            self.executor.close();
            self.executor.shared.wake_pollers();
        }
    }
}

/// Makes a set the current one until it is dropped.
pub(super) struct Entered {
    outer: Option<Rc<Executor>>,
}

impl Entered {
    pub(super) fn enter(executor: Rc<Executor>) -> Self {
        Self {
            outer: set_current(Some(executor)),
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        drop(set_current(self.outer.take()));
    }
}

/// Sets the current set and returns the former one. On a thread that is exiting there may be no
/// current set any more.
fn set_current(executor: Option<Rc<Executor>>) -> Option<Rc<Executor>> {
    CURRENT
        .try_with(|current| current.replace(executor))
        .ok()
        .flatten()
}

/// Returns whether this thread polls a set, be it the current one or not.
pub(super) fn is_any_polled() -> bool {
    POLLED.try_with(|polled| polled.get() > 0).unwrap_or(false)
}

/// Returns the current set.
pub(super) fn current() -> Option<Rc<Executor>> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .ok()
        .flatten()
}

/// The result of pushing a task.
#[must_use]
pub(super) enum Pushed {
    /// A poller will find the task.
    Seen,
    /// The task is in its set's queue; the pollers must be woken.
    Unseen,
    /// The set of `shared` is not the current one of this thread.
    Elsewhere(LocalRunnable),
}

/// Puts a task into the queue of the set that `shared` belongs to, if that is the current one.
pub(super) fn push(shared: &Shared, task: LocalRunnable) -> Pushed {
    let mut task = Some(task);
    let seen = CURRENT.try_with(|current| {
        let current = current.borrow();
        let executor = current.as_deref()?;
        if !ptr::eq(&raw const *executor.shared, shared) {
            return None;
        }
        executor.due.borrow_mut().extend(task.take());
        Some(executor.driven.get())
    });
    match (seen.ok().flatten(), task) {
        (_, Some(task)) => Pushed::Elsewhere(task),
        (Some(true), None) => Pushed::Seen,
        (_, None) => Pushed::Unseen,
    }
}
