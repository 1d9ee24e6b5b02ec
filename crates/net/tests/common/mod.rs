//! Drivers of the reactor, and combinators of futures.
#![allow(dead_code, reason = "each test uses some of it")]

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use raddle_net::{TcpListener, TcpSocket, TcpStream};
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread::{self, JoinHandle};
use raddle_reactor::{Handle, Reactor};
use raddle_testing::block_on;

/// A thread that turns a reactor until this value is dropped.
pub(crate) struct Driver {
    pub(crate) handle: Handle,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn start() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// Dispatches at most `limit` events a turn.
    pub(crate) fn with_limit(limit: usize) -> Self {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            // ORDERING: pairs with the drop of the driver.
            while !stopped.load(Ordering::Acquire) {
                let dispatched = reactor.turn(None, limit).unwrap();
                assert!(dispatched <= limit);
            }
        });
        Self {
            handle,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // ORDERING: pairs with the check by the driving thread.
        self.stop.store(true, Ordering::Release);
        self.handle.unpark();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Runs the body of a test to completion with a reactor, which turns on this thread whenever the
/// body waits. So no event arrives while the body runs: on a thread of its own, the reactor may
/// report what the system has told it before a read, just after that read.
pub(crate) fn run<F: Future>(body: F) -> F::Output {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let _current = handle.enter();
    let waker = Waker::from(Arc::new(Unpark(handle.clone())));
    let mut body = pin!(body);
    loop {
        if let Poll::Ready(output) = body.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        reactor.turn(None, usize::MAX).unwrap();
    }
}

/// Like [`run`], with a reactor that turns on a thread of its own: for a body that repeats
/// something until an event has come.
pub(crate) fn run_beside_driver<F: Future>(body: F) -> F::Output {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    block_on(body)
}

struct Unpark(Handle);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls all futures concurrently on this thread, and returns their outputs.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut pending = false;
        for (future, output) in running.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Polls two futures concurrently, and returns both outputs.
pub(crate) async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut a_output, mut b_output) = (None, None);
    poll_fn(|cx| {
        if a_output.is_none() {
            if let Poll::Ready(output) = a.as_mut().poll(cx) {
                a_output = Some(output);
            }
        }
        if b_output.is_none() {
            if let Poll::Ready(output) = b.as_mut().poll(cx) {
                b_output = Some(output);
            }
        }
        match (a_output.take(), b_output.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (a_output, b_output) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Returns an address without a listener. A socket keeps the port, else the listener of another
/// test or process may get it.
pub(crate) fn refusing() -> SocketAddr {
    static BOUND: OnceLock<TcpSocket> = OnceLock::new();
    let bound = BOUND.get_or_init(|| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    });
    bound.local_addr().unwrap()
}

/// Whether closing a connection with a linger time of zero resets it. Under Wine 8 it does not
/// (`tests/all/wine.rs`).
pub(crate) fn has_resets() -> bool {
    use std::io::Read;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    let socket = socket2::SockRef::from(&near);
    socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(near);
    let has = far.read(&mut [0]).is_err();
    assert!(has || cfg!(windows));
    has
}

/// The two ends of a TCP connection.
pub(crate) async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (near, far) = both(TcpStream::connect(addr), listener.accept()).await;
    (near.unwrap(), far.unwrap().0)
}
