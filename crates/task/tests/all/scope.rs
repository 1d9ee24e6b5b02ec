//! Scopes: their tasks borrow, run concurrently, and are all gone when the scope is.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use raddle_primitives::sync::Mutex;
use raddle_task::{Scope, ScopedJoinHandle, scope};
use raddle_testing::{Wakes, block_on, poll, poll_with};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::common::{Count, Gate};

assert_impl_all!(Scope<'static>: Send, Sync, Unpin, Clone);
assert_impl_all!(ScopedJoinHandle<Cell<u8>>: Send, Sync, Unpin);
assert_not_impl_any!(ScopedJoinHandle<std::rc::Rc<u8>>: Send);

/// Waits, and is woken at once, for a number of polls.
async fn yield_times(mut times: usize) {
    poll_fn(|cx| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn tasks_borrow_and_the_scope_waits_for_all_of_them() {
    let words = ["a", "scope", "of", "tasks"].map(String::from);
    let mut mutable = Vec::new();
    let done = AtomicUsize::new(0);
    let length = block_on(scope(async |scope| {
        for times in 0..50 {
            // Detached: nothing awaits the handle.
            let done = &done;
            scope.spawn(async move {
                yield_times(times).await;
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        scope.spawn(async { mutable.push("from a task") });
        let lengths: Vec<_> = words
            .iter()
            .map(|word| scope.spawn(async { word.len() }))
            .collect();
        let mut sum = 0;
        for length in lengths {
            sum += length.await;
        }
        sum
    }));
    assert_eq!((length, done.into_inner()), (13, 50));
    assert_eq!(mutable, ["from a task"]);
}

#[test]
fn a_scope_without_tasks_returns_what_its_body_does() {
    assert_eq!(block_on(scope(async |_| 7)), 7);
    // A closure that returns a future, too. The scope is lazy.
    let calls = Cell::new(0);
    let unpolled = scope(|_| {
        calls.set(calls.get() + 1);
        async {}
    });
    drop(unpolled);
    assert_eq!(calls.get(), 0);
}

#[test]
fn a_task_spawns_further_tasks_after_the_body_has_ended() {
    fn descend<'env>(scope: &Scope<'env>, depth: usize, seen: &'env Mutex<Vec<usize>>) {
        let inner = scope.clone();
        scope.spawn(async move {
            yield_times(2).await;
            seen.lock().push(depth);
            if depth > 0 {
                descend(&inner, depth - 1, seen);
            }
        });
    }
    let seen = Mutex::new(Vec::new());
    block_on(scope(async |scope| descend(&scope, 5, &seen)));
    assert_eq!(*seen.lock(), [5, 4, 3, 2, 1, 0]);
}

#[test]
fn scopes_nest_and_the_inner_one_borrows_from_the_outer_task() {
    let text = String::from("outer");
    let total = block_on(scope(async |outer| {
        let inner = outer.spawn(async {
            let local = format!("{text} and inner");
            scope(async |inner| {
                let one = inner.spawn(async { local.len() });
                let two = inner.spawn(async { text.len() });
                one.await + two.await
            })
            .await
        });
        inner.await
    }));
    assert_eq!(total, 20);
}

#[test]
fn a_member_is_polled_only_when_it_was_woken() {
    let gates: Vec<Gate> = (0..100).map(|_| Gate::default()).collect();
    let scope = scope(async |scope| {
        for gate in &gates {
            scope.spawn(gate.clone());
        }
    });
    let mut scope = pin!(scope);
    let (wakes, waker) = Wakes::new();
    while poll_with(scope.as_mut(), &waker).is_pending() && gates.last().unwrap().polls() == 0 {}
    assert!(gates.iter().all(|gate| gate.polls() == 1));
    let before = wakes.get();
    gates[42].open();
    gates[42].waker().wake();
    assert_eq!(wakes.get(), before + 1);
    assert!(poll_with(scope.as_mut(), &waker).is_pending());
    let polls: usize = gates.iter().map(Gate::polls).sum();
    assert_eq!((polls, gates[42].polls()), (101, 2));
    for gate in &gates {
        gate.open();
        if gate.polls() == 1 {
            gate.waker().wake();
        }
    }
    assert!(poll_with(scope, &waker).is_ready());
}

#[test]
fn a_member_that_wakes_itself_yields_to_the_other_tasks_of_the_runtime() {
    let polls = Cell::new(0);
    let mut scope = pin!(scope(async |_| {
        poll_fn(|cx| {
            polls.set(polls.get() + 1);
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        })
        .await
    }));
    for expected in 1..10 {
        let (wakes, waker) = Wakes::new();
        assert!(poll_with(scope.as_mut(), &waker).is_pending());
        assert_eq!((polls.get(), wakes.get()), (expected, 1));
    }
}

#[test]
fn one_poll_of_the_scope_polls_a_bounded_number_of_members() {
    let polled = AtomicUsize::new(0);
    let mut scope = pin!(scope(async |scope| {
        for _ in 0..1_000 {
            scope.spawn(async {
                polled.fetch_add(1, Ordering::Relaxed);
            });
        }
    }));
    let mut polls = 0;
    while poll(scope.as_mut()).is_pending() {
        polls += 1;
        assert!(polled.load(Ordering::Relaxed) <= 128 * polls);
    }
    assert_eq!(polled.load(Ordering::Relaxed), 1_000);
}

#[test]
fn the_members_share_the_budget_of_the_poll() {
    let done = AtomicUsize::new(0);
    let mut scope = pin!(scope(async |scope| {
        for _ in 0..4 {
            scope.spawn(async {
                for _ in 0..100 {
                    raddle_leaf::coop::consume_budget().await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }));
    for polls in 1.. {
        let (wakes, waker) = Wakes::new();
        let poll = raddle_leaf::coop::budget(|| poll_with(scope.as_mut(), &waker));
        assert!(done.load(Ordering::Relaxed) <= 128 * polls);
        if poll.is_ready() {
            break;
        }
        assert!(wakes.get() > 0 && polls < 10);
    }
    assert_eq!(done.load(Ordering::Relaxed), 400);
}

#[test]
fn dropping_the_scope_drops_its_tasks_and_their_outputs() {
    let count = Count::default();
    let kept = Mutex::new(Vec::new());
    let mut scope = Box::pin(scope(async |scope| {
        for n in 0..10 {
            let counted = count.one();
            let handle = scope.spawn(async move {
                if n % 2 == 0 {
                    pending::<()>().await;
                }
                counted
            });
            kept.lock().push((handle, n % 2 == 1));
        }
        let _counted = count.one();
        pending::<()>().await;
    }));
    assert!(poll(scope.as_mut()).is_pending());
    assert_eq!(count.get(), 11);
    drop(scope);
    // The outputs of five handles.
    assert_eq!(count.get(), 5);
    for (handle, is_completed) in kept.into_inner() {
        assert!(handle.is_finished());
        let output = catch_unwind(AssertUnwindSafe(|| block_on(handle)));
        assert_eq!(output.is_ok(), is_completed);
    }
    assert_eq!(count.get(), 0);
}

#[test]
fn a_panic_of_a_task_drops_the_others_and_ends_the_scope() {
    struct Noted<'a>(&'a Mutex<Vec<&'static str>>, &'static str);
    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            self.0.lock().push(self.1);
        }
    }
    let dropped = Mutex::new(Vec::new());
    let mut scope = Box::pin(scope(async |scope| {
        let sibling = Noted(&dropped, "sibling");
        scope.spawn(async move {
            let _sibling = sibling;
            pending::<()>().await;
        });
        scope.spawn(async {
            yield_times(1).await;
            panic!("the task's own message");
        });
        let _body = Noted(&dropped, "body");
        pending::<()>().await;
    }));
    let payload = catch_unwind(AssertUnwindSafe(
        || {
            while poll(scope.as_mut()).is_pending() {}
        },
    ))
    .unwrap_err();
    assert_eq!(
        payload.downcast_ref::<&str>(),
        Some(&"the task's own message")
    );
    // They are gone before the scope is dropped.
    assert_eq!(*dropped.lock(), ["sibling", "body"]);
}

#[test]
fn a_panic_in_the_drop_of_a_sibling_does_not_replace_the_first() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("a second panic");
        }
    }
    let scope = scope(async |scope| {
        let panics = Panics;
        scope.spawn(async move {
            let _panics = panics;
            pending::<()>().await;
        });
        scope.spawn(async { panic!("the first panic") });
    });
    let payload = catch_unwind(AssertUnwindSafe(|| block_on(scope))).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the first panic"));
}

#[test]
fn a_task_that_is_spawned_after_the_end_is_dropped() {
    let count = Count::default();
    let late = block_on(scope(async |scope| scope));
    let counted = count.one();
    let handle = late.spawn(async move { counted });
    assert_eq!(count.get(), 0);
    assert!(handle.is_finished());
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(handle))).is_err());
}

