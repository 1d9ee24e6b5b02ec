//! Conversions between types, besides the methods.

use std::io::Error;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::process::Stdio;

use super::api::{fs, io, net, process, signal, sync, task, time};
use crate::probe::Row;

/// Whether types implement a trait that has a parameter, or that few types implement.
macro_rules! has {
    ($rows:expr; $($type:ty: $trait:path;)*) => {$({
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "used if the type lacks the trait")]
        trait Absent {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Absent for T {}
        #[allow(dead_code, reason = "used if the type has the trait")]
        impl<T: ?Sized + $trait> Probe<T> {
            const HAS: bool = true;
        }
        let _ = Probe::<$type>(std::marker::PhantomData).0;
        $rows.push(Row {
            name: concat!(stringify!($type), ": ", stringify!($trait)).to_owned(),
            has: vec![<Probe<$type>>::HAS],
        });
    })*};
}

/// Returns the rows of all conversions.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    has! { rows;
        std::os::raw::c_int: From<signal::unix::SignalKind>;
        Error: From<io::unix::AsyncFdRegisterError<u8>>;
        Error: From<task::JoinError>;
        Error: From<time::error::Elapsed>;
        Stdio: TryFrom<process::ChildStderr>;
        Stdio: TryFrom<process::ChildStdin>;
        Stdio: TryFrom<process::ChildStdout>;
        fs::File: From<OwnedFd>;
        fs::File: From<std::fs::File>;
        fs::File: FromRawFd;
        fs::OpenOptions: From<std::fs::OpenOptions>;
        net::TcpListener: TryFrom<std::net::TcpListener>;
        net::TcpStream: TryFrom<std::net::TcpStream>;
        net::TcpSocket: FromRawFd;
        net::TcpSocket: IntoRawFd;
        net::UdpSocket: TryFrom<std::net::UdpSocket>;
        net::UnixDatagram: TryFrom<std::os::unix::net::UnixDatagram>;
        net::UnixListener: TryFrom<std::os::unix::net::UnixListener>;
        net::UnixStream: TryFrom<std::os::unix::net::UnixStream>;
        net::unix::SocketAddr: From<std::os::unix::net::SocketAddr>;
        process::Command: From<std::process::Command>;
        signal::unix::SignalKind: From<std::os::raw::c_int>;
        std::time::Instant: From<time::Instant>;
        time::Instant: From<std::time::Instant>;
        std::os::unix::net::SocketAddr: From<net::unix::SocketAddr>;
        sync::Mutex<u8>: From<u8>;
        sync::OnceCell<u8>: From<u8>;
        sync::RwLock<u8>: From<u8>;
        sync::SetOnce<u8>: From<u8>;
        sync::mpsc::error::TrySendError<u8>: From<sync::mpsc::error::SendError<u8>>;
        sync::oneshot::Receiver<u8>: std::future::Future;
        sync::oneshot::error::RecvError: From<sync::oneshot::error::TryRecvError>;
        task::JoinSet<u8>: FromIterator<std::future::Ready<u8>>;
        fs::File: AsFd;
        fs::File: AsRawFd;
        io::Stderr: AsFd;
        io::Stdin: AsFd;
        io::Stdout: AsFd;
        net::TcpListener: AsFd;
        net::TcpSocket: AsFd;
        net::TcpStream: AsFd;
        net::UdpSocket: AsFd;
        net::UnixDatagram: AsFd;
        net::UnixListener: AsFd;
        net::UnixSocket: AsFd;
        net::UnixStream: AsFd;
        net::tcp::OwnedReadHalf: AsRef<net::TcpStream>;
        net::tcp::OwnedWriteHalf: AsRef<net::TcpStream>;
        net::tcp::ReadHalf<'static>: AsRef<net::TcpStream>;
        net::tcp::WriteHalf<'static>: AsRef<net::TcpStream>;
        net::unix::OwnedReadHalf: AsRef<net::UnixStream>;
        net::unix::OwnedWriteHalf: AsRef<net::UnixStream>;
        net::unix::ReadHalf<'static>: AsRef<net::UnixStream>;
        net::unix::WriteHalf<'static>: AsRef<net::UnixStream>;
        net::unix::pipe::Receiver: AsFd;
        net::unix::pipe::Sender: AsFd;
        process::ChildStderr: AsFd;
        process::ChildStdin: AsFd;
        process::ChildStdout: AsFd;
    }
    rows
}
