//! Tests of the shutdown: queued jobs, running jobs and later submissions.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use raddle_blocking::{Config, Handle, Job, Pool};

type Closure = Box<dyn FnOnce() + Send>;

fn capped(max_threads: usize) -> Config {
    Config {
        max_threads,
        ..Config::default()
    }
}

#[test]
fn shutdown_waits_for_a_running_job() {
    let done = Arc::new(AtomicUsize::new(0));
    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let count = Arc::clone(&done);
    pool.handle()
        .submit(Box::new(move || {
            sender.send(()).unwrap();
            thread::sleep(Duration::from_millis(20));
            count.fetch_add(1, SeqCst);
        }))
        .unwrap();
    started.recv().unwrap();
    assert!(pool.shutdown(None));
    assert_eq!(done.load(SeqCst), 1);
    assert_eq!(pool.handle().threads(), 0);
}

#[test]
fn shutdown_times_out_on_a_job_that_does_not_return() {
    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let (end, ended) = channel::<()>();
    pool.handle()
        .submit(Box::new(move || {
            sender.send(()).unwrap();
            let _ = ended.recv();
        }))
        .unwrap();
    started.recv().unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    assert!(!pool.shutdown(Some(Duration::from_millis(5))));
    assert_eq!(pool.handle().threads(), 1);
    drop(end);
    assert!(pool.shutdown(None), "a second shutdown waits again");
}

/// The destructors of thread-locals run after the thread's last job.
#[test]
fn a_second_shutdown_waits_for_the_destructors_of_thread_locals() {
    /// Sleeps when it is dropped, then counts the drop.
    struct CountSlowDrop(Arc<AtomicUsize>);
    impl Drop for CountSlowDrop {
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(50));
            self.0.fetch_add(1, SeqCst);
        }
    }
    thread_local! {
        static SLOW: std::cell::RefCell<Option<CountSlowDrop>> = const { std::cell::RefCell::new(None) };
    }

    let destroyed = Arc::new(AtomicUsize::new(0));
    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let (end, ended) = channel::<()>();
    let slow = CountSlowDrop(Arc::clone(&destroyed));
    pool.handle()
        .submit(Box::new(move || {
            SLOW.set(Some(slow));
            sender.send(()).unwrap();
            let _ = ended.recv();
        }))
        .unwrap();
    started.recv().unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    drop(end);
    assert!(pool.shutdown(None));
    assert_eq!(destroyed.load(SeqCst), 1);
    assert!(pool.shutdown(None), "a further shutdown returns at once");
}

