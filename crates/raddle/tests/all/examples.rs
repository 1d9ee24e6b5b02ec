//! The programs of `examples/`, run with short input.
#![allow(dead_code, reason = "the entry points of the programs")]

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use raddle::net::{TcpListener, TcpStream};
use raddle::process::Command;
use raddle::sync::watch;
use raddle::time::{Instant, sleep};
use socket2::{Domain, Socket, Type};

// The programs as modules. No test calls their `main`.
#[path = "../../examples/blocking_work.rs"]
mod blocking_work;
#[path = "../../examples/chat.rs"]
mod chat;
#[path = "../../examples/child_processes.rs"]
mod child_processes;
#[path = "../../examples/custom_executor.rs"]
mod custom_executor;
#[path = "../../examples/echo.rs"]
mod echo;
#[cfg(feature = "flight-recorder")]
#[path = "../../examples/flight_recorder.rs"]
mod flight_recorder;
#[path = "../../examples/graceful_shutdown.rs"]
mod graceful_shutdown;
#[path = "../../examples/local_tasks.rs"]
mod local_tasks;
#[path = "../../examples/proxy.rs"]
mod proxy;
#[path = "../../examples/sharded_echo.rs"]
mod sharded_echo;
#[path = "../../examples/timeouts_and_retries.rs"]
mod timeouts_and_retries;

async fn bound() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Sends `text`, shuts down the write half and returns the whole answer.
async fn exchange(address: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[raddle::test]
async fn echo_returns_what_it_receives() {
    let (listener, address) = bound().await;
    raddle::spawn(echo::serve(listener));
    assert_eq!(exchange(&address, "hello").await, "hello");
}

#[raddle::test]
async fn chat_sends_each_line_to_the_others() {
    let (listener, address) = bound().await;
    raddle::spawn(chat::serve(listener));
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = BufReader::new(TcpStream::connect(&address).await.unwrap());
        let mut welcome = String::new();
        client.read_line(&mut welcome).await.unwrap();
        assert_eq!(welcome, "welcome\n");
        clients.push(client);
    }
    clients[0].get_mut().write_all(b"hello\n").await.unwrap();
    let from = clients[0].get_ref().local_addr().unwrap();
    for client in &mut clients[1..] {
        let mut line = String::new();
        client.read_line(&mut line).await.unwrap();
        assert_eq!(line, format!("{from}: hello\n"));
    }
    clients[1].get_mut().write_all(b"bye\n").await.unwrap();
    let mut line = String::new();
    clients[0].read_line(&mut line).await.unwrap();
    // A client does not receive its own line, which is first in the channel.
    assert!(line.ends_with(": bye\n"), "{line}");
}

#[raddle::test]
async fn proxy_forwards_both_directions() {
    let (server, server_address) = bound().await;
    raddle::spawn(echo::serve(server));
    let (listener, address) = bound().await;
    raddle::spawn(proxy::serve(listener, server_address));
    assert_eq!(exchange(&address, "through").await, "through");
}

#[raddle::test]
async fn graceful_shutdown_answers_the_request_in_flight() {
    let (listener, address) = bound().await;
    let (stop, stopping) = watch::channel(false);
    let server = raddle::spawn(graceful_shutdown::serve(
        listener,
        stopping,
        Duration::from_secs(60),
    ));
    let mut idle = TcpStream::connect(&address).await.unwrap();
    let mut busy = BufReader::new(TcpStream::connect(&address).await.unwrap());
    let mut line = String::new();
    // The answer shows that the server reads this connection.
    busy.get_mut().write_all(b"first\n").await.unwrap();
    busy.read_line(&mut line).await.unwrap();
    busy.get_mut().write_all(b"work 50\n").await.unwrap();
    sleep(Duration::from_millis(10)).await;
    stop.send(true).unwrap();
    assert_eq!(server.await.unwrap().unwrap(), 0);

    // Either the request had arrived and is answered, or the connection is closed; here it had 10
    // ms to arrive on the loopback device.
    line.clear();
    busy.read_line(&mut line).await.unwrap();
    assert_eq!(line, "done: work 50\n");
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0);
    assert!(TcpStream::connect(&address).await.is_err());
}

#[raddle::test]
async fn graceful_shutdown_closes_what_takes_too_long() {
    let (listener, address) = bound().await;
    let (stop, stopping) = watch::channel(false);
    let grace = Duration::from_millis(1);
    let server = raddle::spawn(graceful_shutdown::serve(listener, stopping, grace));
    let mut busy = BufReader::new(TcpStream::connect(&address).await.unwrap());
    busy.get_mut()
        .write_all(b"first\nwork 3600000\n")
        .await
        .unwrap();
    let mut line = String::new();
    busy.read_line(&mut line).await.unwrap();
    sleep(Duration::from_millis(10)).await;
    drop(stop);
    assert_eq!(server.await.unwrap().unwrap(), 1);
}

#[test]
fn sharded_echo_serves_from_each_worker() {
    let runtime = raddle::runtime::Builder::new_multi_thread()
        .scheduler(raddle::runtime::Policy::Sharded)
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    // Reserves a port for the servers: this socket does not listen.
    let reserved = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    reserved.set_reuse_address(true).unwrap();
    reserved.set_reuse_port(true).unwrap();
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    reserved.bind(&any_port.into()).unwrap();
    let address = reserved.local_addr().unwrap().as_socket().unwrap();
    let servers = sharded_echo::unix::start(&runtime, address);
    assert_eq!(servers.len(), 2);
    runtime.block_on(async {
        while TcpStream::connect(address).await.is_err() {
            sleep(Duration::from_millis(1)).await;
        }
        for _ in 0..10 {
            assert_eq!(exchange(&address.to_string(), "hello").await, "hello");
        }
    });
}

