#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod accepting;
mod addr;
#[cfg(unix)]
pub mod async_fd;
mod evented;
pub mod halves;
mod methods;
#[allow(unsafe_code, reason = "system calls")]
mod sys;
pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;
#[cfg(windows)]
pub mod windows;

pub use addr::{ToSocketAddrs, lookup_host};
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
