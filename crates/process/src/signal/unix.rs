//! Signals of Unix systems.

use std::ffi::c_int;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use super::delivery::{self, Listener};

/// A kind of signal.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::signal::unix::{SignalKind, signal};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut reloads = signal(SignalKind::hangup())?;
/// while reloads.recv().await.is_some() {
///     println!("reading the configuration again");
/// }
/// # Ok(()) }) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalKind(c_int);

impl SignalKind {
    /// Makes the signal with this number.
    ///
    /// [Listening](signal) for a number that the system does not know is an error.
    pub const fn from_raw(signum: c_int) -> Self {
        Self(signum)
    }

    /// Returns the signal's number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// `SIGALRM`: a timer of the operating system has expired.
    pub const fn alarm() -> Self {
        Self(libc::SIGALRM)
    }

    /// `SIGCHLD`: the state of a child process has changed.
    pub const fn child() -> Self {
        Self(libc::SIGCHLD)
    }

    /// `SIGHUP`: the terminal was closed; for daemons, often a request to reload their
    /// configuration.
    pub const fn hangup() -> Self {
        Self(libc::SIGHUP)
    }

    /// `SIGINFO`: Ctrl-T, a request to report progress.
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

    /// `SIGPIPE`: a write to a pipe or socket without a reader. Rust programs start with it
    /// ignored.
    pub const fn pipe() -> Self {
        Self(libc::SIGPIPE)
    }

    /// `SIGQUIT`: Ctrl and backslash.
    pub const fn quit() -> Self {
        Self(libc::SIGQUIT)
    }

    /// `SIGTERM`: a request to terminate.
    pub const fn terminate() -> Self {
        Self(libc::SIGTERM)
    }

    /// `SIGUSR1`: defined by the program.
    pub const fn user_defined1() -> Self {
        Self(libc::SIGUSR1)
    }

    /// `SIGUSR2`: defined by the program.
    pub const fn user_defined2() -> Self {
        Self(libc::SIGUSR2)
    }

    /// `SIGWINCH`: the size of the terminal has changed.
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
/// The first listener of a kind permanently replaces the default action of the signal: Ctrl-C, for
/// example, no longer ends the process. After the listener is dropped, the signal has no effect,
/// unless the program calls [`restore_default_when_unused`].
///
/// The listener works in any runtime, even after the current one is gone. It takes no descriptor:
/// all signals share two, which the first runtime of the process opens.
///
/// # Errors
///
/// Returns an error of the kind `Other` if the signal cannot be handled (`SIGKILL`, `SIGSTOP`,
/// `SIGILL`, `SIGFPE` and `SIGSEGV`), if the signal does not exist, or if the runtime has shut
/// down, and the system's error if it reserves the signal.
///
/// # Panics
///
/// Panics if the thread has no current reactor, because it is not in a runtime with I/O.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::signal::unix::{SignalKind, signal};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut signals = signal(SignalKind::user_defined1())?;
/// # unsafe { libc::raise(libc::SIGUSR1) };
/// signals.recv().await;
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    Listener::new(kind.0).map(Signal)
}

/// Gives signals of a kind their default action whenever no listener for the kind exists, from now
/// on and in the whole process.
///
/// Without this, the first listener disables the default action permanently. With it, the first
/// Ctrl-C can begin a graceful shutdown, and the second one ends a process that hangs in it.
///
/// The default action is taken by the handler, which stays installed: it restores the action and
/// raises the signal again. A signal that was received by a listener has no other effect.
///
/// # Handlers of other code
///
/// - If the signal was handled or ignored by other code when the first listener was made, that code
///   goes on handling or ignoring it, and this function has no effect.
/// - Other code that adds a handler afterwards through
///   [`signal-hook-registry`](https://docs.rs/signal-hook-registry) does not count as a listener:
///   without one, the process ends before or after that handler runs. Call this function only for
///   signals that nothing else handles.
/// - A handler that is installed afterwards without that crate replaces the one of the listeners,
///   and the default action with it, unless it calls the former handler.
///
/// # Errors
///
/// Returns the errors of [`signal`] for kinds that cannot be listened for.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::signal::ctrl_c;
/// use raddle::signal::unix::{SignalKind, restore_default_when_unused};
///
/// # async fn finish_requests() {}
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// restore_default_when_unused(SignalKind::interrupt())?;
/// ctrl_c().await?;
/// println!("finishing; press Ctrl-C again to quit at once");
/// finish_requests().await;
/// # Ok(()) }) }
/// ```
pub fn restore_default_when_unused(kind: SignalKind) -> io::Result<()> {
    delivery::restore_default(kind.0)
}

/// Receives the signals of one kind; made by [`signal`].
///
/// Signals that come faster than they are received count as one. A signal that came before the
/// listener was made is received only if the process already had a listener of its kind, and no
/// runtime has read the signal yet.
#[derive(Debug)]
pub struct Signal(Listener);

impl Signal {
    /// Waits for the next signal, in any runtime.
    ///
    /// In a runtime with I/O, that runtime delivers the signal. Elsewhere, as in another executor
    /// or after that runtime has shut down, any running runtime of the process delivers it. While
    /// none runs, the wait continues, and a signal is kept for the next runtime.
    ///
    /// Returns `None` only in a forked process that makes runtimes of its own, if the listener was
    /// made before the fork.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready loses no signal.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::signal::unix::{SignalKind, signal};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut terminate = signal(SignalKind::terminate())?;
    /// terminate.recv().await;
    /// println!("stopping");
    /// # Ok(()) }) }
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Polls for the next signal, as [`recv`](Self::recv). While it is pending, the task of the
    /// last call will be woken.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let unit = ready!(raddle_leaf::coop::poll_proceed(cx));
        let received = ready!(self.0.poll(cx));
        unit.made_progress();
        Poll::Ready(received)
    }
}
