//! The future of an acquisition.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::core::{Closed, Core, Place};
use super::returned::Returns;

/// Waits for permits; see [`Core::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Acquire<'a, R: Returns = ()> {
    core: &'a Core<R>,
    permits: usize,
    place: Place,
}

impl<'a, R: Returns> Acquire<'a, R> {
    #[inline]
    pub(super) fn new(core: &'a Core<R>, permits: usize) -> Self {
        Self {
            core,
            permits,
            place: Place::default(),
        }
    }
}

impl<R: Returns> Future for Acquire<'_, R> {
    type Output = Result<(), Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.core.poll_acquire(cx, this.permits, &mut this.place)
    }
}

impl<R: Returns> Drop for Acquire<'_, R> {
    #[inline]
    fn drop(&mut self) {
        self.core.abandon(&mut self.place);
    }
}