/// Bug: own (a limited shutdown waited for destructors without a limit).
#[test]
fn a_limited_shutdown_does_not_wait_for_the_destructor_of_a_thread_local() {
    /// Waits in its drop until the sender is gone.
    struct WaitsAtEnd(std::sync::mpsc::Receiver<()>);
    impl Drop for WaitsAtEnd {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    thread_local! {
        static AT_END: std::cell::RefCell<Option<WaitsAtEnd>> = const { std::cell::RefCell::new(None) };
    }

    let mut pool = Pool::<Closure>::new(capped(1));
    let (open, gate) = channel();
    let (sender, started) = channel();
    pool.handle()
        .submit(Box::new(move || {
            AT_END.set(Some(WaitsAtEnd(gate)));
            sender.send(()).unwrap();
        }))
        .unwrap();
    started.recv().unwrap();
    for wait in [Duration::ZERO, Duration::from_millis(20)] {
        assert!(!pool.shutdown(Some(wait)));
    }
    drop(open);
    assert!(pool.shutdown(Some(Duration::from_secs(60))));
    assert!(pool.shutdown(Some(Duration::ZERO)), "it has ended");
}

/// A destructor on a thread of the pool shuts the pool down, and does not wait for its own thread.
#[test]
fn a_destructor_in_a_pool_thread_may_shut_the_pool_down_again() {
    type SharedPool = Arc<std::sync::Mutex<Option<Pool<Closure>>>>;
    /// On drop, shuts the pool down and sends the result.
    struct ShutDownOnDrop(SharedPool, std::sync::mpsc::Sender<bool>);
    impl Drop for ShutDownOnDrop {
        fn drop(&mut self) {
            let mut pool = self.0.lock().unwrap().take().unwrap();
            self.1.send(pool.shutdown(None)).unwrap();
        }
    }
    thread_local! {
        static LOCAL: std::cell::RefCell<Option<ShutDownOnDrop>> = const { std::cell::RefCell::new(None) };
    }

    let mut pool = Pool::<Closure>::new(capped(1));
    let shared = SharedPool::default();
    let ((sender, ended), (open, gate)) = (channel(), channel::<()>());
    let (start, started) = channel();
    let shut_down = ShutDownOnDrop(Arc::clone(&shared), sender);
    pool.handle()
        .submit(Box::new(move || {
            LOCAL.set(Some(shut_down));
            start.send(()).unwrap();
            let _ = gate.recv();
        }))
        .unwrap();
    started.recv().unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    *shared.lock().unwrap() = Some(pool);
    drop(open);
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
}

#[test]
fn queued_jobs_are_dropped_once_and_outside_the_lock() {
    /// Owned by each queued job: its drop takes the pool's lock and panics.
    struct Bomb(Arc<AtomicUsize>, Handle<Closure>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            assert_eq!(self.1.queued(), 0);
            panic!("the drop of a job (expected by this test)");
        }
    }

    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let (end, ended) = channel::<()>();
    pool.handle()
        .submit(Box::new(move || {
            sender.send(()).unwrap();
            let _ = ended.recv();
        }))
        .unwrap();
    started.recv().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    for _ in 0..10 {
        let bomb = Bomb(Arc::clone(&dropped), pool.handle().clone());
        pool.handle()
            .submit(Box::new(move || {
                let _bomb = bomb;
                unreachable!("the shutdown drops this job");
            }))
            .unwrap();
    }
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    drop(end);
    assert!(pool.shutdown(None));
    assert_eq!(dropped.load(SeqCst), 10);
}

#[test]
fn each_job_runs_or_is_dropped() {
    struct Counted(Arc<AtomicUsize>, Arc<AtomicUsize>);
    impl Job for Counted {
        fn run(self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, SeqCst);
        }
    }

    for _ in 0..50 {
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let mut pool = Pool::new(capped(1));
        for _ in 0..20 {
            pool.handle()
                .submit(Counted(Arc::clone(&ran), Arc::clone(&dropped)))
                .unwrap();
        }
        assert!(pool.shutdown(None));
        assert!(ran.load(SeqCst) <= 20);
        assert_eq!(dropped.load(SeqCst), 20);
    }
}

#[test]
fn drop_waits_unless_a_shutdown_timed_out() {
    let done = Arc::new(AtomicUsize::new(0));
    let pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let count = Arc::clone(&done);
    pool.handle()
        .submit(Box::new(move || {
            sender.send(()).unwrap();
            thread::sleep(Duration::from_millis(20));
            count.fetch_add(1, SeqCst);
        }))
        .unwrap();
    started.recv().unwrap();
    drop(pool);
    assert_eq!(done.load(SeqCst), 1);

    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let (end, ended) = channel::<()>();
    pool.handle()
        .submit(Box::new(move || {
            sender.send(()).unwrap();
            let _ = ended.recv();
        }))
        .unwrap();
    started.recv().unwrap();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    drop(pool);
    drop(end);
}

#[test]
fn submissions_after_shutdown_are_returned() {
    let mut pool = Pool::<Closure>::new(Config::default());
    let handle = pool.handle().clone();
    assert!(pool.shutdown(None));
    let refused = handle.submit(Box::new(|| ())).unwrap_err();
    assert!(refused.is_shutdown());
    assert!(!refused.is_no_thread());
    drop(pool);
    assert!(handle.submit(Box::new(|| ())).unwrap_err().is_shutdown());
}

