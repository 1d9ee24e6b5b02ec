//! A scope: tasks that borrow, and are joined before the scope ends.

mod handle;

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use pin_project_lite::pin_project;
use raddle_primitives::contain;
use raddle_primitives::sync::{Mutex, Rank};
use slab::Slab;

use self::handle::OutputSender;
pub use self::handle::ScopedJoinHandle;
pub(crate) use self::handle::channel;
use crate::ReadyList;

/// The key of the body in the list of members to poll. No task has it.
const BODY: usize = usize::MAX;

/// The number of members that one poll of the scope polls before it yields.
const MAX_MEMBERS_POLLED: usize = 128;

/// Runs `body`, which spawns tasks that may borrow from outside the scope, and ends when the body
/// and all of these tasks have completed. Returns the output of the body.
///
/// The tasks of a scope run concurrently, and all of them are part of the task that awaits the
/// scope: they do not run in parallel with each other, and one that blocks, blocks all of them. For
/// tasks on several workers there is `Runtime::scope`. Each task is polled only when it was woken,
/// so a scope may have very many. A poll of the scope polls each task at most once, and 128 tasks
/// at most; they share one budget.
///
/// **The scope owns its tasks,** as a `join!` owns its futures. This is why they may borrow: when
/// the scope is dropped, they are dropped with it, and if it is leaked, they never run again. A
/// scope of tasks that run on other workers could not be sound, since a leaked scope would join no
/// task, and its borrows would end while they run.
///
/// Tasks can spawn further tasks with a clone of the [`Scope`], and can have scopes of their own.
///
/// # Panics
///
/// If the body or a task panics, the other tasks and the body are dropped, and then the scope
/// panics with the same payload.
///
/// # Cancel safety
///
/// Dropping the future, as by a timeout around the scope, drops the body and all tasks at once.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task;
///
/// # fn main() { raddle::run(async {
/// let texts = [String::from("one"), String::from("three")];
/// let mut log = Vec::new();
/// let length = task::scope(async |scope| {
///     let first = scope.spawn(async { texts[0].len() });
///     let second = scope.spawn(async { texts[1].len() });
///     // Its handle is not awaited, but the scope waits for it.
///     scope.spawn(async { log.push("in a task") });
///     first.await + second.await
/// })
/// .await;
/// assert_eq!(length, 8);
/// // The borrows have ended.
/// assert_eq!(log, ["in a task"]);
/// # }) }
/// ```
///
/// A task that spawns others:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use raddle::task::{self, Scope};
///
/// /// Counts the leaves of a binary tree, with a task for each node.
/// fn walk<'a>(scope: Scope<'a>, depth: u32, leaves: &'a AtomicUsize) {
///     scope.clone().spawn(async move {
///         if depth == 0 {
///             leaves.fetch_add(1, Ordering::Relaxed);
///             return;
///         }
///         for _ in 0..2 {
///             walk(scope.clone(), depth - 1, leaves);
///         }
///     });
/// }
///
/// # fn main() { raddle::run(async {
/// let leaves = AtomicUsize::new(0);
/// task::scope(async |scope| walk(scope, 5, &leaves)).await;
/// assert_eq!(leaves.into_inner(), 32);
/// # }) }
/// ```
///
/// The tasks cannot borrow what belongs to the body, since the body may end first:
///
/// ```compile_fail,E0373
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() { raddle::run(async {
/// raddle::task::scope(async |scope| {
///     let local = String::from("local");
///     scope.spawn(async { println!("{local}") });
/// })
/// .await;
/// # }) }
/// ```
pub async fn scope<'env, F, B>(body: F) -> B::Output
where
    F: FnOnce(Scope<'env>) -> B,
    B: Future,
{
    let shared = Arc::new(Shared::new());
    // The tasks may own the scope, so that they would keep themselves.
    let on_panic = CloseOnDrop(&shared);
    let body = body(Scope {
        shared: shared.clone(),
    });
    std::mem::forget(on_panic);
    Running {
        body: Some(body),
        body_waker: shared.ready.waker(BODY),
        body_round: 0,
        round: 0,
        output: None,
        shared,
    }
    .await
}

/// Closes a scope whose body has panicked before its first wait.
struct CloseOnDrop<'a, 'env>(&'a Shared<'env>);

impl Drop for CloseOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Spawns tasks into a [`scope`]. A clone spawns into the same scope.
#[derive(Clone)]
pub struct Scope<'env> {
    shared: Arc<Shared<'env>>,
}

impl<'env> Scope<'env> {
    /// Spawns a task of the scope, which may borrow what lives longer than the scope. The scope
    /// polls it soon, also if the handle is dropped.
    ///
    /// If the scope has ended already, the future is dropped; awaiting the handle panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// # fn main() { raddle::run(async {
    /// let numbers = vec![1, 2, 3];
    /// let sums = raddle::task::scope(async |scope| {
    ///     let tasks: Vec<_> =
    ///         numbers.iter().map(|number| scope.spawn(async move { number * 10 })).collect();
    ///     let mut sum = 0;
    ///     for task in tasks {
    ///         sum += task.await;
    ///     }
    ///     sum
    /// });
    /// assert_eq!(sums.await, 60);
    /// # }) }
    /// ```
    pub fn spawn<F>(&self, future: F) -> ScopedJoinHandle<F::Output>
    where
        F: Future + Send + 'env,
        F::Output: Send + 'env,
    {
        let (sender, handle) = channel();
        self.shared.add(Box::pin(Member::new(future, sender)));
        handle
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("tasks", &self.shared.tasks.lock().slots.len())
            .finish()
    }
}

/// What the future of a scope and its handles share.
struct Shared<'env> {
    /// The keys of the members to poll: those that were just spawned, or woken.
    ready: Arc<ReadyList>,
    tasks: Mutex<Tasks<'env>>,
}

struct Tasks<'env> {
    slots: Slab<Slot<'env>>,
    /// Whether the scope has ended: then it takes no tasks.
    is_closed: bool,
}

type Task<'env> = Pin<Box<dyn Future<Output = ()> + Send + 'env>>;

struct Slot<'env> {
    /// `None` while the task is polled.
    task: Option<Task<'env>>,
    /// Adds the task to the list of members to poll.
    waker: Waker,
    /// The poll of the scope that has polled the task last.
    round: u64,
}

