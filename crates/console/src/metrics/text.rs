//! The text format of Prometheus, version 0.0.4.

use std::fmt::{self, Write};

use raddle_sched::SampledTimes;

use super::{Metrics, WorkerMetrics};

/// Returns the metrics of several runtimes. Each sample of a runtime with a name has it as the
/// label `runtime`.
pub(crate) fn prometheus(runtimes: &[(Option<String>, Metrics)]) -> String {
    let mut text = Text {
        text: String::new(),
        runtimes,
    };
    text.runtime();
    text.tasks();
    text.workers();
    text.spares();
    text.blocking();
    text.reactor();
    text.text
}

/// A text that grows by a family of metrics at a time.
struct Text<'a> {
    text: String,
    runtimes: &'a [(Option<String>, Metrics)],
}

/// The kind of a family.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

impl Text<'_> {
    fn runtime(&mut self) {
        use Kind::Gauge;
        self.one("workers", Gauge, "Workers.", |it| it.workers.len() as f64);
    }

    fn tasks(&mut self) {
        use Kind::{Counter, Gauge};
        self.one("alive_tasks", Gauge, "Tasks that have not ended.", |it| {
            it.alive_tasks as f64
        });
        self.one("spawned_tasks_total", Counter, "Tasks spawned.", |it| {
            it.spawned_tasks as f64
        });
        self.one(
            "remote_schedules_total",
            Counter,
            "How often a task was queued from outside the workers.",
            |it| it.remote_schedules as f64,
        );
        self.one(
            "injection_queue_depth",
            Gauge,
            "Tasks in the injection queue.",
            |it| it.injection_depth as f64,
        );
        self.histogram(
            "poll_duration_seconds",
            "Durations of polls, spare workers included, measured on a sample.",
            |it| it.poll_times.as_ref(),
        );
        self.histogram(
            "scheduling_delay_seconds",
            "Time from the wake of a task to its poll, measured on a sample.",
            |it| it.scheduling_delays.as_ref(),
        );
        self.family(
            "slow_polls_total",
            "counter",
            "Polls that the watchdog has reported, by function or by spawn location.",
            |it| it.slow_polls.is_some(),
            |sample, metrics| {
                for (location, count) in metrics.slow_polls.iter().flatten() {
                    sample.write("", &[("location", location)], *count as f64);
                }
            },
        );
    }

    fn workers(&mut self) {
        use Kind::{Counter, Gauge};
        self.each("polls_total", Counter, "Polls of tasks.", |it| {
            it.polls as f64
        });
        self.each(
            "steals_total",
            Counter,
            "Tasks taken from other workers.",
            |it| it.steals as f64,
        );
        self.each(
            "parks_total",
            Counter,
            "How many times it has parked.",
            |it| it.parks as f64,
        );
        self.each(
            "busy_seconds_total",
            Counter,
            "Time in which it was not parked.",
            |it| it.busy.as_secs_f64(),
        );
        self.each("queue_depth", Gauge, "Tasks in its queue.", |it| {
            it.depth as f64
        });
        self.each(
            "budget_yields_total",
            Counter,
            "Polls that used up their budget.",
            |it| it.budget_yields as f64,
        );
        self.each(
            "overflows_total",
            Counter,
            "How often its full queue moved tasks to the injection queue.",
            |it| it.overflows as f64,
        );
    }

    fn spares(&mut self) {
        use Kind::{Counter, Gauge};
        self.one(
            "spare_workers",
            Gauge,
            "Spare workers that serve now.",
            |it| it.active_spare_workers as f64,
        );
        self.one(
            "spare_workers_made",
            Gauge,
            "Spare workers that were made.",
            |it| it.spare_workers.len() as f64,
        );
        self.one(
            "spare_workers_max",
            Gauge,
            "The highest number of spare workers.",
            |it| it.max_spare_workers as f64,
        );
        self.one(
            "spare_worker_starts_total",
            Counter,
            "How often a spare worker was started.",
            |it| it.spare_worker_starts as f64,
        );
        self.one(
            "spare_worker_shortages_total",
            Counter,
            "How often tasks waited while all spare workers were in use, at most every 10 s.",
            |it| it.spare_worker_shortages as f64,
        );
        let sum = |it: &Metrics, count: fn(&WorkerMetrics) -> f64| {
            it.spare_workers.iter().map(count).sum::<f64>()
        };
        self.one(
            "spare_worker_polls_total",
            Counter,
            "Polls of tasks by spare workers.",
            move |it| sum(it, |spare| spare.polls as f64),
        );
        self.one(
            "spare_worker_busy_seconds_total",
            Counter,
            "Time in which spare workers were not parked.",
            move |it| sum(it, |spare| spare.busy.as_secs_f64()),
        );
    }

    fn blocking(&mut self) {
        use Kind::Gauge;
        self.one(
            "blocking_threads",
            Gauge,
            "Threads for blocking work.",
            |it| it.blocking_threads as f64,
        );
        self.one(
            "blocking_threads_idle",
            Gauge,
            "Threads that wait for blocking work.",
            |it| it.idle_blocking_threads as f64,
        );
        self.one(
            "blocking_queue_depth",
            Gauge,
            "Blocking jobs that wait for a thread.",
            |it| it.blocking_depth as f64,
        );
        self.histogram(
            "blocking_wait_seconds",
            "Time from the submission of a blocking job to its start.",
            |it| it.blocking_waits.as_ref(),
        );
    }

    fn reactor(&mut self) {
        use Kind::{Counter, Gauge};
        let has = |it: &Metrics| it.reactor.is_some();
        let of = |it: &Metrics| it.reactor.unwrap_or_default();
        self.one_if(
            "reactor_sources",
            Gauge,
            "Sources of events, such as sockets, that are registered.",
            has,
            move |it| of(it).registered.saturating_sub(of(it).deregistered) as f64,
        );
        self.one_if(
            "reactor_sources_registered_total",
            Counter,
            "Sources that were registered.",
            has,
            move |it| of(it).registered as f64,
        );
        self.one_if(
            "reactor_events_total",
            Counter,
            "Events of sources.",
            has,
            move |it| of(it).events as f64,
        );
    }

    /// A family with one sample for each runtime.
    fn one(&mut self, name: &str, kind: Kind, help: &str, value: impl Fn(&Metrics) -> f64) {
        self.one_if(name, kind, help, |_| true, value);
    }

    /// A family with one sample for each runtime that has it.
    fn one_if(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        has: impl Fn(&Metrics) -> bool,
        value: impl Fn(&Metrics) -> f64,
    ) {
        self.family(name, kind.text(), help, has, |sample, metrics| {
            sample.write("", &[], value(metrics));
        });
    }

    /// A family with one sample for each worker.
    fn each(&mut self, name: &str, kind: Kind, help: &str, value: impl Fn(&WorkerMetrics) -> f64) {
        let name = format!("worker_{name}");
        self.family(
            &name,
            kind.text(),
            help,
            |_| true,
            |sample, metrics| {
                for (number, worker) in metrics.workers.iter().enumerate() {
                    sample.write("", &[("worker", &number.to_string())], value(worker));
                }
            },
        );
    }

    /// A histogram for each runtime that has it.
    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        times: impl Fn(&Metrics) -> Option<&SampledTimes>,
    ) {
        let has = |metrics: &Metrics| times(metrics).is_some();
        self.family(name, "histogram", help, has, |sample, metrics| {
            let Some(times) = times(metrics) else { return };
            let mut sum = 0;
            for (bound, count) in times.buckets() {
                sum += count;
                let bound = match bound {
                    Some(bound) => bound.as_secs_f64().to_string(),
                    None => "+Inf".to_owned(),
                };
                sample.write("_bucket", &[("le", &bound)], sum as f64);
            }
            sample.write("_sum", &[], times.sum().as_secs_f64());
            sample.write("_count", &[], sum as f64);
        });
    }

    /// Writes the samples of each runtime that has this family.
    fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        has: impl Fn(&Metrics) -> bool,
        write: impl Fn(&mut Sample<'_>, &Metrics),
    ) {
        if !self.runtimes.iter().any(|(_, metrics)| has(metrics)) {
            return;
        }
        let text = &mut self.text;
        let _ = writeln!(
            text,
            "# HELP raddle_{name} {help}\n# TYPE raddle_{name} {kind}"
        );
        for (runtime, metrics) in self.runtimes {
            if has(metrics) {
                let runtime = runtime.as_deref();
                write(
                    &mut Sample {
                        text,
                        name,
                        runtime,
                    },
                    metrics,
                );
            }
        }
    }
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// Writes the samples of one family and one runtime.
struct Sample<'a> {
    text: &'a mut String,
    name: &'a str,
    runtime: Option<&'a str>,
}

impl Sample<'_> {
    fn write(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let Self { text, name, .. } = self;
        let _ = write!(text, "raddle_{name}{suffix}");
        let runtime = self.runtime.map(|runtime| ("runtime", runtime));
        let mut labels = runtime.iter().chain(labels).peekable();
        if labels.peek().is_some() {
            let mut open = '{';
            for (label, value) in labels {
                let _ = write!(text, "{open}{label}=\"{}\"", Escaped(value));
                open = ',';
            }
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }
}

/// The value of a label, with escape sequences.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
