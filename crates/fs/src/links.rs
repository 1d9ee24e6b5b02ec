//! What only Unix has.

use std::io;
use std::path::Path;

use crate::offload;

/// Makes `link` a symbolic link to `original`, which need not exist.
///
/// # Errors
///
/// As [`std::os::unix::fs::symlink`].
///
/// # Cancel safety
///
/// As [the module](crate#cancel-safety) says.
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    offload::run(move || std::os::unix::fs::symlink(original, link)).await
}
