//! Models of the exchange of a sample, in which a thread plays the signal handler.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_watchdog::exchange::Exchange;

/// Both words have the start address of the request.
type Sample = [usize; 2];

fn answer(exchange: &Exchange<Sample>) {
    exchange.answer(|addresses, sample| {
        assert_eq!(
            addresses.end,
            addresses.start + 10,
            "the addresses of two requests"
        );
        *sample = [addresses.start; 2];
    });
}

/// Makes one request, and reads the sample if it has been written.
fn request_once(exchange: &Exchange<Sample>, start: usize) -> Option<usize> {
    let request = exchange.request(start..start + 10)?;
    request.read(|sample| {
        assert_eq!(*sample, [start; 2], "the sample of another request");
        sample[0]
    })
}

/// The requesting thread gives up at any moment, and makes a second request. All interleavings are
/// explored.
#[test]
fn a_request_is_answered_whole_or_given_up() {
    model::check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let handler = Arc::clone(&exchange);
        let answerer = thread::spawn(move || answer(&handler));
        request_once(&exchange, 1);
        answerer.join().unwrap();
        // The request that was given up does not prevent the next one.
        let request = exchange.request(2..12).expect("the exchange is idle");
        answer(&exchange);
        assert_eq!(request.read(|sample| sample[1]), Some(2));
    });
}

/// Two signals arrive on two threads, and either may be late. Bounded at three preemptions.
#[test]
fn a_late_signal_does_not_answer_another_request() {
    Model::new().preemptions(3).check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let handlers = [0; 2].map(|_| {
            let exchange = Arc::clone(&exchange);
            thread::spawn(move || answer(&exchange))
        });
        request_once(&exchange, 1);
        request_once(&exchange, 2);
        for handler in handlers {
            handler.join().unwrap();
        }
        assert!(exchange.request(3..13).is_some());
    });
}

/// Two threads make requests at the same time. Bounded at three preemptions.
#[test]
fn two_requests_at_the_same_time_do_not_share_a_sample() {
    Model::new().preemptions(3).check(|| {
        let exchange = Arc::new(Exchange::new([0; 2]));
        let (handler, other) = (Arc::clone(&exchange), Arc::clone(&exchange));
        let answerer = thread::spawn(move || answer(&handler));
        let requester = thread::spawn(move || request_once(&other, 1));
        request_once(&exchange, 2);
        requester.join().unwrap();
        answerer.join().unwrap();
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
        let answerer = thread::spawn(move || answer(&handler));
        exchange.read_unchecked(|sample| assert_eq!(sample[0], sample[1]));
        answerer.join().unwrap();
        drop(request);
    });
}
