//! An echo server on raddle-bare and mio. Once it runs it allocates nothing, for
//! a connection neither, which `tests/echo.rs` holds it to.
//!
//! It prints its address; `nc` talks to it. Ctrl-C stops it.

pub mod reactor;
pub mod server;

use std::io;
use std::net::TcpListener;

/// How many connections there can be at a time.
const CONNECTIONS: usize = 1024;

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:7000")?;
    println!("echo on {}", listener.local_addr()?);
    server::run(listener, CONNECTIONS, usize::MAX, || {})
}
