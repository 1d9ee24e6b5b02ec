use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_blocking::JobMeta;
use raddle_sched::TaskRef;

use crate::runtime::Builder;
use crate::runtime::observers::Observers;

/// Counts what happens, or panics.
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

impl raddle_blocking::Observer for Counting {
    fn finished(&self, _job: JobMeta) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "planted");
    }
}

#[test]
fn each_of_several_observers_is_called_though_the_first_one_panics() {
    let panicking = Arc::new(Counting {
        panics: true,
        ..Counting::default()
    });
    let calm = Arc::new(Counting::default());
    let mut builder = Builder::new_current_thread();
    for observer in [&panicking, &calm] {
        builder.observers.add_of_tasks(observer.clone());
        builder.observers.add_of_jobs(observer.clone());
    }
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        crate::spawn(async {}).await.unwrap();
        crate::task::spawn_blocking(|| ()).await.unwrap();
    });
    drop(runtime);
    for observer in [panicking, calm] {
        assert_eq!(observer.polls.load(Ordering::Relaxed), 1);
        assert_eq!(observer.jobs.load(Ordering::Relaxed), 1);
    }
}

/// Needs no locations.
struct Indifferent;

impl raddle_sched::Observer for Indifferent {
    fn needs_locations(&self) -> bool {
        false
    }
}

#[test]
fn several_observers_need_locations_if_one_does() {
    let mut observers = Observers::default();
    observers.add_of_tasks(Arc::new(Indifferent));
    observers.add_of_tasks(Arc::new(Indifferent));
    let needs_locations = |observers: &Observers| observers.of_tasks().unwrap().needs_locations();
    assert!(!needs_locations(&observers));
    observers.add_of_tasks(Arc::new(Counting::default()));
    assert!(needs_locations(&observers));
}
