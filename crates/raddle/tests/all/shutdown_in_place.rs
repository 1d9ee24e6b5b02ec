//! Shutdown while threads block on futures that wait for a timer or a socket: the shutdown of the
//! driver ends their waits.

use std::future::{Future, pending};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crate::common::{Live, current_thread, each_flavor, eventually, multi_thread, with_policy};
use raddle::net::{TcpListener, UdpSocket};
use raddle::runtime::{Builder, Handle, Policy, Runtime};
use raddle::task::{JoinHandle, block_in_place};
use raddle::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);
/// A test that takes longer has hung, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A wait that only a shutdown ends.
#[derive(Clone, Copy, Debug)]
enum Waits {
    Sleep,
    Accept,
    Receive,
}

impl Waits {
    const ALL: [Self; 3] = [Self::Sleep, Self::Accept, Self::Receive];

    /// Waits, and sends to `begun` after the first poll.
    async fn wait(self, begun: Sender<()>) -> io::Result<()> {
        match self {
            Self::Sleep => after(begun, sleep(HOUR)).await,
            Self::Accept => {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                after(begun, listener.accept()).await?;
            }
            Self::Receive => {
                let socket = UdpSocket::bind("127.0.0.1:0").await?;
                after(begun, socket.recv(&mut [0])).await?;
            }
        }
        Ok(())
    }

    /// Whether a shutdown has ended the wait: a sleep panics, a socket returns an error.
    fn has_ended(self, result: &thread::Result<io::Result<()>>) -> bool {
        match (self, result) {
            (Self::Sleep, Err(payload)) => payload
                .downcast_ref::<String>()
                .is_some_and(|message| message.contains("the timers have shut down")),
            (Self::Accept | Self::Receive, Ok(Err(error))) => {
                raddle::runtime::is_rt_shutdown_err(error)
            }
            _ => false,
        }
    }
}

/// Polls `future` once, then sends to `begun`.
async fn after<F: Future>(begun: Sender<()>, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut begun = Some(begun);
    std::future::poll_fn(move |cx| {
        let polled = future.as_mut().poll(cx);
        if let Some(begun) = begun.take() {
            begun.send(()).unwrap();
        }
        polled
    })
    .await
}

/// Runs `test` on a thread of its own, and panics if it does not return in time.
fn within_limit<R: Send + 'static>(what: &str, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || sender.send(test()));
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => {
            thread.join().unwrap().unwrap();
            result
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Builders of runtimes whose workers can be handed to other threads.
fn builders() -> impl Iterator<Item = Builder> {
    [Policy::WorkStealing, Policy::Shared]
        .into_iter()
        .flat_map(|policy| {
            [1, 2, 4].map(|workers| {
                let mut builder = with_policy(policy);
                builder.worker_threads(workers);
                builder
            })
        })
}

type Ending = thread::Result<io::Result<()>>;

/// Spawns a task that waits in `block_in_place`, and returns it with a receiver of the wait's
/// result.
fn spawn_waiting(
    runtime: &Runtime,
    waits: Waits,
    live: Live,
) -> (JoinHandle<()>, std::sync::mpsc::Receiver<Ending>) {
    let ((begun, has_begun), (ended, ending)) = (channel(), channel());
    let task = runtime.spawn(async move {
        let _live = live;
        let result = block_in_place(|| {
            let wait = || Handle::current().block_on(waits.wait(begun));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait))
        });
        ended.send(result).unwrap();
        pending::<()>().await;
    });
    has_begun.recv().unwrap();
    (task, ending)
}

#[test]
fn dropping_the_runtime_ends_a_wait_inside_block_in_place() {
    for mut builder in builders() {
        for waits in Waits::ALL {
            let runtime = builder.build().unwrap();
            let count = Arc::new(AtomicUsize::new(0));
            let (_task, ending) = spawn_waiting(&runtime, waits, Live::new(&count));
            within_limit("the drop", move || drop(runtime));
            assert!(waits.has_ended(&ending.recv().unwrap()), "{waits:?}");
            assert_eq!(count.load(SeqCst), 0);
        }
    }
}

