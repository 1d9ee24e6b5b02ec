//! The right to drive a worker, and the slot through which it goes to another thread:
//! `docs/block-in-place.md`, whose rules the `SAFETY` lines cite.

use std::ops::Deref;

use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::core::Core;

/// The right to drive a worker. On a thread that has lost the worker, only a reference that keeps
/// its memory.
pub(crate) struct CoreRef(Arc<Core>);

// SAFETY: what a reference gives access to may go to another thread, for it is `Send`, as the
// bound has the compiler check; one thread at a time holds the worker (rule 1), and no other
// looks at what changes (rule 2).
unsafe impl Send for CoreRef where Core: Send {}

impl CoreRef {
    // The lint does not know the `Arc` of a model, nor one that counts.
    #[cfg_attr(
        not(any(raddle_loom, raddle_count)),
        expect(
            clippy::arc_with_non_send_sync,
            reason = "the references are in a type that says why they may be sent"
        )
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

/// The slot in which a thread leaves its worker during a handoff. The first thread to take it
/// drives the worker: another thread, or the same one.
#[derive(Clone)]
pub(crate) struct HandoffSlot(Arc<Mutex<HandoffState>>);

impl Default for HandoffSlot {
    fn default() -> Self {
        let state = Mutex::ranked(Rank::outer(1, "handoff slot"), HandoffState::default());
        Self(Arc::new(state))
    }
}

#[derive(Default)]
struct HandoffState {
    core: Option<CoreRef>,
    /// Set while another thread is requested and has not come. So a thread that leaves its worker
    /// many times for a moment requests one other thread.
    is_requested: bool,
}

impl HandoffSlot {
    /// Puts the worker into the slot.
    pub(crate) fn put(&self, core: CoreRef) {
        self.0.lock().core = Some(core);
    }

    /// Takes the worker back, on the thread that left it. Returns `None` if another thread has it.
    pub(crate) fn take_back(&self) -> Option<CoreRef> {
        self.0.lock().core.take()
    }

    /// Notes that another thread is requested. Returns `false` if one was requested before, or has
    /// taken the worker.
    pub(crate) fn request(&self) -> bool {
        let mut state = self.0.lock();
        let is_needed = !state.is_requested && state.core.is_some();
        state.is_requested |= is_needed;
        is_needed
    }

    /// Takes the worker, on a thread other than the one that left it.
    pub(crate) fn take(&self) -> Option<CoreRef> {
        self.0.lock().take()
    }

    /// Takes the worker if `condition` is true of it, on the thread that was requested or that
    /// refuses the request.
    pub(crate) fn take_requested(&self, condition: impl FnOnce(&Core) -> bool) -> Option<CoreRef> {
        let mut state = self.0.lock();
        state.is_requested = false;
        match condition(state.core.as_ref()?) {
            true => state.take(),
            false => None,
        }
    }
}

impl HandoffState {
    fn take(&mut self) -> Option<CoreRef> {
        let core = self.core.take()?;
        // Counted before the thread that left the worker can find that it is handed off.
        core.retirement.retired.lock().handed_off += 1;
        Some(core)
    }
}
