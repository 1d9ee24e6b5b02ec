//! `JoinSet`.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::common::{Live, each_flavor, eventually, panic_message};
use raddle::task::{self, JoinSet};
use raddle::time::sleep;

#[test]
fn each_output_is_returned_once() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            assert!(set.join_next().await.is_none());
            for i in 0..1000 {
                set.spawn(async move {
                    for _ in 0..i % 3 {
                        task::yield_now().await;
                    }
                    i
                });
            }
            assert_eq!(set.len(), 1000);
            let mut outputs = Vec::new();
            while let Some(output) = set.join_next().await {
                outputs.push(output.unwrap());
            }
            outputs.sort_unstable();
            assert!(outputs.into_iter().eq(0..1000));
            assert!(set.is_empty());
        });
    });
}

#[test]
fn a_set_may_be_collected_from_and_extended_by_an_iterator() {
    each_flavor(|runtime| {
        let mut outputs = runtime.block_on(async {
            let futures = |range: std::ops::Range<u32>| range.map(|number| async move { number });
            let mut set: JoinSet<_> = futures(0..10).collect();
            set.extend(futures(10..20));
            set.join_all().await
        });
        outputs.sort_unstable();
        assert!(outputs.into_iter().eq(0..20));
    });
}

#[test]
fn tasks_are_joined_in_the_order_in_which_they_complete() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            set.spawn(async {
                pending::<()>().await;
                0
            });
            for i in 1..=10 {
                set.spawn(async move { i });
                assert_eq!(set.join_next().await.unwrap().unwrap(), i);
            }
            assert_eq!(set.len(), 1);
        });
    });
}

#[test]
fn join_errors_distinguish_ids_panics_and_aborts() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            let fine = set.spawn(async { 1 });
            let (id, output) = set.join_next_with_id().await.unwrap().unwrap();
            assert_eq!((id, output), (fine.id(), 1));

            let panics = set.spawn(async { panic!("expected by this test") });
            let error = set.join_next_with_id().await.unwrap().unwrap_err();
            assert!(error.is_panic());
            assert_eq!(error.id(), panics.id());

            let aborted = set.spawn(pending());
            aborted.abort();
            let error = set.join_next().await.unwrap().unwrap_err();
            assert!(error.is_cancelled());
            assert_eq!(error.id(), aborted.id());
        });
    });
}

#[test]
fn try_join_next_returns_completed_tasks() {
    each_flavor(|runtime| {
        let mut set = JoinSet::new();
        set.spawn_on(pending(), runtime.handle());
        set.spawn_on(async { 3 }, runtime.handle());
        runtime.block_on(async {
            let output = loop {
                match set.try_join_next() {
                    Some(output) => break output,
                    None => task::yield_now().await,
                }
            };
            assert_eq!(output.unwrap(), 3);
            assert!(set.try_join_next().is_none());
            assert_eq!(set.len(), 1);
        });
    });
}

#[test]
fn try_join_next_works_without_budget() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            let abort = set.spawn(async { 4 });
            while !abort.is_finished() {
                task::yield_now().await;
            }
            let output = poll_fn(|cx| {
                while let Poll::Ready(progress) = task::coop::poll_proceed(cx) {
                    progress.made_progress();
                }
                Poll::Ready(set.try_join_next())
            });
            assert_eq!(output.await.unwrap().unwrap(), 4);
        });
    });
}

#[test]
fn a_task_that_joins_without_end_lets_others_run() {
    // There are more ended tasks than the budget of one poll: the join must yield and then
    // continue.
    let runtime = crate::common::current_thread().build().unwrap();
    runtime.block_on(async {
        let mut set: JoinSet<_> = (0..1000).map(|i| async move { i }).collect();
        let joined = raddle::spawn(async move {
            let mut count = 0;
            while set.join_next().await.is_some() {
                count += 1;
            }
            count
        });
        assert_eq!(joined.await.unwrap(), 1000);
    });
}

#[test]
fn only_the_last_waker_is_woken() {
    each_flavor(|runtime| {
        let mut set = JoinSet::new();
        set.spawn_on(
            async {
                sleep(Duration::from_millis(2)).await;
                5
            },
            runtime.handle(),
        );
        let noop = &mut Context::from_waker(Waker::noop());
        assert!(set.poll_join_next(noop).is_pending());
        let output = runtime.block_on(async {
            raddle::spawn(async move { set.join_next().await })
                .await
                .unwrap()
        });
        assert_eq!(output.unwrap().unwrap(), 5);
    });
}

#[test]
fn join_next_is_cancel_safe() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for i in 0..100 {
                set.spawn(async move {
                    task::yield_now().await;
                    i
                });
            }
            let mut outputs = Vec::new();
            while !set.is_empty() {
                // The future is polled once and then dropped.
                let once = poll_fn(|cx| Poll::Ready(pin!(set.join_next()).poll(cx))).await;
                match once {
                    Poll::Ready(output) => outputs.push(output.unwrap().unwrap()),
                    Poll::Pending => task::yield_now().await,
                }
            }
            outputs.sort_unstable();
            assert!(outputs.into_iter().eq(0..100));
        });
    });
}

#[test]
fn join_all_returns_all_outputs_or_panics() {
    each_flavor(|runtime| {
        let mut outputs = runtime.block_on(async {
            let set: JoinSet<_> = (0..10).map(|i| async move { i }).collect();
            set.join_all().await
        });
        outputs.sort_unstable();
        assert!(outputs.into_iter().eq(0..10));

        let message = panic_message(|| {
            runtime.block_on(async {
                let mut set = JoinSet::new();
                set.spawn(pending());
                set.spawn(async { panic!("expected by this test") });
                set.join_all().await
            })
        });
        assert_eq!(message, "expected by this test");
    });
}

#[test]
fn drop_aborts_and_detach_does_not() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let finished = Arc::new(AtomicUsize::new(0));
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for _ in 0..10 {
                let live = Live::new(&count);
                set.spawn(async move {
                    let _live = live;
                    pending::<()>().await;
                });
            }
            drop(set);
            while count.load(SeqCst) > 0 {
                task::yield_now().await;
            }

            let mut set = JoinSet::new();
            for _ in 0..10 {
                let finished = Arc::clone(&finished);
                set.spawn(async move {
                    task::yield_now().await;
                    finished.fetch_add(1, SeqCst);
                });
            }
            set.detach_all();
            assert!(set.is_empty());
            drop(set);
            while finished.load(SeqCst) < 10 {
                task::yield_now().await;
            }
        });
    });
}

#[test]
fn abort_all_and_shutdown_cancel_all_tasks() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for _ in 0..10 {
                let live = Live::new(&count);
                set.spawn(async move {
                    let _live = live;
                    pending::<()>().await;
                });
            }
            set.abort_all();
            assert_eq!(set.len(), 10);
            assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
            set.shutdown().await;
            assert!(set.is_empty());
        });
        eventually("every task is dropped", || count.load(SeqCst) == 0);
    });
}

#[test]
fn a_set_joins_blocking_tasks() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            for i in 0..10 {
                set.spawn_blocking(move || i);
            }
            let mut outputs = set.join_all().await;
            outputs.sort_unstable();
            assert!(outputs.into_iter().eq(0..10));
        });
        let mut set = JoinSet::new();
        set.spawn_blocking_on(|| 1, runtime.handle());
        assert_eq!(runtime.block_on(set.join_next()).unwrap().unwrap(), 1);
    });
}
