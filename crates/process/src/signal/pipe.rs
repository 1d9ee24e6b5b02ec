//! The handlers of signals, and the pipe through which they wake a reactor.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use signal_hook_registry::SigId;

/// All signals have numbers below this on all systems.
pub(super) const SIGNALS: usize = 128;

/// The self-pipe of a process: a flag for each signal, and a pipe that gets a byte after a flag was
/// set.
pub(super) struct Pipe {
    reading: UnixStream,
    handlers: Arc<Handlers>,
    registered: BTreeMap<c_int, SigId>,
}

/// The state that the signal handlers access.
struct Handlers {
    flags: [AtomicBool; SIGNALS],
    writing: UnixStream,
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let (reading, writing) = UnixStream::pair()?;
        reading.set_nonblocking(true)?;
        writing.set_nonblocking(true)?;
        Ok(Self {
            reading,
            handlers: Arc::new(Handlers {
                flags: std::array::from_fn(|_| AtomicBool::new(false)),
                writing,
            }),
            registered: BTreeMap::new(),
        })
    }

    /// Returns a duplicate of the reading end, for a reactor to register.
    pub(super) fn try_clone_reading(&self) -> io::Result<UnixStream> {
        self.reading.try_clone()
    }

    /// Installs the handler, so that the signal sets its flag from now on.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such signal, or none that can be handled.
    #[allow(unsafe_code, reason = "the handler of a signal")]
    pub(super) fn handle(&mut self, kind: c_int) -> io::Result<()> {
        let known = usize::try_from(kind).is_ok_and(|kind| kind < SIGNALS);
        if !known || signal_hook_registry::FORBIDDEN.contains(&kind) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.registered.contains_key(&kind) {
            return Ok(());
        }
        let handlers = Arc::clone(&self.handlers);
        // SAFETY: the function is async-signal-safe: it neither allocates nor locks nor panics. The
        // registry restores the last error of the thread.
        let id = unsafe { signal_hook_registry::register(kind, move || handlers.notify(kind)) }?;
        self.registered.insert(kind, id);
        Ok(())
    }

    /// Empties the pipe and returns which signals have come since the last call.
    pub(super) fn take(&self) -> [bool; SIGNALS] {
        let mut bytes = [0; 64];
        // Drain the pipe first: if a flag is missed below, its byte is in the pipe afterwards.
        while matches!((&self.reading).read(&mut bytes), Ok(1..)) {}
        std::array::from_fn(|kind| {
            self.registered.contains_key(&(kind as c_int))
                // ORDERING: pairs with `notify`: what the thread of the handler did before the
                // signal is visible to a listener.
                && self.handlers.flags[kind].swap(false, Ordering::Acquire)
        })
    }
}

impl Handlers {
    /// Runs in the handler of a signal.
    fn notify(&self, kind: c_int) {
        if let Some(flag) = self.flags.get(kind as usize) {
            // ORDERING: pairs with `Pipe::take`.
            flag.store(true, Ordering::Release);
            // A full pipe will be read anyway.
            let _ = (&self.writing).write(&[1]);
        }
    }
}

impl Drop for Pipe {
    /// Runs in a forked child. Without this, the child's handlers would write to the parent's pipe.
    fn drop(&mut self) {
        for id in self.registered.values() {
            signal_hook_registry::unregister(*id);
        }
    }
}
