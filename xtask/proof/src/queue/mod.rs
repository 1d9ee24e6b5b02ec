//! Compares the run queue, the next-task slot and the injection queue with queues of numbers: each
//! item comes out once and in order.
//!
//! A steal may be interrupted in the middle by other operations on the queue, as if another thread
//! performed them.

mod item;

use std::cell::RefCell;
use std::collections::VecDeque;

use raddle_queue::{Injection, Owner, Pushed, Slot, Stealer, local};

use crate::Choices;
use item::{Item, Live};

const CAPACITY: usize = 8;
const QUEUES: usize = 3;

/// The expected contents.
#[derive(Debug, Default)]
struct Reference {
    queues: [VecDeque<u32>; QUEUES],
    /// The queue on which a stealer is active, if any: then some slots without an item are not free
    /// either.
    claimed: Option<usize>,
    /// Whether other threads took items since the last push.
    stolen_from: [bool; QUEUES],
    injection: VecDeque<u32>,
    closed: bool,
    slot: Option<u32>,
    next: u32,
}

struct Bench {
    queues: [(Owner<Item, CAPACITY>, Stealer<Item, CAPACITY>); QUEUES],
    injection: Injection<Item>,
    slot: Slot<Item>,
    reference: RefCell<Reference>,
    live: Live,
}

/// Runs random operations on three queues, a slot and an injection queue.
pub fn run(choices: &mut Choices<'_>) {
    let start = u32::MAX - choices.below(16) as u32;
    let bench = Bench {
        queues: std::array::from_fn(|_| local::starting_at(start)),
        injection: Injection::new(),
        slot: Slot::new(),
        reference: RefCell::default(),
        live: Live::default(),
    };
    while !choices.is_over() {
        bench.step(choices);
        bench.check();
    }
    bench.drain(choices.once_in(2));
    let live = bench.live.clone();
    drop(bench);
    assert_eq!(live.count(), 0, "items are leaked");
}

impl Bench {
    fn with<R>(&self, f: impl FnOnce(&mut Reference) -> R) -> R {
        f(&mut self.reference.borrow_mut())
    }

    fn item(&self) -> (u32, Item) {
        let id = self.with(|reference| {
            reference.next += 1;
            reference.next
        });
        (id, self.live.item(id))
    }

    fn step(&self, choices: &mut Choices<'_>) {
        let (queue, other) = (choices.below(QUEUES), choices.below(QUEUES));
        match choices.below(16) {
            0..=4 => self.steal_into(queue, other, choices),
            5 => self.slot_put(),
            6 => {
                let expected = self.with(|reference| reference.slot.take());
                assert_eq!(self.slot.take().map(Item::id), expected);
            }
            7 => self.inject(),
            8 => self.pop_into(queue, choices.below(CAPACITY + 3)),
            9 => self.pop_batch(choices.below(5)),
            10 => {
                if choices.once_in(8) {
                    let open =
                        self.with(|reference| !std::mem::replace(&mut reference.closed, true));
                    assert_eq!(self.injection.close(), open);
                }
            }
            action => self.act(queue, action),
        }
    }

    /// An operation that is also possible in the middle of a steal from the queue.
    fn act(&self, queue: usize, action: usize) {
        match action % 5 {
            0 | 1 => self.push(queue),
            2 => self.try_push(queue),
            3 => self.pop(queue),
            _ => self.steal(queue),
        }
    }

    fn push(&self, queue: usize) {
        let (id, item) = self.item();
        let full = self.queues[queue].0.room() == 0;
        let expected = self.with(|reference| {
            let items = &mut reference.queues[queue];
            let expected = Pushed {
                was_empty: items.is_empty(),
                was_stolen_from: std::mem::take(&mut reference.stolen_from[queue]),
                overflowed: full,
            };
            if !full {
                items.push_back(id);
                return expected;
            }
            let gone = match reference.claimed == Some(queue) {
                true => 0,
                false => CAPACITY / 2,
            };
            // An overflow into a closed queue is dropped.
            let batch: Vec<_> = items.drain(..gone).chain([id]).collect();
            reference.stolen_from[queue] = gone > 0;
            if !reference.closed {
                reference.injection.extend(batch);
            }
            expected
        });
        let pushed = self.queues[queue].0.push(item, &self.injection);
        assert_eq!(pushed, expected);
    }

    fn try_push(&self, queue: usize) {
        let (id, item) = self.item();
        let full = self.queues[queue].0.room() == 0;
        let pushed = self.queues[queue].0.try_push(item);
        assert_eq!(pushed.is_err(), full);
        if !full {
            self.with(|reference| reference.queues[queue].push_back(id));
        }
    }

