//! UDP: datagrams arrive whole and in order.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
#[cfg(target_os = "linux")]
use std::task::Poll;

use raddle_io::ReadBuf;
use raddle_net::UdpSocket;
#[cfg(target_os = "linux")]
use raddle_reactor::Interest;
use raddle_testing::{block_on, poll};

use crate::common::{Driver, all, both, run};

async fn pair() -> (UdpSocket, UdpSocket) {
    let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let far = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    near.connect(far.local_addr().unwrap()).await.unwrap();
    far.connect(near.local_addr().unwrap()).await.unwrap();
    (near, far)
}

#[test]
fn datagrams_carry_the_address_of_the_sender() {
    run(async {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = server.local_addr().unwrap();
        let serve = async {
            let mut buffer = [0; 64];
            for _ in 0..100 {
                let (length, peer) = server.recv_from(&mut buffer).await.unwrap();
                let sent = server.send_to(&buffer[..length], peer).await.unwrap();
                assert_eq!(sent, length);
            }
        };
        let ask = async {
            let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let mut buffer = [0; 64];
            for n in 0..100_usize {
                let message = vec![n as u8; n % 64];
                client.send_to(&message, addr).await.unwrap();
                let (length, peer) = client.recv_from(&mut buffer).await.unwrap();
                assert_eq!((&buffer[..length], peer), (&message[..], addr));
            }
        };
        both(serve, ask).await;
    });
}

#[test]
fn an_empty_datagram_is_received_as_empty() {
    run(async {
        let (near, far) = pair().await;
        for message in [&b""[..], b"abc", b""] {
            assert_eq!(near.send(message).await.unwrap(), message.len());
        }
        let mut buffer = [0; 8];
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 0);
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
        assert_eq!(far.recv(&mut []).await.unwrap(), 0);
        assert_eq!(
            far.try_recv(&mut buffer).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
    });
}

/// A datagram smaller than the buffer does not mean that no other has arrived.
#[test]
fn a_short_datagram_does_not_clear_readiness() {
    run(async {
        let (near, far) = pair().await;
        for n in 0..50_u8 {
            near.send(&[n]).await.unwrap();
        }
        let mut buffer = [0; 64];
        for n in 0..50 {
            assert_eq!(far.recv(&mut buffer).await.unwrap(), 1);
            assert_eq!(buffer[0], n);
        }
    });
}

#[test]
#[cfg(windows)]
fn a_datagram_larger_than_the_buffer_is_an_error() {
    const WSAEMSGSIZE: i32 = 10_040;
    run(async {
        let (near, far) = pair().await;
        near.send(b"abcdef").await.unwrap();
        near.send(b"ghi").await.unwrap();
        let mut buffer = [0; 4];
        let error = far.recv(&mut buffer).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(WSAEMSGSIZE));
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
    });
}

#[test]
#[cfg(not(windows))]
fn a_datagram_larger_than_the_buffer_is_truncated() {
    run(async {
        let (near, far) = pair().await;
        near.send(b"abcdef").await.unwrap();
        near.send(b"ghi").await.unwrap();
        let mut buffer = [0; 4];
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 4);
        assert_eq!(&buffer, b"abcd");
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
    });
}

#[test]
fn buffers_grow_to_the_size_of_the_datagram() {
    run(async {
        let (near, far) = pair().await;
        let from = near.local_addr().unwrap();
        for message in [b"one", b"two", b"six", b"ten"] {
            near.send(message).await.unwrap();
        }
        let mut received = Vec::with_capacity(64);
        assert_eq!(far.recv_buf(&mut received).await.unwrap(), 3);
        let (length, peer) = far.recv_buf_from(&mut received).await.unwrap();
        assert_eq!((length, peer), (3, from));
        assert_eq!(far.try_recv_buf(&mut received).unwrap(), 3);
        assert_eq!(far.try_recv_buf_from(&mut received).unwrap(), (3, from));
        assert_eq!(received, b"onetwosixten");
        let error = far.try_recv_buf(&mut received).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert_eq!(received.len(), 12);
    });
}

