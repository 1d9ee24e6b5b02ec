//! No watchdog: its feature is off.

use std::io;

use crate::runtime::Handle;
use crate::runtime::console::Bound;
use crate::runtime::observers::Observers;
use crate::runtime::runtime::Stopped;

/// There is none.
pub(crate) struct ShutdownReport;

/// Nothing to start.
#[derive(Clone, Default)]
pub(crate) struct Options(());

/// No watchdog.
#[derive(Debug, Default)]
pub(crate) struct Guard(());

impl Options {
    pub(crate) fn start(&self, _: &mut Observers, _: &Bound) -> io::Result<Guard> {
        Ok(Guard(()))
    }
}

impl Guard {
    pub(crate) fn report(&self, _: &Handle, _: Stopped) -> ShutdownReport {
        ShutdownReport
    }
}