impl<'env> Shared<'env> {
    fn new() -> Self {
        let tasks = Tasks {
            slots: Slab::new(),
            is_closed: false,
        };
        Self {
            ready: Arc::default(),
            tasks: Mutex::ranked(Rank::leaf("tasks of a scope"), tasks),
        }
    }

    fn add(&self, task: Task<'env>) {
        let mut tasks = self.tasks.lock();
        if tasks.is_closed {
            // The drop of the task is user code.
            drop(tasks);
            return drop(task);
        }
        let entry = tasks.slots.vacant_entry();
        let key = entry.key();
        entry.insert(Slot {
            task: Some(task),
            waker: self.ready.waker(key),
            round: 0,
        });
        drop(tasks);
        self.ready.push(key);
    }

    /// Takes a task to poll it, unless it was polled in this round already. A key may be outdated.
    fn take(&self, key: usize, round: u64) -> Take<'env> {
        let mut tasks = self.tasks.lock();
        let Some(slot) = tasks.slots.get_mut(key) else {
            return Take::Nothing;
        };
        if slot.round == round {
            return Take::PolledBefore;
        }
        slot.round = round;
        match slot.task.take() {
            Some(task) => Take::Task(task, slot.waker.clone()),
            None => Take::Nothing,
        }
    }

    /// Polls a task.
    fn poll(&self, key: usize, mut task: Task<'env>, waker: &Waker) {
        let poll = poll_member(task.as_mut(), waker);
        let mut tasks = self.tasks.lock();
        if poll.is_pending() {
            tasks.slots[key].task = Some(task);
        } else {
            let slot = tasks.slots.remove(key);
            // The drop of the future is user code, and a waker of the task may be the last.
            drop(tasks);
            drop((slot, task));
        }
    }

    fn is_empty(&self) -> bool {
        self.tasks.lock().slots.is_empty()
    }

    /// Drops all tasks, and refuses further ones.
    fn close(&self) {
        let mut tasks = self.tasks.lock();
        tasks.is_closed = true;
        let slots = std::mem::take(&mut tasks.slots);
        drop(tasks);
        drop(slots);
        self.ready.clear();
    }
}

