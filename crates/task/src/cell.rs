//! The memory of a task: header, scheduler, stage and trailer.

use std::alloc::Layout;
use std::future::Future;
use std::mem::{ManuallyDrop, offset_of};
use std::num::NonZeroU64;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

use raddle_primitives::cell::UnsafeCell;

use crate::error::JoinError;
use crate::id::Id;
use crate::live::SlotRef;
use crate::runnable::{Outcome, Runnable};
use crate::span::{self, SpanId};
use crate::state::State;
use crate::{LiveList, Schedule, captures, memory, run};

/// The part of a cell that is the same for every task. It is at the start of the cell.
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) vtable: &'static Vtable,
    /// The next task in the queue that holds this one. It belongs to the queue, stack or batch that
    /// holds the runnable, or, if the task left its list while the list aborted it, to the thread
    /// of that list.
    pub(crate) queue_link: UnsafeCell<Option<NonNull<()>>>,
    /// The task's place in its live list. Written by the holder of the runnable when a list adopts
    /// the task, and by the runner when the list moves to another thread during a poll. Read by the
    /// holder of the runnable.
    pub(crate) slot: UnsafeCell<Option<SlotRef>>,
    pub(crate) id: Id,
    /// Takes no room without the feature `tracing`.
    pub(crate) span: Option<SpanId>,
}

/// The part of a cell that is the same for every task. It is at the end of the cell.
pub(crate) struct Trailer {
    /// The waker of the task that joins. It belongs to the join handle while `JOIN_WAKER` is clear,
    /// and to the thread that set `COMPLETE` if `JOIN_WAKER` was set at that moment.
    pub(crate) join_waker: UnsafeCell<Option<Waker>>,
}

/// The operations that differ by the type of the future and of the scheduler.
pub(crate) struct Vtable {
    pub(crate) run: unsafe fn(NonNull<Header>, Option<&LiveList>) -> Outcome,
    pub(crate) schedule: unsafe fn(NonNull<Header>),
    pub(crate) drop_output: unsafe fn(NonNull<Header>),
    /// Moves the output to the given pointer, to a `Poll<Result<T, JoinError>>`.
    pub(crate) take_output: unsafe fn(NonNull<Header>, *mut ()),
    pub(crate) dealloc: unsafe fn(NonNull<Header>),
    pub(crate) spawned_at: unsafe fn(NonNull<Header>) -> Option<&'static Location<'static>>,
    pub(crate) future_name: fn() -> &'static str,
    pub(crate) trailer: usize,
}

/// A task. `repr(C)`: a pointer to the cell is a pointer to its header.
#[repr(C)]
pub(crate) struct Cell<F: Future, S> {
    pub(crate) header: Header,
    pub(crate) scheduler: S,
    /// It belongs to the runner from the start of the run until it sets `COMPLETE`. After that it
    /// belongs to the join handle if `JOIN_INTEREST` was set at that moment; otherwise the runner
    /// empties it, and no thread accesses it any more.
    stage: UnsafeCell<Stage<F>>,
    trailer: Trailer,
}

enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    Empty,
}

impl<F: Future, S: Schedule> Cell<F, S> {
    const VTABLE: Vtable = Vtable {
        run: run::run::<F, S>,
        schedule: run::schedule::<F, S>,
        drop_output: run::drop_output::<F, S>,
        take_output: run::take_output::<F, S>,
        dealloc: run::dealloc::<F, S>,
        spawned_at: run::spawned_at::<F, S>,
        future_name: std::any::type_name::<F>,
        trailer: offset_of!(Self, trailer),
    };

    const SIZE: Option<memory::Size> = memory::Size::of(Layout::new::<Self>());

    /// Allocates a task.
    pub(crate) fn allocate(future: F, scheduler: S) -> NonNull<Header> {
        let id = Id::next();
        captures::note_spawned(NonZeroU64::from(id).get(), &future);
        let cell = Self {
            header: Header {
                state: State::new(),
                vtable: &Self::VTABLE,
                queue_link: UnsafeCell::new(None),
                slot: UnsafeCell::new(None),
                id,
                span: span::take_next(),
            },
            scheduler,
            stage: UnsafeCell::new(Stage::Future(future)),
            trailer: Trailer {
                join_waker: UnsafeCell::new(None),
            },
        };
        let memory = memory::allocate(Layout::new::<Self>(), Self::SIZE).cast();
        // SAFETY: the memory is new, and has the layout of a cell.
        unsafe { memory.write(cell) };
        memory.cast()
    }

    /// Frees a task.
    ///
    /// # Safety
    ///
    /// `cell` comes from [`allocate`](Self::allocate), and no other code can reach it.
    pub(crate) unsafe fn free(cell: NonNull<Self>) {
        /// Frees the memory, even if a drop panics.
        struct Memory<F: Future, S: Schedule>(NonNull<Cell<F, S>>);
        impl<F: Future, S: Schedule> Drop for Memory<F, S> {
            fn drop(&mut self) {
                let layout = Layout::new::<Cell<F, S>>();
                // SAFETY: the memory was allocated with this layout, and its content is dropped.
                unsafe { memory::free(self.0.cast(), layout, Cell::<F, S>::SIZE) };
            }
        }
        let memory = Memory(cell);
        // SAFETY: only the caller can reach the cell.
        unsafe { memory.0.drop_in_place() };
    }

