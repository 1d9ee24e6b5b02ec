//! Delivery from the signal handlers to the listeners.
//!
//! Signals belong to the process, and so does their state: one self-pipe, one flag per signal, one
//! list of listeners, and one list of orphans (`orphans.rs`). A reactor only provides the thread.
//!
//! # The path of a signal
//!
//! 1. The handler sets the flag of the signal and writes a byte to the pipe.
//! 2. Each reactor that reads the pipe gets an event. The first one empties the pipe and takes the
//!    flags; the others find nothing.
//! 3. That reactor's thread reaps the orphans if the signal is `SIGCHLD`, marks all listeners for
//!    the signal, wherever they were made, and wakes those that wait. Reading and marking are one
//!    critical section: a reactor that finds the pipe empty knows that its own listeners are
//!    marked.
//!
//! # Which reactors read the pipe
//!
//! A reactor that reads the pipe has a [`Receiver`], from the first of these events until it shuts
//! down:
//!
//! - A listener is made or polled while the reactor is current, so that a listener works wherever
//!   it is awaited, even if no other reactor is driven.
//! - A child is spawned on it, or a child that was spawned on it is dropped.
//! - A runtime has [attached](attach) it. That makes the pipe, but no receiver before the process
//!   has a handler: a program without signals pays two descriptors and no event. With it, the
//!   runtime delivers to listeners that are awaited outside any runtime, and reaps the orphans of
//!   runtimes that are gone.
//!
//! All receivers register the same descriptor, each with another selector, so a listener, a reactor
//! and an orphan need no descriptor of their own.
//!
//! # Without a reactor
//!
//! A listener does not depend on a reactor. If the one in which it waits shuts down, any other
//! delivers to it. If none is left, its signals stay in the pipe, and it waits until a reactor
//! reads the pipe again, such as one that is attached later. The shutdown of a reactor therefore
//! wakes no listener.
//!
//! # Fork
//!
//! A forked child has the parent's pipe. At its first use of signals it makes a pipe and a list of
//! listeners of its own. It forgets the parent's listeners and receivers without running their
//! code, and never reuses their keys. From then on a listener of the parent ends in the child: no
//! signal can come to it.

use std::ffi::c_int;
use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, LazyLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::{ByNumber, Numbers};
use raddle_reactor::{Evented, Handle, Interest, WakerBatch};

use super::default_action;
use super::pipe::{self, Pipe};
use crate::descriptor::Descriptor;

/// The state of signals in the process. It exists from the first use on.
struct Delivery {
    /// A forked child makes a new one, because its pipe is shared with the parent.
    process: u32,
    pipe: Pipe,
    /// The reactors of runtimes.
    attached: Vec<Weak<Handle>>,
    /// The reactors that read the pipe.
    receivers: Vec<Arc<Receiver>>,
    listeners: ByNumber<Waiting>,
    defaults: Defaults,
    /// What to call at a signal before its listeners are woken.
    calls: Vec<(c_int, fn())>,
}

/// The state of a listener.
struct Waiting {
    kind: c_int,
    /// Whether a signal has come that the listener has not taken.
    has_signal: bool,
    waker: Option<Waker>,
}

/// The signals that have their default action while there is no listener.
#[derive(Default)]
struct Defaults {
    /// Those for which the program wants it.
    wanted: Vec<c_int>,
    /// Those that had their default action when the handler was installed, and had no other.
    former: Vec<c_int>,
}

/// The keys of listeners. A forked child continues with them.
static KEYS: Numbers = Numbers::new();

static DELIVERY: LazyLock<Mutex<Option<Delivery>>> =
    LazyLock::new(|| Mutex::ranked(Rank::outer(1, "listeners for signals"), None));

/// What is left to do after the lock has been released.
#[derive(Default)]
#[must_use = "call `finish` without the lock"]
struct Unfinished {
    /// Receivers that do not listen yet.
    receivers: Vec<Arc<Receiver>>,
    /// Handles to drop.
    reactors: Vec<Arc<Handle>>,
}

