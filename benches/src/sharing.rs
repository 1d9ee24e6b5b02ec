//! Other processes with which a server and its client share their cores.

use std::fmt;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;

/// A way in which a server shares its cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The load generator runs on the server's cores.
    Client,
    /// Two other processes compute all the time.
    Busy,
    /// The load generator has a higher priority than the server.
    Nice,
    /// The server and the client together have the time of 1.5 cores.
    Quota,
    /// There are more workers than cores.
    Workers,
}

/// The sharing that lasts until this is dropped.
#[derive(Debug, Default)]
pub struct Begun {
    busy: Vec<Child>,
    quota: Option<Quota>,
}

/// A control group that contains this process and its children.
#[derive(Debug)]
struct Quota {
    group: PathBuf,
    before: PathBuf,
}

impl Sharing {
    /// All ways.
    pub const ALL: [Self; 5] = [
        Self::Client,
        Self::Busy,
        Self::Nice,
        Self::Quota,
        Self::Workers,
    ];

    /// Returns the number of workers of a server that would otherwise have `few`.
    pub fn workers(self, few: usize) -> usize {
        match self {
            Self::Workers => 2 * few.max(thread::available_parallelism().map_or(1, usize::from)),
            _ => few,
        }
    }

    /// Starts to share the cores with this process and its children.
    pub fn begin(self) -> Result<Begun> {
        let mut begun = Begun::default();
        match self {
            Self::Busy => {
                for _ in 0..2 {
                    let mut command = Command::new("sh");
                    let busy = command.args(["-c", "while :; do :; done"]).spawn()?;
                    begun.busy.push(busy);
                }
            }
            Self::Quota => begun.quota = Some(Quota::new()?),
            Self::Client | Self::Nice | Self::Workers => {}
        }
        Ok(begun)
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "the client on the same cores",
            Self::Busy => "two busy processes beside it",
            Self::Nice => "at nice 10 beside the client",
            Self::Quota => "1.5 cores for it and the client",
            Self::Workers => "more than cores",
        })
    }
}

impl Quota {
    /// Moves this process into a new group, in version 2 or version 1 of control groups.
    fn new() -> Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let name = format!("raddle-bench-{}", std::process::id());
        let (root, controllers, limits): (_, _, &[_]) = match root.join("cpu").is_dir() {
            true => (
                root.join("cpu"),
                "cpu",
                &[
                    ("cpu.cfs_period_us", "100000"),
                    ("cpu.cfs_quota_us", "150000"),
                ],
            ),
            false => (root.to_owned(), "", &[("cpu.max", "150000 100000")]),
        };
        let present = groups.lines().find_map(|line| {
            let (listed, path) = line.split_once(':')?.1.split_once(':')?;
            let mut listed = listed.split(',');
            listed.any(|one| one == controllers).then_some(path)
        });
        let present = present.ok_or_else(|| Error::other("there are no control groups"))?;
        let quota = Self {
            group: root.join(name),
            before: root.join(present.trim_start_matches('/')),
        };
        fs::create_dir(&quota.group)?;
        for (file, limit) in limits {
            fs::write(quota.group.join(file), limit)?;
        }
        enter(&quota.group)?;
        Ok(quota)
    }
}

/// Moves this process into a control group.
fn enter(group: &Path) -> Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A group that remains takes no processor time.
        let _ = enter(&self.before);
        let _ = fs::remove_dir(&self.group);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        for busy in &mut self.busy {
            let _ = busy.kill();
            let _ = busy.wait();
        }
    }
}
