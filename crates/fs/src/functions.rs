//! The functions of `std::fs`, each a call on the pool.

use std::fs::{self, Metadata, Permissions};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};

use raddle_leaf::misuse::io_at_caller;

use crate::offload;

/// Returns the absolute path of `path`, without `.`, `..` and symbolic links.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `NotADirectory` if a part of the path before the last is a file.
///
/// Other errors are the same as for [`std::fs::canonicalize`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn canonicalize(path: impl AsRef<Path>) -> impl Future<Output = io::Result<PathBuf>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::canonicalize(path)).await
    })
}

/// Creates a directory, whose parent must exist.
///
/// [`create_dir_all`] creates the parents too.
///
/// # Errors
///
/// - `AlreadyExists` if a file or directory exists at the path.
/// - `NotFound` if the parent is missing.
/// - `PermissionDenied` if the process may not write to the parent.
///
/// Other errors are the same as for [`std::fs::create_dir`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn create_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::create_dir(path)).await
    })
}

/// Creates a directory, and its parents if they are missing.
///
/// # Errors
///
/// - `NotADirectory` or `AlreadyExists` if a part of the path is a file.
/// - `PermissionDenied` if the process may not write to one of the parents.
///
/// Other errors are the same as for [`std::fs::create_dir_all`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("logs").join("today");
/// fs::create_dir_all(&path).await?;
/// // No error if it is there.
/// fs::create_dir_all(&path).await?;
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn create_dir_all(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::create_dir_all(path)).await
    })
}

/// Returns the metadata of the file at `path`. Follows symbolic links.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process may not search a directory of the path.
///
/// Other errors are the same as for [`std::fs::metadata`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// assert_eq!(fs::metadata(&path).await?.len(), 5);
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn metadata(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Metadata>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::metadata(path)).await
    })
}

/// Returns the target of a symbolic link.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `InvalidInput` if it is not a symbolic link.
///
/// Other errors are the same as for [`std::fs::read_link`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let link = directory.path().join("link");
/// fs::symlink("target", &link).await?;
/// assert_eq!(fs::read_link(&link).await?.to_str(), Some("target"));
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn read_link(path: impl AsRef<Path>) -> impl Future<Output = io::Result<PathBuf>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::read_link(path)).await
    })
}

/// Reads the whole content of a file.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process may not read it.
/// - `IsADirectory` if it is a directory, on Unix.
///
/// Other errors are the same as for [`std::fs::read`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Vec<u8>>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::read(path)).await
    })
}

/// Reads the whole content of a file, as text.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process may not read it.
/// - `InvalidData` if the content is not UTF-8.
///
/// Other errors are the same as for [`std::fs::read_to_string`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// assert_eq!(fs::read_to_string(&path).await?, "hello");
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> impl Future<Output = io::Result<String>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::read_to_string(path)).await
    })
}

/// Removes an empty directory.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `DirectoryNotEmpty` if the directory is not empty.
/// - `NotADirectory` if it is not a directory.
/// - `PermissionDenied` if the process may not write to the parent.
///
/// Other errors are the same as for [`std::fs::remove_dir`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn remove_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::remove_dir(path)).await
    })
}

/// Removes a directory with everything in it. A symbolic link in it is removed, not its target.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `NotADirectory` if it is not a directory.
/// - `PermissionDenied` if the process may not remove something in it; the rest may be gone then.
///
/// Other errors are the same as for [`std::fs::remove_dir_all`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("logs");
/// fs::create_dir_all(path.join("today")).await?;
/// fs::remove_dir_all(&path).await?;
/// assert!(!fs::try_exists(&path).await?);
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn remove_dir_all(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::remove_dir_all(path)).await
    })
}

/// Removes a file.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process may not write to the parent.
/// - `IsADirectory` if it is a directory, on Linux.
///
/// Other errors are the same as for [`std::fs::remove_file`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn remove_file(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::remove_file(path)).await
    })
}

