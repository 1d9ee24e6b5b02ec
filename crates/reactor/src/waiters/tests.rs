use std::collections::BTreeMap;
use std::task::Waker;

use raddle_testing::Wakes;

use super::{SMALL, WaiterList};
use crate::Ready;

fn waker() -> Waker {
    Wakes::new().1
}

fn walked(list: &WaiterList) -> usize {
    list.entries.len()
}

#[test]
fn storage_shrinks_with_the_waiters() {
    let mut list = WaiterList::default();
    let keys: Vec<_> = (0..100_000)
        .map(|_| list.insert(Ready::READ, waker()))
        .collect();
    let (first, rest) = keys.split_first().unwrap();
    // The first waiter stays, all others are removed.
    for key in rest {
        assert!(list.remove(*key).is_some());
    }
    assert!(
        walked(&list) <= 2,
        "an event visits {} entries",
        walked(&list)
    );
    assert!(list.entries.capacity() <= SMALL);
    assert!(list.remove(*first).is_some());
    assert_eq!(walked(&list), 0);
    assert!(list.entries.capacity() <= SMALL);
}

#[test]
fn storage_shrinks_in_any_order_of_leaving() {
    let leave: [fn(usize) -> usize; 3] = [|n| n, |n| 9_999 - n, |n| n * 7_919 % 10_000];
    for order in leave {
        let mut list = WaiterList::default();
        let keys: Vec<_> = (0..10_000)
            .map(|_| list.insert(Ready::READ, waker()))
            .collect();
        for n in 0..10_000 {
            assert!(list.remove(keys[order(n)]).is_some());
            let left = 10_000 - n - 1;
            assert!(walked(&list) <= 2 * left);
            assert!(list.entries.capacity() <= 16_384.min(8 * left).max(SMALL));
        }
    }
}

/// Makes a list with room for 128 waiters that has had `count` waiters, of which the first `left`
/// have left in order. Returns how many entries it then has, and for how many it has room.
fn bounds(count: usize, left: &[usize]) -> Vec<(usize, usize)> {
    let mut list = WaiterList::default();
    list.entries.reserve_exact(128);
    let keys: Vec<_> = (0..count)
        .map(|_| list.insert(Ready::READ, waker()))
        .collect();
    let mut keys = keys.into_iter();
    let mut leave = |&left| {
        for key in keys.by_ref().take(left) {
            assert!(list.remove(key).is_some());
        }
        (walked(&list), list.entries.capacity())
    };
    left.iter().map(&mut leave).collect()
}

#[test]
fn gaps_are_removed_when_they_are_more_than_half() {
    assert_eq!(
        bounds(100, &[50, 1, 24]),
        [(100, 128), (49, 128), (49, 128)]
    );
}

#[test]
fn memory_is_freed_when_it_is_more_than_four_times_the_need() {
    assert_eq!(bounds(65, &[33]), [(32, 128)]);
    assert_eq!(bounds(100, &[51, 25]), [(49, 128), (24, 48)]);
}

/// Compares the list with a map, in a random order with a fixed seed.
#[test]
fn each_waiter_is_found_by_its_key() {
    let mut list = WaiterList::default();
    let mut model = BTreeMap::new();
    let mut random: u32 = 1;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    for round in 0..4_000 {
        // The list grows, and then shrinks.
        let grow = if round % 1_000 < 500 { 3 } else { 1 };
        if next(4) < grow || model.is_empty() {
            let waker = waker();
            model.insert(list.insert(Ready::WRITE, waker.clone()), waker);
        } else {
            let at = next(model.len());
            let key = *model.keys().nth(at).unwrap();
            if next(2) == 0 {
                let new = waker();
                let former = list.replace(key, new.clone()).unwrap();
                assert!(former.will_wake(&model.insert(key, new).unwrap()));
            } else {
                let removed = list.remove(key).unwrap();
                assert!(removed.will_wake(&model.remove(&key).unwrap()));
                assert!(list.remove(key).is_none());
            }
        }
        let mut expected = model.values();
        let visit = |waker: &mut Option<Waker>| {
            let waker = waker.as_ref().unwrap();
            assert!(waker.will_wake(expected.next().unwrap()));
            true
        };
        assert!(list.take_wakers(Ready::WRITE, visit));
        assert!(expected.next().is_none());
    }
}

/// Takes up to `room` wakers for `ready`, and returns their number and whether these were all.
fn take(list: &mut WaiterList, ready: Ready, room: usize) -> (usize, bool) {
    let mut taken = 0;
    let all = list.take_wakers(ready, |waker| {
        if taken == room {
            return false;
        }
        assert!(waker.take().is_some());
        taken += 1;
        true
    });
    (taken, all)
}

/// Bug: own, a walk that began anew for each batch: 40,000 waiters and one event took the square.
#[test]
fn a_walk_in_steps_continues_where_it_stopped() {
    let mut list = WaiterList::default();
    let keys: Vec<_> = (0..100)
        .map(|_| list.insert(Ready::READ, waker()))
        .collect();
    assert_eq!(take(&mut list, Ready::READ, 40), (40, false));
    // Neither a waiter that waits again nor a new one belongs to the walk.
    assert!(list.replace(keys[0], waker()).is_none());
    list.insert(Ready::READ, waker());
    assert_eq!(take(&mut list, Ready::READ, 40), (40, false));
    assert_eq!(take(&mut list, Ready::READ, 40), (20, true));
    // They belong to the next one.
    assert_eq!(take(&mut list, Ready::READ, 40), (2, true));
}

#[test]
fn a_walk_continues_although_waiters_have_left() {
    let mut list = WaiterList::default();
    let keys: Vec<_> = (0..100)
        .map(|_| list.insert(Ready::READ, waker()))
        .collect();
    assert_eq!(take(&mut list, Ready::READ, 40), (40, false));
    // Among them those at which the walk has stopped; the list is compacted.
    for key in &keys[..60] {
        let removed = list.remove(*key);
        assert_eq!(removed.is_some(), *key >= 40);
    }
    assert_eq!(walked(&list), 49);
    assert_eq!(take(&mut list, Ready::READ, 40), (40, true));
}

#[test]
fn a_walk_for_other_flags_begins_at_the_first_waiter() {
    let mut list = WaiterList::default();
    for _ in 0..10 {
        list.insert(Ready::READ, waker());
        list.insert(Ready::WRITE, waker());
    }
    assert_eq!(take(&mut list, Ready::READ, 5), (5, false));
    assert_eq!(take(&mut list, Ready::WRITE, 3), (3, false));
    // The walk of readers is forgotten, and finds those that are left.
    assert_eq!(take(&mut list, Ready::READ, 3), (3, false));
    list.forget_walk();
    list.insert(Ready::READ, waker());
    assert_eq!(take(&mut list, Ready::READ, 5), (3, true));
    assert_eq!(take(&mut list, Ready::WRITE, 9), (7, true));
}
