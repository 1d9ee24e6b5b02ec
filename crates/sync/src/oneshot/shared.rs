//! The one allocation of a channel, and which party may touch which field.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use raddle_primitives::cell::UnsafeCell;

use super::state::{self, Leave, Send as Verdict, Snapshot, State, Wait};
use crate::waker_cell::WakerCell;

struct Shared<T> {
    state: State,
    value: UnsafeCell<MaybeUninit<T>>,
    receiver_waker: WakerCell,
    sender_waker: WakerCell,
}

/// A party's hold on the memory. Not a reference count: the state says which party has left, and
/// the second to leave frees. A handle that is forgotten leaks.
///
/// 1. Until `SENT` is set the value's place is the sender's, and then the receiver's, which takes
///    the value out before it leaves.
/// 2. The wakers' cells go by the rules of [`WakerCell`]; what is registered still when the memory
///    is freed is dropped with it.
/// 3. A party that sets its `LEFT` bit touches nothing any more; a party that finds the other's bit
///    set has the allocation for itself.
pub(super) struct Handle<T>(NonNull<Shared<T>>);

// SAFETY: what two handles share is reached by the rules of `Handle`, and a value goes from one
// thread to the other once.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: through a shared handle only the state is read.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// The sender's handle and the receiver's.
    pub(super) fn pair() -> (Self, Self) {
        let shared = Box::new(Shared {
            state: State::new(),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            receiver_waker: WakerCell::new(),
            sender_waker: WakerCell::new(),
        });
        let shared = NonNull::from(Box::leak(shared));
        (Self(shared), Self(shared))
    }

    #[inline]
    fn shared(&self) -> &Shared<T> {
        // SAFETY: the memory is there as long as the handle, which has not left.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn state(&self) -> Snapshot {
        self.shared().state.load()
    }

    /// The same for both ends, and for no other channel that exists.
    pub(super) fn address(&self) -> usize {
        self.0.addr().get()
    }

    /// Sends, and leaves. Returns the handle with the value if the channel is closed.
    #[inline]
    pub(super) fn send(self, value: T) -> Result<(), (Self, T)> {
        let shared = self.shared();
        shared.value.with_mut(|place| {
            // SAFETY: the place is the sender's, as nothing was sent.
            unsafe { (*place).write(value) };
        });
        match shared.state.transition_to_sent() {
            Verdict::Sent(Leave::Left) => Ok(()),
            Verdict::Sent(_) => {
                self.wake_receiver();
                Ok(())
            }
            Verdict::Closed => {
                // SAFETY: it was written above, and `SENT` is not set.
                let value = shared
                    .value
                    .with(|place| unsafe { (*place).assume_init_read() });
                Err((self, value))
            }
        }
    }

    /// The sender leaves without having sent.
    pub(super) fn drop_sender(self) {
        match self.shared().state.transition_to_done() {
            Leave::Left => {}
            Leave::Wake => self.wake_receiver(),
            Leave::Free => self.free(),
        }
    }

    #[cold]
    fn wake_receiver(self) {
        let shared = self.shared();
        // SAFETY: the caller has ended the receiver's wait, which was registered.
        let waker = unsafe { shared.receiver_waker.take() };
        // A receiver that has closed the channel waits no longer.
        let waits = !shared.state.load().is_closed();
        if shared.state.sender_leaves() {
            self.free();
        }
        if waits {
            waker.wake();
        }
    }

    /// The receiver takes what was sent, if anything was, and leaves. `state` says that the sender
    /// is done, or that nothing can be sent any more.
    #[inline]
    pub(super) fn receive(self, state: Snapshot) -> Option<T> {
        let shared = self.shared();
        let value = state.is_sent().then(|| {
            // SAFETY: the value is the receiver's since it was sent, and this is its last access.
            shared
                .value
                .with(|place| unsafe { (*place).assume_init_read() })
        });
        if state.has_sender_left() || shared.state.receiver_leaves() {
            self.free();
        }
        value
    }

    /// The receiver leaves. The caller drops the value that was sent.
    pub(super) fn drop_receiver(self) -> Option<T> {
        let shared = self.shared();
        // The sender may stay for long, and should not keep the task of a receiver that has gone.
        let _waker = self.withdraw(state::RECEIVER, &shared.receiver_waker);
        match shared.state.transition_to_dropped() {
            Some(Leave::Left) => None,
            Some(_) => {
                self.wake_sender();
                None
            }
            None => {
                let state = self.state();
                self.receive(state)
            }
        }
    }

    #[cold]
    fn wake_sender(self) {
        let shared = self.shared();
        // SAFETY: the caller has ended the sender's wait, which was registered.
        let waker = unsafe { shared.sender_waker.take() };
        if shared.state.receiver_leaves() {
            self.free();
        }
        waker.wake();
    }

    /// From now on the receiver only takes a value that was sent before.
    pub(super) fn close(&mut self) {
        let shared = self.shared();
        if shared.state.close() {
            // SAFETY: the sender's wait was registered and has been ended just now.
            let waker = unsafe { shared.sender_waker.take() };
            // A sender that has sent waits no longer.
            if !shared.state.load().is_done() {
                waker.wake();
            }
        }
    }

    /// The receiver waits for the sender.
    pub(super) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_wait(state::RECEIVER, &self.shared().receiver_waker, cx)
    }

    /// The sender waits for the receiver to close.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_wait(state::SENDER, &self.shared().sender_waker, cx)
    }

    /// Registers the waker of `cx` in the caller's own `cell`. Ready if the wait is over.
    #[inline(never)]
    fn poll_wait(&self, wait: Wait, cell: &WakerCell, cx: &mut Context<'_>) -> Poll<()> {
        let state = &self.shared().state;
        let mut now = state.load();
        // SAFETY: the caller waits, and its waker is registered.
        if now.waits(wait) && unsafe { cell.will_wake(cx.waker()) } {
            return Poll::Pending;
        }
        let waker = cx.waker().clone();
        let mut _former = None;
        if now.waits(wait) {
            _former = self.withdraw(wait, cell);
            now = state.load();
        }
        if now.is_over(wait) {
            return Poll::Ready(());
        }
        // SAFETY: the caller waits, and no waker is registered.
        unsafe { cell.put(waker) };
        if state.register(wait) {
            return Poll::Pending;
        }
        // SAFETY: the wait was over before the waker was registered.
        drop(unsafe { cell.take() });
        Poll::Ready(())
    }

    /// Takes the caller's own waker back, if it is registered and the wait not over.
    fn withdraw(&self, wait: Wait, cell: &WakerCell) -> Option<Waker> {
        let state = &self.shared().state;
        if state.load().waits(wait) && state.unregister(wait) {
            // SAFETY: the caller waits, and has taken the cell back.
            return Some(unsafe { cell.take() });
        }
        None
    }

    /// Frees the memory: the other party has left, and this one with that.
    #[inline]
    fn free(self) {
        // First: finding the other party gone has acquired nothing.
        let state = self.state();
        // SAFETY: this handle is the last, by the third rule.
        let shared = unsafe { Box::from_raw(self.0.as_ptr()) };
        // SAFETY: no other thread uses a waker that is registered and whose wait has not ended.
        let _receiver = state
            .waits(state::RECEIVER)
            .then(|| unsafe { shared.receiver_waker.take() });
        // SAFETY: as above.
        let _sender = state
            .waits(state::SENDER)
            .then(|| unsafe { shared.sender_waker.take() });
        // To a model this is a write, so that each access has to be ordered before.
        shared.value.with_mut(|_| ());
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Shared")
            .field("sent", &state.is_sent())
            .field("sender_done", &state.is_done())
            .field("closed", &state.is_closed())
            .finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