thread_local! {
    /// Dropped when the thread ends.
    static AT_END: std::cell::RefCell<Option<Live>> = const { std::cell::RefCell::new(None) };
}

/// The task and its thread are freed, although no thread waits for the shutdown.
#[test]
fn a_shutdown_that_does_not_wait_frees_a_blocked_task_and_its_thread() {
    for mut builder in builders() {
        for waits in Waits::ALL {
            for wait in [None, Some(Duration::ZERO), Some(Duration::from_millis(1))] {
                let runtime = builder.build().unwrap();
                let tasks = Arc::new(AtomicUsize::new(0));
                let threads = Arc::new(AtomicUsize::new(0));
                let at_end = Live::new(&threads);
                let live = Live::new(&tasks);
                let ((begun, has_begun), (ended, ending)) = (channel(), channel());
                runtime.spawn(async move {
                    let _live = live;
                    AT_END.set(Some(at_end));
                    block_in_place(|| {
                        let wait = || Handle::current().block_on(waits.wait(begun));
                        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait));
                        ended.send(result).unwrap();
                    });
                });
                has_begun.recv().unwrap();
                match wait {
                    None => runtime.shutdown_background(),
                    Some(wait) => runtime.shutdown_timeout(wait),
                }
                let result = ending.recv_timeout(LIMIT).expect("the wait has not ended");
                assert!(waits.has_ended(&result), "{waits:?}");
                eventually("the task is freed", || tasks.load(SeqCst) == 0);
                eventually("the thread is freed", || threads.load(SeqCst) == 0);
            }
        }
    }
}

/// The threads of all workers wait, and so do the threads that took the workers over.
#[test]
fn dropping_the_runtime_ends_waits_of_many_tasks_inside_block_in_place() {
    for mut builder in builders() {
        let runtime = builder.build().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let endings: Vec<_> = Waits::ALL
            .into_iter()
            .cycle()
            .take(12)
            .map(|waits| (waits, spawn_waiting(&runtime, waits, Live::new(&count))))
            .collect();
        within_limit("the drop", move || drop(runtime));
        for (waits, (_task, ending)) in endings {
            assert!(waits.has_ended(&ending.recv().unwrap()), "{waits:?}");
        }
        assert_eq!(count.load(SeqCst), 0);
    }
}

/// No thread is left for a handoff, so the worker stays with the waiting thread.
#[test]
fn dropping_the_runtime_ends_waits_inside_block_in_place_without_handoff_threads() {
    for waits in Waits::ALL {
        let mut builder = multi_thread();
        builder.worker_threads(1).max_blocking_threads(1);
        let runtime = builder.build().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        // As many tasks as there are threads: the worker's own and two for handoffs.
        let endings: Vec<_> = (0..3)
            .map(|_| spawn_waiting(&runtime, waits, Live::new(&count)))
            .collect();
        within_limit("the drop", move || drop(runtime));
        for (_task, ending) in endings {
            assert!(waits.has_ended(&ending.recv().unwrap()), "{waits:?}");
        }
        assert_eq!(count.load(SeqCst), 0);
    }
}

/// As above, where no thread waits for the shutdown.
#[test]
fn a_shutdown_that_does_not_wait_frees_blocked_tasks_without_handoff_threads() {
    let mut builder = multi_thread();
    builder.worker_threads(1).max_blocking_threads(1);
    let runtime = builder.build().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let endings: Vec<_> = (0..3)
        .map(|_| spawn_waiting(&runtime, Waits::Accept, Live::new(&count)))
        .collect();
    runtime.shutdown_background();
    for (_task, ending) in endings {
        let result = ending.recv_timeout(LIMIT).expect("the wait has not ended");
        assert!(Waits::Accept.has_ended(&result));
    }
    eventually("the tasks are freed", || count.load(SeqCst) == 0);
}

