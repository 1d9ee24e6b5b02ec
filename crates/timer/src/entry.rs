//! A timer: what its owner may do with it, and the node the wheel links.
//!
//! `docs/timers.md` has the states, and the rules for which thread may access which field.

use std::fmt;
use std::marker::PhantomPinned;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, RawWakerVTable, Waker};

use raddle_primitives::cell::UnsafeCell;

use crate::handle::Handle;
use crate::instant::Instant;
use crate::shard::Core;
use crate::state::{Postpone, State};
use crate::wheel::{Insert, SlotAfterRemoval};

/// The part of an entry that the wheel and the firer access.
pub(crate) struct Node {
    /// The phase and the tick.
    pub(crate) state: State,
    /// The place in the wheel, accessed only by the holder of the lock.
    pub(crate) links: UnsafeCell<Links>,
    /// The waker; set while the entry is armed. Only the owner writes it, under the lock while the
    /// entry is armed; besides the owner, only the holder of the lock reads it, while the entry is
    /// armed.
    waker: UnsafeCell<Option<Parked>>,
}

/// The links of a node in a list. Dangling if the node was never linked.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    pub(crate) prev: NonNull<Node>,
    pub(crate) next: NonNull<Node>,
    /// The level and the slot in one number.
    pub(crate) position: u16,
}

/// The two words of a waker. They can be compared with another waker even if the firer has taken
/// the waker meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Parked {
    data: *const (),
    vtable: &'static RawWakerVTable,
}

/// A timer, as its owner holds it.
pub(crate) struct Entry {
    node: Node,
    /// The drop of the entry returns it to its thread.
    handle: ManuallyDrop<Handle>,
    _pinned: PhantomPinned,
}

// SAFETY: the word is atomic, the links are accessed only under the lock, and the owner, which
// alone writes the waker's cell, does so under the lock whenever another thread may read it. The
// waker behind its raw words is `Send` and `Sync`, as is the handle.
unsafe impl Send for Entry {}
// SAFETY: as above; a shared reference gives access to the word only.
unsafe impl Sync for Entry {}

/// The result of an attempt to arm an entry.
#[must_use]
enum Arm {
    Armed,
    /// Armed as the first timer of its shard. The caller must announce it to the driver after it
    /// has released the lock.
    ArmedFirst,
    /// The tick has passed. The node is not linked.
    Elapsed,
    /// The timers have shut down. The node is not linked.
    ShutDown,
}

/// The timers have shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShutdownError;

impl Parked {
    fn new(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        Self {
            data: waker.data(),
            vtable: waker.vtable(),
        }
    }

    fn is(self, waker: &Waker) -> bool {
        self.data == waker.data() && std::ptr::eq(self.vtable, waker.vtable())
    }

    /// Returns the waker that this was made from.
    ///
    /// # Safety
    ///
    /// It is called once for each `new`, however many times the words were copied.
    pub(crate) unsafe fn into_waker(self) -> Waker {
        // SAFETY: both words come from a waker that was not dropped.
        unsafe { Waker::new(self.data, self.vtable) }
    }
}

impl Node {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            links: UnsafeCell::new(Links {
                prev: NonNull::dangling(),
                next: NonNull::dangling(),
                position: 0,
            }),
            waker: UnsafeCell::new(None),
        }
    }

    /// Returns the words of an armed entry's waker.
    ///
    /// # Safety
    ///
    /// The caller is the owner; or it holds the lock, and the entry is armed or was just disarmed
    /// by it.
    pub(crate) unsafe fn copy_waker(&self) -> Parked {
        // SAFETY: only the owner writes the cell, and under the lock while the entry is armed. The
        // caller is the owner or holds the lock, so no thread writes at the same time.
        let parked = unsafe { self.waker.with(|parked| *parked) };
        parked.expect("an armed timer has a waker")
    }

    /// Fills the waker's cell.
    ///
    /// # Safety
    ///
    /// The caller is the owner. The entry is not armed, or the caller holds the lock.
    pub(crate) unsafe fn set_waker(&self, waker: Waker) {
        let parked = Parked::new(waker);
        // SAFETY: only the caller, as the owner, writes the cell. Another thread reads it only
        // under the lock and while the entry is armed, so not at the same time.
        unsafe { self.waker.with_mut(|cell| *cell = Some(parked)) };
    }
}

impl Entry {
    pub(crate) fn new(handle: Handle) -> Self {
        Self::with_state(handle, State::idle())
    }

    /// Makes an entry whose time has already come.
    pub(crate) fn fired(handle: Handle) -> Self {
        Self::with_state(handle, State::fired())
    }

