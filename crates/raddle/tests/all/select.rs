//! `select!`: which branch is chosen, and how the other futures are dropped.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

use crate::common::{Live, panic_message};
use raddle::io::{AsyncReadExt, AsyncWriteExt, duplex};
use raddle::runtime::Builder;
use raddle::select;
use raddle::task::coop::{consume_budget, has_budget_remaining};

fn block_on<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Polls `future` once, with a full budget.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Is pending at its first poll, and wakes itself.
async fn later<T>(value: T) -> T {
    raddle::task::yield_now().await;
    value
}

#[test]
fn the_first_ready_branch_is_the_result() {
    block_on(async {
        for _ in 0..50 {
            let number = select! {
                number = later(1) => number,
                number = ready(2) => number,
                _ = pending::<()>() => 3,
            };
            assert_eq!(number, 2);
        }
        // One branch, and no comma.
        assert_eq!(select!(x = ready(4) => x), 4);
    });
}

#[test]
fn handlers_are_blocks_or_expressions() {
    block_on(async {
        let mut seen = Vec::new();
        for turn in 0..5 {
            let text = select! {
                biased;
                _ = ready(()), if turn == 0 => { "block" }
                _ = ready(()), if turn == 1 => { "block and comma" },
                _ = ready(()), if turn == 2 => match turn { 2 => "match", _ => "" },
                _ = async {}, if turn == 3 => { later("await").await }
                else => "else",
            };
            seen.push(text);
        }
        let expected = ["block", "block and comma", "match", "await", "else"];
        assert_eq!(seen, expected);
        assert_eq!(select! { else => 1 }, 1);
        assert_eq!(select! { else => { 1 } }, 1);
    });
}

#[test]
fn a_pattern_that_does_not_match_disables_its_branch() {
    block_on(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let unwanted = Live::new(&dropped);
        let number = select! {
            biased;
            None = async { Some(unwanted) } => 1,
            Ok(number) | Err(number) = ready(Err::<i32, i32>(2)) => number,
        };
        assert_eq!(number, 2);
        assert_eq!(
            dropped.load(SeqCst),
            0,
            "a value that does not match is dropped"
        );

        // Each kind of binding, including those of values that are not `Copy`.
        let text = select! {
            biased;
            (Some(mut first), ref second @ Some(_)) = ready((None::<String>, Some("x".to_owned())))
                => { first.push_str(second.as_ref().unwrap()); first }
            (Some(mut first), ref second) = later((Some("a".to_owned()), "b".to_owned()))
                => { first.push_str(second); first }
            ref mut text = pending::<String>() => std::mem::take(text),
            Pair { left: all @ 1..=2, .. } = pending() => all.to_string(),
        };
        assert_eq!(text, "ab");
    });
}

struct Pair {
    left: u32,
    #[expect(dead_code, reason = "the pattern leaves it out")]
    right: u32,
}

#[test]
fn conditions_are_evaluated_once_and_futures_always() {
    block_on(async {
        let asked = Cell::new(0);
        let made = Cell::new(0);
        let make = |value| {
            made.set(made.get() + 1);
            ready(value)
        };
        let ask = |answer| {
            asked.set(asked.get() + 1);
            answer
        };
        let number = select! {
            number = make(1), if ask(false) => number,
            number = make(2), if ask(true) && !ask(false) => number,
            number = make(3), if ask(false) => number,
        };
        assert_eq!((number, asked.get(), made.get()), (2, 4, 3));
    });
}

#[test]
fn else_runs_when_all_branches_are_disabled() {
    block_on(async {
        let mut received = Vec::new();
        let (mut one, mut two) = (vec![1, 2].into_iter(), vec![3].into_iter());
        loop {
            select! {
                Some(number) = later(one.next()) => received.push(number),
                Some(number) = later(two.next()) => received.push(number),
                else => break,
            }
        }
        assert!(!received.is_empty());
    });
}

#[test]
fn all_branches_disabled_without_else_panics() {
    let message = panic_message(|| {
        block_on(async {
            select! {
                _ = ready(()), if false => {}
                Some(()) = ready(None) => {}
            }
        });
    });
    assert_eq!(
        message,
        "every branch of select! is disabled; add an else branch"
    );
}

