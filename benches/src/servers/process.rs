//! The process of a server, as its client sees it.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use clap::ValueEnum;

use super::{Contestant, Service};
use crate::timing::resident_of;

/// How to start a server.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Its runtime.
    pub contestant: Contestant,
    /// Its service.
    pub service: Service,
    /// The number of its worker threads.
    pub workers: usize,
    /// The only core on which it may run.
    pub core: Option<usize>,
    /// Whether it has a lower priority than other processes.
    pub is_nice: bool,
}

/// Where the servers of a program run, and whether their system calls are counted.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Placement {
    /// The number of worker threads of a runtime; a hand-written loop has one thread
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Run the server, with one worker, on core 0 and its client on core 1
    #[arg(long, conflicts_with = "workers")]
    pinned: bool,

    /// Measure only the system calls per message, under strace
    #[arg(long)]
    pub syscalls: bool,
}

/// A server. Dropping this value ends it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    address: SocketAddr,
}

/// The resources that a process has used so far. Subtract an earlier value to measure a period.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The time that its threads have spent on a processor.
    pub processor: Duration,
    /// The number of times they have waited.
    pub waits: u64,
    /// The number of times they were preempted.
    pub preemptions: u64,
}

impl Placement {
    /// Checks that the tools are installed, and keeps this process on its core.
    pub fn prepare(&self) -> Result<()> {
        if self.syscalls {
            check("strace")?;
        }
        match self.client_core() {
            Some(core) => stay_on(core),
            None => Ok(()),
        }
    }

    /// Returns the number of workers of a server.
    pub fn workers(&self) -> usize {
        if self.pinned { 1 } else { self.workers.into() }
    }

    /// Whether the server and the client each have their own core.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Returns the only core on which the client may run.
    pub fn client_core(&self) -> Option<usize> {
        self.pinned.then_some(1)
    }

    /// Returns how to start a server.
    pub fn launch(&self, contestant: Contestant, service: Service) -> Launch {
        Launch {
            contestant,
            service,
            workers: self.workers(),
            core: self.pinned.then_some(0),
            is_nice: false,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pinned {
            true => f.write_str("1 worker on core 0, the client on core 1"),
            false => write!(f, "{} workers", self.workers),
        }
    }
}

impl Launch {
    /// Starts the server.
    pub fn start(self) -> Result<Process> {
        let mut command = self.placed(&std::env::current_exe()?);
        Process::new(self.with_arguments(&mut command))
    }

    /// Starts the server under `strace`, which counts its system calls.
    pub fn start_traced(self) -> Result<Process> {
        let mut command = self.placed(Path::new("strace"));
        command.args(["-c", "-f"]).arg(std::env::current_exe()?);
        command.stderr(Stdio::piped());
        Process::new(self.with_arguments(&mut command))
    }

    fn placed(self, program: &Path) -> Command {
        if !self.is_nice {
            return on_core(self.core, program);
        }
        let mut command = on_core(self.core, Path::new("nice"));
        command.args(["-n", "10"]).arg(program);
        command
    }

    fn with_arguments(self, command: &mut Command) -> &mut Command {
        let name = |value: Option<clap::builder::PossibleValue>| {
            let value = value.expect("no value is hidden");
            value.get_name().to_owned()
        };
        command
            .args(["--serve", &name(self.contestant.to_possible_value())])
            .args(["--service", &name(self.service.to_possible_value())])
            .args(["--workers", &self.workers.to_string()])
    }
}

/// Makes a command that runs on one core, if one is given.
pub fn on_core(core: Option<usize>, program: &Path) -> Command {
    let Some(core) = core else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Keeps the calling process, which must have only one thread, on one core. The servers that it
/// starts choose their own core.
fn stay_on(core: usize) -> Result<()> {
    let this = std::process::id().to_string();
    let mut command = Command::new("taskset");
    command.args(["-c", "-p", &core.to_string(), &this]);
    let output = command.output();
    let output = output.map_err(|error| or_missing(error, "taskset"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::other(format!("taskset: {}", output.status))),
    }
}

/// Checks whether a program can be started.
pub fn check(program: &str) -> Result<()> {
    // Some of them do not know the option, which does not matter.
    let output = Command::new(program).arg("--version").output();
    output.map(drop).map_err(|error| or_missing(error, program))
}

fn or_missing(error: Error, program: &str) -> Error {
    let package = match program {
        "taskset" => "util-linux",
        "h2load" => "nghttp2-client",
        _ => program,
    };
    match error.kind() {
        ErrorKind::NotFound => Error::new(
            ErrorKind::NotFound,
            format!("there is no program {program}; install the package {package}"),
        ),
        _ => error,
    }
}

impl Process {
    /// Starts a server that prints its address and exits when its standard input ends.
    pub fn new(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        match line.trim().parse() {
            Ok(address) => Ok(Self { child, address }),
            Err(_) => {
                let _ = child.kill();
                let status = child.wait()?;
                Err(Error::other(format!("the server did not start: {status}")))
            }
        }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what the threads that exist now have used since they began.
    pub fn usage(&self) -> Result<Usage> {
        let mut usage = Usage {
            processor: Duration::ZERO,
            waits: 0,
            preemptions: 0,
        };
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let thread = thread?.path();
            // A thread may exit meanwhile.
            if let Some(nanos) = number(&thread.join("schedstat"), "")
                && let Some(waits) = number(&thread.join("status"), "voluntary_ctxt_switches:")
                && let Some(preemptions) =
                    number(&thread.join("status"), "nonvoluntary_ctxt_switches:")
            {
                usage.processor += Duration::from_nanos(nanos);
                usage.waits += waits;
                usage.preemptions += preemptions;
            }
        }
        Ok(usage)
    }

    /// Returns how many bytes of the process are in memory.
    pub fn resident(&self) -> Result<usize> {
        resident_of(&self.child.id().to_string())
    }

    /// Ends the server and returns what it wrote to standard error.
    pub fn end(mut self) -> Result<String> {
        drop(self.child.stdin.take());
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut text)?;
        }
        self.child.wait()?;
        Ok(text)
    }
}

/// Returns the number after `label` at the beginning of a line.
fn number(file: &Path, label: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

impl Usage {
    /// Returns what was used since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            waits: self.waits.saturating_sub(before.waits),
            preemptions: self.preemptions.saturating_sub(before.preemptions),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The server exits when its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
