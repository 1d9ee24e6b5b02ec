#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "fs")]
pub mod fs;
pub mod io;
#[doc(hidden)]
pub mod macros;
#[cfg(all(feature = "process", unix))]
pub mod process;
#[cfg(feature = "rt")]
pub mod runtime;
#[cfg(all(feature = "signal", unix))]
pub mod signal;
#[cfg(feature = "rt")]
pub mod task;
#[cfg(feature = "time")]
pub mod time;
#[cfg(all(feature = "rt", feature = "tracing"))]
mod trace;
#[cfg(all(feature = "rt", not(feature = "tracing")))]
#[path = "trace_off.rs"]
mod trace;
#[cfg(all(feature = "signal", unix))]
mod watched;

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
mod refused;

#[cfg(doctest)]
#[doc = include_str!("../../macros/README.md")]
struct MacrosReadme;
