//! A set of tasks, joined in the order in which they end.

mod builder;

use std::fmt;
use std::future::Future;
use std::task::{Context, Poll};

pub use self::builder::Builder;
use crate::runtime::Handle;
use crate::task::{AbortHandle, Id, JoinError, JoinHandle, LocalSet};

/// Tasks of one output type that are joined in the order in which they end.
///
/// Dropping the set aborts the tasks in it.
///
/// Each task is looked at once after it was spawned and once when it has
/// ended, however many others there are.
///
/// ```
/// use raddle::task::JoinSet;
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut set = JoinSet::new();
/// for i in 0..10 {
///     set.spawn(async move { i });
/// }
/// let mut sum = 0;
/// while let Some(output) = set.join_next().await {
///     sum += output.unwrap();
/// }
/// assert_eq!(sum, 45);
/// # }
/// ```
pub struct JoinSet<T>(raddle_task::JoinSet<T>);

impl<T> JoinSet<T> {
    /// Makes an empty set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { 42 });
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self(raddle_task::JoinSet::new())
    }

    /// How many tasks are in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(async {});
    /// assert_eq!(set.len(), 1);
    /// # }
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no task is in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let set = JoinSet::<u32>::new();
    /// assert!(set.is_empty());
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task on the current runtime and puts it into the set.
    ///
    /// # Panics
    ///
    /// If the thread is in no runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { 42 });
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(crate::task::spawn(task))
    }

    /// Spawns a task on the runtime of `handle` and puts it into the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn_on(async { 42 }, &Handle::current());
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Spawns a task on the current [`LocalSet`], as
    /// [`spawn_local`](crate::task::spawn_local) does, and puts it into the
    /// set.
    ///
    /// # Panics
    ///
    /// If no local set is current.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let local = LocalSet::new();
    /// local.run_until(async {
    ///     let mut set = JoinSet::new();
    ///     let text = Rc::new("not Send");
    ///     set.spawn_local(async move { text.len() });
    ///     assert_eq!(set.join_next().await.unwrap().unwrap(), 8);
    /// }).await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(crate::task::spawn_local(task))
    }

    /// Spawns a task on `local_set` and puts it into the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{JoinSet, LocalSet};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let local = LocalSet::new();
    /// let mut set = JoinSet::new();
    /// set.spawn_local_on(async { 42 }, &local);
    /// assert_eq!(local.run_until(set.join_next()).await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// Runs a function that may block, as
    /// [`spawn_blocking`](crate::task::spawn_blocking) does, and puts the task
    /// into the set.
    ///
    /// # Panics
    ///
    /// If the thread is in no runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn_blocking(|| 42);
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(crate::task::spawn_blocking(f))
    }

    /// Runs a function that may block on the runtime of `handle`, and puts the
    /// task into the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn_blocking_on(|| 42, &Handle::current());
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }

    /// Spawns a task that has a name, as [`task::Builder`](crate::task::Builder)
    /// does, and puts it into the set.
    ///
    /// ```
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut set = raddle::task::JoinSet::new();
    /// set.build_task().name("answer").spawn(async { 42 })?;
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder::new(self)
    }

    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        self.0.insert(handle)
    }

    /// Waits for the next task to end, takes it out of the set and gives its
    /// output. `None` if the set is empty.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is taken out only when its output is given.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// for number in 0..3 {
    ///     set.spawn(async move { number });
    /// }
    /// // In the order in which the tasks end.
    /// while let Some(result) = set.join_next().await {
    ///     println!("{}", result?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.0.join_next().await
    }

    /// As [`join_next`](Self::join_next), with the id of the task. An error
    /// has it too: [`JoinError::id`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is taken out only when its output is given.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// let id = set.spawn(async { 42 }).id();
    /// let (ended, output) = set.join_next_with_id().await.unwrap()?;
    /// assert_eq!((ended, output), (id, 42));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.0.join_next_with_id().await
    }

    /// Takes a task that has ended out of the set and gives its output. `None`
    /// if there is none, or the set is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// // No task has ended.
    /// assert!(set.try_join_next().is_none());
    /// # }
    /// ```
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.0.try_join_next()
    }

    /// As [`try_join_next`](Self::try_join_next), with the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// assert!(set.try_join_next_with_id().is_none());
    /// # }
    /// ```
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.0.try_join_next_with_id()
    }

    /// Polls for the next task to end and takes it out of the set.
    ///
    /// `Ready(None)` if the set is empty. If `Pending`, the waker of the last
    /// call is woken when a task ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    /// use std::future::poll_fn;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { 42 });
    /// let result = poll_fn(|cx| set.poll_join_next(cx)).await;
    /// assert_eq!(result.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.0.poll_join_next(cx)
    }

    /// As [`poll_join_next`](Self::poll_join_next), with the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    /// use std::future::poll_fn;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { 42 });
    /// let (_, output) = poll_fn(|cx| set.poll_join_next_with_id(cx)).await.unwrap()?;
    /// assert_eq!(output, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.0.poll_join_next_with_id(cx)
    }

    /// Waits for all tasks and gives their outputs in the order in which they
    /// ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is dropping the set: what has not ended is aborted.
    ///
    /// # Panics
    ///
    /// If a task panicked, with its payload, or was aborted. The others are
    /// aborted then.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let set: JoinSet<u32> = [1, 2, 3].map(|number| async move { number }).into_iter().collect();
    /// let mut numbers = set.join_all().await;
    /// numbers.sort();
    /// assert_eq!(numbers, [1, 2, 3]);
    /// # }
    /// ```
    pub async fn join_all(self) -> Vec<T> {
        self.0.join_all().await
    }

    /// Aborts all tasks and waits for them to be gone; the set is empty then.
    /// Outputs and panics are dropped.
    ///
    /// # Cancel safety
    ///
    /// Once polled, all tasks are aborted. Those that are not gone when the
    /// future is dropped stay in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// // Aborts the tasks, and waits until their futures are dropped.
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # }
    /// ```
    pub async fn shutdown(&mut self) {
        self.0.shutdown().await;
    }

    /// Aborts all tasks. They stay in the set until they are joined.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.abort_all();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn abort_all(&mut self) {
        self.0.abort_all();
    }

    /// Takes all tasks out of the set without aborting them: they run on.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.spawn(async { println!("runs on") });
    /// set.detach_all();
    /// assert!(set.is_empty());
    /// # }
    /// ```
    pub fn detach_all(&mut self) {
        self.0.detach_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Spawns each future on the current runtime.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

/// Spawns each future on the current runtime.
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
