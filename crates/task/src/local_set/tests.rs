use std::future::poll_fn;
use std::pin::pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;

use super::*;
use crate::cell::Header;
use crate::state::Wake;

/// A task that another thread has woken but not pushed yet.
struct Woken(NonNull<Header>);

// SAFETY: the right to push the task moves to another thread, as in a wake there.
unsafe impl Send for Woken {}

impl Woken {
    fn push(self) {
        // SAFETY: the wake in the test returned `Enqueue`.
        unsafe { Header::schedule(self.0) };
    }
}

#[test]
fn a_set_that_is_dropped_waits_for_a_task_that_another_thread_is_about_to_push() {
    let mut set = LocalSet::new(|| true);
    let held = Rc::new(());
    let future_lives = Rc::downgrade(&held);
    let waker = Arc::new(Mutex::new(None));
    let given = waker.clone();
    drop(set.spawn_local(poll_fn(move |cx| {
        let _held = &held;
        *given.lock() = Some(cx.waker().clone());
        Poll::<()>::Pending
    })));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(pin!(&mut set).poll(cx).is_pending());
    let waker = waker.lock().take().unwrap();
    let header = NonNull::new(waker.data().cast_mut())
        .unwrap()
        .cast::<Header>();
    // SAFETY: the waker keeps the task alive.
    let wake = unsafe { header.as_ref() }.state.wake_by_ref();
    assert_eq!(wake, Wake::Enqueue);
    let woken = Woken(header);
    let pushing = thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        woken.push();
    });
    drop(set);
    assert_eq!(future_lives.strong_count(), 0);
    pushing.join().unwrap();
    drop(waker);
}
