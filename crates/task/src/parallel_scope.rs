//! A scope whose tasks borrow and run on the workers of a runtime, while a thread blocks for them.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::{contain, thread};

use crate::scope::{Member, channel};
use crate::{ScopedJoinHandle, Spawn, SpawnMeta};

/// Runs `body` and the tasks that it spawns into its [`ParallelScope`], and returns when all of
/// them have completed. Runtimes offer this as a method; the facade's are `Runtime::scope` and
/// `Handle::scope`.
///
/// `block_on` runs a future to completion on this thread, as the runtime does. If it does not, by
/// a panic or an early return, the thread is blocked here until the tasks are gone.
///
/// # Panics
///
/// Panics if the body or a task does, with the payload of the first task that did, after all tasks
/// have completed. Panics if the runtime has dropped a task, because it has shut down.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::Handle;
///
/// # fn main() {
/// let words = ["some", "words"].map(String::from);
/// let block_on = |future: std::pin::Pin<&mut dyn Future<Output = ()>>| raddle::run(future);
/// let length = raddle_task::parallel_scope(&Handle::current(), block_on, async |scope| {
///     let tasks = words.each_ref().map(|word| scope.spawn(async move { word.len() }));
///     let mut sum = 0;
///     for task in tasks {
///         sum += task.await;
///     }
///     sum
/// });
/// assert_eq!(length, 9);
/// # }
/// ```
///
/// The tasks cannot borrow what belongs to the body, since the body may end first:
///
/// ```compile_fail,E0373
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # use raddle::runtime::Handle;
/// # fn main() {
/// # let block_on = |future: std::pin::Pin<&mut dyn Future<Output = ()>>| raddle::run(future);
/// raddle_task::parallel_scope(&Handle::current(), block_on, async |scope| {
///     let local = String::from("local");
///     scope.spawn(async { println!("{local}") });
/// });
/// # }
/// ```
#[track_caller]
pub fn parallel_scope<'env, R, F, T>(
    runtime: &'env R,
    block_on: impl for<'a> FnOnce(Pin<&'a mut (dyn Future<Output = ()> + 'a)>),
    body: F,
) -> T
where
    R: Spawn,
    F: for<'scope> AsyncFnOnce(&'scope ParallelScope<'scope, 'env, R>) -> T,
{
    let tasks = Arc::new(Tasks::new());
    let scope = ParallelScope {
        runtime,
        tasks: tasks.clone(),
        scope: PhantomData,
        env: PhantomData,
    };
    let mut output = None;
    {
        // Dropped before the scope and all that the tasks borrow, also if `block_on` panics.
        let _wait = WaitOnDrop(&tasks);
        block_on(pin!(async {
            let result = contained(body(&scope)).await;
            poll_fn(|cx| tasks.poll_all_gone(cx)).await;
            output = Some(result);
        }));
    }
    let (panic, was_cancelled) = {
        let mut state = tasks.state.lock();
        (state.panic.take(), state.was_cancelled)
    };
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
    match output {
        Some(Ok(output)) => {
            assert!(
                !was_cancelled,
                "a task of the scope was cancelled, since its runtime has shut down; keep the \
                 runtime until the scope has returned"
            );
            output
        }
        Some(Err(payload)) => resume_unwind(payload),
        None => panic!("the body of the scope was not run to completion"),
    }
}

