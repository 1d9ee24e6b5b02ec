//! A builder of directories.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;

use crate::offload;

/// Options for creating directories; see [`std::fs::DirBuilder`].
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() { async fn example() -> std::io::Result<()> {
/// let mut builder = raddle::fs::DirBuilder::new();
/// builder.recursive(true);
/// # #[cfg(unix)]
/// builder.mode(0o700);
/// builder.create("state/private").await
/// # } }
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    /// The permissions of new directories.
    #[cfg(unix)]
    mode: Option<u32>,
}

impl DirBuilder {
    /// Makes a builder that creates single directories: the parent must exist.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether missing parents are created too, and an existing directory is not an error.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Sets the permissions of new directories, before the umask.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory `path`.
    ///
    /// # Errors
    ///
    /// - `AlreadyExists` if there is something at the path, unless it is a directory and
    ///   [`recursive`](Self::recursive) is set.
    /// - `NotFound` if the parent is missing, without `recursive`.
    /// - `PermissionDenied` if the process may not write to the parent.
    ///
    /// Other errors are the same as for [`std::fs::DirBuilder::create`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    #[track_caller]
    pub fn create(&self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move {
            let path = path.as_ref().to_owned();
            let mut builder = fs::DirBuilder::new();
            builder.recursive(self.recursive);
            #[cfg(unix)]
            if let Some(mode) = self.mode {
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
            }
            offload::run(move || builder.create(path)).await
        })
    }
}
