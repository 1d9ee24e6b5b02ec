//! Wakers and drops that call into the runtime, from every place that calls them: none is called
//! under a lock.

use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use crate::common::{each_flavor, eventually};
use raddle::io::{AsyncReadExt, AsyncWriteExt, duplex};
use raddle::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use raddle::runtime::{Handle, Runtime};
use raddle::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use raddle::task::{AbortHandle, JoinSet, LocalSet, spawn_blocking, spawn_local, yield_now};
use raddle::time::{interval, sleep, timeout};

const MOMENT: Duration = Duration::from_millis(1);
const LIMIT: Duration = Duration::from_secs(60);

std::thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls into the runtime when it is woken and when it is dropped.
struct ReentrantWaker {
    handle: Handle,
    aborts: AbortHandle,
    messages: mpsc::Sender<()>,
    notify: Arc<Notify>,
    calls: Arc<AtomicUsize>,
}

impl ReentrantWaker {
    fn call_runtime(&self) {
        self.calls.fetch_add(1, SeqCst);
        // The calls may drop another value of this type.
        if INSIDE.replace(true) {
            return;
        }
        let mut cx = Context::from_waker(Waker::noop());
        let _guard = self.handle.enter();
        drop(self.handle.spawn(yield_now()));
        drop(self.handle.spawn_blocking(|| ()));
        self.aborts.abort();
        let _ = self.messages.try_send(());
        self.notify.notify_one();
        self.notify.notify_waiters();
        let (sender, mut receiver) = oneshot::channel();
        let _ = Pin::new(&mut receiver).poll(&mut cx);
        let _ = sender.send(());
        // These fail or panic if the runtime has shut down.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut timer = pin!(sleep(Duration::from_secs(9)));
            let _ = timer.as_mut().poll(&mut cx);
            timer.as_mut().reset(raddle::time::Instant::now() + MOMENT);
        }));
        if let Ok((mut near, _far)) = UnixStream::pair() {
            let mut byte = [0];
            let _ = pin!(near.read(&mut byte)).poll(&mut cx);
        }
        INSIDE.set(false);
    }
}

impl Wake for ReentrantWaker {
    fn wake(self: Arc<Self>) {
        self.call_runtime();
    }
}

impl Drop for ReentrantWaker {
    fn drop(&mut self) {
        self.call_runtime();
    }
}

/// Creates wakers that call into one runtime.
struct WakerFactory {
    handle: Handle,
    notify: Arc<Notify>,
    messages: mpsc::Sender<()>,
    calls: Arc<AtomicUsize>,
}

impl WakerFactory {
    fn new(runtime: &Runtime) -> Self {
        let (messages, mut inbox) = mpsc::channel(2);
        runtime.spawn(async move { while inbox.recv().await.is_some() {} });
        Self {
            handle: runtime.handle().clone(),
            notify: Arc::default(),
            messages,
            calls: Arc::default(),
        }
    }

    fn reentrant_waker(&self) -> Arc<ReentrantWaker> {
        let notify = self.notify.clone();
        let victim = self.handle.spawn(async move { notify.notified().await });
        Arc::new(ReentrantWaker {
            handle: self.handle.clone(),
            aborts: victim.abort_handle(),
            messages: self.messages.clone(),
            notify: self.notify.clone(),
            calls: self.calls.clone(),
        })
    }

    fn waker(&self) -> Waker {
        Waker::from(self.reentrant_waker())
    }

    fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }
}

type Waiting = Pin<Box<dyn Future<Output = ()>>>;
/// Completes the awaited future.
type Trigger = Box<dyn FnOnce()>;
type WakerHolder = fn() -> (Waiting, Trigger);

fn waiting(future: impl Future<Output = ()> + 'static) -> Waiting {
    Box::pin(future)
}

