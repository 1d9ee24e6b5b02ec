//! Tests of what executors and resources may rely on.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use raddle_leaf::coop::{
    budget, consume_budget, cooperative, has_budget_remaining, is_limited, poll_proceed,
    unconstrained, unlimited,
};
use raddle_testing::Wakes;

const BUDGET: usize = 128;

/// Takes and spends units until the budget is empty or `limit` is reached, and returns their
/// number.
fn spend(cx: &mut Context<'_>, limit: usize) -> usize {
    (0..limit)
        .take_while(|_| match poll_proceed(cx) {
            Poll::Ready(coop) => {
                coop.made_progress();
                true
            }
            Poll::Pending => false,
        })
        .count()
}

#[test]
fn an_always_ready_resource_yields_after_128_and_is_woken() {
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);

    for round in 1..=3 {
        budget(|| {
            assert_eq!(spend(&mut cx, BUDGET), BUDGET);
            assert!(!has_budget_remaining());
            assert_eq!(
                wakes.get(),
                round - 1,
                "the task is woken only when a unit is refused"
            );
            assert!(poll_proceed(&mut cx).is_pending());
            assert_eq!(wakes.get(), round);
        });
    }
}

#[test]
fn a_nested_budget_is_full_and_restores_the_outer_one() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        assert_eq!(spend(&mut cx, 100), 100);
        budget(|| assert_eq!(spend(&mut cx, 1000), BUDGET));
        assert_eq!(spend(&mut cx, 1000), BUDGET - 100);
        budget(|| assert!(has_budget_remaining()));
        assert!(!has_budget_remaining());
    });
    assert_eq!(spend(&mut cx, 1000), 1000);
}

#[test]
fn unwinding_restores_the_outer_budget() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        assert_eq!(spend(&mut cx, 28), 28);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            budget(|| {
                let mut cx = Context::from_waker(Waker::noop());
                spend(&mut cx, 1000);
                panic!("expected by this test");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(spend(&mut cx, 1000), 100);

        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut cx = Context::from_waker(Waker::noop());
            let future = pin!(unconstrained(async { panic!("expected by this test") }));
            let _: Poll<()> = future.poll(&mut cx);
        }));
        assert!(panicked.is_err());
        assert!(!has_budget_remaining());
    });
    assert!(has_budget_remaining());
}

#[test]
fn outside_a_budget_nothing_is_counted() {
    let mut cx = Context::from_waker(Waker::noop());
    assert!(has_budget_remaining());
    assert_eq!(spend(&mut cx, 10_000), 10_000);
    // A unit that is returned outside a budget does not start a budget.
    drop(poll_proceed(&mut cx));
    assert_eq!(spend(&mut cx, 10_000), 10_000);
}

#[test]
fn polls_are_limited_inside_budget_and_not_inside_unlimited() {
    let mut cx = Context::from_waker(Waker::noop());
    assert!(!is_limited());
    budget(|| {
        assert!(is_limited());
        spend(&mut cx, 1000);
        assert!(
            is_limited(),
            "a poll is limited even if its budget is empty"
        );
        unlimited(|| {
            assert!(!is_limited());
            budget(|| assert!(is_limited()));
        });
        assert!(is_limited());
    });
    assert!(!is_limited());
}

#[test]
fn a_unit_without_progress_is_returned() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        for _ in 0..1000 {
            assert!(poll_proceed(&mut cx).is_ready());
        }
        assert_eq!(spend(&mut cx, 1000), BUDGET);
    });
}

#[test]
fn returning_a_unit_keeps_the_charges_of_others() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        let Poll::Ready(outer) = poll_proceed(&mut cx) else {
            panic!("a fresh budget is not empty");
        };
        assert_eq!(spend(&mut cx, 27), 27);
        drop(outer);
        assert_eq!(spend(&mut cx, 1000), 101);
    });
}

