//! Counts requests at both ends, for shutdowns under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The number of requests that the server has begun and of complete replies that clients have
/// received.
#[derive(Clone, Debug, Default)]
pub struct Load(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicUsize,
    answered: AtomicUsize,
}

impl Load {
    /// Counts a request. The server calls it as soon as its code sees the request.
    pub fn begin(&self) {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a reply. A client calls it when it has the complete reply.
    pub fn answer(&self) {
        self.0.answered.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of replies that clients have received.
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

    /// Asserts that each request that the server has begun reached its client as a complete reply.
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
