//! A TCP proxy: copies bytes both ways between each client and one server.
//!
//! When one side ends its direction, the proxy ends that direction at the other side and goes
//! on copying the opposite one, so protocols that half-close a connection work.
//!
//! ```sh
//! cargo run --example proxy -- 127.0.0.1:8080 example.com:80
//! curl -H 'host: example.com' http://127.0.0.1:8080/
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use raddle::io::copy_bidirectional;
use raddle::net::{TcpListener, TcpStream};
use raddle::time::timeout;

/// How long a connection to the server may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

#[raddle::main]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(server)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: proxy LISTEN SERVER"));
    };
    let listener = TcpListener::bind(listen).await?;
    println!("listening on {}", listener.local_addr()?);
    serve(listener, server).await
}

pub(crate) async fn serve(listener: TcpListener, server: String) -> io::Result<()> {
    loop {
        let (client, peer) = listener.accept().await?;
        let server = server.clone();
        raddle::spawn(async move {
            match forward(client, &server).await {
                Ok((sent, received)) => println!("{peer}: {sent} bytes out, {received} back"),
                Err(error) => eprintln!("{peer}: {error}"),
            }
        });
    }
}

async fn forward(mut client: TcpStream, server: &str) -> io::Result<(u64, u64)> {
    // `?` twice: first the time limit, then the error of the connection.
    let mut server = timeout(CONNECT_LIMIT, TcpStream::connect(server)).await??;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut client, &mut server).await
}
