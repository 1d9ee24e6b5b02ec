//! Shutdown of a runtime.

use std::future::{Future, pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::common::{
    Live, builders, current_thread, each_flavor, eventually, multi_thread, panic_message,
};
use raddle::io::AsyncReadExt;
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Builder, Handle, LocalRuntime, Runtime, UnhandledPanic, is_rt_shutdown_err};
use raddle::task::{LocalSet, block_in_place, spawn_blocking, spawn_local, yield_now};
use raddle::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);
/// A test that takes longer has hung, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `test` on a thread of its own, and panics if it does not return in time.
fn within_limit<R: Send + 'static>(what: &str, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || sender.send(test()));
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => {
            let _ = thread.join().unwrap();
            result
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn dropping_the_runtime_drops_every_task() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let live = Live::new(&count);
            runtime.spawn(async move {
                let _live = live;
                pending::<()>().await;
            });
        }
        runtime.block_on(async { raddle::task::yield_now().await });
        drop(runtime);
        assert_eq!(count.load(SeqCst), 0);
    });
}

#[test]
fn a_future_dropped_by_shutdown_has_its_runtime_current() {
    struct Asks(Arc<AtomicUsize>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let found = raddle::runtime::Handle::try_current().is_ok();
            self.0.fetch_add(usize::from(found), SeqCst);
        }
    }
    each_flavor(|runtime| {
        let found = Arc::new(AtomicUsize::new(0));
        let asks = Asks(Arc::clone(&found));
        runtime.spawn(async move {
            let _asks = asks;
            pending::<()>().await;
        });
        runtime.block_on(async { raddle::task::yield_now().await });
        drop(runtime);
        assert_eq!(found.load(SeqCst), 1);
    });
}

/// The drop does not panic even if the wakers that the driver wakes at shutdown do.
#[test]
fn wakers_that_panic_do_not_make_the_drop_panic() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's panic");
        }
    }
    each_flavor(|runtime| {
        let panics = Waker::from(Arc::new(Panics));
        let mut cx = std::task::Context::from_waker(&panics);
        let mut sleeps = Vec::new();
        let mut accepts = Vec::new();
        let entered = runtime.enter();
        for _ in 0..3 {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let mut accept = Box::pin(async move { listener.accept().await });
            assert!(accept.as_mut().poll(&mut cx).is_pending());
            accepts.push(accept);
            let mut wait = Box::pin(sleep(HOUR));
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            sleeps.push(wait);
        }
        drop(entered);
        drop(runtime);
        let mut cx = std::task::Context::from_waker(Waker::noop());
        for accept in &mut accepts {
            let Poll::Ready(Err(error)) = accept.as_mut().poll(&mut cx) else {
                panic!("the listener waits");
            };
            assert!(is_rt_shutdown_err(&error));
        }
    });
}

#[test]
fn a_shutdown_wakes_the_join_handle() {
    each_flavor(|runtime| {
        let task = runtime.spawn(pending::<()>());
        drop(runtime);
        let other = current_thread().build().unwrap();
        assert!(other.block_on(task).unwrap_err().is_cancelled());
    });
}

/// Starts blocking work that ends when the returned sender is dropped.
fn blocked(runtime: &Runtime) -> std::sync::mpsc::Sender<()> {
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    runtime.spawn_blocking(move || {
        begun.send(()).unwrap();
        let _ = gate.recv();
    });
    has_begun.recv().unwrap();
    open
}

#[test]
fn shutdown_timeout_returns_while_blocking_work_runs() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let live = Live::new(&count);
        runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        let open = blocked(&runtime);
        runtime.shutdown_timeout(Duration::from_millis(5));
        eventually("the task is dropped", || count.load(SeqCst) == 0);
        drop(open);
    });
}

#[test]
fn shutdown_timeout_returns_early_if_all_work_has_ended() {
    each_flavor(|runtime| {
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        runtime.shutdown_timeout(HOUR);
    });
}

#[test]
fn shutdown_background_does_not_wait() {
    each_flavor(|runtime| {
        let open = blocked(&runtime);
        runtime.shutdown_background();
        drop(open);
    });
}

#[test]
fn shutdown_timeout_returns_while_a_poll_does_not() {
    let runtime = multi_thread().build().unwrap();
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    runtime.spawn(async move {
        begun.send(()).unwrap();
        let _ = gate.recv();
    });
    has_begun.recv().unwrap();
    runtime.shutdown_timeout(Duration::from_millis(5));
    drop(open);
}

