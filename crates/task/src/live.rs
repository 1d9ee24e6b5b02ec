//! The tasks that one thread has adopted, so that it can end them all.

use std::cell::Cell;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::ptr::NonNull;

use raddle_std::sync::atomic::Ordering;

use crate::cell::Header;
use crate::completed::Completed;
use crate::current;
use crate::id::Id;
use crate::runnable::Runnable;
use crate::state::{Release, Wake};
use crate::waker;

/// How many lists were made. A counter without a bearing on any other memory,
/// so it needs no model, and std's can be a static.
static LISTS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// How many bits of a [`ListId`] are the number that its maker gave it. The
/// others but one suffice for a list each microsecond for a quarter of a year.
const OWNER_BITS: u32 = 20;
/// Set in a task's owner once the list went to another thread during a poll of
/// the task; never cleared. Never set in the list's own id.
const PARTED: u64 = 1 << 63;

/// Names a list: the number that its maker gave it, and above that one that no
/// other list of the process has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListId(NonZeroU64);

impl ListId {
    fn new(owner: NonZeroU32) -> Self {
        assert!(
            owner.get() >> OWNER_BITS == 0,
            "the number of a live list must be below 1048576"
        );
        // ORDERING: only uniqueness matters.
        let serial = LISTS.fetch_add(1, Ordering::Relaxed);
        assert!(
            serial >> (PARTED.trailing_zeros() - OWNER_BITS) == 0,
            "a process can make 8796093022208 live lists; reuse them"
        );
        Self(NonZeroU64::from(owner) | (serial << OWNER_BITS))
    }

    pub(crate) fn owner(self) -> NonZeroU32 {
        let owner = self.0.get() & ((1 << OWNER_BITS) - 1);
        NonZeroU32::new(owner as u32).expect("it was made of one")
    }

    /// The id for the owner of a task that completes as if on another thread.
    fn parted(self) -> Self {
        Self(self.0 | PARTED)
    }

    /// The id of the list itself.
    pub(crate) fn of_list(self) -> Self {
        Self(NonZeroU64::new(self.0.get() & !PARTED).expect("its owner is not zero"))
    }
}

/// A list of tasks that have not completed, owned by one thread at a time.
///
/// Linking and unlinking are plain stores. A task that completes on another
/// thread comes back as a [`Completed`], usually by way of the owner's
/// [`CompletedStack`](crate::CompletedStack).
pub struct LiveList {
    id: ListId,
    first: Cell<Option<NonNull<Header>>>,
    len: Cell<usize>,
    /// The task that was run in this list last.
    last_run: Cell<Option<Id>>,
}

// SAFETY: the list may move to another thread as a whole. It is not `Sync`, so
// that one thread at a time touches the links of its tasks (rule 5).
unsafe impl Send for LiveList {}

impl LiveList {
    /// Makes an empty list. `owner` tells the lists of one scheduler apart, and
    /// is what [`Completed::owner`] gives back.
    ///
    /// # Panics
    ///
    /// If `owner` is not below 2^20.
    pub fn new(owner: NonZeroU32) -> Self {
        Self {
            id: ListId::new(owner),
            first: Cell::new(None),
            len: Cell::new(0),
            last_run: Cell::new(None),
        }
    }

    /// Takes a task into the list, unless it is in one already. A task that is
    /// [run in](Runnable::run_in) the list need not be taken in before: it is
    /// when it is pending for the first time.
    pub fn adopt(&self, task: &Runnable) {
        let header = task.header();
        // SAFETY: `task` is the runnable.
        if let Place::Unlisted = unsafe { Place::of(header, Some(self)) } {
            // SAFETY: as above, and the task is in no list.
            unsafe { self.admit(header) };
        }
    }

    /// Takes in a task that is in no list.
    ///
    /// # Safety
    ///
    /// The caller holds the task's runnable.
    #[inline]
    pub(crate) unsafe fn admit(&self, header: NonNull<Header>) {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { header.as_ref() }
            .owner
            // SAFETY: the caller holds the runnable (rule 4).
            .with_mut(|owner| unsafe { *owner = Some(self.id) });
        self.link(header);
    }

