//! Models of one source: events race with polls, clearings and the shutdown.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_reactor::{Collected, Interest, IoState, Readiness, Ready, WakerBatch};
use raddle_testing::{Wakes, block_on};

/// Readiness alone: one event, after the data.
fn dispatch(state: &IoState, ready: Ready) {
    let mut batch = WakerBatch::new();
    let _ = state.set_ready(ready, &mut batch);
    batch.wake_all();
}

/// A model of a socket: a count of available bytes and an I/O state.
#[derive(Default)]
struct Socket {
    bytes: AtomicUsize,
    state: IoState,
}

impl Socket {
    /// The kernel's side: adds data, then its event.
    fn arrive(&self) {
        // ORDERING: models the kernel's lock; pairs with `read`.
        self.bytes.fetch_add(1, Ordering::AcqRel);
        dispatch(&self.state, Ready::READABLE);
    }

    /// Takes all bytes; without any, the read would block.
    fn read(&self) -> usize {
        // ORDERING: pairs with `arrive`.
        self.bytes.swap(0, Ordering::AcqRel)
    }

    /// The loop of a socket: read, clear the readiness when a read would block, wait.
    async fn read_some(&self) -> usize {
        loop {
            let event = poll_fn(|cx| self.state.poll_read_ready(cx)).await.unwrap();
            match self.read() {
                0 => {
                    let _ = self.state.clear_readiness(event);
                }
                read => {
                    // The buffer was not filled, so the source is drained.
                    let _ = self.state.clear_drained(event);
                    return read;
                }
            }
        }
    }
}

#[test]
fn a_clearing_never_loses_a_newer_event() {
    model::check(|| {
        let socket = Arc::new(Socket::default());
        let kernel = {
            let socket = socket.clone();
            thread::spawn(move || {
                socket.arrive();
                socket.arrive();
            })
        };
        let mut read = 0;
        while read < 2 {
            read += block_on(socket.read_some());
        }
        kernel.join().unwrap();
        assert_eq!(read, 2);
    });
}

#[test]
fn two_readers_clear_at_the_same_time() {
    Model::new().preemptions(3).check(|| {
        let socket = Arc::new(Socket::default());
        dispatch(&socket.state, Ready::READABLE | Ready::WRITABLE);
        let clearer = {
            let socket = socket.clone();
            thread::spawn(move || {
                let Some(event) = socket.state.try_ready(Interest::READABLE).unwrap() else {
                    return;
                };
                if socket.read() == 0 {
                    let _ = socket.state.clear_readiness(event);
                } else {
                    // Adds the byte again, as a new arrival.
                    socket.arrive();
                }
            })
        };
        let kernel = {
            let socket = socket.clone();
            thread::spawn(move || socket.arrive())
        };
        assert_eq!(block_on(socket.read_some()), 1);
        kernel.join().unwrap();
        clearer.join().unwrap();
        assert!(
            socket
                .state
                .try_ready(Interest::WRITABLE)
                .unwrap()
                .is_some()
        );
    });
}

#[test]
fn a_waker_registered_against_dispatch_is_woken() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        let reactor = {
            let state = state.clone();
            thread::spawn(move || dispatch(&state, Ready::READABLE))
        };
        block_on(poll_fn(|cx| state.poll_read_ready(cx))).unwrap();
        reactor.join().unwrap();
    });
}

#[test]
fn reader_and_writer_wait_independently() {
    Model::new().preemptions(3).check(|| {
        let state = Arc::new(IoState::new());
        let writer = {
            let state = state.clone();
            thread::spawn(move || {
                block_on(poll_fn(|cx| state.poll_write_ready(cx))).unwrap();
            })
        };
        let reactor = {
            let state = state.clone();
            thread::spawn(move || {
                dispatch(&state, Ready::READABLE);
                dispatch(&state, Ready::WRITABLE);
            })
        };
        block_on(poll_fn(|cx| state.poll_read_ready(cx))).unwrap();
        writer.join().unwrap();
        reactor.join().unwrap();
    });
}

#[test]
fn all_waiting_futures_are_woken() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        let other = {
            let state = state.clone();
            thread::spawn(move || {
                block_on(state.ready(Interest::READABLE)).unwrap();
            })
        };
        let reactor = {
            let state = state.clone();
            thread::spawn(move || dispatch(&state, Ready::READABLE))
        };
        block_on(state.ready(Interest::READABLE)).unwrap();
        other.join().unwrap();
        reactor.join().unwrap();
    });
}

