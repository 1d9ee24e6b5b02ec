//! UDP.

mod options;
mod receiving;
mod sending;
mod socket;

pub use socket::UdpSocket;