    /// Whether a task is in this list.
    #[inline]
    pub(crate) fn holds(&self, task: &Runnable) -> bool {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { task.header().as_ref() }
            .owner
            // SAFETY: `task` is the runnable (rule 4).
            .with(|owner| unsafe { *owner }.map(ListId::of_list) == Some(self.id))
    }

    /// Notes that a task is about to be run in this list.
    #[inline]
    pub(crate) fn begin_run(&self, task: Id) {
        self.last_run.set(Some(task));
    }

    /// Says that the list is about to go to another thread, while the calling
    /// thread goes on with a task that it runs [in](Runnable::run_in) the list.
    /// The task, which is adopted if it was not yet, will not touch it: it completes as one of another thread's
    /// list, [`CompleteElsewhere`](crate::Outcome::CompleteElsewhere), now or in
    /// a later run.
    ///
    /// False, and nothing has changed, unless the innermost task that runs on
    /// this thread is the one that was run in the list last, and it has not
    /// completed.
    ///
    /// The reference that [`run_in`](Runnable::run_in) was given must stay valid
    /// until that returns, though the list be in use elsewhere.
    /// No other run in the list may be under way on the calling thread, around
    /// that of the task: it would still take its own task out of the list.
    #[must_use = "if it is false, the list must stay on this thread"]
    pub fn part_with_running(&self) -> bool {
        let Some(header) = current::task() else {
            return false;
        };
        // SAFETY: the task that runs is alive.
        let task = unsafe { header.as_ref() };
        if self.last_run.get() != Some(task.id) || task.state.load().is_complete() {
            return false;
        }
        // SAFETY: this thread runs the task.
        if let Place::Unlisted = unsafe { Place::of(header, Some(self)) } {
            // SAFETY: as above, and the task is in no list.
            unsafe { self.admit(header) };
        }
        task.owner.with_mut(|owner| {
            // SAFETY: this thread runs the task, and it is not complete (rule 4).
            let owner = unsafe { &mut *owner };
            if *owner == Some(self.id) {
                *owner = Some(self.id.parted());
            }
        });
        true
    }

    /// How many tasks are in the list.
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether the list holds no task.
    pub fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Aborts every task in the list. Those that were idle are given to
    /// `enqueue`: running them drops their futures. The others are queued or
    /// running, and are cancelled when they are run next.
    pub fn abort_all(&self, enqueue: impl FnMut(Runnable)) {
        // Chained first: `enqueue` may change the list.
        let mut due = Chain(None);
        let mut next = self.first.get();
        while let Some(header) = next {
            // SAFETY: a task in the list is alive: the list holds its liveness
            // reference.
            next = unsafe { self.links(header, |links| links.next) };
            // SAFETY: as above.
            if unsafe { header.as_ref() }.state.abort() == Wake::Enqueue {
                // SAFETY: the transition made the runnable.
                due.push(unsafe { Runnable::from_header(header) });
            }
        }
        due.for_each(enqueue);
    }

    /// Takes a completed task out of the list and gives its liveness reference
    /// up.
    ///
    /// # Panics
    ///
    /// If the task is in another list.
    pub fn retire(&self, completed: Completed) {
        assert!(
            completed.list() == self.id,
            "a completed task must be retired by the list that adopted it"
        );
        let header = completed.into_header();
        self.unlink(header);
        // SAFETY: the token's reference keeps the cell alive; it and the
        // liveness reference are given up.
        if unsafe { header.as_ref() }.state.release_two() == Release::Dealloc {
            // SAFETY: the count is zero.
            unsafe { Header::dealloc(header) };
        }
    }

    fn link(&self, header: NonNull<Header>) {
        let next = self.first.get();
        // SAFETY: the caller's task is alive.
        unsafe {
            self.links(header, |links| {
                links.previous = None;
                links.next = next;
            });
        }
        if let Some(next) = next {
            // SAFETY: a task in the list is alive.
            unsafe { self.links(next, |links| links.previous = Some(header)) };
        }
        self.first.set(Some(header));
        self.len.set(self.len.get() + 1);
    }

