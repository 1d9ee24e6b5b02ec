//! No reactor: no feature that waits for descriptors is on, so none is ever made.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

/// Never made.
pub(crate) struct Reactor(Infallible);

/// Never made.
#[derive(Clone)]
pub(crate) struct Handle(Infallible);

impl Reactor {
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
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

/// No error is one of a reactor.
pub(crate) fn is_shut_down(_: &io::Error) -> bool {
    false
}
