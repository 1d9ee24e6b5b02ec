//! Values that stay on one thread although their type is `Send`.
#![allow(unsafe_code, reason = "a check stands for Send")]

use std::future::Future;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static HERE: u8 = const { 0 };
}

/// Returns a number that no other living thread has: the address of a thread-local variable, which
/// is not read.
#[inline]
pub(super) fn current() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// A value or a future that panics when another thread than the one that made it uses or drops it.
pub(super) struct OneThread<T> {
    thread: usize,
    value: ManuallyDrop<T>,
}

// SAFETY: another thread gets no reference to the value, and does not drop it.
unsafe impl<T> Send for OneThread<T> {}

impl<T> OneThread<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            thread: current(),
            value: ManuallyDrop::new(value),
        }
    }

    #[inline]
    fn check(&self) {
        assert_eq!(self.thread, current(), "this stays on its thread");
    }
}

impl<T> Deref for OneThread<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.check();
        &self.value
    }
}

impl<F: Future> Future for OneThread<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.check();
        // SAFETY: the value is pinned together with this struct, and only the drop of the struct
        // drops it, in place.
        let value = unsafe { self.map_unchecked_mut(|this| &mut *this.value) };
        value.poll(cx)
    }
}

impl<T> Drop for OneThread<T> {
    fn drop(&mut self) {
        self.check();
        // SAFETY: the value is dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.value) };
    }
}
