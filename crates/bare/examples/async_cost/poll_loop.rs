//! The server as a hand-written poll loop.

use std::io::{self, ErrorKind, Read, Write};

use slab::Slab;

use super::fake_io::{Calls, Events, FakeListener, FakeStream, Poll, Readiness, Token};

const LISTENER: Token = Token(usize::MAX);

/// The maximum length of a line, in bytes.
const BUFFER: usize = 128;

/// A server that answers one request on each connection.
#[derive(Debug)]
pub struct PollLoop<'c> {
    events: Events,
    server: Server<'c>,
}

#[derive(Debug)]
struct Server<'c> {
    poll: Poll<'c>,
    connections: Slab<Connection<'c>>,
    /// The number of connections that are still to be accepted.
    left: usize,
}

#[derive(Debug)]
struct Connection<'c> {
    stream: FakeStream<'c>,
    ready: Readiness,
    phase: Phase,
    buffer: [u8; BUFFER],
    filled: usize,
    written: usize,
}

#[derive(Debug)]
enum Phase {
    Receiving,
    Sending,
}

impl<'c> PollLoop<'c> {
    /// Makes a server with room for `connections` connections at a time.
    pub fn new(calls: &'c Calls, connections: usize) -> Self {
        Self {
            events: Events::with_capacity(connections + 1),
            server: Server {
                poll: Poll::new(calls, connections + 1),
                connections: Slab::with_capacity(connections),
                left: 0,
            },
        }
    }

    /// Serves `requests` requests.
    ///
    /// # Errors
    /// Returns the errors of the sources.
    pub fn run(&mut self, requests: usize) -> io::Result<()> {
        let server = &mut self.server;
        let listener = FakeListener::new(server.poll.calls());
        server
            .poll
            .register(&listener, LISTENER, Readiness::READABLE);
        server.left = requests;
        server.accept(&listener)?;
        while server.left > 0 || !server.connections.is_empty() {
            server.poll.poll(&mut self.events);
            for event in self.events.iter() {
                if event.token == LISTENER {
                    server.accept(&listener)?;
                } else {
                    let connection = &mut server.connections[event.token.0];
                    connection.ready = connection.ready | event.readiness;
                    server.process(event.token)?;
                }
            }
        }
        server.poll.deregister(&listener);
        Ok(())
    }
}

impl<'c> Server<'c> {
    /// Accepts connections until the listener would block or `left` is zero.
    fn accept(&mut self, listener: &FakeListener<'c>) -> io::Result<()> {
        while self.left > 0 {
            let stream = match listener.accept() {
                Ok(stream) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.left -= 1;
            let both = Readiness::READABLE | Readiness::WRITABLE;
            let entry = self.connections.vacant_entry();
            let token = Token(entry.key());
            let connection = entry.insert(Connection {
                stream,
                ready: both,
                phase: Phase::Receiving,
                buffer: [0; BUFFER],
                filled: 0,
                written: 0,
            });
            self.poll.register(&connection.stream, token, both);
            self.process(token)?;
        }
        Ok(())
    }

    /// Advances a connection until it would block, and removes it when its response is sent.
    fn process(&mut self, token: Token) -> io::Result<()> {
        let connection = &mut self.connections[token.0];
        if connection.process()? {
            self.poll.deregister(&connection.stream);
            self.connections.remove(token.0);
        }
        Ok(())
    }
}

impl Connection<'_> {
    /// Advances the connection until it would block, and returns whether the response is sent.
    fn process(&mut self) -> io::Result<bool> {
        loop {
            let (done, readiness) = match self.phase {
                Phase::Receiving if self.ready.contains(Readiness::READABLE) => (
                    self.stream.read(&mut self.buffer[self.filled..]),
                    Readiness::READABLE,
                ),
                Phase::Sending if self.ready.contains(Readiness::WRITABLE) => (
                    self.stream.write(&self.buffer[self.written..self.filled]),
                    Readiness::WRITABLE,
                ),
                _ => return Ok(false),
            };
            let size = match done {
                Ok(size) => size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.ready = self.ready.without(readiness);
                    return Ok(false);
                }
                Err(error) => return Err(error),
            };
            match self.phase {
                Phase::Receiving => {
                    self.filled += size;
                    if self.buffer[..self.filled].contains(&b'\n') {
                        self.phase = Phase::Sending;
                    }
                }
                Phase::Sending => {
                    self.written += size;
                    if self.written == self.filled {
                        return Ok(true);
                    }
                }
            }
        }
    }
}
