//! A set of tasks, joined in the order of their completion.

mod builder;

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::panic;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use raddle_leaf::misuse::{Misuse, at_caller};
use raddle_leaf::wait::{Resource, SetMember};
use slab::Slab;

pub use self::builder::JoinSetBuilder;
use crate::{AbortHandle, Id, JoinError, JoinHandle, ReadyList, Spawn, SpawnMeta, box_if_large};

/// The number of pending members, such as new ones, that one poll of the set polls before it
/// yields.
const MAX_MEMBERS_POLLED: usize = 128;

/// The number of members for which an empty set keeps memory.
const MAX_EMPTY_CAPACITY: usize = 1024;

/// A set of tasks with the same output type, which are joined in the order of their completion.
///
/// Dropping the set aborts the tasks in it.
///
/// The set polls the handle of each task once after the spawn and once after its completion,
/// however many other tasks there are.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::JoinSet;
///
/// # fn main() { raddle::run(async {
/// let mut set = JoinSet::new();
/// for i in 0..10 {
///     set.spawn(async move { i });
/// }
/// let mut sum = 0;
/// while let Some(output) = set.join_next().await {
///     sum += output.unwrap();
/// }
/// assert_eq!(sum, 45);
/// # }) }
/// ```
pub struct JoinSet<T, R> {
    members: Slab<Member<T>>,
    /// The keys of the members to poll: members that were just spawned, or have completed.
    ready: Arc<ReadyList>,
    runtime: PhantomData<fn(R)>,
}

struct Member<T> {
    handle: JoinHandle<T>,
    /// Adds the member to the list of members to poll.
    waker: Waker,
    _recorded: SetMember,
}

