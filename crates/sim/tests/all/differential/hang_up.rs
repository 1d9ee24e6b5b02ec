//! Waiting for the end of a connection without reading.

use std::time::Duration;

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpStream, UnixStream};
use raddle::time::timeout;

use super::harness::{Log, compared, settle};
use super::tcp::pair;

compared! { async
    close_behind_unread_data half_close_of_both write_to_a_closed_peer reset waits_in_another_task
    unix_pair
}

/// Whether the two waits of a stream end.
macro_rules! log_waits {
    ($log:expr, $what:expr, $stream:expr) => {{
        let limit = Duration::from_millis(50);
        let read_closed = timeout(limit, $stream.read_closed()).await.is_ok();
        let both_closed = timeout(limit, $stream.both_closed()).await.is_ok();
        $log.line($what, (read_closed, both_closed));
    }};
}

async fn close_behind_unread_data(log: Log) {
    let (client, mut server) = pair(&log).await;
    server.write_all(b"unread").await.unwrap();
    settle().await;
    log_waits!(log, "data", client);
    drop(server);
    log_waits!(log, "closed", client);
    log.result("read", &client.try_read(&mut [0; 8]));
    log_waits!(log, "read", client);
}

async fn half_close_of_both(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    client.shutdown().await.unwrap();
    log_waits!(log, "own end", client);
    log_waits!(log, "end of the peer", server);
    log.result("answer", &server.write(b"answer").await);
    log.result("read", &client.read(&mut [0; 8]).await);
    log_waits!(log, "after the answer", server);
    server.shutdown().await.unwrap();
    log_waits!(log, "client", client);
    log_waits!(log, "server", server);
}

async fn write_to_a_closed_peer(log: Log) {
    let (mut client, server) = pair(&log).await;
    drop(server);
    log_waits!(log, "closed", client);
    log.result("write", &client.write(b"x").await);
    log_waits!(log, "after the write", client);
}

async fn reset(log: Log) {
    let (client, server) = pair(&log).await;
    server.set_zero_linger().unwrap();
    drop(server);
    log_waits!(log, "reset", client);
    log.result("read", &client.try_read(&mut [0; 8]));
}

async fn waits_in_another_task(log: Log) {
    let (client, mut server): (TcpStream, TcpStream) = pair(&log).await;
    let (reader, writer) = client.into_split();
    let waits = [
        raddle::spawn(async move { reader.read_closed().await.is_ok() }),
        raddle::spawn(async move { writer.read_closed().await.is_ok() }),
    ];
    server.write_all(b"unread").await.unwrap();
    settle().await;
    log.line(
        "data",
        waits
            .iter()
            .map(|wait| wait.is_finished())
            .collect::<Vec<_>>(),
    );
    server.shutdown().await.unwrap();
    for wait in waits {
        log.line("closed", wait.await.unwrap());
    }
}

async fn unix_pair(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    one.write_all(b"unread").await.unwrap();
    log_waits!(log, "data", two);
    one.shutdown().await.unwrap();
    log_waits!(log, "end of the peer", two);
    log_waits!(log, "own end", one);
    log.result("answer", &two.write(b"answer").await);
    drop(one);
    log_waits!(log, "closed", two);
}
