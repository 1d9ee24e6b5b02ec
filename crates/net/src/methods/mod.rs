//! The methods and traits that several public types have in common. A macro writes each group of
//! them, so that they exist once; a type names the methods, with its own examples.
//!
//! Macros share the names, the signatures and the documentation. What the methods do is in generic
//! code: [`ByteStream`](crate::evented::ByteStream) and [`Evented`](raddle_reactor::Evented). Each
//! type is a struct with a field `io: Evented<_>`; only the options also serve sockets without a
//! reactor.

mod async_write;
mod datagram;
#[cfg(unix)]
mod descriptors;
mod listener;
mod options;
mod readiness;
mod std_socket;
mod stream;
mod system_handle;

pub(crate) use async_write::async_write;
pub(crate) use datagram::{datagram_socket, receive_datagrams, send_datagrams};
#[cfg(unix)]
pub(crate) use descriptors::pass_descriptors;
pub(crate) use listener::listener;
pub(crate) use options::{tcp_options, traffic_class};
pub(crate) use readiness::readiness;
pub(crate) use std_socket::std_socket;
pub(crate) use stream::byte_stream;
pub(crate) use system_handle::system_handle;
