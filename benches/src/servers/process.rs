//! A server's process, from outside.

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

/// How a server is to be started.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// What it is made of.
    pub contestant: Contestant,
    /// What it does.
    pub service: Service,
    /// How many worker threads it has.
    pub workers: usize,
    /// The only core that it may run on.
    pub core: Option<usize>,
    /// Whether the system prefers other processes to it.
    pub is_nice: bool,
}

/// Where the servers of a program run, and whether it counts their system calls.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Placement {
    /// How many worker threads a runtime has; a loop written by hand has one thread
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// The server, with one worker, on core 0 and its client on core 1
    #[arg(long, conflicts_with = "workers")]
    pinned: bool,

    /// Only the system calls for each message, under strace
    #[arg(long)]
    pub syscalls: bool,
}

/// A server, which ends with this.
#[derive(Debug)]
pub struct Process {
    child: Child,
    address: SocketAddr,
}

/// What a process has used so far: the difference of two counts.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// How long its threads have been on a processor.
    pub processor: Duration,
    /// How often they have waited for something.
    pub waits: u64,
    /// How often they were taken off a processor though they had more to do.
    pub preemptions: u64,
}

impl Placement {
    /// Checks that the tools are there, and keeps this process on its core.
    pub fn prepare(&self) -> Result<()> {
        if self.syscalls {
            check("strace")?;
        }
        match self.client_core() {
            Some(core) => stay_on(core),
            None => Ok(()),
        }
    }

    /// How many workers a server has.
    pub fn workers(&self) -> usize {
        if self.pinned { 1 } else { self.workers.into() }
    }

    /// Whether server and client each have a core.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// The only core that the client may run on.
    pub fn client_core(&self) -> Option<usize> {
        self.pinned.then_some(1)
    }

    /// How a server is to be started.
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

/// A command that runs on one core, if one is given.
pub fn on_core(core: Option<usize>, program: &Path) -> Command {
    let Some(core) = core else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Keeps the calling process, if it has one thread, on one core. Servers that it
/// starts have their own.
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

/// Whether a program can be started at all.
pub fn check(program: &str) -> Result<()> {
    // Not all of them know the option, and that does not matter.
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
    /// Starts a server that prints its address and ends with its standard input.
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

    /// Where it serves.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the threads that it has now have used since they began.
    pub fn usage(&self) -> Result<Usage> {
        let mut usage = Usage {
            processor: Duration::ZERO,
            waits: 0,
            preemptions: 0,
        };
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let thread = thread?.path();
            // A thread may end meanwhile.
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

    /// How many bytes of it are in memory.
    pub fn resident(&self) -> Result<usize> {
        resident_of(&self.child.id().to_string())
    }

    /// Ends the server and returns what was written beside its output.
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

/// The number behind `label` at the beginning of a line.
fn number(file: &Path, label: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

impl Usage {
    /// What was used after `before`.
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
        // The server ends when its input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
