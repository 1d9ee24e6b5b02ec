//! An echo server on raddle-bare and mio. Once it runs, it allocates nothing, not even for a new
//! connection; `tests/all/echo.rs` checks this.
//!
//! It prints its address; connect to it with `nc`. Ctrl-C stops it.

pub mod reactor;
pub mod server;

use std::io;
use std::net::TcpListener;

/// The maximum number of open connections.
const CONNECTIONS: usize = 1024;

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:7000")?;
    println!("echo on {}", listener.local_addr()?);
    server::run(listener, CONNECTIONS, usize::MAX, || {})
}