/// The same where the last task blocks after the runtime was closed, with or without a thread that
/// waits for the shutdown.
#[test]
fn a_shutdown_ends_a_wait_that_begins_after_it_without_handoff_threads() {
    for waits_for_end in [true, false] {
        let mut builder = multi_thread();
        builder.worker_threads(1).max_blocking_threads(1);
        let runtime = builder.build().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let _earlier: Vec<_> = (0..2)
            .map(|_| spawn_waiting(&runtime, Waits::Accept, Live::new(&count)))
            .collect();
        let live = Live::new(&count);
        let ((begun, has_begun), (open, gate)) = (channel(), channel::<()>());
        runtime.spawn(async move {
            let _live = live;
            begun.send(()).unwrap();
            let _ = gate.recv();
            block_in_place(|| {
                let wait = || Handle::current().block_on(sleep(HOUR));
                let _ = std::panic::catch_unwind(wait);
            });
        });
        has_begun.recv().unwrap();
        let handle = runtime.handle().clone();
        let ending = thread::spawn(move || match waits_for_end {
            true => drop(runtime),
            false => runtime.shutdown_background(),
        });
        // Once the runtime is closed, a new task is cancelled at once.
        eventually("closed", || handle.spawn(pending::<()>()).is_finished());
        match waits_for_end {
            true => thread::sleep(Duration::from_millis(10)),
            false => eventually("returned", || ending.is_finished()),
        }
        drop(open);
        within_limit("the shutdown", move || ending.join().unwrap());
        eventually("the tasks are freed", || count.load(SeqCst) == 0);
    }
}

/// The shutdown happens while threads take workers over, and before the waits begin.
#[test]
fn shutdown_ends_waits_that_begin_meanwhile() {
    for round in 0..60 {
        let mut builder = multi_thread();
        let runtime = builder.worker_threads(1 + round % 2).build().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let live = Live::new(&count);
            runtime.spawn(async move {
                let _live = live;
                block_in_place(|| {
                    let wait = || Handle::current().block_on(sleep(HOUR));
                    let _ = std::panic::catch_unwind(wait);
                });
            });
        }
        for _ in 0..round {
            thread::yield_now();
        }
        match round % 3 {
            0 => runtime.shutdown_background(),
            _ => within_limit("the drop", move || drop(runtime)),
        }
        eventually("the tasks are freed", || count.load(SeqCst) == 0);
    }
}

/// One thread outside the runtime and one of the blocking pool wait.
#[test]
fn dropping_the_runtime_ends_block_on_of_other_threads() {
    for waits in Waits::ALL {
        each_flavor(move |runtime| {
            let handle = runtime.handle().clone();
            let (begun, has_begun) = channel();
            let blocking_begun = begun.clone();
            let (ended, ending) = channel();
            let blocking_ended = ended.clone();
            let wait = move |handle: Handle, begun, ended: Sender<Ending>| {
                let wait = || handle.block_on(waits.wait(begun));
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait));
                ended.send(result).unwrap();
            };
            runtime.spawn_blocking(move || {
                wait(Handle::current(), blocking_begun, blocking_ended);
            });
            let foreign = thread::spawn(move || wait(handle, begun, ended));
            // No thread drives a current-thread runtime now; both threads wait nevertheless.
            has_begun.recv().unwrap();
            has_begun.recv().unwrap();
            within_limit("the drop", move || drop(runtime));
            for _ in 0..2 {
                let result = ending.recv_timeout(LIMIT).expect("the wait has not ended");
                assert!(waits.has_ended(&result), "{waits:?}");
            }
            foreign.join().unwrap();
        });
    }
}

/// No thread drives the runtime during the shutdown.
#[test]
fn shutting_down_a_current_thread_runtime_ends_block_on_of_another_thread() {
    for waits in Waits::ALL {
        let runtime = current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        let (begun, has_begun) = channel();
        let foreign = thread::spawn(move || handle.block_on(waits.wait(begun)));
        has_begun.recv().unwrap();
        runtime.block_on(async { raddle::task::yield_now().await });
        runtime.shutdown_background();
        let result = within_limit("the thread", move || foreign.join());
        assert!(waits.has_ended(&result), "{waits:?}");
    }
}
