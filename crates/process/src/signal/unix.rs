//! Signals of Unix systems.

use std::ffi::c_int;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use super::delivery::Listener;

/// A kind of signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalKind(c_int);

impl SignalKind {
    /// The signal of this number.
    ///
    /// To [listen](signal) for a number that the system does not know is an
    /// error.
    pub const fn from_raw(signum: c_int) -> Self {
        Self(signum)
    }

    /// The signal's number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// `SIGALRM`: a timer of the operating system has run out.
    pub const fn alarm() -> Self {
        Self(libc::SIGALRM)
    }

    /// `SIGCHLD`: the state of a child process has changed.
    pub const fn child() -> Self {
        Self(libc::SIGCHLD)
    }

    /// `SIGHUP`: the terminal has gone; to daemons, often a request to read
    /// their configuration again.
    pub const fn hangup() -> Self {
        Self(libc::SIGHUP)
    }

    /// `SIGINFO`: Ctrl-T, a request to say how far the program is.
    #[cfg(any(
        target_vendor = "apple",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
    ))]
    pub const fn info() -> Self {
        Self(libc::SIGINFO)
    }

    /// `SIGINT`: Ctrl-C.
    pub const fn interrupt() -> Self {
        Self(libc::SIGINT)
    }

    /// `SIGIO`: a descriptor is ready.
    pub const fn io() -> Self {
        Self(libc::SIGIO)
    }

    /// `SIGPIPE`: what nobody reads was written. Rust programs start with it
    /// ignored.
    pub const fn pipe() -> Self {
        Self(libc::SIGPIPE)
    }

    /// `SIGQUIT`: Ctrl and backslash.
    pub const fn quit() -> Self {
        Self(libc::SIGQUIT)
    }

    /// `SIGTERM`: a request to end.
    pub const fn terminate() -> Self {
        Self(libc::SIGTERM)
    }

    /// `SIGUSR1`: whatever the program makes of it.
    pub const fn user_defined1() -> Self {
        Self(libc::SIGUSR1)
    }

    /// `SIGUSR2`: whatever the program makes of it.
    pub const fn user_defined2() -> Self {
        Self(libc::SIGUSR2)
    }

    /// `SIGWINCH`: the terminal has another size.
    pub const fn window_change() -> Self {
        Self(libc::SIGWINCH)
    }
}

impl From<c_int> for SignalKind {
    fn from(signum: c_int) -> Self {
        Self::from_raw(signum)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}

/// Listens for signals of a kind.
///
/// From the first listener of its kind on, the process does not do what the
/// signal does by default (it does not end by Ctrl-C, for one), not even when
/// the listener is dropped: then the signal has no effect. The process stays
/// so for good.
///
/// The first listener of the process takes two descriptors, the first on each
/// reactor one more. They are kept, and further listeners take none. A runtime has
/// one reactor, or one for each worker.
///
/// # Errors
///
/// If the kind may not be listened for (`SIGKILL`, `SIGSTOP`, `SIGILL`, `SIGFPE`
/// and `SIGSEGV`), if the system does not know it, if the process has no
/// descriptors left, or if the runtime has shut down.
///
/// # Panics
///
/// If the thread has no current reactor: it is in no runtime with I/O.
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    if signal_hook_registry::FORBIDDEN.contains(&kind.0) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this signal cannot be listened for; choose another",
        ));
    }
    Listener::new(kind.0).map(Signal)
}

/// Hears the signals of a kind, made by [`signal`].
///
/// Signals that come faster than they are taken are one. A signal that came before
/// the listener was made is heard only if the process had a listener of its kind
/// before, and no runtime has read it yet.
#[derive(Debug)]
pub struct Signal(Listener);

impl Signal {
    /// Waits for the next signal; `None` if the runtime in which the listener was
    /// made has shut down.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready loses no signal.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Polls for the next signal, as [`recv`](Self::recv). While it is pending,
    /// the task of the last call will be woken.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let unit = ready!(raddle_coop::poll_proceed(cx));
        let heard = ready!(self.0.poll(cx));
        unit.made_progress();
        Poll::Ready(heard)
    }
}
