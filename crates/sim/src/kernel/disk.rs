//! The disks of hosts. Each is a directory of the machine, and knows what a crash would lose.
//!
//! A host sees the files of the machine, too, but cannot change them: what it writes goes to its own
//! directory, which then hides what the machine has under the same path.
//!
//! # What a crash loses
//!
//! *Contents.* Until a file is synced, the disk keeps what each of its sectors had before. At a
//! crash a file keeps all of its writes, or none, or each sector's by itself, by the seed.
//!
//! *Names.* Files that were created, removed or renamed are in a journal, which a sync of any file
//! or directory empties, as ext4 does. A crash undoes the entries behind a place that the seed
//! chooses.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use libc::c_int;

use super::{Errno, Result};
use crate::random::Random;

/// What a disk writes at once.
const SECTOR: u64 = 512;

/// Paths that all hosts share with the machine.
const SHARED: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A file of a disk, by the number that its file system gives it.
pub(crate) type Inode = u64;

/// The disk of a host.
#[derive(Default)]
pub(crate) struct Disk {
    /// Exists once the host has written something.
    root: Option<PathBuf>,
    unsynced: BTreeMap<Inode, Unsynced>,
    /// How many files have become unsynced.
    changes: u64,
    journal: Vec<Change>,
    /// How many files were removed that a crash could bring back.
    kept: u64,
    /// How many faults fill it, and how many break it.
    pub(crate) full: u32,
    pub(crate) broken: u32,
    /// What each write and sync takes.
    pub(crate) latency: Duration,
}

/// A file that was written since it was synced.
struct Unsynced {
    /// Its place among all that have become unsynced: an inode's number differs from run to run.
    order: u64,
    file: File,
    /// The length that it had.
    length: u64,
    /// What the sectors that were written had before, as far as the length went.
    sectors: BTreeMap<u64, Vec<u8>>,
}

/// A change of names that no sync has followed.
enum Change {
    Created(PathBuf),
    CreatedDirectory(PathBuf),
    /// A file was removed; it is kept under another name.
    Removed {
        path: PathBuf,
        kept: PathBuf,
    },
    RemovedDirectory(PathBuf),
    /// A file or directory was renamed. What had the name before is kept.
    Renamed {
        from: PathBuf,
        to: PathBuf,
        kept: Option<PathBuf>,
    },
}

/// Where a path of a host leads.
pub(crate) enum Target {
    /// To a file of the machine, or to none.
    Machine(PathBuf),
    /// To a file of the disk, or to a place for one.
    Disk(PathBuf),
}

impl Target {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Machine(path) | Self::Disk(path) => path,
        }
    }
}

impl Disk {
    fn root(&mut self, name: &str) -> io::Result<&Path> {
        if self.root.is_none() {
            self.root = Some(make_root(name)?);
        }
        Ok(self.root.as_deref().unwrap_or(Path::new("/")))
    }

    /// The path that the program gives to a file that the system calls `path`.
    pub(crate) fn shown(&self, path: &Path) -> PathBuf {
        let inner = self
            .root
            .as_deref()
            .and_then(|root| path.strip_prefix(root).ok());
        inner.map_or_else(|| path.to_owned(), |inner| Path::new("/").join(inner))
    }

    /// What a symbolic link holds for a target that the host gives. The system follows it: an
    /// absolute one that the machine does not have is on the disk.
    pub(crate) fn target(&self, target: &Path) -> PathBuf {
        if target.is_relative() {
            return target.to_owned();
        }
        match (self.find(target), &self.root) {
            (Target::Machine(path), Some(root)) if !path.exists() => on(root, &path),
            (place, _) => place.path().to_owned(),
        }
    }

    /// Where an absolute path leads when the host reads.
    pub(crate) fn find(&self, path: &Path) -> Target {
        let path = normal(&self.shown(path));
        let on_disk = match &self.root {
            Some(root) if !is_shared(&path) => on(root, &path),
            _ => return Target::Machine(path),
        };
        match fs::symlink_metadata(&on_disk) {
            Ok(_) => Target::Disk(on_disk),
            Err(_) => Target::Machine(path),
        }
    }

