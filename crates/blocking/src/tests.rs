//! Tests with a replaced thread start, which fails as on a system that has no more threads.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

use crate::{Config, Handle, Pool};

type Closure = Box<dyn FnOnce() + Send>;

/// Makes a pool that can start `allowed` threads, and the count of attempts to start one.
fn pool(allowed: usize, config: Config) -> (Pool<Closure>, Arc<AtomicUsize>) {
    let attempts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&attempts);
    let pool = Pool::with_spawn(
        config,
        Box::new(move |builder, body| {
            // ORDERING: a count that is read after the submissions.
            if count.fetch_add(1, Ordering::Relaxed) < allowed {
                builder.spawn(body)
            } else {
                Err(io::Error::from(io::ErrorKind::WouldBlock))
            }
        }),
    );
    (pool, attempts)
}

/// Returns a job that reports its start and runs until the returned sender is dropped.
fn gate() -> (Closure, Receiver<()>, Sender<()>) {
    let (start, started) = channel();
    let (end, ended) = channel::<()>();
    let job = Box::new(move || {
        start.send(()).unwrap();
        let _ = ended.recv();
    });
    (job, started, end)
}

/// tokio 2309, 8406.
#[test]
fn a_job_is_returned_if_no_thread_can_be_started() {
    let (mut pool, attempts) = pool(0, Config::default());
    let (sender, receiver) = channel();
    let refused = pool
        .handle()
        .submit(Box::new(move || sender.send(7).unwrap()))
        .unwrap_err();
    assert!(refused.is_no_thread());
    assert!(!refused.is_shutdown());
    let text = refused.to_string();
    assert!(text.contains("no thread could be started"), "{text}");
    assert!(text.contains("raise the limit of threads"), "{text}");
    assert!(text.contains("smaller stack"), "{text}");
    assert_eq!(attempts.load(Ordering::Relaxed), 1);
    assert_eq!(pool.handle().threads(), 0);
    assert_eq!(pool.handle().queued(), 0);
    refused.into_job()();
    assert_eq!(receiver.recv(), Ok(7));
    assert!(pool.shutdown(None));
}

#[test]
fn a_job_waits_if_a_thread_exists_and_no_other_can_be_started() {
    let (mut pool, attempts) = pool(1, Config::default());
    let (job, started, end) = gate();
    pool.handle().submit(job).unwrap();
    started.recv().unwrap();

    let (sender, receiver) = channel();
    for id in 0..10 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || sender.send(id).unwrap()))
            .unwrap();
    }
    // Each submission tried to start a thread.
    assert_eq!(attempts.load(Ordering::Relaxed), 11);
    assert_eq!(pool.handle().threads(), 1);
    assert_eq!(pool.handle().queued(), 10);
    drop(end);
    for id in 0..10 {
        assert_eq!(receiver.recv(), Ok(id));
    }
    assert!(pool.shutdown(None));
}

#[test]
fn a_job_that_may_not_wait_is_returned_if_no_thread_is_free_and_none_can_be_started() {
    let (mut pool, _) = pool(1, Config::default());
    let (job, started, end) = gate();
    pool.handle().submit_now(job).unwrap();
    started.recv().unwrap();
    let refused = pool.handle().submit_now(Box::new(|| ())).unwrap_err();
    assert!(refused.is_no_thread());
    assert_eq!((pool.handle().threads(), pool.handle().queued()), (1, 0));
    drop(end);
    while pool.handle().idle_threads() == 0 {
        thread::yield_now();
    }
    let (sender, receiver) = channel();
    let job = Box::new(move || sender.send(7).unwrap());
    pool.handle().submit_now(job).unwrap();
    assert_eq!(receiver.recv(), Ok(7));
    assert!(pool.shutdown(None));
}

#[test]
fn starting_a_thread_is_tried_again_after_a_refusal() {
    let allowed = Arc::new(AtomicUsize::new(0));
    let allowed_now = Arc::clone(&allowed);
    let mut pool = Pool::<Closure>::with_spawn(
        Config::default(),
        Box::new(
            move |builder, body| match allowed_now.load(Ordering::Relaxed) {
                0 => Err(io::Error::from(io::ErrorKind::WouldBlock)),
                _ => builder.spawn(body),
            },
        ),
    );
    let (sender, receiver) = channel();
    let job = pool
        .handle()
        .submit(Box::new(move || sender.send(()).unwrap()))
        .unwrap_err()
        .into_job();
    allowed.store(1, Ordering::Relaxed);
    pool.handle().submit(job).unwrap();
    receiver.recv().unwrap();
    assert!(pool.shutdown(None));
}

/// One thread has been started for the first of two jobs, but does not run yet.
#[test]
fn a_shutdown_drops_jobs_beyond_the_number_of_free_threads() {
    let (start, can_start) = channel::<()>();
    let can_start = Mutex::new(Some(can_start));
    let mut pool = Pool::<Closure>::with_spawn(
        Config {
            max_threads: 1,
            ..Config::default()
        },
        Box::new(move |builder, body| {
            let can_start = can_start.lock().take().unwrap();
            builder.spawn(move || {
                let _ = can_start.recv();
                body();
            })
        }),
    );
    let (sender, receiver) = channel();
    for id in 0..2 {
        let sender = sender.clone();
        let job = Box::new(move || sender.send(id).unwrap());
        pool.handle().submit(job).unwrap();
    }
    drop(sender);
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    drop(start);
    assert!(pool.shutdown(None));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0]);
}

/// The condition variable `all_exited` is notified while a job runs.
#[test]
fn a_spurious_notification_does_not_end_the_wait_of_a_shutdown() {
    let (mut pool, _) = pool(1, Config::default());
    let (job, started, end) = gate();
    pool.handle().submit(job).unwrap();
    started.recv().unwrap();
    let handle = pool.handle().clone();
    let notifier = thread::spawn(move || {
        for _ in 0..50 {
            handle.shared.all_exited.notify_all();
            thread::sleep(Duration::from_millis(1));
        }
        drop(end);
    });
    assert!(pool.shutdown(Some(Duration::from_secs(3_600))));
    notifier.join().unwrap();
}

/// A panic payload that locks the pool when it is dropped.
struct LockOnDrop(Handle<Closure>);

impl Drop for LockOnDrop {
    fn drop(&mut self) {
        let _ = self.0.threads();
    }
}

#[test]
fn panic_payloads_are_dropped_outside_the_lock_after_a_shutdown_timed_out() {
    let payload = Arc::new(Mutex::new(None::<LockOnDrop>));
    let payload_of_thread = Arc::clone(&payload);
    // The thread panics before it calls the pool's function, and has ended when `spawn` returns.
    let spawn = move |builder: raddle_primitives::thread::Builder, _body| {
        let payload = payload_of_thread.lock().take().unwrap();
        let thread = builder.spawn(move || resume_unwind(Box::new(payload)))?;
        while !thread.is_finished() {
            thread::yield_now();
        }
        Ok(thread)
    };
    let mut pool = Pool::<Closure>::with_spawn(Config::default(), Box::new(spawn));
    *payload.lock() = Some(LockOnDrop(pool.handle().clone()));
    pool.handle().submit(Box::new(|| ())).unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    let handle = pool.handle().clone();
    drop(pool);
    // The payload has been dropped, and with it the only other handle.
    assert_eq!(
        raddle_primitives::sync::Arc::strong_count(&handle.shared),
        1
    );
}
