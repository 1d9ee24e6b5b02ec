//! The tasks that one thread has adopted, so that it can end them all.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ptr::{self, NonNull};

use raddle_std::sync::atomic::{AtomicPtr, Ordering};

use crate::cell::Header;
use crate::runnable::Runnable;
use crate::state::Wake;
use crate::waker;

/// A list of tasks that have not completed, owned by one thread at a time.
///
/// Linking and unlinking are plain stores. A task that completes on another
/// thread comes back as a [`Completed`], usually by way of the owner's
/// [`CompletedStack`].
pub struct LiveList {
    owner: NonZeroU32,
    first: Cell<Option<NonNull<Header>>>,
    len: Cell<usize>,
}

// SAFETY: the list may move to another thread as a whole. It is not `Sync`, so
// that one thread at a time touches the links of its tasks (rule 5).
unsafe impl Send for LiveList {}

impl LiveList {
    /// Makes an empty list. `owner` tells the lists of one scheduler apart.
    pub fn new(owner: NonZeroU32) -> Self {
        Self {
            owner,
            first: Cell::new(None),
            len: Cell::new(0),
        }
    }

    /// Takes a task into the list, unless it is in one already.
    #[inline]
    pub fn adopt(&self, task: &Runnable) {
        let header = task.header();
        // SAFETY: the runnable keeps the cell alive.
        let adopted = unsafe { header.as_ref() }.owner.with_mut(|owner| {
            // SAFETY: `task` is the runnable (rule 4).
            let owner = unsafe { &mut *owner };
            let adopted = *owner != 0;
            if !adopted {
                *owner = self.owner.get();
            }
            adopted
        });
        if !adopted {
            self.link(header);
        }
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
    /// `enqueue`, which must run no task and adopt none: running them drops
    /// their futures. The others are queued or running, and are cancelled when
    /// they are run next.
    pub fn abort_all(&self, mut enqueue: impl FnMut(Runnable)) {
        let mut next = self.first.get();
        while let Some(header) = next {
            // SAFETY: a task in the list is alive: the list holds its liveness
            // reference.
            next = unsafe { self.links(header, |links| links.next) };
            // SAFETY: as above.
            if unsafe { header.as_ref() }.state.abort() == Wake::Enqueue {
                // SAFETY: the transition made the runnable.
                enqueue(unsafe { Runnable::from_header(header) });
            }
        }
    }

    /// Takes a completed task out of the list and gives its liveness reference
    /// up.
    ///
    /// # Panics
    ///
    /// If the task is in another list.
    pub fn retire(&self, completed: Completed) {
        assert_eq!(
            completed.owner(),
            self.owner,
            "a completed task must be retired by the list that adopted it"
        );
        self.unlink(completed.0);
        // SAFETY: the token carries the liveness reference.
        unsafe { waker::release(completed.0) };
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
            .field("owner", &self.owner)
            .field("len", &self.len())
            .finish()
    }
}

/// Where a task leaves its live list when it completes.
#[must_use]
pub(crate) enum Retire {
    /// It is in none any more; the runner gives the liveness reference up.
    Here,
    /// Its list's thread takes it out, and gives the reference up.
    Elsewhere(Completed),
}

impl Retire {
    /// Takes the task out of `live`, if it is there.
    ///
    /// # Safety
    ///
    /// The caller holds the task's runnable and is about to complete it.
    #[inline]
    pub(crate) unsafe fn of(header: NonNull<Header>, live: Option<&LiveList>) -> Self {
        // SAFETY: the caller holds the runnable (rule 4).
        let owner = unsafe { header.as_ref() }
            .owner
            .with(|owner| unsafe { *owner });
        match live {
            _ if owner == 0 => Self::Here,
            Some(live) if live.owner.get() == owner => {
                live.unlink(header);
                Self::Here
            }
            _ => Self::Elsewhere(Completed(header)),
        }
    }
}

/// A task that completed on another thread than the one whose live list it is
/// in. [`LiveList::retire`] frees it; if the token is dropped instead, the
/// task's memory is kept until that list is dropped.
#[derive(Debug)]
pub struct Completed(NonNull<Header>);

// SAFETY: the future is gone, and the output is not reached through the token.
unsafe impl Send for Completed {}

impl Completed {
    /// The list that the task is in.
    pub fn owner(&self) -> NonZeroU32 {
        // SAFETY: the token carries the liveness reference.
        let owner = unsafe { self.0.as_ref() }
            .owner
            // SAFETY: nobody writes it after completion (rule 4).
            .with(|owner| unsafe { *owner });
        NonZeroU32::new(owner).expect("a task that is completed elsewhere was adopted")
    }
}

/// Completed tasks on their way back to the thread whose live list they are
/// in: any thread pushes, the owner takes them all.
pub struct CompletedStack {
    top: AtomicPtr<Header>,
    owned: PhantomData<Completed>,
}

impl CompletedStack {
    /// Makes an empty stack.
    pub fn new() -> Self {
        Self {
            top: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// Adds a task.
    pub fn push(&self, completed: Completed) {
        let header = completed.0;
        // ORDERING: a guess for the exchange.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the token carries the liveness reference.
            unsafe { header.as_ref() }
                .queue_link
                // SAFETY: a completed task is in no queue (rule 3).
                .with_mut(|link| unsafe { *link = NonNull::new(top.cast()) });
            // ORDERING: Release pairs with the Acquire of `take_all`.
            match self.top.compare_exchange_weak(
                top,
                header.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(actual) => top = actual,
            }
        }
    }

    /// Takes all tasks out. Costs one load while there are none.
    #[inline]
    pub fn take_all(&self, mut each: impl FnMut(Completed)) {
        // ORDERING: a hint; the swap decides.
        if self.top.load(Ordering::Relaxed).is_null() {
            return;
        }
        // ORDERING: Acquire pairs with the Release of `push`.
        let mut next = NonNull::new(self.top.swap(ptr::null_mut(), Ordering::Acquire));
        while let Some(header) = next {
            // SAFETY: the tokens that were pushed carry liveness references.
            next = unsafe { header.as_ref() }
                .queue_link
                // SAFETY: the stack was taken as a whole (rule 3).
                .with(|link| unsafe { *link })
                .map(NonNull::cast);
            each(Completed(header));
        }
    }
}

impl Default for CompletedStack {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CompletedStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletedStack").finish_non_exhaustive()
    }
}
