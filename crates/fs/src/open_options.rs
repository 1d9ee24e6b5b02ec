//! Options for opening a file.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;

use super::File;
use crate::offload;

/// Options for opening files; see [`std::fs::OpenOptions`].
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs::OpenOptions;
/// use raddle::io::AsyncWriteExt;
///
/// # fn main() { async fn example() -> std::io::Result<()> {
/// let mut log = OpenOptions::new().append(true).create(true).open("log").await?;
/// log.write_all(b"started\n").await?;
/// log.flush().await
/// # } }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions(pub(crate) fs::OpenOptions);

impl OpenOptions {
    /// Makes options with nothing set. Set at least one way to access the file; otherwise opening
    /// it is an error.
    pub fn new() -> Self {
        Self(fs::OpenOptions::new())
    }

    /// Sets whether the file can be read.
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.0.read(read);
        self
    }

    /// Sets whether the file can be written. Its content is kept, and overwritten from the start.
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.0.write(write);
        self
    }

    /// Sets whether each write is appended at the file's current end.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// std::fs::write(&path, "one ")?;
    /// let mut file = OpenOptions::new().append(true).open(&path).await?;
    /// file.write_all(b"two").await?;
    /// file.flush().await?;
    /// assert_eq!(std::fs::read(&path)?, b"one two");
    /// # Ok(()) }) }
    /// ```
    pub fn append(&mut self, append: bool) -> &mut Self {
        self.0.append(append);
        self
    }

    /// Sets whether the content of an existing file is removed. It must be opened for writing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// std::fs::write(&path, "hello")?;
    /// OpenOptions::new().write(true).truncate(true).open(&path).await?;
    /// assert_eq!(std::fs::read(&path)?, b"");
    /// # Ok(()) }) }
    /// ```
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.0.truncate(truncate);
        self
    }

    /// Sets whether the file is created if it does not exist. It must be opened for writing or
    /// appending.
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.0.create(create);
        self
    }

    /// Sets whether the file must be created, so that an existing file is an error. It must be
    /// opened for writing or appending; `create` and `truncate` do not matter then.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let mut options = OpenOptions::new();
    /// options.write(true).create_new(true);
    /// options.open(&path).await?;
    /// assert!(options.open(&path).await.is_err());
    /// # Ok(()) }) }
    /// ```
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.0.create_new(create_new);
        self
    }

    /// Sets the permissions of a file that is created, before the umask.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// // For the owner only, if the file is made by this.
    /// OpenOptions::new().write(true).create(true).mode(0o600).open(&path).await?;
    /// # Ok(()) }) }
    /// ```
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// Sets additional flags for the system call `open`.
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// - `NotFound` if the file does not exist, or the parent directory in which to create it.
    /// - `AlreadyExists` if the file exists and [`create_new`](Self::create_new) is set.
    /// - `PermissionDenied` if the process may not access the file in this way.
    /// - `InvalidInput` if the options contradict each other, or none of them is set.
    ///
    /// Other errors are the same as for [`std::fs::OpenOptions::open`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    #[track_caller]
    pub fn open(&self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        io_at_caller(self.open_file(path))
    }

    /// Opens the file, or returns a [`Misuse`](raddle_leaf::misuse::Misuse).
    pub(crate) async fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
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
