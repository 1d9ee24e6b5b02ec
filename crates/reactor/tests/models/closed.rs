//! Models of a closed direction: operations for both directions race with the read of the end and
//! with events.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread;
use raddle_reactor::{Interest, IoState, Ready, ReadyEvent, WakerBatch};
use raddle_testing::block_on;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

fn dispatch(state: &IoState, ready: Ready) {
    let mut batch = WakerBatch::new();
    let _ = state.set_ready(ready, &mut batch);
    batch.wake_all();
}

/// The peer has sent data and shut down. One task reads the data, in a short read; the other waits
/// for `interest`, and does `operation` twice. The end must still be readable.
fn a_short_read_against(interest: Interest, operation: fn(&IoState, ReadyEvent)) {
    let state = Arc::new(IoState::new());
    state.let_errors_pass();
    dispatch(&state, Ready::READABLE | Ready::READ_CLOSED);
    let other = {
        let state = state.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                if let Some(event) = state.try_ready(interest).unwrap() {
                    operation(&state, event);
                }
            }
        })
    };
    // loom needs this on the main thread: see `docs/reactor.md`.
    if let Some(event) = state.try_ready(Interest::READABLE).unwrap() {
        let _ = state.clear_drained(event);
    }
    other.join().unwrap();
    let end = state.try_ready(Interest::READABLE).unwrap();
    assert!(
        end.is_some_and(|event| event.ready().is_read_closed()),
        "the end of the stream is lost"
    );
}

/// An operation that would block, because of the source or of something else.
fn would_block(state: &IoState, event: ReadyEvent) {
    let _ = state.clear_readiness(event);
}

/// All interleavings are explored.
#[test]
fn an_operation_for_both_directions_leaves_the_end_to_a_reader() {
    model::check(|| a_short_read_against(BOTH, would_block));
}

/// Bug: own, an operation for reading that did something else. All interleavings are explored.
#[test]
fn an_operation_that_would_block_because_of_something_else_leaves_the_end_to_a_reader() {
    model::check(|| a_short_read_against(Interest::READABLE, would_block));
}

/// A deliberate fault: the operation waits for the next event although it has not tried this one.
#[test]
#[should_panic(expected = "the end of the stream is lost")]
fn canary_an_end_that_was_not_tried_is_caught() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        dispatch(&state, Ready::READABLE);
        let reader = {
            let state = state.clone();
            thread::spawn(move || {
                // The read that would block was tried here, and the event was loaded after it.
                let event = state.try_ready(Interest::READABLE).unwrap().unwrap();
                let _ = state.clear_readiness(event);
                event
            })
        };
        // loom needs this on the main thread: see `docs/reactor.md`.
        dispatch(&state, Ready::READ_CLOSED);
        let event = reader.join().unwrap();
        let mut wait = pin!(state.ready_after(Interest::READABLE, event));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(
            wait.as_mut().poll(&mut cx).is_ready(),
            "the end of the stream is lost"
        );
    });
}

/// A socket has an error, which epoll reports with "write closed". A write that would block clears
/// that flag, and must not clear the closing that follows. All interleavings are explored.
#[test]
fn a_hang_up_outlives_the_clearing_of_an_error() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        state.let_errors_pass();
        dispatch(&state, Ready::ERROR | Ready::WRITE_CLOSED);
        let writer = {
            let state = state.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    if let Some(event) = state.try_ready(Interest::WRITABLE).unwrap() {
                        let _ = state.clear_readiness(event);
                    }
                }
            })
        };
        // loom needs this on the main thread: see `docs/reactor.md`.
        dispatch(&state, Ready::READ_CLOSED | Ready::WRITE_CLOSED);
        writer.join().unwrap();
        let closed = state.try_ready(Interest::WRITABLE).unwrap();
        assert!(closed.is_some_and(|event| event.ready().is_write_closed()));
    });
}

/// A task that polls a read waits for the event after the one that it tried. All interleavings are
/// explored.
#[test]
fn a_polled_operation_after_a_tried_event_is_woken_by_the_next() {
    model::check(|| {
        let registered = Arc::new(Registered::new());
        let peer = {
            let registered = registered.clone();
            thread::spawn(move || {
                // ORDERING: models the kernel's lock; pairs with the read.
                registered.bytes.fetch_add(1, Ordering::AcqRel);
                dispatch(&registered.state, Ready::READABLE);
            })
        };
        assert_eq!(block_on(registered.read()), 1);
        peer.join().unwrap();
    });
}

/// A source whose closed flag is outdated.
struct Registered {
    bytes: AtomicUsize,
    state: IoState,
}

impl Registered {
    fn new() -> Self {
        let state = IoState::new();
        dispatch(&state, Ready::READ_CLOSED);
        let bytes = AtomicUsize::new(0);
        Self { bytes, state }
    }

    async fn read(&self) -> usize {
        let mut event = self.state.ready(Interest::READABLE).await.unwrap();
        loop {
            // ORDERING: pairs with the peer.
            match self.bytes.swap(0, Ordering::AcqRel) {
                0 => {
                    let _ = self.state.clear_readiness(event);
                    event = self
                        .state
                        .ready_after(Interest::READABLE, event)
                        .await
                        .unwrap();
                }
                read => return read,
            }
        }
    }
}

/// A write that was tried because of the peer's end waits for the next event and does not miss it.
/// All interleavings are explored.
#[test]
fn a_wait_after_a_tried_event_is_woken_by_the_next() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        dispatch(&state, Ready::READ_CLOSED);
        let tried = state.try_ready(BOTH).unwrap().unwrap();
        let reactor = {
            let state = state.clone();
            thread::spawn(move || dispatch(&state, Ready::WRITABLE))
        };
        let _ = state.clear_readiness(tried);
        let event = block_on(state.ready_after(BOTH, tried)).unwrap();
        assert!(event.ready().is_writable());
        reactor.join().unwrap();
    });
}
