//! Peers that vanish, are slow or never answer, and descriptors that are reused: sockets of a
//! runtime. `raddle-net` has further tests.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::common::each_flavor;
use raddle::io::{AsyncReadExt, AsyncWriteExt, ErrorKind};
use raddle::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixSocket, UnixStream};
use raddle::runtime::{Builder, Handle, is_rt_shutdown_err};
use raddle::time::{sleep, timeout};

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(LIMIT, future).await.expect("the test hangs")
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(any()).await.unwrap();
    let connect = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = raddle::join!(connect, listener.accept());
    (near.unwrap(), far.unwrap().0)
}

/// Starts a process that has `socket` as its input and does not read it.
fn owner_of(socket: impl Into<OwnedFd>) -> std::process::Child {
    let socket: OwnedFd = socket.into();
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::from(socket));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // Dropping the command closes this process's copy of the socket.
    command.spawn().unwrap()
}

/// The kernel closes the sockets of a killed process. Its peer reads the end, or an error if the
/// process had not read all data.
#[test]
fn a_killed_peer_ends_the_connection() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            for (unread, expect) in [(false, Ok(0)), (true, Err(ErrorKind::ConnectionReset))] {
                let (mut near, far) = pair().await;
                let far = far.into_std().unwrap();
                let (mut unix_near, unix_far) = UnixStream::pair().unwrap();
                let mut owners = [owner_of(far), owner_of(unix_far.into_std().unwrap())];
                if unread {
                    near.write_all(b"never read").await.unwrap();
                    unix_near.write_all(b"never read").await.unwrap();
                }
                let reading = raddle::spawn(async move { near.read(&mut [0; 8]).await });
                let unix = raddle::spawn(async move { unix_near.read(&mut [0; 8]).await });
                for owner in &mut owners {
                    owner.kill().unwrap();
                    owner.wait().unwrap();
                }
                for read in [reading, unix] {
                    let read = soon(read).await.unwrap();
                    assert_eq!(read.map_err(|error| error.kind()), expect);
                }
            }
        });
    });
}

/// A peer that waits for buffer space is woken as well.
#[test]
fn a_peer_killed_while_its_buffer_is_full_ends_the_connection() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let (mut near, far) = pair().await;
            let mut owner = owner_of(far.into_std().unwrap());
            let writing = raddle::spawn(async move {
                let part = vec![0; 1 << 16];
                loop {
                    if let Err(error) = near.write_all(&part).await {
                        break error.kind();
                    }
                }
            });
            owner.kill().unwrap();
            owner.wait().unwrap();
            let kind = soon(writing).await.unwrap();
            assert!(
                matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
                "{kind}"
            );
        });
    });
}

/// mio 449: traffic in the other direction does not wake a writer that waits for buffer space; it
/// continues when there is space.
#[test]
fn a_full_send_buffer_causes_no_polls() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            const LENGTH: usize = 16 << 20;
            let (near, far) = pair().await;
            let (mut near_read, mut near_write) = near.into_split();
            let (mut far_read, mut far_write) = far.into_split();
            let polls = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&polls);
            let writing = raddle::spawn(async move {
                let content = vec![7; LENGTH];
                let mut write = pin!(near_write.write_all(&content));
                poll_fn(|cx| {
                    counted.fetch_add(1, SeqCst);
                    write.as_mut().poll(cx)
                })
                .await
            });
            let mut talk = async || {
                for n in 0..500_u32 {
                    far_write.write_u32(n).await.unwrap();
                    assert_eq!(near_read.read_u32().await.unwrap(), n);
                }
            };
            while polls.load(SeqCst) == 0 {
                sleep(Duration::from_millis(1)).await;
            }
            soon(talk()).await;
            let count = polls.load(SeqCst);
            assert!(count < 50, "polled {count} times");

            let mut content = vec![0; LENGTH];
            soon(far_read.read_exact(&mut content)).await.unwrap();
            assert!(content.iter().all(|byte| *byte == 7));
            soon(writing).await.unwrap().unwrap();
        });
    });
}

#[test]
fn a_refused_connection_returns_an_error() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            // Bound and not listening, instead of closed: other tests start processes, which have
            // a closed listener open until they execute their program.
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(any()).unwrap();
            let unused = socket.local_addr().unwrap();
            let error = soon(TcpStream::connect(unused)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);

            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("listener");
            let socket = UnixSocket::new_stream().unwrap();
            socket.bind(&path).unwrap();
            let error = soon(UnixStream::connect(&path)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        });
    });
}

/// A listener whose queue is full, and the streams that fill it. On Linux a further connection
/// attempt waits.
#[cfg(target_os = "linux")]
async fn deaf() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(any()).unwrap();
    let address = socket.local_addr().unwrap();
    let listener = socket.listen(1).unwrap();
    let mut streams = Vec::new();
    while let Ok(stream) = timeout(Duration::from_millis(50), TcpStream::connect(address)).await {
        streams.push(stream.unwrap());
        assert!(streams.len() < 20, "the queue does not fill up");
    }
    (address, listener, streams)
}

