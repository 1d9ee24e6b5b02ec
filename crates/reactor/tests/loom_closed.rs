//! Models of a closed direction: operations for both directions race with the read of the end and
//! with events.
#![cfg(raddle_loom)]

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_reactor::{Interest, IoState, Ready, WakerBatch};
use raddle_testing::block_on;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

fn dispatch(state: &IoState, ready: Ready) {
    let mut batch = WakerBatch::new();
    let _ = state.set_ready(ready, &mut batch);
    batch.wake_all();
}

/// The peer has sent data and shut down. One task reads the data, in a short read; the other waits
/// for `interest`, tries an operation that is no read, and would block. The end must still be
/// readable.
fn a_short_read_against_an_operation_for(interest: Interest) {
    let state = Arc::new(IoState::new());
    dispatch(&state, Ready::READABLE | Ready::READ_CLOSED);
    let other = {
        let state = state.clone();
        thread::spawn(move || {
            if let Some(event) = state.try_ready(interest).unwrap() {
                let _ = state.clear_readiness(event);
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

/// All interleavings are explored.
#[test]
fn an_operation_for_both_directions_leaves_the_end_to_a_reader() {
    model::check(|| a_short_read_against_an_operation_for(BOTH));
}

/// A deliberate fault: the operation declares a read but does something else.
#[test]
#[should_panic(expected = "the end of the stream is lost")]
fn canary_an_end_that_is_cleared_is_caught() {
    model::check(|| a_short_read_against_an_operation_for(Interest::READABLE));
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
