//! Models of the pool's one lock and two condition variables.
#![cfg(raddle_loom)]

use raddle_blocking::{Config, Pool};
use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;

type Closure = Box<dyn FnOnce() + Send>;

/// A thread that does not `stay` leaves at any moment at which it has no job: loom has no
/// clock.
fn config(max_threads: usize, stay: bool) -> Config {
    Config {
        max_threads,
        keep_alive: (!stay).then_some(std::time::Duration::ZERO),
        ..Config::default()
    }
}

/// A count that can be waited for: a job that is left behind is a deadlock.
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

/// tokio 8056: a cap of one: the second job arrives while the thread starts, runs, or has
/// gone to wait.
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

/// A cap of one: the second job arrives during the timed wait of the thread, at its
/// end, or when the thread has left. Complete.
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

/// A job arrives while two threads end their timed waits: one that leaves does not take
/// with it the notification that the other waits for. Bounded at two preemptions.
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

/// Two submitters, of which one relies on the thread that the other starts.
#[test]
fn two_submitters_and_a_cap_of_one() {
    Model::new().preemptions(3).check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, its) = (pool.handle().clone(), Arc::clone(&tally));
        let other = thread::spawn(move || handle.submit(job(&its)).unwrap());
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        other.join().unwrap();
        assert!(pool.shutdown(None));
    });
}

/// Runs, is dropped by the shutdown, or comes back: each job exactly one.
#[test]
fn submit_against_shutdown() {
    struct Ends(Arc<Tally>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, ends) = (pool.handle().clone(), Ends(Arc::clone(&tally)));
        let submitter = thread::spawn(move || {
            let refused = handle.submit(Box::new(move || drop(ends))).err();
            drop(refused);
        });
        assert!(pool.shutdown(None));
        submitter.join().unwrap();
        assert_eq!(*tally.count.lock(), 1);
        assert_eq!(pool.handle().queued(), 0);
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// A word that no lock guards: the pool itself must order the accesses.
#[derive(Default)]
struct Plain(UnsafeCell<usize>);

// SAFETY: the pool orders the accesses; the models check that it does.
unsafe impl Send for Plain {}
// SAFETY: as above.
unsafe impl Sync for Plain {}

impl Plain {
    fn add(&self) {
        // SAFETY: the model checks that no other thread touches it.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

/// What the submitter wrote is seen by its job, what that wrote by the next job
/// of a pool of one, and all of it by the thread that has waited for the shutdown. Complete.
#[test]
fn jobs_and_shutdown_publish_their_writes() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let word = Arc::new(Plain::default());
        word.add();
        for _ in 0..2 {
            let its = Arc::clone(&word);
            let job = Box::new(move || its.add());
            pool.handle().submit_mandatory(job).unwrap();
        }
        assert!(pool.shutdown(None));
        assert_eq!(word.get(), 3);
    });
}

/// Each of two jobs waits for the other: below its cap the pool has a thread for
/// each, also if the first has just become free. Bounded at four preemptions.
#[test]
fn two_jobs_that_wait_for_each_other() {
    Model::new().preemptions(4).check(|| {
        let mut pool = Pool::<Closure>::new(config(2, true));
        let tally = Arc::new(Tally::default());
        for _ in 0..2 {
            let its = Arc::clone(&tally);
            let job = Box::new(move || {
                its.add();
                its.wait_for(2);
            });
            pool.handle().submit_mandatory(job).unwrap();
        }
        assert!(pool.shutdown(None));
    });
}

/// tokio 8056: a job of a pool of one submits another, and must not wait for a
/// thread that is its own. Complete.
#[test]
fn a_job_submits_another() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, its) = (pool.handle().clone(), Arc::clone(&tally));
        let first: Closure = Box::new(move || {
            handle.submit(job(&its)).unwrap();
            its.add();
        });
        pool.handle().submit(first).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
        assert_eq!(pool.handle().queued(), 0);
    });
}

/// A job that the pool took as mandatory runs, whatever the end comes between;
/// one that it refused comes back. Complete.
#[test]
fn a_mandatory_submission_against_shutdown() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let tally = Arc::new(Tally::default());
        let (handle, its) = (pool.handle().clone(), Arc::clone(&tally));
        let submitter = thread::spawn(move || handle.submit_mandatory(job(&its)).is_ok());
        assert!(pool.shutdown(None));
        let taken = submitter.join().unwrap();
        assert_eq!(*tally.count.lock(), usize::from(taken));
        assert_eq!(pool.handle().threads(), 0);
    });
}

/// The end comes while the only thread leaves because it had nothing to do:
/// one thread joins it, once, and the shutdown waits for it. Complete.
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

/// A shutdown whose time ends before the job, with it or after it, and which is asked
/// again: the second wait ends with the job, and finds the thread to be joined.
/// Complete.
#[test]
fn a_shutdown_that_gives_up_against_a_job() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let word = Arc::new(Plain::default());
        let its = Arc::clone(&word);
        let job = Box::new(move || its.add());
        pool.handle().submit_mandatory(job).unwrap();
        let ended = pool.shutdown(Some(std::time::Duration::from_secs(1)));
        assert!(!ended || word.get() == 1);
        assert!(pool.shutdown(None));
        assert_eq!(word.get(), 1);
    });
}

/// A job that panics takes neither its thread nor the next job with it, and its
/// payload is dropped before the end. Complete.
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
        let panics: Closure = Box::new(move || std::panic::resume_unwind(Box::new(payload)));
        pool.handle().submit(panics).unwrap();
        pool.handle().submit(job(&tally)).unwrap();
        tally.wait_for(2);
        assert!(pool.shutdown(None));
        assert_eq!(*tally.count.lock(), 2);
    });
}

/// A job races with what its submitter does after the submission.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_unordered_write_after_a_submission_is_caught() {
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let race = Race::new();
        let its = race.clone();
        pool.handle()
            .submit(Box::new(move || its.second()))
            .unwrap();
        race.first();
        pool.shutdown(None);
    });
}
