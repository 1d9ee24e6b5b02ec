//! The spawner, by which tasks and the code around the executor add tasks.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::header::Header;
use crate::lists::Lists;

/// Adds tasks to the [`Executor`](crate::Executor) that was made with it, once that has been pinned
/// and given its first task.
///
/// It is made before the executor so that tasks can borrow it. `A` is the argument from which a
/// task's future is made when it first runs.
///
/// The spawner's type does not name the executor, which may be leaked; tasks that are spawned
/// afterwards are then leaked too.
///
/// ```
/// use std::cell::Cell;
/// use std::pin::pin;
///
/// use raddle_bare::{Array, Executor, Spawner};
///
/// let polled = Cell::new(0);
/// let spawner = Spawner::new();
/// // Each task spawns the next one.
/// let count_down = |number: u32| {
///     let (polled, spawner) = (&polled, &spawner);
///     async move {
///         polled.set(polled.get() + 1);
///         if number > 0 {
///             spawner.spawn(number - 1).expect("there is room for two");
///         }
///     }
/// };
/// let executor = pin!(Executor::new(&spawner, Array::<_, _, 2>::new(), count_down));
/// let executor = executor.as_ref();
/// executor.spawn(3).unwrap();
/// while executor.step() {}
/// assert_eq!(polled.get(), 4);
/// ```
pub struct Spawner<A> {
    /// The lists of the attached executor, which detaches itself when it is dropped.
    lists: Cell<Option<NonNull<Lists>>>,
    /// The spawner writes arguments into slots, so it is invariant in `A`.
    _argument: PhantomData<Cell<A>>,
}

impl<A> Spawner<A> {
    /// Makes a spawner without an executor.
    pub const fn new() -> Self {
        Self {
            lists: Cell::new(None),
            _argument: PhantomData,
        }
    }

    /// Adds a task, which runs after the tasks that are ready already.
    ///
    /// No code of the task runs before this returns.
    ///
    /// # Errors
    ///
    /// Returns the argument in the error if the storage is full, or if there is no executor. A task
    /// that woke itself in its last poll keeps its slot until the next step.
    #[inline]
    pub fn spawn(&self, argument: A) -> Result<(), SpawnError<A>> {
        let Some(lists) = self.lists.get() else {
            return Err(SpawnError::new(argument, Reason::Detached));
        };
        // SAFETY: the lists are valid while the executor is attached, and this is its thread,
        // because neither is `Send`.
        let lists = unsafe { lists.as_ref() };
        let Some(slot) = lists.pop_free() else {
            return Err(SpawnError::new(argument, Reason::Full));
        };
        // SAFETY: the executor's arguments have the type `A`, and the executor has stored the
        // offset at which the slot's argument starts.
        let content = unsafe { slot.byte_add(lists.offset()).cast::<A>() };
        // SAFETY: a free slot has no content, and no other call uses it.
        unsafe { content.write(argument) };
        // SAFETY: a slot is valid while its executor is attached.
        let header: &Header = unsafe { slot.as_ref() };
        header.state.transition_to_spawned();
        lists.count_spawn();
        lists.push_ready(slot);
        Ok(())
    }

    /// # Safety
    ///
    /// The lists belong to an executor that was made with this spawner, so its arguments have this
    /// type, and that is on this thread. The executor and the lists do not move before
    /// [`detach`](Self::detach) is called.
    ///
    /// # Panics
    ///
    /// Panics if the spawner has an executor.
    #[track_caller]
    pub(crate) unsafe fn attach(&self, lists: &Lists) {
        assert!(
            self.lists.get().is_none(),
            "the spawner already has an executor; create a spawner for each executor"
        );
        self.lists.set(Some(NonNull::from(lists)));
    }

    pub(crate) fn detach(&self) {
        self.lists.set(None);
    }
}

impl<A> Default for Spawner<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> fmt::Debug for Spawner<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner")
            .field("attached", &self.lists.get().is_some())
            .finish()
    }
}

/// A task that was not spawned.
///
/// ```
/// use raddle_bare::Spawner;
///
/// let spawner = Spawner::new();
/// let error = spawner.spawn("too early").unwrap_err();
/// // Waiting for room would not help: there is no executor.
/// assert!(!error.is_full());
/// println!("{error}");
/// assert_eq!(error.into_argument(), "too early");
/// ```
pub struct SpawnError<A> {
    argument: A,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Full,
    Detached,
}

impl<A> SpawnError<A> {
    fn new(argument: A, reason: Reason) -> Self {
        Self { argument, reason }
    }

    /// Returns whether the storage has as many tasks as it can hold. Later, when one has ended,
    /// there is room.
    pub fn is_full(&self) -> bool {
        self.reason == Reason::Full
    }

    /// Returns the argument.
    pub fn into_argument(self) -> A {
        self.argument
    }
}

impl<A> fmt::Debug for SpawnError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnError")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<A> fmt::Display for SpawnError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            Reason::Full => "the executor's storage is full; wait until a task has ended",
            Reason::Detached => "the spawner has no executor; give the executor its first task",
        })
    }
}

impl<A> core::error::Error for SpawnError<A> {}
