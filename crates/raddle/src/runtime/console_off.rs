//! No live page: its feature is off.

use std::io;

use crate::runtime::Handle;
use crate::runtime::observers::Observers;

/// When a poll is slow for the page.
#[cfg(feature = "watchdog")]
pub(crate) const THRESHOLD: std::time::Duration = std::time::Duration::MAX;

/// No address.
#[derive(Clone, Default)]
pub(crate) struct Options(());

/// No page.
pub(crate) struct Bound;

/// No page.
#[derive(Debug, Default)]
pub(crate) struct Guard(());

impl Options {
    pub(crate) fn bind(&self, _: &mut Observers) -> io::Result<Bound> {
        Ok(Bound)
    }
}

impl Guard {
    pub(crate) fn stop(&mut self) {}
}

impl Bound {
    #[cfg(feature = "watchdog")]
    pub(crate) fn listener(&self) -> Option<crate::runtime::watching::Listener> {
        None
    }

    pub(crate) fn serve(self, _: &Handle) -> io::Result<Guard> {
        Ok(Guard(()))
    }
}
