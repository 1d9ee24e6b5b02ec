//! Threads of std, and what they wait for.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use super::harness::{Log, compared, settle_blocking};

compared! { blocking
    channels sync_channels time_outs condvars parking barriers locks once scopes handles panics
    destructors poisoning names contention sleeps timed_lock
}

const MS: Duration = Duration::from_millis(1);

fn channels(log: Log) {
    let (tx, rx) = mpsc::channel();
    log.line("empty", rx.try_recv() == Err(TryRecvError::Empty));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let tx = tx.clone();
            thread::spawn(move || {
                thread::sleep(MS * 5 * number);
                tx.send(number).unwrap();
            })
        })
        .collect();
    drop(tx);
    let mut received: Vec<_> = rx.iter().collect();
    received.sort();
    log.line("received", received);
    log.line("closed", rx.recv().is_err());
    for thread in threads {
        log.line("joined", thread.join().is_ok());
    }
    let (tx, rx) = mpsc::channel();
    drop(rx);
    log.line("no receiver", tx.send(1).is_err());
}

fn sync_channels(log: Log) {
    let (tx, rx) = mpsc::sync_channel(1);
    let sent = Arc::new(AtomicU32::new(0));
    let counts = sent.clone();
    let thread = thread::spawn(move || {
        for number in 0..4 {
            tx.send(number).unwrap();
            counts.fetch_add(1, Ordering::SeqCst);
        }
    });
    settle_blocking();
    log.line("sent", sent.load(Ordering::SeqCst));
    log.line("received", rx.iter().collect::<Vec<_>>());
    thread.join().unwrap();
    let (tx, rx) = mpsc::sync_channel(0);
    log.line("rendezvous", tx.try_send(1).is_err());
    let thread = thread::spawn(move || tx.send(5).is_ok());
    settle_blocking();
    log.line("received", rx.recv());
    log.line("sent", thread.join().unwrap());
}

fn time_outs(log: Log) {
    let (tx, rx) = mpsc::channel::<u32>();
    let start = Instant::now();
    log.line(
        "time-out",
        rx.recv_timeout(MS * 30) == Err(RecvTimeoutError::Timeout),
    );
    log.line("waited", start.elapsed() >= MS * 30);
    let thread = thread::spawn(move || {
        settle_blocking();
        tx.send(1).unwrap();
    });
    log.line("in time", rx.recv_timeout(MS * 5_000));
    thread.join().unwrap();
    log.line(
        "closed",
        rx.recv_timeout(MS * 30) == Err(RecvTimeoutError::Disconnected),
    );
}

fn condvars(log: Log) {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let guard = shared.0.lock().unwrap();
    let (guard, result) = shared.1.wait_timeout(guard, MS * 30).unwrap();
    log.line("timed out", result.timed_out());
    drop(guard);
    let theirs = shared.clone();
    let thread = thread::spawn(move || {
        settle_blocking();
        *theirs.0.lock().unwrap() = 1;
        theirs.1.notify_one();
    });
    let guard = shared.0.lock().unwrap();
    let waited = shared
        .1
        .wait_timeout_while(guard, MS * 5_000, |value| *value == 0)
        .unwrap();
    log.line("notified", (*waited.0, waited.1.timed_out()));
    drop(waited);
    thread.join().unwrap();
    let theirs = shared.clone();
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let theirs = theirs.clone();
            thread::spawn(move || {
                let guard = theirs.0.lock().unwrap();
                let mut value = theirs.1.wait_while(guard, |value| *value < 2).unwrap();
                *value += 1;
            })
        })
        .collect();
    settle_blocking();
    *shared.0.lock().unwrap() = 2;
    shared.1.notify_all();
    for thread in threads {
        thread.join().unwrap();
    }
    log.line("all", *shared.0.lock().unwrap());
}

fn parking(log: Log) {
    let start = Instant::now();
    thread::park_timeout(MS * 30);
    log.line("waited", start.elapsed() >= MS * 29);
    let thread = thread::spawn(|| {
        thread::park();
        1
    });
    settle_blocking();
    log.line("parked", !thread.is_finished());
    thread.thread().unpark();
    log.line("unparked", thread.join().unwrap());
    thread::current().unpark();
    let start = Instant::now();
    thread::park();
    log.line("token", start.elapsed() < MS * 1000);
}

