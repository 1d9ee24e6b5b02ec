//! Models of the pool's lock and its two condition variables.
#![cfg(raddle_loom)]

use raddle_blocking::{Config, Pool};
use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;

type Closure = Box<dyn FnOnce() + Send>;

/// Without `keep_alive`, an idle thread may end at any moment, since loom has no clock.
fn config(max_threads: usize, keep_alive: bool) -> Config {
    Config {
        max_threads,
        keep_alive: (!keep_alive).then_some(std::time::Duration::ZERO),
        ..Config::default()
    }
}

/// A count to wait for: a job that is never run causes a deadlock, which loom reports.
#[derive(Default)]
struct Tally {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Tally {
    fn add(&self) {
        *self.count.lock() += 1;
        self.changed.notify_one();
    }

    fn wait_for(&self, target: usize) {
        let mut count = self.count.lock();
        while *count < target {
            count = self.changed.wait(count);
        }
    }
}

fn job(tally: &Arc<Tally>) -> Closure {
    let tally = Arc::clone(tally);
    Box::new(move || tally.add())
}

/// tokio 8056: with a cap of one, the second job arrives while the thread starts, runs the first
/// job or waits for work.
#[test]
fn submit_against_going_idle() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        pool.handle().submit(job(&tally)).unwrap();
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
    });
}

/// With a cap of one, the second job arrives during the thread's timed wait, when that wait times
/// out, or after the thread has ended. All interleavings are explored.
#[test]
fn submit_against_a_thread_that_ends() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, false));
        let tally = Arc::new(Tally::default());
        pool.handle().submit(job(&tally)).unwrap();
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// A job arrives while the timed waits of two threads time out: a thread that ends does not consume
/// the notification that the other one needs. Bounded at two preemptions.
#[test]
fn submit_against_two_threads_that_end() {
    Model::new().preemptions(2).check(|| {
        let mut pool = Pool::<Closure>::new(config(2, false));
        let tally = Arc::new(Tally::default());
        for _ in 0..2 {
            pool.handle().submit(job(&tally)).unwrap();
        }
        tally.wait_for(2);
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(3);
        assert!(pool.shutdown(None));
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// Of two submitters, one relies on the thread that the other one starts.
#[test]
fn two_submitters_and_a_cap_of_one() {
    Model::new().preemptions(3).check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, shared) = (pool.handle().clone(), Arc::clone(&tally));
        let other = thread::spawn(move || handle.submit(job(&shared)).unwrap());
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        other.join().unwrap();
        assert!(pool.shutdown(None));
    });
}

/// Each job runs once, is dropped once by the shutdown, or is returned once.
#[test]
fn submit_against_shutdown() {
    struct CountDrop(Arc<Tally>);
    impl Drop for CountDrop {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, count_drop) = (pool.handle().clone(), CountDrop(Arc::clone(&tally)));
        let submitter = thread::spawn(move || {
            let refused = handle.submit(Box::new(move || drop(count_drop))).err();
            drop(refused);
        });
        assert!(pool.shutdown(None));
        submitter.join().unwrap();
        assert_eq!(*tally.count.lock(), 1);
        assert_eq!(pool.handle().queued(), 0);
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// A plain word without a lock: the pool must order the accesses to it.
#[derive(Default)]
struct UnsyncCount(UnsafeCell<usize>);

// SAFETY: the pool orders the accesses; the models check that it does.
unsafe impl Send for UnsyncCount {}
// SAFETY: as above.
unsafe impl Sync for UnsyncCount {}

impl UnsyncCount {
    fn add(&self) {
        // SAFETY: the model checks that no other thread accesses it at the same time.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

/// A job sees the writes of its submitter, the next job of a pool of one thread sees those of the
/// first job, and the thread that waits for the shutdown sees all. All interleavings are explored.
#[test]
fn jobs_and_shutdown_publish_their_writes() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let word = Arc::new(UnsyncCount::default());
        word.add();
        for _ in 0..2 {
            let shared = Arc::clone(&word);
            let job = Box::new(move || shared.add());
            pool.handle().submit_mandatory(job).unwrap();
        }
        assert!(pool.shutdown(None));
        assert_eq!(word.get(), 3);
    });
}

/// Each of two jobs waits for the other. The pool may have two threads, so each job gets one, even
/// if the first thread has just become idle. Bounded at four preemptions.
#[test]
fn two_jobs_that_wait_for_each_other() {
    Model::new().preemptions(4).check(|| {
        let mut pool = Pool::<Closure>::new(config(2, true));
        let tally = Arc::new(Tally::default());
        for _ in 0..2 {
            let shared = Arc::clone(&tally);
            let job = Box::new(move || {
                shared.add();
                shared.wait_for(2);
            });
            pool.handle().submit_mandatory(job).unwrap();
        }
        assert!(pool.shutdown(None));
    });
}

/// tokio 8056: on a pool of one thread, a job submits another job and returns without waiting for
/// it. All interleavings are explored.
#[test]
fn a_job_submits_another() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, shared) = (pool.handle().clone(), Arc::clone(&tally));
        let first: Closure = Box::new(move || {
            handle.submit(job(&shared)).unwrap();
            shared.add();
        });
        pool.handle().submit(first).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
        assert_eq!(pool.handle().queued(), 0);
    });
}

/// A mandatory job that the pool accepted runs, at whichever point the pool is shut down; a refused
/// job is returned. All interleavings are explored.
#[test]
fn a_mandatory_submission_against_shutdown() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, shared) = (pool.handle().clone(), Arc::clone(&tally));
        let submitter = thread::spawn(move || handle.submit_mandatory(job(&shared)).is_ok());
        assert!(pool.shutdown(None));
        let accepted = submitter.join().unwrap();
        assert_eq!(*tally.count.lock(), usize::from(accepted));
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// The shutdown starts while the only thread ends because it is idle: one thread joins it, once,
/// and the shutdown waits for it. All interleavings are explored.
#[test]
fn a_thread_that_ends_against_shutdown() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, false));
        let tally = Arc::new(Tally::default());
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(1);
        assert!(pool.shutdown(None));
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// The first shutdown may time out before the job ends; the second one waits for the job and joins
/// its thread. All interleavings are explored.
#[test]
fn a_shutdown_that_gives_up_against_a_job() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let word = Arc::new(UnsyncCount::default());
        let shared = Arc::clone(&word);
        let job = Box::new(move || shared.add());
        pool.handle().submit_mandatory(job).unwrap();
        let completed = pool.shutdown(Some(std::time::Duration::from_secs(1)));
        assert!(!completed || word.get() == 1);
        assert!(pool.shutdown(None));
        assert_eq!(word.get(), 1);
    });
}

/// A job that panics does not prevent the next job, and its payload is dropped before the shutdown
/// returns. All interleavings are explored.
#[test]
fn a_job_that_panics_against_the_next() {
    struct Payload(Arc<Tally>);
    impl Drop for Payload {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let payload = Payload(Arc::clone(&tally));
        let panicking: Closure = Box::new(move || std::panic::resume_unwind(Box::new(payload)));
        pool.handle().submit(panicking).unwrap();
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
        assert_eq!(*tally.count.lock(), 2);
    });
}

/// A job races with a write of its submitter after the submission.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_unordered_write_after_a_submission_is_caught() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let race = Race::new();
        let shared = race.clone();
        pool.handle()
            .submit(Box::new(move || shared.second()))
            .unwrap();
        race.first();
        pool.shutdown(None);
    });
}