#[test]
fn a_shutdown_drops_the_hooks() {
    let mark = Arc::new(());
    let owned_by_hook = Arc::clone(&mark);
    let mut pool = Pool::<Closure>::new(Config {
        around_thread: Some(Arc::new(move |f| {
            let _owned = &owned_by_hook;
            f();
        })),
        ..capped(2)
    });
    let handle = pool.handle().clone();
    handle.submit(Box::new(|| ())).unwrap();
    assert!(pool.shutdown(None));
    assert_eq!(Arc::strong_count(&mark), 1);
    drop(handle);
}

#[test]
fn many_submitters_against_the_shutdown() {
    for _ in 0..100 {
        let mut pool = Pool::<Closure>::new(capped(2));
        let (taken, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
        let submitters: Vec<_> = (0..3)
            .map(|_| {
                let handle = pool.handle().clone();
                let (taken, seen) = (Arc::clone(&taken), Arc::clone(&seen));
                thread::spawn(move || {
                    for _ in 0..50 {
                        let seen = Arc::clone(&seen);
                        if handle.submit(Box::new(move || drop(seen))).is_ok() {
                            taken.fetch_add(1, SeqCst);
                        }
                    }
                })
            })
            .collect();
        thread::yield_now();
        assert!(pool.shutdown(None));
        for submitter in submitters {
            submitter.join().unwrap();
        }
        assert_eq!(Arc::strong_count(&seen), 1, "each job was run or dropped");
        assert_eq!(pool.handle().queued(), 0);
    }
}

#[test]
fn a_mandatory_job_runs_during_shutdown() {
    let mut pool = Pool::<Closure>::new(capped(1));
    let (sender, started) = channel();
    let (end, ended) = channel::<()>();
    let busy = Box::new(move || {
        sender.send(()).unwrap();
        let _ = ended.recv();
    });
    pool.handle().submit(busy).unwrap();
    started.recv().unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    for n in 0..6 {
        let done = Arc::clone(&done);
        let job: Closure = Box::new(move || {
            done.fetch_add(1 << (4 * (n % 2)), SeqCst);
        });
        match n % 2 {
            0 => pool.handle().submit_mandatory(job).unwrap(),
            _ => pool.handle().submit(job).unwrap(),
        }
    }
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    assert_eq!(pool.handle().queued(), 3);
    let refused = pool.handle().submit_mandatory(Box::new(|| {}));
    assert!(refused.unwrap_err().is_shutdown());
    drop(end);
    assert!(pool.shutdown(None));
    assert_eq!(
        done.load(SeqCst),
        3,
        "the three mandatory jobs ran, and no other"
    );
}

#[test]
fn a_job_for_which_a_thread_was_started_runs_during_shutdown() {
    for _ in 0..50 {
        let ran = Arc::new(AtomicUsize::new(0));
        let mut pool = Pool::<Closure>::new(capped(4));
        for _ in 0..3 {
            let ran = Arc::clone(&ran);
            pool.handle()
                .submit(Box::new(move || {
                    ran.fetch_add(1, SeqCst);
                }))
                .unwrap();
        }
        assert!(pool.shutdown(None));
        assert_eq!(ran.load(SeqCst), 3);
    }
}

#[test]
fn a_job_for_which_an_idle_thread_was_woken_runs_during_shutdown() {
    for _ in 0..50 {
        let mut pool = Pool::<Closure>::new(capped(1));
        let (sender, ran) = channel();
        let first = sender.clone();
        pool.handle()
            .submit(Box::new(move || first.send(1).unwrap()))
            .unwrap();
        assert_eq!(ran.recv(), Ok(1));
        while pool.handle().idle_threads() == 0 {
            thread::yield_now();
        }
        pool.handle()
            .submit(Box::new(move || sender.send(2).unwrap()))
            .unwrap();
        assert!(pool.shutdown(None));
        assert_eq!(ran.recv(), Ok(2));
    }
}
