//! The counts of a reactor.

/// The counts of a reactor, from its start.
///
/// ```
/// let mut reactor = raddle_reactor::Reactor::new()?;
/// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// listener.set_nonblocking(true)?;
/// let mut source = mio::net::TcpListener::from_std(listener);
/// let registration = reactor
///     .handle()
///     .register(&mut source, raddle_reactor::Interest::READABLE)?;
/// drop(registration);
///
/// let metrics = reactor.handle().metrics();
/// assert_eq!((metrics.registered, metrics.deregistered), (1, 1));
/// assert_eq!(metrics.events, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
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
