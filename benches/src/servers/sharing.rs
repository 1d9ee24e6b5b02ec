//! Other processes with which a server and its client share their cores.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, id};
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

/// The sharing that lasts until this is dropped: busy processes, and the control group that
/// contains this process, with the one that contained it before.
#[derive(Debug, Default)]
pub struct Begun {
    busy: Vec<Child>,
    quota: Option<(PathBuf, PathBuf)>,
}

impl Sharing {
    /// All ways, and what titles say of each.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Client, "the client on the same cores"),
        (Self::Busy, "two busy processes beside it"),
        (Self::Nice, "at nice 10 beside the client"),
        (Self::Quota, "1.5 cores for it and the client"),
        (Self::Workers, "more than cores"),
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
            Self::Quota => begun.limit()?,
            Self::Client | Self::Nice | Self::Workers => {}
        }
        Ok(begun)
    }
}

impl Begun {
    /// Moves this process into a new control group with the time of 1.5 cores.
    fn limit(&mut self) -> Result<()> {
        let root = Path::new("/sys/fs/cgroup");
        // Version 1 has a hierarchy of its own for this controller.
        let (root, controller, file, limit) = match root.join("cpu").is_dir() {
            true => (root.join("cpu"), "cpu", "cpu.cfs_quota_us", "150000"),
            false => (root.to_owned(), "", "cpu.max", "150000 100000"),
        };
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let before = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
            let mut controllers = controllers.split(',');
            controllers
                .any(|one| one == controller)
                .then(|| root.join(path))
        });
        let before = before.ok_or_else(|| Error::other("there are no control groups"))?;
        let group = root.join(format!("raddle-bench-{}", id()));
        fs::create_dir(&group)?;
        self.quota = Some((group.clone(), before));
        fs::write(group.join(file), limit)?;
        enter(&group)
    }
}

/// Moves this process into a control group.
fn enter(group: &Path) -> Result<()> {
    fs::write(group.join("cgroup.procs"), id().to_string())
}

impl Drop for Begun {
    fn drop(&mut self) {
        for busy in &mut self.busy {
            let _ = busy.kill();
            let _ = busy.wait();
        }
        if let Some((group, before)) = &self.quota {
            // A group that remains takes no processor time.
            let _ = enter(before);
            let _ = fs::remove_dir(group);
        }
    }
}
