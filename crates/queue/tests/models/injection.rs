//! Models of the injection queue: concurrent pushes, pops and closing.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_queue::Injection;

use crate::arena::{Arena, Item};

fn drain(queue: &Injection<Item>) {
    while let Some(item) = queue.pop() {
        item.take();
    }
    assert_eq!(queue.len(), 0);
}

/// All interleavings are explored.
#[test]
fn push_against_pop_batch() {
    model::check(|| {
        let arena = Arena::new(3);
        let queue = Arc::new(Injection::<Item>::new());
        let popper = {
            let queue = queue.clone();
            thread::spawn(move || {
                let ids: Vec<_> = queue.pop_batch(2).map(Item::take).collect();
                assert!([&[][..], &[0], &[0, 1]].contains(&&ids[..]), "{ids:?}");
            })
        };
        for id in 0..3 {
            queue.push(arena.item(id)).unwrap();
        }
        popper.join().unwrap();
        drain(&queue);
        arena.check();
    });
}

/// A batch is queued as a whole: no thread sees only a part of it. All interleavings are explored.
#[test]
fn push_batch_against_pop_batch() {
    model::check(|| {
        let arena = Arena::new(3);
        let queue = Arc::new(Injection::<Item>::new());
        let popper = {
            let queue = queue.clone();
            thread::spawn(move || {
                let len = queue.len();
                assert!(len == 0 || len == 3, "{len}");
                let ids: Vec<_> = queue.pop_batch(2).map(Item::take).collect();
                assert!(ids.is_empty() || ids == [0, 1], "{ids:?}");
            })
        };
        queue
            .push_batch((0..3).map(|id| arena.item(id)))
            .expect("the queue is open");
        popper.join().unwrap();
        drain(&queue);
        arena.check();
    });
}

/// Bounded at three preemptions.
#[test]
fn two_pushers_against_pop_batch() {
    Model::new().preemptions(3).check(|| {
        let arena = Arena::new(3);
        let queue = Arc::new(Injection::<Item>::new());
        let pusher = {
            let (queue, arena) = (queue.clone(), arena.clone());
            thread::spawn(move || queue.push(arena.item(0)).unwrap())
        };
        let popper = {
            let queue = queue.clone();
            thread::spawn(move || {
                for item in queue.pop_batch(2) {
                    item.take();
                }
            })
        };
        queue
            .push_batch((1..3).map(|id| arena.item(id)))
            .expect("the queue is open");
        pusher.join().unwrap();
        popper.join().unwrap();
        drain(&queue);
        arena.check();
    });
}

/// An item is refused and returned, or queued and popped. Once an item is refused, all later items
/// are. Bounded at three preemptions.
#[test]
fn push_against_pop_batch_against_close() {
    Model::new().preemptions(3).check(|| {
        let arena = Arena::new(3);
        let queue = Arc::new(Injection::<Item>::new());
        let popper = {
            let queue = queue.clone();
            thread::spawn(move || {
                for item in queue.pop_batch(3) {
                    item.take();
                }
            })
        };
        let closer = {
            let queue = queue.clone();
            thread::spawn(move || assert!(queue.close()))
        };
        let refused = queue.push(arena.item(0)).map_err(Item::take).is_err();
        match queue.push_batch((1..3).map(|id| arena.item(id))) {
            Ok(()) => assert!(!refused),
            Err(batch) => assert_eq!(batch.map(Item::take).collect::<Vec<_>>(), [1, 2]),
        }
        popper.join().unwrap();
        closer.join().unwrap();
        assert!(queue.is_closed() && !queue.close());
        drain(&queue);
        arena.check();
    });
}

/// Once all threads have seen the close, one drain finds every item. All interleavings are
/// explored.
#[test]
fn nothing_is_queued_after_close() {
    model::check(|| {
        let arena = Arena::new(1);
        let queue = Arc::new(Injection::<Item>::new());
        let pusher = {
            let (queue, arena) = (queue.clone(), arena.clone());
            thread::spawn(move || {
                if let Err(item) = queue.push(arena.item(0)) {
                    item.take();
                    return true;
                }
                false
            })
        };
        queue.close();
        let drained = queue.pop().map(Item::take).is_some();
        let refused = pusher.join().unwrap();
        assert!(drained != refused);
        arena.check();
    });
}

/// A thread that sees the length sees the earlier writes of the pusher. All interleavings are
/// explored.
#[test]
fn the_length_publishes_earlier_writes() {
    model::check(|| {
        let arena = Arena::new(2);
        let queue = Arc::new(Injection::<Item>::new());
        let reader = {
            let (queue, arena) = (queue.clone(), arena.clone());
            thread::spawn(move || {
                let seen = queue.len() == 1;
                if seen {
                    arena.unwritten(0).take();
                }
                seen
            })
        };
        arena.unwritten(0).write();
        queue.push(arena.item(1)).unwrap();
        if !reader.join().unwrap() {
            arena.unwritten(0).take();
        }
        drain(&queue);
        arena.check();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_item_written_after_its_push_is_caught() {
    model::check(|| {
        let arena = Arena::new(1);
        let queue = Arc::new(Injection::<Item>::new());
        let popper = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.pop().map(Item::take);
            })
        };
        let late = arena.unwritten(0);
        queue.push(arena.unwritten(0)).unwrap();
        late.write();
        popper.join().unwrap();
    });
}
