//! A waker that calls a function when it is cloned. A poll clones its waker without a lock, so the
//! function can do what another thread may do between two steps of a poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

type OnClone = Box<dyn Fn() + Send + Sync>;

/// The counters of a hooked waker.
pub(crate) struct Hooked {
    on_clone: OnClone,
    cloned: AtomicUsize,
    woken: AtomicUsize,
}

impl Hooked {
    pub(crate) fn new(on_clone: impl Fn() + Send + Sync + 'static) -> (Arc<Self>, Waker) {
        let this = Arc::new(Self {
            on_clone: Box::new(on_clone),
            cloned: AtomicUsize::new(0),
            woken: AtomicUsize::new(0),
        });
        let data = Arc::into_raw(this.clone()).cast();
        // SAFETY: the functions of the vtable expect a pointer from such an `Arc`.
        let waker = unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) };
        (this, waker)
    }

    /// Makes a waker that only counts.
    pub(crate) fn counting() -> (Arc<Self>, Waker) {
        Self::new(|| ())
    }

    /// The number of clones.
    pub(crate) fn cloned(&self) -> usize {
        self.cloned.load(Ordering::Relaxed)
    }

    /// The number of wake-ups.
    pub(crate) fn woken(&self) -> usize {
        self.woken.load(Ordering::Relaxed)
    }

    /// The number of wakers that exist.
    pub(crate) fn wakers(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }
}

// There is one vtable, because `will_wake` compares its address.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: `data` is that of a waker, which keeps it alive.
    let this = unsafe { &*data.cast::<Hooked>() };
    this.cloned.fetch_add(1, Ordering::Relaxed);
    (this.on_clone)();
    // SAFETY: the pointer came from an `Arc`, which the waker keeps alive.
    unsafe { Arc::increment_strong_count(data.cast::<Hooked>()) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: as the caller promises.
    unsafe { wake_by_ref(data) };
    // SAFETY: as above.
    unsafe { release(data) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: `data` is that of a waker, which keeps it alive.
    let this = unsafe { &*data.cast::<Hooked>() };
    this.woken.fetch_add(1, Ordering::Relaxed);
}

unsafe fn release(data: *const ()) {
    // SAFETY: the dropped waker owned a reference of the `Arc`.
    unsafe { Arc::decrement_strong_count(data.cast::<Hooked>()) };
}
