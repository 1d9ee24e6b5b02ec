//! Tests of a recorder that several threads use.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use raddle_recording::analysis::{Tasks, longest_polls, polls, spans_by_name};
use raddle_recording::recorder::{Archive, ArchiveOptions, Recorder, RecorderOptions};
use raddle_recording::{EndReason, Entry, Event, PollEnd, PollResult, Recording};

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
    let [
        Event::RecordsLost { count },
        Event::PollStarted { task: first },
        second,
        ..,
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    assert!(first > 3 && count > 3, "{events:?}");
    assert_eq!(second, finished(first));
}

fn poll(recorder: &Recorder, task: u64, time: Duration) {
    recorder.record_poll(task);
    if !time.is_zero() {
        thread::sleep(time);
    }
    recorder.record_poll_end(task, PollEnd::Pending);
}

/// Fills the ring of the thread.
fn overwrite(recorder: &Recorder) {
    queued(0..64).for_each(|event| recorder.record(event));
}

#[test]
fn tasks_stay_known_when_their_spawn_is_overwritten() {
    let recorder = recorder_with(|options| {
        options.records_per_thread = 16;
        options.task_places = 16;
    });
    let location = Location::caller();
    recorder.record_poll(0);
    recorder.record_spawn(1, location);
    recorder.record_spawn(2, location);
    let name = recorder.text("listener");
    recorder.record(Event::TaskNamed { task: 2, name });
    recorder.record_poll_end(0, PollEnd::Pending);
    // Those that come and go do not replace them.
    for task in 3..1_000 {
        recorder.record_spawn(task, Location::caller());
        poll(&recorder, task, Duration::ZERO);
        recorder.record_end(task, EndReason::Completed);
    }
    overwrite(&recorder);
    // One is only woken, the other is polled on a thread that has not seen its spawn.
    recorder.record(Event::TaskWoken { task: 1 });
    record_on(&recorder, "other", [Event::PollStarted { task: 2 }]);
    let expected = format!("listener ({location})");
    let check = |recording: &Recording| {
        let tasks = Tasks::of(recording);
        assert_eq!(tasks.label(1), location.to_string());
        assert_eq!(tasks.label(2), expected);
        assert_eq!(tasks.get(1).unwrap().parent, Some(0));
        assert_eq!(recording.tasks.len(), 2, "{:?}", recording.tasks);
    };
    let recording = recorder.snapshot();
    check(&recording);
    let mut file = Vec::new();
    recording.write_to(&mut file).unwrap();
    check(&Recording::read_from(&file[..]).unwrap());
    // They have ended, and their ends are in the rings.
    for task in [1, 2] {
        recorder.record_end(task, EndReason::Cancelled);
    }
    check(&recorder.snapshot());
}

#[test]
fn a_task_that_is_spawned_while_the_recorder_is_off_is_known() {
    let recorder = Recorder::new(RecorderOptions::default());
    recorder.stop();
    recorder.record_spawn(1, Location::caller());
    recorder.start();
    recorder.record(Event::TaskWoken { task: 1 });
    let recording = recorder.snapshot();
    assert!(Tasks::of(&recording).label(1).contains("recorder.rs"));
}

#[test]
fn each_file_of_an_archive_names_its_tasks() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = recorder_with(|options| options.records_per_thread = 16);
    let location = Location::caller();
    recorder.record_spawn(1, location);
    let mut options = ArchiveOptions::new(directory.path());
    options.max_file_bytes = 1;
    options.interval = Duration::from_millis(1);
    let archive = Archive::start(&recorder, options).unwrap();
    let count = || std::fs::read_dir(directory.path()).unwrap().count();
    for _ in 0..3 {
        let before = count();
        overwrite(&recorder);
        recorder.record(Event::TaskWoken { task: 1 });
        let end = Instant::now() + Duration::from_secs(20);
        while count() == before && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
    archive.finish().unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        let recording = Recording::read_from(file).unwrap();
        let is_woken = |(_, entry): &(u64, Entry)| entry.event == Event::TaskWoken { task: 1 };
        if recording.by_time().iter().any(is_woken) {
            files += 1;
            assert_eq!(Tasks::of(&recording).label(1), location.to_string());
        }
    }
    assert!(files >= 2, "{files} files");
}

#[test]
fn slow_polls_are_kept_longer_than_the_other_events_and_are_not_counted_twice() {
    let recorder = recorder_with(|options| {
        options.records_per_thread = 16;
        options.slow = Duration::from_millis(200);
    });
    recorder.record_spawn(1, Location::caller());
    let slow = Duration::from_millis(210);
    poll(&recorder, 1, slow);
    poll(&recorder, 2, Duration::ZERO);
    // Both rings have it.
    let of_task = |recording: &Recording, task| {
        let all = polls(recording).into_iter();
        all.filter(|poll| poll.task == task).collect::<Vec<_>>()
    };
    let found = of_task(&recorder.snapshot(), 1);
    assert_eq!(found.len(), 1);
    assert_eq!(recorder.snapshot().rare_complete_from(), 0);
    for _ in 0..1_000 {
        overwrite(&recorder);
    }
    let recording = recorder.snapshot();
    assert_eq!(of_task(&recording, 1).len(), 1);
    let kept = longest_polls(&recording, 1)[0];
    // The rate of the clock is measured again each time.
    assert!(kept.duration.abs_diff(found[0].duration) < Duration::from_millis(1));
    assert!(kept.duration >= slow && kept.is_finished);
    assert!(Tasks::of(&recording).label(1).contains("recorder.rs"));
    assert!(recording.complete_from() > kept.start);
    assert_eq!(recording.rare_complete_from(), 0);
    // The fast poll is lost.
    assert!(of_task(&recording, 2).is_empty());

    let mut file = Vec::new();
    recording.write_to(&mut file).unwrap();
    assert_eq!(Recording::read_from(&file[..]).unwrap(), recording);
}