impl Unfinished {
    fn finish(self) {
        for receiver in self.receivers {
            receiver.listen(&Waker::from(Arc::new(OnEvent(Arc::downgrade(&receiver)))));
        }
    }
}

/// Calls `f` with the state of this process, which is made if there is none.
fn with<R>(f: impl FnOnce(&mut Delivery, &mut Unfinished) -> io::Result<R>) -> io::Result<R> {
    let mut unfinished = Unfinished::default();
    let mut delivery = DELIVERY.lock();
    let result = Delivery::of_this_process(&mut delivery).and_then(|it| f(it, &mut unfinished));
    drop(delivery);
    unfinished.finish();
    result
}

impl Delivery {
    fn new(defaults: Defaults) -> io::Result<Self> {
        Ok(Self {
            process: std::process::id(),
            pipe: Pipe::new()?,
            attached: Vec::new(),
            receivers: Vec::new(),
            listeners: ByNumber::default(),
            defaults,
            calls: Vec::new(),
        })
    }

    /// Returns the state of this process. Makes it if there is none.
    fn of_this_process(slot: &mut Option<Self>) -> io::Result<&mut Self> {
        let process = std::process::id();
        if let Some(former) = slot.take_if(|delivery| delivery.process != process) {
            // The wakers and reactors belong to the parent: none of their code may run here.
            std::mem::forget((former.listeners, former.receivers, former.attached));
            let mut own = Self::new(former.defaults)?;
            // These signals keep their default action: they have no listener in this process.
            for kind in own.defaults.wanted.clone() {
                if former.pipe.has_handler(kind) {
                    own.pipe.handle(kind)?;
                    own.update_default(kind);
                }
            }
            return Ok(slot.insert(own));
        }
        match slot {
            Some(delivery) => Ok(delivery),
            none => Ok(none.insert(Self::new(Defaults::default())?)),
        }
    }

    /// Installs the handler of a signal. With the first one, all attached reactors begin to read
    /// the pipe.
    fn handle(&mut self, kind: c_int, unfinished: &mut Unfinished) -> io::Result<()> {
        if self.pipe.has_handler(kind) {
            return Ok(());
        }
        let is_default = default_action::is_set(kind);
        let is_first = !self.pipe.has_handlers();
        self.pipe.handle(kind)?;
        if is_default {
            self.defaults.former.push(kind);
        }
        if is_first {
            let reactors: Vec<_> = self.attached.iter().filter_map(Weak::upgrade).collect();
            for reactor in &reactors {
                // The reactor may have shut down, or the system may refuse: a poll on that reactor
                // tries again.
                let _ = self.receive_on(reactor, unfinished);
            }
            unfinished.reactors.extend(reactors);
        }
        Ok(())
    }

    /// Makes a receiver for the reactor if it has none.
    fn receive_on(&mut self, reactor: &Handle, unfinished: &mut Unfinished) -> io::Result<()> {
        let mut receivers = self.receivers.iter();
        if receivers.any(|known| known.pipe.handle().is_same_reactor(reactor)) {
            return Ok(());
        }
        let reading = Descriptor(self.pipe.reading());
        let receiver = Arc::new(Receiver {
            pipe: Evented::new(reading, Interest::READABLE, reactor)?,
        });
        self.receivers.push(Arc::clone(&receiver));
        unfinished.receivers.push(receiver);
        Ok(())
    }

    /// Exchanges the waker for that of the last poll if there is no signal.
    fn poll(
        &mut self,
        key: u64,
        waker: &mut Option<Waker>,
        reactor: Option<&Handle>,
        unfinished: &mut Unfinished,
    ) -> Poll<Option<()>> {
        let Some(waiting) = self.listeners.get_mut(key) else {
            // A forked child has its own listeners.
            return Poll::Ready(None);
        };
        if std::mem::take(&mut waiting.has_signal) {
            return Poll::Ready(Some(()));
        }
        std::mem::swap(&mut waiting.waker, waker);
        if let Some(reactor) = reactor {
            // The reactor may have shut down, or the system may refuse: any other reactor delivers
            // too.
            let _ = self.receive_on(reactor, unfinished);
        }
        Poll::Pending
    }

