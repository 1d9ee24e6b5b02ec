//! Addresses and options of a connected socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::SockRef;

use super::TcpStream;

impl TcpStream {
    /// Returns the local address.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Returns the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the other side has reset the connection.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Takes the pending error of the socket (SO_ERROR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the pending error. The pending error itself is
    /// in the `Ok`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// Returns whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.nodelay()
    }

    /// Sets whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.set_nodelay(nodelay)
    }

    /// Returns the time to live of the packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time to live of the packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// Returns how long closing waits for unsent data (SO_LINGER), in full seconds. `None` means
    /// that the system sends it in the background.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(&*self.io).linger()
    }

    /// Sets how long closing waits for unsent data (SO_LINGER), in full seconds. With zero, closing
    /// discards it and resets the connection; with more, dropping the stream blocks its thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        SockRef::from(&*self.io).set_linger(linger)
    }

    /// Sets a linger time of zero, the only one with which closing never blocks: closing discards
    /// unsent data and resets the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        SockRef::from(&*self.io).set_linger(Some(Duration::ZERO))
    }

    /// Returns whether data is acknowledged at once (TCP_QUICKACK).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(&*self.io).tcp_quickack()
    }

    /// Sets whether data is acknowledged at once (TCP_QUICKACK). The system may reset the option by
    /// itself: set it again after each read.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        SockRef::from(&*self.io).set_tcp_quickack(quickack)
    }
}
