//! The functions of the vtable: running, scheduling and freeing a task.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::cell::{Cell, Header, borrowed_waker, runnable_of};
use crate::current::Entered;
use crate::error::JoinError;
use crate::live::{ListMembership, SlotRef};
use crate::runnable::Outcome;
use crate::state::{Completion, Release, Start, Stop};
use crate::{EndReason, LiveList, Schedule, current};

/// The cell behind a header.
///
/// # Safety
///
/// `header` is a live cell of this type for as long as the reference is used.
#[inline]
unsafe fn cell<'a, F: Future, S>(header: NonNull<Header>) -> &'a Cell<F, S> {
    // SAFETY: `Cell` is `repr(C)` with its header first.
    unsafe { header.cast().as_ref() }
}

/// Runs a task once: polls it, or drops its future if it was aborted.
///
/// # Safety
///
/// The caller holds the runnable and gives it up.
pub(crate) unsafe fn run<F: Future, S: Schedule>(
    header: NonNull<Header>,
    live: Option<&LiveList>,
) -> Outcome {
    // SAFETY: the liveness reference exists until this function gives it up.
    let cell = unsafe { cell::<F, S>(header) };
    // SAFETY: the caller holds the runnable.
    let alone = || !unsafe { ListMembership::of(header, live) }.is_elsewhere();
    let current = current::enter(header);
    let output = match cell.header.state.transition_to_running(alone) {
        Start::Poll => {
            // SAFETY: this is the runner, and the task is not complete.
            match unsafe { poll::<F, S>(header) } {
                Poll::Pending => {
                    // If the list has moved to another thread during the poll, it still has the
                    // task.
                    // SAFETY: this is the runner.
                    let is_listed = unsafe { ListMembership::is_listed(header) };
                    if let (false, Some(live)) = (is_listed, live) {
                        // SAFETY: the runner still has the runnable.
                        unsafe { live.admit(header) };
                    }
                    if current.was_woken() {
                        // SAFETY: the caller's runnable continues to exist.
                        return Outcome::Again(unsafe { runnable_of(header) });
                    }
                    return match cell.header.state.transition_to_idle() {
                        Stop::Idle => Outcome::Idle,
                        // SAFETY: the caller's runnable continues to exist.
                        Stop::Again => Outcome::Again(unsafe { runnable_of(header) }),
                    };
                }
                Poll::Ready(output) => output,
            }
        }
        // SAFETY: this is the runner.
        Start::Cancel => match unsafe { clear(cell) } {
            Ok(()) => Err(JoinError::cancelled(cell.header.id)),
            Err(payload) => Err(JoinError::panicked(cell.header.id, payload)),
        },
    };
    // SAFETY: this is the runner; the stage is empty.
    unsafe { complete::<F, S>(header, output, live, current) }
}

/// Polls the future once. When it is ready, or has panicked, it is dropped and the stage empty.
///
/// # Safety
///
/// The caller is the runner.
#[inline]
unsafe fn poll<F: Future, S: Schedule>(
    header: NonNull<Header>,
) -> Poll<Result<F::Output, JoinError>> {
    // SAFETY: the runner holds a liveness reference.
    let cell = unsafe { cell::<F, S>(header) };
    // The pointer is not derived from `&cell.header`, because a waker frees the whole cell through
    // it.
    let waker = borrowed_waker(header);
    let mut cx = Context::from_waker(&waker);
    // SAFETY: the caller is the runner, and the future is still there.
    let polled = catch_unwind(AssertUnwindSafe(|| unsafe { cell.poll(&mut cx) }));
    let output = match polled {
        Ok(Poll::Pending) => return Poll::Pending,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(payload) => Err(panicked(cell, payload)),
    };
    // SAFETY: as above.
    Poll::Ready(match unsafe { clear(cell) } {
        Ok(()) => output,
        Err(payload) => {
            swallow(|| drop(output));
            Err(panicked(cell, payload))
        }
    })
}

/// Reports a panic to the scheduler, and makes a join error from it.
#[cold]
fn panicked<F: Future, S: Schedule>(cell: &Cell<F, S>, payload: Box<dyn Any + Send>) -> JoinError {
    swallow(|| cell.scheduler.panicked());
    JoinError::panicked(cell.header.id, payload)
}

/// Drops what is in the stage; the payload if that panics.
///
/// # Safety
///
/// The stage belongs to the caller.
#[inline]
unsafe fn clear<F: Future, S: Schedule>(cell: &Cell<F, S>) -> Result<(), Box<dyn Any + Send>> {
    // SAFETY: the caller owns the stage.
    catch_unwind(AssertUnwindSafe(|| unsafe { cell.clear_stage() }))
}

