//! Unix sockets for datagrams.

mod receiving;
mod sending;
mod socket;

pub use socket::UnixDatagram;
