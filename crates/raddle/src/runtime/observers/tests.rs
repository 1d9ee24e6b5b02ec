use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_blocking::JobMeta;
use raddle_sched::TaskRef;

use crate::runtime::Builder;

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
