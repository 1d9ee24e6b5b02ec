//! Delivery from the signal handlers to the listeners.
//!
//! A process has one self-pipe, into which the handlers of all signals write, and one flag a
//! signal. Each reactor with listeners has a [`Receiver`]: a duplicate of the pipe's reading end,
//! which is registered there. The reactor that gets the event first reads the pipe, for the
//! listeners on all reactors.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::sync::{Arc, LazyLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

use mio::net::UnixStream;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Mutex, Rank};
use raddle_reactor::{Evented, Handle, Interest, WakerBatch};
use raddle_wait::Resource;

use super::pipe::Pipe;

/// The state of signals in the process. It exists from the first listener on.
struct Delivery {
    /// A forked child makes a new one, because its pipe is shared with the parent.
    process: u32,
    pipe: Pipe,
    /// One receiver for each reactor that has had a listener and has not shut down.
    receivers: Vec<Arc<Receiver>>,
    listeners: BTreeMap<u64, Waiting>,
    /// The key of the next listener.
    next: u64,
}

/// The state of a listener.
struct Waiting {
    kind: c_int,
    receiver: Weak<Receiver>,
    /// Whether a signal has come that the listener has not taken.
    has_signal: bool,
    waker: Option<Waker>,
}

static DELIVERY: LazyLock<Mutex<Option<Delivery>>> =
    LazyLock::new(|| Mutex::ranked(Rank::leaf("listeners for signals"), None));

impl Delivery {
    fn new() -> io::Result<Self> {
        Ok(Self {
            process: std::process::id(),
            pipe: Pipe::new()?,
            receivers: Vec::new(),
            listeners: BTreeMap::new(),
            next: 0,
        })
    }

    /// Returns the state of this process. Makes it if there is none.
    fn of_this_process(slot: &mut Option<Self>) -> io::Result<&mut Self> {
        if slot
            .as_ref()
            .is_some_and(|delivery| delivery.process != std::process::id())
        {
            // The wakers and reactors belong to the parent: none of their code may run here.
            let former = slot.take();
            std::mem::forget(former.map(|former| (former.listeners, former.receivers)));
        }
        match slot {
            Some(delivery) => Ok(delivery),
            none => Ok(none.insert(Self::new()?)),
        }
    }

    fn receiver_of(&self, reactor: &Handle) -> Option<Arc<Receiver>> {
        let mut receivers = self.receivers.iter();
        receivers
            .find(|receiver| receiver.pipe.handle().is_same_reactor(reactor))
            .cloned()
    }

    /// Returns the wakers of the listeners for which `concerned` returns true. `concerned` may
    /// change the listeners.
    fn wakers(&mut self, mut concerned: impl FnMut(&mut Waiting) -> bool) -> Vec<WakerBatch> {
        let mut batches: Vec<WakerBatch> = Vec::new();
        for listener in self.listeners.values_mut() {
            if !concerned(listener) {
                continue;
            }
            let Some(waker) = listener.waker.take() else {
                continue;
            };
            match batches.last_mut() {
                Some(batch) if !batch.is_full() => batch.push(waker),
                _ => {
                    let mut batch = WakerBatch::new();
                    batch.push(waker);
                    batches.push(batch);
                }
            }
        }
        batches
    }
}

/// Reads the pipe and the flags, and wakes the listeners for the signals that have come.
fn deliver() {
    let mut delivery = DELIVERY.lock();
    let Some(delivered) = &mut *delivery else {
        return;
    };
    // It reads the pipe, then the flags. A signal in between is noticed now, and its byte is read
    // later without effect. One lock covers the reading and the listeners: if a reactor finds that
    // another has read the pipe, its own listeners have been notified.
    let come = delivered.pipe.take();
    let mut batches = delivered.wakers(|listener| {
        let concerned = come[listener.kind as usize];
        listener.has_signal |= concerned;
        concerned
    });
    drop(delivery);
    // If a waker panics, dropping the batch wakes the others.
    batches.iter_mut().for_each(WakerBatch::wake_all);
}

/// One reactor's reader of the self-pipe. It lives as long as the reactor, so that a signal that
/// comes while there is no listener is not kept for the next one.
struct Receiver {
    pipe: Evented<UnixStream>,
    /// Whether the reactor has shut down.
    closed: AtomicBool,
}

