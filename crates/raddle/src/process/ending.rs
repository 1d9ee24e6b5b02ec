//! Hearing of the end of a process.

use std::io;
use std::process::Child;
use std::task::{Context, Poll, ready};

use crate::signal::unix::{Signal, SignalKind, signal};

/// Says when it is worth while to ask whether a process has ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// A descriptor of the process itself.
    #[cfg(target_os = "linux")]
    Descriptor(pidfd::PidFd),
    /// Some child's state has changed.
    AnyChild(Signal),
}

impl Ending {
    /// Listens from now on.
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(descriptor) = pidfd::PidFd::of(child)? {
            return Ok(Self::Descriptor(descriptor));
        }
        let _ = child;
        Self::of_any_child()
    }

    /// As [`of`](Self::of), where processes have no descriptors.
    pub(super) fn of_any_child() -> io::Result<Self> {
        signal(SignalKind::child()).map(Self::AnyChild)
    }

    /// Ready when there is a reason to look, and for each reason once.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => descriptor.poll(cx),
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
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use crate::watched::Watched;

    /// A descriptor that is readable when its process has ended.
    #[derive(Debug)]
    pub(crate) struct PidFd {
        descriptor: Watched<Descriptor>,
        /// Whether the end was told of.
        told: bool,
    }

    #[derive(Debug)]
    struct Descriptor(OwnedFd);

    impl PidFd {
        /// None where the system does not give such a descriptor: an old one, or
        /// one that forbids it.
        pub(crate) fn of(child: &Child) -> io::Result<Option<Self>> {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let Some(Ok(descriptor)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
                return Ok(None);
            };
            let descriptor =
                Watched::new(Descriptor(descriptor), raddle_reactor::Interest::READABLE)?;
            Ok(Some(Self {
                descriptor,
                told: false,
            }))
        }

        pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            let told = &mut self.told;
            ready!(self.descriptor.poll_read_io(cx, |_| {
                // A second look is worth while after a second event only.
                match std::mem::replace(told, false) {
                    true => Err(io::ErrorKind::WouldBlock.into()),
                    false => Ok(()),
                }
            }))?;
            self.told = true;
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
