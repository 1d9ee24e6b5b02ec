//! The budget of a poll: each operation that a socket completes costs one unit, so a task with a
//! socket that is always ready yields.

use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_net::async_fd::AsyncFd;
use raddle_net::unix::pipe;
use raddle_net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use raddle_reactor::Interest;
use raddle_testing::poll;

use crate::common::{pair, run};

/// Units of a fresh budget.
const FULL: usize = 128;

/// Repeats an operation that is always ready within one budget until it is pending, which it must
/// be once the budget is used up.
fn assert_costs_a_unit(what: &str, mut is_ready: impl FnMut(&mut Context<'_>) -> bool) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut done = 0;
    raddle_leaf::coop::budget(|| {
        while is_ready(&mut cx) {
            done += 1;
            assert!(done <= FULL, "{what} uses no budget");
        }
        assert!(
            !raddle_leaf::coop::has_budget_remaining(),
            "{what} was pending"
        );
    });
    assert_eq!(done, FULL, "{what} uses more than one unit");
}

/// As above, for an async function.
fn assert_await_costs_a_unit<F: Future>(what: &str, mut operation: impl FnMut() -> F) {
    assert_costs_a_unit(what, |_| poll(pin!(operation())).is_ready());
}

macro_rules! assert_awaits {
    ($($operation:expr),+ $(,)?) => {
        $( assert_await_costs_a_unit(stringify!($operation), async || drop($operation.await)); )+
    };
}

macro_rules! assert_polls {
    (|$cx:ident| $($operation:expr),+ $(,)?) => {
        $( assert_costs_a_unit(stringify!($operation), |$cx| $operation.is_ready()); )+
    };
}

#[test]
fn a_ready_descriptor_uses_up_the_budget() {
    run(async {
        let (near, mut far) = StdUnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let mut near = AsyncFd::new(near).unwrap();
        std::io::Write::write_all(&mut far, b"x").unwrap();
        drop(near.readable().await.unwrap());
        drop(near.writable().await.unwrap());
        assert_polls!(
            |cx| near.poll_read_ready(cx),
            near.poll_read_ready_mut(cx),
            near.poll_write_ready(cx),
            near.poll_write_ready_mut(cx),
        );
        assert_awaits!(
            near.ready(Interest::READABLE | Interest::WRITABLE),
            near.readable(),
            near.writable(),
            near.async_io(Interest::WRITABLE, |_| Ok(())),
        );
        assert_costs_a_unit("ready_mut", |_| {
            poll(pin!(near.ready_mut(Interest::READABLE))).is_ready()
        });
        assert_costs_a_unit("readable_mut", |_| {
            poll(pin!(near.readable_mut())).is_ready()
        });
        assert_costs_a_unit("writable_mut", |_| {
            poll(pin!(near.writable_mut())).is_ready()
        });
        assert_costs_a_unit("async_io_mut", |_| {
            poll(pin!(near.async_io_mut(Interest::WRITABLE, |_| Ok(())))).is_ready()
        });
    });
}

#[test]
fn a_pending_operation_costs_no_budget() {
    run(async {
        let (near, _far) = StdUnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let mut near = AsyncFd::new(near).unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        raddle_leaf::coop::budget(|| {
            for _ in 0..2 * FULL {
                assert!(near.poll_read_ready(&mut cx).is_pending());
                assert!(near.poll_read_ready_mut(&mut cx).is_pending());
            }
            assert!(raddle_leaf::coop::has_budget_remaining());
        });
    });
}

/// Pins a stream for the methods of the traits.
fn pin<S: Unpin>(stream: &mut S) -> Pin<&mut S> {
    Pin::new(stream)
}

fn read<S: AsyncRead + Unpin>(stream: &mut S, cx: &mut Context<'_>) -> bool {
    let mut byte = [0; 1];
    let read = pin(stream).poll_read(cx, &mut ReadBuf::new(&mut byte));
    read.is_ready()
}

fn assert_writes<S: AsyncWrite + Unpin>(stream: &mut S) {
    assert_polls!(
        |cx| pin(stream).poll_write(cx, b"x"),
        pin(stream).poll_write_vectored(cx, &[IoSlice::new(b"x"), IoSlice::new(b"y")]),
    );
}

#[test]
fn a_ready_tcp_stream_uses_up_the_budget() {
    run(async {
        let (mut near, mut far) = pair().await;
        near.writable().await.unwrap();
        assert_awaits!(near.writable(), near.ready(Interest::WRITABLE));
        assert_polls!(|cx| near.poll_write_ready(cx));
        assert_writes(&mut near);
        far.readable().await.unwrap();
        let mut byte = [0; 1];
        assert_awaits!(
            far.readable(),
            far.ready(Interest::READABLE),
            far.peek(&mut [0; 1])
        );
        assert_polls!(
            |cx| far.poll_read_ready(cx),
            far.poll_peek(cx, &mut ReadBuf::new(&mut byte)),
        );
        assert_costs_a_unit("poll_read", |cx| read(&mut far, cx));
        let (read_half, write_half) = far.split();
        assert_awaits!(read_half.readable(), read_half.ready(Interest::READABLE));
        assert_awaits!(write_half.writable(), write_half.ready(Interest::WRITABLE));
    });
}

#[test]
fn a_ready_udp_socket_uses_up_the_budget() {
    run(async {
        let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = near.local_addr().unwrap();
        near.connect(addr).await.unwrap();
        near.writable().await.unwrap();
        assert_awaits!(
            near.writable(),
            near.ready(Interest::WRITABLE),
            near.async_io(Interest::WRITABLE, || Ok(())),
            near.send(b"x"),
            near.send_to(b"x", addr),
        );
        assert_polls!(
            |cx| near.poll_send_ready(cx),
            near.poll_send(cx, b"x"),
            near.poll_send_to(cx, b"x", addr),
        );
        near.readable().await.unwrap();
        let mut byte = [0; 1];
        assert_awaits!(
            near.readable(),
            near.ready(Interest::READABLE),
            near.peek(&mut [0; 1]),
            near.peek_from(&mut [0; 1]),
            near.peek_sender(),
        );
        assert_polls!(
            |cx| near.poll_recv_ready(cx),
            near.poll_peek(cx, &mut ReadBuf::new(&mut byte)),
            near.poll_peek_from(cx, &mut ReadBuf::new(&mut byte)),
            near.poll_peek_sender(cx),
        );
        // Each operation receives one datagram, so there is one for each.
        macro_rules! assert_receives {
            ($($operation:expr),+ $(,)?) => { $(
                raddle_leaf::coop::unlimited(|| while near.try_recv(&mut [0; 1]).is_ok() {});
                for _ in 0..FULL {
                    near.send(b"x").await.unwrap();
                }
                near.readable().await.unwrap();
                assert_awaits!($operation);
            )+ };
        }
        assert_receives!(
            near.recv(&mut [0; 1]),
            near.recv_from(&mut [0; 1]),
            near.recv_buf(&mut Vec::with_capacity(1)),
            near.recv_buf_from(&mut Vec::with_capacity(1)),
            poll_fn(|cx| near.poll_recv(cx, &mut ReadBuf::new(&mut [0; 1]))),
            poll_fn(|cx| near.poll_recv_from(cx, &mut ReadBuf::new(&mut [0; 1]))),
        );
    });
}

#[test]
fn ready_unix_sockets_and_pipes_use_up_the_budget() {
    run(async {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        assert_awaits!(near.writable(), near.ready(Interest::WRITABLE));
        assert_polls!(|cx| near.poll_write_ready(cx));
        assert_writes(&mut near);
        far.readable().await.unwrap();
        assert_awaits!(far.readable(), far.ready(Interest::READABLE));
        assert_polls!(|cx| far.poll_read_ready(cx));
        assert_costs_a_unit("poll_read", |cx| read(&mut far, cx));

        let (near, far) = UnixDatagram::pair().unwrap();
        assert_awaits!(near.writable(), near.ready(Interest::WRITABLE));
        assert_polls!(|cx| near.poll_send_ready(cx));
        near.send(b"x").await.unwrap();
        far.readable().await.unwrap();
        assert_awaits!(far.readable(), far.ready(Interest::READABLE));
        assert_polls!(|cx| far.poll_recv_ready(cx));

        let (mut near, mut far) = pipe::pipe().unwrap();
        near.writable().await.unwrap();
        assert_awaits!(near.writable(), near.ready(Interest::WRITABLE));
        assert_polls!(|cx| near.poll_write_ready(cx));
        assert_writes(&mut near);
        far.readable().await.unwrap();
        assert_awaits!(far.readable(), far.ready(Interest::READABLE));
        assert_polls!(|cx| far.poll_read_ready(cx));
        assert_costs_a_unit("poll_read", |cx| read(&mut far, cx));
    });
}

/// More connections are pending than one budget allows to accept.
#[test]
fn a_ready_listener_uses_up_the_budget() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        for operation in ["accept", "poll_accept"] {
            let mut streams = Vec::new();
            for _ in 0..FULL {
                streams.push(TcpStream::connect(addr).await.unwrap());
            }
            let accepted = |cx: &mut Context<'_>| match operation {
                "accept" => poll(pin!(listener.accept())).is_ready(),
                _ => listener.poll_accept(cx).is_ready(),
            };
            assert_costs_a_unit(operation, accepted);
        }
    });
}