    fn pop(&self, queue: usize) {
        let expected = self.with(|reference| reference.queues[queue].pop_front());
        let popped = self.queues[queue].0.pop();
        assert_eq!(popped.map(Item::id), expected);
    }

    /// Another steal is refused while one is in progress.
    fn steal(&self, queue: usize) {
        let expected = self.with(|reference| match reference.claimed == Some(queue) {
            true => None,
            false => reference.queues[queue].pop_front(),
        });
        let stolen = self.queues[queue].1.steal();
        assert_eq!(stolen.map(Item::id), expected);
        self.with(|reference| reference.stolen_from[queue] |= expected.is_some());
    }

    /// Steals half of one queue into another, and performs an operation on the first one in the
    /// middle.
    fn steal_into(&self, from: usize, into: usize, choices: &mut Choices<'_>) {
        let expected: Option<Vec<u32>> = self.with(|reference| {
            let has_room = reference.queues[into].len() <= CAPACITY / 2;
            let items = &mut reference.queues[from];
            let half = items.len().div_ceil(2);
            (has_room && half > 0).then(|| {
                reference.claimed = Some(from);
                reference.stolen_from[from] = true;
                items.drain(..half).collect()
            })
        });
        let meanwhile: Vec<_> = (0..choices.below(4)).map(|_| choices.below(5)).collect();
        let claimed = || {
            if from != into {
                for action in meanwhile {
                    self.act(from, action);
                }
            }
        };
        let stealer = &self.queues[from].1;
        // SAFETY: `claimed` uses only the queue that is stolen from, which is another one.
        let stolen =
            unsafe { stealer.steal_into_with(&self.queues[into].0, |n| n.div_ceil(2), claimed) };
        let moved = stolen.map(|stolen| (stolen.first.id(), stolen.moved));
        self.with(|reference| reference.claimed = None);
        let Some(expected) = expected else {
            assert_eq!(moved, None);
            return;
        };
        assert_eq!(moved, Some((expected[0], expected.len() - 1)));
        self.with(|reference| {
            reference.queues[into].extend(&expected[1..]);
        });
    }

    fn slot_put(&self) {
        let (id, item) = self.item();
        let expected = self.with(|reference| reference.slot.replace(id));
        assert_eq!(self.slot.put(item).map(Item::id), expected);
    }

    fn inject(&self) {
        let (id, item) = self.item();
        let refused = self.injection.push(item).err().map(Item::id);
        self.with(|reference| {
            assert_eq!(refused, reference.closed.then_some(id));
            if !reference.closed {
                reference.injection.push_back(id);
            }
        });
    }

    fn pop_batch(&self, limit: usize) {
        let expected: Vec<_> = self.with(|reference| {
            let count = limit.min(reference.injection.len());
            reference.injection.drain(..count).collect()
        });
        let popped: Vec<_> = self.injection.pop_batch(limit).map(Item::id).collect();
        assert_eq!(popped, expected);
    }

    fn pop_into(&self, queue: usize, limit: usize) {
        let expected: Vec<_> = self.with(|reference| {
            let room = CAPACITY - reference.queues[queue].len();
            let count = limit.min(reference.injection.len()).min(room + 1);
            reference.injection.drain(..count).collect()
        });
        let stolen = self.injection.pop_into(limit, &self.queues[queue].0);
        let moved = stolen.map(|stolen| (stolen.first.id(), stolen.moved));
        assert_eq!(
            moved,
            expected.first().map(|&first| (first, expected.len() - 1))
        );
        self.with(|reference| reference.queues[queue].extend(expected.iter().skip(1)));
    }

    fn check(&self) {
        let reference = self.reference.borrow();
        let mut there = reference.injection.len() + usize::from(reference.slot.is_some());
        for (items, (owner, stealer)) in reference.queues.iter().zip(&self.queues) {
            assert_eq!((owner.len(), stealer.len()), (items.len(), items.len()));
            assert_eq!(owner.room(), CAPACITY - items.len());
            there += items.len();
        }
        assert_eq!(self.injection.len(), reference.injection.len());
        assert_eq!(self.slot.is_empty(), reference.slot.is_none());
        assert_eq!(self.live.count(), there, "an item is lost or duplicated");
    }

    /// Takes out the remaining items, or leaves them to the drops.
    fn drain(&self, really: bool) {
        if really {
            for queue in 0..QUEUES {
                while !self.queues[queue].0.is_empty() {
                    self.pop(queue);
                }
            }
            self.pop_batch(usize::MAX);
            self.check();
        }
    }
}
