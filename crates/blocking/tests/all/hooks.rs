//! Hooks and destructors that use the pool or panic.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use raddle_blocking::{Config, Handle, Pool};

type Closure = Box<dyn FnOnce() + Send>;

const LONG: Duration = Duration::from_secs(60);

fn capped(max_threads: usize) -> Config {
    Config {
        max_threads,
        ..Config::default()
    }
}

/// On drop, sends the pool's number of threads and panics.
struct ReportThreads {
    handle: Handle<Closure>,
    sender: Sender<usize>,
}

impl Drop for ReportThreads {
    fn drop(&mut self) {
        self.sender.send(self.handle.threads()).unwrap();
        panic!("a drop (expected by this test)");
    }
}

#[test]
fn a_job_without_a_thread_is_dropped_outside_the_lock() {
    let mut pool = Pool::<Closure>::new(Config {
        around_thread: Some(Arc::new(|_| panic!("the hook (expected by this test)"))),
        ..capped(1)
    });
    let (sender, thread_counts) = channel();
    let handle = pool.handle().clone();
    let report = ReportThreads { handle, sender };
    pool.handle()
        .submit(Box::new(move || drop(report)))
        .unwrap();
    assert_eq!(thread_counts.recv_timeout(LONG), Ok(0));
    assert!(pool.shutdown(None));
}

#[test]
fn the_panic_payload_of_a_hook_is_dropped_outside_the_lock() {
    let payload = Arc::new(Mutex::new(None));
    let payload_of_hook = Arc::clone(&payload);
    let mut pool = Pool::<Closure>::new(Config {
        around_thread: Some(Arc::new(move |run| {
            run();
            panic_any(payload_of_hook.lock().unwrap().take().unwrap());
        })),
        ..capped(1)
    });
    let (sender, thread_counts) = channel();
    let handle = pool.handle().clone();
    *payload.lock().unwrap() = Some(ReportThreads { handle, sender });
    pool.handle().submit(Box::new(|| ())).unwrap();
    assert!(pool.shutdown(None));
    assert_eq!(thread_counts.recv_timeout(LONG), Ok(0));
}

#[test]
fn a_hook_whose_drop_panics_does_not_prevent_the_shutdown() {
    let slot = Arc::new(Mutex::new(None::<ReportThreads>));
    let slot_of_hook = Arc::clone(&slot);
    let mut pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(move || format!("{}", slot_of_hook.lock().is_ok())),
        ..capped(1)
    });
    let (sender, thread_counts) = channel();
    let handle = pool.handle().clone();
    *slot.lock().unwrap() = Some(ReportThreads { handle, sender });
    // The hook now has the last reference.
    drop(slot);
    assert!(pool.shutdown(None));
    assert_eq!(thread_counts.recv_timeout(LONG), Ok(0));
}

#[test]
fn the_name_function_runs_once_per_thread_and_not_per_job() {
    let names = Arc::new(AtomicUsize::new(0));
    let names_of_hook = Arc::clone(&names);
    let mut pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(move || format!("{}", names_of_hook.fetch_add(1, SeqCst))),
        keep_alive: None,
        ..capped(1)
    });
    let (sender, receiver) = channel();
    for _ in 0..10 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || sender.send(()).unwrap()))
            .unwrap();
    }
    (0..10).for_each(|_| receiver.recv_timeout(LONG).unwrap());
    assert_eq!(names.load(SeqCst), 1);
    assert!(pool.shutdown(None));
}

#[test]
fn a_pool_that_is_shut_down_while_a_thread_is_named_refuses_the_job() {
    let slot = Arc::new(Mutex::new(None::<Pool<Closure>>));
    let slot_of_hook = Arc::clone(&slot);
    let pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(move || {
            drop(slot_of_hook.lock().unwrap().take());
            "late".to_owned()
        }),
        ..capped(1)
    });
    let handle = pool.handle().clone();
    *slot.lock().unwrap() = Some(pool);
    assert!(handle.submit(Box::new(|| ())).unwrap_err().is_shutdown());
    assert_eq!(handle.threads(), 0);
}

