//! Requests counted at both ends, for shutdowns under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Requests that the server began and replies that clients received whole.
#[derive(Clone, Debug, Default)]
pub struct Load(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicUsize,
    answered: AtomicUsize,
}

impl Load {
    /// The server calls it as soon as its code sees a request.
    pub fn begin(&self) {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
    }

    /// A client calls it when it has the whole reply.
    pub fn answer(&self) {
        self.0.answered.fetch_add(1, Ordering::SeqCst);
    }

    /// How many replies clients have received.
    pub fn count(&self) -> usize {
        self.0.answered.load(Ordering::SeqCst)
    }

    /// Waits until the server has begun `count` requests.
    pub async fn begun(&self, count: usize) {
        while self.0.begun.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until clients have received `count` replies.
    pub async fn answered(&self, count: usize) {
        while self.count() < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Asserts that each request that the server began has reached its client as a
    /// whole reply.
    ///
    /// # Panics
    ///
    /// Panics if the counts differ.
    pub fn assert_no_request_lost(&self) {
        let begun = self.0.begun.load(Ordering::SeqCst);
        let answered = self.count();
        assert_eq!(begun, answered, "requests that were begun and answered");
    }
}
