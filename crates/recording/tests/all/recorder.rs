//! Tests of a recorder that several threads use.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use raddle_recording::recorder::{Recorder, RecorderOptions};
use raddle_recording::{EndReason, Event, PollEnd, PollResult, Recording};

fn recorder_with(change: impl FnOnce(&mut RecorderOptions)) -> Recorder {
    let mut options = RecorderOptions::default();
    change(&mut options);
    Recorder::new(options)
}

/// Returns the jobs that each thread of a recording queued, with the name of the thread.
fn jobs(recording: &Recording) -> Vec<(&str, Vec<u64>)> {
    let job = |event| match event {
        Event::JobQueued { job } => job,
        other => panic!("{other:?}"),
    };
    let threads = recording.threads.values();
    threads
        .map(|thread| {
            let jobs = thread.entries.iter().map(|entry| job(entry.event));
            (thread.name.as_str(), jobs.collect())
        })
        .collect()
}

/// Records events on a thread named `name`, which then ends.
fn record_on(recorder: &Recorder, name: &str, events: impl IntoIterator<Item = Event>) {
    let events: Vec<_> = events.into_iter().collect();
    let recorder = recorder.clone();
    let run = move || events.into_iter().for_each(|event| recorder.record(event));
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.unwrap().join().unwrap();
}

fn queued(jobs: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Event> {
    jobs.into_iter().map(|job| Event::JobQueued { job })
}

#[test]
fn each_thread_has_its_events_in_order() {
    let recorder = Recorder::new(RecorderOptions::default());
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let recorder = &recorder;
            scope.spawn(move || record_on(recorder, name, queued(0..100)));
        }
    });
    let recording = recorder.snapshot();
    let mut threads = jobs(&recording);
    threads.sort();
    let expected: Vec<_> = (0..100).collect();
    assert_eq!(threads, [("a", expected.clone()), ("b", expected)]);
    for thread in recording.threads.values() {
        assert!(thread.entries.is_sorted_by_key(|entry| entry.time));
        assert_eq!(thread.lost, 0);
    }
}

#[test]
fn threads_that_take_over_a_ring_are_distinguished() {
    let recorder = recorder_with(|options| options.max_threads = 1);
    record_on(&recorder, "first", queued([1, 2]));
    record_on(&recorder, "second", queued([3]));
    let recording = recorder.snapshot();
    assert_eq!(
        jobs(&recording),
        [("first", vec![1, 2]), ("second", vec![3])]
    );
    assert_eq!(recorder.refused_threads(), 0);
}

#[test]
fn overwritten_records_are_counted_under_the_thread_that_wrote_them() {
    let recorder = recorder_with(|options| {
        options.max_threads = 1;
        options.records_per_thread = 4;
    });
    record_on(&recorder, "first", queued(0..10));
    record_on(&recorder, "second", queued(10..12));
    let recording = recorder.snapshot();
    assert_eq!(
        jobs(&recording),
        [("first", vec![9]), ("second", vec![10, 11])]
    );
    let lost: Vec<_> = recording
        .threads
        .values()
        .map(|thread| thread.lost)
        .collect();
    assert_eq!(lost, [9, 0]);
}

#[test]
fn a_follower_reads_each_event_once_even_if_another_thread_takes_over_a_ring() {
    let recorder = recorder_with(|options| options.max_threads = 1);
    let mut follower = recorder.follow();
    record_on(&recorder, "first", queued([1]));
    assert_eq!(jobs(&follower.read()), [("first", vec![1])]);
    record_on(&recorder, "second", queued([2]));
    record_on(&recorder, "third", queued([3]));
    assert_eq!(
        jobs(&follower.read()),
        [("second", vec![2]), ("third", vec![3])]
    );
    assert_eq!(jobs(&follower.read()), []);
}

#[test]
fn a_thread_without_a_ring_records_nothing_and_is_counted() {
    let recorder = recorder_with(|options| options.max_threads = 1);
    recorder.record(Event::JobQueued { job: 1 });
    record_on(&recorder, "refused", queued([2]));
    assert_eq!(recorder.refused_threads(), 1);
    let recording = recorder.snapshot();
    assert_eq!(recording.by_time().len(), 1);
}

#[test]
fn a_recorder_that_is_off_keeps_what_it_has() {
    let recorder = Recorder::new(RecorderOptions::default());
    record_on(&recorder, "t", queued([1]));
    recorder.stop();
    record_on(&recorder, "t", queued([2]));
    recorder.record_spawn(3, Location::caller());
    recorder.record_kernel_delays();
    recorder.start();
    record_on(&recorder, "t", queued([4]));
    let recording = recorder.snapshot();
    assert_eq!(jobs(&recording), [("t", vec![1]), ("t", vec![4])]);
}

