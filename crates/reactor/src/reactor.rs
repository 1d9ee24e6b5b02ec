//! The driver of the selector.

use std::fmt;
use std::io;
use std::time::Duration;

use mio::Token;

use crate::error;
use crate::state::Collected;
use crate::table::UNPARK;
use crate::{Handle, Ready, WakerBatch};

/// The system call that makes a selector.
const SELECTOR: &str = if cfg!(any(target_os = "linux", target_os = "android")) {
    "epoll_create1"
} else {
    "the call that makes a selector"
};

/// The maximum number of events that one wait takes from the selector.
const EVENTS: usize = 1024;

/// Waits for events and hands them to the registrations they are for. The thread that drives it
/// owns it; other threads have a [`Handle`].
///
/// Dropping it [shuts it down](Self::shutdown).
///
/// ```
/// use mio::net::UdpSocket;
/// use raddle_reactor::{Interest, Reactor};
///
/// let mut reactor = Reactor::new()?;
/// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
/// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// peer.send_to(b"ping", socket.local_addr()?)?;
/// while reactor.turn(None, usize::MAX)? == 0 {}
/// let length = registration.try_io(Interest::READABLE, || socket.recv(&mut [0; 16]))?;
/// assert_eq!(length, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reactor {
    poll: mio::Poll,
    events: mio::Events,
    /// The events of the last wait; those before the cursor are dispatched.
    batch: Vec<(Token, Ready)>,
    cursor: usize,
    handle: Handle,
}

impl Reactor {
    /// Makes a reactor that watches nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no descriptors for the selector. If it, or a
    /// filter of system calls, does not have one of the calls, the error names the call.
    pub fn new() -> io::Result<Reactor> {
        let poll = mio::Poll::new().map_err(|error| error::refused(SELECTOR, error))?;
        let handle = Handle::new(poll.registry())?;
        Ok(Reactor {
            poll,
            events: mio::Events::with_capacity(EVENTS),
            batch: Vec::with_capacity(EVENTS),
            cursor: 0,
            handle,
        })
    }

    /// The handle by which sources are registered.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits for events, for `timeout` at most (`None`: forever), wakes the tasks that wait for
    /// them, and returns the number of events.
    ///
    /// At most `limit` events are dispatched. The rest is kept for the next turn, which then does
    /// not wait. A turn also ends, with zero events, on [`Handle::unpark`] and on a signal. Events
    /// of registrations that were dropped do not count.
    ///
    /// A panic of a waker ends here, reported by the panic hook.
    ///
    /// A turn with a timeout of zero makes no system call while nothing is registered.
    ///
    /// A forked child must not call it: it would take the parent's events.
    ///
    /// # Errors
    /// Returns the errors of the selector.
    pub fn turn(&mut self, timeout: Option<Duration>, limit: usize) -> io::Result<usize> {
        if self.cursor == self.batch.len() {
            if timeout == Some(Duration::ZERO) && self.handle.registered_count() == 0 {
                return Ok(0);
            }
            self.wait(timeout)?;
        }
        Ok(self.dispatch(limit))
    }

    /// Ends every wait on a registration with an error that says so, now and in future, and refuses
    /// further registrations. A panic of a waker ends here.
    ///
    /// ```
    /// use std::task::{Context, Poll};
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Interest, Reactor, is_shut_down};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
    /// let (wakes, waker) = raddle_testing::Wakes::new();
    /// let mut cx = Context::from_waker(&waker);
    /// assert!(registration.poll_read_ready(&mut cx).is_pending());
    /// reactor.shutdown();
    /// assert_eq!(wakes.get(), 1);
    /// let Poll::Ready(Err(error)) = registration.poll_read_ready(&mut cx) else {
    ///     panic!("the wait has ended")
    /// };
    /// assert!(is_shut_down(&error));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown(&mut self) {
        let states = self.handle.table().lock().shut_down();
        states.for_each(|state| state.shut_down());
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.batch.clear();
        self.cursor = 0;
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        let events = self.events.iter().filter(|event| event.token() != UNPARK);
        self.batch
            .extend(events.map(|event| (event.token(), Ready::from_mio(event))));
        Ok(())
    }

    fn dispatch(&mut self, limit: usize) -> usize {
        let mut dispatched = 0;
        while dispatched < limit && self.cursor < self.batch.len() {
            let mut wakers = WakerBatch::new();
            let mut unfinished = None;
            // Takes the lock once for as many events as fill a batch of wakers. If the wakers of an
            // event do not fit, the batch is full, so it is the last event.
            let before = dispatched;
            let mut table = self.handle.table().lock();
            while dispatched < limit && !wakers.is_full() {
                let Some(&(token, ready)) = self.batch.get(self.cursor) else {
                    break;
                };
                self.cursor += 1;
                let Some(state) = table.get(token) else {
                    continue;
                };
                dispatched += 1;
                if state.set_ready(ready, &mut wakers) == Collected::BatchFull {
                    unfinished = Some((state.clone(), ready));
                }
            }
            table.count_events(dispatched - before);
            drop(table);
            // A panic of one waker must not prevent the wakes of other waiters.
            wakers.wake_all_contained();
            if let Some((state, ready)) = unfinished {
                state.wake(ready, &mut wakers);
            }
        }
        dispatched
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor")
            .field("registered", &self.handle.registered_count())
            .field("undispatched", &(self.batch.len() - self.cursor))
            .finish_non_exhaustive()
    }
}