/// Hands the output over and gives the liveness reference up, or over to the live list of another
/// thread.
///
/// # Safety
///
/// The caller is the runner, and the stage is empty.
#[inline]
unsafe fn complete<F: Future, S: Schedule>(
    header: NonNull<Header>,
    output: Result<F::Output, JoinError>,
    live: Option<&LiveList>,
    current: Entered,
) -> Outcome {
    // The scheduler is not a parameter: a reference parameter must outlive the call, but the cell
    // may not.
    // SAFETY: the runner holds a liveness reference.
    let cell = unsafe { cell::<F, S>(header) };
    let state = &cell.header.state;
    let reason = EndReason::of(&output);
    swallow(|| cell.scheduler.ended(reason));
    if state.is_detached() {
        swallow(|| drop(output));
        // Check after the drop, during which the list may move to another thread.
        // SAFETY: the caller is the runner, so it holds the runnable.
        let place = unsafe { ListMembership::of(header, live) };
        if let ListMembership::Elsewhere(slot) = place {
            // The task is detached, so only the reference must be given up.
            let _ = state.transition_to_complete();
            // SAFETY: the task has just completed.
            unsafe { leave(header, slot, current) };
            return Outcome::CompleteElsewhere;
        }
        place.take_out();
        // The scheduler's drop may be user code, which must not find a task here that is neither
        // complete nor in a list.
        drop(current);
        if state.transition_to_complete_and_release() == Release::Dealloc {
            // SAFETY: the last reference is given up.
            unsafe { Header::dealloc(header) };
        }
        return Outcome::Complete;
    }
    // SAFETY: the caller is the runner; the stage is empty.
    unsafe { cell.store_output(output) };
    // SAFETY: the caller is the runner, so it holds the runnable.
    let place = unsafe { ListMembership::of(header, live) };
    if let ListMembership::Elsewhere(slot) = place {
        let completion = state.transition_to_complete();
        // SAFETY: the task has just completed, and is in its slot.
        unsafe {
            hand_over::<F, S>(header, completion);
            leave(header, slot, current);
        }
        return Outcome::CompleteElsewhere;
    }
    place.take_out();
    if !state.transition_to_complete_unawaited() {
        let completion = state.transition_to_complete();
        // SAFETY: the task has just completed.
        unsafe { hand_over::<F, S>(header, completion) };
        // As above.
        drop(current);
        // SAFETY: the liveness reference, given up once.
        unsafe { crate::waker::release(header) };
    }
    Outcome::Complete
}

/// Takes a task out of the live list of another thread, and gives the liveness reference up, or
/// over to that thread, if it is about to abort the task.
///
/// # Safety
///
/// The caller has completed the task, which is in the slot, and does not use it again.
#[inline]
unsafe fn leave(header: NonNull<Header>, slot: SlotRef, current: Entered) {
    // Freeing the task may run user code, which must not find the task here.
    drop(current);
    // SAFETY: the caller upholds the contract.
    if unsafe { slot.leave() } {
        // SAFETY: the liveness reference, given up once.
        unsafe { crate::waker::release(header) };
    }
}

/// Wakes the task that joins one that has just completed, or drops the output of a detached one.
///
/// # Safety
///
/// The caller has completed the task, with this result, and holds a reference.
#[inline]
unsafe fn hand_over<F: Future, S: Schedule>(header: NonNull<Header>, completion: Completion) {
    match completion {
        Completion::JoinedWithWaker => swallow(|| {
            // SAFETY: the bit was set when this thread completed the task, so the handle leaves
            // the waker to it.
            if let Some(waker) = unsafe { Header::take_join_waker(header) } {
                waker.wake();
            }
        }),
        Completion::Joined => {}
        // SAFETY: the handle was dropped before this thread completed the task, so the output is
        // still this thread's; the caller's reference keeps the cell.
        Completion::Detached => swallow(|| unsafe { cell::<F, S>(header).clear_stage() }),
    }
}

/// Runs user code and catches its panic. A payload whose drop panics is leaked.
#[inline]
fn swallow(code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(code)) {
        crate::error::drop_payload(payload);
    }
}

/// Passes a runnable that was just created to the scheduler.
///
/// # Safety
///
/// A transition returned `Enqueue`.
pub(crate) unsafe fn schedule<F: Future, S: Schedule>(header: NonNull<Header>) {
    // Make it first, so that a panic of the clone cancels the task.
    // SAFETY: the caller's transition made the runnable.
    let task = unsafe { runnable_of(header) };
    // The task may have run and been freed before `schedule` returns, so the scheduler must not be
    // borrowed from it.
    // SAFETY: the runnable keeps the cell alive here.
    let scheduler = unsafe { cell::<F, S>(header) }.scheduler.clone();
    scheduler.schedule(task);
}

/// Returns where the task was spawned, if its scheduler knows.
///
/// # Safety
///
/// The cell is alive.
pub(crate) unsafe fn spawned_at<F: Future, S: Schedule>(
    header: NonNull<Header>,
) -> Option<&'static Location<'static>> {
    // SAFETY: the caller keeps the cell alive; the scheduler is read-only.
    unsafe { cell::<F, S>(header) }.scheduler.spawned_at()
}

/// Drops the output as part of the task: code can ask for the task's id, and a panic is contained.
///
/// # Safety
///
/// The caller is the join handle, and the task has completed.
pub(crate) unsafe fn drop_output<F: Future, S: Schedule>(header: NonNull<Header>) {
    let _current = current::enter(header);
    // SAFETY: the handle's reference keeps the cell, and after the completion the stage is the
    // handle's.
    swallow(|| unsafe { cell::<F, S>(header).clear_stage() });
}

/// Moves the output to `destination`, a `Poll<Result<F::Output, JoinError>>`, unless it was taken
/// before.
///
/// # Safety
///
/// The caller is the join handle, the task has completed, and `destination` is valid for a write.
pub(crate) unsafe fn take_output<F: Future, S: Schedule>(
    header: NonNull<Header>,
    destination: *mut (),
) {
    // SAFETY: the handle's reference keeps the cell, and after the completion the stage is the
    // handle's.
    if let Some(output) = unsafe { cell::<F, S>(header).take_output() } {
        // SAFETY: the caller ensures the type and the destination; the assignment drops the
        // `Pending` there.
        unsafe { *destination.cast() = Poll::Ready(output) };
    }
}

/// Frees the cell.
///
/// # Safety
///
/// The last reference is gone.
pub(crate) unsafe fn dealloc<F: Future, S: Schedule>(header: NonNull<Header>) {
    // SAFETY: the header belongs to a cell of this type, which no other code can reach.
    unsafe { Cell::<F, S>::free(header.cast()) };
}
