//! Notifications of the end of a process.

use std::io;
use std::process::Child;
#[cfg(unix)]
use std::task::ready;
use std::task::{Context, Poll};

#[cfg(unix)]
use raddle_reactor::Handle;

#[cfg(unix)]
use crate::signal::unix::{Signal, SignalKind, signal};

/// Notifies when the caller should check whether a process has ended.
///
/// It is made when the process is spawned, so that a later wait needs no resource that the system
/// could refuse.
#[derive(Debug)]
pub(super) enum ExitNotifier {
    /// A descriptor of the process.
    #[cfg(target_os = "linux")]
    Descriptor(pidfd::PidFd),
    /// The signal that a child has changed its state.
    #[cfg(unix)]
    AnyChild(Signal),
    /// A thread that waits for the process.
    #[cfg(windows)]
    Thread(thread::Waiting),
}

impl ExitNotifier {
    /// Listens for the end of the process from now on.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(descriptor) = pidfd::PidFd::of(child)? {
            return Ok(Self::Descriptor(descriptor));
        }
        #[cfg(windows)]
        return thread::Waiting::of(child).map(Self::Thread);
        #[cfg(unix)]
        {
            let _ = child;
            Self::of_any_child()
        }
    }

    /// Like [`of`](Self::of), for systems where processes have no descriptors.
    #[cfg(unix)]
    pub(super) fn of_any_child() -> io::Result<Self> {
        signal(SignalKind::child()).map(Self::AnyChild)
    }

    /// Returns whether a wait in the current runtime is notified: only the reactor that watches a
    /// descriptor notifies, so another runtime needs another notifier.
    #[cfg(unix)]
    pub(super) fn is_usable_here(&self) -> bool {
        match (self.reactor(), Handle::try_current()) {
            (Some(own), Some(current)) => own.is_same_reactor(&current),
            _ => true,
        }
    }

    /// Returns the reactor on which it depends, if it depends on one.
    #[cfg(unix)]
    pub(super) fn reactor(&self) -> Option<&Handle> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => Some(descriptor.reactor()),
            Self::AnyChild(_) => None,
        }
    }

    /// Ready when there is a reason to check, once for each reason.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => descriptor.poll(cx),
            #[cfg(windows)]
            Self::Thread(waiting) => waiting.poll(cx).map(Ok),
            #[cfg(unix)]
            Self::AnyChild(signal) => Poll::Ready(match ready!(signal.poll_recv(cx)) {
                Some(()) => Ok(()),
                None => Err(io::Error::other(
                    "the process is a child of the process from which this one was forked",
                )),
            }),
        }
    }
}

#[cfg(target_os = "linux")]
mod pidfd {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::process::Child;
    use std::task::{Context, Poll, ready};

    use raddle_reactor::{Evented, Handle, Interest};

    use crate::descriptor::Descriptor;
    use crate::sys;

    /// A descriptor that is readable when its process has ended.
    #[derive(Debug)]
    pub(crate) struct PidFd {
        descriptor: Evented<Descriptor<OwnedFd>>,
        /// Whether the end has been notified.
        notified: bool,
    }

    impl PidFd {
        /// Returns `None` if the system has no such descriptors, forbids them, or refuses one.
        pub(crate) fn of(child: &Child) -> io::Result<Option<Self>> {
            let Ok(descriptor) = sys::pidfd_open(child.id()) else {
                return Ok(None);
            };
            let descriptor = Descriptor(descriptor);
            match Evented::new(descriptor, Interest::READABLE, &Handle::current()) {
                Ok(descriptor) => Ok(Some(Self {
                    descriptor,
                    notified: false,
                })),
                Err(error) if raddle_reactor::is_shut_down(&error) => Err(error),
                Err(_) => Ok(None),
            }
        }

        pub(crate) fn reactor(&self) -> &Handle {
            self.descriptor.handle()
        }

        pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            let notified = &mut self.notified;
            ready!(self.descriptor.poll_read_io(cx, |_| {
                // A second check is useful only after a second event.
                match std::mem::replace(notified, false) {
                    true => Err(io::ErrorKind::WouldBlock.into()),
                    false => Ok(()),
                }
            }))?;
            self.notified = true;
            Poll::Ready(Ok(()))
        }
    }
}

#[cfg(windows)]
mod thread {
    use std::io;
    use std::process::Child;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use raddle_leaf::wait::Resource;
    use raddle_primitives::sync::{Mutex, Rank};
    use raddle_primitives::thread;

    use crate::sys;

    /// A thread that waits until the process has ended, and leaves its exit status to be taken.
    #[derive(Debug)]
    pub(crate) struct Waiting(Arc<Mutex<State>>);

    #[derive(Debug)]
    enum State {
        Running(Option<Waker>),
        /// The process has ended, or cannot be waited for.
        Ended,
        /// The end was notified.
        Notified,
    }

    impl Waiting {
        pub(crate) fn of(child: &Child) -> io::Result<Self> {
            let child = sys::Waitable::of(child)?;
            let state = Mutex::ranked(Rank::leaf("end of a process"), State::Running(None));
            let state = Arc::new(state);
            let shared = Arc::clone(&state);
            thread::Builder::new()
                .name("raddle-child".to_owned())
                .spawn(move || {
                    child.wait();
                    let former = std::mem::replace(&mut *shared.lock(), State::Ended);
                    if let State::Running(Some(waker)) = former {
                        waker.wake();
                    }
                })?;
            Ok(Self(state))
        }

        pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
            // Clone the new waker before the lock, and drop the old one after it.
            let waker = cx.waker().clone();
            let mut state = self.0.lock();
            match &mut *state {
                State::Running(known) => {
                    let former = known.replace(waker);
                    drop(state);
                    drop(former);
                    raddle_leaf::wait::note(cx, "Child::wait", None, Resource::Unknown);
                    Poll::Pending
                }
                State::Ended => {
                    *state = State::Notified;
                    Poll::Ready(())
                }
                State::Notified => Poll::Pending,
            }
        }
    }
}
