//! Tests of the number of threads, of panics and of hooks.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use raddle_blocking::{Config, Pool};

type Closure = Box<dyn FnOnce() + Send>;

fn capped(max_threads: usize) -> Config {
    Config {
        max_threads,
        ..Config::default()
    }
}

/// Waits until the condition holds, for a minute at most.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "timed out: {what}"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_pool_grows_while_no_thread_is_free() {
    // The jobs end only if all eight run at the same time.
    let pool = Pool::<Closure>::new(capped(8));
    let barrier = Arc::new(Barrier::new(9));
    for _ in 0..8 {
        let barrier = Arc::clone(&barrier);
        pool.handle()
            .submit(Box::new(move || {
                barrier.wait();
            }))
            .unwrap();
    }
    barrier.wait();
    assert_eq!(pool.handle().threads(), 8);
}

#[test]
fn a_free_thread_is_used_again() {
    let mut pool = Pool::<Closure>::new(Config {
        keep_alive: None,
        ..capped(8)
    });
    let (sender, receiver) = channel();
    for _ in 0..100 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || {
                sender.send(thread::current().id()).unwrap()
            }))
            .unwrap();
        receiver.recv().unwrap();
        // The thread may not have marked itself idle yet.
        thread::sleep(Duration::from_micros(100));
    }
    assert!(pool.handle().threads() < 8, "a free thread is reused");
    assert!(pool.shutdown(None));
}

#[test]
fn the_pool_never_exceeds_its_cap() {
    let mut pool = Pool::<Closure>::new(capped(3));
    let running = Arc::new(AtomicUsize::new(0));
    let max_running = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = channel();
    for _ in 0..300 {
        let (running, max_running) = (Arc::clone(&running), Arc::clone(&max_running));
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || {
                max_running.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                thread::yield_now();
                running.fetch_sub(1, SeqCst);
                sender.send(()).unwrap();
            }))
            .unwrap();
    }
    for _ in 0..300 {
        receiver.recv().unwrap();
    }
    assert!((1..=3).contains(&max_running.load(SeqCst)));
    assert!(pool.shutdown(None));
}

#[test]
fn a_cap_of_one_runs_jobs_in_order() {
    let pool = Pool::<Closure>::new(capped(1));
    let (sender, receiver) = channel();
    for id in 0..10_000 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || sender.send(id).unwrap()))
            .unwrap();
    }
    for id in 0..10_000 {
        assert_eq!(receiver.recv(), Ok(id));
    }
    assert_eq!(pool.handle().threads(), 1);
}

/// tokio 8056.
#[test]
fn a_cap_of_one_runs_jobs_submitted_while_the_thread_becomes_idle() {
    // Each job is submitted when the previous one ends. With a keep-alive near zero, the thread
    // also ends at that moment.
    for keep_alive in [Some(Duration::from_nanos(1)), None] {
        let mut pool = Pool::<Closure>::new(Config {
            keep_alive,
            ..capped(1)
        });
        let (sender, receiver) = channel();
        for _ in 0..20_000 {
            let sender = sender.clone();
            pool.handle()
                .submit(Box::new(move || sender.send(()).unwrap()))
                .unwrap();
            receiver
                .recv_timeout(Duration::from_secs(60))
                .expect("each job runs");
        }
        assert!(pool.shutdown(None));
    }
}

#[test]
fn idle_threads_end_after_the_keep_alive() {
    let pool = Pool::<Closure>::new(Config {
        keep_alive: Some(Duration::from_millis(1)),
        ..capped(4)
    });
    for _ in 0..3 {
        let barrier = Arc::new(Barrier::new(5));
        for _ in 0..4 {
            let barrier = Arc::clone(&barrier);
            pool.handle()
                .submit(Box::new(move || {
                    barrier.wait();
                }))
                .unwrap();
        }
        assert_eq!(pool.handle().threads(), 4);
        barrier.wait();
        wait_until("the threads end", || pool.handle().threads() == 0);
    }
}

