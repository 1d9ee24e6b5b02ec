#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod addr;
mod evented;
#[allow(unsafe_code, reason = "reads into a buffer that is not zeroed first")]
mod receive;
pub mod tcp;

pub use addr::{ToSocketAddrs, lookup_host};
pub use tcp::{TcpListener, TcpStream};