#[test]
fn a_spawn_has_its_location_and_equal_locations_one_id() {
    let recorder = Recorder::new(RecorderOptions::default());
    let first_location = Location::caller();
    for task in [1, 2] {
        recorder.record_spawn(task, first_location);
    }
    let other = Location::caller();
    recorder.record_spawn(3, other);
    let recording = recorder.snapshot();
    let locations: Vec<_> = recording
        .by_time()
        .iter()
        .map(|(_, entry)| match entry.event {
            Event::TaskSpawned { location, .. } => recording.text(location).to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        locations,
        [first_location, first_location, other].map(|location| location.to_string())
    );
    assert_eq!(recording.strings.len(), 2);
}

#[test]
fn strings_beyond_the_limit_are_unknown() {
    let recorder = recorder_with(|options| options.max_strings = 1);
    let name = recorder.text("first");
    let unknown = recorder.text("second");
    let recording = recorder.snapshot();
    assert_eq!(recording.text(name), "first");
    assert_eq!(recorder.text("first"), name);
    assert_eq!(recording.text(unknown), "?");
}

#[test]
fn two_recorders_on_one_thread_keep_their_events_apart() {
    let [first, second] = [(); 2].map(|()| Recorder::new(RecorderOptions::default()));
    first.record(Event::JobQueued { job: 1 });
    second.record(Event::JobQueued { job: 2 });
    first.record(Event::JobQueued { job: 3 });
    let jobs_of = |recorder: &Recorder| jobs(&recorder.snapshot())[0].1.clone();
    assert_eq!((jobs_of(&first), jobs_of(&second)), (vec![1, 3], vec![2]));
}

/// Readers of a ring that is continuously overwritten read each event at its position.
#[test]
fn snapshots_under_a_busy_writer_have_consecutive_events() {
    let recorder = recorder_with(|options| options.records_per_thread = 64);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for event in queued(0..).take_while(|_| !is_done.load(Ordering::Relaxed)) {
                recorder.record(event);
            }
        });
        let mut event_count = 0;
        while event_count < 1_000 {
            let recording = recorder.snapshot();
            for (_, jobs) in jobs(&recording) {
                assert!(
                    jobs.windows(2).all(|pair| pair[1] == pair[0] + 1),
                    "{jobs:?}"
                );
                event_count += jobs.len();
            }
            for thread in recording.threads.values() {
                assert!(thread.entries.is_sorted_by_key(|entry| entry.time));
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

/// Returns the events of the only thread that has recorded.
fn events_of_one_thread(recording: &Recording) -> Vec<Event> {
    assert_eq!(recording.threads.len(), 1);
    let thread = recording.threads.values().next().unwrap();
    thread.entries.iter().map(|entry| entry.event).collect()
}

#[test]
fn the_end_of_a_poll_is_read_from_the_next_record() {
    let recorder = Recorder::new(RecorderOptions::default());
    let started = |task| Event::PollStarted { task };
    let finished = |task, result| Event::PollFinished { task, result };
    recorder.record_poll(1);
    recorder.record(Event::TaskWoken { task: 9 });
    recorder.record_poll_end(1, PollEnd::Rescheduled);
    let mut expected = vec![started(1), Event::TaskWoken { task: 9 }];
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
    recorder.record_poll(2);
    expected.extend([finished(1, PollResult::Rescheduled), started(2)]);
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
    recorder.record_poll_end(2, PollEnd::Ended(EndReason::Completed));
    recorder.record_end(2, EndReason::Panicked);
    recorder.record(Event::DriverStarted);
    let ended = Event::TaskEnded {
        task: 2,
        reason: EndReason::Panicked,
    };
    expected.extend([finished(2, PollResult::Ended), ended, Event::DriverStarted]);
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
    // The end of the poll is recorded when the thread reports that it polls no further task.
    recorder.record_poll(3);
    recorder.record_poll_end(3, PollEnd::Pending);
    expected.push(started(3));
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
    recorder.end_poll();
    expected.push(finished(3, PollResult::Pending));
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
    // The end of a poll whose start was not recorded has a record of its own.
    recorder.record_poll_end(4, PollEnd::Pending);
    expected.push(finished(4, PollResult::Pending));
    assert_eq!(events_of_one_thread(&recorder.snapshot()), expected);
}

#[test]
fn a_follower_knows_the_task_of_a_poll_that_ends_in_a_later_piece() {
    let recorder = recorder_with(|options| options.records_per_thread = 4);
    let mut follower = recorder.follow();
    recorder.record_poll(1);
    assert_eq!(events_of_one_thread(&follower.read()).len(), 1);
    recorder.record_poll_end(1, PollEnd::Pending);
    recorder.record_poll(2);
    let finished = |task| Event::PollFinished {
        task,
        result: PollResult::Pending,
    };
    let expected = [finished(1), Event::PollStarted { task: 2 }];
    assert_eq!(events_of_one_thread(&follower.read()), expected);
    // After a gap, the task of the first end of a poll is unknown.
    for task in 3..20 {
        recorder.record_poll_end(task - 1, PollEnd::Pending);
        recorder.record_poll(task);
    }
    let events = events_of_one_thread(&follower.read());
    let Event::PollStarted { task: first } = events[0] else {
        panic!("{events:?}");
    };
    assert!(first > 3, "{events:?}");
    assert_eq!(events[1], finished(first));
}
