//! The order in which locks may be taken.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_primitives::sync::{Condvar, Mutex, Rank};

fn message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    *payload.downcast::<String>().unwrap()
}

#[test]
fn locks_taken_in_the_order_of_their_ranks_do_not_panic() {
    let first = Mutex::ranked(Rank::outer(1, "first"), ());
    let second = Mutex::ranked(Rank::outer(2, "second"), ());
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    for _ in 0..2 {
        let one = first.lock();
        let two = second.lock();
        drop(leaf.lock());
        // The locks may be released in any order.
        drop(one);
        drop(leaf.lock());
        drop(two);
    }
}

#[test]
fn a_wrong_order_panics_and_names_both_locks() {
    let first = Mutex::ranked(Rank::outer(1, "first"), ());
    let second = Mutex::ranked(Rank::outer(2, "second"), ());
    let _held = second.lock();
    let message_text = message(|| drop(first.lock()));
    assert!(
        message_text.contains("\"first\" is taken under the lock \"second\""),
        "{message_text}"
    );
    // The failed attempt has no lasting effect.
    drop(_held);
    drop(first.lock());
    drop(second.lock());
}

#[test]
fn locking_under_a_leaf_lock_panics() {
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let other = Mutex::ranked(Rank::leaf("other"), ());
    let _held = leaf.lock();
    assert!(message(|| drop(other.lock())).contains("\"other\""));
    // A thread may not take the same lock again either: it would wait for itself.
    assert!(message(|| drop(leaf.lock())).contains("\"leaf\""));
}

#[test]
fn the_order_of_an_unordered_lock_can_be_checked_later() {
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let other = Mutex::ranked(Rank::leaf("other"), ());
    let held = leaf.lock();
    let unordered = other.lock_unordered();
    drop(unordered);
    assert!(message(|| other.check_order()).contains("\"other\""));
    drop(held);
    other.check_order();
    // Meanwhile the lock counts as held.
    let unordered = other.lock_unordered();
    assert!(message(|| drop(leaf.lock())).contains("\"leaf\""));
    drop(unordered);
    drop(leaf.lock());
}

#[test]
fn try_lock_ignores_the_order_and_its_lock_counts_as_held() {
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let other = Mutex::ranked(Rank::leaf("other"), ());
    let held = leaf.lock();
    let tried = other.try_lock().unwrap();
    drop(held);
    // The second lock is still held.
    assert!(message(|| drop(leaf.lock())).contains("\"other\""));
    drop(tried);
    drop(leaf.lock());
}

#[test]
fn a_lock_without_a_rank_is_not_checked() {
    let free = Mutex::new(());
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let _held = leaf.lock();
    drop(free.lock());
}

#[test]
fn a_wait_keeps_the_rank() {
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let condvar = Condvar::new();
    let (guard, _) = condvar.wait_timeout(leaf.lock(), std::time::Duration::from_millis(1));
    assert!(message(|| drop(leaf.lock())).contains("\"leaf\""));
    drop(guard);
    drop(leaf.lock());
}

#[test]
fn each_thread_has_its_own_held_locks() {
    let leaf = Mutex::ranked(Rank::leaf("leaf"), ());
    let other = Mutex::ranked(Rank::leaf("other"), ());
    let _held = leaf.lock();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(other.lock()));
    });
}
