//! A task that becomes ready between a worker's last check and its sleep, from each possible
//! source.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::{SHARING, Signal, config_of};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Handle, Pool, Step, Worker};

/// Makes a task ready, and returns the other worker if it still exists.
type Push = Box<dyn FnOnce() -> Option<Worker> + Send>;

/// Makes a [`Push`] from the scheduler, its other worker, which is awake, the driver's events, and
/// the signal that a waiting task awaits.
type Source = fn(Handle, Worker, raddle_primitives::sync::Arc<Events>, Signal) -> Push;

/// A worker that found nothing parks. A task is pushed before the park, or in the hook that the
/// park calls first. The park must return with the task, since no monitor would find it later.
fn check_park_sees_task(source: Source) {
    for policy in SHARING {
        for in_hook in [false, true] {
            let (done, is_done) = channel();
            let sleeper = thread::spawn(move || {
                let hook = Arc::new(Mutex::new(None::<Push>));
                let kept = Arc::new(Mutex::new(None));
                let (hooked, keeps) = (hook.clone(), kept.clone());
                let config = Config {
                    has_monitor: false,
                    on_thread_park: Some(Arc::new(move || {
                        let push = hooked.lock().take();
                        if let Some(push) = push {
                            *keeps.lock() = push();
                        }
                    })),
                    ..config_of(policy, 2)
                };
                let events = Events::new();
                let driver = Events::driver(&events);
                let (handle, mut workers) = Pool::stepped(config, Some(driver));
                let (other, mut worker) = (workers.pop().unwrap(), workers.pop().unwrap());
                let signal = Signal::default();
                drop(handle.spawn(signal.clone()));
                while worker.step() == Step::Ran {}
                let push = source(handle, other, events, signal);
                if in_hook {
                    *hook.lock() = Some(push);
                } else {
                    *kept.lock() = push();
                }
                loop {
                    worker.park();
                    if worker.step() == Step::Ran {
                        break;
                    }
                }
                drop((worker, kept.lock().take()));
                done.send(()).unwrap();
            });
            let seen = is_done.recv_timeout(Duration::from_secs(30));
            assert!(
                seen.is_ok(),
                "{policy:?}: the worker sleeps, or it panicked"
            );
            sleeper.join().unwrap();
        }
    }
}

/// Runs `action` on a thread that drives no worker.
fn outside<R: Send + 'static>(action: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(action).join().unwrap()
}

/// Lets a worker run a task that spawns `tasks` others, one of them into its slot.
fn spawn_inside(handle: &Handle, worker: &mut Worker, tasks: usize) {
    let _guard = handle.enter();
    drop(handle.spawn(async move {
        for _ in 0..tasks {
            drop(raddle_sched::spawn(async {}));
        }
    }));
    assert_eq!(worker.step(), Step::Ran);
}

/// rayon 992, like the tests below.
#[test]
fn a_parking_worker_sees_a_spawn_from_outside() {
    check_park_sees_task(|handle, other, _, _| {
        Box::new(move || {
            outside(move || drop(handle.spawn(async {})));
            Some(other)
        })
    });
}

#[test]
fn a_parking_worker_sees_a_wake_from_outside() {
    check_park_sees_task(|_, other, _, signal| {
        Box::new(move || {
            outside(move || signal.set());
            Some(other)
        })
    });
}

#[test]
fn a_parking_worker_sees_an_abort_from_outside() {
    check_park_sees_task(|handle, other, _, _| {
        let waiting = Signal::default();
        let task = handle.spawn(waiting);
        Box::new(move || {
            outside(move || task.abort());
            Some(other)
        })
    });
}

/// The other worker does not return from its next poll, as far as this worker can see.
#[test]
fn a_parking_worker_sees_a_task_in_another_queue() {
    check_park_sees_task(|handle, mut other, _, _| {
        Box::new(move || {
            Some(outside(move || {
                spawn_inside(&handle, &mut other, 2);
                other
            }))
        })
    });
}

#[test]
fn a_parking_worker_sees_a_task_left_by_a_retired_worker() {
    check_park_sees_task(|handle, mut other, _, _| {
        Box::new(move || {
            outside(move || {
                spawn_inside(&handle, &mut other, 1);
                drop(other);
            });
            None
        })
    });
}

#[test]
fn a_parking_worker_sees_an_event_of_the_driver() {
    check_park_sees_task(|_, other, events, signal| {
        Box::new(move || {
            events.raise(signal.waker());
            Some(other)
        })
    });
}
