//! The readiness that a guard clears.

use raddle_reactor::{Ready, ReadyEvent, Registration};

/// The readiness that was found, without the flags that have been cleared since.
pub(super) struct GuardedReadiness(Option<ReadyEvent>);

impl GuardedReadiness {
    pub(super) fn new(event: ReadyEvent) -> Self {
        Self(Some(event))
    }

    pub(super) fn ready(&self) -> Ready {
        self.0.map_or(Ready::EMPTY, |event| event.ready())
    }

    pub(super) fn clear(&mut self, registration: &Registration, ready: Ready) {
        if let Some(event) = self.0.take() {
            // Readiness that is newer than the event is not cleared; the next call finds it.
            let _ = registration.clear_readiness(event.only(ready));
            let left = event.only(event.ready() - ready);
            self.0 = (!left.ready().is_empty()).then_some(left);
        }
    }
}
