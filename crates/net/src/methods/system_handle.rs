//! The descriptor on Unix, and the socket on Windows.

/// Implements `AsFd` and `AsRawFd`, and on Windows `AsSocket` and `AsRawSocket`.
macro_rules! system_handle {
    ($name:ident) => {
        #[cfg(windows)]
        impl std::os::windows::io::AsSocket for $name {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                std::os::windows::io::AsSocket::as_socket(&*self.io)
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawSocket for $name {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                std::os::windows::io::AsRawSocket::as_raw_socket(&*self.io)
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $name {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(&*self.io)
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $name {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(&*self.io)
            }
        }
    };
}

pub(crate) use system_handle;