/// Returns the metadata of the file at `path`. Does not follow symbolic links: returns the metadata
/// of the link itself.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process may not search a directory of the path.
///
/// Other errors are the same as for [`std::fs::symlink_metadata`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let link = directory.path().join("link");
/// fs::symlink("target", &link).await?;
/// assert!(fs::symlink_metadata(&link).await?.is_symlink());
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn symlink_metadata(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Metadata>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::symlink_metadata(path)).await
    })
}

/// Returns whether a file or directory exists at `path`. Follows symbolic links.
///
/// # Errors
///
/// Returns `PermissionDenied` if the process may not search a directory of the path. A missing file
/// is not an error.
///
/// Other errors are the same as for [`std::fs::exists`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
#[track_caller]
pub fn try_exists(path: impl AsRef<Path>) -> impl Future<Output = io::Result<bool>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::exists(path)).await
    })
}

/// Copies the content and the permissions of a file to another one, which is created or
/// overwritten, and returns the number of bytes.
///
/// # Errors
///
/// - `NotFound` if no file exists at `from`.
/// - `InvalidInput` if `from` is not a file.
/// - `PermissionDenied` if the process may not read `from` or write `to`.
/// - `StorageFull` if there is no room.
///
/// Other errors are the same as for [`std::fs::copy`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// let copy = directory.path().join("copy");
/// fs::write(&path, "hello").await?;
/// assert_eq!(fs::copy(&path, &copy).await?, 5);
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> impl Future<Output = io::Result<u64>> {
    io_at_caller(async move {
        let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
        offload::run(move || fs::copy(from, to)).await
    })
}

/// Creates a hard link: `link` becomes another name of the file `original`.
///
/// # Errors
///
/// - `NotFound` if no file exists at `original`.
/// - `AlreadyExists` if a file or directory exists at `link`.
/// - `CrossesDevices` if they are on different file systems.
///
/// Other errors are the same as for [`std::fs::hard_link`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// let link = directory.path().join("link");
/// fs::write(&path, "hello").await?;
/// fs::hard_link(&path, &link).await?;
/// assert_eq!(fs::read(&link).await?, b"hello");
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn hard_link(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
        offload::run(move || fs::hard_link(original, link)).await
    })
}

/// Renames a file or directory, and replaces an existing file of the new name. Both paths must be
/// on the same file system.
///
/// # Errors
///
/// - `NotFound` if no file exists at `from`.
/// - `CrossesDevices` if the paths are on different file systems.
/// - `PermissionDenied` if the process may not write to one of the parents.
///
/// Other errors are the same as for [`std::fs::rename`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// let new = directory.path().join("new");
/// fs::write(&path, "hello").await?;
/// fs::rename(&path, &new).await?;
/// assert!(!fs::try_exists(&path).await?);
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn rename(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
        offload::run(move || fs::rename(from, to)).await
    })
}

/// Changes the permissions of a file.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `PermissionDenied` if the process does not own the file.
///
/// Other errors are the same as for [`std::fs::set_permissions`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// let mut permissions = fs::metadata(&path).await?.permissions();
/// permissions.set_readonly(true);
/// fs::set_permissions(&path, permissions).await?;
/// assert!(fs::metadata(&path).await?.permissions().readonly());
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn set_permissions(
    path: impl AsRef<Path>,
    perm: Permissions,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        offload::run(move || fs::set_permissions(path, perm)).await
    })
}

/// Writes `contents` as the whole content of a file, which is created or overwritten.
///
/// # Errors
///
/// - `NotFound` if the parent is missing.
/// - `PermissionDenied` if the process may not write to the file or the parent.
/// - `StorageFull` if there is no room.
///
/// Other errors are the same as for [`std::fs::write`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// assert_eq!(fs::read(&path).await?, b"hello");
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn write(
    path: impl AsRef<Path>,
    contents: impl AsRef<[u8]>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
        offload::run(move || fs::write(path, contents)).await
    })
}
