//! What a test builds a simulation from.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use raddle_primitives::sync::Mutex;

use crate::chaos::Chaos;
use crate::clock::Clock;
use crate::engine::{Engine, Main, MakeMain, NewHost};
use crate::fault::{At, Fault};
use crate::kernel::disk::Disk;
use crate::kernel::link::Link;
use crate::kernel::{Event, Kernel, nanos};
use crate::recording::Recorder;
use crate::seam;
use crate::trace::Trace;

/// The longest virtual time of a simulation, unless [`Sim::limit`] sets another.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of workers of each host, unless [`Sim::workers`] sets another.
const WORKERS: usize = 2;

/// What the future of a host or a client results in: nothing, or a result whose error is a failure
/// of the simulation.
pub trait Outcome {
    /// The text of the error, if it is one.
    #[doc(hidden)]
    fn into_error(self) -> Option<String>;
}

impl Outcome for () {
    fn into_error(self) -> Option<String> {
        None
    }
}

/// The type of a future that never ends, such as that of a loop without a break. Stable Rust has no
/// name for it but this.
type Never = <fn() -> ! as Returns>::Value;

#[doc(hidden)]
#[allow(missing_docs, reason = "it is not to be used")]
pub trait Returns {
    type Value;
}

impl<T> Returns for fn() -> T {
    type Value = T;
}

impl Outcome for Never {
    fn into_error(self) -> Option<String> {
        self
    }
}

impl<T, E: fmt::Debug> Outcome for Result<T, E> {
    fn into_error(self) -> Option<String> {
        self.err().map(|error| format!("{error:?}"))
    }
}

/// A simulation: hosts, the network between them, and faults, all of which follow from a seed.
pub struct Sim {
    seed: u64,
    workers: usize,
    limit: Duration,
    hosts: Vec<NewHost>,
    default_link: Link,
    links: Vec<(usize, usize, Link)>,
    faults: Vec<(Duration, Fault)>,
    chaos: Option<Chaos>,
    /// The file of the recording.
    recording: Option<PathBuf>,
    /// Whether [`check`](crate::check()) catches the panic of [`Sim::run`] and shows its message.
    pub(crate) is_checked: bool,
    pub(crate) keeps_trace: bool,
    /// Whether hosts keep dumps of their tasks, which makes them slower.
    pub(crate) has_dumps: bool,
    /// Whether the last run has failed since its clients did not end.
    pub(crate) is_stuck: bool,
    /// The trace of the last run.
    pub(crate) trace: Option<Trace>,
    /// Whether threads of the last run wait for ever, such as those of a pool in a static.
    pub(crate) has_left_threads: bool,
    /// The names of the hosts of the last run.
    pub(crate) names: Vec<String>,
}

