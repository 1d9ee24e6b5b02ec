//! Unix sockets and pipes.

mod addr;
mod connect;
mod credentials;
mod datagram;
mod descriptors;
mod listener;
pub mod pipe;
mod socket;
mod split;
mod stream;

pub use addr::SocketAddr;
pub use credentials::UCred;
pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use socket::UnixSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::UnixStream;

/// A user id.
#[expect(non_camel_case_types, reason = "the C name")]
pub type uid_t = u32;

/// A group id.
#[expect(non_camel_case_types, reason = "the C name")]
pub type gid_t = u32;

/// A process id.
#[expect(non_camel_case_types, reason = "the C name")]
pub type pid_t = i32;
