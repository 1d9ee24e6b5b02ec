//! Blocking a thread until what it polls is ready.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::thread::{self, Thread};

/// What a wake calls before it unparks the thread, for a thread that can also block elsewhere than
/// in [`park`](crate::thread::park).
pub trait WakeHook {
    /// Unblocks the thread.
    fn on_wake(&self);
}

/// No hook: a wake only unparks the thread.
impl WakeHook for () {
    fn on_wake(&self) {}
}

/// Wakes a thread that blocks on a future.
///
/// ```
/// use std::sync::Arc;
/// use std::task::Waker;
///
/// use raddle_primitives::thread::{self, ThreadWaker};
///
/// let signal = Arc::new(ThreadWaker::new(false, ()));
/// let waker = Waker::from(Arc::clone(&signal));
/// let other = thread::spawn(move || waker.wake());
/// // The loop of a thread that polls a future.
/// while !signal.take_woken() {
///     thread::park();
/// }
/// other.join().unwrap();
/// ```
pub struct ThreadWaker<N = ()> {
    thread: Thread,
    /// Set by the first wake after a poll; cleared by the thread before the next poll. The token of
    /// `unpark` alone could be used up by a future that parks by itself.
    woken: AtomicBool,
    hook: N,
}

impl<N: WakeHook> ThreadWaker<N> {
    /// Makes the waker of the calling thread, which is already woken if `woken` is true. A wake
    /// calls `hook` and then unparks the thread.
    pub fn new(woken: bool, hook: N) -> Self {
        Self {
            thread: thread::current(),
            woken: AtomicBool::new(woken),
            hook,
        }
    }

    /// Returns the hook that each wake calls.
    pub fn hook(&self) -> &N {
        &self.hook
    }

    /// Returns whether the thread has been woken since the last [`take_woken`](Self::take_woken).
    #[inline]
    pub fn is_woken(&self) -> bool {
        // ORDERING: a hint; `take_woken` swaps, and the token of `park` ensures that a later wake
        // ends the park.
        self.woken.load(Ordering::Relaxed)
    }

    /// Returns whether the thread has been woken since the last call. If so, the thread sees the
    /// writes before the wake.
    #[inline]
    pub fn take_woken(&self) -> bool {
        // ORDERING: Acquire pairs with `wake_by_ref`: the poll that follows sees the writes before
        // the wake.
        self.is_woken() && self.woken.swap(false, Ordering::Acquire)
    }

    /// Makes the current or next park of the thread return, without a wake.
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}

impl<N: WakeHook + Send + Sync> Wake for ThreadWaker<N> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING: Release pairs with `take_woken`.
        if !self.woken.swap(true, Ordering::Release) {
            self.hook.on_wake();
            self.thread.unpark();
        }
    }
}

impl<N> fmt::Debug for ThreadWaker<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadWaker").finish_non_exhaustive()
    }
}

/// Calls `poll` until it is ready. In between, blocks the thread until the waker that `poll` gets
/// is woken.
///
/// ```
/// use std::pin::pin;
///
/// let mut future = pin!(async { 6 * 7 });
/// assert_eq!(raddle_primitives::thread::block_on(|cx| future.as_mut().poll(cx)), 42);
/// ```
pub fn block_on<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
    let signal = Arc::new(ThreadWaker::new(false, ()));
    let waker = Waker::from(Arc::clone(&signal));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = poll(&mut cx) {
            return result;
        }
        while !signal.take_woken() {
            thread::park();
        }
    }
}
