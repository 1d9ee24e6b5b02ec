//! Messages over a connection.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::SocketAddr;

use mio::event::{Event, Source};
use mio::net::TcpStream;

use super::{Peer, unless_blocked};
use crate::servers::PIECE;

/// A connection that has sent part of a request, or received part of an answer.
pub(super) struct Talking<'a> {
    stream: TcpStream,
    request: &'a [u8],
    answer: usize,
    sent: usize,
    received: usize,
}

impl<'a> Talking<'a> {
    pub(super) fn new(address: SocketAddr, request: &'a [u8], answer: usize) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            request,
            answer,
            sent: 0,
            received: 0,
        })
    }

    fn send(&mut self) -> Result<()> {
        while self.sent < self.request.len() {
            let rest = &self.request[self.sent..];
            let piece = &rest[..rest.len().min(PIECE)];
            match unless_blocked(self.stream.write(piece))? {
                Some(length) => self.sent += length,
                None => break,
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<()> {
        while self.received < self.answer {
            match unless_blocked(self.stream.read(buffer))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(length) => {
                    self.received += length;
                    // The socket is drained, and an event announces new data.
                    if length < buffer.len() {
                        break;
                    }
                }
                None => break,
            }
        }
        Ok(())
    }
}

impl Peer for Talking<'_> {
    fn source(&mut self) -> &mut impl Source {
        &mut self.stream
    }

    fn begin(&mut self) -> Result<()> {
        self.sent = 0;
        self.received = 0;
        self.send()
    }

    fn proceed(&mut self, event: &Event, buffer: &mut [u8]) -> Result<bool> {
        if event.is_writable() {
            self.send()?;
        }
        // After the last message an event may come without data.
        let waits = self.received < self.answer;
        if waits && event.is_readable() {
            self.receive(buffer)?;
        }
        Ok(waits && self.received >= self.answer)
    }
}