/// A dropped attempt leaves no socket: its address can be bound again. In a process of its own,
/// since a child that another test starts has a copy of the socket until it runs its program.
#[test]
#[cfg(target_os = "linux")]
fn a_connection_attempt_that_is_dropped_closes_its_socket() {
    crate::common::own_process::in_own_process(
        "faults::a_connection_attempt_that_is_dropped_closes_its_socket",
        || {
            each_flavor(|runtime| {
                runtime.block_on(async {
                    let (address, _listener, _streams) = deaf().await;
                    let socket = TcpSocket::new_v4().unwrap();
                    socket.bind(any()).unwrap();
                    let local = socket.local_addr().unwrap();
                    let attempt = timeout(Duration::from_millis(20), socket.connect(address));
                    attempt.await.unwrap_err();
                    let again = TcpSocket::new_v4().unwrap();
                    again.bind(local).unwrap();
                });
            });
        },
    );
}

/// The attempt returns the system's own timeout as an error.
#[test]
#[cfg(target_os = "linux")]
fn a_connection_attempt_that_the_system_times_out_is_an_error() {
    let runtime = crate::common::multi_thread().build().unwrap();
    runtime.block_on(async {
        let (address, _listener, _streams) = deaf().await;
        let socket = TcpSocket::new_v4().unwrap();
        socket2::SockRef::from(&socket)
            .set_tcp_user_timeout(Some(Duration::from_millis(1)))
            .unwrap();
        let error = soon(socket.connect(address)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
}

/// RUSTSEC-2024-0019, tokio-core 172 and 243: descriptor numbers are reused at once, on several
/// threads, while events of their former owners are pending.
#[test]
fn reused_descriptors_get_no_events_of_their_predecessors() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let rounds = (0..4_u32).map(|task| {
                raddle::spawn(async move {
                    for round in 0..250 {
                        let (mut near, mut far) = UnixStream::pair().unwrap();
                        let id = task << 16 | round;
                        // The former owner of the descriptor's number receives its last event here.
                        let (gone, other_end) = UnixStream::pair().unwrap();
                        far.write_u32(id).await.unwrap();
                        drop(other_end);
                        drop(gone);
                        assert_eq!(near.read_u32().await.unwrap(), id);
                        let mut byte = [0];
                        let mut reading = pin!(near.read(&mut byte));
                        assert!(
                            poll_fn(|cx| std::task::Poll::Ready(reading.as_mut().poll(cx)))
                                .await
                                .is_pending()
                        );
                        far.write_all(&[round as u8]).await.unwrap();
                        assert_eq!(reading.await.unwrap(), 1);
                        assert_eq!(byte, [round as u8]);
                    }
                })
            });
            for task in rounds.collect::<Vec<_>>() {
                soon(task).await.unwrap();
            }
        });
    });
}

/// 2903: a registration during or after the shutdown is an error, or its wait ends with an error.
#[test]
fn sockets_opened_during_a_shutdown_return_errors() {
    /// Opens sockets one after the other until an error is returned.
    async fn open(made: &AtomicUsize) -> io::Result<()> {
        loop {
            let socket = UdpSocket::bind(any()).await?;
            socket.writable().await?;
            made.fetch_add(1, SeqCst);
        }
    }

    /// Waits for a socket to which no data is sent.
    async fn wait(made: &AtomicUsize) -> io::Result<()> {
        let socket = UdpSocket::bind(any()).await?;
        made.fetch_add(1, SeqCst);
        socket.readable().await
    }

    for round in 0..60 {
        let builders = crate::common::builders();
        let runtime = { builders }[round % 4].build().unwrap();
        let made = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|thread| {
                let (handle, made) = (runtime.handle().clone(), Arc::clone(&made));
                std::thread::spawn(move || match thread {
                    0 => end_outside(&handle, wait(&made)),
                    _ => end_outside(&handle, open(&made)),
                })
            })
            .collect();
        // A current-thread runtime makes progress only while a thread drives it.
        runtime.block_on(soon(async {
            while made.load(SeqCst) < 5 {
                sleep(Duration::from_millis(1)).await;
            }
        }));
        drop(runtime);
        for thread in threads {
            let error = thread.join().unwrap().unwrap_err();
            assert!(is_rt_shutdown_err(&error), "{error}");
        }
    }
}

/// 6463: neither a blocking read that never returns nor the task that awaits it delays a shutdown
/// with a timeout.
#[test]
fn shutdown_timeout_returns_though_a_read_never_returns() {
    each_flavor(|runtime| {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (began, begins) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let (mut stream, _other_end) = pair().await;
            raddle::spawn(async move { stream.read(&mut [0; 8]).await });
            let mut file = raddle::fs::File::from(std::fs::File::from(reader));
            let waiting = raddle::spawn(async move {
                let mut byte = [0];
                let mut read = pin!(file.read(&mut byte));
                poll_fn(|cx| {
                    let polled = read.as_mut().poll(cx);
                    let _ = began.send(polled.is_pending());
                    polled
                })
                .await
            });
            while begins.try_recv().is_err() {
                sleep(Duration::from_millis(1)).await;
            }
            assert!(!waiting.is_finished());
        });
        runtime.shutdown_timeout(Duration::from_millis(5));
        drop(writer);
    });
}

/// Runs a future that uses the sockets of `handle` on another runtime.
fn end_outside<F: Future>(handle: &Handle, future: F) -> F::Output {
    let executor = Builder::new_current_thread().enable_time().build().unwrap();
    executor.block_on(async {
        let mut future = pin!(future);
        soon(poll_fn(|cx| {
            let _guard = handle.enter();
            future.as_mut().poll(cx)
        }))
        .await
    })
}
