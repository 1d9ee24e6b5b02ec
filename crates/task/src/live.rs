//! The tasks that one thread has adopted, so that it can abort all of them.

mod page;
mod pages;
mod word;

use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;

use raddle_primitives::Numbers;

use crate::cell::Header;
use crate::current;
use crate::id::Id;
use crate::runnable::Runnable;
use crate::state::Wake;
use crate::waker;
pub(crate) use page::SlotRef;
use pages::Pages;

/// Gives each list a unique number.
static LISTS: Numbers = Numbers::new();

/// Names a list, as no other of the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListId(u64);

impl ListId {
    fn next() -> Self {
        // A process does not make 2^64 lists.
        Self(LISTS.take(1))
    }
}

/// A list of tasks that have not completed, owned by one thread at a time.
///
/// Adding and removing a task takes only plain stores. A task that completes on another thread
/// leaves the list by itself, and its memory is freed at once, whatever the list's thread does; the
/// list [reclaims](Self::reclaim) its slot of eleven bytes later.
///
/// ```
/// use std::future;
///
/// use raddle_task::{LiveList, Runnable};
///
/// let live = LiveList::new();
/// let (task, handle) = raddle_task::spawn(future::pending::<()>(), drop::<Runnable>);
/// live.adopt(&task);
/// drop(task.run_in(&live));
/// assert_eq!(live.len(), 1);
///
/// // The scheduler shuts down. The task is in no queue, so only the list can find it.
/// live.abort_all(|task| drop(task.run_in(&live)));
/// assert!(live.is_empty());
/// assert!(raddle_testing::ready(handle).unwrap_err().is_cancelled());
/// ```
pub struct LiveList {
    id: ListId,
    pages: Pages,
    /// The task that ran last in this list.
    last_run: Cell<Option<Id>>,
}

// SAFETY: the list may move to another thread as a whole. It is not `Sync`, so one thread at a time
// accesses its pages. Other threads only read which list a page belongs to and change the page's
// atomic word, while a task that they run is in the page.
unsafe impl Send for LiveList {}

