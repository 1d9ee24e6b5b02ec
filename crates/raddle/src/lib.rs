#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod io;
#[doc(hidden)]
pub mod macros;
#[cfg(feature = "rt")]
pub mod runtime;
#[cfg(feature = "rt")]
pub mod task;
#[cfg(feature = "time")]
pub mod time;
#[cfg(all(feature = "rt", feature = "tracing"))]
mod trace;
#[cfg(all(feature = "rt", not(feature = "tracing")))]
#[path = "trace_off.rs"]
mod trace;

#[cfg(feature = "rt")]
pub use crate::task::spawn;

/// Sockets: those of `raddle-net`. They need a runtime built with
/// [`enable_io`](crate::runtime::Builder::enable_io).
///
/// A server that shall live through a want of descriptors accepts by
/// `accept_retrying`, which pauses meanwhile:
///
/// ```no_run
/// use raddle::net::TcpListener;
/// use raddle::time::sleep;
///
/// # #[raddle::main]
/// # async fn main() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:7000").await?;
/// loop {
///     let (stream, _) = listener.accept_retrying(sleep).await?;
///     raddle::spawn(async move { drop(stream) });
/// }
/// # }
/// ```
#[cfg(feature = "net")]
pub mod net {
    pub use raddle_net::{
        TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, lookup_host, tcp,
    };
    #[cfg(unix)]
    pub use raddle_net::{UnixDatagram, UnixListener, UnixSocket, UnixStream, unix};
}

/// Files and directories: `raddle-fs`.
///
/// The functions and types of `std::fs`, to be awaited. The operating system
/// has no files that are waited for as sockets are, so each call is made on a
/// thread for [blocking work](crate::task::spawn_blocking). That costs some
/// microseconds: read and write in large pieces, through a
/// [`BufReader`](crate::io::BufReader) or [`BufWriter`](crate::io::BufWriter)
/// if need be, and where many calls belong together, make them in one
/// `spawn_blocking`.
///
/// ```
/// use raddle::fs::File;
/// use raddle::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let directory = std::env::temp_dir().join(format!("raddle-fs-{}", std::process::id()));
/// # raddle::fs::create_dir_all(&directory).await?;
/// # let path = directory.join("greeting");
/// let mut file = File::create(&path).await?;
/// file.write_all(b"good morning").await?;
/// file.flush().await?;
///
/// let mut text = String::new();
/// File::open(&path).await?.read_to_string(&mut text).await?;
/// assert_eq!(text, "good morning");
/// # raddle::fs::remove_dir_all(&directory).await
/// # }
/// ```
///
/// # Errors
///
/// Those of `std::fs`. If the runtime is shut down before a call is made, or the
/// system has no thread for it, it fails with an error of the kind `Other`.
///
/// # Panics
///
/// Each function and method that makes a call panics if the thread is in no
/// runtime.
///
/// # Cancel safety
///
/// A call that has begun cannot be stopped: to drop its future is not to wait
/// for it, and whether it is made is not known then.
#[cfg(feature = "fs")]
pub mod fs {
    #[cfg(unix)]
    pub use raddle_fs::symlink;
    pub use raddle_fs::{
        DirBuilder, DirEntry, File, FileTimes, OpenOptions, ReadDir, canonicalize, copy,
        create_dir, create_dir_all, hard_link, metadata, read, read_dir, read_link, read_to_string,
        remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink_metadata,
        try_exists, write,
    };
}

/// Child processes that can be awaited: `raddle-process`, whose page says what
/// becomes of children that are dropped. They need a runtime built with
/// [`enable_io`](crate::runtime::Builder::enable_io).
///
/// ```
/// use raddle::process::Command;
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let output = Command::new("echo").arg("hello").output().await?;
/// assert!(output.status.success());
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok(())
/// # }
/// ```
#[cfg(all(feature = "process", unix))]
pub mod process {
    pub use raddle_process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
}

/// Signals of the operating system, as something to wait for: `raddle-process`.
///
/// They need a runtime built with
/// [`enable_io`](crate::runtime::Builder::enable_io). Any number of listeners, in
/// any number of runtimes, each hear of every signal of their kind.
///
/// ```no_run
/// # #[raddle::main]
/// # async fn main() -> std::io::Result<()> {
/// raddle::signal::ctrl_c().await?;
/// println!("goodbye");
/// # Ok(())
/// # }
/// ```
#[cfg(all(feature = "signal", unix))]
pub mod signal {
    pub use raddle_process::signal::{ctrl_c, unix};
}

/// Channels, locks and signals between tasks: `raddle-sync`.
///
/// # Example
///
/// ```
/// use raddle::sync::{mpsc, oneshot};
///
/// #[raddle::main]
/// async fn main() {
///     let (requests, mut inbox) = mpsc::channel::<(u32, oneshot::Sender<u32>)>(8);
///     raddle::spawn(async move {
///         while let Some((number, answer)) = inbox.recv().await {
///             // Whoever asked may have given up.
///             let _ = answer.send(number * number);
///         }
///     });
///     let (answer, square) = oneshot::channel();
///     requests.send((7, answer)).await.unwrap();
///     assert_eq!(square.await, Ok(49));
/// }
/// ```
#[cfg(feature = "sync")]
pub mod sync {
    pub use raddle_sync::*;
}

/// # Example
///
/// ```
/// #[raddle::main]
/// async fn main() {
///     raddle::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
#[cfg(all(feature = "macros", feature = "rt-multi-thread"))]
pub use raddle_macros::main;
#[cfg(all(feature = "macros", feature = "rt", not(feature = "rt-multi-thread")))]
pub use raddle_macros::main_current_thread as main;

/// # Example
///
/// ```no_run
/// #[raddle::test]
/// async fn sleeps() {
///     raddle::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
#[cfg(all(feature = "macros", feature = "rt-multi-thread"))]
pub use raddle_macros::test;
#[cfg(all(feature = "macros", feature = "rt", not(feature = "rt-multi-thread")))]
pub use raddle_macros::test_current_thread as test;

#[cfg(doctest)]
mod guide;
#[cfg(doctest)]
mod refused;

#[cfg(doctest)]
#[doc = include_str!("../../macros/README.md")]
struct MacrosReadme;
