//! TCP sockets and the halves of a stream.

mod listener;
mod options;
mod socket;
mod socket_options;
mod split;
mod stream;

pub use listener::TcpListener;
pub use socket::TcpSocket;
pub(crate) use socket::to_inet;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::TcpStream;
