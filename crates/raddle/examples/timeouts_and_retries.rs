//! A request with retries: a time limit for each attempt, pauses that double, and a limit for all.
//!
//! ```sh
//! cargo run --example timeouts_and_retries -- 127.0.0.1:7000
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use raddle::net::TcpStream;
use raddle::time::{Instant, sleep, timeout, timeout_at};

/// How often to try, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    /// How long one attempt may take.
    pub(crate) attempt: Duration,
    /// The pause after the first attempt; each later pause is twice as long.
    pub(crate) pause: Duration,
    /// The longest pause.
    pub(crate) max_pause: Duration,
    /// How long all attempts and pauses may take together.
    pub(crate) total: Duration,
}

#[raddle::main]
async fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:7000");
    let retry = Retry {
        attempt: Duration::from_secs(1),
        pause: Duration::from_millis(100),
        max_pause: Duration::from_secs(2),
        total: Duration::from_secs(15),
    };
    let stream = with_retries(retry, || TcpStream::connect(address)).await?;
    println!("connected to {}", stream.peer_addr()?);
    Ok(())
}

/// Calls `attempt` until it succeeds or the time is up. Returns the last error then.
///
/// An attempt that takes too long is dropped. `attempt` must tolerate that: what it does must be
/// safe to stop at any `.await` and to begin again.
pub(crate) async fn with_retries<T>(
    retry: Retry,
    mut attempt: impl AsyncFnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    let mut pause = retry.pause;
    let attempts = async {
        loop {
            // `Elapsed` converts into an `io::Error` of the kind `TimedOut`.
            match timeout(retry.attempt, attempt())
                .await
                .unwrap_or_else(|elapsed| Err(elapsed.into()))
            {
                Ok(value) => return value,
                Err(error) => last = error,
            }
            sleep(pause).await;
            pause = (pause * 2).min(retry.max_pause);
        }
    };
    let deadline = Instant::now() + retry.total;
    match timeout_at(deadline, attempts).await {
        Ok(value) => Ok(value),
        Err(_elapsed) => Err(last),
    }
}
