//! The counting build counts the operations of known programs.
//!
//! These tests need a process of their own, since all its threads write to one ledger.
#![cfg(raddle_count)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use raddle_primitives::counting::{self, Entry, Kind, Operations};
use raddle_primitives::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst, fence,
};
use raddle_primitives::sync::{Arc, Condvar, Mutex as Counted, Rank, RwLock};
use raddle_primitives::{CachePadded, Count, count_event, named, thread};

/// All tests share one ledger, so only one may run at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    counting::act_as(counting::OUTSIDE);
    counting::reset();
    alone
}

fn entry(name: &str) -> Entry {
    let mut report = counting::report().into_iter();
    let entry = report.find(|entry| entry.name == name);
    entry.unwrap_or_else(|| panic!("nothing is counted under {name}"))
}

/// Settles into phase 0, where these tests count, and returns the count.
fn counted(name: &str) -> Operations {
    counting::settle(0);
    entry(name).phases[0]
}

#[test]
fn each_operation_of_a_word_is_counted_by_its_kind() {
    let _alone = alone();
    let word = named("word", AtomicUsize::new(1));
    word.load(Relaxed);
    word.store(2, Relaxed);
    word.swap(3, Relaxed);
    word.fetch_add(1, Relaxed);
    assert_eq!(word.compare_exchange(4, 5, Relaxed, Relaxed), Ok(4));
    assert_eq!(word.compare_exchange_weak(4, 5, Relaxed, Relaxed), Err(5));
    // Each call is a load and an exchange.
    assert_eq!(
        word.fetch_update(Relaxed, Relaxed, |value| Some(value + 1)),
        Ok(5)
    );
    let expected = Operations {
        loads: 2,
        stores: 1,
        read_modify_writes: 5,
        ..Operations::default()
    };
    assert_eq!(counted("word"), expected);
    assert_eq!(expected.writes(), 6);
}

#[test]
fn words_of_all_types_are_counted() {
    let _alone = alone();
    let flag = named("flag", AtomicBool::new(false));
    assert!(!flag.fetch_or(true, Relaxed));
    let pointer = named("pointer", AtomicPtr::new(std::ptr::null_mut::<u8>()));
    assert!(pointer.load(Relaxed).is_null());
    let count = CachePadded::new(named("count", Count::new(7)));
    count.add(1);
    assert_eq!(count.get(), 8);
    fence(SeqCst);
    count_event("attempt");
    assert_eq!(counted("flag").read_modify_writes, 1);
    assert_eq!(counted("pointer").loads, 1);
    let count = counted("count");
    assert_eq!((count.loads, count.stores), (2, 1));
    assert_eq!(counted("fence").events, 1);
    assert_eq!(counted("attempt").events, 1);
    assert_eq!(entry("attempt").kind, Kind::Event);
}

#[test]
fn a_lock_has_the_name_of_its_rank_and_counts_acquisitions() {
    let _alone = alone();
    let ranked = Counted::ranked(Rank::leaf("ranked"), 0);
    let unranked = named("unranked", Counted::new(0));
    let shared = named("shared", RwLock::new(0));
    for _ in 0..3 {
        *ranked.lock() += 1;
    }
    {
        let _held = unranked.lock_unordered();
        assert!(unranked.try_lock().is_none());
    }
    assert!(unranked.try_lock().is_some());
    drop(shared.read());
    drop(shared.write());
    assert_eq!(counted("ranked").locks, 3);
    let unranked = counted("unranked");
    assert_eq!((unranked.locks, unranked.read_modify_writes), (2, 1));
    assert_eq!(counted("shared").locks, 2);
}

#[test]
fn a_wait_for_a_condition_variable_is_an_event() {
    let _alone = alone();
    let condvar = Arc::new(Condvar::new());
    let is_set = Arc::new(Counted::new(false));
    let (guard, has_timed_out) = condvar.wait_timeout(is_set.lock(), Duration::ZERO);
    assert!(!*guard && has_timed_out);
    drop(guard);
    let mut guard = is_set.lock();
    let setter = thread::spawn({
        let (condvar, is_set) = (condvar.clone(), is_set.clone());
        move || {
            *is_set.lock() = true;
            condvar.notify_all();
        }
    });
    let mut waits = 1;
    while !*guard {
        guard = condvar.wait(guard);
        waits += 1;
    }
    drop(guard);
    setter.join().unwrap();
    assert!(waits > 1);
    assert_eq!(counted("wait for a condition variable").events, waits);
}

