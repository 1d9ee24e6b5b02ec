//! The child processes in which [`check`](crate::check::check) runs seeds: how they are started,
//! and the files by which they report.
#![allow(
    unsafe_code,
    reason = "the randomization of addresses is turned off while a child process starts"
)]

#[cfg(test)]
mod tests;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::num::NonZero;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use raddle_primitives::sync::{Condvar, Mutex};

use crate::sim::Sim;

/// The variable of the environment that has the plan of a child process.
const PLAN: &str = "RADDLE_SIM_RUN";
/// The variables that are for the parent process only.
pub(crate) const SEED: &str = "RADDLE_SEED";
pub(crate) const SEEDS: &str = "RADDLE_SEEDS";
/// The variable that names the file of a recording. A child process reads it, too.
pub(crate) const RECORDING: &str = "RADDLE_RECORDING";

/// Returns the file that a failing seed is to be recorded to, if there is to be one.
pub(crate) fn recording() -> Option<PathBuf> {
    let file = std::env::var_os(RECORDING).filter(|file| !file.is_empty())?;
    Some(PathBuf::from(file))
}

/// Adds a line to the file that is to have the traces of all seeds, if there is to be one.
pub(crate) fn add_trace(line: String) -> io::Result<()> {
    let Some(file) = std::env::var_os("RADDLE_TRACES").filter(|file| !file.is_empty()) else {
        return Ok(());
    };
    // Other processes add lines, too: a line is one write.
    let mut file = File::options().create(true).append(true).open(file)?;
    file.write_all(line.as_bytes())
}

/// What a child process is to run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// It runs the seeds `first`, `first + step` and so on up to `last`.
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) last: u64,
    pub(crate) keeps_trace: bool,
    /// Whether hosts keep dumps of their tasks.
    pub(crate) has_dumps: bool,
    /// Where the test calls `check`: a test may do so several times.
    pub(crate) location: String,
    pub(crate) files: Files,
}

impl Plan {
    /// The text has the same length for all seeds, since it is above the stack of the child's main
    /// thread and moves its addresses.
    fn to_text(&self) -> String {
        let Self {
            first,
            step,
            last,
            keeps_trace,
            has_dumps,
            location,
            files,
        } = self;
        let (keeps, dumps) = (u8::from(*keeps_trace), u8::from(*has_dumps));
        let (number, directory) = (files.number, files.directory.display());
        format!(
            "{first:020};{step:020};{last:020};{keeps};{dumps};{number:06};{location};{directory}"
        )
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut fields = text.splitn(8, ';');
        let mut number = || fields.next()?.parse().ok();
        let (first, step, last) = (number()?, number()?, number()?);
        let (keeps, dumps, file) = (number()?, number()?, number()?);
        Some(Self {
            first,
            step,
            last,
            keeps_trace: keeps != 0,
            has_dumps: dumps != 0,
            location: fields.next()?.to_owned(),
            files: Files {
                number: u32::try_from(file).ok()?,
                directory: PathBuf::from(fields.next()?),
            },
        })
    }

    /// The plan of the calling process, if it is such a child process.
    pub(crate) fn of_this_process() -> Option<Self> {
        let text = std::env::var(PLAN).ok()?;
        let plan = Self::from_text(&text);
        Some(plan.unwrap_or_else(|| panic!("{PLAN} is for child processes; leave it unset")))
    }

    /// Replaces the program of this child process by a new one with this plan. Returns if that
    /// fails.
    pub(crate) fn start_again(&self) -> io::Error {
        match std::env::current_exe() {
            Ok(program) => Command::new(program)
                .args(std::env::args_os().skip(1))
                .env(PLAN, self.to_text())
                .exec(),
            Err(error) => error,
        }
    }

    /// Runs it in a child process, and waits for the end of that.
    pub(crate) fn run(&self, test: &str, output: Output) -> io::Result<Report> {
        let _permit = Permit::take();
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args([
                test,
                "--exact",
                "--nocapture",
                "--test-threads=1",
                "--include-ignored",
            ])
            .env(PLAN, self.to_text())
            .env_remove(SEED)
            .env_remove(SEEDS)
            .stdin(Stdio::null());
        if output == Output::Captured {
            let path = self.files.path("output");
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        let status = start(&mut command)?.wait()?;
        self.files.report(status)
    }
}

/// Starts a child process, whose program the system puts at the same addresses each time. A system
/// may refuse that, as containers do; then programs that depend on addresses differ.
///
/// The child inherits it. To set it by `CommandExt::pre_exec` would make std call `fork`, and the
/// handlers that a program has for forks would run: a simulation in this process, of another test,
/// would differ. That of the crate `rand` makes its generators ask for a new seed.
fn start(command: &mut Command) -> io::Result<Child> {
    const QUERY: libc::c_ulong = 0xFFFF_FFFF;
    let Ok(current) = libc::c_ulong::try_from(personality(QUERY)) else {
        return command.spawn();
    };
    let _refused = personality(current | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
    let child = command.spawn();
    personality(current);
    child
}

/// Sets how the calling thread, and what it starts, uses the system.
fn personality(wanted: libc::c_ulong) -> libc::c_int {
    // SAFETY: the argument is a number, and only programs that start later depend on it.
    unsafe { libc::personality(wanted) }
}

/// Where the output of a child process goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// To a file, for [`Failure::output`].
    Captured,
    /// To that of the calling process.
    Inherited,
}

/// What a child process has reported.
#[derive(Debug)]
pub(crate) enum Report {
    Passed,
    Failed(Failure),
    /// It has run no simulation.
    NotRun {
        status: ExitStatus,
        output: String,
    },
}

/// The failure of a seed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) seed: u64,
    pub(crate) message: String,
    /// Whether the clients have not ended, so that dumps of the tasks say more.
    pub(crate) is_stuck: bool,
    /// What was printed in the run of the seed.
    pub(crate) output: String,
}

