//! Prints dumps when the process gets SIGQUIT.

use std::fmt::{self, Write as _};
use std::io;
use std::mem::MaybeUninit;
use std::thread;

use signal_hook::consts::SIGQUIT;
use signal_hook::iterator::{Handle, Signals};

use crate::table::TaskTable;

/// The largest part of a text that is written at once: a pipe takes it whole.
const PIECE: usize = 4096;

/// Prints a dump to standard error for each SIGQUIT, until it is dropped.
pub struct SigquitGuard(Handle);

impl TaskTable {
    /// Starts a thread that prints a [dump](Self::dump) to standard error each time the process
    /// gets SIGQUIT (`kill -QUIT`, or Ctrl and backslash in a terminal), even while all workers are
    /// stuck. `more` writes what follows the dump.
    ///
    /// SIGQUIT may be blocked on all other threads: this one unblocks it. The text is written in
    /// pieces, without the lock of [`io::stderr`], so that other threads can print meanwhile.
    ///
    /// From then on SIGQUIT no longer ends the process, not even after the value is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses a thread or a descriptor.
    pub fn print_on_sigquit(
        &self,
        more: impl Fn(&mut dyn fmt::Write) -> fmt::Result + Send + 'static,
    ) -> io::Result<SigquitGuard> {
        let mut signals = Signals::new([SIGQUIT])?;
        let guard = SigquitGuard(signals.handle());
        let tasks = self.clone();
        let thread = thread::Builder::new().name("raddle-dump".to_owned());
        thread.spawn(move || {
            unblock_sigquit();
            for _ in signals.forever() {
                let mut text = StandardError(String::with_capacity(PIECE));
                // Standard error may be closed; the dump cannot be written elsewhere.
                let _ = write!(text, "{}", tasks.dump());
                let _ = more(&mut text);
                let _ = text.flush();
            }
        })?;
        Ok(guard)
    }
}

/// Takes SIGQUIT out of the calling thread's signal mask, so that the process has a thread that can
/// run the handler. A program that reads signals from a descriptor blocks them on all threads.
fn unblock_sigquit() {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initializes `set`, which the others write and read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), SIGQUIT);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Standard error without its lock, and the text that is not written yet.
struct StandardError(String);

impl fmt::Write for StandardError {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while self.0.len() + text.len() > PIECE {
            let mut end = PIECE - self.0.len();
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.0.push_str(&text[..end]);
            text = &text[end..];
            self.flush().map_err(|_| fmt::Error)?;
        }
        self.0.push_str(text);
        Ok(())
    }
}

impl StandardError {
    /// Writes whole lines, and the rest if there is none.
    fn flush(&mut self) -> io::Result<()> {
        let end = match self.0.rfind('\n') {
            Some(line) if self.0.len() >= PIECE - char::MAX.len_utf8() => line + 1,
            _ => self.0.len(),
        };
        let result = write(&self.0.as_bytes()[..end]);
        self.0.drain(..end);
        result
    }
}

/// Writes to the descriptor of standard error, however long that takes.
fn write(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the call reads `bytes`.
        let written =
            unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error if error.kind() == io::ErrorKind::WouldBlock => wait_writable(),
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// Waits until standard error takes more, if it does not block. May return early.
fn wait_writable() {
    let mut descriptor = libc::pollfd {
        fd: libc::STDERR_FILENO,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: the call reads and writes the one element.
    unsafe { libc::poll(&mut descriptor, 1, -1) };
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
