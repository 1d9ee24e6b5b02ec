//! The executor.

use core::cell::Cell;
use core::fmt;
use core::future::Future;
use core::marker::{PhantomData, PhantomPinned};
use core::mem;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll, RawWakerVTable};

use crate::header::Header;
use crate::lists::Lists;
use crate::slot::TaskSlot;
use crate::spawner::{SpawnError, Spawner};
use crate::state::{Taken, Vacated};
use crate::storage::Storage;
use crate::waker;

/// The number of polls that [`Executor::run`] makes before it checks for events.
const POLLS: u32 = 128;

/// Runs tasks of one type of future on one thread.
///
/// An executor is pinned before it is used, and cannot leave its thread. Dropping it drops its
/// tasks.
///
/// `A` is the argument of a task, `M` the function that makes a future of it, `F` the future, and
/// `S` the [`Storage`].
///
/// A waker of a task may be cloned, kept and woken anywhere on this thread while the task exists;
/// when the task ends, none may be left.
///
/// ```
/// use std::cell::Cell;
/// use std::pin::pin;
///
/// use raddle_bare::{Array, Executor, Spawner};
///
/// let sum = Cell::new(0);
/// let add = |number: u32| {
///     let sum = &sum;
///     async move { sum.set(sum.get() + number) }
/// };
/// let spawner = Spawner::new();
/// let executor = pin!(Executor::new(&spawner, Array::<_, _, 4>::new(), add));
/// let executor = executor.as_ref();
/// for number in 1..=3 {
///     executor.spawn(number).unwrap();
/// }
/// assert_eq!((executor.len(), executor.capacity()), (3, 4));
/// while executor.step() {}
/// assert!(executor.is_empty());
/// assert_eq!(sum.get(), 6);
/// ```
pub struct Executor<'s, A, F, M, S: Storage<A, F>> {
    spawner: &'s Spawner<A>,
    make: M,
    table: &'static RawWakerVTable,
    /// Identifies the executor's thread; wakers compare it with theirs.
    thread: usize,
    attached: Cell<bool>,
    storage: S,
    _future: PhantomData<(*const (), F)>,
    _pinned: PhantomPinned,
}

/// The request of [`Executor::run`] to its park function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Park {
    /// No task is ready: wait until something wakes one.
    Wait,
    /// Tasks are ready, but events may have happened since the last check: check for them without
    /// waiting.
    CheckEvents,
}