impl Receiver {
    /// Returns the receiver of the current reactor. Makes it if there is none.
    #[track_caller]
    fn current() -> io::Result<Arc<Self>> {
        let reactor = Handle::current();
        let pipe = {
            let mut delivery = DELIVERY.lock();
            let delivery = Delivery::of_this_process(&mut delivery)?;
            if let Some(known) = delivery.receiver_of(&reactor) {
                return Ok(known);
            }
            delivery.pipe.try_clone_reading()?
        };
        // Do this without the lock: the reactor has its own.
        let receiver = Arc::new(Self {
            pipe: Evented::new(UnixStream::from_std(pipe), Interest::READABLE, &reactor)?,
            closed: AtomicBool::new(false),
        });
        {
            let mut delivery = DELIVERY.lock();
            let delivery = Delivery::of_this_process(&mut delivery)?;
            // Another thread may have made it first.
            if let Some(known) = delivery.receiver_of(&reactor) {
                return Ok(known);
            }
            delivery.receivers.push(Arc::clone(&receiver));
        }
        receiver.listen(&Waker::from(Arc::new(OnEvent(Arc::downgrade(&receiver)))));
        Ok(receiver)
    }

    /// Delivers the signals that have come, and waits for the next event.
    fn listen(&self, waker: &Waker) {
        let mut cx = Context::from_waker(waker);
        let delivered: Poll<io::Result<()>> = raddle_coop::unlimited(|| {
            self.pipe.poll_read_io(&mut cx, |_| {
                deliver();
                Err(io::ErrorKind::WouldBlock.into())
            })
        });
        if delivered.is_ready() {
            self.close();
        }
    }

    /// Ends the waits of the reactor's listeners when the reactor has shut down.
    fn close(&self) {
        // ORDERING: pairs with `Listener::poll` through the lock that is taken next.
        self.closed.store(true, Ordering::Relaxed);
        let mut delivery = DELIVERY.lock();
        let Some(known) = &mut *delivery else { return };
        let receivers = &mut known.receivers;
        let position = receivers
            .iter()
            .position(|other| std::ptr::eq(&**other, self));
        // Drop it after the lock: the drop leaves the reactor.
        let _closed = position.map(|position| receivers.swap_remove(position));
        let mut batches = known.wakers(|listener| std::ptr::eq(listener.receiver.as_ptr(), self));
        drop(delivery);
        batches.iter_mut().for_each(WakerBatch::wake_all);
    }
}

/// The waker that the reactor wakes when there is data in the pipe.
struct OnEvent(Weak<Receiver>);

impl Wake for OnEvent {
    fn wake(self: Arc<Self>) {
        if let Some(receiver) = self.0.upgrade() {
            receiver.listen(&Waker::from(self));
        }
    }
}

/// Listens for one kind of signal.
pub(super) struct Listener {
    key: u64,
    receiver: Arc<Receiver>,
}

impl Listener {
    /// Listens on the current reactor for signals from now on, and for those that no reactor has
    /// read yet.
    #[track_caller]
    pub(super) fn new(kind: c_int) -> io::Result<Self> {
        let receiver = Receiver::current()?;
        let mut delivery = DELIVERY.lock();
        let delivery = Delivery::of_this_process(&mut delivery)?;
        delivery.pipe.handle(kind)?;
        let key = delivery.next;
        delivery.next += 1;
        let waiting = Waiting {
            kind,
            receiver: Arc::downgrade(&receiver),
            has_signal: false,
            waker: None,
        };
        delivery.listeners.insert(key, waiting);
        Ok(Self { key, receiver })
    }

    /// Takes a signal that has come. Returns `None` if the reactor has shut down.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        // Clone the new waker before the lock, and drop the old one after it.
        let waker = cx.waker().clone();
        let mut delivery = DELIVERY.lock();
        let waiting = delivery
            .as_mut()
            .and_then(|delivery| delivery.listeners.get_mut(&self.key));
        let Some(waiting) = waiting else {
            // A forked child has its own listeners.
            return Poll::Ready(None);
        };
        if std::mem::take(&mut waiting.has_signal) {
            return Poll::Ready(Some(()));
        }
        // ORDERING: pairs with `close`: its critical section comes after this one, or it has set
        // the flag before.
        if self.receiver.closed.load(Ordering::Relaxed) {
            return Poll::Ready(None);
        }
        let former = waiting.waker.replace(waker);
        drop(delivery);
        drop(former);
        raddle_wait::note(cx, "signal", None, Resource::Unknown);
        Poll::Pending
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let removed = DELIVERY
            .lock()
            .as_mut()
            .and_then(|delivery| delivery.listeners.remove(&self.key));
        drop(removed);
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
