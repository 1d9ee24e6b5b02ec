//! The counts of a reactor.

/// The counts of a reactor, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// The number of sources that have been registered.
    pub registered: u64,
    /// The number of these that are no longer registered.
    pub deregistered: u64,
    /// The number of events of registered sources that have been dispatched.
    pub events: u64,
}
