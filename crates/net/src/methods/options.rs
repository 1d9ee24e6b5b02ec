//! Options that several kinds of sockets have.

/// Writes the options of a TCP socket that it has before it is connected and after. `$socket` is
/// the `SockRef` of `$self`, and `$linger` the name of an argument.
macro_rules! tcp_options {
    ($name:ident, $linger:ident, $self:ident => $socket:expr) => {
        impl $name {
            /// Returns how long closing waits for unsent data (SO_LINGER), in full seconds. `None`
            /// means that the system sends it in the background.
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket.
            pub fn linger(&$self) -> std::io::Result<Option<std::time::Duration>> {
                $socket.linger()
            }

            /// Sets how long closing waits for unsent data (SO_LINGER), in full seconds. With zero,
            /// closing discards it and resets the connection; with more, dropping the stream blocks
            /// its thread.
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket,
            /// or refuses the value.
            pub fn set_linger(&$self, $linger: Option<std::time::Duration>) -> std::io::Result<()> {
                $socket.set_linger($linger)
            }

            /// Sets a linger time of zero, the only one with which closing never blocks: closing
            /// discards unsent data and resets the connection.
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket,
            /// or refuses the value.
            pub fn set_zero_linger(&$self) -> std::io::Result<()> {
                $socket.set_linger(Some(std::time::Duration::ZERO))
            }

            /// Returns whether small packets are sent without delay (TCP_NODELAY).
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket.
            pub fn nodelay(&$self) -> std::io::Result<bool> {
                $socket.tcp_nodelay()
            }

            /// Sets whether small packets are sent without delay (TCP_NODELAY).
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket,
            /// or refuses the value.
            pub fn set_nodelay(&$self, nodelay: bool) -> std::io::Result<()> {
                $socket.set_tcp_nodelay(nodelay)
            }
        }
    };
}

/// Writes the options for the class of the packets. `$socket` is the `SockRef` of `$self`.
macro_rules! traffic_class {
    ($name:ident, $self:ident => $socket:expr) => {
        impl $name {
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
            pub fn tclass_v6(&$self) -> std::io::Result<u32> {
                $socket.tclass_v6()
            }

            /// Sets the traffic class of its IPv6 packets (IPV6_TCLASS).
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket,
            /// or refuses the value.
            #[cfg(any(
                target_os = "linux",
                target_os = "android",
                target_os = "freebsd",
                target_os = "netbsd",
                target_os = "openbsd",
                target_os = "macos"
            ))]
            pub fn set_tclass_v6(&$self, tclass: u32) -> std::io::Result<()> {
                $socket.set_tclass_v6(tclass)
            }

            /// Returns the type of service of its IPv4 packets (IP_TOS).
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket.
            #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
            pub fn tos_v4(&$self) -> std::io::Result<u32> {
                $socket.tos_v4()
            }

            /// Sets the type of service of its IPv4 packets (IP_TOS).
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not support the option for this kind of socket,
            /// or refuses the value.
            #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
            pub fn set_tos_v4(&$self, tos: u32) -> std::io::Result<()> {
                $socket.set_tos_v4(tos)
            }

            /// Tokio's former name of [`tos_v4`](Self::tos_v4).
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`tos_v4`](Self::tos_v4).
            #[deprecated(note = "it concerns IPv4 alone; use `tos_v4`")]
            #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
            pub fn tos(&$self) -> std::io::Result<u32> {
                $self.tos_v4()
            }

            /// Tokio's former name of [`set_tos_v4`](Self::set_tos_v4).
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`set_tos_v4`](Self::set_tos_v4).
            #[deprecated(note = "it concerns IPv4 alone; use `set_tos_v4`")]
            #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "haiku")))]
            pub fn set_tos(&$self, tos: u32) -> std::io::Result<()> {
                $self.set_tos_v4(tos)
            }
        }
    };
}

pub(crate) use {tcp_options, traffic_class};
