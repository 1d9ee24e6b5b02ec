//! Functions of Unix only.

use std::future::Future;
use std::io;
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;

use crate::offload;

/// Makes `link` a symbolic link to `original`, which need not exist.
///
/// # Errors
///
/// Returns the same errors as [`std::os::unix::fs::symlink`].
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
/// fs::symlink(&path, &link).await?;
/// assert_eq!(fs::read(&link).await?, b"hello");
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn symlink(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
        offload::run(move || std::os::unix::fs::symlink(original, link)).await
    })
}