#[test]
fn drop_waits_for_blocking_work() {
    each_flavor(|runtime| {
        let done = Arc::new(AtomicUsize::new(0));
        let (begun, has_begun) = channel();
        let count = Arc::clone(&done);
        runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(10));
            count.fetch_add(1, SeqCst);
        });
        has_begun.recv().unwrap();
        drop(runtime);
        assert_eq!(done.load(SeqCst), 1);
    });
}

/// How a runtime is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Drop,
    Timeout,
    Background,
}

impl Ends {
    const ALL: [Self; 3] = [Self::Drop, Self::Timeout, Self::Background];

    fn end(self, runtime: Runtime) {
        match self {
            Self::Drop => drop(runtime),
            Self::Timeout => runtime.shutdown_timeout(HOUR),
            Self::Background => runtime.shutdown_background(),
        }
    }
}

/// Where a runtime is shut down: next to another runtime, or inside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    PlainThread,
    /// A thread that has entered the other runtime.
    EnteredThread,
    /// A thread for blocking work of the other runtime.
    BlockingThread,
    /// `block_in_place` in a task of the other runtime.
    BlockInPlace,
    /// `block_in_place` in the future of the other runtime's `block_on`.
    InPlaceOfBlockOn,
    /// `block_in_place` after a former one has handed the worker off.
    InPlaceTwice,
    /// A future in the other runtime's `block_on`.
    BlockOn,
    /// A task of the other runtime.
    Task,
    /// The drop of an aborted task, while the other runtime runs.
    AbortedTask,
    /// The rest of a poll whose worker was handed off.
    AfterHandoff,
    /// A task of a `LocalSet` on the other runtime.
    LocalTask,
    /// The drop of a future while the other runtime shuts down.
    DropAtShutdown,
    /// The drop of a future of a `LocalSet`, outside any runtime.
    DropOfLocalSet,
    /// A hook on a thread of the other runtime, after its loop.
    StopHook,
}

impl Site {
    const ALL: [Self; 14] = [
        Self::PlainThread,
        Self::EnteredThread,
        Self::BlockingThread,
        Self::BlockInPlace,
        Self::InPlaceOfBlockOn,
        Self::InPlaceTwice,
        Self::BlockOn,
        Self::Task,
        Self::AbortedTask,
        Self::AfterHandoff,
        Self::LocalTask,
        Self::DropAtShutdown,
        Self::DropOfLocalSet,
        Self::StopHook,
    ];

    fn needs_workers(self) -> bool {
        let in_place = [
            Self::BlockInPlace,
            Self::InPlaceOfBlockOn,
            Self::InPlaceTwice,
        ];
        in_place.contains(&self) || self == Self::AfterHandoff
    }

    /// Whether a thread that blocks there keeps tasks of the other runtime from running.
    fn is_async(self) -> bool {
        matches!(
            self,
            Self::BlockOn | Self::Task | Self::AbortedTask | Self::AfterHandoff | Self::LocalTask
        )
    }

