//! The futures that the methods and functions of the API return.

use std::future::Ready;
use std::io::{Result, SeekFrom};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::api::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncSeekExt as _,
    AsyncWrite, AsyncWriteExt as _, ReadBuf,
};
use super::api::{fs, io, net, process, signal, sync, task, time};
use crate::parameters::Fd;
use crate::probe::{Row, calls, for_each_parameter, futures, value};

/// A stream of any kind. It has the auto traits of `T`, except `Unpin`, which it always has.
pub(crate) struct Stream<T>(PhantomData<T>);

impl<T> Unpin for Stream<T> {}

impl<T> AsyncRead for Stream<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        value()
    }
}

impl<T> AsyncBufRead for Stream<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<&[u8]>> {
        value()
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

impl<T> AsyncWrite for Stream<T> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<Result<usize>> {
        value()
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        value()
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        value()
    }
}

impl<T> AsyncSeek for Stream<T> {
    fn start_seek(self: Pin<&mut Self>, _: SeekFrom) -> Result<()> {
        value()
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<u64>> {
        value()
    }
}

/// The argument of `async_io`.
type Try = fn() -> Result<u8>;
/// A buffer to read into.
type Buffer = &'static mut [u8];
/// Bytes to write.
type Bytes = &'static [u8];

/// The futures of `fs`.
pub(crate) fn files() -> Vec<Row> {
    let mut rows = Vec::new();
    futures! { rows;
        &'static fs::DirBuilder => create("");
        &'static fs::DirEntry => metadata(), file_type();
        fs::File => into_std();
        &'static fs::File =>
            sync_all(),
            sync_data(),
            set_len(0),
            metadata(),
            try_clone(),
            set_permissions(value()),
            set_times(value()),
            set_modified(value());
        &'static fs::OpenOptions => open("");
        &'static mut fs::ReadDir => next_entry();
    }
    calls! { rows;
        fs::File::open("");
        fs::File::create("");
        fs::File::create_new("");
        fs::canonicalize("");
        fs::copy("", "");
        fs::create_dir("");
        fs::create_dir_all("");
        fs::hard_link("", "");
        fs::metadata("");
        fs::read("");
        fs::read_dir("");
        fs::read_link("");
        fs::read_to_string("");
        fs::remove_dir("");
        fs::remove_dir_all("");
        fs::remove_file("");
        fs::rename("", "");
        fs::set_permissions("", value());
        fs::symlink("", "");
        fs::symlink_metadata("");
        fs::try_exists("");
        fs::write("", b"");
    }
    rows
}

/// The futures of `io`.
pub(crate) fn io() -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; futures! {
        &'static mut io::Lines<Stream<T>> => next_line();
        &'static mut io::Split<Stream<T>> => next_segment();
        &'static mut Stream<T> =>
            read(value::<Buffer>()),
            read_buf(value::<&'static mut Vec<u8>>()),
            read_exact(value::<Buffer>()),
            read_to_end(value()),
            read_to_string(value()),
            read_u8(), read_u16(), read_u32(), read_u64(), read_u128(),
            read_i8(), read_i16(), read_i32(), read_i64(), read_i128(),
            read_f32(), read_f64(),
            read_u16_le(), read_u32_le(), read_u64_le(), read_u128_le(),
            read_i16_le(), read_i32_le(), read_i64_le(), read_i128_le(),
            read_f32_le(), read_f64_le(),
            write(value::<Bytes>()),
            write_vectored(value::<&'static [std::io::IoSlice<'static>]>()),
            write_buf(value::<&'static mut Bytes>()),
            write_all_buf(value::<&'static mut Bytes>()),
            write_all(value::<Bytes>()),
            write_u8(0), write_u16(0), write_u32(0), write_u64(0), write_u128(0),
            write_i8(0), write_i16(0), write_i32(0), write_i64(0), write_i128(0),
            write_f32(0.0), write_f64(0.0),
            write_u16_le(0), write_u32_le(0), write_u64_le(0), write_u128_le(0),
            write_i16_le(0), write_i32_le(0), write_i64_le(0), write_i128_le(0),
            write_f32_le(0.0), write_f64_le(0.0),
            flush(),
            shutdown(),
            read_until(0, value()),
            read_line(value()),
            fill_buf(),
            seek(value()),
            rewind(),
            stream_position();
        &'static io::unix::AsyncFd<Fd<T>> =>
            ready(value()),
            readable(),
            writable(),
            async_io(value(), value::<fn(&Fd<T>) -> Result<T>>());
        &'static mut io::unix::AsyncFd<Fd<T>> =>
            ready_mut(value()),
            readable_mut(),
            writable_mut(),
            async_io_mut(value(), value::<fn(&mut Fd<T>) -> Result<T>>());
    }}
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; calls! {
        io::copy(value::<&'static mut Stream<T>>(), value::<&'static mut Stream<u8>>());
        io::copy(value::<&'static mut Stream<u8>>(), value::<&'static mut Stream<T>>());
        io::copy_buf(value::<&'static mut Stream<T>>(), value::<&'static mut Stream<u8>>());
        io::copy_buf(value::<&'static mut Stream<u8>>(), value::<&'static mut Stream<T>>());
        io::copy_bidirectional(
            value::<&'static mut Stream<T>>(),
            value::<&'static mut Stream<u8>>(),
        );
        io::copy_bidirectional_with_sizes(
            value::<&'static mut Stream<u8>>(),
            value::<&'static mut Stream<T>>(),
            1,
            1,
        );
    }}
    rows
}