    fn with_state(handle: Handle, state: State) -> Self {
        Self {
            node: Node::new(state),
            handle: ManuallyDrop::new(handle),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn is_fired(&self) -> bool {
        self.node.state.load().is_fired()
    }

    /// Returns `Ready` if the timer has fired. Otherwise `cx` is woken when it does. The first poll
    /// arms the timer for `deadline`.
    #[inline]
    pub(crate) fn poll(
        self: Pin<&mut Self>,
        deadline: Instant,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ShutdownError>> {
        let this = self.into_ref().get_ref();
        let state = this.node.state.load();
        if state.is_fired() {
            Poll::Ready(Ok(()))
        } else if !state.is_armed() {
            // An entry that was shut down stays out of the wheel: `insert` refuses it.
            this.arm(deadline, cx.waker().clone())
        } else {
            // SAFETY: the caller is the owner.
            let parked = unsafe { this.node.copy_waker() };
            if parked.is(cx.waker()) {
                // If the timer fires from now on, it wakes this waker.
                Poll::Pending
            } else {
                this.replace_waker(cx.waker().clone())
            }
        }
    }

    /// Arms an entry that is idle or shut down. Only the owner may call this function and those
    /// below.
    fn arm(&self, deadline: Instant, waker: Waker) -> Poll<Result<(), ShutdownError>> {
        let shard = self.handle.shard();
        let tick = shard.shared.tick_of_deadline(deadline);
        // SAFETY: the caller is the owner, and the entry is not armed.
        unsafe { self.node.set_waker(waker) };
        // SAFETY: a node that is not armed is not linked; its waker is set.
        let result = match unsafe { self.insert(&mut shard.core(), tick) } {
            Arm::Armed => return Poll::Pending,
            Arm::ArmedFirst => {
                shard.shared.announce(tick);
                return Poll::Pending;
            }
            Arm::Elapsed => {
                self.node.state.transition_to_fired_by_owner();
                Ok(())
            }
            Arm::ShutDown => Err(ShutdownError),
        };
        // SAFETY: the entry was not armed, so no other thread takes the waker that was set above.
        drop(unsafe { self.node.copy_waker().into_waker() });
        Poll::Ready(result)
    }

    /// Links the node, if the wheel takes it.
    ///
    /// # Safety
    ///
    /// The node is not linked, its waker is set, and `core` is its handle's.
    unsafe fn insert(&self, core: &mut Core, tick: u64) -> Arm {
        if core.is_shut_down() {
            return Arm::ShutDown;
        }
        let shard = self.handle.shard();
        // The wheel may be behind the clock. Then a slot of a higher level may begin before the
        // current time and hold only later timers.
        let present = shard.shared.last_turn();
        if tick <= present {
            return Arm::Elapsed;
        }
        // Place the timer relative to the current time, so that it is not moved between levels for
        // ticks that have passed already.
        core.wheel.skip_to(present);
        // SAFETY: the caller ensures the rest. The entry is pinned, and its drop unlinks it, so it
        // is alive and does not move while it is linked.
        match unsafe { core.wheel.insert(NonNull::from(&self.node), tick) } {
            Insert::Elapsed => Arm::Elapsed,
            Insert::Armed if shard.earliest.lower(tick) => Arm::ArmedFirst,
            Insert::Armed => Arm::Armed,
        }
    }

    #[cold]
    fn replace_waker(&self, waker: Waker) -> Poll<Result<(), ShutdownError>> {
        let core = self.handle.shard().core();
        let state = self.node.state.load();
        if !state.is_armed() {
            // `waker` is a parameter, so it is dropped after the lock is released.
            return Poll::Ready(if state.is_fired() {
                Ok(())
            } else {
                Err(ShutdownError)
            });
        }
        // SAFETY: the caller is the owner and holds the lock, and the entry is armed with the waker
        // that is taken out, once, and replaced.
        let former = unsafe {
            let former = self.node.copy_waker().into_waker();
            self.node.set_waker(waker);
            former
        };
        drop(core);
        drop(former);
        Poll::Pending
    }

    /// Moves the deadline. An armed entry stays armed with its waker if the new deadline is in the
    /// future. Any other entry becomes idle.
    pub(crate) fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.into_ref().get_ref();
        let tick = this.handle.shard().shared.tick_of_deadline(deadline);
        if this.node.state.transition_to_later(tick) == Postpone::Sooner {
            this.reset_sooner(tick);
        }
    }

    fn reset_sooner(&self, tick: u64) {
        let node = &self.node;
        let shard = self.handle.shard();
        let mut core = shard.core();
        if !node.state.load().is_armed() {
            // It has fired meanwhile, at a tick later than the new one, so the new deadline has
            // passed too. Or the timers have shut down. A poll finds out which.
            return;
        }
        // SAFETY: the caller is the owner and holds the lock, and the entry is armed. The unlinked
        // entry keeps its waker. Until the end of this block its phase is still armed, which no
        // thread sees without the lock.
        let arm = unsafe {
            // The insertion lowers the tick of the shard.
            let _ = core.wheel.remove(NonNull::from(node));
            self.insert(&mut core, tick)
        };
        match arm {
            Arm::Armed => return,
            Arm::ArmedFirst => {
                drop(core);
                shard.shared.announce(tick);
                return;
            }
            Arm::Elapsed => node.state.transition_to_fired_by_owner(),
            Arm::ShutDown => node.state.transition_to_shut_down(),
        }
        shard.note_removal(&core);
        drop(core);
        // SAFETY: the caller has just ended the phase armed and therefore takes the waker.
        unsafe { node.copy_waker().into_waker() }.wake();
    }

    /// Removes an entry that is being dropped from the wheel.
    ///
    /// Out of line, so that dropping a timer that was never armed takes one load.
    #[inline(never)]
    fn cancel(&self) {
        let shard = self.handle.shard();
        let mut core = shard.core();
        if !self.node.state.load().is_armed() {
            return;
        }
        // SAFETY: the caller is the owner and holds the lock, and the entry is armed.
        if unsafe { core.wheel.remove(NonNull::from(&self.node)) } == SlotAfterRemoval::Empty {
            shard.note_removal(&core);
        }
        drop(core);
        // SAFETY: the entry is no longer linked, so its firer will not take the waker; and this is
        // its drop, so neither will the owner.
        drop(unsafe { self.node.copy_waker().into_waker() });
    }
}

impl Drop for Entry {
    #[inline]
    fn drop(&mut self) {
        if self.node.state.load().is_armed() {
            self.cancel();
        }
        // SAFETY: nothing reads it after this.
        unsafe { ManuallyDrop::take(&mut self.handle) }.give_back();
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.state.fmt(f)
    }
}
