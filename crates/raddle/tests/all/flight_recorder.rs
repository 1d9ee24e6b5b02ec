//! The flight recorder of a runtime.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::spares::block_workers;
use raddle::runtime::flight_recorder::recording::analysis::{Tasks, longest_polls};
use raddle::runtime::flight_recorder::recording::{
    EndReason, Event, MonitorAction, PollResult, Recording,
};
use raddle::runtime::flight_recorder::{Recorder, RecorderOptions, TriggerOptions};
use raddle::runtime::{Builder, Runtime};
use raddle::task::{JoinHandle, yield_now};
use raddle::time::sleep;

fn build(builder: &mut Builder) -> (Runtime, Recorder) {
    let runtime = builder
        .enable_all()
        .flight_recorder(RecorderOptions::default())
        .build()
        .unwrap();
    let recorder = runtime.handle().flight_recorder().unwrap();
    (runtime, recorder)
}

fn current_thread() -> (Runtime, Recorder) {
    build(&mut Builder::new_current_thread())
}

fn multi_thread() -> (Runtime, Recorder) {
    build(Builder::new_multi_thread().worker_threads(2))
}

fn number<T>(task: &JoinHandle<T>) -> u64 {
    std::num::NonZeroU64::from(task.id()).get()
}

/// All events, ordered by time.
fn events(recording: &Recording) -> Vec<Event> {
    let entries = recording.by_time();
    entries.iter().map(|(_, entry)| entry.event).collect()
}

fn has(recorder: &Recorder, is_it: impl Fn(&Event) -> bool) -> bool {
    events(&recorder.snapshot()).iter().any(is_it)
}