impl<'s, A, F, M, S> Executor<'s, A, F, M, S>
where
    F: Future<Output = ()>,
    M: Fn(A) -> F,
    S: Storage<A, F>,
{
    /// Makes an executor without tasks. `make` is called when a task first runs.
    ///
    /// A waker of one of its tasks panics when it is cloned, woken or dropped on another thread.
    #[cfg(feature = "std")]
    pub fn new(spawner: &'s Spawner<A>, storage: S, make: M) -> Self {
        let thread = crate::thread::current();
        Self::with(spawner, storage, make, &waker::CHECKED, thread)
    }

    /// Like `new`, without a check of the thread, for programs on targets without thread-locals.
    ///
    /// # Safety
    ///
    /// The wakers of its tasks are cloned, woken and dropped on this thread only, and not in
    /// interrupts or signal handlers either.
    pub unsafe fn new_unchecked(spawner: &'s Spawner<A>, storage: S, make: M) -> Self {
        Self::with(spawner, storage, make, &waker::UNCHECKED, 0)
    }

    fn with(
        spawner: &'s Spawner<A>,
        storage: S,
        make: M,
        table: &'static RawWakerVTable,
        thread: usize,
    ) -> Self {
        Self {
            spawner,
            make,
            table,
            thread,
            attached: Cell::new(false),
            storage,
            _future: PhantomData,
            _pinned: PhantomPinned,
        }
    }

    /// Adds a task, as [`Spawner::spawn`] does, and lets the spawner know this executor if it does
    /// not yet.
    ///
    /// # Errors
    ///
    /// Returns the argument in the error if the storage is full.
    ///
    /// # Panics
    ///
    /// Panics if the spawner has another executor.
    #[track_caller]
    pub fn spawn(self: Pin<&Self>, argument: A) -> Result<(), SpawnError<A>> {
        if !self.attached.get() {
            self.attach();
        }
        self.spawner.spawn(argument)
    }

    #[cold]
    #[track_caller]
    fn attach(self: Pin<&Self>) {
        let lists = self.storage.lists();
        // SAFETY: the executor is pinned, so its storage does not move, and its drop detaches the
        // spawner. The memory of a leaked executor stays valid.
        unsafe { self.spawner.attach(lists) };
        lists.attach(TaskSlot::<A, F>::OFFSET);
        for slot in self.storage.slots().iter().rev() {
            slot.header().attach(NonNull::from(lists), self.thread);
            lists.push_free(slot.erased());
        }
        self.attached.set(true);
    }

    /// Polls the task that has been ready for longest. Returns false if no task is ready.
    ///
    /// # Panics
    ///
    /// Panics if the task panics, with the same payload; the task has ended then. Panics if the
    /// task ends while one of its wakers is left; the slot stays occupied until that waker is
    /// dropped. Panics if it is called inside a task of this executor.
    #[track_caller]
    pub fn step(self: Pin<&Self>) -> bool {
        let lists = self.storage.lists();
        let _running = lists.enter();
        self.next(lists)
    }

    /// Polls tasks, and calls `park` when none is ready, until there are no tasks.
    ///
    /// In `park` the program waits for events and wakes the tasks that wait for them. If tasks are
    /// always ready, it is called from time to time with [`Park::CheckEvents`].
    ///
    /// # Errors
    ///
    /// Returns the first error of `park`. The tasks are still there, and may be run again.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`step`](Self::step).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::{Cell, RefCell};
    /// use std::convert::Infallible;
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    /// use std::task::{Poll, Waker};
    ///
    /// use raddle_bare::{Array, Executor, Spawner};
    ///
    /// let (pressed, waiting) = (Cell::new(false), RefCell::new(None::<Waker>));
    /// let wait_for_button = |()| {
    ///     poll_fn(|cx| {
    ///         if pressed.get() {
    ///             return Poll::Ready(());
    ///         }
    ///         waiting.replace(Some(cx.waker().clone()));
    ///         Poll::Pending
    ///     })
    /// };
    /// let spawner = Spawner::new();
    /// let executor = pin!(Executor::new(&spawner, Array::<_, _, 1>::new(), wait_for_button));
    /// let executor = executor.as_ref();
    /// executor.spawn(()).unwrap();
    /// let Ok(()) = executor.run(|_park| {
    ///     // The program waits for an event here, and wakes the task that waits for it.
    ///     pressed.set(true);
    ///     if let Some(waker) = waiting.take() {
    ///         waker.wake();
    ///     }
    ///     Ok::<(), Infallible>(())
    /// });
    /// assert!(executor.is_empty());
    /// ```
    #[inline]
    #[track_caller]
    pub fn run<E>(self: Pin<&Self>, mut park: impl FnMut(Park) -> Result<(), E>) -> Result<(), E> {
        let lists = self.storage.lists();
        loop {
            let running = lists.enter();
            let mut polls = POLLS;
            while polls > 0 && self.next(lists) {
                polls -= 1;
            }
            drop(running);
            if polls == 0 && lists.has_ready() {
                park(Park::CheckEvents)?;
            } else if lists.tasks() == 0 {
                return Ok(());
            } else {
                park(Park::Wait)?;
            }
        }
    }

    /// Polls one task inside `Lists::enter`.
    #[inline]
    fn next(self: Pin<&Self>, lists: &Lists) -> bool {
        while let Some(erased) = lists.pop_ready() {
            // SAFETY: the lists contain only slots of the storage.
            let header = unsafe { erased.as_ref() };
            let taken = header.state.transition_to_taken();
            match taken {
                Taken::Start | Taken::Poll => {
                    self.poll(lists, erased, taken == Taken::Start);
                    return true;
                }
                Taken::Release => lists.push_free(erased),
                Taken::Nothing => {}
            }
        }
        false
    }

    #[inline]
    fn poll(self: Pin<&Self>, lists: &Lists, erased: NonNull<Header>, starts: bool) {
        // SAFETY: the slot belongs to this storage, which is pinned; no code makes a unique
        // reference to a slot before the executor is dropped.
        let slot = unsafe { TaskSlot::<A, F>::of(erased) };
        let vacate = FreeSlotOnDrop {
            lists,
            slot: erased,
        };
        if starts {
            // SAFETY: a task that has not started has an argument. No other call polls this slot,
            // because `Running` refuses nested calls.
            unsafe { slot.start(&self.make) };
            slot.header().state.transition_to_started();
        }
        // SAFETY: a task that has started has a future until it ends. No other call polls this
        // slot, as above.
        let future = unsafe { slot.future() };
        let end = DropFutureOnExit(slot);
        // SAFETY: the slot outlives the poll, as the executor does, and the table is the one that
        // the executor was made with.
        let waker = unsafe { waker::borrowed(erased, self.table) };
        match future.poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => {
                mem::forget(end);
                mem::forget(vacate);
            }
            Poll::Ready(()) => {
                drop(end);
                drop(vacate);
                let wakers = slot.header().state.wakers();
                if wakers > 0 {
                    panic_outliving_wakers(wakers);
                }
            }
        }
    }
}

