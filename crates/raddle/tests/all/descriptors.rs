//! A process without free descriptors. The test lowers the limit of a process of its own.

use std::io;
use std::os::fd::AsRawFd;
use std::process::Stdio;

use crate::common::own_process::in_own_process;
use crate::common::{current_thread, multi_thread};
use raddle::fs::File;
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::unix::pipe;
use raddle::net::{TcpListener, TcpStream, UdpSocket, UnixStream, lookup_host};
use raddle::process::Command;
use raddle::runtime::Builder;
use raddle::signal::unix::{SignalKind, signal};
use raddle::time::{Duration, sleep, timeout};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lowers the limit to a few descriptors more than are in use, and opens files until it is reached.
fn take_all() -> Vec<std::fs::File> {
    let free = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
    let limit = Rlimit {
        current: Some(free as u64 + 16),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let taken = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok());
    taken.collect()
}

fn assert_none_left<T>(result: io::Result<T>) {
    let error = result.map(drop).unwrap_err();
    let code = error
        .raw_os_error()
        .map(rustix::io::Errno::from_raw_os_error);
    assert_eq!(code, Some(rustix::io::Errno::MFILE), "{error}");
}

/// tokio 3529, 6221: what needs a descriptor fails, everything else works, an accept loop makes few
/// attempts, and everything works again afterwards.
#[test]
fn operations_return_errors_at_the_limit_of_descriptors() {
    in_own_process(
        "descriptors::operations_return_errors_at_the_limit_of_descriptors",
        || {
            for runtime in [
                multi_thread().build().unwrap(),
                current_thread().build().unwrap(),
            ] {
                // A first look-up opens the descriptors that the blocking thread keeps.
                runtime.block_on(async { lookup_host("localhost:80").await.map(drop).unwrap() });
                runtime.block_on(runtime_at_the_limit());
            }
        },
    );
}

async fn runtime_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (mut near, far) = raddle::join!(TcpStream::connect(address), listener.accept());
    let (near, far) = (near.as_mut().unwrap(), &mut far.unwrap().0);
    let client = std::net::TcpStream::connect(address).unwrap();
    let mut sleeper = Command::new("sleep");
    sleeper.arg("600").kill_on_drop(true);
    let mut child = sleeper.spawn().unwrap();

    // The last descriptors are taken after the child is spawned, before its exit is waited for.
    let mut taken = Vec::new();
    let late = sleeper.spawn_with(|command| {
        let child = command.spawn();
        taken = take_all();
        child
    });
    let mut late = late.unwrap();
    assert_none_left(listener.accept().await);
    assert_none_left(TcpStream::connect(address).await);
    assert_none_left(TcpListener::bind("127.0.0.1:0").await);
    assert_none_left(UdpSocket::bind("127.0.0.1:0").await);
    assert_none_left(UnixStream::pair());
    assert_none_left(pipe::pipe());
    assert_none_left(File::open("/dev/null").await);
    // The runtime has opened the descriptors for signals.
    signal(SignalKind::window_change()).unwrap();
    assert_none_left(Command::new("true").stdin(Stdio::piped()).spawn());
    assert_none_left(Builder::new_current_thread().enable_all().build());
    for child in [&mut child, &mut late] {
        let pending = timeout(Duration::from_millis(5), child.wait()).await;
        assert!(
            pending.is_err(),
            "the wait for a running child ended: {pending:?}"
        );
    }
    late.start_kill().unwrap();
    assert!(!late.wait().await.unwrap().success());

    // The accept succeeds only after the fourth pause, which closes descriptors.
    let mut pauses = 0;
    let accept = listener.accept_retrying(|pause| {
        pauses += 1;
        if pauses == 4 {
            taken.clear();
        }
        sleep(pause)
    });
    let talk = async {
        for n in 0..100 {
            near.write_u32(n).await.unwrap();
            assert_eq!(far.read_u32().await.unwrap(), n);
        }
    };
    let (accepted, ()) = raddle::join!(accept, talk);
    assert_eq!(accepted.unwrap().1, client.local_addr().unwrap());
    assert_eq!(pauses, 4);

    TcpListener::bind("127.0.0.1:0").await.unwrap();
    File::open("/dev/null").await.unwrap();
    child.kill().await.unwrap();
    let status = Command::new("true").status().await.unwrap();
    assert!(status.success());
}
