//! The future of an acquisition.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::core::{Closed, Core, Place};

/// Waits for permits; see [`Core::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Acquire<'a> {
    core: &'a Core,
    permits: usize,
    place: Place,
}

impl<'a> Acquire<'a> {
    #[inline]
    pub(super) fn new(core: &'a Core, permits: usize) -> Self {
        Self {
            core,
            permits,
            place: Place::default(),
        }
    }
}

impl Future for Acquire<'_> {
    type Output = Result<(), Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.core.poll_acquire(cx, this.permits, &mut this.place)
    }
}

impl Drop for Acquire<'_> {
    #[inline]
    fn drop(&mut self) {
        self.core.abandon(&mut self.place);
    }
}