/// Operations that store a waker.
const WAKER_HOLDERS: &[WakerHolder] = &[
    || (waiting(sleep(MOMENT)), Box::new(|| ())),
    || {
        let late = async { drop(timeout(MOMENT, pending::<()>()).await) };
        (waiting(late), Box::new(|| ()))
    },
    || {
        let mut ticks = interval(MOMENT);
        let two = async move {
            ticks.tick().await;
            ticks.tick().await;
        };
        (waiting(two), Box::new(|| ()))
    },
    || {
        let (open, gate) = oneshot::channel();
        let task = raddle::spawn(async move { drop(gate.await) });
        (
            waiting(async { task.await.unwrap() }),
            Box::new(|| open.send(()).unwrap()),
        )
    },
    || {
        let task = raddle::spawn(pending::<()>());
        let abort = task.abort_handle();
        (
            waiting(async { drop(task.await) }),
            Box::new(move || abort.abort()),
        )
    },
    || {
        let (open, gate) = oneshot::channel();
        let mut set = JoinSet::new();
        set.spawn(async move { drop(gate.await) });
        (
            waiting(async move { set.join_next().await.unwrap().unwrap() }),
            Box::new(|| open.send(()).unwrap()),
        )
    },
    || {
        let (open, gate) = channel::<()>();
        // The shutdown of the runtime waits for the job, so it ends by itself.
        let task = spawn_blocking(move || gate.recv_timeout(10 * MOMENT).unwrap_or(()));
        (
            waiting(async { task.await.unwrap() }),
            Box::new(move || drop(open)),
        )
    },
    || {
        let (mut near, far) = stream();
        let read = async move { drop(near.read(&mut [0]).await) };
        (waiting(read), Box::new(move || drop(far)))
    },
    || {
        let (near, mut far) = UnixStream::pair().unwrap();
        let ready = async move { near.readable().await.unwrap() };
        let write = move || drop(now(far.write(b"x")));
        (waiting(ready), Box::new(write))
    },
    || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let accept = async move { drop(listener.accept().await) };
        let connect = move || drop(std::net::TcpStream::connect(address));
        (waiting(accept), Box::new(connect))
    },
    || {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        let socket = UdpSocket::from_std(socket).unwrap();
        let receive = async move { drop(socket.recv(&mut [0]).await) };
        let send = move || {
            let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            other.send_to(b"x", address).unwrap();
        };
        (waiting(receive), Box::new(send))
    },
    || {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (
            waiting(async move { receiver.recv().await.unwrap() }),
            Box::new(move || sender.send(()).unwrap()),
        )
    },
    || {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(()).unwrap();
        (
            waiting(async move { sender.send(()).await.unwrap() }),
            Box::new(move || receiver.try_recv().unwrap()),
        )
    },
    || {
        let (sender, receiver) = oneshot::channel();
        (
            waiting(async { receiver.await.unwrap() }),
            Box::new(|| sender.send(()).unwrap()),
        )
    },
    || {
        let (mut sender, receiver) = oneshot::channel::<()>();
        (
            waiting(async move { sender.closed().await }),
            Box::new(move || drop(receiver)),
        )
    },
    || {
        let (sender, mut receiver) = broadcast::channel(1);
        (
            waiting(async move { receiver.recv().await.unwrap() }),
            Box::new(move || drop(sender.send(()))),
        )
    },
    || {
        let (sender, mut receiver) = watch::channel(());
        (
            waiting(async move { receiver.changed().await.unwrap() }),
            Box::new(move || sender.send(()).unwrap()),
        )
    },
    || {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        (
            waiting(async move { theirs.notified().await }),
            Box::new(move || notify.notify_one()),
        )
    },
    || {
        let permits = Arc::new(Semaphore::new(0));
        let theirs = permits.clone();
        (
            waiting(async move { drop(theirs.acquire().await) }),
            Box::new(move || permits.add_permits(1)),
        )
    },
    || {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.clone().try_lock_owned().unwrap();
        (
            waiting(async move { drop(mutex.lock().await) }),
            Box::new(move || drop(guard)),
        )
    },
    || {
        let lock = Arc::new(RwLock::new(()));
        let guard = lock.clone().try_read_owned().unwrap();
        (
            waiting(async move { drop(lock.write().await) }),
            Box::new(move || drop(guard)),
        )
    },
    || {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        let other = move || assert!(now(barrier.wait()).is_some());
        (
            waiting(async move { assert!(!theirs.wait().await.is_leader()) }),
            Box::new(other),
        )
    },
    || {
        let (mut near, far) = duplex(8);
        (
            waiting(async move { drop(near.read(&mut [0]).await) }),
            Box::new(move || drop(far)),
        )
    },
];

/// A connected pair: a socket of the runtime and one of std.
fn stream() -> (TcpStream, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    near.set_nonblocking(true).unwrap();
    (
        TcpStream::from_std(near).unwrap(),
        listener.accept().unwrap().0,
    )
}

/// Polls a future once.
fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// Runs the runtime until `done` returns true; panics after half of `LIMIT`.
fn until(runtime: &Runtime, what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LIMIT / 2, "not in time: {what}");
        runtime.block_on(async { sleep(MOMENT).await });
    }
}

/// Runs a test on a thread of its own, since it may deadlock; panics if it does not return.
fn within_limit(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = channel();
    let thread = std::thread::spawn(move || {
        test();
        done.send(()).unwrap();
    });
    assert!(
        is_done.recv_timeout(LIMIT).is_ok(),
        "the test hangs or panicked"
    );
    thread.join().unwrap();
}

