//! The waits of the polls that are in progress on a thread.

use std::cell::{Cell, RefCell};
use std::task::Context;

use raddle_primitives::sync::atomic::Ordering;

use crate::wait::{Resource, Wait};

/// The largest number of waits that are kept for one poll.
const MAX_WAITS: usize = 64;

/// Set while waits are recorded; never cleared.
static IS_ENABLED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Records waits from now on, in the whole process.
pub fn enable() {
    // ORDERING: it publishes nothing. A thread that sees it late starts to record late.
    IS_ENABLED.store(true, Ordering::Relaxed);
}

/// Returns whether waits are recorded.
#[inline]
pub fn is_enabled() -> bool {
    // ORDERING: as in `enable`.
    IS_ENABLED.load(Ordering::Relaxed)
}

/// The polls that are in progress on a thread, and their waits.
struct Stack {
    /// The polls from the outermost to the innermost: a poll may call `block_on`.
    polls: Vec<Poll>,
    /// The waits of all these polls.
    waits: Vec<Wait>,
    /// The number of polls so far.
    count: u64,
}

struct Poll {
    task: u64,
    /// The data pointer of the task's own waker, if it is known.
    waker: Option<usize>,
    /// The index of the task's first wait.
    first: usize,
    /// The number of observers that have begun the frame and not finished it.
    observers: usize,
    /// The number of the poll on its thread.
    number: u64,
}

/// Ids of tasks count from 1 and do not reach this bit.
const FIRST_ROOT: u64 = 1 << 63;

static ROOTS: raddle_primitives::Numbers = raddle_primitives::Numbers::new();

raddle_primitives::thread_local! {
    static ROOT: Cell<u64> = Cell::new(0);
    static STACK: RefCell<Stack> = RefCell::new(Stack {
        polls: Vec::new(),
        waits: Vec::new(),
        count: 0,
    });
}

/// The current poll of a task, whose waits are recorded. An observer of the scheduler begins it
/// before the poll and finishes it after the poll.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Waker};
/// use raddle_leaf::wait::{PollFrame, Resource, enable, note};
///
/// enable();
/// let frame = PollFrame::begin(7, None);
/// // A future in the poll of task 7 waits for task 8.
/// note(&Context::from_waker(Waker::noop()), "JoinHandle", None, Resource::Task(8));
/// frame.finish(|waits| {
///     assert_eq!(waits[0].operation(), "JoinHandle");
///     assert_eq!(waits[0].resource(), Resource::Task(8));
/// });
/// ```
#[derive(Debug)]
#[must_use = "finish it when the poll has returned"]
pub struct PollFrame {
    task: u64,
}

impl PollFrame {
    /// Begins the poll of a task on the calling thread. If another observer has begun the same
    /// poll, they share it. `waker` is the address at which the task's own waker points, if that is
    /// known.
    pub fn begin(task: u64, waker: Option<usize>) -> Self {
        with(|stack| match stack.polls.last_mut() {
            Some(poll) if poll.task == task => poll.observers += 1,
            _ => {
                stack.count += 1;
                stack.polls.push(Poll {
                    task,
                    waker,
                    first: stack.waits.len(),
                    observers: 1,
                    number: stack.count,
                });
            }
        });
        Self { task }
    }

    /// Returns the poll of this task that is in progress on the calling thread, for an observer
    /// that cannot keep the frame.
    pub fn resume(task: u64) -> Self {
        Self { task }
    }

