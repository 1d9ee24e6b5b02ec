//! Named pipes of Windows.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::io::{ErrorKind, IoSlice};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::windows::named_pipe::{
    ClientOptions, NamedPipeClient, NamedPipeServer, PipeEnd, PipeMode, ServerOptions,
};
use raddle_reactor::Interest;
use raddle_testing::{block_on, poll};

use crate::common::{Driver, both, run, run_beside_driver};

/// Error code: all instances have a client.
const ERROR_PIPE_BUSY: i32 = 231;
/// Error code: the server has disconnected, or no client was ever connected.
const ERROR_PIPE_NOT_CONNECTED: i32 = 233;

/// Returns a name that no other test uses.
fn name() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(r"\\.\pipe\raddle-{}-{number}", std::process::id())
}

/// Whether the system refuses to create the first instance of a pipe that exists, as
/// [`mio::windows::NamedPipe::new`] requests. Wine 8 does not.
fn has_first_instance() -> bool {
    let name = name();
    let _first = mio::windows::NamedPipe::new(&name).unwrap();
    let has = mio::windows::NamedPipe::new(&name).is_err();
    if !has {
        println!("skipped: this system has no FILE_FLAG_FIRST_PIPE_INSTANCE");
    }
    has
}

/// The connected ends of a pipe.
async fn connected(options: &ServerOptions, client: &ClientOptions) -> Ends {
    let name = name();
    let server = options.create(&name).unwrap();
    let client = client.open(&name).unwrap();
    server.connect().await.unwrap();
    (server, client)
}

type Ends = (NamedPipeServer, NamedPipeClient);

async fn pair() -> Ends {
    connected(&ServerOptions::new(), &ClientOptions::new()).await
}

#[test]
fn bytes_pass_in_both_directions_and_the_end_is_read() {
    run(async {
        let (mut server, mut client) = pair().await;
        client.write_all(b"two coffees").await.unwrap();
        let mut order = [0; 11];
        server.read_exact(&mut order).await.unwrap();
        assert_eq!(&order, b"two coffees");
        server.write_all(b"coming").await.unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "coming");
        let error = client.write_all(b"thanks").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn more_than_the_buffers_hold_arrives_in_order() {
    run(async {
        let (mut server, mut client) = pair().await;
        let message: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let send = async {
            for part in message.chunks(10_000) {
                client.write_all(part).await.unwrap();
            }
            drop(client);
        };
        let mut received = Vec::new();
        let ((), result) = both(send, server.read_to_end(&mut received)).await;
        result.unwrap();
        assert!(received == message);
    });
}

#[test]
fn a_server_waits_until_a_client_connects() {
    run(async {
        let name = name();
        let server = ServerOptions::new().create(&name).unwrap();
        let mut connect = Box::pin(server.connect());
        assert!(poll(connect.as_mut()).is_pending());
        // Dropping the future does not lose a client.
        drop(connect);
        let mut connect = pin!(server.connect());
        assert!(poll(connect.as_mut()).is_pending());
        let mut client = ClientOptions::new().open(&name).unwrap();
        connect.await.unwrap();
        client.write_all(b"x").await.unwrap();
        server.readable().await.unwrap();
        assert_eq!(server.try_read(&mut [0; 8]).unwrap(), 1);
    });
}

#[test]
fn a_client_without_a_server_gets_not_found() {
    run(async {
        let error = ClientOptions::new().open(name()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        for zero in [r"\\.\pipe\a", ""].map(|start| format!("{start}\0")) {
            let error = ClientOptions::new().open(&zero).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let error = ServerOptions::new().create(&zero).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    });
}

/// The only instance goes from the first client to the second, which retries until it is free.
#[test]
fn a_second_client_waits_for_the_instance() {
    run_beside_driver(async {
        let name = name();
        let server = ServerOptions::new().max_instances(1).create(&name);
        let mut server = server.unwrap();
        let mut first = ClientOptions::new().open(&name).unwrap();
        server.connect().await.unwrap();
        let error = ClientOptions::new().open(&name).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(ERROR_PIPE_BUSY));

        first
            .write_all(b"first, of which the server reads a part")
            .await
            .unwrap();
        let mut text = [0; 5];
        server.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"first");
        // More than the buffers hold: the write is still pending when the server disconnects.
        server.write_all(&[0; 1 << 20]).await.unwrap();
        server.disconnect().unwrap();
        // The client reads the bytes that were read ahead, and then an error, since the rest is
        // lost.
        let lost = first.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(lost.raw_os_error(), Some(ERROR_PIPE_NOT_CONNECTED));

        let mut connect = Box::pin(server.connect());
        let mut attempts = 0;
        let mut second = loop {
            // The instance is free once the server waits again.
            let _ = poll(connect.as_mut());
            match ClientOptions::new().open(&name) {
                Ok(client) => break client,
                Err(error) => assert_eq!(error.raw_os_error(), Some(ERROR_PIPE_BUSY)),
            }
            attempts += 1;
            assert!(attempts < 1_000, "the instance is not free");
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        connect.await.unwrap();
        second.write_all(b"again").await.unwrap();
        server.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"again");
        server.write_all(b"to the second").await.unwrap();
        drop(server);
        let mut answer = String::new();
        second.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "to the second");
    });
}

#[test]
fn instances_beyond_the_limit_are_refused() {
    run(async {
        let name = name();
        let mut options = ServerOptions::new();
        options.max_instances(2);
        let first = options.create(&name).unwrap();
        let second = options.create(&name).unwrap();
        let error = options.create(&name).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(ERROR_PIPE_BUSY));
        assert_eq!(first.info().unwrap().max_instances, 2);
        drop((first, second));
    });
}

