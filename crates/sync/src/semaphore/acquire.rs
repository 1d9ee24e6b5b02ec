//! The future of an acquisition.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::core::{Closed, Core, Waiting};
use super::release_word::ReleaseWord;

pin_project! {
    /// Waits for permits; see [`Core::acquire`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Acquire<'a, R> where R: ReleaseWord {
        core: &'a Core<R>,
        permits: usize,
        #[pin]
        waiting: Waiting,
    }

    impl<R> PinnedDrop for Acquire<'_, R> where R: ReleaseWord {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            this.core.abandon(*this.permits, this.waiting);
        }
    }
}

impl<'a, R: ReleaseWord> Acquire<'a, R> {
    #[inline]
    pub(super) fn new(core: &'a Core<R>, permits: usize) -> Self {
        Self {
            core,
            permits,
            waiting: Waiting::new(),
        }
    }
}

impl<R: ReleaseWord> Future for Acquire<'_, R> {
    type Output = Result<(), Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.core.poll_acquire(cx, *this.permits, this.waiting)
    }
}