/// tokio 4129, 5471, 5578: wakers are replaced, woken, dropped with their future, and dropped with
/// their runtime.
#[test]
fn wakers_may_use_the_runtime_at_every_point() {
    each_flavor(|runtime| {
        within_limit(move || {
            let factory = WakerFactory::new(&runtime);
            let mut left = Vec::new();
            let start = Instant::now();
            for (number, place) in WAKER_HOLDERS.iter().enumerate() {
                let name = format!("waker holder {number}");
                // Now and then an operation completes before its last poll; then it is started
                // again.
                let begin = |polls| loop {
                    let _guard = runtime.enter();
                    let (mut future, trigger) = place();
                    let mut poll = || {
                        let waker = factory.waker();
                        future.as_mut().poll(&mut Context::from_waker(&waker))
                    };
                    if (0..polls).all(|_| poll().is_pending()) {
                        return (future, trigger);
                    }
                    assert!(
                        start.elapsed() < LIMIT / 2,
                        "{name}: the future never stays pending"
                    );
                };
                eventually(&format!("{name}: a waker is woken"), || {
                    let before = factory.calls();
                    let (_future, trigger) = begin(2);
                    assert!(factory.calls() > before, "{name}: no waker was replaced");
                    let before = factory.calls();
                    trigger();
                    // The future may have completed before; then nothing is woken.
                    (0..100).any(|_| {
                        runtime.block_on(async { sleep(MOMENT).await });
                        factory.calls() > before
                    })
                });
                eventually(&format!("{name}: a waker is dropped"), || {
                    let (future, trigger) = begin(1);
                    let before = factory.calls();
                    let _guard = runtime.enter();
                    drop(future);
                    // State that both share keeps the waker until both are dropped.
                    drop(trigger);
                    factory.calls() > before
                });
                left.push(begin(1));
            }
            drop(runtime);
            drop(left);
        });
    });
}

/// tokio 1972, 2074, 2082: values that are dropped with tasks, messages and runtimes.
#[test]
fn drops_may_use_the_runtime_at_every_point() {
    each_flavor(|runtime| {
        within_limit(move || {
            let factory = WakerFactory::new(&runtime);
            let value = || factory.reentrant_waker();
            // Each of them holds the only reference to a value.
            let count = |what: &str, act: &dyn Fn()| {
                let before = factory.calls();
                act();
                until(&runtime, what, || factory.calls() > before);
            };
            let guard = runtime.enter();
            let idle = |value: Arc<ReentrantWaker>| async move {
                let _value = value;
                pending::<()>().await;
            };
            count("a future that is aborted", &|| {
                let task = raddle::spawn(idle(value()));
                runtime.block_on(yield_now());
                task.abort();
            });
            count("an output without a join handle", &|| {
                let value = value();
                drop(raddle::spawn(async { value }));
            });
            count("an output with its handle", &|| {
                let value = value();
                let task = raddle::spawn(async { value });
                until(&runtime, "the output", || task.is_finished());
                drop(task);
            });
            count("a payload", &|| {
                let value = value();
                drop(raddle::spawn(async {
                    std::panic::resume_unwind(Box::new(value));
                }));
            });
            count("a set of tasks", &|| {
                let mut set = JoinSet::new();
                set.spawn(idle(value()));
                runtime.block_on(yield_now());
                drop(set);
            });
            count("a local set", &|| {
                let set = LocalSet::new();
                let value = value();
                set.block_on(&runtime, async {
                    spawn_local(idle(value));
                    yield_now().await;
                });
                drop(set);
            });
            count("a closure", &|| {
                let value = value();
                let work = spawn_blocking(move || drop(value));
                work.abort();
            });
            count("a message", &|| {
                let (sender, receiver) = mpsc::channel(1);
                assert!(sender.try_send(value()).is_ok());
                drop(receiver);
            });
            count("a message without limit", &|| {
                let (sender, receiver) = mpsc::unbounded_channel();
                assert!(sender.send(value()).is_ok());
                drop(receiver);
                drop(sender);
            });
            count("a single message", &|| {
                let (sender, receiver) = oneshot::channel();
                assert!(sender.send(value()).is_ok());
                drop(receiver);
            });
            count("a message that is overtaken", &|| {
                let (sender, _receiver) = broadcast::channel(1);
                for _ in 0..2 {
                    assert!(sender.send(value()).is_ok());
                }
            });
            count("a value that is replaced", &|| {
                let (sender, _receiver) = watch::channel(value());
                drop(sender.send(value()));
            });
            for _ in 0..3 {
                drop(raddle::spawn(idle(value())));
                let value = value();
                drop(spawn_blocking(move || drop(value)));
            }
            let before = factory.calls();
            drop(guard);
            drop(runtime);
            assert!(factory.calls() >= before + 3, "the calls of the shutdown");
        });
    });
}
