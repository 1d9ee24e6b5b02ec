//! A chat server: each line that one client sends goes to all the others.
//!
//! A broadcast channel carries the lines. Its buffer is bounded, and so is the server's memory: a
//! client that reads too slowly loses the oldest lines, and learns from the error how many.
//!
//! ```sh
//! cargo run --example chat -- 127.0.0.1:7000
//! nc 127.0.0.1 7000   # in two terminals
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use raddle::net::{TcpListener, TcpStream};
use raddle::sync::broadcast::{self, error::RecvError};

/// How many lines the channel holds for the slowest client.
const BACKLOG: usize = 256;

#[derive(Clone)]
struct Line {
    from: SocketAddr,
    text: Arc<str>,
}

#[raddle::main]
async fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:7000");
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    serve(listener).await
}

pub(crate) async fn serve(listener: TcpListener) -> io::Result<()> {
    let (room, _) = broadcast::channel(BACKLOG);
    loop {
        let (stream, peer) = listener.accept().await?;
        let room = room.clone();
        raddle::spawn(async move {
            if let Err(error) = chat(stream, peer, room).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

async fn chat(
    mut stream: TcpStream,
    peer: SocketAddr,
    room: broadcast::Sender<Line>,
) -> io::Result<()> {
    let mut others = room.subscribe();
    let (reader, mut writer) = stream.split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"welcome\n").await?;
    loop {
        // Both branches are cancel safe: a line that is half read stays in `lines`, and a
        // message that was not received stays in the channel.
        raddle::select! {
            line = lines.next_line() => {
                let Some(text) = line? else { return Ok(()) };
                // Fails only without receivers; this task is one.
                let _ = room.send(Line { from: peer, text: text.into() });
            }
            line = others.recv() => match line {
                Ok(line) if line.from == peer => {}
                Ok(Line { from, text }) => {
                    writer.write_all(format!("{from}: {text}\n").as_bytes()).await?;
                }
                Err(RecvError::Lagged(lost)) => {
                    writer.write_all(format!("({lost} lines lost)\n").as_bytes()).await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            },
        }
    }
}
