//! The right to drive a worker, and the slot through which it goes to another thread. `handoff.rs`
//! says when it does.

use std::ops::Deref;

use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::core::Core;

/// The right to drive a worker. On a thread that has lost the worker, only a reference that keeps
/// its memory.
pub(crate) struct CoreRef(Arc<Core>);

// SAFETY: the core may move to another thread, because it is `Send`, which the bound makes the
// compiler check. One thread at a time holds the worker, and no other thread reads state that
// changes.
unsafe impl Send for CoreRef where Core: Send {}

impl CoreRef {
    // Not `expect`: the lint does not know the `Arc` of a model, nor one that counts.
    #[allow(
        clippy::arc_with_non_send_sync,
        reason = "the references are in a type that says why they may be sent"
    )]
    pub(crate) fn new(core: Core) -> Self {
        Self(Arc::new(core))
    }

    /// Another reference, for the thread to which the worker is handed off.
    pub(crate) fn share(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Deref for CoreRef {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        &self.0
    }
}

/// The slot in which a thread leaves its worker during a handoff, and the monitor a spare worker.
/// The first thread to take it drives the worker: another thread, or the same one.
#[derive(Clone)]
pub(crate) struct HandoffSlot(Arc<Mutex<HandoffState>>);

impl Default for HandoffSlot {
    fn default() -> Self {
        Self::new(HandoffState::default())
    }
}

#[derive(Default)]
struct HandoffState {
    core: Option<CoreRef>,
    /// Whether the worker is a spare one that no thread has left in a poll.
    is_of_spare: bool,
    /// Set while another thread is requested and has not come. So a thread that leaves its worker
    /// many times for a moment requests one other thread.
    is_requested: bool,
}

impl HandoffSlot {
    /// A slot with a spare worker, for which another thread is requested.
    pub(crate) fn of_spare(core: CoreRef) -> Self {
        Self::new(HandoffState {
            core: Some(core),
            is_of_spare: true,
            is_requested: true,
        })
    }

    fn new(state: HandoffState) -> Self {
        Self(Arc::new(Mutex::ranked(
            Rank::outer(1, "handoff slot"),
            state,
        )))
    }

    /// Whether a spare worker is to serve.
    pub(crate) fn is_of_spare(&self) -> bool {
        self.0.lock().is_of_spare
    }

    /// Puts the worker into the slot. Returns whether another thread must be requested: `false` if
    /// one was requested before and has not come.
    pub(crate) fn put(&self, core: CoreRef) -> bool {
        let mut state = self.0.lock();
        state.core = Some(core);
        !std::mem::replace(&mut state.is_requested, true)
    }

    /// Takes the worker back, on the thread that left it. Returns `None` if another thread has it.
    pub(crate) fn take_back(&self) -> Option<CoreRef> {
        self.0.lock().core.take()
    }

    /// Takes the worker if `condition` is true of it, on the thread that was requested, or that
    /// refuses the request. In any case the request is over.
    pub(crate) fn take_requested(&self, condition: impl FnOnce(&Core) -> bool) -> Option<CoreRef> {
        let mut state = self.0.lock();
        state.is_requested = false;
        state.take_if(condition)
    }

    /// Takes the worker for the shutdown. A request that was made is not over.
    pub(crate) fn take_for_shutdown(&self) -> Option<CoreRef> {
        self.0.lock().take_if(|_| true)
    }
}

impl HandoffState {
    /// Takes the worker, on a thread other than the one that left it.
    fn take_if(&mut self, condition: impl FnOnce(&Core) -> bool) -> Option<CoreRef> {
        let core = self.core.take_if(|core| condition(core))?;
        if !self.is_of_spare {
            // Counted before the thread that left the worker can find that it is handed off.
            core.retirement.retired.lock().handed_off += 1;
        }
        Some(core)
    }
}
