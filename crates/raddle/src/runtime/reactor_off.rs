//! Replaces the reactor if no enabled feature waits for descriptors.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

/// Has no values.
pub(crate) struct Reactor(Infallible);

pub(crate) enum TimeoutClock {
    Precise,
    CountsSuspendedTime,
}

/// Has no values.
#[derive(Clone)]
pub(crate) struct Handle(Infallible);

impl Reactor {
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn with_timeout_clock(_: TimeoutClock) -> io::Result<Self> {
        Self::new()
    }

    pub(crate) fn counts_suspended_time(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn handle(&self) -> Handle {
        match self.0 {}
    }

    pub(crate) fn turn(&mut self, _: Option<Duration>, _: usize) -> io::Result<usize> {
        match self.0 {}
    }

    pub(crate) fn shutdown(&mut self) {
        match self.0 {}
    }
}

impl Handle {
    pub(crate) fn unpark(&self) {
        match self.0 {}
    }
}

/// Returns `false`: without a reactor, no error comes from one.
pub(crate) fn is_shut_down(_: &io::Error) -> bool {
    false
}
