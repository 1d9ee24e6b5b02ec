//! Addresses and options of a connected socket.

use std::io;
use std::net::SocketAddr;

#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::SockRef;

use super::TcpStream;
use crate::methods::tcp_options;

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

tcp_options!(TcpStream, linger, self => socket2::SockRef::from(&*self.io));