#[test]
fn a_job_that_is_submitted_while_a_thread_is_named_counts_for_the_cap() {
    let handle = Arc::new(OnceLock::<Handle<Closure>>::new());
    let (handle_of_hook, calls) = (Arc::clone(&handle), AtomicUsize::new(0));
    let mut pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(move || {
            if calls.fetch_add(1, SeqCst) == 0 {
                handle_of_hook
                    .get()
                    .unwrap()
                    .submit(Box::new(|| ()))
                    .unwrap();
            }
            "named".to_owned()
        }),
        keep_alive: None,
        ..capped(1)
    });
    handle.set(pool.handle().clone()).ok().unwrap();
    let (sender, receiver) = channel();
    pool.handle()
        .submit(Box::new(move || sender.send(()).unwrap()))
        .unwrap();
    assert_eq!(pool.handle().threads(), 1);
    receiver.recv_timeout(LONG).unwrap();
    assert!(pool.shutdown(None));
}

#[test]
fn a_thread_has_the_configured_stack_size() {
    let mut pool = Pool::<Closure>::new(Config {
        stack_size: Some(64 << 20),
        ..capped(1)
    });
    let (sender, receiver) = channel();
    pool.handle()
        .submit(Box::new(move || {
            let bytes = std::hint::black_box([1_u8; 16 << 20]);
            sender.send(bytes[bytes.len() / 2]).unwrap();
        }))
        .unwrap();
    assert_eq!(receiver.recv_timeout(LONG), Ok(1));
    assert!(pool.shutdown(None));
}

/// Counts its drops; a drop takes `delay`.
struct Local {
    dropped: Arc<AtomicUsize>,
    delay: Duration,
}

impl Drop for Local {
    fn drop(&mut self) {
        std::thread::sleep(self.delay);
        self.dropped.fetch_add(1, SeqCst);
    }
}

thread_local! {
    static LOCAL: std::cell::RefCell<Option<Local>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn a_shutdown_waits_until_the_locals_of_each_thread_are_dropped() {
    let names = AtomicUsize::new(0);
    let mut pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(move || names.fetch_add(1, SeqCst).to_string()),
        ..capped(4)
    });
    let barrier = Arc::new(std::sync::Barrier::new(5));
    let dropped = Arc::new(AtomicUsize::new(0));
    for _ in 0..4 {
        let (barrier, dropped) = (Arc::clone(&barrier), Arc::clone(&dropped));
        pool.handle()
            .submit(Box::new(move || {
                // A shutdown that waited only for the last thread would return before the other
                // drops.
                let is_last = std::thread::current().name() == Some("3");
                let delay = Duration::from_millis(if is_last { 0 } else { 200 });
                LOCAL.set(Some(Local { dropped, delay }));
                barrier.wait();
            }))
            .unwrap();
    }
    // The shutdown would drop a job that has not started.
    barrier.wait();
    assert!(pool.shutdown(None));
    assert_eq!(dropped.load(SeqCst), 4);
}

#[test]
fn a_thread_that_waits_for_work_is_idle() {
    let mut pool = Pool::<Closure>::new(Config {
        keep_alive: None,
        ..capped(1)
    });
    assert_eq!(pool.handle().idle_threads(), 0);
    pool.handle().submit(Box::new(|| ())).unwrap();
    let start = std::time::Instant::now();
    while pool.handle().idle_threads() != 1 {
        assert!(start.elapsed() < LONG, "the thread never becomes idle");
        std::thread::yield_now();
    }
    assert!(pool.shutdown(None));
}

#[test]
fn a_shutdown_waits_for_its_timeout() {
    let mut pool = Pool::<Closure>::new(capped(1));
    let (release, released) = channel::<()>();
    pool.handle()
        .submit(Box::new(move || {
            let _ = released.recv();
        }))
        .unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    let releaser = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        drop(release);
    });
    assert!(pool.shutdown(Some(LONG)));
    releaser.join().unwrap();
}

/// A payload whose drop panics with another `Nested`, as many times as its number says.
struct Nested(u32);

impl Drop for Nested {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Nested(self.0 - 1));
        }
    }
}

#[test]
fn a_panic_payload_whose_drop_panics_repeatedly_does_not_end_the_thread() {
    let mut pool = Pool::<Closure>::new(Config {
        keep_alive: None,
        ..capped(1)
    });
    let (sender, receiver) = channel();
    let first = sender.clone();
    pool.handle()
        .submit(Box::new(move || {
            first.send(std::thread::current().id()).unwrap();
            panic_any(Nested(5));
        }))
        .unwrap();
    pool.handle()
        .submit(Box::new(move || {
            sender.send(std::thread::current().id()).unwrap();
        }))
        .unwrap();
    let thread = receiver.recv_timeout(LONG).unwrap();
    assert_eq!(receiver.recv_timeout(LONG), Ok(thread));
    assert!(pool.shutdown(None));
}