    /// Runs `code` in this place of a runtime that `builder` builds.
    fn run(self, mut builder: Builder, code: impl FnOnce() + Send + 'static) {
        if self == Self::StopHook {
            let code = Mutex::new(Some(code));
            builder.on_thread_stop(move || {
                let code = code.lock().unwrap().take();
                code.into_iter().for_each(|code| code());
            });
            let outer = builder.build().unwrap();
            outer.block_on(outer.spawn_blocking(|| ())).unwrap();
            return drop(outer);
        }
        let outer = builder.build().unwrap();
        match self {
            Self::PlainThread | Self::StopHook => code(),
            Self::EnteredThread => {
                let _entered = outer.enter();
                code();
            }
            Self::BlockingThread => outer.block_on(outer.spawn_blocking(code)).unwrap(),
            Self::BlockInPlace => outer
                .block_on(outer.spawn(async { block_in_place(code) }))
                .unwrap(),
            Self::InPlaceOfBlockOn => outer.block_on(async { block_in_place(code) }),
            Self::InPlaceTwice => outer
                .block_on(outer.spawn(async {
                    force_handoff();
                    block_in_place(code);
                }))
                .unwrap(),
            Self::BlockOn => outer.block_on(async { code() }),
            Self::Task => outer.block_on(outer.spawn(async { code() })).unwrap(),
            Self::AbortedTask => {
                let on_drop = OnDrop::new(code);
                let task = outer.spawn(async move {
                    let _on_drop = on_drop;
                    pending::<()>().await;
                });
                task.abort();
                assert!(outer.block_on(task).unwrap_err().is_cancelled());
            }
            Self::AfterHandoff => outer
                .block_on(outer.spawn(async {
                    force_handoff();
                    code();
                }))
                .unwrap(),
            Self::LocalTask => LocalSet::new().block_on(&outer, async {
                spawn_local(async { code() }).await.unwrap()
            }),
            Self::DropAtShutdown => {
                let on_drop = OnDrop::new(code);
                outer.spawn(async move {
                    let _on_drop = on_drop;
                    pending::<()>().await;
                });
                outer.block_on(yield_now());
            }
            Self::DropOfLocalSet => {
                let (on_drop, set) = (OnDrop::new(code), LocalSet::new());
                set.spawn_local(async move {
                    let _on_drop = on_drop;
                    pending::<()>().await;
                });
                set.block_on(&outer, yield_now());
                drop(set);
            }
        }
        drop(outer);
    }
}

/// Blocks until another thread has taken the worker over.
fn force_handoff() {
    block_in_place(|| Handle::current().block_on(raddle::spawn(async {})).unwrap());
}

/// Calls a function when it is dropped.
struct OnDrop(Option<Box<dyn FnOnce() + Send>>);

impl OnDrop {
    fn new(f: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(f)))
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|f| f());
    }
}

/// A runtime with a task that waits and with blocking work. The work counts in `done` when it is
/// released.
struct Busy {
    runtime: Runtime,
    open: std::sync::mpsc::Sender<()>,
    tasks: Arc<AtomicUsize>,
    done: Arc<AtomicUsize>,
}

impl Busy {
    fn new(mut builder: Builder) -> Self {
        let runtime = builder.build().unwrap();
        let (tasks, done) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let live = Live::new(&tasks);
        runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        runtime.block_on(yield_now());
        let (begun, has_begun) = channel();
        let (open, gate) = channel::<()>();
        let count = Arc::clone(&done);
        runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            let _ = gate.recv();
            std::thread::sleep(Duration::from_millis(2));
            count.fetch_add(1, SeqCst);
        });
        has_begun.recv().unwrap();
        Self {
            runtime,
            open,
            tasks,
            done,
        }
    }

    /// Shuts the runtime down, and checks that this waits, or that it does not.
    fn end(self, ends: Ends, waits: bool) -> Result<(), &'static str> {
        let is_done = || self.done.load(SeqCst) == 1;
        let is_dropped = || self.tasks.load(SeqCst) == 0;
        if waits {
            drop(self.open);
            ends.end(self.runtime);
            return match (is_done(), is_dropped()) {
                (true, true) => Ok(()),
                (false, _) => Err("the work was lost"),
                (true, false) => Err("the task is still there"),
            };
        }
        ends.end(self.runtime);
        if is_done() {
            return Err("the work was done before it was released");
        }
        drop(self.open);
        eventually("the work is done", is_done);
        eventually("the task is dropped", is_dropped);
        Ok(())
    }
}

/// Bug: own (a drop on a blocking thread or in `block_in_place` did not wait, and work was lost).
#[test]
fn a_shutdown_waits_unless_its_thread_polls() {
    let flavors = [multi_thread, current_thread];
    for place in Site::ALL {
        for (outer, inner, ends) in flavors.into_iter().flat_map(|outer| {
            let inners = flavors.into_iter();
            inners.flat_map(move |inner| Ends::ALL.map(|ends| (outer, inner, ends)))
        }) {
            let outer = outer();
            if place.needs_workers() && format!("{outer:?}").contains("CurrentThread") {
                continue;
            }
            let busy = Busy::new(inner());
            let what = format!("{ends:?} of {:?}, {place:?} of {outer:?}", busy.runtime);
            let waits = ends != Ends::Background && !place.is_async();
            // A panic in a drop may be caught, so the result is sent.
            let (sender, result) = channel();
            let code = move || sender.send(busy.end(ends, waits)).unwrap();
            within_limit(&what, move || place.run(outer, code));
            assert_eq!(result.recv(), Ok(Ok(())), "{what}");
        }
    }
}

