//! Tests of which methods of its observer a pool calls.

use std::sync::{Arc, mpsc};

use raddle_blocking::{Config, Job, JobMeta, JobObserver, Pool};
use raddle_primitives::sync::Mutex;

/// A job with a number.
struct Numbered(u64, Box<dyn FnOnce() + Send>);

impl Job for Numbered {
    fn run(self) {
        (self.1)();
    }

    fn meta(&self) -> JobMeta {
        JobMeta {
            id: self.0,
            location: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Queued,
    Started,
    Finished,
    Dropped,
}
use Event::*;

#[derive(Default)]
struct Log {
    events: Mutex<Vec<(Event, u64)>>,
    panics: bool,
}

impl Log {
    fn push(&self, event: Event, job: JobMeta) {
        self.events.lock().push((event, job.id));
        assert!(!self.panics, "the observer panics (expected by this test)");
    }

    /// The events of one job.
    fn events_of(&self, job: u64) -> Vec<Event> {
        let events = self.events.lock();
        let of_job = events.iter().filter(|(_, id)| *id == job);
        of_job.map(|(event, _)| *event).collect()
    }
}

impl JobObserver for Log {
    fn queued(&self, job: JobMeta) {
        self.push(Queued, job);
    }
    fn started(&self, job: JobMeta) {
        self.push(Started, job);
    }
    fn finished(&self, job: JobMeta) {
        self.push(Finished, job);
    }
    fn dropped(&self, job: JobMeta) {
        self.push(Dropped, job);
    }
}

#[test]
fn each_event_of_a_job_is_observed() {
    for panics in [false, true] {
        let log = Arc::new(Log {
            panics,
            ..Log::default()
        });
        let mut pool = Pool::new(Config {
            max_threads: 1,
            observer: Some(log.clone()),
            ..Config::default()
        });
        let submit = |id, work: Box<dyn FnOnce() + Send>| pool.handle().submit(Numbered(id, work));
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let work = move || {
            started.send(()).unwrap();
            released.recv().unwrap();
        };
        assert!(submit(1, Box::new(work)).is_ok());
        has_started.recv().unwrap();
        assert_eq!(log.events_of(1), [Queued, Started]);
        // The only thread of the pool is busy, so the second job is queued until the shutdown.
        assert!(submit(2, Box::new(|| ())).is_ok());
        assert!(!pool.shutdown(Some(std::time::Duration::ZERO)));
        release.send(()).unwrap();
        assert!(pool.shutdown(None));
        assert_eq!(log.events_of(1), [Queued, Started, Finished]);
        assert_eq!(log.events_of(2), [Queued, Dropped]);
        let refused = pool.handle().submit(Numbered(3, Box::new(|| ())));
        assert!(refused.is_err());
        assert_eq!(log.events_of(3), [Queued, Dropped]);
    }
}

#[test]
fn a_job_that_panics_is_finished() {
    let log = Arc::new(Log::default());
    let mut pool = Pool::new(Config {
        observer: Some(log.clone()),
        ..Config::default()
    });
    let panicking = Numbered(1, Box::new(|| panic!("a job (expected by this test)")));
    assert!(pool.handle().submit_mandatory(panicking).is_ok());
    assert!(pool.shutdown(None));
    assert_eq!(log.events_of(1), [Queued, Started, Finished]);
}