/// Polls a member with its own waker. The poll of the scope ends when the budget is used up.
fn poll_member<F: Future + ?Sized>(member: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    let poll = || member.poll(&mut Context::from_waker(waker));
    raddle_leaf::coop::with_waker(waker.data().addr(), poll)
}

/// A member that is to be polled.
enum Take<'env> {
    Task(Task<'env>, Waker),
    /// It has woken itself: the other tasks of the runtime come first.
    PolledBefore,
    /// The task has completed.
    Nothing,
}

pin_project! {
    /// A task of a scope, which passes its output to its handle.
    pub(crate) struct Member<F: Future> {
        #[pin]
        future: F,
        // `None` once the output was sent.
        sender: Option<OutputSender<F::Output>>,
    }
}

impl<F: Future> Member<F> {
    pub(crate) fn new(future: F, sender: OutputSender<F::Output>) -> Self {
        Self {
            future,
            sender: Some(sender),
        }
    }
}

impl<F: Future> Future for Member<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let output = ready!(this.future.poll(cx));
        if let Some(sender) = this.sender.take() {
            sender.send(output);
        }
        Poll::Ready(())
    }
}

pin_project! {
    /// The future of a scope.
    struct Running<'env, B: Future> {
        // `None` once it has completed.
        #[pin]
        body: Option<B>,
        body_waker: Waker,
        body_round: u64,
        // The number of polls of the scope.
        round: u64,
        output: Option<B::Output>,
        shared: Arc<Shared<'env>>,
    }

    impl<B: Future> PinnedDrop for Running<'_, B> {
        fn drop(this: Pin<&mut Self>) {
            this.shared.close();
        }
    }
}

impl<B: Future> Running<'_, B> {
    fn poll_members(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let mut this = self.project();
        *this.round += 1;
        if *this.round == 1 {
            this.shared.ready.push(BODY);
        }
        for _ in 0..MAX_MEMBERS_POLLED {
            if !raddle_leaf::coop::has_budget_remaining() {
                break;
            }
            let Some(key) = this.shared.ready.pop_or_wait(cx) else {
                return Poll::Pending;
            };
            if key != BODY {
                match this.shared.take(key, *this.round) {
                    Take::Task(task, waker) => this.shared.poll(key, task, &waker),
                    Take::Nothing => {}
                    Take::PolledBefore => {
                        this.shared.ready.push(key);
                        break;
                    }
                }
            } else if let Some(body) = this.body.as_mut().as_pin_mut() {
                if *this.body_round == *this.round {
                    this.shared.ready.push(key);
                    break;
                }
                *this.body_round = *this.round;
                if let Poll::Ready(output) = poll_member(body, this.body_waker) {
                    *this.output = Some(output);
                    this.body.set(None);
                }
            }
            if this.body.is_none() && this.shared.is_empty() {
                if let Some(output) = this.output.take() {
                    return Poll::Ready(output);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<B: Future> Future for Running<'_, B> {
    type Output = B::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let members = AssertUnwindSafe(|| self.as_mut().poll_members(cx));
        catch_unwind(members).unwrap_or_else(|payload| {
            // The tasks are gone before anything else sees the panic.
            contain(|| self.shared.close());
            contain(|| self.project().body.set(None));
            resume_unwind(payload)
        })
    }
}
