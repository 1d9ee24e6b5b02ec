#![doc = include_str!("../README.md")]
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![deny(unsafe_code)]

mod chaos;
mod check;
mod child;
mod clock;
mod context;
mod dumps;
mod engine;
mod fault;
mod kernel;
mod random;
mod recording;
mod seam;
mod sim;
mod slow_cpu;
mod trace;

pub use chaos::Chaos;
pub use check::check;
#[doc(hidden)]
pub use check::{compare, try_check};
pub use fault::{At, Lasting};
pub use kernel::link::{Latency, Link};
/// # Example
///
/// ```no_run
/// use std::time::Duration;
///
/// use raddle::io::AsyncWriteExt as _;
/// use raddle::net::{TcpListener, TcpStream};
/// use raddle_sim::Sim;
///
/// #[raddle_sim::test(seeds = 1000)]
/// fn a_client_connects_after_a_crash(sim: &mut Sim) {
///     sim.host("server", || async {
///         let listener = TcpListener::bind("0.0.0.0:80").await?;
///         let (mut stream, _) = listener.accept().await?;
///         stream.write_all(b"hello").await
///     });
///     sim.client("client", async {
///         while TcpStream::connect("server:80").await.is_err() {}
///     });
///     sim.at(Duration::ZERO).crash("server").for_(Duration::from_secs(5));
///     sim.run();
/// }
/// ```
#[doc(inline)]
pub use raddle_macros::sim_test as test;
pub use sim::{Outcome, Sim, millis, secs};
