//! From the handlers of signals to those who listen.
//!
//! A process has one self-pipe, into which the handlers of all signals write, and
//! one flag a signal. Each runtime with listeners has a [`Receiver`]: a duplicate of
//! the pipe's reading end, which its reactor watches. Whichever reactor sees the
//! event first reads the pipe, for the listeners of all runtimes.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::{Arc, LazyLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

use mio::net::UnixStream;
use raddle_reactor::{Interest, WakerBatch};
use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::sync::{Mutex, Rank};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::runtime::Handle;
use crate::watched::Watched;

/// Signals have numbers below this, on all systems.
const SIGNALS: c_int = 128;

/// What the process knows of signals, from its first listener on.
struct Delivery {
    /// A forked child makes another one: the pipe is shared with the parent.
    process: u32,
    signals: SignalDelivery<StdStream, SignalOnly>,
    listeners: BTreeMap<u64, Waiting>,
    /// The key of the next listener.
    next: u64,
}

/// A listener, as those see it who deliver.
struct Waiting {
    kind: c_int,
    receiver: Weak<Receiver>,
    /// Whether a signal has come that the listener has not taken.
    heard: bool,
    waker: Option<Waker>,
}

static DELIVERY: LazyLock<Mutex<Option<Delivery>>> =
    LazyLock::new(|| Mutex::ranked(Rank::leaf("listeners for signals"), None));

impl Delivery {
    fn new() -> io::Result<Self> {
        let (read, write) = StdStream::pair()?;
        read.set_nonblocking(true)?;
        Ok(Self {
            process: std::process::id(),
            signals: SignalDelivery::with_pipe(read, write, SignalOnly, [0; 0])?,
            listeners: BTreeMap::new(),
            next: 0,
        })
    }

    /// This process's, made if there is none.
    fn of_this_process(slot: &mut Option<Self>) -> io::Result<&mut Self> {
        if slot
            .as_ref()
            .is_some_and(|delivery| delivery.process != std::process::id())
        {
            // Its wakers are the parent's, and no code of theirs may run here.
            let listeners = slot.take().map(|former| former.listeners);
            std::mem::forget(listeners);
        }
        match slot {
            Some(delivery) => Ok(delivery),
            none => Ok(none.insert(Self::new()?)),
        }
    }

    /// The wakers of those listeners that `concerned` says, which may change
    /// them.
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

/// Reads the pipe and the flags, and wakes those who listen for what has come.
fn deliver() {
    let mut delivery = DELIVERY.lock();
    let Some(delivered) = &mut *delivery else {
        return;
    };
    // It reads the pipe, then the flags: a signal in between is heard now, and its
    // byte is read for nothing later. One lock covers the reading and the
    // listeners: when a reactor finds that another has read the pipe, its own
    // listeners have been notified.
    let mut come = [false; SIGNALS as usize];
    for signal in delivered.signals.pending() {
        come[signal as usize] = true;
    }
    let mut batches = delivered.wakers(|listener| {
        let concerned = come[listener.kind as usize];
        listener.heard |= concerned;
        concerned
    });
    drop(delivery);
    // Those that are left when a waker panics are woken by their drop.
    batches.iter_mut().for_each(WakerBatch::wake_all);
}

/// The self-pipe as one runtime reads it. It lives as long as the runtime, so that
/// a signal that comes while there is no listener is not kept for the next one.
pub(crate) struct Receiver {
    pipe: Watched<UnixStream>,
    /// Whether the runtime has shut down.
    closed: AtomicBool,
}

impl Receiver {
    /// The current runtime's, made if it has none.
    #[track_caller]
    fn current() -> io::Result<Arc<Self>> {
        // First, for its panic is about the reactor if that is what is missing.
        drop(raddle_reactor::Handle::current());
        let runtime = Handle::current();
        let slot = &runtime.inner.signals.0;
        let known = slot.lock().clone();
        if let Some(receiver) = known {
            // ORDERING: a mark that is missed here ends the listener's first wait.
            return match receiver.closed.load(Ordering::Relaxed) {
                true => Err(io::Error::other(
                    "the runtime has shut down; listen for signals while it runs",
                )),
                false => Ok(receiver),
            };
        }
        let pipe = {
            let mut delivery = DELIVERY.lock();
            let delivery = Delivery::of_this_process(&mut delivery)?;
            delivery.signals.get_read().try_clone()?
        };
        let receiver = Arc::new(Self {
            pipe: Watched::new(UnixStream::from_std(pipe), Interest::READABLE)?,
            closed: AtomicBool::new(false),
        });
        // Another thread may have been faster.
        let receiver = slot.lock().get_or_insert(receiver).clone();
        receiver.listen(&Waker::from(Arc::new(OnEvent(Arc::downgrade(&receiver)))));
        Ok(receiver)
    }

    /// Delivers what has come, and does so again at the next event.
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

    /// The reactor has shut down: ends the waits of the runtime's listeners.
    fn close(&self) {
        // ORDERING: pairs with `Listener::poll`, by the lock that is taken next.
        self.closed.store(true, Ordering::Relaxed);
        let batches = DELIVERY.lock().as_mut().map(|delivery| {
            delivery.wakers(|listener| std::ptr::eq(listener.receiver.as_ptr(), self))
        });
        for mut batch in batches.into_iter().flatten() {
            batch.wake_all();
        }
    }
}

/// What the reactor wakes when there is something in the pipe.
struct OnEvent(Weak<Receiver>);

impl Wake for OnEvent {
    fn wake(self: Arc<Self>) {
        if let Some(receiver) = self.0.upgrade() {
            receiver.listen(&Waker::from(self));
        }
    }
}

/// Where a runtime has its receiver, once it has one.
pub(crate) struct ReceiverSlot(Mutex<Option<Arc<Receiver>>>);

impl Default for ReceiverSlot {
    fn default() -> Self {
        Self(Mutex::ranked(Rank::leaf("receiver of signals"), None))
    }
}

/// One who listens for signals of a kind.
pub(super) struct Listener {
    key: u64,
    receiver: Arc<Receiver>,
}

impl Listener {
    /// Listens in the current runtime, from now on and to what no reactor has read
    /// yet.
    #[track_caller]
    pub(super) fn new(kind: c_int) -> io::Result<Self> {
        let receiver = Receiver::current()?;
        if !(0..SIGNALS).contains(&kind) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut delivery = DELIVERY.lock();
        let delivery = Delivery::of_this_process(&mut delivery)?;
        delivery.signals.handle().add_signal(kind)?;
        let key = delivery.next;
        delivery.next += 1;
        let waiting = Waiting {
            kind,
            receiver: Arc::downgrade(&receiver),
            heard: false,
            waker: None,
        };
        delivery.listeners.insert(key, waiting);
        Ok(Self { key, receiver })
    }

    /// Takes the signal that has come; `None` if the runtime has shut down.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        // Cloned before the lock and the former one dropped after it.
        let waker = cx.waker().clone();
        let mut delivery = DELIVERY.lock();
        let waiting = delivery
            .as_mut()
            .and_then(|delivery| delivery.listeners.get_mut(&self.key));
        let Some(waiting) = waiting else {
            // A forked child has listeners of its own.
            return Poll::Ready(None);
        };
        if std::mem::take(&mut waiting.heard) {
            return Poll::Ready(Some(()));
        }
        // ORDERING: pairs with `close`: its section on the wakers is after this
        // one, or it has set the mark before.
        if self.receiver.closed.load(Ordering::Relaxed) {
            return Poll::Ready(None);
        }
        let former = waiting.waker.replace(waker);
        drop(delivery);
        drop(former);
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