#[raddle::test]
async fn timeouts_and_retries_tries_until_success() {
    use timeouts_and_retries::{Retry, with_retries};
    raddle::time::pause();
    let retry = Retry {
        attempt: Duration::from_secs(1),
        pause: Duration::from_secs(2),
        max_pause: Duration::from_secs(3),
        total: Duration::from_secs(60),
    };
    let start = Instant::now();
    let mut attempts = 0;
    let result = with_retries(retry, async || {
        attempts += 1;
        match attempts {
            1 => Err(io::ErrorKind::ConnectionRefused.into()),
            2 => std::future::pending().await,
            _ => Ok(attempts),
        }
    });
    assert_eq!(result.await.unwrap(), 3);
    // The first pause, an attempt that ran into its limit, and the second pause.
    assert_eq!(start.elapsed().as_secs(), 2 + 1 + 3);

    let start = Instant::now();
    let refused = || async { Err::<(), _>(io::ErrorKind::ConnectionRefused.into()) };
    let error = with_retries(retry, refused).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[raddle::test]
async fn local_tasks_counts_the_words_of_all_inputs() {
    let inputs = vec![&b"a b\nb"[..], b"B c"];
    let counts = local_tasks::count(inputs).await.unwrap();
    assert_eq!((counts["a"], counts["b"], counts["c"]), (1, 3, 1));
}

#[raddle::test]
async fn blocking_work_sums_each_file() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| directory.path().join(name)).to_vec();
    for path in &paths {
        std::fs::write(path, path.to_str().unwrap()).unwrap();
    }
    let sum = |path: &std::path::PathBuf| {
        let text = path.to_str().unwrap().as_bytes();
        (path.clone(), blocking_work::checksum(text))
    };
    let expected: Vec<_> = paths.iter().map(sum).collect();
    assert_eq!(blocking_work::checksums(paths).await.unwrap(), expected);
    assert_eq!(blocking_work::checksum(b"a"), 0xaf63_dc4c_8601_ec8c);

    let missing = vec![directory.path().join("missing")];
    let error = blocking_work::checksums(missing).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[raddle::test]
async fn child_processes_returns_output_and_status() {
    let limit = Duration::from_secs(60);
    let mut lines = Vec::new();
    let keep = |line: &str| lines.push(line.to_owned());
    let status = child_processes::run(Command::new("cat"), b"one\ntwo\n", limit, keep);
    assert!(status.await.unwrap().unwrap().success());
    assert_eq!(lines, ["one", "two"]);
}

#[raddle::test]
async fn child_processes_kills_what_takes_too_long() {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("3600");
    let limit = Duration::from_millis(10);
    let status = child_processes::run(sleeper, b"", limit, |_| ()).await;
    assert!(status.unwrap().is_none());
}

#[test]
fn custom_executor_runs_tasks_that_wake_each_other() {
    use custom_executor::{Executor, block_on};
    let executor = Executor::new(3);
    let (sender, mut receiver) = raddle::sync::mpsc::channel(4);
    let senders: Vec<_> = (0..1000_u32)
        .map(|n| {
            let sender = sender.clone();
            executor.spawn(async move { sender.send(n).await.unwrap() })
        })
        .collect();
    drop(sender);
    let sum = executor.spawn(async move {
        let mut sum = 0;
        while let Some(n) = receiver.recv().await {
            sum += n;
        }
        sum
    });
    assert_eq!(block_on(sum).unwrap(), 499_500);
    for sender in senders {
        block_on(sender).unwrap();
    }
}

#[test]
fn custom_executor_runs_what_is_due_before_it_is_dropped() {
    let executor = custom_executor::Executor::new(1);
    let tasks: Vec<_> = (0..10).map(|n| executor.spawn(async move { n })).collect();
    drop(executor);
    assert!(tasks.iter().all(raddle_task::JoinHandle::is_finished));
}

#[cfg(feature = "flight-recorder")]
#[test]
fn flight_recorder_names_the_task_that_blocks() {
    use raddle::runtime::flight_recorder::recording::analysis::{
        longest_polls, polls_by_location, scheduling_delays,
    };

    let block = Duration::from_millis(50);
    let recording = flight_recorder::record(block).unwrap();
    let longest = longest_polls(&recording, 1)[0];
    assert!(
        longest.is_finished && longest.duration >= block,
        "{longest:?}"
    );

    let mut polls = polls_by_location(&recording);
    polls.sort_by_key(|(_, times)| times.count());
    polls.retain(|(label, _)| label != "the future of block_on");
    let [(blocking, long), (yielding, short)] = &polls[..] else {
        panic!("{polls:?}");
    };
    assert_eq!((long.count(), short.count()), (1, 200));
    assert!(long.max() >= block, "{long:?}");
    for label in [blocking, yielding] {
        assert!(label.contains("flight_recorder.rs:"), "{label}");
    }
    let delays = scheduling_delays(&recording);
    let waits: usize = delays.iter().map(|(_, delays)| delays.count()).sum();
    // Each task has waited for its first poll, and each that has yielded for its second poll too.
    assert_eq!(waits, 101 + 100);
}
