//! How a file is opened.

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::offload;

/// Opens files, in ways that can be chosen; see [`std::fs::OpenOptions`].
///
/// # Examples
///
/// ```no_run
/// use raddle_fs::OpenOptions;
/// use raddle_io::AsyncWriteExt;
///
/// # async fn example() -> std::io::Result<()> {
/// let mut log = OpenOptions::new().append(true).create(true).open("log").await?;
/// log.write_all(b"started\n").await?;
/// log.flush().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions(fs::OpenOptions);

impl OpenOptions {
    /// Makes options with nothing chosen. A file that is opened so is an error:
    /// it is neither read nor written.
    pub fn new() -> Self {
        Self(fs::OpenOptions::new())
    }

    /// Whether the file can be read.
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.0.read(read);
        self
    }

    /// Whether the file can be written. Its content is kept, and overwritten
    /// from the start.
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.0.write(write);
        self
    }

    /// Whether each write goes to the end of the file, wherever that is by then.
    pub fn append(&mut self, append: bool) -> &mut Self {
        self.0.append(append);
        self
    }

    /// Whether the content of a file that exists is removed. It must be opened
    /// for writing.
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.0.truncate(truncate);
        self
    }

    /// Whether the file is made if there is none. It must be opened for writing
    /// or appending.
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.0.create(create);
        self
    }

    /// Whether the file must be made, and a file that exists is an error. It must
    /// be opened for writing or appending; `create` and `truncate` do not matter
    /// then.
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.0.create_new(create_new);
        self
    }

    /// The permissions that a file is made with, before the umask.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// Flags for the system call `open` beside those that the other options
    /// set.
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// As [`std::fs::OpenOptions::open`].
    ///
    /// # Cancel safety
    ///
    /// As [the module](crate#cancel-safety) says.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (options, path) = (self.0.clone(), path.as_ref().to_owned());
        offload::run(move || options.open(path))
            .await
            .map(File::from_std)
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> Self {
        Self(options)
    }
}
