//! What a connected socket says of itself, and its options.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::SockRef;

use super::TcpStream;

impl TcpStream {
    /// The address of this side.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// Those of the operating system, for one if the connection has broken.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// The error that the socket has not reported yet, which is cleared by
    /// this.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// Whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.nodelay()
    }

    /// Sets whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.set_nodelay(nodelay)
    }

    /// The time to live of its packets, in hops.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time to live of its packets, in hops.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// How long closing waits for unsent data (SO_LINGER), in full seconds;
    /// `None`: it is sent in the background.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(&*self.io).linger()
    }

    /// Sets how long closing waits for unsent data (SO_LINGER), in full
    /// seconds. With zero, closing discards it and resets the connection; with
    /// more, dropping the stream blocks its thread.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        SockRef::from(&*self.io).set_linger(linger)
    }

    /// Has closing discard unsent data and reset the connection: a linger time
    /// of zero, the one that never blocks.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        SockRef::from(&*self.io).set_linger(Some(Duration::ZERO))
    }

    /// Whether data is acknowledged at once (TCP_QUICKACK).
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(&*self.io).tcp_quickack()
    }

    /// Sets whether data is acknowledged at once (TCP_QUICKACK). The system
    /// goes back by itself: set it again after each read.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        SockRef::from(&*self.io).set_tcp_quickack(quickack)
    }
}
