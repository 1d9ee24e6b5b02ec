//! Tests of the analyses on recordings with known content.

use std::time::Duration;

use raddle_recording::analysis::{
    AnalysisReport, Distribution, Tasks, blocking_jobs, idle_while_waiting, kernel_delays,
    long_delays, longest_polls, polls, polls_by_location, scheduling_delays, spans_by_name,
    spare_workers,
};
use raddle_recording::export::{folded_stacks, perfetto_trace};
use raddle_recording::{
    Entry, Event, MonitorAction, PollResult, Recording, StringId, Task, Thread,
};

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn spawned(task: u64, location: u32) -> Event {
    Event::TaskSpawned {
        task,
        location: StringId::new(location).unwrap(),
    }
}

fn started(task: u64) -> Event {
    Event::PollStarted { task }
}

fn finished(task: u64, result: PollResult) -> Event {
    Event::PollFinished { task, result }
}

/// Makes a recording of two threads. Task 1 (at `main.rs:1`) spawns task 2 (at `main.rs:2`, named
/// `child`), which the second thread polls late.
fn recording() -> Recording {
    let mut recording = Recording::default();
    for (number, text) in [(1, "main.rs:1"), (2, "main.rs:2"), (3, "child")] {
        let id = StringId::new(number).unwrap();
        recording.strings.insert(id, text.to_owned());
    }
    let name = StringId::new(3).unwrap();
    let first = [
        (10, spawned(1, 1)),
        (20, started(1)),
        (30, spawned(2, 2)),
        (30, Event::TaskNamed { task: 2, name }),
        (60, finished(1, PollResult::Rescheduled)),
        (70, started(1)),
        (90, finished(1, PollResult::Ended)),
    ];
    let second = [
        (5, Event::WorkerParked { worker: 1 }),
        (100, Event::WorkerUnparked { worker: 1 }),
        (130, started(2)),
        (430, finished(2, PollResult::Pending)),
        (440, Event::TaskWoken { task: 2 }),
        (450, started(2)),
    ];
    for (number, entries) in [(1, &first[..]), (2, &second[..])] {
        let entry = |&(time, event)| Entry { time, event };
        let thread = Thread {
            name: format!("worker-{number}"),
            entries: entries.iter().map(entry).collect(),
            ..Thread::default()
        };
        recording.threads.insert(number, thread);
    }
    recording
}

fn distribution_of<'a>(groups: &'a [(String, Distribution)], label: &str) -> &'a Distribution {
    let group = groups.iter().find(|(name, _)| name == label);
    &group
        .unwrap_or_else(|| panic!("no {label} in {groups:?}"))
        .1
}

#[test]
fn percentiles_are_the_nearest_ranks() {
    let times: Distribution = [40, 10, 30, 20].map(nanos).into_iter().collect();
    let percentiles = [0.0, 25.0, 26.0, 50.0, 75.1, 100.0, 200.0];
    let found = percentiles.map(|percent| times.percentile(percent));
    assert_eq!(found, [10, 10, 20, 20, 40, 40, 40].map(nanos));
    assert_eq!((times.total(), times.max()), (nanos(100), nanos(40)));
    assert_eq!(Distribution::default().percentile(50.0), Duration::ZERO);
}

#[test]
fn tasks_have_the_location_the_name_and_the_task_that_spawned_them() {
    let recording = recording();
    let tasks = Tasks::of(&recording);
    assert_eq!(tasks.get(1).unwrap().parent, None);
    assert_eq!(tasks.get(2).unwrap().parent, Some(1));
    assert_eq!(tasks.ancestry(2), ["main.rs:1", "child (main.rs:2)"]);
    assert_eq!(tasks.label(9), "spawned before the recording");
}

#[test]
fn the_longest_poll_is_first_and_an_unfinished_poll_lasts_until_the_end() {
    let recording = recording();
    let longest = longest_polls(&recording, 2);
    assert_eq!(longest.len(), 2);
    let found = longest[0];
    assert_eq!((found.task, found.thread, found.start), (2, 2, 130));
    assert_eq!(
        (found.duration, longest[1].duration),
        (nanos(300), nanos(40))
    );
    let unfinished: Vec<_> = polls(&recording)
        .into_iter()
        .filter(|poll| !poll.is_finished)
        .collect();
    assert_eq!(unfinished.len(), 1);
    assert_eq!(
        (unfinished[0].start, unfinished[0].duration),
        (450, nanos(0))
    );
}

