//! The local queue on one thread: order, room, overflow, and what a steal takes.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_queue::{Overflow, Owner, Pushed, Stealer, local};

/// Where the indices start: at zero, and shortly before they wrap.
const STARTS: [u32; 2] = [0, u32::MAX - 3];

/// Keeps the batches that a full queue overflows.
#[derive(Debug, Default)]
struct Sink(RefCell<Vec<Vec<u32>>>);

impl Overflow<Box<u32>> for Sink {
    fn push_batch(&self, items: impl Iterator<Item = Box<u32>>) {
        self.0.borrow_mut().push(items.map(|item| *item).collect());
    }
}

type Ends<const N: usize> = (Owner<Box<u32>, N>, Stealer<Box<u32>, N>);

/// A queue that holds the items of a range, which must fit.
fn filled<const N: usize>(start: u32, items: std::ops::Range<u32>) -> Ends<N> {
    let (owner, stealer) = local::starting_at(start);
    for n in items {
        owner.try_push(Box::new(n)).unwrap();
    }
    (owner, stealer)
}

fn popped<const N: usize>(owner: &Owner<Box<u32>, N>) -> Vec<u32> {
    std::iter::from_fn(|| owner.pop()).map(|n| *n).collect()
}

fn check_order_and_room<const N: usize>(start: u32) {
    let (owner, stealer) = local::starting_at::<Box<u32>, N>(start);
    let mut next = 0;
    for fill in (0..=N).chain([N, 0, N / 2]) {
        assert!(owner.is_empty() && stealer.is_empty());
        assert!(owner.pop().is_none() && stealer.steal().is_none());
        let first = next;
        for len in 0..fill {
            assert_eq!((owner.len(), owner.room()), (len, N - len));
            owner.try_push(Box::new(next)).unwrap();
            next += 1;
            assert!(!owner.is_empty() && !stealer.is_empty());
            assert_eq!(stealer.len(), len + 1);
        }
        if fill == N {
            assert_eq!(owner.room(), 0);
            assert_eq!(owner.try_push(Box::new(u32::MAX)), Err(Box::new(u32::MAX)));
        }
        assert!(popped(&owner).into_iter().eq(first..next));
    }
}

#[test]
fn items_are_popped_in_order_and_free_room_is_counted() {
    for start in STARTS {
        check_order_and_room::<2>(start);
        check_order_and_room::<4>(start);
        check_order_and_room::<256>(start);
    }
}

#[test]
fn the_default_capacity_is_256() {
    assert_eq!(local::CAPACITY, 256);
    let (owner, _): (Owner<Box<u32>>, _) = local::new();
    assert_eq!(owner.room(), 256);
}

#[test]
fn a_steal_of_one_item_takes_the_oldest() {
    for start in STARTS {
        let (owner, stealer) = filled::<8>(start, 0..8);
        let other = stealer.clone();
        let third = owner.stealer();
        assert_eq!(stealer.steal().as_deref(), Some(&0));
        assert_eq!(owner.pop().as_deref(), Some(&1));
        assert_eq!(other.steal().as_deref(), Some(&2));
        assert_eq!(third.steal().as_deref(), Some(&3));
        assert_eq!((owner.len(), owner.room()), (4, 4));
        assert_eq!(popped(&owner), [4, 5, 6, 7]);
    }
}

/// Steals from queues of every length.
fn check_steal_of_half<const N: usize>(start: u32) {
    for len in 0..=N {
        let (owner, stealer) = filled::<N>(start, 0..len as u32);
        let (into, _) = local::starting_at::<Box<u32>, N>(start.wrapping_add(1));
        let taken = len.div_ceil(2);
        match stealer.steal_into(&into, |n| n.div_ceil(2)) {
            None => assert_eq!(len, 0),
            Some(stolen) => {
                assert_eq!((*stolen.first, stolen.moved), (0, taken - 1));
                assert_eq!((into.len(), into.room()), (taken - 1, N - (taken - 1)));
            }
        }
        assert_eq!(
            (owner.len(), owner.room()),
            (len - taken, N - (len - taken))
        );
        assert!(popped(&into).into_iter().eq(1..taken as u32));
        assert!(popped(&owner).into_iter().eq(taken as u32..len as u32));
    }
}

#[test]
fn a_steal_takes_half_rounded_up() {
    for start in STARTS {
        check_steal_of_half::<2>(start);
        check_steal_of_half::<4>(start);
        check_steal_of_half::<16>(start);
    }
}