/// Spawns tasks that borrow onto the workers of a runtime; see [`parallel_scope`].
///
/// `'scope` is the time for which the tasks may run, and `'env` that of what they may borrow from
/// outside, as in [`std::thread::Scope`].
pub struct ParallelScope<'scope, 'env: 'scope, R> {
    runtime: &'env R,
    tasks: Arc<Tasks>,
    /// Neither lifetime may be shortened or extended, as in std.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope, R: Spawn> ParallelScope<'scope, '_, R> {
    /// Spawns a task on the runtime, which may borrow what lives longer than the scope, and the
    /// scope itself. It runs, whether or not the handle is awaited.
    ///
    /// # Panics
    ///
    /// Awaiting the handle panics if the task has panicked, or was dropped by a shutdown.
    #[track_caller]
    pub fn spawn<F>(&'scope self, future: F) -> ScopedJoinHandle<F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let (sender, handle) = channel();
        let future: Borrowing<'scope> = Box::pin(Member::new(future, sender));
        // SAFETY: only the lifetime changes. The future, which is the only value in the task that
        // borrows, is dropped before the task's `Running`: it stands before it in `ScopedTask`, and
        // nothing takes it out. `parallel_scope` does not return or unwind, and ends no borrow of
        // `'scope`, before as many `Running` are dropped as were made. If the task is leaked, it
        // never returns.
        let future =
            unsafe { std::mem::transmute::<Borrowing<'scope>, Borrowing<'static>>(future) };
        let task = ScopedTask {
            future: Some(future),
            running: Running::new(&self.tasks),
        };
        drop(self.runtime.spawn_on(task, SpawnMeta::of::<F>()));
        handle
    }
}

impl<R> fmt::Debug for ParallelScope<'_, '_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParallelScope")
            .field("tasks", &self.tasks.state.lock().running)
            .finish()
    }
}

type Borrowing<'scope> = Pin<Box<dyn Future<Output = ()> + Send + 'scope>>;

/// The tasks of a scope.
struct Tasks {
    state: Mutex<State>,
}

struct State {
    /// The number of tasks whose future has not been dropped.
    running: usize,
    /// Waits for the number to be zero.
    waiter: Option<Waker>,
    /// The payload of the first task that has panicked.
    panic: Option<Box<dyn Any + Send>>,
    /// Whether a task was dropped before it completed.
    was_cancelled: bool,
}

impl Tasks {
    fn new() -> Self {
        let state = State {
            running: 0,
            waiter: None,
            panic: None,
            was_cancelled: false,
        };
        Self {
            state: Mutex::ranked(Rank::leaf("tasks of a parallel scope"), state),
        }
    }

    /// Waits until the futures of all tasks are dropped.
    fn poll_all_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Wakers are user code: they are cloned and dropped without the lock.
        let waker = cx.waker().clone();
        let mut state = self.state.lock();
        if state.running == 0 {
            return Poll::Ready(());
        }
        let former = state.waiter.replace(waker);
        drop(state);
        contain(|| drop(former));
        Poll::Pending
    }
}

/// Blocks the thread until all tasks are gone.
struct WaitOnDrop<'a>(&'a Tasks);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        // A panic may not leave this function while tasks borrow from the callers.
        let on_panic = AbortOnDrop;
        thread::block_on(|cx| self.0.poll_all_gone(cx));
        std::mem::forget(on_panic);
    }
}

struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Counts a task as running until it is dropped.
struct Running {
    tasks: Arc<Tasks>,
    is_completed: bool,
}

impl Running {
    fn new(tasks: &Arc<Tasks>) -> Self {
        tasks.state.lock().running += 1;
        Self {
            tasks: tasks.clone(),
            is_completed: false,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.tasks.state.lock();
        state.was_cancelled |= !self.is_completed;
        state.running -= 1;
        let waiter = match state.running {
            0 => state.waiter.take(),
            _ => None,
        };
        drop(state);
        if let Some(waiter) = waiter {
            contain(|| waiter.wake());
        }
    }
}

/// A task of a scope. The fields are dropped in this order.
struct ScopedTask {
    /// `None` once it has completed or panicked.
    future: Option<Borrowing<'static>>,
    running: Running,
}

impl Future for ScopedTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let task = &mut *self;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(future) = &mut task.future {
                std::task::ready!(future.as_mut().poll(cx));
                task.future = None;
            }
            Poll::Ready(())
        }));
        match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(())) => {}
            Err(payload) => {
                contain(|| task.future = None);
                let mut state = task.running.tasks.state.lock();
                let later = match state.panic {
                    None => {
                        state.panic = Some(payload);
                        None
                    }
                    Some(_) => Some(payload),
                };
                drop(state);
                contain(|| drop(later));
            }
        }
        task.running.is_completed = true;
        Poll::Ready(())
    }
}

/// Runs a future and returns its panic.
async fn contained<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        },
    )
    .await
}