#[test]
fn a_unit_that_is_returned_after_its_poll_is_not_added_to_another_budget() {
    let mut cx = Context::from_waker(Waker::noop());
    let unit = budget(|| poll_proceed(&mut cx));
    budget(|| {
        drop(unit);
        assert_eq!(spend(&mut cx, 1000), BUDGET);
    });

    let unit = budget(|| poll_proceed(&mut cx));
    drop(unit);
    assert_eq!(spend(&mut cx, 1000), 1000);
}

#[test]
fn unconstrained_is_not_limited_and_charges_nothing_to_its_task() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        assert_eq!(spend(&mut cx, 100), 100);
        let mut future = pin!(unconstrained(poll_fn(|cx| {
            assert_eq!(spend(cx, 1000), 1000);
            // A task that a nested executor polls here has a budget of its own.
            budget(|| assert_eq!(spend(cx, 1000), BUDGET));
            Poll::Ready(())
        })));
        assert!(future.as_mut().poll(&mut cx).is_ready());
        assert_eq!(spend(&mut cx, 1000), 28);
    });
}

#[test]
fn consume_budget_yields_once_it_is_used_up() {
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);

    let mut future = pin!(async {
        for _ in 0..300 {
            consume_budget().await;
        }
    });
    let mut polls = 1;
    while budget(|| future.as_mut().poll(&mut cx)).is_pending() {
        assert_eq!(wakes.get(), polls);
        polls += 1;
    }
    assert_eq!(polls, 3);
}

#[test]
fn each_thread_has_its_own_budget() {
    let mut cx = Context::from_waker(Waker::noop());
    budget(|| {
        spend(&mut cx, 1000);
        let other = raddle_primitives::thread::spawn(|| {
            spend(&mut Context::from_waker(Waker::noop()), 1000)
        });
        assert_eq!(other.join().unwrap(), 1000);
    });
}

#[test]
fn a_cooperative_future_is_charged_when_it_is_ready() {
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    budget(|| {
        assert!(
            pin!(cooperative(std::future::pending::<()>()))
                .poll(&mut cx)
                .is_pending()
        );
        for number in 0..BUDGET {
            let ready = pin!(cooperative(std::future::ready(number)));
            assert_eq!(ready.poll(&mut cx), Poll::Ready(number));
        }
        assert!(!has_budget_remaining());
        assert_eq!(wakes.get(), 0);
        let not_polled = pin!(cooperative(poll_fn(|_| -> Poll<()> {
            panic!("no budget is left")
        })));
        assert!(not_polled.poll(&mut cx).is_pending());
        assert_eq!(wakes.get(), 1);
    });
}

/// An executor inside a task polls a future until it is ready, without a return to the task's own
/// executor.
#[test]
fn a_foreign_block_on_inside_a_poll_ends() {
    for nested in [false, true] {
        budget(|| {
            let mut operations = pin!(async {
                for _ in 0..10_000 {
                    match nested {
                        // It has a unit left when the inner one is refused.
                        true => cooperative(consume_budget()).await,
                        false => consume_budget().await,
                    }
                }
            });
            let (wakes, waker) = Wakes::new();
            let mut cx = Context::from_waker(&waker);
            let mut polls = 0;
            while operations.as_mut().poll(&mut cx).is_pending() {
                polls += 1;
                assert_eq!(wakes.get(), polls, "a refused operation wakes");
                assert!(polls < 30_000, "the poll gets no budget");
            }
        });
    }
}

/// Each of many futures of one task is refused once in a poll of the task.
#[test]
fn a_poll_of_many_futures_does_work_in_proportion_to_their_number() {
    let mut cx = Context::from_waker(Waker::noop());
    for futures in [1, 10, 100, 1_000, 10_000] {
        let operations = budget(|| {
            let poll_until_refused = |_| spend(&mut cx, usize::MAX);
            (0..futures).map(poll_until_refused).sum::<usize>()
        });
        assert!(operations <= BUDGET + futures, "{operations} of {futures}");
        if futures < 100 {
            assert_eq!(operations, BUDGET);
        }
    }
}
