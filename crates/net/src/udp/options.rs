//! Addresses and options of a UDP socket.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::SockRef;

use super::UdpSocket;
use crate::methods::traffic_class;

impl UdpSocket {
    /// Returns the address that the socket is bound to, with the port that the system has chosen
    /// for port 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Returns the address that the socket is [connected](Self::connect) to.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the socket is not connected.
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

    /// Returns whether it may send to broadcast addresses (SO_BROADCAST).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.broadcast()
    }

    /// Sets whether it may send to broadcast addresses (SO_BROADCAST).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.io.set_broadcast(on)
    }

    /// Returns whether IPv4 multicasts of this socket are also delivered to this host
    /// (IP_MULTICAST_LOOP).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.io.multicast_loop_v4()
    }

    /// Sets whether IPv4 multicasts of this socket are also delivered to this host
    /// (IP_MULTICAST_LOOP).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v4(on)
    }

    /// Returns the time to live of its IPv4 multicasts, in hops (IP_MULTICAST_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.io.multicast_ttl_v4()
    }

    /// Sets the time to live of its IPv4 multicasts, in hops (IP_MULTICAST_TTL). 1, the default,
    /// stays in the local network.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.io.set_multicast_ttl_v4(ttl)
    }

    /// Returns whether IPv6 multicasts of this socket are also delivered to this host
    /// (IPV6_MULTICAST_LOOP).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.io.multicast_loop_v6()
    }

    /// Sets whether IPv6 multicasts of this socket are also delivered to this host
    /// (IPV6_MULTICAST_LOOP).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v6(on)
    }

    /// Returns the time to live of its packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time to live of its packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// Joins an IPv4 multicast group on the interface with that address; the unspecified address
    /// lets the system choose one.
    ///
    /// # Errors
    ///
    /// - `InvalidInput` if `multiaddr` is not a multicast address.
    /// - `AddrInUse` if the socket is in the group already.
    /// - An uncategorized error if no interface has the address, or none leads to the group.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    /// use std::net::Ipv4Addr;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// let socket = UdpSocket::bind("0.0.0.0:5353").await?;
    /// socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED)?;
    /// // Datagrams to the group arrive here, until:
    /// socket.leave_multicast_v4(group, Ipv4Addr::UNSPECIFIED)?;
    /// # Ok(()) }) }
    /// ```
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.join_multicast_v4(&multiaddr, &interface)
    }

    /// Joins an IPv6 multicast group on the interface of that index; 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// - `InvalidInput` if `multiaddr` is not a multicast address.
    /// - `AddrInUse` if the socket is in the group already.
    /// - An uncategorized error if there is no interface of that index.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    /// use std::net::Ipv6Addr;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let group: Ipv6Addr = "ff02::fb".parse()?;
    /// let socket = UdpSocket::bind("[::]:5353").await?;
    /// socket.join_multicast_v6(&group, 0)?;
    /// // Datagrams to the group arrive here, until:
    /// socket.leave_multicast_v6(&group, 0)?;
    /// # Ok(()) }) }
    /// ```
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.join_multicast_v6(multiaddr, interface)
    }

    /// Leaves an IPv4 multicast group that was [joined](Self::join_multicast_v4).
    ///
    /// # Errors
    ///
    /// Returns `AddrNotAvailable` if the socket is not in the group on that interface.
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.leave_multicast_v4(&multiaddr, &interface)
    }

    /// Leaves an IPv6 multicast group that was [joined](Self::join_multicast_v6).
    ///
    /// # Errors
    ///
    /// Returns `AddrNotAvailable` if the socket is not in the group on that interface.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.leave_multicast_v6(multiaddr, interface)
    }

    /// The interface that it is bound to by [`bind_device`](Self::bind_device), if it is bound to
    /// one.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        SockRef::from(&*self.io).device()
    }

    /// Binds it to a network interface, so that only packets of that one count (SO_BINDTODEVICE);
    /// `None` undoes this.
    ///
    /// # Errors
    ///
    /// - `PermissionDenied` if the process may not bind sockets to interfaces.
    /// - An uncategorized error (ENODEV) if there is no such interface.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        SockRef::from(&*self.io).bind_device(interface)
    }
}

traffic_class!(UdpSocket, self => socket2::SockRef::from(&*self.io));