fn barriers(log: Log) {
    let barrier = Arc::new(Barrier::new(3));
    let arrived = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (barrier, arrived) = (barrier.clone(), arrived.clone());
            thread::spawn(move || {
                arrived.fetch_add(1, Ordering::SeqCst);
                let is_leader = barrier.wait().is_leader();
                (is_leader, arrived.load(Ordering::SeqCst))
            })
        })
        .collect();
    settle_blocking();
    log.line(
        "not finished",
        threads.iter().any(thread::JoinHandle::is_finished),
    );
    arrived.fetch_add(1, Ordering::SeqCst);
    let mut leaders = u32::from(barrier.wait().is_leader());
    for thread in threads {
        let (is_leader, count) = thread.join().unwrap();
        leaders += u32::from(is_leader);
        log.line("arrived", count);
    }
    log.line("leaders", leaders);
}

fn locks(log: Log) {
    let lock = Arc::new(RwLock::new(1));
    let one = lock.read().unwrap();
    log.line("two readers", lock.try_read().is_ok());
    log.line("no writer", lock.try_write().is_err());
    let theirs = lock.clone();
    let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
    settle_blocking();
    log.line("waits", !writer.is_finished());
    log.line("behind a writer", lock.try_read().is_ok());
    drop(one);
    writer.join().unwrap();
    log.line("written", *lock.read().unwrap());
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock().unwrap();
    log.line("locked", mutex.try_lock().is_err());
    let theirs = mutex.clone();
    let thread = thread::spawn(move || *theirs.lock().unwrap() += 1);
    settle_blocking();
    drop(guard);
    thread.join().unwrap();
    log.line("value", *mutex.lock().unwrap());
}

fn once(log: Log) {
    let once = Arc::new(Once::new());
    let runs = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (once, runs) = (once.clone(), runs.clone());
            thread::spawn(move || {
                once.call_once(|| {
                    settle_blocking();
                    runs.fetch_add(1, Ordering::SeqCst);
                });
                runs.load(Ordering::SeqCst)
            })
        })
        .collect();
    for thread in threads {
        log.line("runs", thread.join().unwrap());
    }
    log.line("completed", once.is_completed());
    let cell = Arc::new(OnceLock::new());
    let theirs = cell.clone();
    let thread = thread::spawn(move || {
        *theirs.get_or_init(|| {
            settle_blocking();
            1
        })
    });
    thread::sleep(MS * 5);
    log.line("cell", *cell.get_or_init(|| 2));
    log.line("theirs", thread.join().unwrap());
    let lazy = Arc::new(LazyLock::new(|| 5));
    log.line("lazy", **lazy);
}

fn scopes(log: Log) {
    let mut values = [1, 2, 3];
    let sum = thread::scope(|scope| {
        for value in &mut values {
            scope.spawn(|| {
                settle_blocking();
                *value *= 2;
            });
        }
        scope.spawn(|| 7).join().unwrap()
    });
    log.line("sum", sum);
    log.line("values", values);
    let result = thread::scope(|scope| scope.spawn(|| panic_quietly("in a scope")).join().is_err());
    log.line("panicked", result);
}

fn handles(log: Log) {
    let (go, wait) = mpsc::channel::<()>();
    let thread = thread::spawn(move || wait.recv().is_ok());
    settle_blocking();
    log.line("finished", thread.is_finished());
    go.send(()).unwrap();
    settle_blocking();
    log.line("finished", thread.is_finished());
    log.line("joined", thread.join().unwrap());
    let value = thread::spawn(|| thread::spawn(|| 3).join().unwrap() + 1);
    log.line("nested", value.join().unwrap());
    // One that nothing joins.
    let (tx, rx) = mpsc::channel();
    drop(thread::spawn(move || {
        settle_blocking();
        tx.send(9).unwrap();
    }));
    log.line("detached", rx.recv());
}

/// Panics without the message of the hook.
fn panic_quietly(text: &'static str) {
    std::panic::resume_unwind(Box::new(text));
}

