//! System calls that signals interrupt, on every thread.
#![allow(
    clippy::disallowed_types,
    reason = "a signal handler counts in a static"
)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::{TcpListener, TcpStream, UdpSocket, UnixStream, lookup_host};
use raddle_primitives::thread;

use crate::ALONE;
use crate::common::{both, run};

static HANDLED: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicBool = AtomicBool::new(false);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, SeqCst);
}

/// Installs a handler without `SA_RESTART`, so that signals interrupt system calls.
fn handle_signals() {
    // SAFETY: the handler only adds to an atomic, which is safe in a signal; the action is plain
    // data that is valid when zeroed.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as *const () as usize;
        libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut())
    };
    assert_eq!(result, 0);
}

/// Sends signals to each thread of the process until the test is done.
fn interrupt_all() {
    while !DONE.load(SeqCst) {
        for thread in std::fs::read_dir("/proc/self/task").unwrap() {
            let name = thread.unwrap().file_name();
            let id: libc::pid_t = name.to_str().unwrap().parse().unwrap();
            // SAFETY: sends a handled signal to a thread of this process, or to none if it has
            // ended.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, libc::SIGUSR1) };
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn interrupted_system_calls_are_repeated() {
    let _alone = ALONE.lock();
    handle_signals();
    let interrupter = thread::spawn(interrupt_all);
    // The driver waits on its own thread, and this thread waits for it.
    for _ in 0..100 {
        run(connections_and_datagrams());
    }
    DONE.store(true, SeqCst);
    interrupter.join().unwrap();
    assert!(HANDLED.load(SeqCst) > 100, "too few signals were handled");
}

async fn connections_and_datagrams() {
    let listener = TcpListener::bind(("localhost", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connecting = TcpStream::connect(("localhost", port));
    let (client, server) = both(connecting, listener.accept()).await;
    let (mut client, mut server) = (client.unwrap(), server.unwrap().0);
    for n in 0..20_u32 {
        client.write_u32(n).await.unwrap();
        assert_eq!(server.read_u32().await.unwrap(), n);
    }
    // More than the system buffers, so that both sides wait.
    let content = vec![7; 4 << 20];
    let mut received = vec![0; content.len()];
    let (written, read) = both(client.write_all(&content), server.read_exact(&mut received)).await;
    written.unwrap();
    read.unwrap();
    assert_eq!(received, content);

    let (mut near, mut far) = UnixStream::pair().unwrap();
    let mut text = String::new();
    let writing = async {
        near.write_all(b"goodbye").await.unwrap();
        drop(near);
    };
    let (read, ()) = both(far.read_to_string(&mut text), writing).await;
    assert_eq!((read.unwrap(), text.as_str()), (7, "goodbye"));

    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    assert_eq!(socket.send_to(b"to myself", address).await.unwrap(), 9);
    assert_eq!(socket.recv(&mut [0; 16]).await.unwrap(), 9);
    assert!(lookup_host(("localhost", 80)).await.unwrap().count() > 0);
}