#[test]
fn a_panic_of_a_job_does_not_end_its_thread() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the drop of the payload (expected by this test)");
        }
    }
    let mut pool = Pool::<Closure>::new(Config {
        keep_alive: None,
        ..capped(1)
    });
    let (sender, receiver) = channel();
    let first = sender.clone();
    pool.handle()
        .submit(Box::new(move || {
            first.send(thread::current().id()).unwrap()
        }))
        .unwrap();
    pool.handle()
        .submit(Box::new(|| panic!("a job (expected by this test)")))
        .unwrap();
    pool.handle()
        .submit(Box::new(|| std::panic::panic_any(Bomb)))
        .unwrap();
    pool.handle()
        .submit(Box::new(move || {
            sender.send(thread::current().id()).unwrap()
        }))
        .unwrap();
    assert_eq!(receiver.recv().unwrap(), receiver.recv().unwrap());
    assert!(pool.shutdown(None));
}

#[test]
fn threads_have_the_configured_name_and_call_the_hooks() {
    let around = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&around);
    let mut pool = Pool::<Closure>::new(Config {
        thread_name: Arc::new(|| "named".to_owned()),
        stack_size: Some(256 * 1024),
        around_thread: Some(Arc::new(move |f| {
            count.fetch_add(1, SeqCst);
            f();
            count.fetch_add(10, SeqCst);
        })),
        ..capped(1)
    });
    let (sender, receiver) = channel();
    pool.handle()
        .submit(Box::new(move || {
            sender
                .send(thread::current().name().map(str::to_owned))
                .unwrap()
        }))
        .unwrap();
    assert_eq!(receiver.recv().unwrap().as_deref(), Some("named"));
    assert_eq!(around.load(SeqCst), 1);
    assert!(pool.shutdown(None));
    assert_eq!(around.load(SeqCst), 11);
}

#[test]
fn a_job_is_dropped_if_the_hook_of_its_thread_panics() {
    let mut pool = Pool::<Closure>::new(Config {
        around_thread: Some(Arc::new(|_| panic!("the hook (expected by this test)"))),
        ..capped(1)
    });
    let (sender, receiver) = channel::<()>();
    pool.handle()
        .submit(Box::new(move || sender.send(()).unwrap()))
        .unwrap();
    assert!(receiver.recv().is_err(), "the job is dropped");
    wait_until("the thread has ended", || pool.handle().threads() == 0);
    assert!(pool.shutdown(None));
}

#[test]
#[should_panic(expected = "raise max_threads")]
fn a_cap_of_zero_is_refused() {
    Pool::<Closure>::new(capped(0));
}

#[test]
fn a_hook_that_calls_the_thread_loop_twice_runs_it_once() {
    let returns = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&returns);
    let mut pool = Pool::<Closure>::new(Config {
        keep_alive: Some(Duration::from_millis(1)),
        around_thread: Some(Arc::new(move |run| {
            run();
            run();
            count.fetch_add(1, SeqCst);
        })),
        ..capped(2)
    });
    let (sender, receiver) = channel();
    for round in 1..=2 {
        let sender = sender.clone();
        pool.handle()
            .submit(Box::new(move || sender.send(()).unwrap()))
            .unwrap();
        receiver.recv().unwrap();
        wait_until("the hook returns", || returns.load(SeqCst) == round);
        wait_until("the thread has ended", || pool.handle().threads() == 0);
        assert_eq!(pool.handle().idle_threads(), 0);
    }
    assert!(pool.shutdown(None));
}

#[test]
fn the_defaults_are_as_documented() {
    let config = Config::default();
    assert_eq!(config.max_threads, 512);
    assert_eq!(config.keep_alive, Some(Duration::from_secs(10)));
    assert_eq!((config.thread_name)(), "raddle-blocking");
    assert_eq!(config.stack_size, None);
    assert!(config.around_thread.is_none());
}

#[test]
fn a_pool_works_after_a_hook_panicked() {
    let calls = AtomicUsize::new(0);
    let mut pool = Pool::<Closure>::new(Config {
        around_thread: Some(Arc::new(move |run| {
            assert!(
                calls.fetch_add(1, SeqCst) > 0,
                "the hook (expected by this test)"
            );
            run();
        })),
        ..capped(1)
    });
    let (sender, receiver) = channel();
    let first = sender.clone();
    pool.handle()
        .submit(Box::new(move || first.send(1).unwrap()))
        .unwrap();
    wait_until("the thread has ended", || pool.handle().threads() == 0);
    assert_eq!(pool.handle().idle_threads(), 0);
    pool.handle()
        .submit(Box::new(move || sender.send(2).unwrap()))
        .unwrap();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(2));
    assert!(pool.shutdown(None));
}
