//! Raw sockets of Windows.

use std::os::windows::io::{
    AsRawSocket, AsSocket, BorrowedSocket, FromRawSocket, IntoRawSocket, OwnedSocket, RawSocket,
};

use crate::tcp::TcpSocket;

impl AsRawSocket for TcpSocket {
    fn as_raw_socket(&self) -> RawSocket {
        self.socket.as_raw_socket()
    }
}

impl AsSocket for TcpSocket {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.socket.as_socket()
    }
}

impl IntoRawSocket for TcpSocket {
    fn into_raw_socket(self) -> RawSocket {
        self.socket.into_raw_socket()
    }
}

impl From<OwnedSocket> for TcpSocket {
    /// Takes over a TCP socket, which must be in non-blocking mode.
    fn from(socket: OwnedSocket) -> TcpSocket {
        TcpSocket {
            socket: socket.into(),
        }
    }
}

impl FromRawSocket for TcpSocket {
    /// Takes over a TCP socket, which must be in non-blocking mode.
    ///
    /// # Safety
    ///
    /// As for [`OwnedSocket`]: the socket is open and has no other owner.
    unsafe fn from_raw_socket(socket: RawSocket) -> TcpSocket {
        // SAFETY: as the caller promises.
        TcpSocket::from(unsafe { OwnedSocket::from_raw_socket(socket) })
    }
}
