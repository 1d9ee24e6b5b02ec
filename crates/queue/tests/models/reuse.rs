//! Models of the slots of a ring: a slot is not written again before it has been read.
//!
//! The slots are cells, so the model reports a race between these accesses.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;
use raddle_queue::{Owner, Stealer, local};

/// Three words, with bytes between them that are never written.
type Item = (u8, u64, u64);

fn item(n: usize) -> Item {
    (n as u8, n as u64, n as u64)
}

/// Steals once into a queue and returns that queue: the moved items are not accessed before all
/// threads are joined.
fn steal_half<const N: usize>(stealer: &Stealer<Item, N>) -> Owner<Item, N> {
    let (own, _) = local::new();
    let _ = stealer.steal_into(&own, |n| n.div_ceil(2));
    own
}

/// The owner of a full queue pushes into slots that a stealer may still read.
fn push_to_stolen_slots<const N: usize>() {
    let (owner, stealer) = local::new::<Item, N>();
    for index in 0..N {
        owner.try_push(item(index)).unwrap();
    }
    let pusher = thread::spawn(move || {
        // A push fails while the stealer has not finished.
        for index in 0..N / 2 {
            let _ = owner.try_push(item(index));
        }
        owner
    });
    let own = steal_half(&stealer);
    drop(pusher.join().unwrap());
    drop(own);
}

/// crossbeam 855. All interleavings are explored.
#[test]
fn the_owner_pushes_to_a_slot_that_was_stolen() {
    model::check(push_to_stolen_slots::<2>);
}

/// As above; one of the items is moved to the stealer's queue. All interleavings are explored.
#[test]
fn the_owner_pushes_to_slots_that_were_moved() {
    model::check(push_to_stolen_slots::<4>);
}

/// As above, with a steal of a single item. All interleavings are explored.
#[test]
fn the_owner_pushes_to_a_slot_that_was_stolen_alone() {
    model::check(|| {
        let (owner, stealer) = local::new::<Item, 2>();
        for index in 0..2 {
            owner.try_push(item(index)).unwrap();
        }
        let stealing = thread::spawn(move || stealer.steal());
        let _ = owner.pop();
        for index in 2..4 {
            let _ = owner.try_push(item(index));
        }
        let stolen = stealing.join().unwrap();
        assert!(stolen.is_none_or(|(low, n, m)| u64::from(low) == n && n == m));
    });
}

/// A steal into `b` writes slots that a stealer of `b` may still read. All interleavings are
/// explored.
#[test]
fn a_steal_writes_to_a_slot_that_was_stolen() {
    model::check(|| {
        let (a, from_a) = local::new::<Item, 4>();
        let (b, from_b) = local::new::<Item, 4>();
        for index in 0..4 {
            b.try_push(item(index)).unwrap();
        }
        // The second of these items is moved into the slot of the first stolen item.
        for index in 0..3 {
            a.try_push(item(index)).unwrap();
        }
        let stealing = thread::spawn(move || {
            // `b` has room if the stealer of `b` has finished.
            let _ = from_a.steal_into(&b, |n| n.div_ceil(2));
            b
        });
        let own = steal_half(&from_b);
        drop(stealing.join().unwrap());
        drop((own, a));
    });
}

/// The owner pushes into a slot that one stealer has read, because the word of a later stealer says
/// that the slot is free. Bounded at three preemptions.
#[test]
fn a_stealer_publishes_the_reads_of_earlier_stealers() {
    Model::new().preemptions(3).check(|| {
        let (owner, stealer) = local::new::<Item, 2>();
        for index in 0..2 {
            owner.try_push(item(index)).unwrap();
        }
        let other = {
            let stealer = stealer.clone();
            thread::spawn(move || steal_half(&stealer))
        };
        let pusher = thread::spawn(move || {
            let _ = owner.try_push(item(0));
            owner
        });
        let own = steal_half(&stealer);
        drop(other.join().unwrap());
        drop(pusher.join().unwrap());
        drop(own);
    });
}

/// A gate that is opened once and that threads wait at.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let mut open = self.0.lock();
        while !*open {
            open = self.1.wait(open);
        }
    }
}

/// The owner uses nearly all indices (a model has sixteen) while the stealer is between its load of
/// the head and its mark. Then the index that the stealer marks first seems to be behind its claim.
/// Only the mark that it moves to the claim keeps the owner from the claimed slot. Bounded at two
/// preemptions.
#[test]
fn a_claim_is_marked_at_its_start_after_the_indices_wrapped() {
    const PUSHES: usize = 18;
    Model::new().preemptions(2).branches(10_000).check(|| {
        let (owner, stealer) = local::new::<Item, 4>();
        owner.try_push(item(0)).unwrap();
        let (begins, claims) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let stealing = {
            let (begins, claims) = (begins.clone(), claims.clone());
            thread::spawn(move || {
                let (own, _) = local::new();
                begins.open();
                let calls = std::cell::Cell::new(0);
                let _ = stealer.steal_into(&own, |_| {
                    calls.set(calls.get() + 1);
                    if calls.get() == 2 {
                        claims.open();
                    }
                    1
                });
                claims.open();
                own
            })
        };
        begins.wait();
        model::stop_exploring();
        // Three items remain, in the slots 3, 0 and 1. The loop ends earlier if the stealer is not
        // between its load and its mark.
        for index in 1..PUSHES {
            if index >= 3 {
                let _ = owner.pop();
            }
            if owner.try_push(item(index % 4)).is_err() {
                break;
            }
        }
        model::explore();
        claims.wait();
        for index in PUSHES..PUSHES + 2 {
            if owner.try_push(item(index % 4)).is_err() {
                break;
            }
        }
        drop(stealing.join().unwrap());
        drop(owner);
    });
}

/// A steal writes into a queue behind the room that it has counted, where another stealer reads.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_slot_written_while_it_is_read_is_caught() {
    model::check(|| {
        let (a, from_a) = local::new::<Item, 4>();
        let (b, from_b) = local::new::<Item, 4>();
        for index in 0..3 {
            a.try_push(item(index)).unwrap();
        }
        b.try_push(item(0)).unwrap();
        let stealing = thread::spawn(move || drop(steal_half(&from_b)));
        let fill = || while b.try_push(item(0)).is_ok() {};
        // SAFETY: none; the model must notice it.
        drop(unsafe { from_a.steal_into_with(&b, |_| 2, fill) });
        stealing.join().unwrap();
    });
}
