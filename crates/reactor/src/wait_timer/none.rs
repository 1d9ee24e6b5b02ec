//! Replaces the timer of the system where the selector has no use for one.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use crate::reactor::TimeoutClock;

/// Has no values.
#[derive(Debug)]
pub(crate) struct WaitTimer(Infallible);

impl WaitTimer {
    pub(crate) fn new(_: &mio::Registry, _: TimeoutClock) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn counts_suspended_time(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn start(&self, _: Duration) -> io::Result<()> {
        match self.0 {}
    }
}
