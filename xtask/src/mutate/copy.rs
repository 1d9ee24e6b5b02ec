//! The copy of the working tree in which files are changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The copy. The tree that it was made of is only read.
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
}

impl Copy {
    /// Makes `root` hold what git knows of `original` or does not ignore. A file
    /// that is as it should be is left as it is, so that cargo does not build it
    /// anew; one that an earlier run left changed is not.
    pub(crate) fn new(original: &Path, root: PathBuf) -> Result<Self> {
        let output = Command::new("git")
            .current_dir(original)
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .output()
            .context("cannot start git")?;
        ensure!(output.status.success(), "git ls-files: {}", output.status);
        let listing = String::from_utf8(output.stdout)?;
        let mut wanted = BTreeSet::new();
        for name in listing.split_terminator('\0') {
            // Of a file that was removed git may still know.
            if let Ok(bytes) = fs::read(original.join(name)) {
                put(&root.join(name), &bytes)?;
                wanted.insert(root.join(name));
            }
        }
        remove_others(&root, &wanted)?;
        Ok(Self { root })
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
