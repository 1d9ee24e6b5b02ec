//! Source files of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use walkdir::{DirEntry, WalkDir};

use crate::workspace::Package;

/// A file of Rust source.
pub(crate) struct File {
    /// The package of the file.
    pub(crate) package: String,
    /// The path relative to the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl File {
    /// Whether it belongs to a crate, and contains no tests, benchmark or example.
    pub(crate) fn is_of_library(&self) -> bool {
        let apart = ["tests", "tests.rs", "benches", "examples"];
        let mut parts = self.path.iter();
        self.path.starts_with("crates") && !parts.any(|part| apart.iter().any(|it| part == *it))
    }
}

/// Returns every source file of a package.
pub(crate) fn files(root: &Path, package: &Package) -> Result<Vec<File>> {
    // A directory with its own manifest is another package.
    let is_own = |dir: &Path| !dir.ends_with("target") && !dir.join("Cargo.toml").is_file();
    let file = |path: PathBuf| {
        Ok(File {
            package: package.name.clone(),
            text: read(&path)?,
            path: path.strip_prefix(root)?.to_owned(),
        })
    };
    let paths = walk(&root.join(&package.dir), &["rs"], is_own)?;
    paths.into_iter().map(file).collect()
}

/// Reads a file. An error names its path.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Returns the files below `dir` that have one of `extensions`, sorted. Skips directories for which
/// `enters` returns false.
pub(crate) fn walk(
    dir: &Path,
    extensions: &[&str],
    enters: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>> {
    let is_wanted = |entry: &DirEntry| {
        let extension = entry.path().extension();
        match entry.file_type().is_dir() {
            true => entry.depth() == 0 || enters(entry.path()),
            false => extension.is_some_and(|it| extensions.iter().any(|one| it == *one)),
        }
    };
    let entries = WalkDir::new(dir).sort_by_file_name().into_iter();
    let mut paths = Vec::new();
    for entry in entries.filter_entry(is_wanted) {
        let entry = entry?;
        if entry.file_type().is_file() {
            paths.push(entry.into_path());
        }
    }
    Ok(paths)
}