#[test]
fn a_runtime_may_be_dropped_by_its_own_blocking_work_or_task() {
    let count = Arc::new(AtomicUsize::new(0));
    for in_task in [true, false] {
        let runtime = Arc::new(multi_thread().build().unwrap());
        let live = Live::new(&count);
        runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        let (sender, receiver) = channel::<Arc<Runtime>>();
        let (done, is_done) = channel();
        let ends = move || {
            drop(receiver.recv().unwrap());
            done.send(()).unwrap();
        };
        if in_task {
            runtime.spawn(async move { ends() });
        } else {
            runtime.spawn_blocking(ends);
        }
        sender.send(runtime).unwrap();
        is_done.recv().unwrap();
    }
    eventually("the tasks are dropped", || count.load(SeqCst) == 0);
}

/// tokio 1972, 2074, 2082.
#[test]
fn a_dropped_future_may_wake_spawn_and_lock() {
    /// Its drop takes the lock, wakes the other task and spawns a task.
    struct Tangled(Arc<Mutex<Option<Waker>>>);
    impl Drop for Tangled {
        fn drop(&mut self) {
            let mut waker = self.0.lock().unwrap();
            if let Some(waker) = waker.take() {
                waker.wake();
            }
            raddle::spawn(async { unreachable!("the runtime is ending") });
        }
    }
    each_flavor(|runtime| {
        let waker = Arc::new(Mutex::new(None));
        for _ in 0..2 {
            let tangled = Tangled(Arc::clone(&waker));
            let waker = Arc::clone(&waker);
            runtime.spawn(async move {
                let _tangled = tangled;
                poll_fn(|cx| {
                    *waker.lock().unwrap() = Some(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await;
            });
        }
        runtime.block_on(async {
            for _ in 0..10 {
                raddle::task::yield_now().await;
            }
        });
        let _guard = runtime.handle().clone();
        drop(runtime);
        assert_eq!(Arc::strong_count(&waker), 1);
    });
}

/// compio 489.
#[test]
fn a_waker_may_be_used_after_shutdown() {
    static KEPT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
    let count = Arc::new(AtomicUsize::new(0));
    each_flavor(|runtime| {
        let live = Live::new(&count);
        let (sender, receiver) = channel();
        runtime.spawn(async move {
            let _live = live;
            poll_fn(|cx| {
                KEPT.lock().unwrap().push(cx.waker().clone());
                let _ = sender.send(());
                Poll::<()>::Pending
            })
            .await;
        });
        runtime.block_on(async {
            while receiver.try_recv().is_err() {
                raddle::task::yield_now().await;
            }
        });
    });
    assert_eq!(count.load(SeqCst), 0);
    let wakers = std::mem::take(&mut *KEPT.lock().unwrap());
    assert_eq!(wakers.len(), crate::common::builders().len());
    for waker in wakers {
        waker.wake_by_ref();
        let clone = waker.clone();
        waker.wake();
        drop(clone);
    }
}

#[test]
fn sockets_and_timers_may_be_dropped_after_shutdown() {
    each_flavor(|runtime| {
        let (listener, sleep) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            (listener, Box::pin(sleep(HOUR)))
        });
        drop(runtime);
        let other = current_thread().build().unwrap();
        let error = other.block_on(listener.accept()).unwrap_err();
        assert!(error.to_string().contains("shut"), "{error}");
        assert!(is_rt_shutdown_err(&error));
        assert!(!is_rt_shutdown_err(&std::io::Error::other(
            error.to_string()
        )));
        drop((listener, sleep));
    });
}

/// 2535, 3477: driver, wakers and runtime do not form a reference cycle.
#[test]
fn a_hundred_runtimes_leak_nothing() {
    let count = Arc::new(AtomicUsize::new(0));
    for round in 0..100 {
        let mut builder = match round % 2 {
            0 => multi_thread(),
            _ => current_thread(),
        };
        let runtime = builder.build().unwrap();
        for i in 0..20 {
            let live = Live::new(&count);
            runtime.spawn(async move {
                let _live = live;
                sleep(HOUR + Duration::from_millis(i)).await;
            });
        }
        let (here, there) = (Live::new(&count), Live::new(&count));
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            raddle::spawn(async move {
                let _live = here;
                let (_open, _) = listener.accept().await.unwrap();
                pending::<()>().await;
            });
            let mut stream = TcpStream::connect(address).await.unwrap();
            raddle::spawn(async move {
                let _live = there;
                stream.read(&mut [0; 8]).await.unwrap()
            });
            raddle::task::yield_now().await;
        });
        drop(runtime);
        assert_eq!(count.load(SeqCst), 0);
    }
}