#[test]
fn a_biased_select_polls_in_order() {
    block_on(async {
        for _ in 0..50 {
            let order = RefCell::new(Vec::new());
            let note = |number| {
                let order = &order;
                poll_fn(move |_| {
                    order.borrow_mut().push(number);
                    if number == 3 {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
            };
            select! {
                biased;
                () = note(1) => unreachable!(),
                () = note(2) => unreachable!(),
                () = note(3) => {}
                () = note(4) => unreachable!(),
            }
            assert_eq!(order.into_inner(), [1, 2, 3]);
        }
    });
}

#[test]
fn each_branch_is_polled_first_at_times() {
    block_on(async {
        let mut counts = [0; 3];
        for _ in 0..600 {
            let branch = select! {
                _ = ready(()) => 0,
                _ = ready(()) => 1,
                _ = ready(()) => 2,
            };
            counts[branch] += 1;
        }
        // The mean is 200 each; fewer than 50 is practically impossible.
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    });
}

#[test]
fn handlers_may_break_continue_and_return() {
    async fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
        let mut rounds = 0;
        'outer: loop {
            rounds += 1;
            for _ in 0..2 {
                select! {
                    biased;
                    _ = ready(()), if rounds == 1 => continue 'outer,
                    _ = ready(()), if rounds == 2 => break,
                    _ = ready(()), if rounds == 3 => rounds += 1,
                    number = async { text.parse::<u32>() } => return Ok(number? + rounds),
                }
            }
        }
    }
    block_on(async {
        assert_eq!(parse("7").await, Ok(11));
        parse("seven").await.unwrap_err();
        // `?` also works in the expression of a future.
        let result: Result<(), std::num::ParseIntError> = async {
            select! {
                _ = ready("x".parse::<u32>()?) => {}
            }
            Ok(())
        }
        .await;
        result.unwrap_err();
    });
}

#[test]
fn branches_and_handlers_may_borrow_the_same_values() {
    block_on(async {
        let mut log = String::from("log");
        let mut count = 0;
        for _ in 0..4 {
            select! {
                length = async { log.len() } => { log.push('x'); count += length; }
                empty = async { log.is_empty() } => { log.push('y'); count += usize::from(empty); }
            }
        }
        assert_eq!(log.len(), 7);
        assert!(count <= 18);
        let output = select! {
            text = async { &log } => text.clone(),
            // A temporary value lives as long as the futures.
            text = &mut ready(String::from("other")) => text,
        };
        assert!(output.starts_with("log") || output == "other");
    });
}

#[test]
fn the_other_futures_are_dropped_before_the_handler() {
    block_on(async {
        let count = Arc::new(AtomicUsize::new(0));
        let live = Live::new(&count);
        let alive = select! {
            () = async { let _live = live; pending().await } => unreachable!(),
            _ = later(()) => count.load(SeqCst),
        };
        assert_eq!(alive, 0);
    });
}

#[test]
fn dropping_a_select_drops_its_futures_and_loses_nothing_cancel_safe() {
    block_on(async {
        let (mut near, mut far) = duplex(8);
        let mut buf = [0; 4];
        for round in 0..20_u8 {
            {
                let mut ignored = [0; 4];
                let select = async {
                    select! {
                        read = far.read(&mut ignored) => read.unwrap(),
                        () = pending() => unreachable!(),
                    }
                };
                assert!(poll_once(select).is_pending());
            }
            near.write_all(&[round]).await.unwrap();
            assert_eq!(far.read(&mut buf).await.unwrap(), 1);
            assert_eq!(buf[0], round);
        }
    });
}

#[test]
fn a_future_may_be_polled_again_in_the_next_select() {
    block_on(async {
        let slow = async {
            for _ in 0..3 {
                raddle::task::yield_now().await;
            }
            7
        };
        raddle::pin!(slow);
        let mut rounds = 0;
        let number = loop {
            select! {
                biased;
                number = &mut slow => break number,
                _ = later(()) => rounds += 1,
            }
        };
        assert_eq!(number, 7);
        assert!(rounds > 0);
    });
}

#[test]
fn a_select_without_budget_polls_nothing_and_yields() {
    block_on(async {
        while has_budget_remaining() {
            consume_budget().await;
        }
        let polled = Cell::new(false);
        let mut select = pin!(async {
            select! {
                // This future does not consume budget.
                () = poll_fn(|_| { polled.set(true); Poll::Ready(()) }) => {}
            }
        });
        let first = poll_fn(|cx| Poll::Ready(select.as_mut().poll(cx))).await;
        assert!(first.is_pending() && !polled.get());
        select.await;
        assert!(polled.get());
    });
}

#[test]
fn a_select_may_have_64_branches() {
    macro_rules! select_many {
        ($($number:literal)*) => {
            select! { $(number = ready($number), if $number == wanted() => number,)* }
        };
    }
    thread_local! { static WANTED: Cell<u32> = const { Cell::new(0) }; }
    fn wanted() -> u32 {
        WANTED.get()
    }
    block_on(async {
        for wanted in [1, 2, 32, 63, 64] {
            WANTED.set(wanted);
            let number = select_many! {
                1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
                33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
                62 63 64
            };
            assert_eq!(number, wanted);
        }
    });
}

#[test]
fn names_of_the_macro_are_hygienic() {
    block_on(async {
        let (disabled, output, futures, future0, value, cx) = (1, 2, 3, 4, 5, 6);
        let sum = select! {
            waiting = ready(disabled + futures + future0) => waiting + output + value + cx,
            start = pending::<i32>(), if value == 5 => start,
        };
        assert_eq!(sum, 21);
        // One `select!` inside another.
        let number = select! {
            number = async { select! { x = later(1) => x, y = ready(2) => y } } => {
                select! { x = ready(number) => x + 1, _ = pending::<()>() => 0 }
            }
        };
        assert_eq!(number, 3);
    });
}

#[test]
fn a_select_of_send_futures_is_send() {
    fn check<T: Send>(_: &T) {}
    let future = async {
        select! {
            _ = later(1) => {}
            Some(()) = later(None) => {}
            else => {}
        }
    };
    check(&future);
}

#[raddle::test]
async fn a_disabled_branch_that_only_panics_compiles_without_a_type() {
    let panics = std::future::poll_fn(|_| panic!("its branch is disabled"));
    raddle::select! {
        _ = panics, if false => unreachable!(),
        () = async {} => {}
    }
}

/// Wrappers pass each part of a branch as a fragment, which the macro sees as one token.
#[test]
fn a_macro_may_pass_the_parts_of_a_branch_as_fragments() {
    macro_rules! with_expressions {
        ($pattern:pat = $future:expr, if $condition:expr => $handler:expr, else => $other:expr) => {
            select! {
                $pattern = $future, if $condition => $handler,
                else => $other,
            }
        };
    }
    macro_rules! last_expression {
        ($name:ident, $future:expr, $handler:expr) => {
            select! { $name = $future => $handler }
        };
    }
    macro_rules! with_blocks {
        ($first:block, $second:block) => {
            select! {
                _ = pending::<()>() => $first
                _ = pending::<()>(), if false => $first,
                1 | 2 = ready(2) => $second
            }
        };
    }
    macro_rules! biased_among {
        ($($future:expr => $handler:expr),+ $(,)?) => {
            select! { biased; $(number = $future => { let _ = number; $handler },)+ }
        };
    }
    macro_rules! literals_and_paths {
        ($pattern:literal, $future:path, $type:ty, $handler:literal, $lifetime:lifetime) => {
            $lifetime: loop {
                select! {
                    $pattern = $future(1) => { let number: $type = $handler; break $lifetime number },
                    else => $handler,
                };
            }
        };
    }
    block_on(async {
        let doubled = with_expressions!(Some(x) = ready(Some(2)), if 1 < 2 => x * 2, else => 0);
        assert_eq!(doubled, 4);
        let other = with_expressions!(_ = pending::<()>(), if false => 1, else => { 2 } + 1);
        assert_eq!(other, 3);
        assert_eq!(
            with_expressions!((x, _) = ready((1, 2)), if true => { x }, else => 0),
            1
        );
        assert_eq!(
            last_expression!(x, ready(3), if x == 3 { "three" } else { "other" }),
            "three"
        );
        assert_eq!(with_blocks!({ 1 }, { 2 }), 2);
        assert_eq!(biased_among!(pending::<u8>() => 1, ready(2) => 2 + 1), 3);
        assert_eq!(literals_and_paths!(1, ready, u8, 7, 'outer), 7);
    });
}

/// A caller may have items with any names that are not reserved, and macros of the same names as
/// those of the standard library.
mod hostile_scope {
    #![allow(
        dead_code,
        unused_macros,
        unused_imports,
        clippy::wrong_self_convention,
        non_upper_case_globals,
        non_camel_case_types,
        reason = "the names are those that the macros use, or could use"
    )]

    use ::std::assert_eq;
    use ::std::future::ready as future_of;
    use ::std::prelude::v1::test;

    use ::raddle::{join, select, try_join};

    const disabled: &str = "a constant";
    const futures: &str = "a constant";
    const output: &str = "a constant";
    const start: &str = "a constant";
    static turn: &str = "a static";
    static cx: &str = "a static";
    static waiting: &str = "a static";
    static next_start: &str = "a static";
    struct polled;
    struct value;
    struct matches;
    struct enabled;
    struct error;
    struct body;
    enum Variants {
        Ready,
        Pending,
        Ok,
        Err,
        Some,
        None,
        Else,
        Branch0,
    }
    use Variants::*;
    struct Poll;
    struct Pin;
    struct Context;
    struct Result;
    struct Option;
    trait Future {}
    trait IntoFuture {}
    type u8 = str;
    type u32 = str;
    type usize = str;
    type bool = str;
    mod core {}
    mod std {}
    mod raddle {}
    mod support {}
    fn poll_fn() {}
    fn random_below() {}
    macro_rules! panic {
        ($($any:tt)*) => {
            compile_error!("a macro of the caller")
        };
    }
    macro_rules! unreachable {
        ($($any:tt)*) => {
            compile_error!("a macro of the caller")
        };
    }
    macro_rules! pin {
        ($($any:tt)*) => {
            compile_error!("a macro of the caller")
        };
    }
    trait TakesAnything: Sized {
        fn as_mut(self) {}
        fn is_pending(self) {}
        fn is_ready(self) {}
        fn part0(self) {}
        fn part1(self) {}
        fn poll_done(self) {}
        fn take_output(self) {}
        fn take_error(self) {}
        fn take_ok(self) {}
        fn into_future(self) {}
        fn poll(self) {}
    }
    impl<T> TakesAnything for T {}

    #[::raddle::test]
    async fn the_macros_use_no_item_of_the_caller() {
        for _ in 0..10 {
            let number = select! {
                1 = future_of(2) => 1,
                number = future_of(2), if true => number,
                else => 3,
            };
            assert_eq!(number, 2);
        }
        assert_eq!(select!(biased; text = future_of("text") => text), "text");
        assert_eq!(join!(future_of(1)), (1,));
        assert_eq!(join!(future_of(1), future_of("two")), (1, "two"));
        type Outcome<T> = ::std::result::Result<T, &'static str>;
        let (one, two): (Outcome<i32>, Outcome<i32>) = (Outcome::Ok(1), Outcome::Ok(2));
        assert_eq!(
            try_join!(future_of(one), future_of(two)),
            Outcome::Ok((1, 2))
        );
        let failed: Outcome<i32> = Outcome::Err("failed");
        assert_eq!(
            try_join!(biased; future_of(one), future_of(failed)),
            Outcome::Err("failed")
        );
    }

    #[::raddle::main(flavor = "current_thread")]
    async fn answer(number: i32) -> i32 {
        number + 1
    }

    #[test]
    fn the_attributes_use_no_item_of_the_caller() {
        assert_eq!(answer(1), 2);
    }
}