#[test]
fn a_drop_of_a_task_may_spawn_into_the_scope_that_ends() {
    struct Spawns<'env>(Scope<'env>, Count);
    impl Drop for Spawns<'_> {
        fn drop(&mut self) {
            let counted = self.1.one();
            self.0.spawn(async move { drop(counted) });
        }
    }
    let count = Count::default();
    let mut scope = Box::pin(scope(async |scope| {
        let spawns = Spawns(scope.clone(), count.clone());
        scope.spawn(async move {
            let _spawns = spawns;
            pending::<()>().await;
        });
        pending::<()>().await;
    }));
    assert!(poll(scope.as_mut()).is_pending());
    drop(scope);
    assert_eq!(count.get(), 0);
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_scope_that_is_leaked_runs_nothing_and_drops_nothing() {
    let count = Count::default();
    let polled = Arc::new(AtomicUsize::new(0));
    let (counted, polls) = (count.one(), polled.clone());
    let mut leaked = Box::pin(scope(async move |scope: Scope<'static>| {
        scope.spawn(async move {
            let _counted = counted;
            poll_fn(|cx| {
                polls.fetch_add(1, Ordering::Relaxed);
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            })
            .await;
        });
    }));
    assert!(poll(leaked.as_mut()).is_pending());
    let before = polled.load(Ordering::Relaxed);
    std::mem::forget(leaked);
    assert_eq!((count.get(), polled.load(Ordering::Relaxed)), (1, before));
}

