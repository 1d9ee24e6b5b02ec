//! Models of the place from which one job at a time takes a value (`src/serial.rs`): no waiter
//! misses the return of the value, and no request to give back is lost.

#[allow(dead_code, reason = "the crate uses more of it")]
#[path = "../../src/serial.rs"]
mod source;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Waker};

use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::thread;
use raddle_testing::block_on;
use source::{Resource, Serial};

#[derive(Default)]
struct Value {
    uses: usize,
    lost: usize,
    given_back: usize,
}

impl Resource for Value {
    fn job_lost(&mut self) {
        self.lost += 1;
    }

    fn give_back(&mut self) {
        self.given_back += 1;
    }
}

/// Waits for the value, uses it and returns it.
fn use_it(mut serial: Serial<Value>) -> usize {
    let mut taken = block_on(poll_fn(|cx| serial.poll_take(cx)));
    taken.uses += 1;
    taken.uses
}

#[test]
fn a_waiter_finds_the_value_that_a_job_returns() {
    model::check(|| {
        let serial = Serial::new(Value::default());
        let mut taken = serial.try_take().unwrap();
        taken.begin_job();
        let job = thread::spawn(move || {
            taken.uses += 1;
            taken.end_job();
        });
        assert_eq!(use_it(serial), 2);
        job.join().unwrap();
    });
}

#[test]
fn every_waiter_finds_the_value() {
    Model::new().preemptions(2).check(|| {
        let serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let other = serial.share();
        let waiter = thread::spawn(move || use_it(other));
        let job = thread::spawn(move || drop(taken));
        let uses = use_it(serial);
        assert_eq!(uses + waiter.join().unwrap(), 3);
        job.join().unwrap();
    });
}

#[test]
fn futures_take_the_value_one_after_the_other() {
    Model::new().preemptions(2).check(|| {
        let serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let other = serial.take();
        let waiter = thread::spawn(move || block_on(other).uses += 1);
        let job = thread::spawn(move || drop(taken));
        block_on(serial.take()).uses += 1;
        waiter.join().unwrap();
        job.join().unwrap();
        assert_eq!(serial.try_take().unwrap().uses, 2);
    });
}

#[test]
fn a_future_that_is_dropped_passes_its_wake_on() {
    Model::new().preemptions(2).check(|| {
        let serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let mut first = serial.take();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
        let job = thread::spawn(move || drop(taken));
        let waiter = thread::spawn(move || drop(first));
        block_on(serial.take()).uses += 1;
        waiter.join().unwrap();
        job.join().unwrap();
    });
}

#[test]
fn a_value_comes_back_from_a_job_that_is_dropped() {
    model::check(|| {
        let mut serial = Serial::new(Value::default());
        let mut taken = serial.try_take().unwrap();
        taken.begin_job();
        let job = thread::spawn(move || drop(taken));
        let taken = block_on(poll_fn(|cx| serial.poll_take(cx)));
        assert_eq!(taken.lost, 1);
        job.join().unwrap();
    });
}

#[test]
fn a_request_to_give_back_reaches_the_value_before_the_next_operation() {
    model::check(|| {
        let mut serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let job = thread::spawn(move || drop(taken));
        serial.give_back();
        let taken = block_on(poll_fn(|cx| serial.poll_take(cx)));
        assert_eq!(taken.given_back, 1);
        job.join().unwrap();
    });
}

#[test]
fn a_waiter_that_is_dropped_leaves_the_value_to_others() {
    Model::new().preemptions(2).check(|| {
        let serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let mut other = serial.share();
        let waiter = thread::spawn(move || {
            let mut cx = Context::from_waker(Waker::noop());
            drop(other.poll_take(&mut cx));
        });
        let job = thread::spawn(move || drop(taken));
        assert_eq!(use_it(serial), 1);
        waiter.join().unwrap();
        job.join().unwrap();
    });
}

/// The canary: what a job does after it has returned the value is not ordered before the next
/// operation.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_access_after_the_return_races_with_the_next_operation() {
    model::check(|| {
        let race = Race::new();
        let serial = Serial::new(Value::default());
        let taken = serial.try_take().unwrap();
        let other = race.clone();
        let job = thread::spawn(move || {
            drop(taken);
            race.first();
        });
        let waiter = thread::spawn(move || {
            use_it(serial);
            other.second();
        });
        job.join().unwrap();
        waiter.join().unwrap();
    });
}