/// Steals into queues of every length.
fn check_steal_into_queues_of_every_length<const N: usize>(start: u32) {
    for len in 0..=N {
        let (owner, stealer) = filled::<N>(start, 0..N as u32);
        let (into, _) = filled::<N>(start, 100..100 + len as u32);
        let stolen = stealer.steal_into(&into, |n| n.div_ceil(2));
        if len > N / 2 {
            assert!(stolen.is_none());
            assert_eq!((owner.len(), into.len()), (N, len));
        } else {
            assert_eq!(stolen.map(|stolen| *stolen.first), Some(0));
            assert_eq!((owner.len(), into.len()), (N / 2, len + N / 2 - 1));
        }
    }
}

#[test]
fn a_steal_refuses_a_queue_that_is_more_than_half_full() {
    for start in STARTS {
        check_steal_into_queues_of_every_length::<2>(start);
        check_steal_into_queues_of_every_length::<4>(start);
        check_steal_into_queues_of_every_length::<16>(start);
    }
}

#[test]
fn a_queue_can_steal_from_itself() {
    for start in STARTS {
        let (owner, stealer) = filled::<8>(start, 0..4);
        let stolen = stealer.steal_into(&owner, |n| n.div_ceil(2)).unwrap();
        assert_eq!((*stolen.first, stolen.moved), (0, 1));
        assert_eq!((owner.len(), owner.room()), (3, 5));
        assert_eq!(popped(&owner), [2, 3, 1]);
    }
}

/// tokio 2387: `b` steals from `a`, and `c` from `b`. Each queue is full before and after.
#[test]
fn steals_between_full_queues_overwrite_no_item() {
    for start in STARTS {
        let (a, from_a) = filled::<4>(start, 0..4);
        let (b, from_b) = filled::<4>(start, 10..14);
        let (c, from_c) = filled::<4>(start, 20..24);
        for _ in 0..2 {
            assert!(from_a.steal_into(&b, |n| n.div_ceil(2)).is_none());
            assert!(from_b.steal_into(&c, |n| n.div_ceil(2)).is_none());
            assert!(from_c.steal_into(&a, |n| n.div_ceil(2)).is_none());
        }
        assert_eq!((*c.pop().unwrap(), *c.pop().unwrap()), (20, 21));
        let stolen = from_b.steal_into(&c, |n| n.div_ceil(2)).unwrap();
        assert_eq!((*stolen.first, stolen.moved), (10, 1));
        let stolen = from_a.steal_into(&b, |n| n.div_ceil(2)).unwrap();
        assert_eq!((*stolen.first, stolen.moved), (0, 1));
        for (queue, next) in [(&a, 4), (&b, 14), (&c, 24)] {
            while queue.room() > 0 {
                queue.try_push(Box::new(next)).unwrap();
            }
        }
        assert!(from_b.steal_into(&c, |n| n.div_ceil(2)).is_none());
        assert_eq!(popped(&a), [2, 3, 4, 4]);
        assert_eq!(popped(&b), [12, 13, 1, 14]);
        assert_eq!(popped(&c), [22, 23, 11, 24]);
    }
}

/// Overflows a full queue once. The batch is the older half and then the new item.
fn check_overflow<const N: usize>(start: u32) {
    let n = N as u32;
    let (owner, _) = filled::<N>(start, 0..n);
    let sink = Sink::default();
    owner.push(Box::new(n), &sink);
    let batches = sink.0.take();
    assert_eq!(batches.len(), 1);
    assert!(batches[0].iter().copied().eq((0..n / 2).chain([n])));
    assert_eq!((owner.len(), owner.room()), (N / 2, N / 2));
    owner.push(Box::new(n + 1), &sink);
    assert!(sink.0.take().is_empty());
    assert!(popped(&owner).into_iter().eq((n / 2..n).chain([n + 1])));
}

#[test]
fn a_full_queue_overflows_its_older_half_and_the_new_item() {
    for start in STARTS {
        check_overflow::<2>(start);
        check_overflow::<4>(start);
        check_overflow::<256>(start);
    }
}

