//! Notifications of the end of a process.

use std::io;
use std::process::Child;
#[cfg(unix)]
use std::task::ready;
use std::task::{Context, Poll};

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
    /// A thread that waits for the process: on Windows, and if there are no descriptors left.
    #[cfg(any(target_os = "linux", windows))]
    Thread(thread::Waiting),
}

impl ExitNotifier {
    /// Listens for the end of the process from now on.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            match pidfd::PidFd::of(child) {
                Ok(Some(descriptor)) => return Ok(Self::Descriptor(descriptor)),
                // This system does not have such descriptors.
                Ok(None) => {}
                Err(error) if raddle_reactor::is_shut_down(&error) => return Err(error),
                Err(_) => {}
            }
            match Self::of_any_child() {
                Ok(notifier) => Ok(notifier),
                Err(error) => thread::Waiting::of(child)
                    .map(Self::Thread)
                    .map_err(|_| error),
            }
        }
        #[cfg(windows)]
        return thread::Waiting::of(child).map(Self::Thread);
        #[cfg(not(any(target_os = "linux", windows)))]
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

    /// Like [`of`](Self::of), for systems without descriptors.
    #[cfg(all(test, target_os = "linux"))]
    pub(super) fn of_thread(child: &Child) -> io::Result<Self> {
        thread::Waiting::of(child).map(Self::Thread)
    }

    /// Ready when there is a reason to check, once for each reason.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => descriptor.poll(cx),
            #[cfg(any(target_os = "linux", windows))]
            Self::Thread(waiting) => waiting.poll(cx).map(Ok),
            #[cfg(unix)]
            Self::AnyChild(signal) => Poll::Ready(match ready!(signal.poll_recv(cx)) {
                Some(()) => Ok(()),
                None => Err(io::Error::other(
                    "the runtime has shut down; wait for the process while it runs",
                )),
            }),
        }
    }
}

#[cfg(target_os = "linux")]
mod pidfd {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::process::Child;
    use std::task::{Context, Poll, ready};

    use mio::event::Source;
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use raddle_reactor::{Evented, Handle};

    use crate::sys;

    /// A descriptor that is readable when its process has ended.
    #[derive(Debug)]
    pub(crate) struct PidFd {
        descriptor: Evented<Descriptor>,
        /// Whether the end has been notified.
        notified: bool,
    }

    #[derive(Debug)]
    struct Descriptor(OwnedFd);

    impl PidFd {
        /// Returns `None` if the system has no such descriptors, forbids them, or has none left.
        pub(crate) fn of(child: &Child) -> io::Result<Option<Self>> {
            let Ok(descriptor) = sys::pidfd_open(child.id()) else {
                return Ok(None);
            };
            let readable = raddle_reactor::Interest::READABLE;
            let descriptor = Evented::new(Descriptor(descriptor), readable, &Handle::current())?;
            Ok(Some(Self {
                descriptor,
                notified: false,
            }))
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

    impl Source for Descriptor {
        fn register(
            &mut self,
            registry: &Registry,
            token: Token,
            interests: Interest,
        ) -> io::Result<()> {
            SourceFd(&self.0.as_raw_fd()).register(registry, token, interests)
        }

        fn reregister(
            &mut self,
            registry: &Registry,
            token: Token,
            interests: Interest,
        ) -> io::Result<()> {
            SourceFd(&self.0.as_raw_fd()).reregister(registry, token, interests)
        }

        fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
            SourceFd(&self.0.as_raw_fd()).deregister(registry)
        }
    }
}

#[cfg(any(target_os = "linux", windows))]
mod thread {
    use std::io;
    use std::process::Child;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use raddle_primitives::sync::{Mutex, Rank};
    use raddle_primitives::thread;
    use raddle_wait::Resource;

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
                    raddle_wait::note(cx, "Child::wait", None, Resource::Unknown);
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