/// The futures of `net`.
pub(crate) fn sockets() -> Vec<Row> {
    let mut rows = Vec::new();
    futures! { rows;
        &'static net::TcpListener => accept();
        net::TcpSocket => connect(value());
        &'static net::TcpStream =>
            ready(value()),
            readable(),
            writable(),
            peek(value::<Buffer>()),
            async_io(value(), value::<Try>());
        &'static net::UdpSocket =>
            connect(""),
            ready(value()),
            readable(),
            writable(),
            send(value::<Bytes>()),
            recv(value::<Buffer>()),
            recv_buf(value::<&'static mut Vec<u8>>()),
            recv_buf_from(value::<&'static mut Vec<u8>>()),
            send_to(value::<Bytes>(), ""),
            recv_from(value::<Buffer>()),
            peek(value::<Buffer>()),
            peek_from(value::<Buffer>()),
            peek_sender(),
            async_io(value(), value::<Try>());
        &'static net::UnixDatagram =>
            ready(value()),
            readable(),
            writable(),
            send(value::<Bytes>()),
            recv(value::<Buffer>()),
            recv_buf(value::<&'static mut Vec<u8>>()),
            recv_buf_from(value::<&'static mut Vec<u8>>()),
            send_to(value::<Bytes>(), ""),
            recv_from(value::<Buffer>()),
            async_io(value(), value::<Try>());
        &'static net::UnixListener => accept();
        net::UnixSocket => connect("");
        &'static net::UnixStream =>
            ready(value()),
            readable(),
            writable(),
            async_io(value(), value::<Try>());
        &'static mut net::tcp::OwnedReadHalf => peek(value::<Buffer>());
        &'static net::tcp::OwnedReadHalf => ready(value()), readable();
        &'static net::tcp::OwnedWriteHalf => ready(value()), writable();
        &'static mut net::tcp::ReadHalf<'static> => peek(value::<Buffer>());
        &'static net::tcp::ReadHalf<'static> => ready(value()), readable();
        &'static net::tcp::WriteHalf<'static> => ready(value()), writable();
        &'static net::unix::OwnedReadHalf => ready(value()), readable();
        &'static net::unix::OwnedWriteHalf => ready(value()), writable();
        &'static net::unix::ReadHalf<'static> => ready(value()), readable();
        &'static net::unix::WriteHalf<'static> => ready(value()), writable();
        &'static net::unix::pipe::Receiver => ready(value()), readable();
        &'static net::unix::pipe::Sender => ready(value()), writable();
    }
    calls! { rows;
        net::TcpListener::bind("");
        net::TcpListener::bind(value::<std::net::SocketAddr>());
        net::TcpStream::connect("");
        net::TcpStream::connect(value::<std::net::SocketAddr>());
        net::UdpSocket::bind("");
        net::UnixStream::connect("");
        net::UnixStream::connect_addr(value::<&'static net::unix::SocketAddr>());
        net::lookup_host("");
    }
    rows
}

/// The futures of `process` and `signal`.
pub(crate) fn processes() -> Vec<Row> {
    let mut rows = Vec::new();
    futures! { rows;
        &'static mut process::Child => kill(), wait();
        process::Child => wait_with_output();
        &'static mut process::Command => status(), output();
        &'static mut signal::unix::Signal => recv();
    }
    calls! { rows;
        signal::ctrl_c();
    }
    rows
}

/// The futures of `sync`.
pub(crate) fn sync() -> Vec<Row> {
    let mut rows = Vec::new();
    futures! { rows;
        &'static sync::Barrier => wait();
        &'static sync::Semaphore => acquire(), acquire_many(1);
        Arc<sync::Semaphore> => acquire_owned(), acquire_many_owned(1);
    }
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, BareClone; futures! {
        &'static sync::Mutex<T> => lock();
        Arc<sync::Mutex<T>> => lock_owned();
        &'static sync::OnceCell<T> =>
            get_or_init(value::<fn() -> Ready<T>>()),
            get_or_try_init(value::<fn() -> Ready<std::result::Result<T, u8>>>());
        &'static sync::RwLock<T> => read(), write();
        Arc<sync::RwLock<T>> => read_owned(), write_owned();
        &'static sync::SetOnce<T> => wait();
        &'static mut sync::broadcast::Receiver<T> => recv();
        &'static sync::broadcast::Sender<T> => closed();
        &'static mut sync::mpsc::Receiver<T> => recv(), recv_many(value(), 1);
        &'static sync::mpsc::Sender<T> =>
            send(value()),
            send_timeout(value(), value()),
            closed(),
            reserve(),
            reserve_many(1);
        sync::mpsc::Sender<T> => reserve_owned();
        &'static mut sync::mpsc::UnboundedReceiver<T> => recv(), recv_many(value(), 1);
        &'static sync::mpsc::UnboundedSender<T> => closed();
        &'static mut sync::oneshot::Sender<T> => closed();
        &'static mut sync::watch::Receiver<T> => changed(), wait_for(value::<fn(&T) -> bool>());
        &'static sync::watch::Sender<T> => closed();
    }}
    rows
}

/// The futures of `task` and `time`.
pub(crate) fn tasks() -> Vec<Row> {
    let mut rows = Vec::new();
    futures! { rows;
        &'static mut time::Interval => tick();
    }
    calls! { rows;
        task::coop::consume_budget();
        task::yield_now();
        time::advance(value());
    }
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; futures! {
        &'static mut task::JoinSet<T> => join_next(), join_next_with_id(), shutdown();
        task::JoinSet<T> => join_all();
        &'static task::LocalSet => run_until(value::<Ready<T>>());
    }}
    rows
}
