//! Systems without statistics on the scheduling of a thread.

use raddle_recording::Event;

/// The system's number for the calling thread, which is unknown.
pub(crate) fn thread_id() -> u64 {
    0
}

/// The kernel's counts of a thread on systems that have none.
#[derive(Debug, Default)]
pub(crate) struct Delays;

impl Delays {
    /// The changes since the last call: none, since the system has no such statistics.
    pub(crate) fn read(&mut self) -> impl Iterator<Item = Event> + use<> {
        std::iter::empty()
    }
}
