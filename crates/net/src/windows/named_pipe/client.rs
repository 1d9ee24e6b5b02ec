//! The client's end of a pipe.

use std::ffi::{OsStr, c_void};
use std::io;
use std::ptr::null_mut;

use mio::windows::NamedPipe;
use raddle_reactor::Evented;
use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_WRITE_ATTRIBUTES, SECURITY_IDENTIFICATION, SECURITY_SQOS_PRESENT,
};

use super::PipeMode;
use super::ends::{named_pipe_end, registered};
use crate::evented::ByteStream;
use crate::sys::named_pipe::{self, Open};

/// The client's end of a named pipe, opened by [`ClientOptions::open`].
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncReadExt;
/// use raddle::net::windows::named_pipe::ClientOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut client = ClientOptions::new().open(r"\\.\pipe\greeting")?;
/// let mut greeting = String::new();
/// client.read_to_string(&mut greeting).await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct NamedPipeClient {
    io: Evented<NamedPipe>,
}

impl NamedPipeClient {
    #[track_caller]
    fn new(pipe: NamedPipe) -> io::Result<NamedPipeClient> {
        registered(pipe).map(|io| NamedPipeClient { io })
    }
}

named_pipe_end!(
    NamedPipeClient,
    r#"ClientOptions::new().open(r"\\.\pipe\orders")?"#
);

/// Options for opening the client's end of a named pipe.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::windows::named_pipe::{ClientOptions, NamedPipeClient};
/// use raddle::time::sleep;
/// use std::time::Duration;
///
/// const ERROR_PIPE_BUSY: i32 = 231;
///
/// /// Waits while all instances of the pipe have a client.
/// async fn connect(name: &str) -> std::io::Result<NamedPipeClient> {
///     loop {
///         match ClientOptions::new().open(name) {
///             Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) => {}
///             result => return result,
///         }
///         sleep(Duration::from_millis(50)).await;
///     }
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # drop(connect(r"\\.\pipe\orders").await?);
/// # Ok(()) }) }
/// ```
#[derive(Clone, Debug)]
pub struct ClientOptions {
    read: bool,
    write: bool,
    security_qos_flags: u32,
    pipe_mode: PipeMode,
}

impl ClientOptions {
    /// Makes the default options: both directions, byte mode; the server may identify the client,
    /// but not impersonate it.
    pub fn new() -> ClientOptions {
        ClientOptions {
            read: true,
            write: true,
            security_qos_flags: SECURITY_IDENTIFICATION | SECURITY_SQOS_PRESENT,
            pipe_mode: PipeMode::Byte,
        }
    }

    /// Sets whether to read from the pipe. Set it to false for a pipe whose server does not let
    /// clients read.
    pub fn read(&mut self, allowed: bool) -> &mut Self {
        self.read = allowed;
        self
    }

    /// Sets whether to write to the pipe. Set it to false for a pipe whose server does not let
    /// clients write.
    pub fn write(&mut self, allowed: bool) -> &mut Self {
        self.write = allowed;
        self
    }

    /// Sets to what extent the server may impersonate the client, as
    /// [`OpenOptionsExt::security_qos_flags`](std::os::windows::fs::OpenOptionsExt) does.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::ClientOptions;
    ///
    /// /// The server cannot learn who the client is.
    /// const SECURITY_ANONYMOUS: u32 = 0;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = ClientOptions::new();
    /// let client = options.security_qos_flags(SECURITY_ANONYMOUS).open(r"\\.\pipe\orders")?;
    /// # Ok(()) }) }
    /// ```
    pub fn security_qos_flags(&mut self, flags: u32) -> &mut Self {
        self.security_qos_flags = flags | SECURITY_SQOS_PRESENT;
        self
    }

    /// Sets whether reads keep message boundaries. That needs a pipe that the server has made for
    /// [messages](super::ServerOptions::pipe_mode).
    pub fn pipe_mode(&mut self, pipe_mode: PipeMode) -> &mut Self {
        self.pipe_mode = pipe_mode;
        self
    }

    /// Opens the pipe `addr`, whose name begins with `\\.\pipe\`.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if no server has made it; an uncategorized error with the code 231
    /// (`ERROR_PIPE_BUSY`) if all instances have a client: try again after some time;
    /// `PermissionDenied` if this user may not open the pipe, or not for both directions;
    /// `InvalidInput` if the name contains a zero character, or if
    /// [message mode](Self::pipe_mode) is requested for a pipe in byte mode.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[allow(unsafe_code, reason = "a call with a null pointer")]
    #[track_caller]
    pub fn open(&self, addr: impl AsRef<OsStr>) -> io::Result<NamedPipeClient> {
        // SAFETY: null means the default attributes.
        unsafe { self.open_with_security_attributes_raw(addr, null_mut()) }
    }

    /// Like [`open`](Self::open), but takes a pointer to the `SECURITY_ATTRIBUTES` of the handle,
    /// or null for the default ones.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`open`](Self::open).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Safety
    ///
    /// The pointer is null, or points to a valid `SECURITY_ATTRIBUTES`.
    #[allow(unsafe_code, reason = "the caller vouches for the pointer")]
    #[track_caller]
    pub unsafe fn open_with_security_attributes_raw(
        &self,
        addr: impl AsRef<OsStr>,
        attrs: *mut c_void,
    ) -> io::Result<NamedPipeClient> {
        // SAFETY: as the caller promises.
        let pipe = unsafe { named_pipe::open(addr.as_ref(), &self.arguments(), attrs) }?;
        NamedPipeClient::new(pipe)
    }

    fn arguments(&self) -> Open {
        let by_message = self.pipe_mode == PipeMode::Message;
        let mut access = 0;
        if self.read {
            access |= GENERIC_READ;
        }
        if self.write {
            access |= GENERIC_WRITE;
        } else if by_message {
            // Setting the mode needs this right, which GENERIC_WRITE includes.
            access |= FILE_WRITE_ATTRIBUTES;
        }
        Open {
            access,
            flags: self.security_qos_flags,
            by_message,
        }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}