impl LiveList {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self {
            id: ListId::next(),
            pages: Pages::new(),
            last_run: Cell::new(None),
        }
    }

    /// Adds a task to the list, unless it is already in a list. This is not needed for a task that
    /// is [run in](Runnable::run_in) the list, which is added when it first returns `Pending`.
    pub fn adopt(&self, task: &Runnable) {
        let header = task.header();
        // SAFETY: `task` is the runnable.
        if let ListMembership::Unlisted = unsafe { ListMembership::of(header, Some(self)) } {
            // SAFETY: as above, and the task is in no list.
            unsafe { self.admit(header) };
        }
    }

    /// Adopts a task that is in no list.
    ///
    /// # Safety
    ///
    /// The caller holds the task's runnable.
    #[inline]
    pub(crate) unsafe fn admit(&self, header: NonNull<Header>) {
        let taken = self.pages.put(self.id, header);
        // SAFETY: the runnable keeps the cell alive.
        unsafe { header.as_ref() }
            .slot
            // SAFETY: only the holder of the runnable accesses the slot of a task in no list.
            .with_mut(|slot| unsafe { *slot = Some(taken) });
    }

    /// Returns whether a task is in this list.
    #[inline]
    pub(crate) fn holds(&self, task: &Runnable) -> bool {
        // SAFETY: `task` is the runnable.
        let slot = unsafe { slot_of(task.header()) };
        // SAFETY: the task has not completed.
        slot.is_some_and(|slot| unsafe { slot.list() } == self.id)
    }

    /// Records that a task is about to run in this list.
    #[inline]
    pub(crate) fn begin_run(&self, task: Id) {
        self.last_run.set(Some(task));
    }

    /// Prepares the list for its move to another thread, while the calling thread continues a task
    /// that it runs [in](Runnable::run_in) the list. The task is adopted if necessary, and does not
    /// access the list any more: in this run or a later one it completes like a task of another
    /// thread's list, with [`CompleteElsewhere`](crate::Outcome::CompleteElsewhere).
    ///
    /// Returns false and changes nothing unless the innermost task that runs on this thread is the
    /// one that was run in the list last, and has not completed.
    ///
    /// The reference that [`run_in`](Runnable::run_in) was called with must stay valid until that
    /// call returns, even though another thread uses the list. No outer run in the list may be in
    /// progress on the calling thread: it would still remove its own task from the list.
    ///
    /// ```
    /// use raddle_task::{LiveList, Outcome, Runnable};
    ///
    /// let live = LiveList::new();
    /// // The task is about to block its thread, so the list moves to another one.
    /// let blocks = async { assert!(live.prepare_handoff()) };
    /// // SAFETY: the task completes on this thread, while the list exists.
    /// let (task, _handle) =
    ///     unsafe { raddle_task::spawn_unchecked(blocks, drop::<Runnable>) };
    /// assert!(matches!(task.run_in(&live), Outcome::CompleteElsewhere));
    /// ```
    #[must_use = "if it is false, the list must stay on this thread"]
    pub fn prepare_handoff(&self) -> bool {
        let Some(header) = current::task() else {
            return false;
        };
        // SAFETY: the function that made the task the running one of this thread holds a reference
        // to it until this code has returned (`current::try_id`).
        let task = unsafe { header.as_ref() };
        if self.last_run.get() != Some(task.id) || task.state.load().is_complete() {
            return false;
        }
        // SAFETY: this thread runs the task.
        if let ListMembership::Unlisted = unsafe { ListMembership::of(header, Some(self)) } {
            // SAFETY: as above, and the task is in no list.
            unsafe { self.admit(header) };
        }
        task.slot.with_mut(|slot| {
            // SAFETY: this thread runs the task, which is not complete, so it holds the runnable,
            // and no other thread accesses the slot.
            let slot = unsafe { &mut *slot };
            // SAFETY: as above, so it is in its slot.
            *slot = slot.map(|slot| match unsafe { slot.list() } == self.id {
                true => slot.moved(),
                false => slot,
            });
        });
        true
    }

    /// Returns the number of tasks in the list, by counting them.
    pub fn len(&self) -> usize {
        let lives = self.pages.iter().map(|page| page.live().count_ones());
        lives.sum::<u32>() as usize
    }

    /// Returns whether the list holds no task.
    pub fn is_empty(&self) -> bool {
        self.pages.iter().all(|page| page.live() == 0)
    }

    /// Reclaims slots whose tasks have completed on other threads, if a search of a few pages finds
    /// any. The list does this by itself before it grows; call it occasionally, so that the list
    /// also shrinks.
    pub fn reclaim(&self) {
        self.pages.reclaim();
    }

    /// Aborts every task in the list. Passes idle tasks to `enqueue`: running them drops their
    /// futures. The other tasks are queued or running, and are cancelled when they are run next.
    pub fn abort_all(&self, enqueue: impl FnMut(Runnable)) {
        // Chain them first: `enqueue` may change the list.
        let mut due = Chain(None);
        // These tasks completed meanwhile. Freeing them may run code that changes the list.
        let mut completed = CompletedTasks(None);
        for page in self.pages.iter() {
            let held = page.word.transition_to_held(page.occupied.get());
            for header in page.tasks(held) {
                // SAFETY: the task is alive: the slot is held.
                if unsafe { header.as_ref() }.state.abort() == Wake::Enqueue {
                    // SAFETY: the transition made the runnable.
                    due.push(unsafe { Runnable::from_header(header) });
                }
            }
            let left_meanwhile = page.word.transition_to_not_held(held);
            for header in page.tasks(left_meanwhile) {
                // SAFETY: the transition has left the liveness reference to this thread.
                unsafe { completed.push(header) };
            }
        }
        drop(completed);
        due.for_each(enqueue);
    }
}

impl Default for LiveList {
    fn default() -> Self {
        Self::new()
    }
}

/// A task that has not completed is then in no list, and is not aborted. If a queue or a waker
/// still refers to it, it completes like a task of another thread's list; otherwise it is leaked.
impl Drop for LiveList {
    fn drop(&mut self) {
        self.pages.abandon();
    }
}

impl fmt::Debug for LiveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveList")
            .field("len", &self.len())
            .finish()
    }
}

/// Completed tasks whose liveness references belong to this thread, linked like runnables. Dropping
/// the chain gives up the references.
struct CompletedTasks(Option<NonNull<Header>>);

