//! A report of all analyses as text.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::distribution::short;
use super::text::{escaped, utc};
use super::{
    Distribution, Tasks, blocking_jobs, idle_while_waiting, kernel_delays, long_delays,
    longest_polls, message_times, polls, polls_by_location, scheduling_delays, spans_by_name,
    spare_workers,
};
use crate::{Event, Recording};

/// The number of rows of a table.
const ROWS: usize = 20;

/// Prints what the analyses of a recording find; of several processes, what each finds of one.
///
/// Points in time are in UTC. Control characters in names are escaped.
///
/// # Examples
///
/// ```
/// use raddle_recording::Recording;
/// use raddle_recording::analysis::AnalysisReport;
///
/// let report = AnalysisReport::of(&Recording::default()).to_string();
/// assert!(report.contains("Longest polls"));
/// ```
#[derive(Debug)]
pub struct AnalysisReport<'a> {
    recording: &'a Recording,
}

impl<'a> AnalysisReport<'a> {
    /// Makes a report of a recording.
    pub fn of(recording: &'a Recording) -> Self {
        Self { recording }
    }
}

impl fmt::Display for AnalysisReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recording = self.recording;
        let processes = recording.processes();
        if let [] | [_] = processes[..] {
            return report(f, recording);
        }
        faults_and_losses(f, recording)?;
        table(
            f,
            "Messages, from sent to arrived",
            &message_times(recording),
        )?;
        for process in processes {
            let recording = recording.of_process(process);
            if !polls(&recording).is_empty() {
                writeln!(f, "\n== {} ==", escaped(process))?;
                report(f, &recording)?;
            }
        }
        Ok(())
    }
}

/// Prints what the analyses of one process find.
fn report(f: &mut fmt::Formatter<'_>, recording: &Recording) -> fmt::Result {
    summary(f, recording)?;

    let tasks = Tasks::of(recording);
    writeln!(f, "\nLongest polls")?;
    for poll in longest_polls(recording, ROWS) {
        let unfinished = match poll.is_finished {
            true => "",
            false => " (not finished)",
        };
        writeln!(
            f,
            "{:>10}  at {}  task {}  {}{unfinished}",
            short(poll.duration),
            at(recording, poll.start),
            poll.task,
            tasks.label(poll.task),
        )?;
    }
    table(f, "Polls by spawn location", &polls_by_location(recording))?;
    let delays = scheduling_delays(recording);
    table(
        f,
        "Scheduling delay, from woken to polled, by spawn location",
        &delays,
    )?;

    writeln!(f, "\nLongest scheduling delays, each when the poll began")?;
    for (task, time, delay) in long_delays(recording).into_iter().take(ROWS) {
        writeln!(
            f,
            "{:>10}  at {}  task {task}  {}",
            short(delay),
            at(recording, time),
            tasks.label(task),
        )?;
    }

    let idle = idle_while_waiting(recording);
    writeln!(f, "\nWorkers idle while tasks waited")?;
    writeln!(
        f,
        "in all {}, longest {} at {}, at most {} tasks waiting",
        short(idle.total),
        short(idle.longest),
        at(recording, idle.longest_start),
        idle.most_waiting
    )?;

    let spares = spare_workers(recording);
    let served = spares.served.into_iter();
    let served: Vec<_> = served
        .map(|(spare, times)| (format!("spare worker {spare}"), times))
        .collect();
    table(f, "Spare workers, from start to end", &served)?;
    writeln!(
        f,
        "started {} times; found to be too few {} times",
        spares.starts, spares.lacks
    )?;

    let (waits, runs) = blocking_jobs(recording);
    let jobs = [("waiting".to_owned(), waits), ("running".to_owned(), runs)];
    table(f, "Blocking jobs", &jobs)?;

    writeln!(f, "\nThreads that the kernel delayed")?;
    for delays in kernel_delays(recording) {
        writeln!(
            f,
            "{:>10}  longest {:>10}  {} voluntary and {} involuntary switches  {}",
            short(delays.delayed),
            short(delays.longest),
            delays.voluntary_switches,
            delays.involuntary_switches,
            escaped(&recording.threads[&delays.thread].name),
        )?;
    }
    table(f, "Spans by name", &spans_by_name(recording))?;
    marks(f, recording)
}

/// Prints the latest marks.
fn marks(f: &mut fmt::Formatter<'_>, recording: &Recording) -> fmt::Result {
    writeln!(f, "\nMarks")?;
    let mut marks = recording.all_by_time();
    marks.retain(|(_, entry)| matches!(entry.event, Event::Marked { .. }));
    for (_, entry) in &marks[marks.len().saturating_sub(ROWS)..] {
        if let Event::Marked { text } = entry.event {
            let text = escaped(recording.text(text));
            writeln!(f, "{}  {text}", at(recording, entry.time))?;
        }
    }
    Ok(())
}

/// Prints what happened between the processes, besides the messages that arrived.
fn faults_and_losses(f: &mut fmt::Formatter<'_>, recording: &Recording) -> fmt::Result {
    writeln!(f, "Faults")?;
    let mut lost = BTreeMap::<_, usize>::new();
    for (thread, entry) in recording.by_time() {
        let (text, change) = match entry.event {
            Event::FaultStarted { text } => (text, "begins"),
            Event::FaultEnded { text } => (text, "ends"),
            Event::MessageLost { .. } => {
                *lost.entry(&recording.threads[&thread].process).or_default() += 1;
                continue;
            }
            _ => continue,
        };
        let text = escaped(recording.text(text));
        writeln!(f, "{:>14}  {text} {change}", millis(entry.time))?;
    }
    writeln!(f, "\nMessages lost, by host")?;
    for (process, count) in lost {
        writeln!(f, "{count:>9}  {}", escaped(process))?;
    }
    Ok(())
}

fn summary(f: &mut fmt::Formatter<'_>, recording: &Recording) -> fmt::Result {
    let threads = recording.threads.values();
    let entries: usize = threads.clone().map(|thread| thread.entries.len()).sum();
    let lost: u64 = threads.map(|thread| thread.lost).sum();
    let (complete, rare) = (recording.complete_from(), recording.rare_complete_from());
    let end = recording.end();
    writeln!(
        f,
        "{entries} events of {} threads, {lost} overwritten; ends at {}, in UTC",
        recording.threads.len(),
        at(recording, end),
    )?;
    let back = |from: u64| short(Duration::from_nanos(end.saturating_sub(from)));
    writeln!(
        f,
        "records of all events reach back {}, of slow and rare ones {}",
        back(complete),
        back(rare),
    )?;
    if recording.unknown > 0 {
        writeln!(
            f,
            "{} events of a newer version are left out",
            recording.unknown
        )?;
    }
    if recording.damaged > 0 {
        writeln!(
            f,
            "{} damaged pieces of the file are left out",
            recording.damaged
        )?;
    }
    if recording.is_truncated {
        writeln!(f, "the file ends in the middle of a chunk")?;
    }
    Ok(())
}

fn table(f: &mut fmt::Formatter<'_>, title: &str, rows: &[(String, Distribution)]) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    writeln!(
        f,
        "{:>9} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "count", "total", "p50", "p90", "p99", "longest"
    )?;
    for (label, times) in rows.iter().take(ROWS) {
        writeln!(f, "{times}  {label}")?;
    }
    Ok(())
}

/// Formats a point in time.
fn at(recording: &Recording, time: u64) -> String {
    utc(recording.origin.saturating_add(time))
}

/// Formats a time since the recorder was made.
fn millis(time: u64) -> String {
    format!("{}.{:03} ms", time / 1_000_000, time / 1_000 % 1_000)
}
