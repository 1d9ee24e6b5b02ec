//! The server's end of a pipe.

use std::ffi::{OsStr, c_void};
use std::io::{self, Read, Write};
use std::ptr::null_mut;

use mio::windows::NamedPipe;
use raddle_primitives::sync::{Mutex, Rank};
use raddle_reactor::{Evented, Interest};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_ACCESS_INBOUND, PIPE_ACCESS_OUTBOUND, WRITE_DAC,
    WRITE_OWNER,
};
use windows_sys::Win32::System::Pipes::{
    PIPE_READMODE_MESSAGE, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_MESSAGE, PIPE_UNLIMITED_INSTANCES,
};
use windows_sys::Win32::System::SystemServices::ACCESS_SYSTEM_SECURITY;

use super::PipeMode;
use super::ends::{named_pipe_end, registered};
use crate::evented::ByteStream;
use crate::sys::named_pipe::{self, Create};

/// The server's end of an instance of a named pipe, made by [`ServerOptions::create`].
///
/// It can be read and written once a client is [connected](Self::connect). Dropping it closes it:
/// the client reads the written bytes, and then the end of the stream.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
/// use raddle::net::windows::named_pipe::ServerOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut server = ServerOptions::new().create(r"\\.\pipe\greeting")?;
/// server.connect().await?;
/// server.write_all(b"hello").await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct NamedPipeServer {
    io: Evented<NamedPipe>,
    /// Whether mio's buffers may contain bytes or errors of a previous connection.
    is_stale: Mutex<bool>,
}

impl NamedPipeServer {
    #[track_caller]
    fn new(pipe: NamedPipe) -> io::Result<NamedPipeServer> {
        Ok(NamedPipeServer {
            io: registered(pipe)?,
            is_stale: Mutex::ranked(Rank::leaf("the end of a named pipe's connection"), false),
        })
    }
}

named_pipe_end!(
    NamedPipeServer,
    r#"ServerOptions::new().create(r"\\.\pipe\orders")?"#
);

impl NamedPipeServer {
    /// Waits until a client has opened the pipe. A client that has opened it since
    /// [`create`](ServerOptions::create) counts.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has shut down, or if the system cannot wait for a client.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, the pipe continues to wait, and the next call finds a
    /// client that has connected meanwhile.
    pub async fn connect(&self) -> io::Result<()> {
        match self.try_connect() {
            Err(error) if would_block(&error) => {
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.io.async_io(interest, |_| self.try_connect()).await
            }
            result => result,
        }
    }

    /// Asks the system whether a client is connected.
    fn try_connect(&self) -> io::Result<()> {
        let mut is_stale = self.is_stale.lock();
        if *is_stale {
            discard(&self.io)?;
        }
        let result = self.io.connect();
        if std::mem::take(&mut *is_stale) {
            // Takes the error of the read that `discard` has left. mio then reads from the client,
            // as soon as one is connected.
            let _ = (&*self.io).read(&mut []);
        }
        result
    }

    /// Ends the connection. Bytes that the client has not read are lost, and its next operation
    /// fails. The same instance can be [connected](Self::connect) to the next client.
    ///
    /// # Errors
    ///
    /// Returns an error if no client was ever connected, or if the pipe was disconnected before.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::ServerOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let server = ServerOptions::new().create(r"\\.\pipe\orders")?;
    /// server.connect().await?;
    /// server.disconnect()?;
    /// // The next client.
    /// server.connect().await?;
    /// # Ok(()) }) }
    /// ```
    pub fn disconnect(&self) -> io::Result<()> {
        let mut is_stale = self.is_stale.lock();
        self.io.disconnect()?;
        *is_stale = true;
        Ok(())
    }
}

fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Discards the content of mio's buffers from the previous connection, so that the next client gets
/// none of its bytes and errors. The pipe has no client: after this, mio has the error of another
/// read, and no write.
///
/// # Errors
///
/// Returns `WouldBlock` if an operation of that connection has not ended yet.
fn discard(mut pipe: &NamedPipe) -> io::Result<()> {
    let mut discarded = [0; 1024];
    loop {
        match pipe.read(&mut discarded) {
            Err(error) if would_block(&error) => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    // The write fails, with the error of an earlier write or because there is no client.
    match pipe.write(&[0]) {
        Err(error) if would_block(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Options for creating an instance of a named pipe.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::windows::named_pipe::{PipeMode, ServerOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut options = ServerOptions::new();
/// options.pipe_mode(PipeMode::Message).first_pipe_instance(true);
/// let server = options.create(r"\\.\pipe\orders")?;
/// # Ok(()) }) }
/// ```
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pipe_mode: PipeMode,
    access_inbound: bool,
    access_outbound: bool,
    first_pipe_instance: bool,
    write_dac: bool,
    write_owner: bool,
    access_system_security: bool,
    reject_remote_clients: bool,
    max_instances: u32,
    out_buffer_size: u32,
    in_buffer_size: u32,
}

impl ServerOptions {
    /// Makes the default options: bytes in both directions, clients of this machine only, any
    /// number of instances, and buffers of 64 KiB.
    pub fn new() -> ServerOptions {
        ServerOptions {
            pipe_mode: PipeMode::Byte,
            access_inbound: true,
            access_outbound: true,
            first_pipe_instance: false,
            write_dac: false,
            write_owner: false,
            access_system_security: false,
            reject_remote_clients: true,
            max_instances: PIPE_UNLIMITED_INSTANCES,
            out_buffer_size: 65_536,
            in_buffer_size: 65_536,
        }
    }

    /// Sets whether the pipe keeps the boundaries between writes, for both ends and all instances.
    pub fn pipe_mode(&mut self, pipe_mode: PipeMode) -> &mut Self {
        self.pipe_mode = pipe_mode;
        self
    }

    /// Sets whether clients may write (`PIPE_ACCESS_INBOUND`); they may by default.
    ///
    /// A client has to [open](super::ClientOptions::write) the pipe without writing then; otherwise
    /// it is refused.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::{ClientOptions, ServerOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let server = ServerOptions::new().access_inbound(false).create(r"\\.\pipe\log")?;
    /// let client = ClientOptions::new().write(false).open(r"\\.\pipe\log")?;
    /// # Ok(()) }) }
    /// ```
    pub fn access_inbound(&mut self, allowed: bool) -> &mut Self {
        self.access_inbound = allowed;
        self
    }

    /// Sets whether clients may read (`PIPE_ACCESS_OUTBOUND`); they may by default.
    ///
    /// A client has to [open](super::ClientOptions::read) the pipe without reading then; otherwise
    /// it is refused.
    pub fn access_outbound(&mut self, allowed: bool) -> &mut Self {
        self.access_outbound = allowed;
        self
    }

    /// Sets whether it is an error if the pipe already has an instance
    /// (`FILE_FLAG_FIRST_PIPE_INSTANCE`). With it, no other program can have made a pipe of this
    /// name to intercept its clients.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::ServerOptions;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = ServerOptions::new();
    /// options.first_pipe_instance(true);
    /// let server = options.create(r"\\.\pipe\orders")?;
    /// let error = options.create(r"\\.\pipe\orders").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    /// # Ok(()) }) }
    /// ```
    pub fn first_pipe_instance(&mut self, first: bool) -> &mut Self {
        self.first_pipe_instance = first;
        self
    }

    /// Sets whether the handle may change the access control list (`WRITE_DAC`).
    pub fn write_dac(&mut self, requested: bool) -> &mut Self {
        self.write_dac = requested;
        self
    }

    /// Sets whether the handle may change the owner of the pipe (`WRITE_OWNER`).
    pub fn write_owner(&mut self, requested: bool) -> &mut Self {
        self.write_owner = requested;
        self
    }

    /// Sets whether the handle may change what is audited (`ACCESS_SYSTEM_SECURITY`). The process
    /// needs a privilege for it.
    pub fn access_system_security(&mut self, requested: bool) -> &mut Self {
        self.access_system_security = requested;
        self
    }

    /// Sets whether clients of other machines are refused (`PIPE_REJECT_REMOTE_CLIENTS`); they are
    /// by default.
    pub fn reject_remote_clients(&mut self, reject: bool) -> &mut Self {
        self.reject_remote_clients = reject;
        self
    }

    /// Sets how many instances of the pipe there may be at a time; any number by default. That of
    /// the first instance counts.
    ///
    /// # Panics
    ///
    /// Panics if it is above 254, the most that the system takes as a number.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::ServerOptions;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut options = ServerOptions::new();
    /// let server = options.max_instances(1).create(r"\\.\pipe\orders")?;
    /// // ERROR_PIPE_BUSY
    /// let error = options.create(r"\\.\pipe\orders").unwrap_err();
    /// assert_eq!(error.raw_os_error(), Some(231));
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn max_instances(&mut self, instances: usize) -> &mut Self {
        assert!(
            instances < PIPE_UNLIMITED_INSTANCES as usize,
            "cannot limit a pipe to {instances} instances; give at most 254, or set no limit"
        );
        self.max_instances = instances as u32;
        self
    }

    /// Sets the size of the buffer for what the server writes, in bytes.
    pub fn out_buffer_size(&mut self, buffer: u32) -> &mut Self {
        self.out_buffer_size = buffer;
        self
    }

    /// Sets the size of the buffer for what clients write, in bytes.
    pub fn in_buffer_size(&mut self, buffer: u32) -> &mut Self {
        self.in_buffer_size = buffer;
        self
    }

    /// Makes an instance of the pipe `addr`, whose name begins with `\\.\pipe\`.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the name contains a zero character; `PermissionDenied` if another
    /// program has the pipe, or if there is an instance and this is to be the
    /// [first](Self::first_pipe_instance); an uncategorized error if there are [as
    /// many](Self::max_instances) as there may be (`ERROR_PIPE_BUSY`), or if the name is not that
    /// of a pipe.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[allow(unsafe_code, reason = "a call with a null pointer")]
    #[track_caller]
    pub fn create(&self, addr: impl AsRef<OsStr>) -> io::Result<NamedPipeServer> {
        // SAFETY: null means the default attributes.
        unsafe { self.create_with_security_attributes_raw(addr, null_mut()) }
    }

    /// Like [`create`](Self::create), but takes a pointer to the `SECURITY_ATTRIBUTES` of the pipe,
    /// or null for the default ones.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`create`](Self::create).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Safety
    ///
    /// The pointer is null, or points to a valid `SECURITY_ATTRIBUTES`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::windows::named_pipe::ServerOptions;
    /// use std::ptr::null_mut;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let options = ServerOptions::new();
    /// // SAFETY: null means the default attributes.
    /// let server = unsafe {
    ///     options.create_with_security_attributes_raw(r"\\.\pipe\orders", null_mut())?
    /// };
    /// # Ok(()) }) }
    /// ```
    #[allow(unsafe_code, reason = "the caller vouches for the pointer")]
    #[track_caller]
    pub unsafe fn create_with_security_attributes_raw(
        &self,
        addr: impl AsRef<OsStr>,
        attrs: *mut c_void,
    ) -> io::Result<NamedPipeServer> {
        // SAFETY: as the caller promises.
        let pipe = unsafe { named_pipe::create(addr.as_ref(), &self.arguments(), attrs) }?;
        NamedPipeServer::new(pipe)
    }

    fn arguments(&self) -> Create {
        let open_mode = [
            (self.access_inbound, PIPE_ACCESS_INBOUND),
            (self.access_outbound, PIPE_ACCESS_OUTBOUND),
            (self.first_pipe_instance, FILE_FLAG_FIRST_PIPE_INSTANCE),
            (self.write_dac, WRITE_DAC),
            (self.write_owner, WRITE_OWNER),
            (self.access_system_security, ACCESS_SYSTEM_SECURITY),
        ];
        let pipe_mode = [
            (
                self.pipe_mode == PipeMode::Message,
                PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE,
            ),
            (self.reject_remote_clients, PIPE_REJECT_REMOTE_CLIENTS),
        ];
        Create {
            open_mode: sum(&open_mode),
            pipe_mode: sum(&pipe_mode),
            max_instances: self.max_instances,
            out_buffer_size: self.out_buffer_size,
            in_buffer_size: self.in_buffer_size,
        }
    }
}

/// Returns the sum of the flags that are set.
fn sum(flags: &[(bool, u32)]) -> u32 {
    let set = flags.iter().filter(|(is_set, _)| *is_set);
    set.fold(0, |sum, (_, flag)| sum | flag)
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::new()
    }
}