    fn unlink(&self, header: NonNull<Header>) {
        // SAFETY: a task in the list is alive.
        let (previous, next) = unsafe { self.links(header, |links| (links.previous, links.next)) };
        match previous {
            // SAFETY: as above.
            Some(previous) => unsafe { self.links(previous, |links| links.next = next) },
            None => self.first.set(next),
        }
        if let Some(next) = next {
            // SAFETY: as above.
            unsafe { self.links(next, |links| links.previous = previous) };
        }
        self.len.set(self.len.get() - 1);
    }

    /// Accesses the links of a task in this list.
    ///
    /// # Safety
    ///
    /// The task is alive.
    #[inline]
    unsafe fn links<R>(
        &self,
        header: NonNull<Header>,
        access: impl FnOnce(&mut crate::cell::Links) -> R,
    ) -> R {
        // SAFETY: the caller says that the cell is alive.
        unsafe { Header::trailer(header) }
            .links
            // SAFETY: the list is not `Sync`, and its links are touched by its
            // thread alone (rule 5).
            .with_mut(|links| access(unsafe { &mut *links }))
    }
}

/// Gives up what is left of completed tasks. A task that has not completed by
/// then is leaked: its queue or its wakers may still lead to it.
impl Drop for LiveList {
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(header) = next {
            // SAFETY: a task in the list is alive.
            next = unsafe { self.links(header, |links| links.next) };
            // SAFETY: as above.
            if unsafe { header.as_ref() }.state.load().is_complete() {
                // SAFETY: the list holds the liveness reference of a task that
                // completed without being retired.
                unsafe { waker::release(header) };
            }
        }
    }
}

impl fmt::Debug for LiveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveList")
            .field("owner", &self.id.owner())
            .field("len", &self.len())
            .finish()
    }
}

/// Runnables, linked by their own fields. Dropping it cancels them.
struct Chain(Option<NonNull<()>>);

impl Chain {
    fn push(&mut self, task: Runnable) {
        let task = task.into_raw();
        // SAFETY: the runnable was given up, so it is the chain's.
        unsafe { Runnable::queue_link(task) }
            // SAFETY: the chain holds the runnable (rule 3).
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
            // SAFETY: as above (rule 3).
            .with(|link| unsafe { *link });
        // SAFETY: `push` gave it up, and it is taken back here alone.
        Some(unsafe { Runnable::from_raw(task) })
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// Which live list a task is in, seen from the thread that runs it.
#[must_use]
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// In none.
    Unlisted,
    /// In this thread's.
    Here(&'a LiveList),
    /// In another's, whose thread takes it out, and gives the liveness
    /// reference up, as soon as it is complete.
    Elsewhere,
}

impl<'a> Place<'a> {
    /// # Safety
    ///
    /// The caller holds the task's runnable.
    #[inline]
    pub(crate) unsafe fn of(header: NonNull<Header>, live: Option<&'a LiveList>) -> Self {
        // SAFETY: the caller's runnable keeps the cell alive.
        let owner = unsafe { header.as_ref() }
            .owner
            // SAFETY: the caller holds the runnable (rule 4).
            .with(|owner| unsafe { *owner });
        match (owner, live) {
            (None, _) => Self::Unlisted,
            (Some(owner), Some(live)) if live.id == owner => Self::Here(live),
            _ => Self::Elsewhere,
        }
    }

    /// Whether the thread of a list may abort the task while it runs.
    #[inline]
    pub(crate) fn is_elsewhere(self) -> bool {
        matches!(self, Self::Elsewhere)
    }

    /// Takes the task out of this thread's list.
    #[inline]
    pub(crate) fn unlink(self, header: NonNull<Header>) {
        if let Self::Here(live) = self {
            live.unlink(header);
        }
    }
}
