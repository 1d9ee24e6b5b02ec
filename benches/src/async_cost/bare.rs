//! The variants of raddle-bare.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use raddle_bare::{BoxExecutor, BoxFuture, Executor, Slab, Spawner, Storage};

use super::fake_io::Calls;
use super::reactor::Reactor;
use super::tasks::{Job, Spawn, serve};
use super::{BUFFER, LARGE_BUFFER, timed};

const ROOM: &str = "there is room for every request";

/// One type per variant, so that each variant has its own future, which the compiler can inline
/// where it is polled, as in a program with one executor.
struct ByValue<'s, 'c, const VARIANT: u8>(&'s Spawner<Job<'c>>);

impl<'c, const VARIANT: u8> Spawn<'c> for ByValue<'_, 'c, VARIANT> {
    fn spawn(&self, job: Job<'c>) {
        self.0.spawn(job).expect(ROOM);
    }
}

/// Defines a variant with futures of one type, from the future of a job and the executor of these
/// futures.
macro_rules! by_value {
    (
        $(#[$attribute:meta])* $name:ident = $number:literal,
        |$reactor:ident, $spawn:ident, $job:ident| $future:expr,
        |$spawner:ident, $storage:ident, $make:ident| $executor:expr
    ) => {
        $(#[$attribute])*
        pub fn $name(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
            let $reactor = &Reactor::new(calls, requests + 1);
            let $spawner = &Spawner::new();
            let $storage = Slab::with_capacity(requests + 1);
            let $make = |$job| {
                let $spawn = ByValue::<$number>($spawner);
                $future
            };
            let executor = pin!($executor);
            let first = || Job::Listen(requests);
            timed_on(executor.as_ref(), $reactor, calls, runs, first)
        }
    };
}

by_value! {
    /// Futures of one type, by value.
    run_async = 0,
    |reactor, spawn, job| serve::<BUFFER>(reactor, spawn, job),
    |spawner, storage, make| Executor::new(spawner, storage, make)
}
by_value! {
    /// The same, with wakers that do not check their thread.
    #[allow(unsafe_code, reason = "not to check is a promise")]
    unchecked = 1,
    |reactor, spawn, job| serve::<BUFFER>(reactor, spawn, job),
    // SAFETY: only the reactor has wakers, and it stays on this thread.
    |spawner, storage, make| unsafe { Executor::new_unchecked(spawner, storage, make) }
}
by_value! {
    /// Large futures of one type, by value.
    large_future = 2,
    |reactor, spawn, job| serve::<LARGE_BUFFER>(reactor, spawn, job),
    |spawner, storage, make| Executor::new(spawner, storage, make)
}
by_value! {
    /// Futures of one type, boxed by the function that makes them.
    caller_boxed = 3,
    |reactor, spawn, job| Box::pin(serve::<BUFFER>(reactor, spawn, job)),
    |spawner, storage, make| Executor::new(spawner, storage, make)
}

#[derive(Clone, Copy)]
struct Boxed<'a, 'c> {
    spawner: &'a Spawner<BoxFuture<'a>>,
    reactor: &'a Reactor<'c>,
}

impl<'c> Spawn<'c> for Boxed<'_, 'c> {
    fn spawn(&self, job: Job<'c>) {
        let future = serve::<BUFFER>(self.reactor, *self, job);
        self.spawner.spawn_boxed(future).expect(ROOM);
    }
}

/// Futures of any type, boxed.
pub fn boxed(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
    let reactor = &Reactor::new(calls, requests + 1);
    let spawner = &Spawner::new();
    let spawn = Boxed { spawner, reactor };
    let executor = pin!(BoxExecutor::boxed(spawner, requests + 1));
    timed_on(
        executor.as_ref(),
        reactor,
        calls,
        runs,
        || -> BoxFuture<'_> { Box::pin(serve::<BUFFER>(reactor, spawn, Job::Listen(requests))) },
    )
}

fn timed_on<A, F, M, S>(
    executor: Pin<&Executor<'_, A, F, M, S>>,
    reactor: &Reactor<'_>,
    calls: &Calls,
    runs: u32,
    first: impl Fn() -> A,
) -> Duration
where
    F: Future<Output = ()>,
    M: Fn(A) -> F,
    S: Storage<A, F>,
{
    timed(calls, runs, || {
        executor.spawn(first()).expect(ROOM);
        let Ok(()) = executor.run(|_| {
            reactor.poll();
            Ok::<(), Infallible>(())
        });
    })
}
