//! What the calling thread does: it runs code of a host, or code of the simulation, or it has
//! nothing to do with one.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::clock::Clocks;
use crate::engine::Engine;
use crate::kernel::Caller;

/// See [`spins_on_clocks`].
const MAX_READS: u32 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Not a thread of a simulation.
    Outside,
    /// Its calls go to the system.
    Kernel,
    /// Its calls go to the kernel of the simulation.
    Host,
}

/// Plain cells, so that a thread that ends can still read them.
struct Current {
    mode: Cell<Mode>,
    caller: Cell<Caller>,
    clocks: Cell<Clocks>,
    /// How often code of the host has read these clocks.
    reads: Cell<u32>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            mode: Cell::new(Mode::Outside),
            caller: Cell::new(Caller { host: 0, boot: 0 }),
            clocks: Cell::new(Clocks { monotonic: 0, realtime: 0 }),
            reads: Cell::new(0),
        }
    };
    static ENGINE: OnceCell<Arc<Engine>> = const { OnceCell::new() };
}

/// Makes the calling thread one of a simulation, for as long as it lives.
pub(crate) fn join(engine: &Arc<Engine>) {
    let _is_same = ENGINE.with(|current| current.set(Arc::clone(engine)));
    CURRENT.with(|current| current.mode.set(Mode::Kernel));
}

/// Whether the calling thread runs code of the simulation itself.
pub(crate) fn is_kernel() -> bool {
    CURRENT.with(|current| current.mode.get() == Mode::Kernel)
}

/// The clocks of the host whose code the calling thread runs.
#[inline]
pub(crate) fn clocks() -> Option<Clocks> {
    CURRENT.with(|current| (current.mode.get() == Mode::Host).then(|| current.clocks.get()))
}

/// Counts a read of the clocks. Returns whether the thread seems to wait for a time by reading
/// them: it has read them [`MAX_READS`] times since they moved, or since the last such answer.
#[inline]
pub(crate) fn spins_on_clocks() -> bool {
    CURRENT.with(|current| {
        let reads = current.reads.get() + 1;
        current.reads.set(reads % MAX_READS);
        reads == MAX_READS && current.mode.get() == Mode::Host
    })
}

/// Moves the clocks of the host whose code the calling thread runs, or returns to.
pub(crate) fn set_clocks(clocks: Clocks) {
    CURRENT.with(|current| {
        current.clocks.set(clocks);
        current.reads.set(0);
    });
}

/// Sets what the thread does back when it is dropped.
struct Restore(Mode, Caller);

impl Restore {
    #[inline]
    fn enter(mode: Mode) -> Self {
        CURRENT.with(|current| Self(current.mode.replace(mode), current.caller.get()))
    }
}

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.mode.set(self.0);
            current.caller.set(self.1);
        });
    }
}

/// Makes the calling thread run code of a host from now on, until [`leave_host`].
pub(crate) fn enter_host(caller: Caller, clocks: Clocks) {
    set_clocks(clocks);
    CURRENT.with(|current| {
        current.mode.set(Mode::Host);
        current.caller.set(caller);
    });
}

/// Makes the calling thread run no code of a host any more.
pub(crate) fn leave_host() {
    CURRENT.with(|current| current.mode.set(Mode::Kernel));
}

/// Runs code of a host.
#[inline]
pub(crate) fn as_host<R>(caller: Caller, clocks: Clocks, f: impl FnOnce() -> R) -> R {
    let _restore = Restore::enter(Mode::Host);
    CURRENT.with(|current| {
        current.caller.set(caller);
        current.clocks.set(clocks);
        current.reads.set(0);
    });
    f()
}

/// Runs code of the simulation on any thread: its calls go to the system.
#[inline]
pub(crate) fn as_kernel<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore::enter(Mode::Kernel);
    f()
}

/// Calls the kernel of the simulation, if the calling thread runs code of a host.
#[inline]
pub(crate) fn call<R>(f: impl FnOnce(&Arc<Engine>, Caller) -> R) -> Option<R> {
    let caller = CURRENT.with(|current| {
        let is_host = current.mode.get() == Mode::Host;
        is_host.then(|| current.caller.get())
    })?;
    // A thread that ends has no engine any more.
    let called =
        ENGINE.try_with(|engine| engine.get().map(|engine| as_kernel(|| f(engine, caller))));
    called.ok().flatten()
}