fn panics(log: Log) {
    let payload = thread::spawn(|| panic_quietly("text")).join().unwrap_err();
    log.line("payload", payload.downcast_ref::<&str>());
    let caught = std::panic::catch_unwind(|| panic_quietly("caught"));
    log.line("caught", caught.is_err());
    struct OnDrop(mpsc::Sender<bool>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.send(thread::panicking()).unwrap();
        }
    }
    let (tx, rx) = mpsc::channel();
    let thread = thread::spawn(move || {
        let _guard = OnDrop(tx);
        panic_quietly("with a guard");
    });
    log.line("panicking", rx.recv());
    log.line("join", thread.join().is_err());
}

fn destructors(log: Log) {
    struct Local(mpsc::Sender<&'static str>);
    impl Drop for Local {
        fn drop(&mut self) {
            // A destructor may block.
            settle_blocking();
            self.0.send("dropped").unwrap();
        }
    }
    thread_local! {
        static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
    }
    let (tx, rx) = mpsc::channel();
    let of_thread = tx.clone();
    let thread = thread::spawn(move || {
        LOCAL.with(|local| *local.borrow_mut() = Some(Local(of_thread.clone())));
        of_thread.send("ends").unwrap();
    });
    thread.join().unwrap();
    drop(tx);
    log.line("messages", rx.iter().collect::<Vec<_>>());
    // A channel whose last sender is dropped by a thread's destructor.
    thread_local! {
        static SENDER: RefCell<Option<mpsc::Sender<u32>>> = const { RefCell::new(None) };
    }
    let (tx, rx) = mpsc::channel();
    drop(thread::spawn(move || {
        SENDER.with(|sender| *sender.borrow_mut() = Some(tx))
    }));
    log.line("closed", rx.recv().is_err());
}

fn poisoning(log: Log) {
    let lock = Arc::new(Mutex::new(1));
    let theirs = lock.clone();
    let thread = thread::spawn(move || {
        let _guard = theirs.lock().unwrap();
        panic_quietly("with a lock");
    });
    log.line("join", thread.join().is_err());
    log.line("poisoned", lock.is_poisoned());
    log.line("lock", lock.lock().is_err());
}

fn names(log: Log) {
    let builder = thread::Builder::new()
        .name("of its own".to_owned())
        .stack_size(256 * 1024);
    let thread = builder
        .spawn(|| thread::current().name().map(str::to_owned))
        .unwrap();
    log.line("name", thread.join().unwrap());
    let unnamed = thread::spawn(|| thread::current().name().map(str::to_owned));
    log.line("unnamed", unnamed.join().unwrap());
    let (one, two) = (
        thread::current().id(),
        thread::spawn(|| thread::current().id()),
    );
    log.line("ids differ", one != two.join().unwrap());
}

fn contention(log: Log) {
    let count = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                for _ in 0..100 {
                    let mut count = count.lock().unwrap();
                    *count += 1;
                    if *count % 50 == 0 {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    log.line("count", *count.lock().unwrap());
}

fn sleeps(log: Log) {
    let start = Instant::now();
    thread::sleep(MS * 20);
    log.line("slept", start.elapsed() >= MS * 20);
    thread::sleep(Duration::ZERO);
    // Not the order in which they end: a busy machine changes it.
    let threads = [3, 1, 2].map(|number| {
        thread::spawn(move || {
            thread::sleep(MS * 5 * number);
            start.elapsed() >= MS * (20 + 5 * number)
        })
    });
    log.line("threads", threads.map(|thread| thread.join().unwrap()));
    let start = std::time::SystemTime::now();
    thread::sleep(MS * 5);
    log.line("calendar", start.elapsed().unwrap() >= MS * 4);
}

fn timed_lock(log: Log) {
    // A spin on another thread's flag ends.
    let flag = Arc::new(AtomicU32::new(0));
    let theirs = flag.clone();
    let thread = thread::spawn(move || {
        settle_blocking();
        theirs.store(1, Ordering::SeqCst);
    });
    while flag.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    log.line("flag", flag.load(Ordering::SeqCst));
    thread.join().unwrap();
}
