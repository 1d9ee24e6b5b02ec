//! The budget itself: a word for each thread.

use std::cell::Cell;
use std::marker::PhantomData;
use std::task::{Context, Poll, ready};

use raddle_primitives::NotSend;

/// The number of units of a fresh budget.
///
/// With so many units the cost of a pass through the run queue is negligible, and the other tasks
/// of a worker wait for microseconds only.
const FULL: u8 = 128;

/// The value that means no budget: nothing is counted.
const UNLIMITED: u8 = u8::MAX;

/// How many foreign attempts are refused in succession, and how many are allowed after that.
///
/// An attempt without budget is foreign if the resource is polled with another waker than the task.
/// A task that is in a `block_on` of another executor is polled again and again with that
/// executor's waker, on the thread that it blocks anyway, and would never end. A combinator with
/// wakers of its own may have many of its futures refused in one poll, too; it still ends, because
/// it polls each a few times only. Its poll does at most double the work.
const FOREIGN_ATTEMPTS: u8 = 128;

raddle_primitives::thread_local! {
    static BUDGET: Budget = Budget {
        remaining: Cell::new(UNLIMITED),
        foreign_attempts: Cell::new(0),
        waker: Cell::new(0),
    };
}

/// The budget of the current poll.
struct Budget {
    remaining: Cell<u8>,
    foreign_attempts: Cell<u8>,
    /// The data pointer of the waker with which the task is polled, as a number; 0 if unknown.
    waker: Cell<usize>,
}

/// Runs `f`, the poll of one task, with a fresh budget of 128 units.
///
/// The budget that was in force before is restored afterwards, even when `f` panics, so a nested
/// executor neither uses up the outer task's budget nor is bound by it.
///
/// ```
/// use raddle_leaf::coop::{budget, try_proceed};
///
/// // An executor wraps the poll of each task. A resource that is always ready yields in time.
/// let operations = budget(|| {
///     let mut operations = 0;
///     while let Some(unit) = try_proceed() {
///         unit.made_progress();
///         operations += 1;
///     }
///     operations
/// });
/// assert_eq!(operations, 128);
/// ```
#[inline]
pub fn budget<R>(f: impl FnOnce() -> R) -> R {
    scoped(FULL, 0, f)
}

/// Like [`budget`], for an executor that polls its task with a waker whose
/// [data pointer](std::task::Waker::data) has this address.
///
/// A resource that is refused with that waker is refused until the poll ends. With `budget` every
/// refusal counts as foreign (see [`poll_proceed`]).
///
/// ```
/// use std::future::poll_fn;
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// use raddle_leaf::coop::{budget_of, poll_proceed};
///
/// let task = poll_fn(|cx| {
///     while let Poll::Ready(unit) = poll_proceed(cx) {
///         unit.made_progress();
///     }
///     // However often it tries.
///     assert!((0..1000).all(|_| poll_proceed(cx).is_pending()));
///     Poll::Ready(())
/// });
/// let waker = Waker::noop();
/// let poll = || pin!(task).poll(&mut Context::from_waker(waker));
/// assert!(budget_of(waker.data().addr(), poll).is_ready());
/// ```
#[inline]
pub fn budget_of<R>(waker: usize, f: impl FnOnce() -> R) -> R {
    scoped(FULL, waker, f)
}

/// Runs `f`, which polls a part of the current task with another waker that wakes the task. That
/// waker has this address, as in [`budget_of`].
#[inline]
pub fn with_waker<R>(waker: usize, f: impl FnOnce() -> R) -> R {
    let _restore = BUDGET.with(|budget| RestoreWaker(budget.waker.replace(waker)));
    f()
}

/// Restores the waker of the poll, on return and on unwind.
struct RestoreWaker(usize);

impl Drop for RestoreWaker {
    #[inline]
    fn drop(&mut self) {
        BUDGET.with(|budget| budget.waker.set(self.0));
    }
}

/// Runs `f` with nothing counted, and restores the budget afterwards, even when `f` panics.
///
/// ```
/// use raddle_leaf::coop::{budget, has_budget_remaining, try_proceed, unlimited};
///
/// budget(|| {
///     while let Some(unit) = try_proceed() {
///         unit.made_progress();
///     }
///     assert!(!has_budget_remaining());
///     // A function that blocks the thread anyway need not yield.
///     assert!(unlimited(has_budget_remaining));
/// });
/// ```
#[inline]
pub fn unlimited<R>(f: impl FnOnce() -> R) -> R {
    scoped(UNLIMITED, 0, f)
}

#[inline]
fn scoped<R>(remaining: u8, waker: usize, f: impl FnOnce() -> R) -> R {
    let _restore = BUDGET.with(|budget| Restore {
        remaining: budget.remaining.replace(remaining),
        foreign_attempts: budget.foreign_attempts.replace(0),
        waker: budget.waker.replace(waker),
    });
    f()
}

/// Restores the outer budget, on return and on unwind.
struct Restore {
    remaining: u8,
    foreign_attempts: u8,
    waker: usize,
}

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        BUDGET.with(|budget| {
            budget.remaining.set(self.remaining);
            budget.foreign_attempts.set(self.foreign_attempts);
            budget.waker.set(self.waker);
        });
    }
}

