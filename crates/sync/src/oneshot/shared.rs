//! The one allocation of a channel, and which party may touch which field.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use raddle_primitives::cell::UnsafeCell;

use super::state::{self, Leave, Snapshot, State, ToSent, Wait};
use crate::waker_cell::WakerCell;

struct Shared<T> {
    state: State,
    value: UnsafeCell<MaybeUninit<T>>,
    receiver_waker: WakerCell,
    sender_waker: WakerCell,
}

/// The access of one party to the memory. There is no reference count: the state says which party
/// has left, and the second party to leave frees the memory. A forgotten handle leaks it.
///
/// 1. Until `SENT` is set, only the sender accesses the value; afterwards only the receiver, which
///    takes the value out before it leaves.
/// 2. The cells of the wakers follow the rules of [`WakerCell`]. A party takes its waker back
///    before it sends, closes or leaves, so the other party, which may exist for long, keeps no
///    task alive, and no waker is registered when the memory is freed.
/// 3. A party that has set its `LEFT` bit does not access the memory any more; a party that finds
///    the other's bit set owns the allocation.
pub(super) struct Handle<T>(NonNull<Shared<T>>);

// SAFETY: both handles access the shared memory by the rules of `Handle`, and the value moves
// between threads at most once.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: a shared handle only reads the state.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Returns the handle of the sender and that of the receiver.
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
        // SAFETY: the memory stays valid as long as a handle has not left.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn state(&self) -> Snapshot {
        self.shared().state.load()
    }

    /// Returns an address that is the same for both ends, and differs from that of other existing
    /// channels.
    pub(super) fn address(&self) -> usize {
        self.0.addr().get()
    }

    /// Sends, and leaves. Returns the handle with the value if the channel is closed.
    #[inline]
    pub(super) fn send(self, value: T) -> Result<(), (Self, T)> {
        let shared = self.shared();
        let _waker = self.withdraw(state::SENDER, &shared.sender_waker);
        shared.value.with_mut(|place| {
            // SAFETY: the sender owns the memory of the value, because nothing was sent.
            unsafe { (*place).write(value) };
        });
        match shared.state.transition_to_sent() {
            ToSent::Sent(Leave::Left) => Ok(()),
            ToSent::Sent(_) => {
                self.wake_receiver();
                Ok(())
            }
            ToSent::Closed => {
                // SAFETY: the value was written above, and `SENT` is not set.
                let value = shared
                    .value
                    .with(|place| unsafe { (*place).assume_init_read() });
                Err((self, value))
            }
        }
    }

    /// The sender leaves without having sent.
    pub(super) fn drop_sender(self) {
        let shared = self.shared();
        let _waker = self.withdraw(state::SENDER, &shared.sender_waker);
        match shared.state.transition_to_done() {
            Leave::Left => {}
            Leave::Wake => self.wake_receiver(),
            Leave::Free => self.free(),
        }
    }

    #[cold]
    fn wake_receiver(self) {
        let shared = self.shared();
        // SAFETY: the caller has ended the receiver's wait, whose waker was registered.
        let waker = unsafe { shared.receiver_waker.take() };
        if shared.state.sender_leaves() {
            self.free();
        }
        waker.wake();
    }

    /// The receiver takes the value, if one was sent, and leaves. `state` shows that the sender is
    /// done, or that nothing can be sent any more.
    #[inline]
    pub(super) fn receive(self, state: Snapshot) -> Option<T> {
        let shared = self.shared();
        let value = state.is_sent().then(|| {
            // SAFETY: the receiver has owned the value since it was sent, and this is its last
            // access.
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
        // SAFETY: the caller has ended the sender's wait, whose waker was registered.
        let waker = unsafe { shared.sender_waker.take() };
        if shared.state.receiver_leaves() {
            self.free();
        }
        waker.wake();
    }

    /// From now on the receiver only takes a value that was sent before.
    pub(super) fn close(&mut self) {
        let shared = self.shared();
        let _waker = self.withdraw(state::RECEIVER, &shared.receiver_waker);
        if shared.state.close() {
            // SAFETY: the call above has ended the sender's wait, whose waker was registered.
            unsafe { shared.sender_waker.take() }.wake();
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

    /// Registers the waker of `cx` in the caller's own `cell`. Returns `Ready` if the wait is over.
    #[inline(never)]
    fn poll_wait(&self, wait: Wait, cell: &WakerCell, cx: &mut Context<'_>) -> Poll<()> {
        let state = &self.shared().state;
        let mut now = state.load();
        // SAFETY: the caller waits, and the snapshot of this poll shows its waker registered.
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

    /// Takes the caller's own waker back, if it is registered and the wait is not over.
    #[inline]
    fn withdraw(&self, wait: Wait, cell: &WakerCell) -> Option<Waker> {
        let state = &self.shared().state;
        if state.load().waits(wait) && state.unregister(wait) {
            // SAFETY: the caller waits, and has taken the cell back.
            return Some(unsafe { cell.take() });
        }
        None
    }

    /// Frees the memory: the other party has left, and this one leaves now.
    #[inline]
    fn free(self) {
        // Loads the state first, because the read that found that the other party had left acquired
        // nothing.
        let state = self.state();
        debug_assert!(
            !state.waits(state::RECEIVER) && !state.waits(state::SENDER),
            "a party that leaves has taken its waker back"
        );
        // SAFETY: by the third rule, this handle is the last one.
        let shared = unsafe { Box::from_raw(self.0.as_ptr()) };
        // In a model this counts as a write, so each access has to be ordered before it.
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
