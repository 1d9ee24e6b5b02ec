//! Accounts forevery task: a ticket counts whether it completed and whether it was dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

static TOTAL: AtomicU64 = AtomicU64::new(0);

/// Number of tickets of all ledgers.
pub(crate) fn total() -> u64 {
    TOTAL.load(SeqCst)
}

/// Creates a ticket for each task, and checks that each is dropped once.
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

    /// Number of tickets that have not been dropped.
    pub(crate) fn held(&self) -> usize {
        self.0.made.load(SeqCst) - self.0.dropped.load(SeqCst)
    }

    pub(crate) fn done(&self) -> usize {
        self.0.done.load(SeqCst)
    }

    /// Asserts that all tickets were dropped, and that `done` of their tasks completed.
    #[track_caller]
    pub(crate) fn check(&self, done: usize) {
        self.check_returned();
        assert_eq!(self.done(), done, "number of completed tasks");
    }

    /// Asserts that all tickets were dropped.
    #[track_caller]
    pub(crate) fn check_returned(&self) {
        assert_eq!(self.held(), 0, "number of leaked or lost tasks");
    }

    /// Waits until all tickets have been dropped.
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

/// A task holds its ticket for as long as the task exists. The state is likely to reveal a ticket
/// that is dropped twice.
pub(crate) struct Ticket {
    ledger: Ledger,
    state: AtomicUsize,
}

impl Ticket {
    /// Marks the task as completed.
    pub(crate) fn done(self) {
        let before = self.state.swap(DONE, SeqCst);
        assert_eq!(before, HELD, "a task completed twice");
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
