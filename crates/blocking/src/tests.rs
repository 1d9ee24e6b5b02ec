//! A system that refuses threads, through the injected start of a thread.

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

/// A pool whose system grants only the first `granted` threads.
fn pool(granted: usize, config: Config) -> (Pool<Closure>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let pool = Pool::with_spawn(
        config,
        Box::new(move |builder, body| {
            // ORDERING: a tally that is read after the submissions.
            if count.fetch_add(1, Ordering::Relaxed) < granted {
                builder.spawn(body)
            } else {
                Err(io::Error::from(io::ErrorKind::WouldBlock))
            }
        }),
    );
    (pool, asked)
}

/// A job that says it has begun, and ends when the sender is dropped.
fn gate() -> (Closure, Receiver<()>, Sender<()>) {
    let (begun, has_begun) = channel();
    let (end, ended) = channel::<()>();
    let job = Box::new(move || {
        begun.send(()).unwrap();
        let _ = ended.recv();
    });
    (job, has_begun, end)
}

/// tokio 2309, 8406.
#[test]
fn a_job_is_returned_if_no_thread_can_be_started() {
    let (mut pool, asked) = pool(0, Config::default());
    let (sender, receiver) = channel();
    let refused = pool
        .handle()
        .submit(Box::new(move || sender.send(7).unwrap()))
        .unwrap_err();
    assert!(refused.is_no_thread());
    assert!(!refused.is_shutdown());
    assert!(refused.to_string().contains("no thread could be started"));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(pool.handle().threads(), 0);
    assert_eq!(pool.handle().queued(), 0);
    refused.into_job()();
    assert_eq!(receiver.recv(), Ok(7));
    assert!(pool.shutdown(None));
}

#[test]
fn a_job_waits_if_a_thread_exists_and_no_other_can_be_started() {
    let (mut pool, asked) = pool(1, Config::default());
    let (job, has_begun, end) = gate();
    pool.handle().submit(job).unwrap();
    has_begun.recv().unwrap();

    let (sender, receiver) = channel();
    for id in 0..10 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || sender.send(id).unwrap()))
            .unwrap();
    }
    // Each submission asked the system again.
    assert_eq!(asked.load(Ordering::Relaxed), 11);
    assert_eq!(pool.handle().threads(), 1);
    assert_eq!(pool.handle().queued(), 10);
    drop(end);
    for id in 0..10 {
        assert_eq!(receiver.recv(), Ok(id));
    }
    assert!(pool.shutdown(None));
}

#[test]
fn starting_a_thread_is_tried_again_after_a_refusal() {
    let granted = Arc::new(AtomicUsize::new(0));
    let ask = Arc::clone(&granted);
    let mut pool = Pool::<Closure>::with_spawn(
        Config::default(),
        Box::new(move |builder, body| match ask.load(Ordering::Relaxed) {
            0 => Err(io::Error::from(io::ErrorKind::WouldBlock)),
            _ => builder.spawn(body),
        }),
    );
    let (sender, receiver) = channel();
    let job = pool
        .handle()
        .submit(Box::new(move || sender.send(()).unwrap()))
        .unwrap_err()
        .into_job();
    granted.store(1, Ordering::Relaxed);
    pool.handle().submit(job).unwrap();
    receiver.recv().unwrap();
    assert!(pool.shutdown(None));
}

/// One thread is on its way, for the first of two jobs.
#[test]
fn a_shutdown_drops_jobs_beyond_the_number_of_free_threads() {
    let (open, opened) = channel::<()>();
    let opened = Mutex::new(Some(opened));
    let mut pool = Pool::<Closure>::with_spawn(
        Config {
            max_threads: 1,
            ..Config::default()
        },
        Box::new(move |builder, body| {
            let opened = opened.lock().take().unwrap();
            builder.spawn(move || {
                let _ = opened.recv();
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
    drop(open);
    assert!(pool.shutdown(None));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0]);
}

/// The condition variable of the last thread is notified without a reason while a job runs.
#[test]
fn a_spurious_notification_does_not_end_the_wait_of_a_shutdown() {
    let (mut pool, _) = pool(1, Config::default());
    let (job, has_begun, end) = gate();
    pool.handle().submit(job).unwrap();
    has_begun.recv().unwrap();
    let handle = pool.handle().clone();
    let notifying = thread::spawn(move || {
        for _ in 0..50 {
            handle.shared.gone.notify_all();
            thread::sleep(Duration::from_millis(1));
        }
        drop(end);
    });
    assert!(pool.shutdown(Some(Duration::from_secs(3_600))));
    notifying.join().unwrap();
}

/// A payload that locks the pool when it is dropped.
struct Locks(Handle<Closure>);

impl Drop for Locks {
    fn drop(&mut self) {
        let _ = self.0.threads();
    }
}

#[test]
fn panic_payloads_are_dropped_outside_the_lock_after_a_shutdown_timed_out() {
    let payload = Arc::new(Mutex::new(None::<Locks>));
    let panics = Arc::clone(&payload);
    // A thread that panics before it does anything, and is gone by the time it is started.
    let spawn = move |builder: raddle_primitives::thread::Builder, _body| {
        let payload = panics.lock().take().unwrap();
        let started = builder.spawn(move || resume_unwind(Box::new(payload)))?;
        while !started.is_finished() {
            thread::yield_now();
        }
        Ok(started)
    };
    let mut pool = Pool::<Closure>::with_spawn(Config::default(), Box::new(spawn));
    *payload.lock() = Some(Locks(pool.handle().clone()));
    pool.handle().submit(Box::new(|| ())).unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    let handle = pool.handle().clone();
    drop(pool);
    // The payload is gone, and with it the only other handle.
    assert_eq!(
        raddle_primitives::sync::Arc::strong_count(&handle.shared),
        1
    );
}
