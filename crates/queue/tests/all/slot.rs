//! The next-task slot.

use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread;
use raddle_queue::Slot;

#[test]
fn put_returns_the_displaced_item() {
    let slot = Slot::new();
    assert!(slot.is_empty());
    assert_eq!(slot.put(Box::new(1)), None);
    assert!(!slot.is_empty());
    assert_eq!(slot.put(Box::new(2)).as_deref(), Some(&1));
    assert_eq!(slot.take().as_deref(), Some(&2));
    assert!(slot.is_empty());
    assert_eq!(slot.take(), None);
}

#[test]
fn put_exclusive_returns_the_displaced_item() {
    let slot = Slot::default();
    // SAFETY: there is one thread.
    unsafe {
        assert_eq!(slot.put_exclusive(Box::new(1)), None);
        assert_eq!(slot.put_exclusive(Box::new(2)).as_deref(), Some(&1));
    }
    assert_eq!(slot.take().as_deref(), Some(&2));
}

/// Every item leaves the slot once: displaced, or taken by one of two threads.
#[test]
fn put_exclusive_and_takers_lose_nothing() {
    const ITEMS: usize = 20_000;
    let slot = Arc::new(Slot::<Box<usize>>::new());
    let done = Arc::new(AtomicBool::new(false));
    let deadline = Instant::now() + Duration::from_secs(60);
    let takers = [0, 1].map(|_| {
        let (slot, done) = (slot.clone(), done.clone());
        thread::spawn(move || {
            let mut taken = Vec::new();
            loop {
                // ORDERING: pairs with the store after the last put.
                let last = done.load(Ordering::Acquire);
                match slot.take() {
                    Some(item) => taken.push(*item),
                    None if last => return taken,
                    None => thread::yield_now(),
                }
                assert!(Instant::now() < deadline, "the test hangs");
            }
        })
    });
    let mut seen = Vec::new();
    for id in 0..ITEMS {
        // SAFETY: only this thread puts items in.
        seen.extend(unsafe { slot.put_exclusive(Box::new(id)) }.map(|item| *item));
        if id % 64 == 0 {
            thread::yield_now();
        }
    }
    // ORDERING: pairs with the loads of the takers.
    done.store(true, Ordering::Release);
    for taker in takers {
        seen.extend(taker.join().unwrap());
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..ITEMS));
    assert!(slot.is_empty());
}

#[test]
fn put_exclusive_and_take_exclusive_keep_at_most_one_item() {
    let slot = Slot::new();
    // SAFETY: there is no other thread.
    let put = |n| unsafe { slot.put_exclusive(Box::new(n)) };
    // SAFETY: as above.
    let take = || unsafe { slot.take_exclusive() };
    assert_eq!(take(), None);
    assert_eq!(put(1), None);
    assert_eq!(put(2), Some(Box::new(1)));
    assert_eq!(take(), Some(Box::new(2)));
    assert!(slot.is_empty());
    assert_eq!(take(), None);
    assert_eq!(put(3), None);
}