    /// Polls the future.
    ///
    /// # Safety
    ///
    /// The caller is the runner, and the future has not been dropped.
    #[inline]
    pub(crate) unsafe fn poll(&self, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the runner's, which the caller is.
            let Stage::Future(future) = (unsafe { &mut *stage }) else {
                unreachable!("a task that runs has its future");
            };
            // SAFETY: the cell is on the heap and the future is only ever dropped in place.
            unsafe { Pin::new_unchecked(future) }.poll(cx)
        })
    }

    /// Drops the content of the stage, in place, and leaves the stage empty, even if the drop
    /// panics.
    ///
    /// # Safety
    ///
    /// The [stage](Self::stage) belongs to the caller.
    #[inline]
    pub(crate) unsafe fn clear_stage(&self) {
        struct Empty<F: Future>(*mut Stage<F>);
        impl<F: Future> Drop for Empty<F> {
            fn drop(&mut self) {
                // SAFETY: the content has been dropped.
                unsafe { ptr::write(self.0, Stage::Empty) };
            }
        }
        self.stage.with_mut(|stage| {
            let _empty = Empty(stage);
            // SAFETY: the stage is the caller's, and `Empty` overwrites it without another drop.
            unsafe { ptr::drop_in_place(stage) };
        });
    }

    /// Puts the output into a stage that has been cleared.
    ///
    /// # Safety
    ///
    /// The [stage](Self::stage) belongs to the caller.
    #[inline]
    pub(crate) unsafe fn store_output(&self, output: Result<F::Output, JoinError>) {
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's, and is empty.
            unsafe { ptr::write(stage, Stage::Output(output)) };
        });
    }

    /// Moves the output out. Returns `None` if it was taken before.
    ///
    /// # Safety
    ///
    /// The caller is the join handle, and the task has completed.
    pub(crate) unsafe fn take_output(&self) -> Option<Result<F::Output, JoinError>> {
        self.stage.with_mut(|stage| {
            // SAFETY: after the completion the stage is the join handle's. It holds no future any
            // more, so its content may be moved.
            match std::mem::replace(unsafe { &mut *stage }, Stage::Empty) {
                Stage::Output(output) => Some(output),
                _ => None,
            }
        })
    }
}

impl<F: Future, S> Drop for Cell<F, S> {
    /// In a model, writes to each field, so that a later access is a race. Otherwise does nothing.
    #[inline]
    fn drop(&mut self) {
        self.header.queue_link.with_mut(|_| {});
        self.header.slot.with_mut(|_| {});
        self.stage.with_mut(|_| {});
        self.trailer.join_waker.with_mut(|_| {});
    }
}

impl Header {
    /// Returns the trailer of the cell.
    ///
    /// # Safety
    ///
    /// `header` is a live cell for as long as the reference is used.
    #[inline]
    pub(crate) unsafe fn trailer<'a>(header: NonNull<Self>) -> &'a Trailer {
        // SAFETY: the caller keeps the cell alive; the vtable is read-only.
        let offset = unsafe { header.as_ref() }.vtable.trailer;
        // SAFETY: the vtable belongs to the cell's type, so the trailer is at this place.
        unsafe { header.byte_add(offset).cast().as_ref() }
    }

    /// Passes a task that was just notified to its scheduler.
    ///
    /// # Safety
    ///
    /// The caller's transition returned `Enqueue`.
    #[inline]
    pub(crate) unsafe fn schedule(header: NonNull<Self>) {
        // SAFETY: the new runnable keeps the cell alive until the schedule function receives it.
        unsafe { (header.as_ref().vtable.schedule)(header) };
    }

    /// Frees the cell.
    ///
    /// # Safety
    ///
    /// The caller has dropped the last reference.
    #[cold]
    pub(crate) unsafe fn dealloc(header: NonNull<Self>) {
        // SAFETY: the last reference is gone, so no other code can reach the cell.
        unsafe { (header.as_ref().vtable.dealloc)(header) };
    }

    /// Takes the join waker out.
    ///
    /// # Safety
    ///
    /// The [field](Trailer::join_waker) belongs to the caller, which holds a reference.
    pub(crate) unsafe fn take_join_waker(header: NonNull<Self>) -> Option<Waker> {
        // SAFETY: the caller's reference keeps the cell alive.
        unsafe { Self::trailer(header) }
            .join_waker
            // SAFETY: the field is the caller's.
            .with_mut(|waker| unsafe { (*waker).take() })
    }
}

/// Makes a runnable of a task that has just been notified.
///
/// # Safety
///
/// The contract is that of [`Header::schedule`].
#[inline]
pub(crate) unsafe fn runnable_of(header: NonNull<Header>) -> Runnable {
    // SAFETY: the caller's transition made the runnable.
    unsafe { Runnable::from_header(header) }
}

/// Returns the waker with which a task is polled. It borrows the runner's liveness reference, and
/// takes a reference only when it is cloned.
pub(crate) fn borrowed_waker(header: NonNull<Header>) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable's functions accept a live header. The waker is not dropped, so it gives up
    // no reference.
    ManuallyDrop::new(unsafe { Waker::from_raw(crate::waker::raw(header)) })
}