#[test]
fn polls_are_grouped_by_spawn_location() {
    let groups = polls_by_location(&recording());
    assert_eq!(groups[0].0, "child (main.rs:2)");
    let first = distribution_of(&groups, "main.rs:1");
    assert_eq!((first.count(), first.total()), (2, nanos(60)));
}

#[test]
fn a_poll_without_an_end_inside_another_poll_is_left_out() {
    let mut recording = Recording::default();
    let entries = [
        (0, started(1)),
        (10, started(2)),
        (50, finished(1, PollResult::Pending)),
        (60, started(3)),
        (65, finished(3, PollResult::Pending)),
        (70, finished(4, PollResult::Pending)),
    ];
    let entries = entries.map(|(time, event)| Entry { time, event }).to_vec();
    let thread = Thread {
        entries,
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    let found = polls(&recording);
    let found: Vec<_> = found
        .iter()
        .map(|poll| (poll.task, poll.duration))
        .collect();
    assert_eq!(found, [(1, nanos(50)), (3, nanos(5))]);
}

/// The recorded end of a poll has the time of the next event of its thread.
#[test]
fn a_task_that_another_thread_polls_before_the_recorded_end_of_its_poll_does_not_wait() {
    let mut recording = Recording::default();
    let threads = [
        vec![(0, started(1)), (50, finished(1, PollResult::Rescheduled))],
        vec![
            (45, started(1)),
            (90, finished(1, PollResult::Pending)),
            (95, started(1)),
        ],
    ];
    for (number, events) in (1..).zip(threads) {
        let entries = events
            .into_iter()
            .map(|(time, event)| Entry { time, event });
        let thread = Thread {
            entries: entries.collect(),
            ..Thread::default()
        };
        recording.threads.insert(number, thread);
    }
    assert!(scheduling_delays(&recording).is_empty());
}

#[test]
fn a_task_waits_from_spawn_wake_or_reschedule_to_its_poll() {
    let delays = scheduling_delays(&recording());
    let first = distribution_of(&delays, "main.rs:1");
    assert_eq!((first.count(), first.max()), (2, nanos(10)));
    let child = distribution_of(&delays, "child (main.rs:2)");
    assert_eq!((child.count(), child.max()), (2, nanos(100)));
    assert_eq!(child.percentile(50.0), nanos(10));
}

#[test]
fn a_task_that_is_woken_during_its_poll_waits_from_the_end_of_the_poll() {
    let mut recording = Recording::default();
    let entries = [
        (0, started(1)),
        (10, Event::TaskWoken { task: 1 }),
        (50, finished(1, PollResult::Pending)),
        (60, started(1)),
    ];
    let entries = entries.map(|(time, event)| Entry { time, event }).to_vec();
    let thread = Thread {
        entries,
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    assert_eq!(scheduling_delays(&recording)[0].1.max(), nanos(10));
}

#[test]
fn a_worker_that_is_parked_while_a_task_waits_is_found() {
    let idle = idle_while_waiting(&recording());
    // From the spawn of task 1 to its poll, and from the spawn of task 2 until the worker is
    // unparked.
    assert_eq!(idle.total, nanos(10 + 70));
    assert_eq!((idle.longest, idle.longest_start), (nanos(70), 30));
    assert_eq!(idle.most_waiting, 2);
}

#[test]
fn time_before_a_loss_does_not_count_as_waiting() {
    let mut recording = recording();
    let second = recording.threads.get_mut(&2).unwrap();
    second.lost = 3;
    second.entries.drain(..2);
    assert_eq!(recording.complete_from(), 130);
    let delays = scheduling_delays(&recording);
    assert_eq!(delays.len(), 1);
    assert_eq!(delays[0].1.count(), 1);
    assert_eq!(idle_while_waiting(&recording).total, Duration::ZERO);
}

#[test]
fn jobs_wait_and_run() {
    let mut recording = Recording::default();
    let mut add = |number, entries: &[(u64, Event)]| {
        let entry = |&(time, event)| Entry { time, event };
        let thread = Thread {
            entries: entries.iter().map(entry).collect(),
            ..Thread::default()
        };
        recording.threads.insert(number, thread);
    };
    add(1, &[(5, Event::JobQueued { job: 8 })]);
    let (start, end) = (Event::JobStarted { job: 8 }, Event::JobFinished { job: 8 });
    add(2, &[(25, start), (95, end)]);
    let (waits, runs) = blocking_jobs(&recording);
    assert_eq!((waits.max(), runs.max()), (nanos(20), nanos(70)));
}

#[test]
fn kernel_delays_are_summed_by_thread() {
    let mut recording = Recording::default();
    for (number, delays) in [(1, &[1, 2][..]), (2, &[9]), (3, &[])] {
        let entry = |&nanos: &u64| Entry {
            time: 1,
            event: Event::ThreadDelayed { nanos },
        };
        let thread = Thread {
            entries: delays.iter().map(entry).collect(),
            ..Thread::default()
        };
        recording.threads.insert(number, thread);
    }
    let delays = kernel_delays(&recording);
    let found: Vec<_> = delays
        .iter()
        .map(|found| (found.thread, found.delayed))
        .collect();
    assert_eq!(found, [(2, nanos(9)), (1, nanos(3))]);
    assert_eq!(delays[1].longest, nanos(2));
}

#[test]
fn folded_stacks_follow_the_spawns() {
    let mut recording = recording();
    let id = StringId::new(3).unwrap();
    recording.strings.insert(id, "child;\n1".to_owned());
    let expected = "main.rs:1 60\nmain.rs:1;child,\\n1 (main.rs:2) 300\n";
    assert_eq!(folded_stacks(&recording), expected);
}

#[test]
fn a_report_contains_the_longest_polls_and_idle_times() {
    let report = AnalysisReport::of(&recording()).to_string();
    let lines: Vec<_> = report.lines().collect();
    assert_eq!(
        lines[0],
        "13 events of 2 threads, 0 overwritten; ends at 1970-01-01 00:00:00.000, in UTC"
    );
    let longest = lines
        .iter()
        .position(|line| *line == "Longest polls")
        .unwrap();
    let row = lines[longest + 1];
    assert!(
        row.contains("300 ns") && row.contains("child (main.rs:2)"),
        "{row}"
    );
    assert!(report.contains("in all 80 ns, longest 70 ns"), "{report}");
}

/// Makes a recording of one worker, which is in a long poll, and of a thread that serves as a spare
/// worker twice. The second time the thread of another worker takes over, and does not stop.
fn recording_with_spares() -> Recording {
    let mut recording = recording();
    let monitor = |action| Event::MonitorActed { worker: 0, action };
    let (worker, spare) = (1, 0);
    let spares = [
        (0, Event::RuntimeStarted { workers: 1 }),
        (5, monitor(MonitorAction::StartedSpare)),
        (10, Event::SpareWorkerStarted { worker, spare }),
        (15, Event::WorkerParked { worker }),
        (70, Event::WorkerUnparked { worker }),
        (110, Event::SpareWorkerStopped { worker }),
        (120, monitor(MonitorAction::StartedSpare)),
        (200, Event::SpareWorkerStarted { worker, spare }),
        (210, Event::SpareWorkerStarted { worker, spare }),
        (220, monitor(MonitorAction::LacksSpare)),
    ];
    let entry = |&(time, event)| Entry { time, event };
    let thread = Thread {
        entries: spares.iter().map(entry).collect(),
        ..Thread::default()
    };
    recording.threads.insert(2, thread);
    recording
}

#[test]
fn spare_workers_serve_from_their_start_to_their_end_or_that_of_the_recording() {
    let recording = recording_with_spares();
    let spares = spare_workers(&recording);
    assert_eq!((spares.starts, spares.lacks), (2, 1));
    let served: Vec<_> = spares.served.iter().collect();
    let [(0, times)] = served[..] else {
        panic!("{served:?}");
    };
    assert_eq!(
        (times.count(), times.total(), times.max()),
        (2, nanos(120), nanos(100))
    );
    let report = AnalysisReport::of(&recording).to_string();
    let row = report.lines().find(|line| line.contains("spare worker 0"));
    assert!(row.is_some_and(|row| row.contains("120 ns")), "{report}");
    assert!(
        report.contains("started 2 times; found to be too few 1 times"),
        "{report}"
    );
}

#[test]
fn a_parked_spare_worker_is_not_idle_while_tasks_wait() {
    let idle = idle_while_waiting(&recording_with_spares());
    assert_eq!((idle.total, idle.most_waiting), (nanos(0), 0));
    // The count of workers was overwritten.
    let mut recording = recording_with_spares();
    recording.threads.get_mut(&2).unwrap().entries.remove(0);
    assert_eq!(idle_while_waiting(&recording).total, nanos(0));
}

/// Makes a recording in which each of `count` tasks is spawned by the one before, at the location
/// that `location` returns, and is polled for a nanosecond.
fn chain(count: u64, location: impl Fn(u64) -> u32) -> Recording {
    let mut recording = Recording::default();
    let mut entries = Vec::new();
    for task in 1..=count {
        let id = StringId::new(location(task)).unwrap();
        let text = format!("src/very/long/path/of/a/module.rs:{}:5", location(task));
        recording.strings.insert(id, text);
        if task == 1 {
            entries.push((0, spawned(1, location(1))));
        }
        entries.push((task, started(task)));
        entries.push((task, spawned(task + 1, location(task + 1))));
        entries.push((task + 1, finished(task, PollResult::Pending)));
    }
    let entry = |(time, event)| Entry { time, event };
    let thread = Thread {
        entries: entries.into_iter().map(entry).collect(),
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    recording
}

#[test]
fn folded_stacks_of_a_chain_of_spawns_have_each_location_once_in_a_row() {
    const COUNT: u64 = 10_000;
    let place = |number: u32| format!("src/very/long/path/of/a/module.rs:{number}:5");
    let same = folded_stacks(&chain(COUNT, |_| 7));
    assert_eq!(same, format!("{} {COUNT}\n", place(7)));
    let blocks = folded_stacks(&chain(COUNT, |task| 1 + task as u32 / 4_000));
    let expected = format!(
        "{0} 3999\n{0};{1} 4000\n{0};{1};{2} 2001\n",
        place(1),
        place(2),
        place(3)
    );
    assert_eq!(blocks, expected);
    // Those that alternate are bounded.
    for locations in [2, 3, COUNT as u32 + 1] {
        let recording = chain(COUNT, |task| 1 + task as u32 % locations);
        let folded = folded_stacks(&recording);
        let total: u64 = folded
            .lines()
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
            .sum();
        assert_eq!(total, COUNT);
        let frames = folded.lines().map(|line| line.split(';').count());
        assert_eq!(frames.max(), Some(Tasks::MAX_ANCESTORS + 1));
        let bound = COUNT.min(u64::from(locations) * 40) as usize * 34 * place(COUNT as u32).len();
        assert!(folded.len() <= bound, "{} bytes", folded.len());
    }
}

#[test]
fn a_cycle_of_parents_ends() {
    let mut recording = chain(1, |_| 1);
    for (task, parent) in [(1, 2), (2, 3), (3, 1)] {
        for location in [None, StringId::new(task as u32)] {
            let known = Task {
                location,
                name: None,
                parent: Some(parent),
            };
            recording.tasks.insert(task, known);
            assert!(Tasks::of(&recording).ancestry(task).len() <= Tasks::MAX_ANCESTORS + 1);
        }
    }
}

#[test]
fn control_characters_of_names_are_escaped() {
    let mut recording = recording();
    let evil = "\x1b[31m;\r\n\u{202e}";
    for text in recording.strings.values_mut() {
        text.push_str(evil);
    }
    let id = StringId::new(3).unwrap();
    let thread = recording.threads.get_mut(&1).unwrap();
    thread.name = evil.to_owned();
    let events = [
        Event::SpanEntered { name: id },
        Event::SpanLeft { name: id },
        Event::Marked { text: id },
        Event::FaultStarted { text: id },
        Event::ThreadDelayed { nanos: 5 },
    ];
    let entries = events.map(|event| Entry { time: 1_000, event });
    thread.entries.extend(entries);
    let mut processes = recording.clone();
    for (number, name) in [(1, "\u{7}bell"), (2, "\u{9b}2J")] {
        processes.threads.get_mut(&number).unwrap().process = name.to_owned();
    }
    let is_clean = |text: &str| {
        let is_evil =
            |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        !text.contains(is_evil)
    };
    for recording in [&recording, &processes] {
        let report = AnalysisReport::of(recording).to_string();
        assert!(is_clean(&report), "{report:?}");
        assert!(report.contains(r"child\u{1b}[31m;\r\n\u{202e}"), "{report}");
    }
    let folded = folded_stacks(&recording);
    assert!(is_clean(&folded), "{folded:?}");
    // A label has no separator of frames or of lines.
    assert_eq!(folded.lines().count(), 2, "{folded}");
    assert!(
        folded.lines().all(|line| line.split(';').count() <= 2),
        "{folded}"
    );
}

#[test]
fn a_report_has_wall_clock_times_and_says_how_far_back_the_records_reach() {
    const SECOND: u64 = 1_000_000_000;
    let mut recording = recording();
    recording.origin = 1_798_761_590 * SECOND;
    let thread = recording.threads.get_mut(&2).unwrap();
    for entry in &mut thread.entries {
        entry.time += 400 * SECOND;
    }
    thread.lost = 9;
    thread.rare_lost = 1;
    let rare = [
        (9 * SECOND, started(7)),
        (9 * SECOND + 345_678_901, finished(7, PollResult::Pending)),
        (
            10 * SECOND,
            Event::TaskDelayed {
                task: 7,
                tenths: 123,
            },
        ),
    ];
    thread.rare = rare.map(|(time, event)| Entry { time, event }).to_vec();
    let known = Task {
        location: StringId::new(1),
        ..Task::default()
    };
    recording.tasks.insert(7, known);
    let report = AnalysisReport::of(&recording).to_string();
    let has = |line: &str| assert!(report.contains(line), "no {line:?} in {report}");
    has("345 ms  at 2026-12-31 23:59:59.000  task 7  main.rs:1");
    has("12 ms  at 2027-01-01 00:00:00.000  task 7  main.rs:1");
    has("records of all events reach back 445 ns, of slow and rare ones 391 s");
    assert_eq!(longest_polls(&recording, 1)[0].task, 7);
    assert_eq!(
        long_delays(&recording),
        [(7, 10 * SECOND, Duration::from_micros(12_300))]
    );
}

#[test]
fn a_poll_that_begins_among_the_rare_events_ends_among_the_others() {
    let mut recording = Recording::default();
    let entry = |(time, event)| Entry { time, event };
    let thread = Thread {
        rare: vec![entry((10, started(1)))],
        entries: vec![
            entry((500, finished(1, PollResult::Pending))),
            entry((600, started(2))),
            entry((700, Event::RecordsLost { count: 5 })),
            entry((800, started(3))),
            entry((900, finished(3, PollResult::Pending))),
        ],
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    let found = polls(&recording);
    let found: Vec<_> = found
        .iter()
        .map(|poll| (poll.task, poll.duration))
        .collect();
    // The end of the second poll was lost.
    assert_eq!(found, [(1, nanos(490)), (3, nanos(100))]);
    assert!(!perfetto_trace(&recording).is_empty());
}

#[test]
fn spans_are_grouped_by_name_and_may_overlap() {
    let mut recording = recording();
    let [outer, inner] = [1, 3].map(|number| StringId::new(number).unwrap());
    let spans = [
        (1_000, Event::SpanEntered { name: outer }),
        (1_010, Event::SpanEntered { name: inner }),
        (1_020, Event::SpanLeft { name: outer }),
        (1_050, Event::SpanLeft { name: inner }),
        (1_060, Event::SpanLeft { name: inner }),
    ];
    let entries = spans.map(|(time, event)| Entry { time, event });
    recording
        .threads
        .get_mut(&1)
        .unwrap()
        .entries
        .extend(entries);
    let found = spans_by_name(&recording);
    let found: Vec<_> = found
        .iter()
        .map(|(name, times)| (name.as_str(), times.count(), times.max()))
        .collect();
    assert_eq!(
        found,
        [("child", 1, nanos(40)), ("main.rs:1", 1, nanos(20))]
    );
}
