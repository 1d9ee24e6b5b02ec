//! The lowest cost of an HTTP answer: a read, a write and a share of a poll. There is no parser,
//! and the answer is always the same.

use std::io::{ErrorKind, Read, Result, Write};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use slab::Slab;

use super::HELLO;

/// The size of hyper's first read.
const BUFFER: usize = 8192;
/// The number of events that Tokio and Raddle take at once.
const EVENTS: usize = 1024;
const LISTENER: Token = Token(usize::MAX);
const END: &[u8; 4] = b"\r\n\r\n";

/// A connection, and how much of the end of a request's head has been received.
struct Connection {
    stream: TcpStream,
    matched: usize,
}

/// Serves on the calling thread, forever.
pub(super) fn serve(socket: std::net::TcpListener) -> Result<()> {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n{HELLO}",
        HELLO.len()
    );
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(EVENTS);
    let mut listener = TcpListener::from_std(socket);
    let registry = poll.registry().try_clone()?;
    registry.register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut connections = Slab::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        }
        for event in &events {
            if event.token() == LISTENER {
                while let Some(mut stream) = accept(&listener)? {
                    let entry = connections.vacant_entry();
                    registry.register(&mut stream, Token(entry.key()), Interest::READABLE)?;
                    entry.insert(Connection { stream, matched: 0 });
                }
            } else if let Some(connection) = connections.get_mut(event.token().0)
                && !connection.answer(&mut buffer, answer.as_bytes())
            {
                connections.remove(event.token().0);
            }
        }
    }
}

fn accept(listener: &TcpListener) -> Result<Option<TcpStream>> {
    match listener.accept() {
        Ok((stream, _)) => {
            stream.set_nodelay(true)?;
            Ok(Some(stream))
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

impl Connection {
    /// Answers the received requests. Returns whether the connection stays open; that of a client
    /// that does not read its answers is closed.
    fn answer(&mut self, buffer: &mut [u8], answer: &[u8]) -> bool {
        loop {
            let length = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(length) => length,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            };
            for _ in 0..self.requests(&buffer[..length]) {
                if !matches!(self.stream.write(answer), Ok(written) if written == answer.len()) {
                    return false;
                }
            }
            // A read that does not fill the buffer has drained the socket.
            if length < buffer.len() {
                return true;
            }
        }
    }

    /// Returns how many requests end in `bytes`.
    fn requests(&mut self, bytes: &[u8]) -> usize {
        let mut requests = 0;
        for &byte in bytes {
            self.matched = match byte {
                _ if byte == END[self.matched] => self.matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.matched == END.len() {
                self.matched = 0;
                requests += 1;
            }
        }
        requests
    }
}
