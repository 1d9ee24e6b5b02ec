use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_blocking::{Job, JobMeta, Pool};
use raddle_sched::{CurrentThread, TaskRef};

use super::Observers;

/// Counts polls and jobs. Panics at each call if `panics` is set.
#[derive(Default)]
struct Counting {
    polls: AtomicUsize,
    jobs: AtomicUsize,
    panics: bool,
}

impl raddle_sched::Observer for Counting {
    fn poll_started(&self, _worker: usize, _task: TaskRef<'_>) {
        self.polls.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "planted");
    }
}

impl raddle_blocking::JobObserver for Counting {
    fn finished(&self, _job: JobMeta) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "planted");
    }
}

struct EmptyJob;

impl Job for EmptyJob {
    fn run(self) {}
}

#[test]
fn a_panic_of_one_observer_does_not_prevent_calls_of_the_others() {
    let panicking = Arc::new(Counting {
        panics: true,
        ..Counting::default()
    });
    let working = Arc::new(Counting::default());
    let mut observers = Observers::default();
    for observer in [&panicking, &working] {
        observers.add_scheduler_observer(observer.clone());
        observers.add_job_observer(observer.clone());
    }
    let config = raddle_sched::Config {
        observer: observers.scheduler_observer(),
        ..Default::default()
    };
    CurrentThread::new(config, None).block_on(async {
        raddle_sched::spawn(async {}).await.unwrap();
    });
    let mut pool = Pool::new(raddle_blocking::Config {
        observer: observers.job_observer(),
        ..Default::default()
    });
    assert!(pool.handle().submit(EmptyJob).is_ok());
    assert!(pool.shutdown(None));
    for observer in [panicking, working] {
        assert_eq!(observer.polls.load(Ordering::Relaxed), 1);
        assert_eq!(observer.jobs.load(Ordering::Relaxed), 1);
    }
}

/// An observer that needs no locations.
struct WithoutLocations;

impl raddle_sched::Observer for WithoutLocations {
    fn needs_locations(&self) -> bool {
        false
    }
}

#[test]
fn several_observers_need_locations_if_one_does() {
    let mut observers = Observers::default();
    observers.add_scheduler_observer(Arc::new(WithoutLocations));
    observers.add_scheduler_observer(Arc::new(WithoutLocations));
    let needs_locations =
        |observers: &Observers| observers.scheduler_observer().unwrap().needs_locations();
    assert!(!needs_locations(&observers));
    observers.add_scheduler_observer(Arc::new(Counting::default()));
    assert!(needs_locations(&observers));
}