impl<T, R> JoinSet<T, R> {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self {
            members: Slab::new(),
            ready: Arc::default(),
            runtime: PhantomData,
        }
    }

    /// Returns the number of tasks in the set.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether no task is in the set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl<T: 'static, R> JoinSet<T, R> {
    /// Adds a task that was spawned elsewhere to the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.insert(raddle::spawn(async { 42 }));
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    /// # }) }
    /// ```
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let entry = self.members.vacant_entry();
        let key = entry.key();
        let waker = self.ready.waker(key);
        let task = NonZeroU64::from(handle.id()).get();
        let recorded = SetMember::new(Arc::as_ptr(&self.ready).addr(), task);
        entry.insert(Member {
            handle,
            waker,
            _recorded: recorded,
        });
        self.ready.push(key);
        abort
    }

    /// Waits until the next task completes, removes it from the set and returns its output. Returns
    /// `None` if the set is empty.
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is removed only when its output is returned.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        // Not `Unpin`, as in Tokio.
        let next = async move { poll_fn(|cx| self.poll_join_next(cx)).await };
        raddle_leaf::wait::located("JoinSet::join_next", Resource::Unknown, next)
    }

    /// Like [`join_next`](Self::join_next), but also returns the id of the task. An error has it
    /// too: [`JoinError::id`].
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is removed only when its output is returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// let id = set.spawn(async { 42 }).id();
    /// let (ended, output) = set.join_next_with_id().await.unwrap()?;
    /// assert_eq!((ended, output), (id, 42));
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn join_next_with_id(
        &mut self,
    ) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        let next = async move { poll_fn(|cx| self.poll_join_next_with_id(cx)).await };
        raddle_leaf::wait::located("JoinSet::join_next_with_id", Resource::Unknown, next)
    }

    /// Removes a completed task from the set and returns its output. Returns `None` if no task has
    /// completed, or the set is empty.
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { 42 });
    /// // Between other work, takes the outputs that are there.
    /// while let Some(output) = set.try_join_next() {
    ///     println!("{}", output.unwrap());
    /// }
    /// # }) }
    /// ```
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// Like [`try_join_next`](Self::try_join_next), but also returns the id of the task.
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        for _ in 0..self.ready.len() {
            let key = self.ready.pop()?;
            // Even a task that has used up its budget sees completed members.
            if let Poll::Ready(output) = raddle_leaf::coop::unlimited(|| self.poll_member(key)) {
                return Some(output);
            }
        }
        None
    }

    /// Polls for the completion of the next task, and removes it from the set.
    ///
    /// Returns `Ready(None)` if the set is empty. If it returns `Pending`, the waker of the last
    /// call is woken when a task completes.
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx)
            .map(|output| output.map(without_id))
    }

    /// Like [`poll_join_next`](Self::poll_join_next), but also returns the id of the task.
    ///
    /// # Errors
    ///
    /// The result is a [`JoinError`] if the task panicked or was cancelled.
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        if self.is_empty() {
            coop.made_progress();
            return Poll::Ready(None);
        }
        for _ in 0..MAX_MEMBERS_POLLED {
            let Some(key) = self.ready.pop_or_wait(cx) else {
                let set = Resource::Set(Arc::as_ptr(&self.ready).addr());
                raddle_leaf::wait::note(cx, "JoinSet", None, set);
                return Poll::Pending;
            };
            // The unit above is that of the join, so the member takes none.
            if let Poll::Ready(output) = raddle_leaf::coop::unlimited(|| self.poll_member(key)) {
                coop.made_progress();
                return Poll::Ready(Some(output));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Polls a member, and removes it if it has completed.
    fn poll_member(&mut self, key: usize) -> Poll<Result<(Id, T), JoinError>> {
        let Some(member) = self.members.get_mut(key) else {
            return Poll::Pending;
        };
        let id = member.handle.id();
        let mut cx = Context::from_waker(&member.waker);
        let output = Pin::new(&mut member.handle).poll(&mut cx);
        if output.is_ready() {
            self.members.remove(key);
            self.release_unused();
        }
        output.map_ok(|output| (id, output))
    }

    /// Frees the memory of many former members when the set is empty.
    fn release_unused(&mut self) {
        if self.members.is_empty() && self.members.capacity() > MAX_EMPTY_CAPACITY {
            self.members = Slab::new();
            self.ready.release_unused(MAX_EMPTY_CAPACITY);
        }
    }

    /// Waits for all tasks, and returns their outputs in the order of their completion.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future drops the set, which aborts the remaining tasks and
    /// loses the outputs.
    ///
    /// # Panics
    ///
    /// Panics if a task panicked, with its payload, or if a task was aborted. The remaining tasks
    /// are aborted then.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() { raddle::run(async {
    /// let set: JoinSet<u32> = [1, 2, 3].map(|number| async move { number }).into_iter().collect();
    /// let mut numbers = set.join_all().await;
    /// numbers.sort();
    /// assert_eq!(numbers, [1, 2, 3]);
    /// # }) }
    /// ```
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> {
        let joined = async move {
            let mut outputs = Vec::with_capacity(self.len());
            while let Some(output) = self.join_next().await {
                match output {
                    Ok(output) => outputs.push(output),
                    Err(error) => match error.try_into_panic() {
                        Ok(payload) => panic::resume_unwind(payload),
                        Err(error) => {
                            return Err(Misuse::new(format!(
                                "a task of the set was aborted, so there is no output of it \
                                 ({error}); call join_next"
                            )));
                        }
                    },
                }
            }
            Ok(outputs)
        };
        at_caller(joined, |joined| joined)
    }

    /// Aborts all tasks and waits until all have completed; then the set is empty. Outputs and
    /// panics are dropped.
    ///
    /// # Cancel safety
    ///
    /// The first poll aborts all tasks. If the future is dropped, tasks that have not completed
    /// stay in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// // Aborts the tasks, and waits until their futures are dropped.
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # }) }
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Aborts all tasks. They stay in the set until they are joined.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.abort_all();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # }) }
    /// ```
    pub fn abort_all(&mut self) {
        for (_, member) in &self.members {
            member.handle.abort();
        }
    }

    /// Removes all tasks from the set without aborting them: they continue to run.
    pub fn detach_all(&mut self) {
        self.members.clear();
        self.ready.clear();
        self.release_unused();
    }
}

impl<T: 'static, R: Spawn> JoinSet<T, R> {
    /// Spawns a task on the current runtime and adds it to the set.
    ///
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let meta = SpawnMeta::of::<F>();
        self.insert(box_if_large!(task: F, Box::pin => R::spawn(task, meta)))
    }

    /// Spawns a task on the runtime of `handle` and adds it to the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::runtime::Handle;
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.spawn_on(async { 42 }, &Handle::current());
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &R) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let meta = SpawnMeta::of::<F>();
        self.insert(box_if_large!(task: F, Box::pin => handle.spawn_on(task, meta)))
    }

    /// Spawns a task on the current `LocalSet`, like `task::spawn_local`, and adds it to the set.
    ///
    /// # Panics
    ///
    /// Panics if no local set is current.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// # fn main() { raddle::run(async {
    /// let local = LocalSet::new();
    /// local.run_until(async {
    ///     let mut set = JoinSet::new();
    ///     let text = Rc::new("not Send");
    ///     set.spawn_local(async move { text.len() });
    ///     assert_eq!(set.join_next().await.unwrap().unwrap(), 8);
    /// }).await;
    /// # }) }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        self.insert(box_if_large!(task: F, Box::pin => R::spawn_local(task, meta)))
    }

    /// Spawns a task on `local_set` and adds it to the set.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &R::LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        let handle = box_if_large!(task: F, Box::pin => R::spawn_local_on(local_set, task, meta));
        self.insert(handle)
    }

    /// Runs a function that may block, like `task::spawn_blocking`, and adds the task to the set.
    ///
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::JoinSet;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut set = JoinSet::new();
    /// set.spawn_blocking(|| 42);
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let meta = SpawnMeta::of::<F>();
        self.insert(box_if_large!(f: F, Box::new => R::spawn_blocking(f, meta)))
    }

    /// Runs a function that may block on the runtime of `handle`, and adds the task to the set.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &R) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let meta = SpawnMeta::of::<F>();
        self.insert(box_if_large!(f: F, Box::new => handle.spawn_blocking_on(f, meta)))
    }

    /// Returns a builder that spawns a task with a name, like [`Builder`](crate::Builder), and adds
    /// it to the set.
    pub fn build_task(&mut self) -> JoinSetBuilder<'_, T, R> {
        JoinSetBuilder::new(self)
    }
}

fn without_id<T>(output: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    output.map(|(_, output)| output)
}

impl<T, R> Drop for JoinSet<T, R> {
    fn drop(&mut self) {
        for (_, member) in &self.members {
            member.handle.abort();
        }
    }
}

impl<T, R> Default for JoinSet<T, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, R> fmt::Debug for JoinSet<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

/// Spawns each future on the current runtime.
impl<T, F, R> FromIterator<F> for JoinSet<T, R>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
    R: Spawn,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

/// Spawns each future on the current runtime.
impl<T, F, R> Extend<F> for JoinSet<T, R>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
    R: Spawn,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