/// Takes one unit from the budget of the current poll.
///
/// A resource calls this before it tries an operation. When the operation completes, it calls
/// [`RestoreOnPending::made_progress`]; when it has to wait, it drops the value, which gives the
/// unit back.
///
/// Outside [`budget`] this is always ready and counts nothing.
///
/// # Pending
///
/// When nothing is left, the waker of `cx` has been woken: the task is polled again with a fresh
/// budget, after the other tasks have had their turn. The resource returns `Pending` without having
/// changed anything.
///
/// A poll that continues although it was refused 128 times with wakers that are not the task's is
/// allowed 128 operations with such wakers: it is a `block_on` of another executor inside a task,
/// which keeps its thread anyway, and would otherwise never end.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::coop::poll_proceed;
/// use std::future::poll_fn;
/// use std::task::{Poll, ready};
///
/// /// Takes the next number, which is always there, and lets other tasks run now and then.
/// async fn next(numbers: &mut impl Iterator<Item = u32>) -> Option<u32> {
///     poll_fn(|cx| {
///         let unit = ready!(poll_proceed(cx));
///         let number = numbers.next();
///         // The unit is spent only if this is called.
///         unit.made_progress();
///         Poll::Ready(number)
///     })
///     .await
/// }
///
/// # fn main() { raddle::run(async {
/// assert_eq!(next(&mut [7].into_iter()).await, Some(7));
/// # }) }
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    match try_proceed() {
        Some(unit) => Poll::Ready(unit),
        None => refuse(cx),
    }
}

/// Like [`poll_proceed`], for a resource that wakes the task by itself if nothing is left: `None`,
/// and no waker has been woken.
///
/// ```
/// use raddle_leaf::coop::try_proceed;
///
/// /// Takes a ready number, or returns `None` if there is none, or if the task has to yield.
/// fn take(numbers: &mut Vec<u32>) -> Option<u32> {
///     let unit = try_proceed()?;
///     let number = numbers.pop()?;
///     unit.made_progress();
///     Some(number)
/// }
///
/// let mut numbers = (0..200).collect();
/// raddle_leaf::coop::budget(|| while take(&mut numbers).is_some() {});
/// assert_eq!(numbers.len(), 200 - 128);
/// ```
#[inline]
pub fn try_proceed() -> Option<RestoreOnPending> {
    BUDGET.with(|budget| match budget.remaining.get() {
        UNLIMITED => Some(RestoreOnPending::new(false)),
        0 => None,
        remaining => {
            budget.remaining.set(remaining - 1);
            Some(RestoreOnPending::new(true))
        }
    })
}

/// Wakes the task, so that it is polled again, or allows a foreign attempt.
#[cold]
fn refuse(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let is_allowed = BUDGET.with(|budget| {
        if cx.waker().data().addr() == budget.waker.get() {
            return false;
        }
        let attempts = budget.foreign_attempts.get();
        budget.foreign_attempts.set(attempts.wrapping_add(1));
        attempts >= FOREIGN_ATTEMPTS
    });
    if is_allowed {
        return Poll::Ready(RestoreOnPending::new(false));
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Polls a combinator that takes no units itself, but whose parts may. If it completes and they
/// have taken none, takes one for it, so that a task that repeats it yields.
///
/// # Pending
///
/// As [`poll_proceed`], if nothing is left; then `poll` is not called.
#[inline]
pub fn poll_charged<T>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    drop(ready!(poll_proceed(cx)));
    let remaining = || BUDGET.with(|budget| budget.remaining.get());
    let before = remaining();
    let polled = poll(cx);
    if polled.is_ready() && remaining() == before {
        if let Some(unit) = try_proceed() {
            unit.made_progress();
        }
    }
    polled
}

/// Returns whether the current poll may continue: some budget is left, or none is in force.
///
/// For code that does a lot of work in one poll without a resource of Raddle's, and can stop in
/// between.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::coop::{consume_budget, has_budget_remaining};
///
/// # fn main() { raddle::run(async {
/// // Work that can be put off waits while the task has no budget.
/// while !has_budget_remaining() {
///     consume_budget().await;
/// }
/// # }) }
/// ```
#[inline]
pub fn has_budget_remaining() -> bool {
    BUDGET.with(|budget| budget.remaining.get() != 0)
}

/// Returns whether a budget is in force: this thread is inside the poll of a task, and would keep
/// others from running if it blocked.
///
/// For operations that block, so that they can refuse. Inside [`unlimited`] and
/// [`unconstrained`](crate::coop::unconstrained) it is false.
#[inline]
pub fn is_limited() -> bool {
    BUDGET.with(|budget| budget.remaining.get() != UNLIMITED)
}

/// One unit of the budget, given back on drop unless progress was made.
///
/// Comes from [`poll_proceed`]. It belongs to the poll that took it, and stays on its thread. If it
/// is kept beyond that poll, it returns its unit to the budget that is then in force, which never
/// grows beyond 128.
#[derive(Debug)]
#[must_use = "dropping it at once gives the unit back, as if nothing had been done"]
pub struct RestoreOnPending(
    /// Whether the drop has to return a unit.
    Cell<bool>,
    NotSend,
);

impl RestoreOnPending {
    #[inline]
    fn new(spent: bool) -> Self {
        Self(Cell::new(spent), PhantomData)
    }

    /// Notes that the operation completed, so that its unit stays spent.
    #[inline]
    pub fn made_progress(&self) {
        self.0.set(false);
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        if self.0.get() {
            BUDGET.with(|budget| {
                let remaining = budget.remaining.get();
                if remaining < FULL {
                    budget.remaining.set(remaining + 1);
                }
            });
        }
    }
}
