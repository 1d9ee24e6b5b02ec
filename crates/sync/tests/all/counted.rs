//! Helpers: counted values, a waker that panics, and checks that are shared by the tests of all
//! mpsc channels.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use raddle_testing::calling;

/// The number of values that were dropped.
#[derive(Clone)]
pub(crate) struct Dropped(Arc<AtomicUsize>);

pub(crate) struct Value(Arc<AtomicUsize>);

impl Dropped {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn value(&self) -> Value {
        Value(self.0.clone())
    }

    pub(crate) fn count(&self) -> usize {
        // ORDERING: threads are joined before a test counts.
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // ORDERING: as in `count`.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Panics when it is dropped, unless the thread is already panicking.
pub(crate) struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the drop of a message panics");
    }
}

/// A waker that panics when it wakes.
pub(crate) fn panicking_waker() -> Waker {
    calling(|| panic!("the wake of a waker panics"))
}

/// Checks what an empty mpsc channel returns about its ends: whether there are messages, how many
/// senders there are, and when it is closed. `$send` sends a message without waiting.
macro_rules! check_ends {
    ($sender:ident, $receiver:ident, $send:ident) => {
        assert!($receiver.is_empty() && !$receiver.is_closed() && !$sender.is_closed());
        $sender.$send(1).unwrap();
        assert!(!$receiver.is_empty());
        let weak: Vec<_> = (0..3).map(|_| $sender.downgrade()).collect();
        let clones = [$sender.clone(), $sender.clone()];
        assert_eq!(($sender.strong_count(), $sender.weak_count()), (3, 3));
        assert_eq!((weak[0].strong_count(), weak[0].weak_count()), (3, 3));
        assert_eq!($receiver.sender_strong_count(), 3);
        assert_eq!($receiver.sender_weak_count(), 3);
        drop(($sender, clones));
        assert_eq!(weak[0].strong_count(), 0);
        drop(weak);
        assert_eq!($receiver.sender_weak_count(), 0);
        assert!($receiver.is_closed());
        assert_eq!($receiver.try_recv(), Ok(1));
    };
}
pub(crate) use check_ends;
