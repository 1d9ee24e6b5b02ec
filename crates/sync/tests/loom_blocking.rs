//! A thread that waits for a future, in all interleavings with its wakers.
#![cfg(raddle_loom)]

#[path = "../src/blocking.rs"]
mod blocking;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use raddle_std::model::Model;
use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::thread;

/// Nothing but the wake orders what is written before it with the poll after
/// it. Of two wakes the second finds the mark of the first, and must be answered
/// all the same.
#[test]
fn a_wake_publishes_what_was_done_before_it() {
    Model::new().preemptions(3).check(|| {
        let flags: [Arc<AtomicBool>; 2] = std::array::from_fn(|_| Arc::default());
        let mut threads = Vec::new();
        blocking::block_on(poll_fn(|cx| {
            if threads.is_empty() {
                for flag in flags.clone() {
                    let waker = cx.waker().clone();
                    threads.push(thread::spawn(move || {
                        // ORDERING: the wake's, which this is about.
                        flag.store(true, Ordering::Relaxed);
                        waker.wake();
                    }));
                }
            }
            // ORDERING: the wake's, which this is about.
            if flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
