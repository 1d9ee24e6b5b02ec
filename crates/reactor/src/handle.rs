//! The handle by which the rest of the program reaches a reactor.

use std::fmt;
use std::io;

use mio::event::Source;
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::table::{Table, UNPARK};
use crate::{Interest, IoState, Metrics, Registration, error};

/// The system call that creates the means to unpark a reactor.
const WAKER: &str = if cfg!(any(target_os = "linux", target_os = "android")) {
    "eventfd2"
} else {
    "the call that makes a selector's waker"
};

/// Registers sources with a reactor and unparks the thread that drives it. Cloning is cheap; all
/// methods may be called from any thread.
///
/// ```
/// use mio::net::UdpSocket;
/// use raddle_reactor::{Interest, Reactor};
///
/// let mut reactor = Reactor::new()?;
/// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let handle = reactor.handle();
/// // Another thread registers a source with the reactor of this one.
/// let registration = std::thread::scope(|scope| {
///     let thread = scope.spawn(|| handle.register(&mut socket, Interest::WRITABLE));
///     thread.join().unwrap()
/// })?;
/// while reactor.turn(None, usize::MAX)? == 0 {}
/// assert!(registration.try_ready(Interest::WRITABLE)?.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    registry: mio::Registry,
    unpark: mio::Waker,
    table: Mutex<Table>,
    /// The id of the process that created the selector.
    process: u32,
}

impl Handle {
    pub(crate) fn new(registry: &mio::Registry) -> io::Result<Self> {
        Ok(Self {
            shared: Arc::new(Shared {
                registry: registry.try_clone()?,
                unpark: mio::Waker::new(registry, UNPARK)
                    .map_err(|error| error::refused(WAKER, error))?,
                table: Mutex::ranked(Rank::outer(2, "registrations"), Table::new()),
                process: std::process::id(),
            }),
        })
    }

    /// Makes the current or next [`turn`](crate::Reactor::turn) return without waiting.
    pub fn unpark(&self) {
        // Fails only if the descriptor does not belong to the waker, or if the waker is set so
        // often that it cannot be missed.
        let _ = self.shared.unpark.wake();
    }

    /// Registers `source` for `interest` until the registration is
    /// [deregistered](Registration::deregister) or the source closed.
    ///
    /// # Errors
    ///
    /// Returns an error if the selector refuses the source, if there are 2^28 - 1 registrations
    /// (2^18 - 1 on targets of 32 bits), if the reactor has shut down, and in a forked child of the
    /// process that made the reactor. Nothing stays registered then.
    pub fn register<S>(&self, source: &mut S, interest: Interest) -> io::Result<Registration>
    where
        S: Source + ?Sized,
    {
        // Created before the selector knows the source: dropping it frees the slot, whatever the
        // selector returns.
        let registration = self.reserve()?;
        let token = registration.token();
        self.registry().register(source, token, interest.to_mio())?;
        Ok(registration)
    }

    /// Makes the registration of a source that the selector does not know yet.
    fn reserve(&self) -> io::Result<Registration> {
        self.check_process()?;
        let state = Arc::new(IoState::new());
        let token = self.table().lock().insert(state.clone())?;
        Ok(Registration::new(self.clone(), token, state))
    }

    /// Refuses operations that would change the selector that a forked child shares with its
    /// parent.
    pub(crate) fn check_process(&self) -> io::Result<()> {
        if std::process::id() == self.shared.process {
            Ok(())
        } else {
            Err(error::forked())
        }
    }

    /// Returns whether `other` is a handle of the same reactor.
    pub fn is_same_reactor(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the number of sources that are registered now.
    pub fn registered_count(&self) -> usize {
        self.table().lock().len()
    }

    /// Returns the counts of the reactor.
    pub fn metrics(&self) -> Metrics {
        self.table().lock().metrics()
    }

    pub(crate) fn registry(&self) -> &mio::Registry {
        &self.shared.registry
    }

    pub(crate) fn table(&self) -> &Mutex<Table> {
        &self.shared.table
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("reactor::Handle").finish_non_exhaustive()
    }
}