/// The sink may use the queue: its items have already left the ring.
#[test]
fn a_sink_may_push_to_the_queue_that_overflows() {
    struct PushesBack<'a>(&'a Owner<Box<u32>, 4>);
    impl Overflow<Box<u32>> for PushesBack<'_> {
        fn push_batch(&self, items: impl Iterator<Item = Box<u32>>) {
            let sink = Sink::default();
            for item in items {
                self.0.push(item, &sink);
            }
            assert_eq!(sink.0.take(), [[2, 3, 4]]);
        }
    }
    let (owner, _) = filled::<4>(0, 0..4);
    owner.push(Box::new(4), &PushesBack(&owner));
    assert_eq!(popped(&owner), [0, 1]);
}

#[test]
fn a_push_reports_whether_the_queue_was_empty_stolen_from_or_full() {
    let pushed = |found: &str| Pushed {
        was_empty: found.contains("empty"),
        was_stolen_from: found.contains("stolen"),
        overflowed: found.contains("full"),
    };
    for start in STARTS {
        let (owner, stealer) = local::starting_at::<Box<u32>, 4>(start);
        let sink = Sink::default();
        let push = |n| owner.push(Box::new(n), &sink);
        assert_eq!(push(0), pushed("empty"));
        assert_eq!(push(1), pushed(""));
        owner.pop();
        assert_eq!(
            push(2),
            pushed(""),
            "a pop of the owner does not count as a steal"
        );
        assert_eq!(popped(&owner), [1, 2]);
        assert_eq!(push(3), pushed("empty"));
        assert_eq!(push(4), pushed(""));
        assert_eq!(stealer.steal(), Some(Box::new(3)));
        assert_eq!(push(5), pushed("stolen"));
        assert_eq!(push(6), pushed(""));
        assert_eq!(push(7), pushed(""));
        assert_eq!(push(8), pushed("full"));
        assert_eq!(push(9), pushed("stolen"), "the overflow has taken items");
        assert_eq!(push(10), pushed(""));
        // SAFETY: no thread steals.
        let pop_exclusive = || unsafe { owner.pop_exclusive() };
        pop_exclusive().expect("there are four");
        assert_eq!(push(11), pushed(""));
        assert_eq!(stealer.steal(), Some(Box::new(7)));
        while pop_exclusive().is_some() {}
        assert_eq!(push(12), pushed("empty stolen"));
    }
}

#[test]
fn a_steal_takes_the_requested_share_within_bounds() {
    for start in STARTS {
        for (asked, taken) in [(0, 1), (1, 1), (3, 3), (8, 8), (9, 8), (usize::MAX, 8)] {
            let (owner, stealer) = filled::<16>(start, 0..12);
            let (into, _) = local::starting_at::<Box<u32>, 16>(start);
            let stolen = stealer.steal_into(&into, |there| {
                assert_eq!(there, 12);
                asked
            });
            assert_eq!(stolen.map(|stolen| stolen.moved + 1), Some(taken));
            assert_eq!((owner.len(), into.len()), (12 - taken, taken - 1));
        }
    }
}

#[test]
fn a_panic_in_the_share_leaves_the_queue_open_to_stealers() {
    let (owner, stealer) = filled::<16>(0, 0..4);
    let (into, _) = local::starting_at::<Box<u32>, 16>(0);
    let steal = || stealer.steal_into(&into, |_| panic!("no share"));
    assert!(catch_unwind(AssertUnwindSafe(steal)).is_err());
    assert_eq!((owner.len(), owner.room(), into.len()), (4, 12, 0));
    assert_eq!(stealer.steal(), Some(Box::new(0)));
}

/// `share` runs after the room of `into` was counted.
#[test]
fn a_share_that_fills_the_queue_stolen_into_stops_the_steal() {
    for start in STARTS {
        let (owner, stealer) = filled::<4>(start, 0..4);
        let (into, _) = filled::<4>(start, 10..12);
        let stolen = stealer.steal_into(&into, |n| {
            while into.try_push(Box::new(12)).is_ok() {}
            n.div_ceil(2)
        });
        assert!(stolen.is_none());
        assert_eq!((owner.len(), owner.room()), (4, 0));
        assert_eq!(popped(&into), [10, 11, 12, 12]);
        assert_eq!(popped(&owner), [0, 1, 2, 3]);

        // With room left, the stolen item goes behind what was pushed.
        let (_owner, stealer) = filled::<4>(start, 0..4);
        let stolen = stealer.steal_into(&into, |n| {
            into.try_push(Box::new(13)).unwrap();
            n.div_ceil(2)
        });
        assert_eq!(
            stolen.map(|stolen| (*stolen.first, stolen.moved)),
            Some((0, 1))
        );
        assert_eq!(popped(&into), [13, 1]);
    }
}
