//! Which tasks there are, and what has become of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

static TOTAL: AtomicU64 = AtomicU64::new(0);

/// How many tickets all ledgers gave out.
pub(crate) fn total() -> u64 {
    TOTAL.load(SeqCst)
}

/// Gives a ticket to each task and sees that each comes back once.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    done: AtomicUsize,
    dropped: AtomicUsize,
}

impl Ledger {
    pub(crate) fn ticket(&self) -> Ticket {
        TOTAL.fetch_add(1, SeqCst);
        self.0.made.fetch_add(1, SeqCst);
        Ticket {
            ledger: self.clone(),
            state: AtomicUsize::new(HELD),
        }
    }

    /// How many have not come back.
    pub(crate) fn held(&self) -> usize {
        self.0.made.load(SeqCst) - self.0.dropped.load(SeqCst)
    }

    pub(crate) fn done(&self) -> usize {
        self.0.done.load(SeqCst)
    }

    /// All have come back, and this many of them were done.
    #[track_caller]
    pub(crate) fn check(&self, done: usize) {
        self.check_returned();
        assert_eq!(self.done(), done, "as many were done");
    }

    /// All have come back, done or not.
    #[track_caller]
    pub(crate) fn check_returned(&self) {
        assert_eq!(self.held(), 0, "so many tasks are leaked, or were lost");
    }

    /// Waits until all have come back.
    #[track_caller]
    pub(crate) fn await_returned(&self) {
        while self.held() > 0 {
            std::thread::yield_now();
        }
    }
}

const HELD: usize = 0;
const DONE: usize = 1;
const RETURNED: usize = 2;

/// What a task holds for as long as it is there. Memory that is dropped twice is
/// likely to be caught by its state.
pub(crate) struct Ticket {
    ledger: Ledger,
    state: AtomicUsize,
}

impl Ticket {
    /// The task has come to its end.
    pub(crate) fn done(self) {
        let before = self.state.swap(DONE, SeqCst);
        assert_eq!(before, HELD, "a task has come to its end twice");
        self.ledger.0.done.fetch_add(1, SeqCst);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let before = self.state.swap(RETURNED, SeqCst);
        assert_ne!(before, RETURNED, "a task was dropped twice");
        let dropped = self.ledger.0.dropped.fetch_add(1, SeqCst);
        let made = self.ledger.0.made.load(SeqCst);
        assert!(dropped < made, "more tasks were dropped than made");
    }
}