#[test]
fn a_slow_poll_is_complete_wherever_the_ring_begins() {
    for lost in 0..12 {
        let recorder = recorder_with(|options| options.records_per_thread = 8);
        poll(&recorder, 1, Duration::from_millis(11));
        match lost % 2 {
            0 => poll(&recorder, 2, Duration::ZERO),
            // The end has a record of its own.
            _ => recorder.end_poll(),
        }
        queued(0..lost).for_each(|event| recorder.record(event));
        let recording = recorder.snapshot();
        let found = polls(&recording);
        let slow: Vec<_> = found.iter().filter(|poll| poll.task == 1).collect();
        assert_eq!(slow.len(), 1, "{lost}: {found:?}");
        assert!(slow[0].is_finished && slow[0].duration >= Duration::from_millis(11));
        assert!(
            found
                .iter()
                .all(|poll| poll.duration < Duration::from_secs(1))
        );
    }
}

#[test]
fn a_follower_reads_each_slow_poll_once_even_if_records_are_lost() {
    let recorder = recorder_with(|options| options.records_per_thread = 8);
    let mut follower = recorder.follow();
    let mut file = Vec::new();
    let mut writer = raddle_recording::Writer::new(&mut file).unwrap();
    for task in 1..=12 {
        poll(&recorder, task, Duration::from_millis(11));
        if task % 2 == 0 {
            overwrite(&recorder);
        }
        if task % 3 == 0 {
            writer.append(&follower.read()).unwrap();
        }
    }
    recorder.end_poll();
    writer.append(&follower.read()).unwrap();
    let recording = Recording::read_from(&file[..]).unwrap();
    let found = polls(&recording);
    let mut tasks: Vec<_> = found.iter().map(|poll| poll.task).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, (1..=12).collect::<Vec<_>>(), "{found:?}");
    assert!(
        found
            .iter()
            .all(|poll| poll.duration < Duration::from_secs(1))
    );
}

#[test]
fn the_ring_of_slow_events_is_bounded_and_says_how_far_back_it_reaches() {
    let recorder = recorder_with(|options| {
        options.records_per_thread = 8;
        options.rare_records_per_thread = 16;
        options.slow = Duration::from_micros(1);
    });
    for task in 1..=50 {
        poll(&recorder, task, Duration::from_micros(50));
    }
    recorder.end_poll();
    overwrite(&recorder);
    let recording = recorder.snapshot();
    let found = polls(&recording);
    assert!(!found.is_empty() && found.len() <= 4, "{found:?}");
    assert_eq!(found.last().unwrap().task, 50);
    let first = found.iter().map(|poll| poll.start).min().unwrap();
    assert!(recording.rare_complete_from() <= first && recording.rare_complete_from() > 0);
}

#[test]
fn slow_waits_of_tasks_marks_and_slow_spans_are_kept() {
    let recorder = recorder_with(|options| {
        options.records_per_thread = 8;
        options.slow = Duration::from_millis(200);
    });
    let slow = Duration::from_millis(210);
    recorder.mark("new configuration");
    recorder.record(Event::TaskWoken { task: 5 });
    recorder.enter_span("request");
    thread::sleep(slow);
    recorder.leave_span("request");
    recorder.enter_span("fast");
    recorder.leave_span("fast");
    poll(&recorder, 5, Duration::ZERO);
    overwrite(&recorder);
    let recording = recorder.snapshot();
    let rare = &recording.threads.values().next().unwrap().rare;
    let [
        Event::Marked { text },
        Event::SpanEntered { name },
        Event::SpanLeft { .. },
        Event::TaskDelayed { task: 5, tenths },
    ] = rare.iter().map(|entry| entry.event).collect::<Vec<_>>()[..]
    else {
        panic!("{rare:?}");
    };
    assert_eq!(recording.text(text), "new configuration");
    assert_eq!(recording.text(name), "request");
    assert!(tenths >= 2_000, "{tenths}");
    assert_eq!(spans_by_name(&recording).len(), 1);
}

#[test]
fn a_span_that_is_left_on_another_thread_or_twice_is_ignored() {
    let recorder = Recorder::new(RecorderOptions::default());
    recorder.enter_span("a");
    let other = recorder.clone();
    thread::spawn(move || other.leave_span("a")).join().unwrap();
    let name = recorder.text("made at run time");
    recorder.enter(name);
    recorder.leave(name);
    recorder.leave(name);
    recorder.leave_span("a");
    recorder.leave_span("a");
    let recording = recorder.snapshot();
    let count = |wanted: fn(&Event) -> bool| {
        let all = recording.by_time();
        all.iter().filter(|(_, entry)| wanted(&entry.event)).count()
    };
    let entered = count(|event| matches!(event, Event::SpanEntered { .. }));
    let left = count(|event| matches!(event, Event::SpanLeft { .. }));
    assert_eq!((entered, left), (2, 2));
}
