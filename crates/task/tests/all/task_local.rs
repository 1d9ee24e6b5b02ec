//! Task-local variables without any runtime.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

raddle_task::task_local! {
    static NUMBER: u32;
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_scope_has_its_value_in_each_poll_and_hides_the_outer_one() {
    let mut polls = 0;
    let mut scope = pin!(NUMBER.scope(
        1,
        poll_fn(move |_| {
            polls += 1;
            assert_eq!(NUMBER.get(), 1);
            match polls {
                1 => Poll::Pending,
                _ => Poll::Ready(NUMBER.sync_scope(3, || NUMBER.get())),
            }
        })
    ));
    NUMBER.sync_scope(2, || {
        assert!(poll(scope.as_mut()).is_pending());
        assert_eq!(NUMBER.get(), 2);
    });
    assert!(NUMBER.try_get().is_err());
    assert_eq!(poll(scope.as_mut()), Poll::Ready(3));
    assert!(NUMBER.try_get().is_err());
    assert_eq!(scope.as_mut().take_value(), Some(1));
    assert_eq!(scope.take_value(), None);
}

/// Notes the number that it sees when it is dropped.
struct SeesOnDrop(Rc<Cell<Option<u32>>>);

impl Drop for SeesOnDrop {
    fn drop(&mut self) {
        self.0.set(NUMBER.try_get().ok());
    }
}

#[test]
fn a_future_is_dropped_in_its_scope_as_soon_as_it_is_ready() {
    let seen = Rc::new(Cell::new(None));
    let held = SeesOnDrop(Rc::clone(&seen));
    let mut is_ready = false;
    let future = poll_fn(move |_| {
        let _held = &held;
        match std::mem::replace(&mut is_ready, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    let mut scope = pin!(NUMBER.scope(7, future));
    assert!(poll(scope.as_mut()).is_pending());
    assert_eq!(Rc::strong_count(&seen), 2);
    assert!(poll(scope.as_mut()).is_ready());
    assert_eq!((seen.get(), Rc::strong_count(&seen)), (Some(7), 1));
}

#[test]
fn access_outside_a_scope_returns_an_error_that_names_the_remedy() {
    let error = NUMBER.try_get().unwrap_err();
    assert!(error.to_string().contains("set one with LocalKey::scope"));
}