    /// Where an absolute path leads when the host changes something there. Directories that the
    /// machine has, and a file whose contents are needed, are copied to the disk first.
    pub(crate) fn find_to_change(
        &mut self,
        name: &str,
        path: &Path,
        needs_contents: bool,
    ) -> io::Result<Target> {
        let path = normal(&self.shown(path));
        if is_shared(&path) {
            return Ok(Target::Machine(path));
        }
        let on_disk = on(self.root(name)?, &path);
        if let (Some(parent), Some(of_machine)) = (on_disk.parent(), path.parent()) {
            if of_machine.is_dir() {
                fs::create_dir_all(parent)?;
            }
        }
        if needs_contents && fs::symlink_metadata(&on_disk).is_err() && path.is_file() {
            fs::copy(&path, &on_disk)?;
        }
        Ok(Target::Disk(on_disk))
    }

    /// An error if a fault of the disk prevents a write.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.broken, self.full) {
            (1.., _) => Err(Errno(libc::EIO)),
            (0, 1..) => Err(Errno(libc::ENOSPC)),
            (0, 0) => Ok(()),
        }
    }

    /// A file was opened that was not there before.
    pub(crate) fn created(&mut self, path: PathBuf) {
        self.journal.push(Change::Created(path));
    }

    pub(crate) fn created_directory(&mut self, path: PathBuf) {
        self.journal.push(Change::CreatedDirectory(path));
    }

    pub(crate) fn removed_directory(&mut self, path: PathBuf) {
        self.journal.push(Change::RemovedDirectory(path));
    }

    /// Removes a file, but keeps it for a crash that undoes this.
    pub(crate) fn remove(&mut self, path: PathBuf) -> io::Result<()> {
        let kept = self.keep(&path)?;
        fs::remove_file(&path)?;
        self.journal.push(Change::Removed { path, kept });
        Ok(())
    }

    pub(crate) fn rename(&mut self, from: PathBuf, to: PathBuf) -> io::Result<()> {
        let is_file = fs::symlink_metadata(&to).is_ok_and(|found| !found.is_dir());
        let kept = if is_file { Some(self.keep(&to)?) } else { None };
        fs::rename(&from, &to)?;
        self.journal.push(Change::Renamed { from, to, kept });
        Ok(())
    }

    /// Gives a file a second name, outside what the host sees.
    fn keep(&mut self, path: &Path) -> io::Result<PathBuf> {
        self.kept += 1;
        let mut kept = self.root.clone().unwrap_or_default().into_os_string();
        kept.push(format!(".kept.{}", self.kept));
        let kept = PathBuf::from(kept);
        fs::hard_link(path, &kept)?;
        Ok(kept)
    }

    /// A part of a file is about to be written, or cut off.
    pub(crate) fn will_change(&mut self, file: &File, from: u64, to: u64) -> io::Result<()> {
        let found = file.metadata()?;
        let unsynced = match self.unsynced.get_mut(&found.ino()) {
            Some(unsynced) => unsynced,
            None => {
                let fd = std::os::fd::AsRawFd::as_raw_fd(file);
                let mut options = fs::OpenOptions::new();
                let file = options
                    .read(true)
                    .write(true)
                    .open(format!("/proc/self/fd/{fd}"))?;
                let length = found.len();
                self.changes += 1;
                let order = self.changes;
                let new = Unsynced {
                    order,
                    file,
                    length,
                    sectors: BTreeMap::new(),
                };
                self.unsynced.entry(found.ino()).or_insert(new)
            }
        };
        unsynced.keep(from, to)
    }

    /// A file or directory was synced.
    pub(crate) fn synced(&mut self, inode: Inode) {
        self.unsynced.remove(&inode);
        for change in self.journal.drain(..) {
            match change {
                Change::Removed { kept, .. }
                | Change::Renamed {
                    kept: Some(kept), ..
                } => {
                    let _gone = fs::remove_file(kept);
                }
                _ => {}
            }
        }
    }

    /// Loses what was not synced.
    pub(crate) fn crash(&mut self, random: &mut Random) {
        let unsynced = std::mem::take(&mut self.unsynced);
        let mut unsynced = Vec::from_iter(unsynced.into_values());
        unsynced.sort_by_key(|unsynced| unsynced.order);
        for unsynced in unsynced {
            unsynced.lose(random);
        }
        let lasting = random.index(self.journal.len() + 1);
        for change in self.journal.drain(lasting..).rev() {
            change.undo();
        }
        for change in self.journal.drain(..) {
            if let Change::Removed { kept, .. }
            | Change::Renamed {
                kept: Some(kept), ..
            } = change
            {
                let _gone = fs::remove_file(kept);
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(parent) = self.root.as_deref().and_then(Path::parent) {
            let _gone = fs::remove_dir_all(parent);
        }
    }
}

impl Unsynced {
    /// Keeps what the sectors of a part have, unless they were written before.
    fn keep(&mut self, from: u64, to: u64) -> io::Result<()> {
        for sector in from / SECTOR..to.div_ceil(SECTOR) {
            if self.sectors.contains_key(&sector) {
                continue;
            }
            let start = sector * SECTOR;
            let length = self.length.saturating_sub(start).min(SECTOR);
            let mut bytes = vec![0; length as usize];
            self.file.read_exact_at(&mut bytes, start)?;
            self.sectors.insert(sector, bytes);
        }
        Ok(())
    }

    /// Loses all of the writes, or none, or some.
    fn lose(self, random: &mut Random) {
        let new = self.file.metadata();
        let new = new.map_or(self.length, |found| found.len());
        let (chance, length) = match random.index(3) {
            0 => (0.0, new),
            1 => (1.0, self.length),
            _ => (0.5, between(self.length, new, random)),
        };
        for (sector, bytes) in &self.sectors {
            if random.chance(chance) {
                let mut bytes = bytes.clone();
                bytes.resize(SECTOR as usize, 0);
                // The length is set below. The file may be gone.
                let _failed = self.file.write_all_at(&bytes, sector * SECTOR);
            }
        }
        let _failed = self.file.set_len(length);
    }
}

/// One of two lengths, or the end of a sector between them.
fn between(one: u64, other: u64, random: &mut Random) -> u64 {
    let (least, most) = (one.min(other), one.max(other));
    let sectors = (most - least).div_ceil(SECTOR);
    let end = (least / SECTOR + random.below(sectors + 1)) * SECTOR;
    end.clamp(least, most)
}

impl Change {
    /// Undoes the change, which was the last of those that are left.
    fn undo(self) {
        let _failed = match self {
            Self::Created(path) => fs::remove_file(path),
            Self::CreatedDirectory(path) => fs::remove_dir(path),
            Self::RemovedDirectory(path) => fs::create_dir(path),
            Self::Removed { path, kept } => fs::rename(kept, path),
            Self::Renamed { from, to, kept } => fs::rename(&to, from).and_then(|()| match kept {
                Some(kept) => fs::rename(kept, to),
                None => Ok(()),
            }),
        };
    }
}

fn make_root(name: &str) -> io::Result<PathBuf> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // ORDERING: only a number that no other disk of the process has.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let parent = std::env::temp_dir().join(format!("raddle-sim-{process}-{number}"));
    // For a person who looks there while a test runs.
    let root = parent.join(name.replace(['/', '\0', '.'], "_"));
    fs::create_dir_all(&root)?;
    Ok(root)
}

fn is_shared(path: &Path) -> bool {
    SHARED.iter().any(|shared| path.starts_with(shared))
}

fn on(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Resolves `.` and `..` by the text of the path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::Normal(name) => normal.push(name),
            _ => {}
        }
    }
    normal
}

/// The error of an operation on a file of the machine.
pub(crate) fn errno(error: &io::Error) -> Errno {
    let error: c_int = error.raw_os_error().unwrap_or(libc::EIO);
    Errno(error)
}
