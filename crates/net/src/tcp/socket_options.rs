//! The options of a socket before it is connected or listens.

use std::io;
use std::time::Duration;

use super::TcpSocket;

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

    /// Returns how long closing waits for unsent data (SO_LINGER), in full seconds. `None` means
    /// that the system sends it in the background.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.socket.linger()
    }

    /// Sets how long closing waits for unsent data (SO_LINGER), in full seconds. With zero, closing
    /// discards it and resets the connection; with more, dropping the stream blocks its thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        self.socket.set_linger(dur)
    }

    /// Sets a linger time of zero, the only one with which closing never blocks: closing discards
    /// unsent data and resets the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.socket.set_linger(Some(Duration::ZERO))
    }

    /// Returns whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket.tcp_nodelay()
    }

    /// Sets whether small packets are sent without delay (TCP_NODELAY).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket.set_tcp_nodelay(nodelay)
    }

    /// Returns the traffic class of its IPv6 packets (IPV6_TCLASS).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "macos"
    ))]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        self.socket.tclass_v6()
    }

    /// Sets the traffic class of its IPv6 packets (IPV6_TCLASS).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "macos"
    ))]
    pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
        self.socket.set_tclass_v6(tclass)
    }

    /// Returns the type of service of its IPv4 packets (IP_TOS).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
    pub fn tos_v4(&self) -> io::Result<u32> {
        self.socket.tos_v4()
    }

    /// Sets the type of service of its IPv4 packets (IP_TOS).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        self.socket.set_tos_v4(tos)
    }

    /// Tokio's former name of [`tos_v4`](Self::tos_v4).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`tos_v4`](Self::tos_v4).
    #[deprecated(note = "it concerns IPv4 alone; use `tos_v4`")]
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
    pub fn tos(&self) -> io::Result<u32> {
        self.tos_v4()
    }

    /// Tokio's former name of [`set_tos_v4`](Self::set_tos_v4).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`set_tos_v4`](Self::set_tos_v4).
    #[deprecated(note = "it concerns IPv4 alone; use `set_tos_v4`")]
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
    pub fn set_tos(&self, tos: u32) -> io::Result<()> {
        self.set_tos_v4(tos)
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

/// Sizes are `int`s in the system's interface, whatever the width of `usize` is.
fn saturated(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
