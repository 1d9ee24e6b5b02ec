//! The machine of a measurement, and the versions of the measured packages.

use std::fs;
use std::process::Command;
use std::thread;

use serde::{Deserialize, Serialize};

/// The lock file of the workspace, which fixes the version of every package.
const LOCK: &str = include_str!("../../Cargo.lock");

/// The packages whose versions the report shows.
const PACKAGES: [&str; 14] = [
    "raddle",
    "tokio",
    "tokio-threadpool",
    "async-executor",
    "async-io",
    "hyper",
    "mio",
    "crossbeam-deque",
    "st3",
    "async-channel",
    "flume",
    "criterion",
    "hdrhistogram",
    "hyper-util",
];

/// What a reader must know to judge the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The model name of the processor.
    pub processor: String,
    /// The number of hardware threads that the program may use.
    pub cores: usize,
    /// The memory, in GiB.
    pub memory: f64,
    /// The system and its kernel.
    pub system: String,
    /// The installed compiler.
    pub compiler: String,
    /// The commit that was built, and whether files had been changed since.
    pub commit: String,
    /// The number of threads that wanted to run in the last minute.
    pub load: f64,
    /// Packages and their versions.
    pub versions: Vec<(String, String)>,
}

impl Machine {
    /// Describes this machine. Values that the system does not provide are "unknown".
    pub fn this() -> Self {
        let unknown = || "unknown".to_owned();
        let kernel = first_line("/proc/sys/kernel/osrelease").unwrap_or_else(unknown);
        let name = after("/etc/os-release", "PRETTY_NAME=").unwrap_or_else(unknown);
        let dirty = output_of("git", &["status", "--porcelain", "--untracked-files=no"]);
        let dirty = dirty.is_some_and(|files| !files.is_empty());
        Self {
            processor: after("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory: after("/proc/meminfo", "MemTotal")
                .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
                .map_or(0.0, |kib| kib / 1_048_576.0),
            system: format!("{}, Linux {kernel}", name.trim_matches('"')),
            compiler: output_of("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: output_of("git", &["rev-parse", "--short=10", "HEAD"])
                .map_or_else(unknown, |hash| {
                    hash + if dirty { ", with changes" } else { "" }
                }),
            load: first_line("/proc/loadavg")
                .and_then(|line| line.split(' ').next()?.parse().ok())
                .unwrap_or(0.0),
            versions: versions(LOCK),
        }
    }
}

/// Returns the versions of [`PACKAGES`]; some packages have two.
fn versions(lock: &str) -> Vec<(String, String)> {
    let value = |line: &str, key: &str| {
        let quoted = line.strip_prefix(key)?.strip_prefix(" = \"")?;
        Some(quoted.strip_suffix('"')?.to_owned())
    };
    let packages = lock.split("[[package]]").filter_map(|package| {
        let find = |key| package.lines().find_map(|line| value(line, key));
        Some((find("name")?, find("version")?))
    });
    packages
        .filter(|(name, _)| PACKAGES.contains(&name.as_str()))
        .collect()
}

fn first_line(file: &str) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.lines().next()?.to_owned())
}

/// Returns the rest of the line that begins with a label.
fn after(file: &str, label: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    Some(rest.trim_start_matches([':', ' ', '\t']).to_owned())
}

fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests;