/// Waits until an event for which `is_it` returns true is recorded.
fn wait_for(recorder: &Recorder, is_it: impl Fn(&Event) -> bool) {
    let start = Instant::now();
    while !has(recorder, &is_it) {
        let events = events(&recorder.snapshot());
        assert!(start.elapsed() < Duration::from_secs(30), "{events:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The recorded events of one task.
fn of_task(recording: &Recording, id: u64) -> Vec<Event> {
    let is_of_task = |event: &Event| match event {
        Event::TaskSpawned { task, .. }
        | Event::TaskNamed { task, .. }
        | Event::PollStarted { task }
        | Event::PollFinished { task, .. }
        | Event::TaskWoken { task }
        | Event::TaskEnded { task, .. } => *task == id,
        _ => false,
    };
    events(recording).into_iter().filter(is_of_task).collect()
}

async fn yield_and_sleep() {
    yield_now().await;
    sleep(Duration::from_millis(2)).await;
}

#[test]
fn each_event_of_a_task_is_recorded() {
    for (runtime, recorder) in [current_thread(), multi_thread()] {
        let (task, line) = runtime.block_on(async {
            let builder = raddle::task::Builder::new().name("worker bee");
            (builder.spawn(yield_and_sleep()), line!())
        });
        let task = task.unwrap();
        let id = number(&task);
        runtime.block_on(task).unwrap();
        drop(runtime);
        let recording = recorder.snapshot();
        let events = of_task(&recording, id);
        let [
            Event::TaskSpawned { location, .. },
            Event::TaskNamed { name, .. },
            rest @ ..,
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        let location = recording.text(*location);
        assert!(
            location.contains(&format!("flight_recorder.rs:{line}:")),
            "{location}"
        );
        assert_eq!(recording.text(*name), "worker bee");
        let finished = |result| Event::PollFinished { task: id, result };
        let expected = [
            Event::PollStarted { task: id },
            finished(PollResult::Rescheduled),
            Event::PollStarted { task: id },
            finished(PollResult::Pending),
            Event::TaskWoken { task: id },
            Event::PollStarted { task: id },
            finished(PollResult::Ended),
            Event::TaskEnded {
                task: id,
                reason: EndReason::Completed,
            },
        ];
        assert_eq!(rest, expected);
    }
}

#[test]
fn the_reason_why_a_task_ended_is_recorded() {
    for (runtime, recorder) in [current_thread(), multi_thread()] {
        let panicking = runtime.spawn(async { panic!("a task panics on purpose") });
        let aborted = runtime.spawn(std::future::pending::<()>());
        aborted.abort();
        let left = runtime.spawn(std::future::pending::<()>());
        let ids = [&aborted, &left].map(number);
        let panicked = number(&panicking);
        runtime.block_on(async {
            assert!(panicking.await.is_err());
            assert!(aborted.await.is_err());
        });
        drop(runtime);
        let last = |id| of_task(&recorder.snapshot(), id).pop();
        let ended = |task, reason| Some(Event::TaskEnded { task, reason });
        assert_eq!(last(panicked), ended(panicked, EndReason::Panicked));
        for id in ids {
            assert_eq!(last(id), ended(id, EndReason::Cancelled));
        }
    }
}

#[test]
fn a_runtime_its_workers_and_its_driver_are_recorded() {
    let (runtime, recorder) = multi_thread();
    runtime.block_on(runtime.spawn(yield_and_sleep())).unwrap();
    for worker in 0..2 {
        wait_for(&recorder, |event| *event == Event::WorkerParked { worker });
    }
    drop(runtime);
    let events = events(&recorder.snapshot());
    assert_eq!(events[0], Event::RuntimeStarted { workers: 2 });
    for expected in [Event::RuntimeShutDown, Event::DriverStarted] {
        assert!(events.contains(&expected), "{events:?}");
    }
    let is_of_timer = |event: &Event| matches!(event, Event::DriverFinished { timers: 1, .. });
    assert!(events.iter().any(is_of_timer), "{events:?}");
    let parks = |event: &Event| matches!(event, Event::WorkerUnparked { .. });
    assert!(events.iter().any(parks), "{events:?}");
}

#[test]
fn the_future_of_block_on_is_recorded_as_task_0() {
    let (runtime, recorder) = current_thread();
    runtime.block_on(async {
        // Events that another thread records in between belong to that thread.
        thread::sleep(Duration::from_millis(3));
    });
    let polls = raddle::runtime::flight_recorder::recording::analysis::polls(&recorder.snapshot());
    assert_eq!(polls.len(), 1);
    assert!(polls[0].task == 0 && polls[0].is_finished);
    assert!(polls[0].duration >= Duration::from_millis(3));
}

#[test]
fn a_steal_and_the_monitor_are_recorded() {
    let (runtime, recorder) = multi_thread();
    for worker in 0..2 {
        wait_for(&recorder, |event| *event == Event::WorkerParked { worker });
    }
    // The poll does not return before the other tasks have run. The first of them is in the slot of
    // the worker, the others in its run queue, for which the other worker is woken to search.
    let run_behind_a_poll = |tasks: usize| {
        let (sender, receiver) = mpsc::channel();
        let stuck = runtime.spawn(async move {
            for _ in 0..tasks {
                let sender = sender.clone();
                drop(raddle::spawn(async move { sender.send(()).unwrap() }));
            }
            for _ in 0..tasks {
                receiver.recv().unwrap();
            }
        });
        runtime.block_on(stuck).unwrap();
    };
    let is_recorded = |is: &dyn Fn(&Event) -> bool| events(&recorder.snapshot()).iter().any(is);
    run_behind_a_poll(3);
    assert!(is_recorded(&|event| matches!(
        event,
        Event::SearchStarted { .. }
    )));
    assert!(is_recorded(&|event| matches!(
        event,
        Event::TasksStolen { count: 1.., .. }
    )));
    let is_rescue = |event: &Event| {
        let action = MonitorAction::TookNextTask;
        matches!(event, Event::MonitorActed { action: is, .. } if *is == action)
    };
    // A worker that still searches takes the task before the monitor does.
    assert!((0..100).any(|_| {
        run_behind_a_poll(1);
        is_recorded(&is_rescue)
    }));
}

#[test]
fn a_spare_worker_and_the_lack_of_one_are_recorded() {
    let (runtime, recorder) = build(
        Builder::new_multi_thread()
            .worker_threads(1)
            .max_spare_workers(1),
    );
    let mut stuck = block_workers(&runtime);
    stuck.add(runtime.handle());
    let waits = runtime.spawn(async {});
    for wanted in [MonitorAction::StartedSpare, MonitorAction::LacksSpare] {
        wait_for(
            &recorder,
            |event| matches!(event, Event::MonitorActed { worker: 0, action } if *action == wanted),
        );
    }
    let (worker, spare) = (1, 0);
    wait_for(&recorder, |event| {
        *event == Event::SpareWorkerStarted { worker, spare }
    });
    drop(stuck);
    runtime.block_on(waits).unwrap();
    wait_for(&recorder, |event| {
        *event == Event::SpareWorkerStopped { worker }
    });
}

#[test]
fn a_handoff_and_blocking_jobs_are_recorded() {
    let (runtime, recorder) = build(Builder::new_multi_thread().worker_threads(1));
    let in_place = runtime.spawn(async {
        raddle::task::block_in_place(|| {
            let handle = raddle::runtime::Handle::current();
            handle.block_on(handle.spawn(async {})).unwrap();
        });
    });
    runtime.block_on(in_place).unwrap();
    let job = runtime.spawn_blocking(|| ());
    let id = number(&job);
    runtime.block_on(job).unwrap();
    drop(runtime);
    let events = events(&recorder.snapshot());
    assert!(
        events.contains(&Event::WorkerHandedOff { worker: 0 }),
        "{events:?}"
    );
    let is_of_job = |event: &&Event| {
        [
            Event::JobQueued { job: id },
            Event::JobStarted { job: id },
            Event::JobFinished { job: id },
        ]
        .contains(event)
    };
    let of_job: Vec<_> = events.iter().filter(is_of_job).collect();
    let expected = [
        &Event::JobQueued { job: id },
        &Event::JobStarted { job: id },
        &Event::JobFinished { job: id },
    ];
    assert_eq!(of_job, expected);
}

#[test]
fn a_recorder_that_is_off_records_nothing() {
    let (runtime, recorder) = current_thread();
    recorder.stop();
    let before = recorder.snapshot();
    runtime.block_on(async { raddle::spawn(yield_now()).await.unwrap() });
    assert_eq!(events(&recorder.snapshot()), events(&before));
    recorder.start();
    let task = runtime.spawn(yield_now());
    let id = number(&task);
    runtime.block_on(task).unwrap();
    drop(runtime);
    let polls = of_task(&recorder.snapshot(), id);
    assert!(
        polls.contains(&Event::PollStarted { task: id }),
        "{polls:?}"
    );

    let runtime = Builder::new_current_thread().build().unwrap();
    assert!(runtime.handle().flight_recorder().is_none());
}

#[test]
fn a_recorder_that_is_switched_on_during_a_poll_records_the_next_ones() {
    let (runtime, recorder) = current_thread();
    let theirs = recorder.clone();
    let switching = runtime.spawn(async move {
        theirs.stop();
        yield_now().await;
        theirs.start();
    });
    let id = number(&switching);
    runtime.block_on(switching).unwrap();
    let next = runtime.spawn(async {});
    let next_id = number(&next);
    runtime.block_on(next).unwrap();
    drop(runtime);
    let recording = recorder.snapshot();
    let ended = Event::TaskEnded {
        task: id,
        reason: EndReason::Completed,
    };
    assert_eq!(of_task(&recording, id).pop(), Some(ended));
    let expected = [
        Event::PollStarted { task: next_id },
        Event::PollFinished {
            task: next_id,
            result: PollResult::Ended,
        },
    ];
    assert_eq!(of_task(&recording, next_id)[1..3], expected);
}

#[test]
fn each_runtime_of_a_builder_has_its_own_recorder() {
    let mut builder = Builder::new_current_thread();
    let [(first, of_first), (second, of_second)] = [(); 2].map(|()| build(&mut builder));
    // Both runtimes run alternately on one thread.
    for _ in 0..3 {
        first.block_on(async { raddle::spawn(yield_now()).await.unwrap() });
        second.block_on(async { raddle::spawn(async {}).await.unwrap() });
    }
    let rescheduled = |recorder: &Recorder| {
        let is_it = |event: &&Event| {
            let result = PollResult::Rescheduled;
            matches!(event, Event::PollFinished { result: is, .. } if *is == result)
        };
        events(&recorder.snapshot()).iter().filter(is_it).count()
    };
    let spawns = |recorder: &Recorder| {
        let is_it = |event: &&Event| matches!(event, Event::TaskSpawned { .. });
        events(&recorder.snapshot()).iter().filter(is_it).count()
    };
    assert_eq!((spawns(&of_first), rescheduled(&of_first)), (3, 3));
    assert_eq!((spawns(&of_second), rescheduled(&of_second)), (3, 0));
}

#[test]
fn a_long_lived_task_and_its_slow_poll_are_known_after_their_records_are_overwritten() {
    let mut options = RecorderOptions::default();
    options.kernel_delays = false;
    options.records_per_thread = 64;
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder
            .worker_threads(1)
            // Else one runs the other task while the first blocks.
            .max_spare_workers(0)
            .enable_all()
            .flight_recorder(options.clone())
            .build()
            .unwrap();
        let recorder = runtime.handle().flight_recorder().unwrap();
        // Spawned on the worker, whose ring the yields fill.
        let spawns = runtime.spawn(async {
            let (task, line) = (raddle::spawn(pending_after_slow_poll()), line!());
            let named = raddle::task::Builder::new().name("cleaner");
            let cleaner = named.spawn(yields()).unwrap();
            let name = number(&cleaner);
            cleaner.await.unwrap();
            (task, line, name)
        });
        let (task, line, named) = runtime.block_on(spawns).unwrap();
        let culprit = number(&task);
        let recording = recorder.snapshot();
        let spawn = Event::TaskSpawned {
            task: culprit,
            location: recording.tasks[&culprit].location.unwrap(),
        };
        assert!(!events(&recording).contains(&spawn), "the ring is too long");
        let tasks = Tasks::of(&recording);
        let label = tasks.label(culprit);
        assert!(
            label.contains(&format!("flight_recorder.rs:{line}:")),
            "{label}"
        );
        assert!(tasks.label(named).starts_with("cleaner ("));
        let slowest = longest_polls(&recording, 1)[0];
        assert_eq!(slowest.task, culprit);
        assert!(slowest.duration >= Duration::from_millis(300));
        task.abort();
    }
}

async fn pending_after_slow_poll() {
    thread::sleep(Duration::from_millis(300));
    std::future::pending::<()>().await;
}

async fn yields() {
    for _ in 0..500 {
        yield_now().await;
    }
}

#[test]
fn a_slow_poll_of_a_runtime_writes_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut triggers = TriggerOptions::new(directory.path());
    triggers.signal = false;
    triggers.slow_poll = Some(Duration::from_millis(200));
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .flight_recorder_triggers(triggers)
        .build()
        .unwrap();
    let slow = runtime.spawn(async { thread::sleep(Duration::from_millis(300)) });
    let id = number(&slow);
    runtime.block_on(slow).unwrap();
    // The end of the poll is recorded when the worker goes on.
    runtime.block_on(runtime.spawn(yields())).unwrap();
    drop(runtime);
    let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    let [Ok(file)] = &files[..] else {
        panic!("{files:?}");
    };
    let recording = Recording::read_from(std::fs::File::open(file.path()).unwrap()).unwrap();
    assert_eq!(longest_polls(&recording, 1)[0].task, id);
}
