//! The handles that are current on a thread.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use raddle_primitives::current::{self, EnterGuard, Frame, HandleFrame, Request};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Number(u32);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Letter(char);

struct Both(Number, Option<Letter>);

impl Frame for Both {
    fn provide<'a>(&'a self, request: &mut Request<'a>) {
        request.offer(|| Some(&self.0)).offer(|| self.1.as_ref());
    }
}

fn number() -> Option<u32> {
    current::get().map(|Number(number)| number)
}

fn letter() -> Option<char> {
    current::get().map(|Letter(letter)| letter)
}

#[test]
fn the_innermost_frame_with_a_type_provides_its_current_handle() {
    assert_eq!(
        (number(), letter(), current::depth()),
        (None, None, Some(0))
    );
    let _outer = current::enter(Both(Number(1), Some(Letter('a'))));
    assert_eq!((number(), letter()), (Some(1), Some('a')));
    {
        let _inner = current::enter(HandleFrame(Some(Number(2))));
        assert_eq!(
            (number(), letter(), current::depth()),
            (Some(2), Some('a'), Some(2))
        );
    }
    {
        let _inner = current::enter(Both(Number(3), None));
        assert_eq!((number(), letter()), (Some(3), None));
    }
    assert_eq!(
        (number(), letter(), current::depth()),
        (Some(1), Some('a'), Some(1))
    );
}

#[test]
fn a_frame_that_returns_none_hides_the_handle_of_an_outer_frame() {
    let _outer = current::enter(HandleFrame(Some(Number(1))));
    let hidden = current::enter(HandleFrame(None::<Number>));
    assert_eq!(number(), None);
    drop(hidden);
    assert_eq!(number(), Some(1));
}

#[test]
fn a_guard_ends_its_own_frame_in_any_order() {
    let first = current::enter(HandleFrame(Some(Number(1))));
    let second = current::enter(HandleFrame(Some(Number(2))));
    let third = current::enter(HandleFrame(Some(Number(3))));
    drop(second);
    assert_eq!((number(), current::depth()), (Some(3), Some(3)));
    drop(third);
    assert_eq!((number(), current::depth()), (Some(1), Some(1)));
    let fourth = current::enter(HandleFrame(Some(Number(4))));
    drop(first);
    assert_eq!(number(), Some(4));
    drop(fourth);
    assert_eq!((number(), current::depth()), (None, Some(0)));
}

#[test]
fn another_thread_has_a_stack_of_its_own() {
    let _guard = current::enter(HandleFrame(Some(Number(1))));
    let there = std::thread::spawn(|| (number(), current::depth()));
    assert_eq!(there.join().unwrap(), (None, Some(0)));
}

/// A handle that enters and leaves a frame in its drop, as the last reference to an owner may.
struct Owner(Rc<RefCell<Vec<Option<u32>>>>);

impl Drop for Owner {
    fn drop(&mut self) {
        let _guard = current::enter(HandleFrame(Some(Number(9))));
        self.0.borrow_mut().push(number());
    }
}

#[test]
fn a_handle_that_is_dropped_with_its_frame_may_enter_another() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    drop(current::enter(HandleFrame(Some(Owner(Rc::clone(&seen))))));
    assert_eq!(
        (&*seen.borrow(), current::depth()),
        (&vec![Some(9)], Some(0))
    );
}

#[test]
fn a_panic_while_a_handle_is_lent_leaves_the_stack_usable() {
    let _guard = current::enter(HandleFrame(Some(Number(1))));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        current::with(|_: &Number| drop(current::enter(HandleFrame(Some(Number(2))))))
    }));
    assert!(panic.is_err());
    assert_eq!((number(), current::depth()), (Some(1), Some(1)));
}

#[test]
fn a_thread_that_ends_has_nothing_current() {
    struct Last(RefCell<Option<EnterGuard<'static>>>);

    impl Drop for Last {
        fn drop(&mut self) {
            let has_nothing = (number(), current::depth()) == (None, None);
            // On that target, a thread-local variable that was dropped is created again.
            assert!(has_nothing || cfg!(all(windows, target_env = "gnu")));
            drop(current::enter(HandleFrame(Some(Number(2)))));
            drop(self.0.take());
        }
    }
    std::thread_local! {
        static LAST: Last = const { Last(RefCell::new(None)) };
    }
    std::thread::spawn(|| {
        // The variable is used before the stack, so it is dropped after it.
        LAST.with(|last| last.0.replace(None));
        LAST.with(|last| {
            last.0
                .replace(Some(current::enter(HandleFrame(Some(Number(1))))))
        });
        assert_eq!(number(), Some(1));
    })
    .join()
    .unwrap();
}
