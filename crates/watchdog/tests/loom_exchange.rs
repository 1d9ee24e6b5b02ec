//! Models of the exchange of a sample. The handler is a thread.
#![cfg(raddle_loom)]

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_watchdog::exchange::Exchange;

/// Both words are the start of the request.
type Sample = [usize; 2];

fn answer(exchange: &Exchange<Sample>) {
    exchange.answer(|addresses, sample| {
        assert_eq!(addresses.end, addresses.start + 10, "a request in halves");
        *sample = [addresses.start; 2];
    });
}

/// Asks once, and reads what is there by then.
fn ask(exchange: &Exchange<Sample>, start: usize) -> Option<usize> {
    let request = exchange.request(start..start + 10)?;
    request.read(|sample| {
        assert_eq!(*sample, [start; 2], "the answer to another request");
        sample[0]
    })
}

/// The asking thread gives up at any moment, and asks again. Complete.
#[test]
fn a_request_is_answered_whole_or_given_up() {
    model::check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let handler = Arc::clone(&exchange);
        let answering = thread::spawn(move || answer(&handler));
        ask(&exchange, 1);
        answering.join().unwrap();
        // No state is left behind that stops the next request.
        let request = exchange.request(2..12).expect("the exchange is idle");
        answer(&exchange);
        assert_eq!(request.read(|sample| sample[1]), Some(2));
    });
}

/// Two signals arrive on two threads, one of them late. Bounded at three switches.
#[test]
fn a_late_signal_answers_no_other_request() {
    Model::new().preemptions(3).check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let handlers = [0; 2].map(|_| {
            let exchange = Arc::clone(&exchange);
            thread::spawn(move || answer(&exchange))
        });
        ask(&exchange, 1);
        ask(&exchange, 2);
        for handler in handlers {
            handler.join().unwrap();
        }
        assert!(exchange.request(3..13).is_some());
    });
}

/// Two threads ask at the same time. Bounded at three switches.
#[test]
fn two_threads_that_ask_do_not_share_a_sample() {
    Model::new().preemptions(3).check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let (handler, other) = (Arc::clone(&exchange), Arc::clone(&exchange));
        let answering = thread::spawn(move || answer(&handler));
        let asking = thread::spawn(move || ask(&other, 1));
        ask(&exchange, 2);
        asking.join().unwrap();
        answering.join().unwrap();
        assert!(exchange.request(3..13).is_some());
    });
}

/// The sample is read before it is written.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_sample_that_is_read_too_early_is_caught() {
    model::check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let handler = Arc::clone(&exchange);
        let request = exchange.request(1..11);
        let answering = thread::spawn(move || answer(&handler));
        exchange.read_unchecked(|sample| assert_eq!(sample[0], sample[1]));
        answering.join().unwrap();
        drop(request);
    });
}
