//! A server that finishes its work before it exits.
//!
//! On Ctrl-C it stops accepting, lets each connection finish the request in flight, and closes
//! those that need longer than `GRACE`.
//!
//! ```sh
//! cargo run --example graceful_shutdown
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use raddle::net::{TcpListener, TcpStream};
use raddle::sync::watch;
use raddle::task::JoinSet;
use raddle::time::{sleep, timeout};

/// How long connections have after the signal.
const GRACE: Duration = Duration::from_secs(10);

#[raddle::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:7000").await?;
    println!("listening on {}; Ctrl-C stops", listener.local_addr()?);
    let (stop, stopping) = watch::channel(false);
    let server = raddle::spawn(serve(listener, stopping, GRACE));
    raddle::signal::ctrl_c().await?;
    // Every task that has a receiver sees the change, now or at its next wait.
    let _ = stop.send(true);
    let closed = server.await??;
    println!("stopped; {closed} connections were closed early");
    Ok(())
}

/// Serves until `stopping` holds `true`. Returns how many connections it had to close.
pub(crate) async fn serve(
    listener: TcpListener,
    mut stopping: watch::Receiver<bool>,
    grace: Duration,
) -> io::Result<usize> {
    let mut connections = JoinSet::new();
    loop {
        let accepted = raddle::select! {
            // An error means that the sender is gone: stop then, too.
            _ = stopping.wait_for(|stop| *stop) => break,
            accepted = listener.accept() => accepted,
            // Frees the memory of connections that have ended.
            Some(_) = connections.join_next() => continue,
        };
        connections.spawn(serve_one(accepted?.0, stopping.clone()));
    }
    // New clients are refused from here on.
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(grace, all).await;
    let late = connections.len();
    // Aborts what is left, and waits until it is dropped.
    connections.shutdown().await;
    Ok(late)
}

/// Answers lines until the client leaves or the server stops. `select!` covers only the wait for a
/// request, so a request that has arrived is always answered.
async fn serve_one(mut stream: TcpStream, mut stopping: watch::Receiver<bool>) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut requests = BufReader::new(reader).lines();
    loop {
        let request = raddle::select! {
            _ = stopping.wait_for(|stop| *stop) => return Ok(()),
            request = requests.next_line() => request?,
        };
        let Some(request) = request else {
            return Ok(());
        };
        if let Some(millis) = request.strip_prefix("work ") {
            sleep(Duration::from_millis(millis.parse().unwrap_or(0))).await;
        }
        writer
            .write_all(format!("done: {request}\n").as_bytes())
            .await?;
    }
}
