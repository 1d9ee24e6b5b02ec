//! Windows named pipes.
//!
//! A server makes *instances* of a pipe, each for one client at a time. A client gets an error
//! while all instances have a client: `ERROR_PIPE_BUSY` (231) if it has to wait for an instance,
//! `NotFound` if there is none. So a server makes the next instance before it serves the client of
//! the previous one.
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::io::copy;
//! use raddle::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
//!
//! const NAME: &str = r"\\.\pipe\echo";
//!
//! async fn echo(client: NamedPipeServer) -> std::io::Result<()> {
//!     let (mut reader, mut writer) = raddle::io::split(client);
//!     copy(&mut reader, &mut writer).await.map(drop)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! // Fails if another process has the name already.
//! let mut server = ServerOptions::new().first_pipe_instance(true).create(NAME)?;
//! loop {
//!     server.connect().await?;
//!     let client = server;
//!     server = ServerOptions::new().create(NAME)?;
//!     raddle::spawn(echo(client));
//! }
//! # #[allow(unreachable_code)]
//! # Ok(()) }) }
//! ```
//!
//! The end of a stream is read when the other end is closed. A write completes when its bytes are
//! in a buffer; the system takes them from there in the background, also after the pipe is dropped.
//! [`NamedPipeServer::disconnect`] discards what the client has not read.

mod client;
mod ends;
mod info;
mod server;

pub use client::{ClientOptions, NamedPipeClient};
pub use info::{PipeEnd, PipeInfo, PipeMode};
pub use server::{NamedPipeServer, ServerOptions};