#[test]
fn references_are_counted_as_operations_on_a_word() {
    let _alone = alone();
    let first = named("references", Arc::new(5));
    let second = first.clone();
    let raw = Arc::into_raw(second);
    // SAFETY: `raw` owns the reference of `second`, which `into_raw` gave up.
    let second = unsafe {
        Arc::increment_strong_count(raw);
        drop(Arc::from_raw(raw));
        Arc::from_raw(raw)
    };
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!((*second, Arc::as_ptr(&first)), (5, raw));
    drop((first, second));
    // One clone, one increment and three drops.
    assert_eq!(counted("references").read_modify_writes, 5);
}

#[test]
fn an_unnamed_word_is_counted_under_the_line_that_creates_it() {
    let _alone = alone();
    let place = format!("{}:{}", file!(), line!() + 1);
    let words: [AtomicUsize; 2] = std::array::from_fn(|_| AtomicUsize::new(0));
    words[0].load(Relaxed);
    words[1].load(Relaxed);
    counting::settle(0);
    let entry = entry(&place);
    assert_eq!((entry.kind, entry.made), (Kind::Unnamed, 2));
    assert_eq!(entry.phases[0].loads, 2);
}

#[test]
fn operations_count_for_the_phase_of_the_next_settle() {
    let _alone = alone();
    let word = named("phased", AtomicUsize::new(0));
    word.store(1, Relaxed);
    counting::settle(3);
    word.load(Relaxed);
    word.load(Relaxed);
    counting::settle(4);
    word.load(Relaxed);
    let phases = entry("phased").phases;
    assert_eq!((phases[3].stores, phases[3].loads), (1, 0));
    assert_eq!((phases[4].stores, phases[4].loads), (0, 2));
    counting::reset();
    counting::settle(5);
    let nothing = [Operations::default(); counting::PHASES];
    assert_eq!(entry("phased").phases, nothing);
}

#[test]
fn accessing_a_word_that_another_actor_holds_is_a_transfer() {
    let _alone = alone();
    let word = named("moving", AtomicUsize::new(0));
    let transfers = |actor, writes: bool| {
        counting::act_as(actor);
        match writes {
            true => word.store(0, Relaxed),
            false => drop(word.load(Relaxed)),
        }
        let before = entry("moving").phases[0].transfers;
        counted("moving").transfers - before
    };
    // The actor that creates a word holds it.
    assert_eq!(transfers(0, true), 0);
    assert_eq!(transfers(1, false), 1);
    assert_eq!(transfers(1, false), 0);
    // Now both actors hold it. A write takes it away from the other.
    assert_eq!(transfers(0, false), 0);
    assert_eq!(transfers(0, true), 1);
    assert_eq!(transfers(0, true), 0);
    assert_eq!(transfers(1, true), 1);
    assert_eq!(entry("moving").actors, 2);
}

#[test]
fn a_shared_word_has_several_actors_and_a_word_of_one_thread_has_one() {
    const THREADS: usize = 4;
    const ADDS: usize = 1_000;
    let _alone = alone();
    let all = Arc::new(named("of all", AtomicUsize::new(0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let all = all.clone();
            thread::spawn(move || {
                counting::act_as(1 + number);
                let own = named("of one", AtomicUsize::new(0));
                for _ in 0..ADDS {
                    all.fetch_add(1, Relaxed);
                    own.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    for (name, made, actors) in [("of all", 1, THREADS), ("of one", THREADS, 1)] {
        let counted = counted(name);
        assert_eq!(counted.read_modify_writes, (THREADS * ADDS) as u64);
        let entry = entry(name);
        assert_eq!((entry.made, entry.actors), (made as u64, actors), "{name}");
    }
    assert_eq!(entry("of one").phases[0].transfers, 0);
    assert!(entry("of all").phases[0].transfers >= THREADS as u64 - 1);
}
