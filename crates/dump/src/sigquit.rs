//! Prints dumps when the process gets SIGQUIT.

use std::fmt;
use std::io::{self, Write};
use std::thread;

use signal_hook::consts::SIGQUIT;
use signal_hook::iterator::{Handle, Signals};

use crate::table::TaskTable;

/// Prints a dump to standard error for each SIGQUIT, until it is dropped.
pub struct SigquitGuard(Handle);

impl TaskTable {
    /// Starts a thread that prints a [dump](Self::dump) to standard error each time the process
    /// gets SIGQUIT (`kill -QUIT`, or Ctrl and backslash in a terminal), even while all workers are
    /// stuck.
    ///
    /// From then on SIGQUIT no longer ends the process, not even after the value is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses a thread or a descriptor.
    pub fn print_on_sigquit(&self) -> io::Result<SigquitGuard> {
        let mut signals = Signals::new([SIGQUIT])?;
        let guard = SigquitGuard(signals.handle());
        let tasks = self.clone();
        let thread = thread::Builder::new().name("raddle-dump".to_owned());
        thread.spawn(move || {
            for _ in signals.forever() {
                let text = tasks.dump().to_string();
                // Standard error may be closed; the dump cannot be written elsewhere.
                let _ = io::stderr().lock().write_all(text.as_bytes());
            }
        })?;
        Ok(guard)
    }
}

impl Drop for SigquitGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for SigquitGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigquitGuard").finish_non_exhaustive()
    }
}