/// Drops the future of a slot when its last poll returns or panics.
struct DropFutureOnExit<'a, A, F>(&'a TaskSlot<A, F>);

impl<A, F> Drop for DropFutureOnExit<'_, A, F> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the slot has a future, because a `DropFutureOnExit` is forgotten when the future
        // stays, and no other call polls this slot.
        unsafe { self.0.drop_content(true) };
    }
}

/// Frees a slot whose content was dropped, or is about to be dropped by an inner
/// `DropFutureOnExit`.
struct FreeSlotOnDrop<'a> {
    lists: &'a Lists,
    slot: NonNull<Header>,
}

impl Drop for FreeSlotOnDrop<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the slot belongs to the storage of the executor.
        let header = unsafe { self.slot.as_ref() };
        self.lists.count_end();
        if header.state.transition_to_vacated() == Vacated::Release {
            self.lists.push_free(self.slot);
        }
    }
}

#[cold]
#[inline(never)]
fn panic_outliving_wakers(wakers: usize) -> ! {
    panic!("{wakers} wakers outlive their task; drop a waker before its task ends")
}

impl<A, F, M, S: Storage<A, F>> Executor<'_, A, F, M, S> {
    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.storage.lists().tasks()
    }

    /// Returns whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the largest number of tasks at a time.
    pub fn capacity(&self) -> usize {
        self.storage.slots().len()
    }
}

impl<A, F, M, S: Storage<A, F>> Drop for Executor<'_, A, F, M, S> {
    fn drop(&mut self) {
        if self.attached.get() {
            // From here on, the spawner returns the arguments that tasks spawn while they are
            // dropped.
            self.spawner.detach();
            let slots = self.storage.slots();
            let next = Cell::new(0);
            let rest = RemainingSlots { slots, next: &next };
            rest.drop_contents();
        }
    }
}

/// The slots whose contents have not been dropped yet. A panic in one drop does not prevent the
/// others, because pinned futures must be dropped.
struct RemainingSlots<'a, A, F> {
    slots: &'a [TaskSlot<A, F>],
    next: &'a Cell<usize>,
}

impl<A, F> RemainingSlots<'_, A, F> {
    fn drop_contents(&self) {
        while let Some(slot) = self.slots.get(self.next.get()) {
            self.next.set(self.next.get() + 1);
            let state = &slot.header().state;
            if state.is_live() {
                // SAFETY: a live slot has a future or, if its task has not started, an argument.
                // The executor is being dropped, so it polls nothing, and `next` is past this slot.
                unsafe { slot.drop_content(state.is_started()) };
            }
        }
    }
}

impl<A, F> Drop for RemainingSlots<'_, A, F> {
    fn drop(&mut self) {
        self.drop_contents();
    }
}

impl<A, F, M, S: Storage<A, F>> fmt::Debug for Executor<'_, A, F, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("tasks", &self.len())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
