//! The driver of the selector.

use std::fmt;
use std::io;
use std::time::Duration;

use mio::Token;

use crate::error;
use crate::state::Collected;
use crate::table::UNPARK;
use crate::wait_timer::WaitTimer;
use crate::{Handle, Ready, WakerBatch};

/// The system call that makes a selector.
const SELECTOR: &str = if cfg!(any(target_os = "linux", target_os = "android")) {
    "epoll_create1"
} else {
    "the call that makes a selector"
};

/// The maximum number of events that one wait takes from the selector.
const EVENTS: usize = 1024;

/// The longest wait of one turn.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The clock that measures the timeouts of a reactor's waits: see
/// [`with_timeout_clock`](Reactor::with_timeout_clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutClock {
    /// Counts nanoseconds.
    Precise,
    /// Counts nanoseconds, also while the system is suspended. A timeout that passes meanwhile ends
    /// the wait when the system resumes.
    CountsSuspendedTime,
}

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
    /// `Some` if it measures the timeouts, in place of the selector.
    timer: Option<WaitTimer>,
}

impl Reactor {
    /// Makes a reactor that watches nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system gives no descriptors for the selector. If it, or a
    /// filter of system calls, does not have one of the calls, the error names the call.
    pub fn new() -> io::Result<Reactor> {
        Self::with_optional_clock(None)
    }

    /// Like [`new`](Self::new), but measures the timeouts of [`turn`](Self::turn) with the given
    /// clock. Without it, a selector may count whole milliseconds, rounded up, as epoll does.
    ///
    /// On Linux and Android this takes a descriptor for a timer of the system, and a further system
    /// call (`timerfd_settime`) for each wait with a timeout. On other systems it has no effect:
    /// kqueue counts nanoseconds anyway, and Windows counts milliseconds.
    ///
    /// # Errors
    ///
    /// The same as for [`new`](Self::new), and if the system refuses the timer.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use raddle_reactor::{Reactor, TimeoutClock};
    ///
    /// let mut reactor = Reactor::with_timeout_clock(TimeoutClock::Precise)?;
    /// let start = Instant::now();
    /// reactor.turn(Some(Duration::from_micros(200)), usize::MAX)?;
    /// println!("waited for {:?}", start.elapsed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_timeout_clock(clock: TimeoutClock) -> io::Result<Reactor> {
        Self::with_optional_clock(Some(clock))
    }

    fn with_optional_clock(clock: Option<TimeoutClock>) -> io::Result<Reactor> {
        let poll = mio::Poll::new().map_err(|error| error::refused(SELECTOR, error))?;
        let handle = Handle::new(poll.registry())?;
        let timer = match clock {
            Some(clock) => WaitTimer::new(poll.registry(), clock)?,
            None => None,
        };
        Ok(Reactor {
            timer,
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

    /// Returns whether a timeout of [`turn`](Self::turn) passes while the system is suspended.
    pub fn counts_suspended_time(&self) -> bool {
        let timer = self.timer.as_ref();
        timer.is_some_and(WaitTimer::counts_suspended_time)
    }

    /// Waits for events, for `timeout` at most (`None`: forever), wakes the tasks that wait for
    /// them, and returns the number of events.
    ///
    /// At most `limit` events are dispatched. The rest is kept for the next turn, which then does
    /// not wait. A turn also ends, with zero events, on [`Handle::unpark`], on a signal and after a
    /// day. Events
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
        let timeout = match (&self.timer, timeout) {
            (Some(timer), Some(timeout)) if !timeout.is_zero() => {
                timer.start(timeout)?;
                None
            }
            // A turn may end early. mio before 1.2.1 cuts long timeouts to 32 bits.
            _ => timeout.map(|timeout| timeout.min(MAX_WAIT)),
        };
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
