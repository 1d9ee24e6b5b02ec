//! Systems without statistics on the scheduling of a thread.

use crate::Event;

/// Returns 0: the system's number for the calling thread is unknown.
pub(crate) fn thread_id() -> u64 {
    0
}

/// The kernel's counts of a thread on systems that have none.
#[derive(Debug, Default)]
pub(crate) struct Delays;

impl Delays {
    /// Returns no changes, since the system has no such statistics.
    pub(crate) fn read(&mut self) -> impl Iterator<Item = Event> + use<> {
        std::iter::empty()
    }
}
