//! The copy of the working tree in which files are changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::steps;

/// The copy. The tree that it was made of is only read.
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
}

impl Copy {
    /// Makes `root` hold what git knows of `original` or does not ignore.
    pub(crate) fn new(original: &Path, root: PathBuf) -> Result<Self> {
        let mut git = Command::new("git");
        git.current_dir(original).args(["ls-files", "-z"]);
        git.args(["--cached", "--others", "--exclude-standard"]);
        let listing = steps::output(&mut git)?;
        let copy = Self { root };
        let names = listing.split_terminator('\0').map(PathBuf::from);
        copy.fill(original, names, &BTreeMap::new())?;
        Ok(copy)
    }

    /// Makes it hold what another copy holds, with some files changed or added.
    pub(crate) fn mirror(&self, other: &Path, changed: &BTreeMap<PathBuf, String>) -> Result<()> {
        let mut names = Vec::new();
        list(other, Path::new(""), &mut names)?;
        self.fill(other, names.into_iter(), changed)
    }

    /// A file that is as it should be is left as it is, so that cargo does not
    /// build it anew; one that an earlier run left changed is not.
    fn fill(
        &self,
        original: &Path,
        names: impl Iterator<Item = PathBuf>,
        changed: &BTreeMap<PathBuf, String>,
    ) -> Result<()> {
        let mut wanted = BTreeSet::new();
        for name in names {
            // Of a file that was removed git may still know.
            if !changed.contains_key(&name)
                && let Ok(bytes) = fs::read(original.join(&name))
            {
                put(&self.root.join(&name), &bytes)?;
                wanted.insert(self.root.join(name));
            }
        }
        for (name, text) in changed {
            self.write(name, text)?;
            wanted.insert(self.root.join(name));
        }
        remove_others(&self.root, &wanted)
    }

    /// Writes one file of the copy.
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<()> {
        put(&self.root.join(path), text.as_bytes())
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// The files under a directory, relative to `root`.
fn list(root: &Path, dir: &Path, names: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(dir))? {
        let path = dir.join(entry?.file_name());
        match root.join(&path).is_dir() {
            true => list(root, &path, names)?,
            false => names.push(path),
        }
    }
    Ok(())
}

fn remove_others(dir: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
