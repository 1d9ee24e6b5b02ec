//! A TCP server that sends back what it receives, with one task for each connection.
//!
//! ```sh
//! cargo run --example echo -- 127.0.0.1:7000
//! nc 127.0.0.1 7000
//! ```
#![forbid(unsafe_code)]

use std::io;

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::time::sleep;

#[raddle::main]
async fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:7000");
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    serve(listener).await
}

/// Accepts connections until the listener fails for good.
///
/// `accept_retrying` pauses while the process has no free descriptor; a plain `accept` would
/// return that error, and `?` would end the server.
pub(crate) async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, peer) = listener.accept_retrying(sleep).await?;
        raddle::spawn(async move {
            if let Err(error) = echo(stream).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

/// Sends back every byte until the peer closes its side of the connection.
async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length]).await?;
    }
}
