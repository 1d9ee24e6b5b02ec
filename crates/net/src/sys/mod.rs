//! The unsafe code of the crate: system calls that std, mio and socket2 do not offer in the needed
//! form, and uninitialised memory.

#[cfg(target_os = "linux")]
mod accept;
#[cfg(unix)]
mod credentials;
#[cfg(unix)]
mod descriptors;
#[cfg(windows)]
pub(crate) mod named_pipe;
#[cfg(unix)]
mod raw;
mod receive;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use accept::accept;
#[cfg(unix)]
pub(crate) use credentials::peer_credentials;
#[cfg(unix)]
pub(crate) use descriptors::{NO_SIGNAL, receive_descriptors, send_descriptors};
#[cfg(unix)]
pub(crate) use raw::access_mode;
pub(crate) use receive::{Receive, Received, datagram, datagram_from, fill, peek, peek_from};
