//! Opening named pipes.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{Receiver, Sender};

/// Options for opening a named pipe (FIFO).
///
/// Opening does not wait for the other side. A receiver without a sender reads the end of the
/// stream; [`open_sender`](Self::open_sender) fails while there is no receiver.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::unix::pipe;
///
/// # fn main() { async fn open() -> std::io::Result<()> {
/// let receiver = pipe::OpenOptions::new().open_receiver("/tmp/fifo")?;
/// receiver.readable().await?;
/// # Ok(()) } }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Makes the default options: they open a pipe for one direction, and refuse any other kind of
    /// file.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens the pipe for both directions, so that its other side is always open: opening a sender
    /// does not fail, and a receiver never reads an end.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("fifo");
    /// assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// // Without a receiver that is open already: the sender is one, too.
    /// let sender = pipe::OpenOptions::new().read_write(true).open_sender(&path)?;
    /// # Ok(()) }) }
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Skips the check that the file is a pipe. For another kind of file, operations fail or never
    /// complete.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the pipe at a path for reading.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the file is not a pipe; `NotFound` or `PermissionDenied` if it
    /// cannot be opened.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let file = self.open(std::fs::OpenOptions::new().read(true), path.as_ref())?;
        if self.unchecked {
            Receiver::from_file_unchecked(file)
        } else {
            Receiver::from_file(file)
        }
    }

    /// Opens the pipe at a path for writing.
    ///
    /// # Errors
    ///
    /// Returns an uncategorized error (ENXIO) if no process has the pipe open for reading;
    /// `InvalidInput` if the file is no pipe; `NotFound` or `PermissionDenied` if it cannot be
    /// opened.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("fifo");
    /// assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// // Fails without a receiver.
    /// assert!(pipe::OpenOptions::new().open_sender(&path).is_err());
    /// let receiver = pipe::OpenOptions::new().open_receiver(&path)?;
    /// let sender = pipe::OpenOptions::new().open_sender(&path)?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let file = self.open(std::fs::OpenOptions::new().write(true), path.as_ref())?;
        if self.unchecked {
            Sender::from_file_unchecked(file)
        } else {
            Sender::from_file(file)
        }
    }

    fn open(&self, options: &mut std::fs::OpenOptions, path: &Path) -> io::Result<File> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.read_write {
            options.read(true).write(true);
        }
        options.custom_flags(libc::O_NONBLOCK).open(path)
    }
}
