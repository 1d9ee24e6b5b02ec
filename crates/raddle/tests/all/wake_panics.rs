//! A wake of a local task by another thread, which panics since it is made under a lock of the
//! wrong rank.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use crate::common::{Live, current_thread, panic_message};
use raddle::task::LocalSet;
use raddle_primitives::sync::{Mutex, Rank};

/// The task is in the set's queue when the panic propagates, so the set runs it or drops it.
/// Otherwise the drop of the set would wait for it.
#[test]
fn a_local_task_woken_under_a_leaf_lock_is_queued_in_its_set() {
    let (sender, ended) = channel();
    thread::spawn(move || {
        let runtime = current_thread().build().unwrap();
        for is_driven in [true, false] {
            let set = LocalSet::new();
            let count = Arc::new(AtomicUsize::new(0));
            let live = Rc::new(Live::new(&count));
            let (wakers, waker) = channel();
            let mut polls = 0;
            let task = set.spawn_local(poll_fn(move |cx| {
                let _live = &live;
                wakers.send(cx.waker().clone()).unwrap();
                polls += 1;
                match polls {
                    1 => Poll::Pending,
                    _ => Poll::Ready(()),
                }
            }));
            runtime.block_on(set.run_until(raddle::task::yield_now()));
            let waker = waker.recv().unwrap();
            let message = thread::spawn(move || {
                let lock = Mutex::ranked(Rank::leaf("a lock of the test"), ());
                let _held = lock.lock();
                panic_message(|| waker.wake())
            });
            let message = message.join().unwrap();
            assert!(message.contains("is taken under the lock \"a lock of the test\""));
            if is_driven {
                runtime.block_on(set.run_until(task)).unwrap();
            }
            drop(set);
            assert_eq!(count.load(SeqCst), 0);
        }
        sender.send(()).unwrap();
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(()));
}
