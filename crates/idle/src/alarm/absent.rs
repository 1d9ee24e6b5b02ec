//! The alarm of a system without a timer that other threads can set, and of models.

use std::time::Duration;

/// A timer that other threads set and clear while one thread waits for it. This system has none:
/// [`new`](Self::new) returns `None`.
#[derive(Debug)]
pub enum Alarm {}

/// The methods are documented in the version for Linux.
#[allow(missing_docs)]
impl Alarm {
    pub fn new() -> Option<Self> {
        None
    }

    #[must_use]
    pub fn take(&self) -> bool {
        match *self {}
    }

    pub fn give_back(&self) {
        match *self {}
    }

    pub fn wait(&self, _: Option<Duration>) -> bool {
        match *self {}
    }

    pub fn notify(&self) {
        match *self {}
    }

    pub fn set(&self, _: Duration) {
        match *self {}
    }

    pub fn is_worth_clearing(&self) -> bool {
        match *self {}
    }

    pub fn clear(&self) {
        match *self {}
    }
}
