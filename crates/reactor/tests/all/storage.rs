//! The memory that a reactor keeps after most of its sources are deregistered.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::task::{Context, Waker};

use mio::event::Source;
use mio::{Registry, Token};
use raddle_reactor::{Interest, IoState, Reactor};

thread_local! {
    /// Bytes that this thread has allocated minus bytes that it has freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let _ = LIVE.try_with(|live| live.set(live.get() + sign * bytes as isize));
}

struct Counting;

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller upholds the contract of `dealloc`; `alloc` used the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The allocator of all tests of this binary; it counts for each thread alone.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that `body` allocates and that are not freed while its result lives.
fn kept<R>(body: impl FnOnce() -> R) -> (isize, R) {
    let before = LIVE.get();
    let result = body();
    (LIVE.get() - before, result)
}

/// A source that is never registered with the selector.
struct Nothing;

impl Source for Nothing {
    fn register(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }

    fn reregister(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }

    fn deregister(&mut self, _: &Registry) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn waiters_that_have_left_leave_no_storage_behind() {
    let state = IoState::new();
    let wait = || {
        let mut waiting = Box::pin(state.ready(Interest::READABLE));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        waiting
    };
    let (kept, _first) = kept(|| {
        let first = wait();
        drop((0..100_000).map(|_| wait()).collect::<Vec<_>>());
        first
    });
    assert!(kept < 2048, "{kept} bytes are kept for one waiter");
}

#[test]
fn registrations_that_have_gone_leave_no_storage_behind() {
    let reactor = Reactor::new().unwrap();
    let register = || {
        let registration = reactor.handle().register(&mut Nothing, Interest::READABLE);
        registration.unwrap()
    };
    let (kept, _first) = kept(|| {
        let first = register();
        drop((0..100_000).map(|_| register()).collect::<Vec<_>>());
        first
    });
    assert!(
        kept < 128 * 1024,
        "{kept} bytes are kept for one registration"
    );
}
