//! A minimal executor.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use raddle_reactor::{Handle, Reactor};

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

struct Unpark(Handle);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls the future, turns a reactor, and polls again.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let _current = handle.enter();
    let waker = Waker::from(Arc::new(Unpark(handle.clone())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        reactor.turn(Some(LIMIT), 64).unwrap();
    }
    panic!("the future makes no progress");
}
