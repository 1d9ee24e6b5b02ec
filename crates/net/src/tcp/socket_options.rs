//! The options of a socket before it is connected or listens.

use std::io;

use super::TcpSocket;
use crate::methods::{tcp_options, traffic_class};

impl TcpSocket {
    /// Returns whether an idle connection is probed (SO_KEEPALIVE).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.socket.keepalive()
    }

    /// Sets whether an idle connection is probed (SO_KEEPALIVE).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.socket.set_keepalive(keepalive)
    }

    /// Returns whether an address that old connections still use may be bound (SO_REUSEADDR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.socket.reuse_address()
    }

    /// Sets whether an address that old connections still use may be bound (SO_REUSEADDR). On
    /// Windows it lets two sockets bind the same address at the same time.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.socket.set_reuse_address(reuseaddr)
    }

    /// Returns whether several sockets may be bound to the same address (SO_REUSEPORT).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    pub fn reuseport(&self) -> io::Result<bool> {
        self.socket.reuse_port()
    }

    /// Sets whether several sockets may be bound to the same address (SO_REUSEPORT). All of them
    /// must set this option.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.socket.set_reuse_port(reuseport)
    }

    /// Returns the size of the system's buffer for sending (SO_SNDBUF) in bytes, as the system
    /// counts it: Linux doubles the value that was set.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.socket.send_buffer_size().map(saturated)
    }

    /// Sets how many bytes the system buffers for sending (SO_SNDBUF).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.socket.set_send_buffer_size(size as usize)
    }

    /// Returns the size of the system's buffer for receiving (SO_RCVBUF) in bytes, as the system
    /// counts it: Linux doubles the value that was set.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.socket.recv_buffer_size().map(saturated)
    }

    /// Sets how many bytes the system buffers for receiving (SO_RCVBUF). For a window larger than
    /// 64 KiB, set it before connecting.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.socket.set_recv_buffer_size(size as usize)
    }

    /// Returns the interface that the socket is bound to by [`bind_device`](Self::bind_device), if
    /// any.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        self.socket.device()
    }

    /// Binds the socket to a network interface, so that it receives packets only from that
    /// interface (SO_BINDTODEVICE); `None` undoes this.
    ///
    /// # Errors
    ///
    /// - `PermissionDenied` if the process may not bind sockets to interfaces.
    /// - An uncategorized error (ENODEV) if there is no such interface.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind_device(Some(b"eth0"))?;
    /// assert_eq!(socket.device()?.as_deref(), Some(&b"eth0"[..]));
    /// # Ok(()) }
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        self.socket.bind_device(interface)
    }
}

tcp_options!(TcpSocket, dur, self => &self.socket);

traffic_class!(TcpSocket, self => &self.socket);

/// Sizes are `int`s in the system's interface, whatever the width of `usize` is.
fn saturated(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