impl CompletedTasks {
    /// # Safety
    ///
    /// The task is complete, and its liveness reference is the caller's to give.
    unsafe fn push(&mut self, header: NonNull<Header>) {
        // SAFETY: the caller passes the reference.
        unsafe { header.as_ref() }
            .queue_link
            // SAFETY: a completed task is in no queue, and its reference is the caller's, so no
            // other thread uses the link.
            .with_mut(|link| unsafe { *link = self.0.map(NonNull::cast) });
        self.0 = Some(header);
    }
}

impl Drop for CompletedTasks {
    fn drop(&mut self) {
        while let Some(header) = self.0 {
            // SAFETY: the chain owns the reference.
            self.0 = unsafe { header.as_ref() }
                .queue_link
                // SAFETY: as in `push`.
                .with(|link| unsafe { *link })
                .map(NonNull::cast);
            // SAFETY: the reference is given up here.
            unsafe { waker::release(header) };
        }
    }
}

/// Runnables, linked by their own fields. Dropping it cancels them.
struct Chain(Option<NonNull<()>>);

impl Chain {
    fn push(&mut self, task: Runnable) {
        let task = task.into_raw();
        // SAFETY: the runnable was given up, so the chain owns it.
        unsafe { Runnable::queue_link(task) }
            // SAFETY: the link is used by the holder of the runnable only, which the chain is.
            .with_mut(|link| unsafe { *link = self.0 });
        self.0 = Some(task);
    }
}

impl Iterator for Chain {
    type Item = Runnable;

    fn next(&mut self) -> Option<Runnable> {
        let task = self.0?;
        // SAFETY: the chain holds the runnable.
        self.0 = unsafe { Runnable::queue_link(task) }
            // SAFETY: the link is used by the holder of the runnable only, which the chain is.
            .with(|link| unsafe { *link });
        // SAFETY: `push` gave it up, and it is taken back only here.
        Some(unsafe { Runnable::from_raw(task) })
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// The slot of a task that is in a list.
///
/// # Safety
///
/// The caller holds the task's runnable.
#[inline]
unsafe fn slot_of(header: NonNull<Header>) -> Option<SlotRef> {
    // SAFETY: the caller's runnable keeps the cell alive.
    unsafe { header.as_ref() }
        .slot
        // SAFETY: the caller holds the runnable, and only the holder accesses the slot.
        .with(|slot| unsafe { *slot })
}

/// The live list of a task, as seen by the thread that runs it.
#[must_use]
#[derive(Clone, Copy)]
pub(crate) enum ListMembership<'a> {
    /// In no list.
    Unlisted,
    /// In the list of this thread.
    Here(&'a LiveList, SlotRef),
    /// In the list of another thread, which may abort it until it has left the slot.
    Elsewhere(SlotRef),
}

impl<'a> ListMembership<'a> {
    /// # Safety
    ///
    /// The caller holds the task's runnable.
    #[inline]
    pub(crate) unsafe fn of(header: NonNull<Header>, live: Option<&'a LiveList>) -> Self {
        // SAFETY: the caller upholds the contract.
        let slot = unsafe { slot_of(header) };
        match (slot, live) {
            (None, _) => Self::Unlisted,
            // SAFETY: a task that has a runnable has not completed.
            (Some(slot), Some(live)) if !slot.is_moved() && unsafe { slot.list() } == live.id => {
                Self::Here(live, slot)
            }
            (Some(slot), _) => Self::Elsewhere(slot),
        }
    }

    /// Returns whether the task is in any list.
    ///
    /// # Safety
    ///
    /// The contract is that of [`of`](Self::of).
    #[inline]
    pub(crate) unsafe fn is_listed(header: NonNull<Header>) -> bool {
        // SAFETY: the caller upholds the contract.
        unsafe { slot_of(header) }.is_some()
    }

    /// Returns whether the thread of a list may abort the task while it runs.
    #[inline]
    pub(crate) fn is_elsewhere(self) -> bool {
        matches!(self, Self::Elsewhere(_))
    }

    /// Removes the task from this thread's list.
    #[inline]
    pub(crate) fn take_out(self) {
        if let Self::Here(live, slot) = self {
            live.pages.take_back(slot);
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