/// The wakers of an event fill batches, so that the waiters are taken in two steps. A waiter that
/// comes between them sees the event or is woken; the others are woken once. All interleavings are
/// explored.
#[test]
fn a_waiter_that_comes_during_a_dispatch_in_steps() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        let (wakes, waker) = Wakes::new();
        let mut cx = Context::from_waker(&waker);
        let mut first = pin!(state.ready(Interest::READABLE));
        let mut second = pin!(state.ready(Interest::READABLE));
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        let newcomer = {
            let state = state.clone();
            thread::spawn(move || {
                block_on(state.ready(Interest::READABLE)).unwrap();
            })
        };
        let mut batch = WakerBatch::new();
        let mut collected = state.set_ready(Ready::READABLE, one_left(&mut batch));
        while collected == Collected::BatchFull {
            batch.wake_all();
            collected = state.collect(Ready::READABLE, one_left(&mut batch));
        }
        batch.wake_all();
        newcomer.join().unwrap();
        assert_eq!(wakes.get(), 2);
    });
}

/// Fills the batch so that one waker has room.
fn one_left(batch: &mut WakerBatch) -> &mut WakerBatch {
    while batch.len() < 31 {
        batch.push(Waker::noop().clone());
    }
    batch
}

#[test]
fn a_future_dropped_against_dispatch_loses_no_wake() {
    Model::new().check(|| {
        let state = Arc::new(IoState::new());
        let quitter = {
            let state = state.clone();
            thread::spawn(move || {
                let mut waiting = pin!(state.ready(Interest::READABLE));
                let mut cx = Context::from_waker(Waker::noop());
                let _ = waiting.as_mut().poll(&mut cx);
            })
        };
        let reactor = {
            let state = state.clone();
            thread::spawn(move || dispatch(&state, Ready::READABLE))
        };
        block_on(state.ready(Interest::READABLE)).unwrap();
        quitter.join().unwrap();
        reactor.join().unwrap();
    });
}

#[test]
fn shutdown_ends_every_wait() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        let waiter = {
            let state = state.clone();
            thread::spawn(move || {
                assert!(block_on(state.ready(Interest::WRITABLE)).is_err());
            })
        };
        let reactor = {
            let state = state.clone();
            thread::spawn(move || state.shut_down())
        };
        assert!(block_on(poll_fn(|cx| state.poll_read_ready(cx))).is_err());
        waiter.join().unwrap();
        reactor.join().unwrap();
    });
}

/// A task polls with one waker and then with another: it finds the event, or its last waker is
/// woken.
fn moved_against_dispatch<F: Future>(wait: impl FnOnce(Arc<IoState>) -> F) {
    let state = Arc::new(IoState::new());
    let reactor = {
        let state = state.clone();
        thread::spawn(move || dispatch(&state, Ready::READABLE))
    };
    let mut waiting = pin!(wait(state));
    let wakers = [Wakes::new(), Wakes::new()];
    let found = wakers.iter().any(|(_, waker)| {
        let mut cx = Context::from_waker(waker);
        waiting.as_mut().poll(&mut cx).is_ready()
    });
    reactor.join().unwrap();
    let (last, _) = &wakers[1];
    assert!(found || last.get() > 0, "the event reached no waiter");
}

/// All interleavings are explored.
#[test]
fn a_reader_that_is_moved_against_dispatch() {
    model::check(|| {
        moved_against_dispatch(|state| poll_fn(move |cx| state.poll_read_ready(cx)));
    });
}

/// All interleavings are explored.
#[test]
fn a_waiting_future_that_is_moved_against_dispatch() {
    model::check(|| {
        moved_against_dispatch(|state| async move { state.ready(Interest::READABLE).await });
    });
}

/// The peer closes while a reader clears the readiness: the end is reported once, and must not be
/// cleared (mio 939). All interleavings are explored.
#[test]
fn a_close_outlives_a_clearing() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        dispatch(&state, Ready::READABLE);
        let reactor = {
            let state = state.clone();
            thread::spawn(move || dispatch(&state, Ready::READABLE | Ready::READ_CLOSED))
        };
        // The event was read before or after the close, and has the flags of that moment.
        let event = state.try_ready(Interest::READABLE).unwrap().unwrap();
        let _ = state.clear_readiness(event);
        let event = block_on(poll_fn(|cx| state.poll_read_ready(cx))).unwrap();
        assert!(event.ready().is_read_closed());
        reactor.join().unwrap();
    });
}