    /// Marks the listeners for the signals that have come, and returns the wakers of those that
    /// wait.
    fn mark(&mut self, come: &[bool]) -> Vec<WakerBatch> {
        let mut batches: Vec<WakerBatch> = Vec::new();
        for listener in self.listeners.values_mut() {
            if !come[listener.kind as usize] {
                continue;
            }
            listener.has_signal = true;
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

    /// Tells the handler whether the signal has its default action now.
    fn update_default(&self, kind: c_int) {
        if self.defaults.wanted.contains(&kind) && self.defaults.former.contains(&kind) {
            let is_heard = self.listeners.values().any(|waiting| waiting.kind == kind);
            self.pipe.set_default(kind, !is_heard);
        }
    }
}

/// Reads the pipe and the flags, reaps orphans (`calls`), and wakes the listeners for the signals
/// that have come.
fn deliver() {
    let mut delivery = DELIVERY.lock();
    let Some(delivered) = &mut *delivery else {
        return;
    };
    // It reads the pipe, then the flags. A signal in between is noticed now, and its byte is read
    // later without effect.
    let come = delivered.pipe.take();
    let mut batches = delivered.mark(&come);
    let mut calls = delivered.calls.clone();
    calls.retain(|(kind, _)| come[*kind as usize]);
    drop(delivery);
    calls.iter().for_each(|(_, call)| call());
    // A panic must not unwind through the receiver, which listens again after this.
    batches.iter_mut().for_each(WakerBatch::wake_all_contained);
}

/// One reactor's reader of the self-pipe. It lives as long as the reactor, so that a signal that
/// comes while there is no listener is not kept for the next one.
struct Receiver {
    pipe: Evented<Descriptor<Arc<UnixStream>>>,
}

impl Receiver {
    /// Delivers the signals that have come, and waits for the next event.
    fn listen(&self, waker: &Waker) {
        let mut cx = Context::from_waker(waker);
        let delivered: Poll<io::Result<()>> = raddle_leaf::coop::unlimited(|| {
            self.pipe.poll_read_io(&mut cx, |_| {
                deliver();
                Err(io::ErrorKind::WouldBlock.into())
            })
        });
        if delivered.is_ready() {
            self.close();
        }
    }

    /// Forgets a receiver whose reactor has shut down.
    fn close(&self) {
        let mut delivery = DELIVERY.lock();
        let Some(known) = &mut *delivery else { return };
        let receivers = &mut known.receivers;
        let position = receivers
            .iter()
            .position(|other| std::ptr::eq(&**other, self));
        // Drop it after the lock: it may be the last handle of the reactor.
        let closed = position.map(|position| receivers.swap_remove(position));
        drop(delivery);
        drop(closed);
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

/// Keeps a reactor [attached](attach) until it is dropped.
#[derive(Debug)]
#[must_use = "the reactor is attached only while this lives"]
pub struct Attached(#[allow(dead_code, reason = "kept alive")] Arc<Handle>);

/// Attaches a reactor to the signals of the process, as a runtime does when it is built.
///
/// While it is driven, it delivers signals to every listener of the process, including those that
/// are awaited outside any runtime, and takes the exit statuses of [dropped
/// children](crate#children-that-are-dropped), on whichever reactor they were spawned. A reactor
/// that is not attached does so once a listener or a child is used with it.
///
/// The first call in a process opens two descriptors, which all signals and reactors share.
///
/// # Errors
///
/// Returns an error if the process has no descriptors left, or if the reactor has shut down.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Poll, Waker};
///
/// use raddle_process::signal::attach;
/// use raddle_process::signal::unix::{SignalKind, signal};
/// use raddle_reactor::Reactor;
///
/// let mut served = Reactor::new()?;
/// let _attached = attach(&served.handle())?;
/// // Made with another reactor, which is not driven.
/// let mut listener = {
///     let other = Reactor::new()?;
///     let handle = other.handle();
///     let _entered = handle.enter();
///     signal(SignalKind::user_defined1())?
/// };
/// # unsafe { libc::raise(libc::SIGUSR1) };
/// served.turn(None, usize::MAX)?;
/// let mut cx = Context::from_waker(Waker::noop());
/// assert_eq!(listener.poll_recv(&mut cx), Poll::Ready(Some(())));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn attach(reactor: &Handle) -> io::Result<Attached> {
    let attached = Arc::new(reactor.clone());
    with(|delivery, unfinished| {
        if delivery.pipe.has_handlers() {
            delivery.receive_on(reactor, unfinished)?;
        }
        // Forget those that have been dropped.
        delivery.attached.retain(|other| other.strong_count() > 0);
        delivery.attached.push(Arc::downgrade(&attached));
        Ok(())
    })?;
    Ok(Attached(attached))
}

/// Makes sure that nothing can fail later for the lack of a descriptor, and that the reactor reaps
/// orphans if there are any.
#[cfg(feature = "process")]
pub(crate) fn prepare(reactor: &Handle) -> io::Result<()> {
    with(|delivery, unfinished| {
        if delivery.pipe.has_handlers() {
            delivery.receive_on(reactor, unfinished)?;
        }
        Ok(())
    })
}

/// Calls `call` at each signal of the kind from now on, before its listeners are woken. There is
/// one function for a kind. `reactor` is one that is likely to be driven.
#[cfg(feature = "process")]
pub(crate) fn call_at(kind: c_int, call: fn(), reactor: Option<&Handle>) -> io::Result<()> {
    with(|delivery, unfinished| {
        delivery.calls.retain(|(known, _)| *known != kind);
        delivery.calls.push((kind, call));
        delivery.handle(kind, unfinished)?;
        if let Some(reactor) = reactor {
            // A reactor that has shut down delivers nothing; another one does.
            let _ = delivery.receive_on(reactor, unfinished);
        }
        Ok(())
    })
}

/// Gives the signal its default action whenever there is no listener for it.
pub(super) fn restore_default(kind: c_int) -> io::Result<()> {
    pipe::check(kind)?;
    with(|delivery, _| {
        let wanted = &mut delivery.defaults.wanted;
        if !wanted.contains(&kind) {
            wanted.push(kind);
        }
        delivery.update_default(kind);
        Ok(())
    })
}

/// Listens for one kind of signal.
pub(super) struct Listener {
    key: u64,
    kind: c_int,
}

impl Listener {
    /// Listens for signals from now on, and for those that no reactor has read yet. The current
    /// reactor begins to read them.
    #[track_caller]
    pub(super) fn new(kind: c_int) -> io::Result<Self> {
        let reactor = Handle::current();
        pipe::check(kind)?;
        with(|delivery, unfinished| {
            delivery.receive_on(&reactor, unfinished)?;
            delivery.handle(kind, unfinished)?;
            let key = KEYS.take(1);
            let waiting = Waiting {
                kind,
                has_signal: false,
                waker: None,
            };
            delivery.listeners.insert(key, waiting);
            delivery.update_default(kind);
            Ok(Self { key, kind })
        })
    }

    /// Takes a signal that has come. The current reactor begins to read signals, if it does not
    /// yet. Returns `None` in a forked child if the parent made the listener.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        // Clone the new waker before the lock, and drop the old one after it.
        let mut waker = Some(cx.waker().clone());
        let reactor = Handle::try_current();
        let mut unfinished = Unfinished::default();
        let mut delivery = DELIVERY.lock();
        let polled = match &mut *delivery {
            Some(known) => known.poll(self.key, &mut waker, reactor.as_ref(), &mut unfinished),
            None => Poll::Ready(None),
        };
        drop(delivery);
        unfinished.finish();
        if polled.is_pending() {
            raddle_leaf::wait::note(cx, "signal", None, Resource::Unknown);
        }
        polled
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut delivery = DELIVERY.lock();
        let removed = delivery.as_mut().and_then(|known| {
            let removed = known.listeners.remove(self.key);
            known.update_default(self.kind);
            removed
        });
        drop(delivery);
        drop(removed);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
