//! Models of the pool's one lock and two condition variables.
#![cfg(raddle_loom)]

use raddle_blocking::{Config, Pool};
use raddle_std::cell::UnsafeCell;
use raddle_std::model::Model;
use raddle_std::sync::{Arc, Condvar, Mutex};
use raddle_std::thread;

type Closure = Box<dyn FnOnce() + Send>;

/// `None` waits for ever; `Some` ends at once, loom has no clock.
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

/// A cap of one: the second job arrives while the thread is leaving.
#[test]
fn submit_against_leaving() {
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

/// Two submitters, one of whom relies on the thread the other starts.
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

/// The planted race: a job and the submitter write one cell without a lock.
/// If this model passes quietly, the shim is off.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary() {
    struct Cell(UnsafeCell<usize>);
    // SAFETY: this is the lie that the model is to find.
    unsafe impl Send for Cell {}
    // SAFETY: as above.
    unsafe impl Sync for Cell {}
    fn write(cell: &Cell) {
        // SAFETY: none; two threads write at the same time.
        cell.0.with_mut(|value| unsafe { *value += 1 });
    }
    Model::new().check(|| {
        let mut pool = Pool::<Closure>::new(config(1, true));
        let cell = Arc::new(Cell(UnsafeCell::new(0)));
        let its = Arc::clone(&cell);
        pool.handle().submit(Box::new(move || write(&its))).unwrap();
        write(&cell);
        pool.shutdown(None);
    });
}
