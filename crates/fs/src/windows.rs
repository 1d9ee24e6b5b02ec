//! Functions of Windows only.

use std::future::Future;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{
    AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle, RawHandle,
};
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;

use crate::stdio::{Output, Stdin};
use crate::{File, OpenOptions, offload};

/// Makes `link` a symbolic link to the directory `original`, which need not exist.
///
/// # Errors
///
/// As [`std::os::windows::fs::symlink_dir`]: `PermissionDenied` unless the process may make
/// symbolic links.
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// raddle::fs::symlink_dir("releases\\7", "current").await?;
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn symlink_dir(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
        offload::run(move || std::os::windows::fs::symlink_dir(original, link)).await
    })
}

/// Makes `link` a symbolic link to the file `original`, which need not exist.
///
/// # Errors
///
/// As [`std::os::windows::fs::symlink_file`]: `PermissionDenied` unless the process may make
/// symbolic links.
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// raddle::fs::symlink_file("settings.7", "settings").await?;
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn symlink_file(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> {
    io_at_caller(async move {
        let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
        offload::run(move || std::os::windows::fs::symlink_file(original, link)).await
    })
}

/// Options of Windows, like those of [`std::os::windows::fs::OpenOptionsExt`].
impl OpenOptions {
    /// Sets the `dwDesiredAccess` of `CreateFile`, in place of the access that `read`, `write` and
    /// `append` request.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// // Neither to read nor to write: its metadata only.
    /// let file = OpenOptions::new().access_mode(0).open("settings").await?;
    /// println!("{} bytes", file.metadata().await?.len());
    /// # Ok(()) }) }
    /// ```
    pub fn access_mode(&mut self, access: u32) -> &mut Self {
        self.0.access_mode(access);
        self
    }

    /// Sets the `dwShareMode` of `CreateFile`: what others may do with the file meanwhile.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// // No other handle to the file can be opened until this one is closed.
    /// OpenOptions::new().write(true).share_mode(0).open("lock").await?;
    /// # Ok(()) }) }
    /// ```
    pub fn share_mode(&mut self, mode: u32) -> &mut Self {
        self.0.share_mode(mode);
        self
    }

    /// Sets flags for the `dwFlagsAndAttributes` of `CreateFile`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// /// Deletes the file when its last handle is closed.
    /// const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = OpenOptions::new();
    /// options.write(true).create(true).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    /// options.open("scratch").await?;
    /// # Ok(()) }) }
    /// ```
    pub fn custom_flags(&mut self, flags: u32) -> &mut Self {
        self.0.custom_flags(flags);
        self
    }

    /// Sets the attributes of a file that is created.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// const FILE_ATTRIBUTE_HIDDEN: u32 = 2;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = OpenOptions::new();
    /// options.write(true).create(true).attributes(FILE_ATTRIBUTE_HIDDEN);
    /// options.open("cache").await?;
    /// # Ok(()) }) }
    /// ```
    pub fn attributes(&mut self, attributes: u32) -> &mut Self {
        self.0.attributes(attributes);
        self
    }

    /// Sets to what extent the server of a named pipe may impersonate this process.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::OpenOptions;
    ///
    /// /// The server learns who the client is, and may not act as it.
    /// const SECURITY_IDENTIFICATION: u32 = 1 << 16;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = OpenOptions::new();
    /// options.write(true).security_qos_flags(SECURITY_IDENTIFICATION);
    /// options.open(r"\\.\pipe\log").await?;
    /// # Ok(()) }) }
    /// ```
    pub fn security_qos_flags(&mut self, flags: u32) -> &mut Self {
        self.0.security_qos_flags(flags);
        self
    }
}

impl From<OwnedHandle> for File {
    fn from(handle: OwnedHandle) -> Self {
        Self::from_std(handle.into())
    }
}

impl AsHandle for File {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.std().as_handle()
    }
}

impl AsRawHandle for File {
    fn as_raw_handle(&self) -> RawHandle {
        self.std().as_raw_handle()
    }
}

#[allow(unsafe_code, reason = "a handle is taken over by its value")]
impl FromRawHandle for File {
    /// Makes a file from an open handle, which it closes when it is dropped.
    ///
    /// # Safety
    ///
    /// As [`FromRawHandle::from_raw_handle`]: the handle is open, and nothing else owns it.
    unsafe fn from_raw_handle(handle: RawHandle) -> Self {
        // SAFETY: the caller promises that the handle is open and not owned.
        Self::from_std(unsafe { std::fs::File::from_raw_handle(handle) })
    }
}

impl AsHandle for Stdin {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.std.as_handle()
    }
}

impl AsRawHandle for Stdin {
    fn as_raw_handle(&self) -> RawHandle {
        self.std.as_raw_handle()
    }
}

impl<S: AsHandle + Send + 'static> AsHandle for Output<S> {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.std.as_handle()
    }
}

impl<S: AsRawHandle + Send + 'static> AsRawHandle for Output<S> {
    fn as_raw_handle(&self) -> RawHandle {
        self.std.as_raw_handle()
    }
}
