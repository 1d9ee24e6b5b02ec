//! The handlers of signals, and the pipe through which they wake a reactor.

use std::ffi::c_int;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use signal_hook_registry::SigId;

use super::default_action;

/// All signals have numbers below this on all systems.
pub(super) const SIGNALS: usize = 128;

/// The self-pipe of a process: a flag for each signal, and a pipe that gets a byte after a flag was
/// set.
pub(super) struct Pipe {
    reading: Arc<UnixStream>,
    handlers: Arc<Handlers>,
    registered: Vec<(c_int, SigId)>,
}

/// The state that the signal handlers access.
struct Handlers {
    flags: [AtomicBool; SIGNALS],
    /// For which signals the handler also takes the default action.
    defaults: [AtomicBool; SIGNALS],
    writing: UnixStream,
}

/// Checks that there may be a handler for the signal.
///
/// # Errors
///
/// Returns an error of the kind `Other`, as Tokio does. Of the numbers that pass, the system may
/// still refuse some.
pub(super) fn check(kind: c_int) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "illumos"))]
    let last = libc::SIGRTMAX();
    #[cfg(not(any(target_os = "linux", target_os = "illumos")))]
    let last = SIGNALS as c_int - 1;
    if !(1..=last).contains(&kind) {
        return Err(io::Error::other(format!(
            "there is no signal {kind}; use a number from 1 to {last}"
        )));
    }
    if signal_hook_registry::FORBIDDEN.contains(&kind) {
        return Err(io::Error::other(format!(
            "signal {kind} cannot be listened for; choose another"
        )));
    }
    Ok(())
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let (reading, writing) = UnixStream::pair()?;
        reading.set_nonblocking(true)?;
        writing.set_nonblocking(true)?;
        let all_false = || std::array::from_fn(|_| AtomicBool::new(false));
        Ok(Self {
            reading: Arc::new(reading),
            handlers: Arc::new(Handlers {
                flags: all_false(),
                defaults: all_false(),
                writing,
            }),
            registered: Vec::new(),
        })
    }

    /// Returns the reading end, for a reactor to register.
    pub(super) fn reading(&self) -> Arc<UnixStream> {
        Arc::clone(&self.reading)
    }

    pub(super) fn has_handlers(&self) -> bool {
        !self.registered.is_empty()
    }

    pub(super) fn has_handler(&self, kind: c_int) -> bool {
        self.registered.iter().any(|(known, _)| *known == kind)
    }

    /// Installs the handler, so that the signal sets its flag from now on. The number must have
    /// passed the [check].
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not know the signal.
    #[allow(unsafe_code, reason = "the handler of a signal")]
    pub(super) fn handle(&mut self, kind: c_int) -> io::Result<()> {
        if self.has_handler(kind) {
            return Ok(());
        }
        let handlers = Arc::clone(&self.handlers);
        // SAFETY: the function is async-signal-safe: it neither allocates nor locks nor panics. The
        // registry restores the last error of the thread.
        let id = unsafe { signal_hook_registry::register(kind, move || handlers.notify(kind)) }?;
        self.registered.push((kind, id));
        Ok(())
    }

    /// Sets whether the handler also takes the default action of the signal.
    pub(super) fn set_default(&self, kind: c_int, takes: bool) {
        if let Some(default) = self.handlers.defaults.get(kind as usize) {
            // ORDERING: pairs with `notify`: what this thread did while there was a listener is
            // visible to a handler that ends the process.
            default.store(takes, Ordering::Release);
        }
    }

    /// Empties the pipe and returns which signals have come since the last call.
    pub(super) fn take(&self) -> [bool; SIGNALS] {
        let mut bytes = [0; 64];
        // Drain the pipe first: if a flag is missed below, its byte is in the pipe afterwards.
        while matches!((&*self.reading).read(&mut bytes), Ok(1..)) {}
        std::array::from_fn(|kind| {
            self.has_handler(kind as c_int)
                // ORDERING: pairs with `notify`: what the thread of the handler did before the
                // signal is visible to a listener.
                && self.handlers.flags[kind].swap(false, Ordering::Acquire)
        })
    }
}

impl Handlers {
    /// Runs in the handler of a signal.
    fn notify(&self, kind: c_int) {
        let at = kind as usize;
        let (Some(flag), Some(default)) = (self.flags.get(at), self.defaults.get(at)) else {
            return;
        };
        // ORDERING: pairs with `Pipe::take`.
        flag.store(true, Ordering::Release);
        // A full pipe will be read anyway.
        let _ = (&self.writing).write(&[1]);
        // ORDERING: pairs with `Pipe::set_default`.
        if default.load(Ordering::Acquire) {
            default_action::take(kind);
        }
    }
}

impl Drop for Pipe {
    /// Runs in a forked child. Without this, the child's handlers would write to the parent's pipe.
    fn drop(&mut self) {
        for (_, id) in &self.registered {
            signal_hook_registry::unregister(*id);
        }
    }
}