#[test]
fn a_runtime_may_be_shut_down_while_it_is_entered() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        let _entered = runtime.enter();
        runtime.shutdown_timeout(HOUR);
        assert_eq!(Handle::current().id(), handle.id());
    });
}

/// A thread of a runtime.
#[derive(Clone, Copy, Debug)]
enum Thread {
    Worker,
    Blocking,
    /// The thread that a worker was handed off to.
    Handoff,
}

impl Thread {
    /// Runs `code` on this thread of the runtime.
    fn run(self, runtime: &Runtime, code: impl FnOnce() + Send + 'static) {
        runtime
            .block_on(async {
                match self {
                    Self::Worker => raddle::spawn(async { code() }).await,
                    Self::Blocking => spawn_blocking(code).await,
                    Self::Handoff => {
                        let handed_off = raddle::spawn(async {
                            force_handoff();
                            raddle::spawn(async { code() }).await
                        });
                        handed_off.await.unwrap()
                    }
                }
            })
            .unwrap();
    }

    fn exists_in(self, builder: &Builder) -> bool {
        matches!(self, Self::Blocking) || !format!("{builder:?}").contains("CurrentThread")
    }
}

const THREADS: [Thread; 3] = [Thread::Worker, Thread::Blocking, Thread::Handoff];

/// The shutdowns that do not wait for as long as it takes.
const BOUNDED: [fn(Runtime); 3] = [
    |runtime| runtime.shutdown_background(),
    |runtime| runtime.shutdown_timeout(Duration::ZERO),
    |runtime| runtime.shutdown_timeout(Duration::from_millis(20)),
];

/// Bug: own (a bounded shutdown waited for hooks, and for a hook that waited for it, forever).
#[test]
fn a_bounded_shutdown_does_not_wait_for_a_stop_hook() {
    for thread in THREADS {
        for builder in [multi_thread, current_thread] {
            for ends in BOUNDED {
                let mut builder = builder();
                if !thread.exists_in(&builder) {
                    continue;
                }
                let (open, gate) = channel::<()>();
                let gate = Mutex::new(gate);
                builder.worker_threads(1).on_thread_stop(move || {
                    // Returns when the thread that shuts down has returned.
                    let _ = gate.lock().unwrap().recv();
                });
                let runtime = builder.build().unwrap();
                thread.run(&runtime, || ());
                within_limit("the shutdown", move || ends(runtime));
                drop(open);
            }
        }
    }
}

/// Its drop returns when the thread that shuts down has returned.
struct DropWaits(std::sync::mpsc::Receiver<()>);

