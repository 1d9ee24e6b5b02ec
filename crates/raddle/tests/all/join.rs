//! `join!`, `try_join!` and `pin!`.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

use crate::common::Live;
use raddle::runtime::Builder;
use raddle::task::yield_now;
use raddle::{join, try_join};

fn block_on<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

async fn later<T>(value: T) -> T {
    yield_now().await;
    value
}

#[test]
fn join_waits_for_all() {
    block_on(async {
        join!();
        assert_eq!(join!(later(1)), (1,));
        assert_eq!(join!(later(1), ready("two"), later(3),), (1, "two", 3));
        assert_eq!(join!(biased; later(1), ready("two")), (1, "two"));
        let text = String::from("shared");
        assert_eq!(join!(later(&text), later(text.len())), (&text, 6));
        // `?` inside the macro returns from the surrounding function.
        let result: Result<(), std::num::ParseIntError> = async {
            join!(ready("x".parse::<u32>()?), pending::<()>());
            Ok(())
        }
        .await;
        result.unwrap_err();
    });
}

#[test]
fn join_does_not_poll_completed_futures() {
    block_on(async {
        let polls = Cell::new(0);
        let once = poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::Ready(())
        });
        join!(once, async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert_eq!(polls.get(), 1);
    });
}

/// The order in which three futures are polled in three rounds.
fn order(join: impl AsyncFnOnce([Note<'_>; 3])) -> Vec<u32> {
    let order = RefCell::new(Vec::new());
    let notes = [1, 2, 3].map(|number| Note {
        number,
        rounds: 0,
        order: &order,
    });
    block_on(join(notes));
    order.into_inner()
}

struct Note<'a> {
    number: u32,
    rounds: u32,
    order: &'a RefCell<Vec<u32>>,
}

impl Future for Note<'_> {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.order.borrow_mut().push(self.number);
        self.rounds += 1;
        if self.rounds == 3 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[test]
fn join_rotates_the_future_polled_first_unless_biased() {
    let turns = order(async |[a, b, c]| {
        join!(a, b, c);
    });
    assert_eq!(turns, [1, 2, 3, 2, 3, 1, 3, 1, 2]);
    let biased = order(async |[a, b, c]| {
        join!(biased; a, b, c);
    });
    assert_eq!(biased, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
}

#[test]
fn a_future_that_uses_up_the_budget_does_not_starve_the_others() {
    block_on(async {
        let count = Cell::new(0);
        let other = async {
            for _ in 0..10 {
                raddle::task::coop::consume_budget().await;
                count.set(count.get() + 1);
                yield_now().await;
            }
        };
        let greedy = async {
            while count.get() < 10 {
                raddle::task::coop::consume_budget().await;
            }
        };
        join!(greedy, other);
        assert_eq!(count.get(), 10);
    });
}

#[test]
fn try_join_returns_all_outputs_or_the_first_error() {
    block_on(async {
        assert_eq!(try_join!(), Ok::<(), ()>(()));
        let both = try_join!(later(Ok::<_, ()>(1)), ready(Ok("two")),);
        assert_eq!(both, Ok((1, "two")));

        let live = Arc::new(AtomicUsize::new(0));
        let held = Live::new(&live);
        let error = try_join!(
            biased;
            async {
                let _held = held;
                pending::<Result<(), &str>>().await
            },
            later(Err::<(), _>("first")),
            async {
                later(()).await;
                Err::<(), _>("second")
            },
        );
        assert_eq!(error, Err("first"));
        assert_eq!(live.load(SeqCst), 0);
    });
}

#[test]
fn dropping_a_join_drops_futures_and_outputs() {
    let live = Arc::new(AtomicUsize::new(0));
    {
        let (future, output) = (Live::new(&live), Live::new(&live));
        let both = pin!(async {
            join!(
                async {
                    let _future = future;
                    pending::<()>().await
                },
                ready(output)
            )
        });
        assert!(
            both.poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        assert_eq!(live.load(SeqCst), 2);
    }
    assert_eq!(live.load(SeqCst), 0);
}

#[test]
fn pin_makes_a_future_that_can_be_polled_by_reference() {
    block_on(async {
        let (one, two) = (later(1), later(2));
        raddle::pin!(one, two);
        assert_eq!((one.as_mut().await, two.await), (1, 2));
        raddle::pin! {
            let three = later(3);
            let four = async { 4 };
        }
        assert_eq!(join!(three, &mut four), (3, 4));
    });
}

#[test]
fn joined_futures_can_be_sent() {
    fn check<T: Send>(_: &T) {}
    check(&async { join!(later(1), later("two")) });
    check(&async { try_join!(later(Ok::<_, ()>(1)), later(Ok("two"))) });
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_futures_of_the_macros_store_each_future_once() {
    // The bounds are Tokio's sizes.
    let joined = async { join!(ready(0_i32)) };
    assert!(size_of_val(&joined) <= 32);
    let joined = async { join!(ready(0_i32), ready(0_i32)) };
    assert!(size_of_val(&joined) <= 48);
    let joined = async { join!(biased; ready(0_i32), ready(0_i32)) };
    assert!(size_of_val(&joined) <= 40);
    let tried = async { try_join!(ready(Ok::<i32, i32>(0)), ready(Ok::<i32, i32>(0))) };
    assert!(size_of_val(&tried) <= 48);
    let selected = async {
        raddle::select! { _ = ready(0_i32) => {}, }
    };
    assert!(size_of_val(&selected) <= 32);
    let selected = async {
        raddle::select! { _ = ready(0_i32) => {}, _ = ready(0_i32) => {}, }
    };
    assert!(size_of_val(&selected) <= 40);
}

#[test]
fn join_of_more_futures_than_a_group_returns_all_outputs() {
    let output = block_on(async {
        join!(
            ready(0),
            ready(1),
            ready(2),
            ready(3),
            ready(4),
            ready(5),
            ready(6),
            ready(7),
            ready(8),
            ready(9),
            ready(10),
            ready(11),
            ready(12),
            ready(13),
            ready(14),
            async {
                yield_now().await;
                15
            },
            ready(16)
        )
    });
    let (first, .., fifteen, last) = output;
    assert_eq!((first, fifteen, last), (0, 15, 16));
}