#[test]
fn handles_are_awaited_on_other_threads_and_tell_whether_they_are_finished() {
    let slot = Arc::new(Mutex::new(None::<ScopedJoinHandle<u32>>));
    let gate = Gate::default();
    let (waiting, handle) = (gate.clone(), slot.clone());
    let mut scope = Box::pin(scope(async move |scope: Scope<'static>| {
        *handle.lock() = Some(scope.spawn(async move {
            waiting.await;
            5
        }));
    }));
    assert!(poll(scope.as_mut()).is_pending());
    let mut handle = slot.lock().take().unwrap();
    assert!(!handle.is_finished());
    assert!(poll(Pin::new(&mut handle)).is_pending());
    let thread = std::thread::spawn(move || block_on(handle));
    gate.open();
    gate.waker().wake();
    assert!(poll(scope.as_mut()).is_ready());
    assert_eq!(thread.join().unwrap(), 5);
}

/// Spawns into the scope from another thread, which wakes the scope.
#[test]
fn a_spawn_from_another_thread_wakes_the_scope() {
    let slot = Arc::new(Mutex::new(None::<Scope<'static>>));
    let outside = slot.clone();
    let gate = Gate::default();
    let waiting = gate.clone();
    let mut scope = Box::pin(scope(async move |scope: Scope<'static>| {
        *outside.lock() = Some(scope);
        waiting.await;
    }));
    let (wakes, waker) = Wakes::new();
    assert!(poll_with(scope.as_mut(), &waker).is_pending());
    let handle = std::thread::spawn(move || {
        let scope = slot.lock().take().unwrap();
        scope.spawn(async { "from outside" })
    });
    let handle = handle.join().unwrap();
    assert_eq!(wakes.get(), 1);
    assert!(poll_with(scope.as_mut(), &waker).is_pending());
    assert_eq!(block_on(handle), "from outside");
}

#[test]
fn a_scope_is_send_if_its_body_is() {
    fn is_send<T: Send>(_: &T) {}
    let text = String::from("text");
    let future = scope(async |scope| scope.spawn(async { text.len() }).await);
    is_send(&future);
    let mut future = pin!(future);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let output = loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            break output;
        }
    };
    assert_eq!(output, 4);
}

#[test]
fn a_body_that_panics_before_its_future_leaves_no_task() {
    let permit = Arc::new(());
    let held = permit.clone();
    let scope = task_scope_that_panics(held);
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(scope))).is_err());
    assert_eq!(Arc::strong_count(&permit), 1);
}

async fn task_scope_that_panics(held: Arc<()>) {
    scope(|scope| {
        let own = scope.clone();
        scope.spawn(async move {
            let _owned = (own, held);
            pending::<()>().await;
        });
        if true {
            panic!("the body");
        }
        async {}
    })
    .await;
}