impl Drop for DropWaits {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// Bug: own (a bounded shutdown dropped jobs that had not started on the calling thread).
#[test]
fn a_bounded_shutdown_does_not_wait_for_the_drop_of_a_queued_job() {
    for builder in [multi_thread, current_thread] {
        for ends in BOUNDED {
            let runtime = builder().max_blocking_threads(1).build().unwrap();
            let (open, gate) = channel();
            let (release, released) = channel::<()>();
            let (started, is_started) = channel();
            runtime.spawn_blocking(move || {
                started.send(()).unwrap();
                let _ = released.recv();
            });
            is_started.recv().unwrap();
            let waits = DropWaits(gate);
            runtime.spawn_blocking(move || drop(waits));
            within_limit("the shutdown", move || ends(runtime));
            drop((open, release));
        }
    }
}

/// Bug: own (a bounded shutdown dropped the tasks of a worker that no thread drove on the calling
/// thread).
#[test]
fn a_bounded_shutdown_does_not_wait_for_the_drop_of_a_task_without_a_thread() {
    for ends in BOUNDED {
        let (open, gate) = channel();
        let (release, released) = channel::<()>();
        let (started, is_started) = channel();
        let (start, may_start) = channel::<()>();
        let may_start = Mutex::new(may_start);
        let starts = AtomicUsize::new(0);
        // The thread that would take the worker over does not start until the end.
        let runtime = multi_thread()
            .worker_threads(1)
            .on_thread_start(move || {
                if starts.fetch_add(1, SeqCst) > 0 {
                    let _ = may_start.lock().unwrap().recv();
                }
            })
            .build()
            .unwrap();
        let waits = DropWaits(gate);
        runtime.spawn(async move {
            let _waits = waits;
            pending::<()>().await;
        });
        runtime.spawn(async move {
            yield_now().await;
            block_in_place(|| {
                started.send(()).unwrap();
                let _ = released.recv();
            });
        });
        is_started.recv().unwrap();
        within_limit("the shutdown", move || ends(runtime));
        drop((open, release, start));
    }
}

thread_local! {
    /// Dropped when the thread ends.
    static AT_END: std::cell::RefCell<Option<OnDrop>> = const { std::cell::RefCell::new(None) };
}

/// Bug: own (a bounded shutdown waited for the destructors of thread-locals).
#[test]
fn a_bounded_shutdown_does_not_wait_for_the_destructor_of_a_thread_local() {
    for thread in THREADS {
        for builder in [multi_thread, current_thread] {
            for ends in BOUNDED {
                let mut builder = builder();
                if !thread.exists_in(&builder) {
                    continue;
                }
                let runtime = builder.worker_threads(1).build().unwrap();
                let (open, gate) = channel::<()>();
                let at_end = OnDrop::new(move || {
                    let _ = gate.recv();
                });
                thread.run(&runtime, move || AT_END.set(Some(at_end)));
                within_limit("the shutdown", move || ends(runtime));
                drop(open);
            }
        }
    }
}

/// A drop, and a timeout that is long enough, wait for the whole end of each thread.
#[test]
fn a_shutdown_that_waits_sees_hooks_and_destructors_end() {
    for thread in THREADS {
        for builder in [multi_thread, current_thread] {
            for ends in [Ends::Drop, Ends::Timeout] {
                let mut builder = builder();
                if !thread.exists_in(&builder) {
                    continue;
                }
                let (hooks, destructors) = (Arc::new(AtomicUsize::new(0)), Arc::default());
                let stops = Arc::clone(&hooks);
                builder.worker_threads(1).on_thread_stop(move || {
                    std::thread::sleep(Duration::from_millis(5));
                    stops.fetch_add(1, SeqCst);
                });
                let starts = Arc::new(AtomicUsize::new(0));
                let started = Arc::clone(&starts);
                builder.on_thread_start(move || {
                    started.fetch_add(1, SeqCst);
                });
                let runtime = builder.build().unwrap();
                let count: Arc<AtomicUsize> = Arc::clone(&destructors);
                let at_end = OnDrop::new(move || {
                    std::thread::sleep(Duration::from_millis(5));
                    count.fetch_add(1, SeqCst);
                });
                thread.run(&runtime, move || AT_END.set(Some(at_end)));
                within_limit("the shutdown", move || ends.end(runtime));
                assert_eq!(destructors.load(SeqCst), 1, "{thread:?}");
                assert_eq!(hooks.load(SeqCst), starts.load(SeqCst), "{thread:?}");
            }
        }
    }
}

/// Blocks on a future that uses the runtime, and sends the output.
fn block_on_at_drop(sender: std::sync::mpsc::Sender<u32>) -> OnDrop {
    OnDrop::new(move || {
        let handle = Handle::current();
        let output = handle.block_on(async {
            assert!(raddle::spawn(async {}).await.unwrap_err().is_cancelled());
            yield_now().await;
            spawn_blocking(|| 7).await.unwrap()
        });
        sender.send(output).unwrap();
    })
}

/// Bug: own (`block_on` panicked in a drop at the shutdown of a current-thread runtime).
#[test]
fn a_future_that_a_current_thread_runtime_drops_may_block_on() {
    for ends in Ends::ALL {
        let runtime = current_thread().build().unwrap();
        let (sender, receiver) = channel();
        for is_polled in [true, false] {
            let on_drop = block_on_at_drop(sender.clone());
            runtime.spawn(async move {
                let _on_drop = on_drop;
                pending::<()>().await;
            });
            if is_polled {
                runtime.block_on(yield_now());
            }
        }
        drop(sender);
        within_limit("the shutdown", move || ends.end(runtime));
        assert_eq!([receiver.recv(), receiver.recv()], [Ok(7), Ok(7)]);
    }
}

/// The same with a task of a `LocalRuntime`.
#[test]
fn a_local_future_that_a_local_runtime_drops_may_block_on() {
    let (sender, receiver) = channel();
    let on_drop = block_on_at_drop(sender);
    within_limit("the shutdown", move || {
        let runtime = LocalRuntime::new().unwrap();
        runtime.spawn_local(async move {
            let _on_drop = on_drop;
            pending::<()>().await;
        });
        runtime.block_on(yield_now());
        drop(runtime);
    });
    assert_eq!(receiver.recv(), Ok(7));
}

/// The same with a task of a `LocalSet` that is dropped outside `block_on`.
#[test]
fn a_local_future_that_a_set_drops_may_block_on() {
    each_flavor(|runtime| {
        let (sender, receiver) = channel();
        let on_drop = OnDrop::new(move || {
            let output = Handle::current().block_on(async {
                yield_now().await;
                7
            });
            sender.send(output).unwrap();
        });
        let set = LocalSet::new();
        set.spawn_local(async move {
            let _on_drop = on_drop;
            pending::<()>().await;
        });
        set.block_on(&runtime, yield_now());
        let _entered = runtime.enter();
        drop(set);
        assert_eq!(receiver.recv(), Ok(7));
    });
}

/// As on Tokio: a worker's thread must not block, not even at the shutdown, unless it says so.
#[test]
fn a_future_that_a_worker_drops_may_block_on_in_place() {
    for ends in Ends::ALL {
        let runtime = multi_thread().build().unwrap();
        let (sender, receiver) = channel();
        let on_drop = OnDrop::new(move || {
            let message = panic_message(|| Handle::current().block_on(async {}));
            assert!(message.contains("block_on was called inside a runtime"));
            block_in_place(|| drop(block_on_at_drop(sender)));
        });
        runtime.spawn(async move {
            let _on_drop = on_drop;
            pending::<()>().await;
        });
        runtime.block_on(yield_now());
        within_limit("the shutdown", move || ends.end(runtime));
        // A shutdown that does not wait may have shut the blocking pool down before.
        if ends != Ends::Background {
            assert_eq!(receiver.recv(), Ok(7));
        }
    }
}

/// The thread that runs the hook does not wait for itself.
#[test]
fn a_stop_hook_may_drop_its_runtime() {
    for builder in [multi_thread, current_thread] {
        let kept = Arc::new(Mutex::new(None::<Runtime>));
        let (dropped, is_dropped) = channel();
        let own = Arc::clone(&kept);
        let mut builder = builder();
        builder.thread_keep_alive(Duration::from_millis(1));
        builder.on_thread_stop(move || {
            let runtime = own.lock().unwrap().take();
            if runtime.is_some() {
                drop(runtime);
                dropped.send(()).unwrap();
            }
        });
        let runtime = builder.build().unwrap();
        let (open, gate) = channel::<()>();
        runtime.spawn_blocking(move || assert!(gate.recv().is_err()));
        *kept.lock().unwrap() = Some(runtime);
        drop(open);
        is_dropped.recv_timeout(LIMIT).expect("the hook waits");
    }
}

/// A runtime that a panic has shut down is dropped by one of its own tasks.
#[test]
fn a_task_may_drop_its_runtime_while_that_shuts_down() {
    for mut builder in builders() {
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime);
        let runtime = Arc::new(builder.build().unwrap());
        let (kept, (dropped, is_dropped)) = (Arc::clone(&runtime), channel());
        let handle = runtime.handle().clone();
        let on_drop = OnDrop::new(move || {
            drop(kept);
            dropped.send(()).unwrap();
        });
        runtime.spawn(async move {
            let _on_drop = on_drop;
            pending::<()>().await;
        });
        let panicking = std::panic::AssertUnwindSafe(move || {
            let _ = runtime.block_on(async { raddle::spawn(async { panic!("planted") }).await });
        });
        within_limit("the panic", move || {
            drop(std::panic::catch_unwind(panicking))
        });
        within_limit("the drop", move || is_dropped.recv().unwrap());
        drop(handle);
    }
}
