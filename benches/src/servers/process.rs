//! The process of a server, as its client sees it.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio, id};

use clap::ValueEnum;
use rustix::process::{Resource, getrlimit, setrlimit};

use super::{Contestant, Service};
use crate::sheet::Options;
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
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Placement {
    /// Run the server, with one worker, on core 0 and its client on core 1
    #[arg(long, conflicts_with = "workers")]
    pub pinned: bool,

    /// Measure only the system calls per message, under strace
    #[arg(long)]
    pub syscalls: bool,
}

/// A server. Dropping this value ends it.
pub struct Process {
    child: Child,
    /// The address of the server.
    pub address: SocketAddr,
}

/// The resources that the threads of a process have used so far: the microseconds on a processor,
/// the waits and the preemptions.
pub type Usage = [f64; 3];

impl Placement {
    /// Checks that the tools are installed, and keeps this process, which must have only one
    /// thread, on its core. The servers that it starts choose their own core.
    pub fn prepare(&self) -> Result<()> {
        if self.syscalls {
            check("strace")?;
        }
        if let Some(core) = self.client_core() {
            check("taskset")?;
            let mut command = Command::new("taskset");
            command.args(["-c", "-p", &core.to_string(), &id().to_string()]);
            let status = command.stdout(Stdio::null()).status()?;
            if !status.success() {
                return Err(Error::other(format!("taskset: {status}")));
            }
        }
        Ok(())
    }

    /// Returns the numbers of workers of the servers.
    pub fn workers(&self, options: &Options) -> Vec<usize> {
        match self.pinned {
            true => vec![1],
            false => options.workers(&[2]),
        }
    }

    /// Returns the only core on which the client may run.
    pub fn client_core(&self) -> Option<usize> {
        self.pinned.then_some(1)
    }

    /// Returns how to start a server.
    pub fn launch(&self, contestant: Contestant, service: Service, workers: usize) -> Launch {
        Launch {
            contestant,
            service,
            workers,
            core: self.pinned.then_some(0),
            is_nice: false,
        }
    }

    /// Describes the placement in a title.
    pub fn title(&self, workers: usize) -> String {
        match self.pinned {
            true => "1 worker on core 0, the client on core 1".to_owned(),
            false => format!("{workers} workers"),
        }
    }
}

impl Launch {
    /// Starts the server.
    pub fn start(self) -> Result<Process> {
        let this = std::env::current_exe()?;
        if !self.is_nice {
            return self.start_by(on_core(self.core, this));
        }
        let mut command = on_core(self.core, "nice");
        command.args(["-n", "10"]).arg(this);
        self.start_by(command)
    }

    /// Starts the server under `strace`, which counts its system calls.
    pub fn start_traced(self) -> Result<Process> {
        let mut command = on_core(self.core, "strace");
        command.args(["-c", "-f"]).arg(std::env::current_exe()?);
        command.stderr(Stdio::piped());
        self.start_by(command)
    }

    fn start_by(self, mut command: Command) -> Result<Process> {
        fn name(value: impl ValueEnum) -> String {
            let value = value.to_possible_value().expect("no value is hidden");
            value.get_name().to_owned()
        }
        command.args(["--serve", &name(self.contestant)]);
        command.args(["--service", &name(self.service)]);
        Process::new(command.args(["--workers", &self.workers.to_string()]))
    }
}

/// Makes a command that runs on one core, if one is given.
pub fn on_core(core: Option<usize>, program: impl AsRef<OsStr>) -> Command {
    let Some(core) = core else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Checks whether a program can be started.
pub fn check(program: &str) -> Result<()> {
    // Some of them do not know the option, which does not matter.
    let output = Command::new(program).arg("--version").output();
    let package = match program {
        "taskset" => "util-linux",
        "h2load" => "nghttp2-client",
        _ => program,
    };
    output.map(drop).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::other(format!("there is no {program}; install {package}")),
        _ => error,
    })
}

/// Raises the limit of descriptors for this process and its children.
pub fn allow(sockets: usize) -> Result<()> {
    // A program needs some besides the sockets of a load.
    let wanted = sockets as u64 + 100;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|most| most < wanted) {
        let text = format!("{sockets} sockets are too many for a process; raise ulimit -Hn");
        return Err(Error::other(text));
    }
    limit.current = Some(wanted);
    Ok(setrlimit(Resource::Nofile, limit)?)
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

    /// Returns what the threads that exist now have used since they began.
    pub fn usage(&self) -> Result<Usage> {
        let mut usage = Usage::default();
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let thread = thread?.path();
            let read = |file| fs::read_to_string(thread.join(file));
            // A thread may exit meanwhile.
            if let (Ok(times), Ok(status)) = (read("schedstat"), read("status")) {
                usage[0] += number(&times, "") / 1e3;
                usage[1] += number(&status, "voluntary_ctxt_switches:");
                usage[2] += number(&status, "nonvoluntary_ctxt_switches:");
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
        Ok(text)
    }
}

/// Returns the number after `label` at the beginning of a line.
fn number(text: &str, label: &str) -> f64 {
    let rest = text.lines().find_map(|line| line.strip_prefix(label));
    let word = rest.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    word.unwrap_or(0.0)
}

/// Returns what was used between `before` and `after`, per message.
pub fn each(before: Usage, after: Usage, messages: f64) -> Usage {
    std::array::from_fn(|place| (after[place] - before[place]).max(0.0) / messages)
}

impl Drop for Process {
    fn drop(&mut self) {
        // The server exits when its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