#[test]
fn peeking_consumes_nothing() {
    run(async {
        let (near, far) = pair().await;
        let from = near.local_addr().unwrap();
        {
            let mut peek = pin!(far.peek_sender());
            assert!(poll(peek.as_mut()).is_pending());
        }
        near.send(b"abc").await.unwrap();
        let mut buffer = [0; 8];
        assert_eq!(far.peek_sender().await.unwrap(), from);
        assert_eq!(far.try_peek_sender().unwrap(), from);
        assert_eq!(poll_fn(|cx| far.poll_peek_sender(cx)).await.unwrap(), from);
        assert_eq!(far.peek(&mut buffer).await.unwrap(), 3);
        assert_eq!(far.try_peek(&mut buffer).unwrap(), 3);
        assert_eq!(far.peek_from(&mut buffer).await.unwrap(), (3, from));
        assert_eq!(far.try_peek_from(&mut buffer).unwrap(), (3, from));
        let mut storage = [0; 8];
        let mut peeked = ReadBuf::new(&mut storage);
        poll_fn(|cx| far.poll_peek(cx, &mut peeked)).await.unwrap();
        assert_eq!(peeked.filled(), b"abc");
        peeked.clear();
        let sender = poll_fn(|cx| far.poll_peek_from(cx, &mut peeked)).await;
        assert_eq!((sender.unwrap(), peeked.filled()), (from, &b"abc"[..]));
        assert_eq!(far.try_recv_from(&mut buffer).unwrap(), (3, from));
        assert!(far.try_peek(&mut buffer).is_err());
    });
}

#[test]
fn poll_methods_send_and_receive() {
    run(async {
        let (near, far) = pair().await;
        let to = far.local_addr().unwrap();
        poll_fn(|cx| near.poll_send_ready(cx)).await.unwrap();
        assert_eq!(poll_fn(|cx| near.poll_send(cx, b"abc")).await.unwrap(), 3);
        poll_fn(|cx| far.poll_recv_ready(cx)).await.unwrap();
        let mut storage = [0; 8];
        let mut received = ReadBuf::new(&mut storage);
        poll_fn(|cx| far.poll_recv(cx, &mut received))
            .await
            .unwrap();
        assert_eq!(received.filled(), b"abc");
        // On Linux a connected socket may send to an address.
        #[cfg(target_os = "linux")]
        {
            let sent = poll_fn(|cx| near.poll_send_to(cx, b"de", to)).await;
            assert_eq!(sent.unwrap(), 2);
            let sender = poll_fn(|cx| far.poll_recv_from(cx, &mut received)).await;
            assert_eq!(sender.unwrap(), near.local_addr().unwrap());
            assert_eq!(received.filled(), b"abcde");
            assert_eq!(near.try_send_to(b"f", to).unwrap(), 1);
        }
        let _ = to;
    });
}

#[test]
fn many_tasks_wait_for_one_socket() {
    run(async {
        let (near, far) = pair().await;
        let receive = all((0..20).map(|_| async {
            let mut buffer = [0; 8];
            far.recv(&mut buffer).await.unwrap();
            buffer[0]
        }));
        let send = async {
            for n in 0..20_u8 {
                near.send(&[n]).await.unwrap();
            }
        };
        let (mut received, ()) = both(receive, send).await;
        received.sort_unstable();
        assert_eq!(received, (0..20).collect::<Vec<u8>>());
    });
}

#[test]
fn dropped_futures_lose_nothing() {
    run(async {
        let (near, far) = pair().await;
        let mut buffer = [0; 8];
        for _ in 0..50 {
            {
                let mut recv = pin!(far.recv(&mut buffer));
                assert!(poll(recv.as_mut()).is_pending());
            }
            {
                let mut readable = pin!(far.readable());
                assert!(poll(readable.as_mut()).is_pending());
            }
            near.send(b"abc").await.unwrap();
            far.readable().await.unwrap();
            assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
            assert!(far.try_recv(&mut buffer).is_err());
        }
    });
}