/// Two tasks that have the same event clear it: an event in between is kept. All interleavings are
/// explored.
#[test]
fn two_clearings_of_one_event_keep_the_next() {
    model::check(|| {
        let state = Arc::new(IoState::new());
        dispatch(&state, Ready::READABLE);
        let event = state.try_ready(Interest::READABLE).unwrap().unwrap();
        let clearer = {
            let state = state.clone();
            thread::spawn(move || {
                let _ = state.clear_drained(event);
            })
        };
        let _ = state.clear_readiness(event);
        dispatch(&state, Ready::READABLE);
        clearer.join().unwrap();
        assert!(state.try_ready(Interest::READABLE).unwrap().is_some());
    });
}

/// A waiter that the shutdown wakes sees the writes before the shutdown. All interleavings are
/// explored.
#[test]
fn shutdown_publishes_earlier_writes() {
    publish(
        |shared| {
            // SAFETY: the reader reads only once the mark is set.
            shared.value.with_mut(|value| unsafe { *value = 1 });
            shared.readiness.transition_to_shutdown();
        },
        |readiness| readiness.load().is_shutdown(),
    );
}

/// An event races with the clearing of an earlier one: a thread that sees the event sees the
/// earlier writes of its setter. All interleavings are explored.
#[test]
fn an_event_followed_by_a_clearing_publishes_earlier_writes() {
    publish(
        |shared| {
            shared.readiness.transition_to_ready(Ready::WRITABLE);
            let event = shared.readiness.load().event(Ready::WRITABLE).unwrap();
            // SAFETY: the reader reads only once the flag is set.
            shared.value.with_mut(|value| unsafe { *value = 1 });
            shared.readiness.transition_to_ready(Ready::READABLE);
            let _ = shared.readiness.transition_to_blocked(event);
        },
        |readiness| readiness.load().ready().is_readable(),
    );
}

/// A thread that sees the flag sees the earlier writes of its setter.
#[test]
fn readiness_publishes_earlier_writes() {
    publish(
        |shared| {
            // SAFETY: the reader reads only once the flag is set.
            shared.value.with_mut(|value| unsafe { *value = 1 });
            shared.readiness.transition_to_ready(Ready::READABLE);
        },
        |readiness| readiness.load().ready().is_readable(),
    );
}

/// A deliberate race: the value is written after the flag.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_late_write_is_caught() {
    publish(
        |shared| {
            shared.readiness.transition_to_ready(Ready::READABLE);
            // SAFETY: none; the model must find it.
            shared.value.with_mut(|value| unsafe { *value = 1 });
        },
        |readiness| readiness.load().ready().is_readable(),
    );
}

fn publish(set: fn(&Published), is_set: fn(&Readiness) -> bool) {
    model::check(move || {
        let shared = Arc::new(Published::default());
        let reader = {
            let shared = shared.clone();
            thread::spawn(move || {
                if is_set(&shared.readiness) {
                    // SAFETY: the setter has written it, unless this is the canary.
                    shared.value.with(|value| unsafe { *value });
                }
            })
        };
        // The setter is this thread and not the other: loom keeps one last access for each atomic,
        // and the load that precedes the setter's compare-exchange would hide the reader's.
        set(&shared);
        reader.join().unwrap();
    });
}

#[derive(Default)]
struct Published {
    readiness: Readiness,
    value: UnsafeCell<u32>,
}

// SAFETY: the models share it on purpose, and loom checks the cell.
unsafe impl Sync for Published {}
// SAFETY: as above.
unsafe impl Send for Published {}

/// A deliberate fault: the poll checks, then stores the waker, without a second check.
#[test]
#[should_panic(expected = "ready, but no waiter is woken")]
fn canary_a_missed_wake_is_caught() {
    model::check(|| {
        let hasty = Arc::new((Readiness::new(), Mutex::new(None::<Waker>)));
        let reactor = {
            let hasty = hasty.clone();
            thread::spawn(move || {
                hasty.0.transition_to_ready(Ready::READABLE);
                let waker = hasty.1.lock().take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            })
        };
        let (counter, waker) = Wakes::new();
        let waits = !hasty.0.load().ready().is_readable();
        if waits {
            let former = hasty.1.lock().replace(waker);
            drop(former);
        }
        reactor.join().unwrap();
        assert!(!waits || counter.get() > 0, "ready, but no waiter is woken");
    });
}