#[test]
#[should_panic(expected = "at most 254")]
fn a_limit_that_the_system_does_not_have_panics() {
    ServerOptions::new().max_instances(255);
}

#[test]
fn the_first_instance_is_refused_while_there_is_one() {
    if !has_first_instance() {
        return;
    }
    run(async {
        let name = name();
        let mut options = ServerOptions::new();
        options.first_pipe_instance(true);
        let server = options.create(&name).unwrap();
        let error = options.create(&name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        drop(server);
        options.create(&name).unwrap();
    });
}

#[test]
fn a_direction_that_the_server_does_not_have_is_refused() {
    run(async {
        let name = name();
        let inbound = ServerOptions::new().access_outbound(false).create(&name);
        let mut server = inbound.unwrap();
        let error = ClientOptions::new().open(&name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let mut client = ClientOptions::new().read(false).open(&name).unwrap();
        server.connect().await.unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 1);
    });
}

#[test]
fn messages_are_read_one_by_one_and_a_long_one_in_parts() {
    run(async {
        let mut options = ServerOptions::new();
        options.pipe_mode(PipeMode::Message);
        let mut by_message = ClientOptions::new();
        by_message.pipe_mode(PipeMode::Message);
        let (mut server, mut client) = connected(&options, &by_message).await;
        server.write_all(b"one").await.unwrap();
        server.write_all(b"two").await.unwrap();
        let parts = [IoSlice::new(b"three "), IoSlice::new(b"four")];
        assert_eq!(server.write_vectored(&parts).await.unwrap(), 10);
        server.write_all(&[7; 10_000]).await.unwrap();

        let mut buffer = [0; 16];
        for message in [&b"one"[..], b"two", b"three four"] {
            let count = client.read(&mut buffer).await.unwrap();
            assert_eq!(&buffer[..count], message);
        }
        let mut long = vec![0; 10_000];
        client.read_exact(&mut long).await.unwrap();
        assert!(long.iter().all(|&byte| byte == 7));
    });
}

#[test]
fn bytes_of_several_writes_are_read_together() {
    run(async {
        let (mut server, mut client) = pair().await;
        for _ in 0..3 {
            server.write_all(b"ab").await.unwrap();
        }
        let mut all = [0; 6];
        client.read_exact(&mut all).await.unwrap();
        assert_eq!(&all, b"ababab");
    });
}

#[test]
fn each_end_returns_information_about_the_pipe() {
    run(async {
        let mut options = ServerOptions::new();
        options.out_buffer_size(8192).in_buffer_size(16_384);
        let (server, client) = connected(&options, &ClientOptions::new()).await;
        let (server, client) = (server.info().unwrap(), client.info().unwrap());
        assert_eq!((server.end, client.end), (PipeEnd::Server, PipeEnd::Client));
        for info in [server, client] {
            assert_eq!(info.mode, PipeMode::Byte);
            // 255, or the maximum of the type under Wine 8.
            assert!(info.max_instances >= 255);
        }
    });
}

#[test]
fn try_methods_that_cannot_proceed_return_would_block() {
    run(async {
        let (server, client) = pair().await;
        let error = server.try_read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(poll(pin!(server.readable())).is_pending());
        client.writable().await.unwrap();
        assert_eq!(client.try_write(b"hello").unwrap(), 5);
        let ready = server.ready(Interest::READABLE).await.unwrap();
        assert!(ready.is_readable());
        let mut received = Vec::with_capacity(8);
        assert_eq!(server.try_read_buf(&mut received).unwrap(), 5);
        assert_eq!(received, b"hello");

        // The client does not read, so at some point a write would block.
        let mut written = 0;
        loop {
            client.writable().await.unwrap();
            match client.try_write(&[0; 65_536]) {
                Ok(count) => written += count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
            if poll(pin!(client.writable())).is_pending() {
                break;
            }
        }
        let mut received = 0;
        let mut buffer = vec![0; 65_536];
        while received < written {
            server.readable().await.unwrap();
            match server.try_read(&mut buffer) {
                Ok(count) => received += count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        client.writable().await.unwrap();
    });
}

#[test]
fn a_pipe_whose_reactor_has_shut_down_is_an_error() {
    let driver = Driver::start();
    let entered = driver.handle.enter();
    let server = ServerOptions::new().create(name()).unwrap();
    drop(entered);
    drop(driver);
    assert!(block_on(server.connect()).is_err());
}