/// mio 449: a refusal is reported once, with "write closed", and must not make a writer or a reader
/// spin.
#[test]
#[cfg(target_os = "linux")]
fn a_refused_datagram_is_reported_once() {
    run(async {
        let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        near.connect(gone.local_addr().unwrap()).await.unwrap();
        drop(gone);
        near.send(b"x").await.unwrap();
        let error = near.recv(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let mut buffer = [0; 8];
        let mut recv = pin!(near.recv(&mut buffer));
        assert!(poll(recv.as_mut()).is_pending());

        // As with a full send buffer: the operation waits instead of retrying forever.
        let mut tried = 0;
        let blocked = near.async_io(Interest::WRITABLE, || {
            tried += 1;
            Err::<(), _>(ErrorKind::WouldBlock.into())
        });
        assert!(poll(Box::pin(blocked).as_mut()).is_pending());
        assert!((1..=2).contains(&tried), "tried {tried} times");
    });
}

/// Sends a datagram to a port that no socket has, and waits for the error.
#[cfg(target_os = "linux")]
async fn refused() -> UdpSocket {
    let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    near.connect(gone.local_addr().unwrap()).await.unwrap();
    drop(gone);
    near.writable().await.unwrap();
    near.send(b"x").await.unwrap();
    assert!(near.ready(Interest::ERROR).await.unwrap().is_error());
    near
}

/// Bug: own, an error made a socket readable, so that a server saw the refusal of another peer.
#[test]
#[cfg(target_os = "linux")]
fn an_error_makes_no_socket_readable() {
    run(async {
        let near = refused().await;
        assert!(poll(pin!(near.readable())).is_pending());
        assert!(poll(pin!(near.ready(Interest::READABLE))).is_pending());
        assert!(poll(pin!(poll_fn(|cx| near.poll_recv_ready(cx)))).is_pending());
        let mut buffer = [0; 8];
        let mut tried = vec![
            near.try_recv(&mut buffer).unwrap_err(),
            near.try_recv_from(&mut buffer).unwrap_err(),
            near.try_recv_buf(&mut Vec::new()).unwrap_err(),
            near.try_recv_buf_from(&mut Vec::new()).unwrap_err(),
            near.try_peek(&mut buffer).unwrap_err(),
            near.try_peek_from(&mut buffer).unwrap_err(),
            near.try_peek_sender().unwrap_err(),
        ];
        tried.push(near.try_io(Interest::READABLE, || Ok(())).unwrap_err());
        for error in tried {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
        let mut buffer = ReadBuf::new(&mut buffer);
        assert!(poll(pin!(poll_fn(|cx| near.poll_recv(cx, &mut buffer)))).is_pending());
        assert!(poll(pin!(poll_fn(|cx| near.poll_recv_from(cx, &mut buffer)))).is_pending());
        assert!(poll(pin!(poll_fn(|cx| near.poll_peek(cx, &mut buffer)))).is_pending());
        assert!(poll(pin!(poll_fn(|cx| near.poll_peek_sender(cx)))).is_pending());
        let both_ways = near.ready(Interest::READABLE | Interest::WRITABLE).await;
        let ready = both_ways.unwrap();
        assert!(!ready.is_readable() && ready.is_writable() && !ready.is_error());
    });
}

/// Each async receive waits for errors too, before or after they come.
#[test]
#[cfg(target_os = "linux")]
fn a_receive_returns_the_error_of_a_refused_datagram() {
    run(async {
        let (mut buffer, mut grown) = ([0; 8], Vec::with_capacity(8));
        let mut errors = vec![
            refused().await.recv(&mut buffer).await.unwrap_err(),
            refused().await.recv_from(&mut buffer).await.unwrap_err(),
            refused().await.recv_buf(&mut grown).await.unwrap_err(),
            refused().await.recv_buf_from(&mut grown).await.unwrap_err(),
            refused().await.peek(&mut buffer).await.unwrap_err(),
            refused().await.peek_from(&mut buffer).await.unwrap_err(),
            refused().await.peek_sender().await.unwrap_err(),
        ];
        let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        near.connect(gone.local_addr().unwrap()).await.unwrap();
        drop(gone);
        let mut recv = pin!(near.recv(&mut buffer));
        assert!(poll(recv.as_mut()).is_pending());
        near.send(b"x").await.unwrap();
        errors.push(recv.await.unwrap_err());
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        }
    });
}

/// Bug: own, an error made a socket readable.
/// With `IP_RECVERR` a socket that has no peer gets errors too. A server must not end by the one of
/// a client that has gone.
#[test]
#[cfg(target_os = "linux")]
fn an_error_of_one_peer_does_not_end_a_server() {
    use std::os::fd::AsRawFd;

    run(async {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let on: libc::c_int = 1;
        // SAFETY: the option is an integer that outlives the call.
        let set = unsafe {
            libc::setsockopt(
                server.as_raw_fd(),
                libc::IPPROTO_IP,
                libc::IP_RECVERR,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        assert_eq!(set, 0);
        let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = gone.local_addr().unwrap();
        drop(gone);
        server.send_to(b"x", address).await.unwrap();
        assert!(server.ready(Interest::ERROR).await.unwrap().is_error());
        assert!(poll(pin!(poll_fn(|cx| server.poll_recv_ready(cx)))).is_pending());
        let error = server.try_recv_from(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

/// mio 449: a program that waits with `writable` and tries does not spin either.
#[test]
#[cfg(target_os = "linux")]
fn an_error_makes_a_socket_writable_a_bounded_number_of_times() {
    run(async {
        let near = refused().await;
        assert_eq!(
            near.recv(&mut [0; 8]).await.unwrap_err().kind(),
            ErrorKind::ConnectionRefused
        );
        for _ in 0..3 {
            match poll(pin!(near.writable())) {
                Poll::Ready(writable) => writable.unwrap(),
                Poll::Pending => return,
            }
            let blocked = || Err::<(), _>(ErrorKind::WouldBlock.into());
            assert!(near.try_io(Interest::WRITABLE, blocked).is_err());
        }
        panic!("still writable although each send would block");
    });
}

#[test]
fn sockets_convert_from_and_to_those_of_std() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let addr = socket.local_addr().unwrap();
    let socket = UdpSocket::try_from(socket).unwrap();
    assert_eq!(driver.handle.registered_count(), 1);
    block_on(socket.send_to(b"abc", addr)).unwrap();
    assert_eq!(block_on(socket.recv(&mut [0; 8])).unwrap(), 3);
    let socket = socket.into_std().unwrap();
    assert_eq!(driver.handle.registered_count(), 0);
    let error = socket.recv(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn an_always_ready_socket_uses_up_the_budget() {
    run(async {
        let (near, far) = pair().await;
        near.writable().await.unwrap();
        let mut sent = 0;
        raddle_leaf::coop::budget(|| {
            while poll(pin!(near.send(b"x"))).is_ready() {
                sent += 1;
                assert!(sent <= 128);
            }
            assert!(poll(pin!(near.writable())).is_pending());
        });
        assert_eq!(sent, 128);
        far.readable().await.unwrap();
        // `try_recv` uses no budget, and a pending operation returns its unit.
        raddle_leaf::coop::budget(|| {
            while far.try_recv(&mut [0; 1]).is_ok() {}
            for _ in 0..1_000 {
                assert!(poll(pin!(far.recv(&mut [0; 1]))).is_pending());
            }
            assert!(raddle_leaf::coop::has_budget_remaining());
        });
    });
}

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`; `alloc` used the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bug: own, an address was put into a vector once a datagram.
#[test]
fn sending_and_receiving_datagrams_allocates_nothing() {
    run(async {
        let receiver = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = receiver.local_addr().unwrap();
        let SocketAddr::V4(v4) = addr else {
            panic!("the socket is bound to another family");
        };
        let text = addr.to_string();
        sender.writable().await.unwrap();
        let mut buffer = [0; 8];
        for round in 0..3 {
            let before = ALLOCATIONS.get();
            sender.send_to(b"x", addr).await.unwrap();
            sender.send_to(b"x", &addr).await.unwrap();
            sender.send_to(b"x", v4).await.unwrap();
            sender.send_to(b"x", (*v4.ip(), v4.port())).await.unwrap();
            sender
                .send_to(b"x", (addr.ip(), addr.port()))
                .await
                .unwrap();
            sender.send_to(b"x", &[addr][..]).await.unwrap();
            sender.send_to(b"x", &*text).await.unwrap();
            sender
                .send_to(b"x", ("127.0.0.1", v4.port()))
                .await
                .unwrap();
            poll_fn(|cx| sender.poll_send_to(cx, b"x", addr))
                .await
                .unwrap();
            sender.try_send_to(b"x", addr).unwrap();
            let sent = ALLOCATIONS.get() - before;
            for _ in 0..10 {
                assert_eq!(receiver.recv_from(&mut buffer).await.unwrap().0, 1);
            }
            // The first waiter of a source makes room for its waker.
            if round > 0 {
                assert_eq!((sent, ALLOCATIONS.get() - before), (0, 0));
            }
        }
    });
}