/// What a child process writes to its report.
#[derive(Debug)]
pub(crate) enum Progress<'a> {
    /// It runs this seed. If that is its last report, the process has ended meanwhile.
    Running(u64),
    Failed(u64, &'a str),
    /// The failure is that clients have not ended.
    Stuck(u64, &'a str),
    Passed,
}

/// The files of one child process.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    directory: PathBuf,
    number: u32,
}

impl Files {
    fn path(&self, kind: &str) -> PathBuf {
        self.directory.join(format!("{:06}.{kind}", self.number))
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.path("trace")
    }

    /// The file with a seed that has failed: higher seeds need not run. Lower ones do, so that the
    /// lowest failing seed does not depend on which child is faster.
    fn stop(&self) -> PathBuf {
        self.directory.join("stop")
    }

    /// Returns whether a lower seed has failed.
    pub(crate) fn is_needless(&self, seed: u64) -> bool {
        let failed = fs::read_to_string(self.stop()).unwrap_or_default();
        failed.parse().is_ok_and(|failed: u64| failed < seed)
    }

    pub(crate) fn write_progress(&self, progress: &Progress<'_>) -> io::Result<()> {
        let text = match progress {
            Progress::Running(seed) => format!("running {seed}\n"),
            Progress::Failed(seed, message) => format!("failed {seed}\n{message}"),
            Progress::Stuck(seed, message) => format!("stuck {seed}\n{message}"),
            Progress::Passed => "passed\n".to_owned(),
        };
        fs::write(self.path("report"), text)
    }

    /// Reads what a child process has written, and tells the others if a seed has failed.
    fn report(&self, status: ExitStatus) -> io::Result<Report> {
        let output = || match fs::read(self.path("output")) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        };
        let report = match fs::read(self.path("report")) {
            Ok(report) => String::from_utf8_lossy(&report).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let (head, message) = report.split_once('\n').unwrap_or_default();
        let (kind, seed) = head.split_once(' ').unwrap_or((head, ""));
        let message = match kind {
            "passed" => return Ok(Report::Passed),
            "failed" | "stuck" => message.to_owned(),
            "running" => format!("the process ended while it ran this seed ({status})"),
            _ => {
                return Ok(Report::NotRun {
                    status,
                    output: output(),
                });
            }
        };
        let seed = seed.parse().map_err(io::Error::other)?;
        if !self.is_needless(seed) {
            fs::write(self.stop(), seed.to_string())?;
        }
        Ok(Report::Failed(Failure {
            seed,
            message,
            is_stuck: kind == "stuck",
            output: output(),
        }))
    }

    /// Forgets what this process has printed. The file is open for appending, so that what is
    /// printed next is at its start.
    pub(crate) fn clear_output(&self) -> io::Result<()> {
        io::Write::flush(&mut io::stdout())?;
        match OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.path("output"))
        {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn write_trace(&self, sim: &Sim) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(self.trace())?);
        if let Some(trace) = &sim.trace {
            trace.write(&sim.names, &mut file)?;
        }
        io::Write::flush(&mut file)
    }
}

/// A directory for the files of child processes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn create() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let process = std::process::id();
        loop {
            // ORDERING: the numbers only have to differ.
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            // Its length is always the same; see `Plan::to_text`.
            let name = format!("raddle-sim-{process:010}-{number:010}");
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // An earlier process of this number has left it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn files(&self, number: u32) -> Files {
        Files {
            directory: self.0.clone(),
            number,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(self.path());
    }
}

/// The number of child processes that may run at the same time.
pub(crate) fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, NonZero::get) as u64
}

/// Lets a child process run. Tests that run at the same time share the cores.
struct Permit;

// UNRANKED: no lock is taken under it.
static RUNNING: Mutex<u64> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

impl Permit {
    fn take() -> Self {
        let mut running = RUNNING.lock();
        while *running >= cores() {
            running = ENDED.wait(running);
        }
        *running += 1;
        Self
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *RUNNING.lock() -= 1;
        ENDED.notify_one();
    }
}
