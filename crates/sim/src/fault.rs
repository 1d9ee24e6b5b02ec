//! Faults at exact times.

use std::fmt;
use std::time::Duration;

use crate::engine::{Down, Engine};
use crate::kernel::disk::Disk;
use crate::kernel::link::Links;
use crate::kernel::nanos;
use crate::sim::Sim;

pub(crate) type Fault = Box<dyn FnOnce(&Engine) + Send>;

/// A time at which a fault begins, from [`Sim::at`].
#[derive(Debug)]
#[must_use = "say what happens at this time"]
pub struct At<'a> {
    sim: &'a mut Sim,
    time: Duration,
}

/// A fault that lasts until the end of the simulation, unless [`for_`](Self::for_) ends it before.
pub struct Lasting<'a> {
    sim: &'a mut Sim,
    begins: Duration,
    end: Fault,
}

impl<'a> At<'a> {
    pub(crate) fn new(sim: &'a mut Sim, time: Duration) -> Self {
        Self { sim, time }
    }

    /// Begins a fault, which a recording has under this name.
    fn lasting(
        self,
        name: String,
        begin: impl FnOnce(&Engine) + Send + 'static,
        end: impl FnOnce(&Engine) + Send + 'static,
    ) -> Lasting<'a> {
        let ended = name.clone();
        let begin = move |engine: &Engine| {
            engine.record_fault(&name, true);
            begin(engine);
        };
        let end = move |engine: &Engine| {
            engine.record_fault(&ended, false);
            end(engine);
        };
        self.sim.add_fault(self.time, Box::new(begin));
        Lasting {
            sim: self.sim,
            begins: self.time,
            end: Box::new(end),
        }
    }

    /// The host stops as at a power failure: other hosts receive nothing from it, not even a reset,
    /// and its disk loses what was not synced. It starts again when the fault ends.
    ///
    /// Unlike at a power failure its tasks are dropped, so that their destructors run, and its
    /// threads go on. All their calls fail.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host, or if it is a client.
    #[track_caller]
    pub fn crash(self, host: &str) -> Lasting<'a> {
        self.take_down(host, Down::Crashed)
    }

    /// The process of the host is killed: its connections are reset, and the rest is as in a
    /// [`crash`](Self::crash), except that the disk keeps all. It starts again when the fault ends.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host, or if it is a client.
    #[track_caller]
    pub fn kill(self, host: &str) -> Lasting<'a> {
        self.take_down(host, Down::Killed)
    }

    #[track_caller]
    fn take_down(self, host: &str, how: Down) -> Lasting<'a> {
        let number = self.sim.number(host);
        assert!(
            !self.sim.is_client(number),
            "the client {host:?} has one future, and cannot start again; add it by Sim::host"
        );
        let kind = if how == Down::Crashed {
            "crash"
        } else {
            "kill"
        };
        self.lasting(
            format!("{kind} of {host}"),
            move |engine| engine.take_down(number, how),
            move |engine| engine.restart(number),
        )
    }

    /// The code of the host does not run. Its sockets still accept connections, and keep what is
    /// sent to them.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn pause(self, host: &str) -> Lasting<'a> {
        let number = self.sim.number(host);
        self.lasting(
            format!("pause of {host}"),
            move |engine| engine.pause(number, true),
            move |engine| engine.pause(number, false),
        )
    }

    /// All packets between two hosts are lost.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn partition(self, one: &str, other: &str) -> Lasting<'a> {
        let name = format!("partition of {one} and {other}");
        let (one, other) = (self.sim.number(one), self.sim.number(other));
        self.on_links(name, move |links, begins| {
            for (from, to) in [(one, other), (other, one)] {
                match begins {
                    true => links.cut(from, to),
                    false => links.heal(from, to),
                }
            }
        })
    }

    /// All packets from one host to another are lost; those of the other direction arrive.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn partition_one_way(self, from: &str, to: &str) -> Lasting<'a> {
        let name = format!("partition from {from} to {to}");
        let (from, to) = (self.sim.number(from), self.sim.number(to));
        self.on_links(name, move |links, begins| match begins {
            true => links.cut(from, to),
            false => links.heal(from, to),
        })
    }

    /// All packets between two hosts wait, and arrive after the fault has ended.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn hold(self, one: &str, other: &str) -> Lasting<'a> {
        let name = format!("hold of {one} and {other}");
        let (one, other) = (self.sim.number(one), self.sim.number(other));
        let ways = [(one, other), (other, one)];
        self.lasting(
            name,
            move |engine| {
                let links = &mut engine.kernel.lock().links;
                ways.into_iter().for_each(|(from, to)| links.hold(from, to));
            },
            move |engine| {
                let mut kernel = engine.kernel.lock();
                ways.into_iter()
                    .for_each(|(from, to)| kernel.release_link(from, to));
            },
        )
    }

    /// The disk of the host is full: writes fail with `ENOSPC`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn full_disk(self, host: &str) -> Lasting<'a> {
        self.on_disk("full", host, |disk, begins| match begins {
            true => disk.full += 1,
            false => disk.full -= 1,
        })
    }

    /// The disk of the host is broken: writes and syncs fail with `EIO`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn broken_disk(self, host: &str) -> Lasting<'a> {
        self.on_disk("broken", host, |disk, begins| match begins {
            true => disk.broken += 1,
            false => disk.broken -= 1,
        })
    }

    /// Each write and sync of the host's disk takes this time.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn slow_disk(self, host: &str, time: Duration) -> Lasting<'a> {
        self.on_disk("slow", host, move |disk, begins| match begins {
            true => disk.latency += time,
            false => disk.latency -= time,
        })
    }

    /// The CPU of the host is slow: each poll of a task takes this time, and so does each run of a
    /// thread from one wait to the next, one after the other, as on one core. What the code does,
    /// such as to send an answer or to start a timer, happens at the end of that time. So its
    /// answers and timers come late, and time-outs fire.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_sim::{Sim, millis, secs};
    ///
    /// let mut sim = Sim::new(1);
    /// sim.client("user", async {
    ///     let polls = async {
    ///         for _ in 0..9 {
    ///             raddle::task::yield_now().await;
    ///         }
    ///     };
    ///     assert!(raddle::time::timeout(millis(50), polls).await.is_err());
    /// });
    /// sim.at(secs(0)).slow_cpu("user", millis(10)).for_(secs(5));
    /// sim.run();
    /// ```
    #[track_caller]
    pub fn slow_cpu(self, host: &str, time: Duration) -> Lasting<'a> {
        let name = format!("slow CPU of {host}");
        let (host, time) = (self.sim.number(host), nanos(time));
        self.lasting(
            name,
            move |engine| engine.kernel.lock().hosts[host].process.slow_cpu += time,
            move |engine| {
                let mut kernel = engine.kernel.lock();
                let process = &mut kernel.hosts[host].process;
                process.slow_cpu -= time;
                process.poll_ends = process.poll_ends.filter(|_| process.slow_cpu > 0);
                kernel.make_ready(host);
            },
        )
    }

    #[track_caller]
    fn on_disk(
        self,
        kind: &str,
        host: &str,
        change: impl Fn(&mut Disk, bool) + Clone + Send + 'static,
    ) -> Lasting<'a> {
        let name = format!("{kind} disk of {host}");
        let host = self.sim.number(host);
        let end = change.clone();
        self.lasting(
            name,
            move |engine| change(&mut engine.kernel.lock().hosts[host].disk, true),
            move |engine| end(&mut engine.kernel.lock().hosts[host].disk, false),
        )
    }

    fn on_links(
        self,
        name: String,
        change: impl Fn(&mut Links, bool) + Clone + Send + 'static,
    ) -> Lasting<'a> {
        let end = change.clone();
        self.lasting(
            name,
            move |engine| change(&mut engine.kernel.lock().links, true),
            move |engine| end(&mut engine.kernel.lock().links, false),
        )
    }
}

impl Lasting<'_> {
    /// Ends the fault after this time.
    pub fn for_(self, time: Duration) {
        self.sim.add_fault(self.begins + time, self.end);
    }
}

impl fmt::Debug for Lasting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lasting")
            .field("begins", &self.begins)
            .finish_non_exhaustive()
    }
}