    /// Passes the waits that were recorded since [`begin`](Self::begin) to `read`, in order.
    /// `read` must not poll futures.
    pub fn finish<R>(self, read: impl FnOnce(&[Wait]) -> R) -> R {
        let mut read = Some(read);
        let result = with(|stack| {
            // Frames above this one were not finished: an observer has panicked.
            let index = stack
                .polls
                .iter()
                .rposition(|poll| poll.task == self.task)?;
            stack.polls.truncate(index + 1);
            let poll = stack.polls.last_mut()?;
            let first = poll.first.min(stack.waits.len());
            let result = read.take().map(|read| read(&stack.waits[first..]));
            poll.observers -= 1;
            if poll.observers == 0 {
                stack.polls.pop();
                stack.waits.truncate(first);
            }
            result
        });
        match (result.flatten(), read) {
            (Some(result), _) => result,
            (None, Some(read)) => read(&[]),
            (None, None) => unreachable!("a read gives a result"),
        }
    }
}

/// Returns the task whose poll is in progress on the calling thread, if it was
/// [begun](PollFrame::begin).
pub fn current_task() -> Option<u64> {
    with(|stack| stack.polls.last().map(|poll| poll.task)).flatten()
}

/// Returns a number for the future of a `block_on` on the calling thread, in place of a task's id.
/// No task and no other thread has it.
pub fn root_task() -> u64 {
    let root = ROOT.try_with(|root| {
        if root.get() == 0 {
            root.set(FIRST_ROOT + ROOTS.take(1));
        }
        root.get()
    });
    root.unwrap_or(FIRST_ROOT)
}

/// The number that identifies a [`root_task`], from 1 on; `None` for the id of a task.
pub fn root_number(id: u64) -> Option<u64> {
    id.checked_sub(FIRST_ROOT)?.checked_add(1)
}

/// Returns the number of recorded waits of all polls that are in progress on the thread.
pub(crate) fn count() -> usize {
    with(|stack| stack.waits.len()).unwrap_or(0)
}

/// Adds a wait to the current poll. `wait` gets whether `cx` has the task's own waker.
pub(crate) fn note(cx: &Context<'_>, wait: impl FnOnce(bool) -> Wait) {
    with(|stack| stack.push(cx, |is_direct| Some(wait(is_direct))));
}

/// Drops all waits from index `before` on, and adds another. `wait` gets the resource of the first
/// wait that is dropped, and the number of the current poll, which is returned too.
pub(crate) fn replace(
    cx: &Context<'_>,
    before: usize,
    wait: impl FnOnce(Option<Resource>, bool, u64) -> Option<Wait>,
) -> u64 {
    let number = with(|stack| {
        let resource = stack.waits.get(before).map(Wait::resource);
        stack.waits.truncate(before);
        let number = stack.polls.last().map(|poll| poll.number);
        stack.push(cx, |is_direct| {
            wait(resource, is_direct, number.unwrap_or(0))
        });
        number
    });
    number.flatten().unwrap_or(0)
}

/// Drops the last wait of the current poll that `is_it` finds, whose future is dropped. If `number`
/// is given, the current poll must have this number.
pub(crate) fn withdraw(number: Option<u64>, is_it: impl Fn(&Wait) -> bool) {
    with(|stack| {
        let poll = stack.polls.last()?;
        if number.is_some_and(|number| number != poll.number) {
            return None;
        }
        let first = poll.first.min(stack.waits.len());
        let index = stack.waits[first..].iter().rposition(is_it)?;
        stack.waits.remove(first + index);
        Some(())
    });
}

impl Stack {
    fn push(&mut self, cx: &Context<'_>, wait: impl FnOnce(bool) -> Option<Wait>) {
        let Some(poll) = self.polls.last() else {
            return;
        };
        if self.waits.len() - poll.first.min(self.waits.len()) >= MAX_WAITS {
            return;
        }
        let waker = cx.waker().data().addr();
        let is_direct = poll.waker.is_none_or(|own| own == waker);
        self.waits.extend(wait(is_direct));
    }
}

/// Calls the function with the thread's stack, unless it is in use or dropped.
fn with<R>(call: impl FnOnce(&mut Stack) -> R) -> Option<R> {
    let result = STACK.try_with(|stack| {
        stack
            .try_borrow_mut()
            .ok()
            .map(|mut stack| call(&mut stack))
    });
    result.ok().flatten()
}
