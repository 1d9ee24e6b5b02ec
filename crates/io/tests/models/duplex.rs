//! Models of the in-memory pipe: all interleavings of its two sides.

use std::future::poll_fn;
use std::pin::Pin;

use raddle_io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_testing::block_on;

#[test]
fn a_reader_receives_all_bytes_and_the_end() {
    Model::new().preemptions(3).check(|| {
        let (mut a, mut b) = duplex(1);
        let writer = thread::spawn(move || block_on(a.write_all(b"xy")).unwrap());
        let mut all = Vec::new();
        block_on(b.read_to_end(&mut all)).unwrap();
        assert_eq!(all, b"xy");
        writer.join().unwrap();
    });
}

#[test]
fn a_dropped_reader_ends_a_waiting_write() {
    model::check(|| {
        let (mut a, b) = duplex(1);
        let reader = thread::spawn(move || drop(b));
        // There is no space for the second byte: only the drop ends the write.
        assert!(block_on(a.write_all(b"xy")).is_err());
        reader.join().unwrap();
    });
}

/// A write and a shutdown of the same end in two tasks: the write ends, with room or with an error.
#[test]
fn a_shutdown_against_a_waiting_write_and_a_read() {
    Model::new().preemptions(3).check(|| {
        let (mut a, mut b) = duplex(1);
        block_on(a.write_all(b"x")).unwrap();
        let a = Arc::new(Mutex::new(a));
        let other = a.clone();
        let writer = thread::spawn(move || {
            block_on(poll_fn(|cx| Pin::new(&mut *a.lock()).poll_write(cx, b"y"))).is_ok()
        });
        let closer = thread::spawn(move || {
            block_on(poll_fn(|cx| Pin::new(&mut *other.lock()).poll_shutdown(cx))).unwrap();
        });
        let mut all = Vec::new();
        block_on(b.read_to_end(&mut all)).unwrap();
        match writer.join().unwrap() {
            true => assert_eq!(all, b"xy"),
            false => assert_eq!(all, b"x"),
        }
        closer.join().unwrap();
    });
}

struct Shared(UnsafeCell<u32>);
// SAFETY: the tests below share it on purpose; the model finds a race.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> raddle_primitives::sync::Arc<Self> {
        raddle_primitives::sync::Arc::new(Self(UnsafeCell::new(0)))
    }

    fn set(&self) {
        // SAFETY: the model checks whether the other side accesses the value at the same time.
        self.0.with_mut(|value| unsafe { *value = 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: as in `set`.
        self.0.with(|value| unsafe { *value })
    }
}

#[test]
fn a_read_sees_what_was_done_before_the_write() {
    model::check(|| {
        let shared = Shared::new();
        let (mut a, mut b) = duplex(1);
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.set();
                block_on(a.write_all(b"x")).unwrap();
            })
        };
        block_on(b.read_exact(&mut [0])).unwrap();
        assert_eq!(shared.get(), 1);
        writer.join().unwrap();
    });
}

/// The canary: an access by the writer after its write is not ordered before the access by the
/// reader. Each side has a thread of its own, because a failing model cannot drop the thread-local
/// variables of a thread that has parked.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_access_after_the_write_races_with_the_reader() {
    model::check(|| {
        let race = Race::new();
        let (mut a, mut b) = duplex(1);
        let other = race.clone();
        let reader = thread::spawn(move || {
            block_on(b.read_exact(&mut [0])).unwrap();
            other.second();
        });
        let writer = thread::spawn(move || {
            block_on(a.write_all(b"x")).unwrap();
            race.first();
        });
        reader.join().unwrap();
        writer.join().unwrap();
    });
}
