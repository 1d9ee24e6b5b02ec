//! The types of the API.

use super::api::{fs, io, net, process, runtime, signal, sync, task, time};
use crate::parameters;
use crate::probe::{Row, for_each_parameter, types};

/// Types without a parameter.
pub(crate) fn plain() -> Vec<Row> {
    let mut rows = Vec::new();
    types! { rows;
        fs::DirBuilder;
        fs::DirEntry;
        fs::File;
        fs::FileTimes;
        fs::OpenOptions;
        fs::ReadDir;
        io::DuplexStream;
        io::Empty;
        io::Interest;
        io::ReadBuf<'static>;
        io::Ready;
        io::Repeat;
        io::SimplexStream;
        io::Sink;
        io::Stderr;
        io::Stdin;
        io::Stdout;
        io::unix::TryIoError;
        net::TcpListener;
        net::TcpSocket;
        net::TcpStream;
        net::UdpSocket;
        net::UnixDatagram;
        net::UnixListener;
        net::UnixSocket;
        net::UnixStream;
        net::tcp::OwnedReadHalf;
        net::tcp::OwnedWriteHalf;
        net::tcp::ReadHalf<'static>;
        net::tcp::ReuniteError;
        net::tcp::WriteHalf<'static>;
        net::unix::OwnedReadHalf;
        net::unix::OwnedWriteHalf;
        net::unix::ReadHalf<'static>;
        net::unix::ReuniteError;
        net::unix::SocketAddr;
        net::unix::UCred;
        net::unix::WriteHalf<'static>;
        net::unix::pipe::OpenOptions;
        net::unix::pipe::Receiver;
        net::unix::pipe::Sender;
        process::Child;
        process::ChildStderr;
        process::ChildStdin;
        process::ChildStdout;
        process::Command;
        runtime::Builder;
        runtime::EnterGuard<'static>;
        runtime::Handle;
        runtime::Runtime;
        runtime::RuntimeFlavor;
        runtime::RuntimeMetrics;
        runtime::TryCurrentError;
        signal::unix::Signal;
        signal::unix::SignalKind;
        sync::AcquireError;
        sync::Barrier;
        sync::BarrierWaitResult;
        sync::Notify;
        sync::OwnedSemaphorePermit;
        sync::Semaphore;
        sync::SemaphorePermit<'static>;
        sync::TryAcquireError;
        sync::TryLockError;
        sync::broadcast::error::RecvError;
        sync::broadcast::error::TryRecvError;
        sync::futures::Notified<'static>;
        sync::futures::OwnedNotified;
        sync::mpsc::error::TryRecvError;
        sync::oneshot::error::RecvError;
        sync::oneshot::error::TryRecvError;
        sync::watch::error::RecvError;
        task::AbortHandle;
        task::Id;
        task::JoinError;
        task::LocalEnterGuard;
        task::LocalSet;
        task::coop::RestoreOnPending;
        time::Instant;
        time::Interval;
        time::MissedTickBehavior;
        time::Sleep;
        time::error::Elapsed;
        time::error::Error;
    }
    #[cfg(tokio_unstable)]
    types! { rows;
        runtime::HistogramConfiguration;
        runtime::Id;
        runtime::InvalidHistogramConfiguration;
        runtime::LocalOptions;
        runtime::LocalRuntime;
        runtime::LogHistogram;
        runtime::LogHistogramBuilder;
        runtime::RngSeed;
        runtime::TaskMeta<'static>;
        runtime::UnhandledPanic;
    }
    rows
}

/// Types of `sync` with parameters.
pub(crate) fn sync() -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; types! {
        sync::MappedMutexGuard<'static, T>;
        sync::Mutex<T>;
        sync::MutexGuard<'static, T>;
        sync::OnceCell<T>;
        sync::OwnedMappedMutexGuard<T, T>;
        sync::OwnedMappedMutexGuard<T, u8>;
        sync::OwnedMappedMutexGuard<u8, T>;
        sync::OwnedMutexGuard<T>;
        sync::OwnedRwLockMappedWriteGuard<T, T>;
        sync::OwnedRwLockMappedWriteGuard<T, u8>;
        sync::OwnedRwLockMappedWriteGuard<u8, T>;
        sync::OwnedRwLockReadGuard<T, T>;
        sync::OwnedRwLockReadGuard<T, u8>;
        sync::OwnedRwLockReadGuard<u8, T>;
        sync::OwnedRwLockWriteGuard<T>;
        sync::RwLock<T>;
        sync::RwLockMappedWriteGuard<'static, T>;
        sync::RwLockReadGuard<'static, T>;
        sync::RwLockWriteGuard<'static, T>;
        sync::SetError<T>;
        sync::SetOnce<T>;
        sync::SetOnceError<T>;
        sync::broadcast::Receiver<T>;
        sync::broadcast::Sender<T>;
        sync::broadcast::WeakSender<T>;
        sync::broadcast::error::SendError<T>;
        sync::mpsc::OwnedPermit<T>;
        sync::mpsc::Permit<'static, T>;
        sync::mpsc::PermitIterator<'static, T>;
        sync::mpsc::Receiver<T>;
        sync::mpsc::Sender<T>;
        sync::mpsc::UnboundedReceiver<T>;
        sync::mpsc::UnboundedSender<T>;
        sync::mpsc::WeakSender<T>;
        sync::mpsc::WeakUnboundedSender<T>;
        sync::mpsc::error::SendError<T>;
        sync::mpsc::error::SendTimeoutError<T>;
        sync::mpsc::error::TrySendError<T>;
        sync::oneshot::Receiver<T>;
        sync::oneshot::Sender<T>;
        sync::watch::Receiver<T>;
        sync::watch::Ref<'static, T>;
        sync::watch::Sender<T>;
        sync::watch::error::SendError<T>;
    }}
    rows
}

/// Types of `task` and `time` with parameters.
pub(crate) fn tasks() -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; types! {
        task::JoinHandle<T>;
        task::JoinSet<T>;
        task::LocalKey<T>;
        task::coop::Coop<std::future::Ready<T>>;
        task::coop::Unconstrained<std::future::Ready<T>>;
        task::coop::Unconstrained<T>;
        task::futures::TaskLocalFuture<T, std::future::Ready<T>>;
        task::futures::TaskLocalFuture<T, std::future::Ready<u8>>;
        task::futures::TaskLocalFuture<u8, std::future::Ready<T>>;
        time::Timeout<std::future::Ready<T>>;
        time::Timeout<T>;
    }}
    rows
}

/// Types of `io` with parameters.
pub(crate) fn io() -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_parameter! { rows; All, OnlySend, OnlySync, Neither, Bare; types! {
        io::BufReader<T>;
        io::BufStream<T>;
        io::BufWriter<T>;
        io::Chain<T, u8>;
        io::Chain<u8, T>;
        io::Join<T, u8>;
        io::Join<u8, T>;
        io::Lines<T>;
        io::ReadHalf<T>;
        io::Split<T>;
        io::Take<T>;
        io::WriteHalf<T>;
        io::unix::AsyncFd<parameters::Fd<T>>;
        io::unix::AsyncFdReadyGuard<'static, parameters::Fd<T>>;
        io::unix::AsyncFdReadyMutGuard<'static, parameters::Fd<T>>;
        io::unix::AsyncFdRegisterError<T>;
    }}
    rows
}