impl Sim {
    /// Makes a simulation without hosts.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            workers: WORKERS,
            limit: LIMIT,
            hosts: Vec::new(),
            default_link: Link::default(),
            links: Vec::new(),
            faults: Vec::new(),
            chaos: None,
            recording: None,
            is_checked: false,
            keeps_trace: false,
            has_dumps: false,
            is_stuck: false,
            trace: None,
            has_left_threads: false,
            names: Vec::new(),
        }
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Sets the number of workers of the hosts that are added from now on. Default: 2.
    ///
    /// # Panics
    ///
    /// Panics if the number is zero.
    #[track_caller]
    pub fn workers(&mut self, workers: usize) -> &mut Self {
        assert!(workers > 0, "a host needs a worker; give it 1 or more");
        self.workers = workers;
        self
    }

    /// Sets the longest virtual time: a simulation whose clients have not ended by then fails.
    /// Default: a day.
    pub fn limit(&mut self, limit: Duration) -> &mut Self {
        self.limit = limit;
        self
    }

    /// Sets the link between all hosts for which no other is set.
    pub fn default_link(&mut self, link: Link) -> &mut Self {
        self.default_link = link;
        self
    }

    /// Sets the link from one host to another, and back.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn link_between(&mut self, one: &str, other: &str, link: Link) -> &mut Self {
        let (one, other) = (self.number(one), self.number(other));
        self.links.push((one, other, link));
        self.links.push((other, one, link));
        self
    }

    /// Adds a host, which other hosts reach by its name. It runs the future that `start` makes, when
    /// the simulation starts and after each crash.
    ///
    /// # Panics
    ///
    /// Panics if there is a host of this name.
    #[track_caller]
    pub fn host<F, T>(&mut self, name: &str, start: F) -> &mut Self
    where
        F: Fn() -> T + Send + Sync + 'static,
        T: Future<Output: Outcome> + Send + 'static,
    {
        self.add(name, false, Arc::new(move || main_of(start())))
    }

    /// Adds a host that runs one future. The simulation ends when those of all clients have ended.
    ///
    /// # Panics
    ///
    /// Panics if there is a host of this name.
    #[track_caller]
    pub fn client<T>(&mut self, name: &str, future: T) -> &mut Self
    where
        T: Future<Output: Outcome> + Send + 'static,
    {
        // UNRANKED: no lock is taken under it.
        let main = Mutex::new(Some(main_of(future)));
        let owned = name.to_owned();
        let take = move || -> Main {
            let again = format!(
                "cannot start again, since it has one future only; add {owned:?} by Sim::host"
            );
            let main = main.lock().take();
            main.unwrap_or_else(|| Box::pin(std::future::ready(Err(again))))
        };
        self.add(name, true, Arc::new(take))
    }

    #[track_caller]
    fn add(&mut self, name: &str, is_client: bool, make_main: MakeMain) -> &mut Self {
        let is_new = self.hosts.iter().all(|host| host.name != name);
        assert!(
            is_new,
            "there are two hosts {name:?}; give each its own name"
        );
        self.hosts.push(NewHost {
            name: name.to_owned(),
            workers: self.workers,
            is_client,
            make_main,
            clock: Clock::default(),
        });
        self
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> usize {
        let number = self.hosts.iter().position(|host| host.name == name);
        number.unwrap_or_else(|| {
            let names: Vec<_> = self.hosts.iter().map(|host| host.name.as_str()).collect();
            let names = names.join(", ");
            panic!("there is no host {name:?}; add it before its faults. There are: {names}")
        })
    }

    /// Sets how far the wall clock of a host, `SystemTime`, is ahead of that of the others.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn clock_ahead(&mut self, host: &str, by: Duration) -> &mut Self {
        let host = self.number(host);
        self.hosts[host].clock.ahead = i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Sets how far the wall clock of a host is behind.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host.
    #[track_caller]
    pub fn clock_behind(&mut self, host: &str, by: Duration) -> &mut Self {
        let host = self.number(host);
        self.hosts[host].clock.ahead = -i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Sets how much faster the clocks of a host are, in parts per million; a negative number is
    /// slower. Its timers follow them.
    ///
    /// # Panics
    ///
    /// Panics if there is no such host, or if the number is below -900,000 or above 1,000,000.
    #[track_caller]
    pub fn clock_drift(&mut self, host: &str, parts: i32) -> &mut Self {
        assert!(
            (-900_000..=1_000_000).contains(&parts),
            "a clock cannot be {parts} millionths faster; use -900,000 to 1,000,000"
        );
        let host = self.number(host);
        self.hosts[host].clock.drift = parts;
        self
    }

    /// Adds faults at random times, by the seed, to those at exact times.
    ///
    /// # Panics
    ///
    /// Panics if the mean time between two faults is zero.
    #[track_caller]
    pub fn chaos(&mut self, chaos: Chaos) -> &mut Self {
        assert!(
            !chaos.mean_interval.is_zero(),
            "Chaos::mean_interval is zero; set a time from one fault to the next"
        );
        self.chaos = Some(chaos);
        self
    }

    /// Writes a recording of the run to a file, which is replaced: what the workers, tasks and
    /// blocking jobs of each host do, the messages between hosts, and the faults, in virtual time.
    /// `raddle-recording perfetto FILE` makes a trace of it for <https://ui.perfetto.dev>. The run
    /// makes the same decisions as without a recording.
    ///
    /// A test that [`check`](crate::check()) runs needs only the variable `RADDLE_RECORDING`.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_sim::{Sim, millis};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("run.raddle");
    /// let mut sim = Sim::new(1);
    /// sim.client("user", async { raddle::time::sleep(millis(5)).await });
    /// sim.record_to(&file);
    /// sim.run();
    /// assert!(std::fs::read(&file)?.starts_with(b"RADDLE"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn record_to(&mut self, file: impl Into<PathBuf>) -> &mut Self {
        self.recording = Some(file.into());
        self
    }

    pub(crate) fn is_client(&self, host: usize) -> bool {
        self.hosts[host].is_client
    }

    /// Begins a fault at a time after the start.
    pub fn at(&mut self, time: Duration) -> At<'_> {
        At::new(self, time)
    }

    /// The names of the hosts; whether it is a client.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        let hosts = self.hosts.iter();
        hosts.map(|host| (host.name.as_str(), host.is_client))
    }

    pub(crate) fn add_fault(&mut self, time: Duration, fault: Fault) {
        self.faults.push((time, fault));
    }

    /// Runs the simulation until all clients have ended.
    ///
    /// # Panics
    ///
    /// Panics if [`try_run`](Self::try_run) returns an error.
    #[track_caller]
    pub fn run(&mut self) {
        match self.try_run() {
            Ok(()) => {}
            // The hook of panics would print the message a second time.
            Err(error) if self.is_checked => std::panic::resume_unwind(Box::new(error)),
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs the simulation until all clients have ended.
    ///
    /// # Errors
    ///
    /// Describes why the simulation has failed: the future of a host or a client has panicked or
    /// returned an error, nothing can happen any more, the virtual time was too long, or the
    /// recording cannot be written. Where no client can end, the message has the dumps of all tasks
    /// if [`check`](crate::check()) runs the seed.
    pub fn try_run(&mut self) -> Result<(), String> {
        if self.hosts.iter().all(|host| !host.is_client) {
            let text =
                "there is no client; add one, since the simulation ends when all clients end";
            return Err(text.to_owned());
        }
        seam::raise_descriptor_limit();
        if let Some(chaos) = self.chaos.take() {
            chaos.add_to(self);
        }
        let mut kernel = Kernel::new(self.seed);
        kernel.trace = Trace::new(self.keeps_trace);
        kernel.links.set_default(self.default_link);
        for (from, to, link) in self.links.drain(..) {
            kernel.links.set(from, to, link);
        }
        self.names = self.hosts.iter().map(|host| host.name.clone()).collect();
        if let Some(file) = &self.recording {
            let recorder = Recorder::create(file, &self.names);
            kernel.recorder = Some(Arc::new(
                recorder.map_err(|error| not_written(file, &error))?,
            ));
        }
        for host in self.hosts.drain(..) {
            let number = kernel.add_host(host);
            kernel.push_at(0, Event::Fault(Box::new(move |engine| engine.boot(number))));
        }
        for (time, fault) in self.faults.drain(..) {
            kernel.push_at(nanos(time), Event::Fault(fault));
        }
        let engine = Engine::new(kernel, self.limit, self.has_dumps);
        seam::begin(&engine);
        let mut outcome = engine.run();
        let mut kernel = engine.kernel.lock();
        self.trace = Some(std::mem::replace(&mut kernel.trace, Trace::new(false)));
        let missing = std::mem::take(&mut kernel.not_simulated);
        let dumps = kernel.dumps.take();
        self.is_stuck = dumps.is_some();
        self.has_left_threads = kernel.threads.waits().next().is_some();
        // A thread that waits for ever keeps the kernel.
        for host in &mut kernel.hosts {
            host.disk = Disk::default();
        }
        let recorder = kernel.recorder.take();
        drop(kernel);
        let written = recorder.map_or(Ok(()), |recorder| recorder.finish());
        if let (Err(error), Some(file)) = (written, &self.recording) {
            let error = not_written(file, &error);
            outcome = outcome.and(Err(error));
        }
        outcome.map_err(|mut error| {
            if !missing.is_empty() {
                error += "\nThe program has asked for what is not simulated:";
            }
            for what in missing {
                error += &format!("\n  {what}");
            }
            error + &dumps.unwrap_or_default()
        })
    }
}

fn not_written(file: &Path, error: &io::Error) -> String {
    let file = file.display();
    format!("the recording cannot be written to {file}: {error}; name a file that can be created")
}

fn main_of<T>(future: T) -> Main
where
    T: Future<Output: Outcome> + Send + 'static,
{
    Box::pin(async move {
        match future.await.into_error() {
            None => Ok(()),
            Some(error) => Err(format!("returned an error: {error}")),
        }
    })
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.hosts.iter().map(|host| &host.name).collect();
        f.debug_struct("Sim")
            .field("seed", &self.seed)
            .field("hosts", &hosts)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

/// A number of seconds.
pub fn secs(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// A number of milliseconds.
pub fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}
