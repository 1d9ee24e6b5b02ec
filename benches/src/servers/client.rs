//! The load of a server: one thread that keeps a message in flight on each of its connections. It
//! is the same for every kind of server.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{self, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::event::{Event, Source};
use mio::net::{TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token};

use super::{PIECE, QUESTION};
use crate::latency::histogram;

/// A server that sends nothing for this time does not answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of datagrams of a flood between two readings of the clock.
const DATAGRAMS_PER_CLOCK_READ: u64 = 64;
/// A question may be lost in the flood. Then it is sent again after this time.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const QUESTIONS: usize = 50;

/// What the client sends, and what it waits for.
#[derive(Clone, Debug)]
pub enum Load {
    /// Each connection sends these bytes, and waits for a number of bytes.
    Stream {
        /// The number of connections.
        connections: usize,
        /// The message, sent in pieces of at most [`PIECE`](super::PIECE).
        request: Vec<u8>,
        /// The number of bytes of the answer.
        answer: usize,
    },
    /// Each socket sends a datagram of this length, and waits for it to come back.
    Datagrams {
        /// The number of sockets.
        sockets: usize,
        /// The number of bytes.
        length: usize,
    },
    /// One socket sends datagrams of this length, and waits for no answer.
    Flood {
        /// The number of bytes.
        length: usize,
    },
}

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After this time, but not before the first answer.
    Elapsed(Duration),
    /// When each connection or socket has sent this many messages.
    Each(u64),
    /// When all messages that were due within the duration, at this rate per second, are answered,
    /// whether earlier ones were answered or not (an open-loop load). The latency of a message
    /// counts from when it was due, also while it waits because all connections are busy. The
    /// calling thread does not sleep, so it needs its own core.
    Paced(u32, Duration),
}

/// The result of a load.
#[derive(Clone, Debug)]
pub struct Done {
    /// The number of messages that were answered or, for a flood, received.
    pub messages: u64,
    /// The duration of the load.
    pub elapsed: Duration,
    /// The time from each message to its answer, in nanoseconds; empty for a flood.
    pub latencies: Histogram<u64>,
}

impl Load {
    /// Loads the server at `address`. Returns the result, and the output of `at_end`, which runs
    /// while the connections are still open.
    pub fn run<R>(
        &self,
        address: SocketAddr,
        until: Until,
        at_end: impl FnOnce() -> Result<R>,
    ) -> Result<(Done, R)> {
        match self {
            Self::Stream {
                connections,
                request,
                answer,
            } => {
                let new = || Talking::new(address, request, *answer);
                let (done, _open) = exchange(*connections, until, new)?;
                Ok((done, at_end()?))
            }
            Self::Datagrams { sockets, length } => {
                let new = || Asking::new(address, *length);
                let (done, _open) = exchange(*sockets, until, new)?;
                Ok((done, at_end()?))
            }
            Self::Flood { length } => {
                let done = flood(address, *length, until)?;
                Ok((done, at_end()?))
            }
        }
    }
}

/// One end of a connection, with a message in flight.
trait Peer {
    /// Returns the source whose events are polled.
    fn source(&mut self) -> &mut impl Source;

    /// Sends a message, as far as the socket accepts it.
    fn begin(&mut self) -> Result<()>;

    /// Continues after an event. Returns whether that completes the message.
    fn proceed(&mut self, event: &Event, buffer: &mut [u8]) -> Result<bool>;
}

/// Returns the result, and the peers, which are still open.
fn exchange<P: Peer>(
    count: usize,
    until: Until,
    new: impl Fn() -> Result<P>,
) -> Result<(Done, Vec<P>)> {
    let mut poll = Poll::new()?;
    let both = Interest::READABLE | Interest::WRITABLE;
    let peers = (0..count).map(|token| {
        let mut peer = new()?;
        let source = peer.source();
        poll.registry().register(source, Token(token), both)?;
        Ok(peer)
    });
    let mut peers = peers.collect::<Result<Vec<_>>>()?;
    let mut events = Events::with_capacity(count);
    let mut buffer = vec![0; PIECE];
    let mut complete = vec![0_u64; count];
    let mut idle: VecDeque<usize> = (0..count).collect();
    let mut latencies = histogram();
    let start = Instant::now();
    let (mut begun, mut last, mut sent) = (0, start, vec![None; count]);
    while !until.is_past(start, latencies.len(), count) {
        while let Some(&peer) = idle.front()
            && let Some(due) = until.due(start, Instant::now(), begun, complete[peer])
        {
            idle.pop_front();
            begun += 1;
            sent[peer] = Some(due);
            peers[peer].begin()?;
        }
        let timeout = match until {
            Until::Paced(..) => Duration::ZERO,
            _ => ANSWER_TIMEOUT,
        };
        match poll.poll(&mut events, Some(timeout)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        }
        if events.is_empty() && last.elapsed() >= ANSWER_TIMEOUT {
            return Err(silence());
        }
        for event in &events {
            let Token(peer) = event.token();
            if let Some(due) = sent[peer]
                && peers[peer].proceed(event, &mut buffer)?
            {
                complete[peer] += 1;
                last = Instant::now();
                latencies.saturating_record((last - due).as_nanos() as u64);
                sent[peer] = until.due(start, last, begun, complete[peer]);
                if sent[peer].is_some() {
                    begun += 1;
                    peers[peer].begin()?;
                } else {
                    idle.push_back(peer);
                }
            }
        }
    }
    let done = Done {
        messages: latencies.len(),
        elapsed: start.elapsed(),
        latencies,
    };
    Ok((done, peers))
}

impl Until {
    /// Whether a load is done, after a number of answers over all connections.
    fn is_past(self, start: Instant, answers: u64, connections: usize) -> bool {
        match self {
            Self::Elapsed(duration) => answers > 0 && start.elapsed() >= duration,
            Self::Each(messages) => answers >= messages * connections as u64,
            Self::Paced(rate, duration) => answers >= paced(rate, duration),
        }
    }

    /// Returns when the next message was due, if it is now, after a number of messages over all
    /// connections and a number of answers on this one.
    fn due(self, start: Instant, now: Instant, begun: u64, complete: u64) -> Option<Instant> {
        match self {
            Self::Elapsed(_) => Some(now),
            Self::Each(messages) => (complete < messages).then_some(now),
            Self::Paced(rate, duration) => {
                let due = start + Duration::from_secs(1) * begun as u32 / rate;
                (begun < paced(rate, duration) && due <= now).then_some(due)
            }
        }
    }
}

/// Returns the number of messages that are due within a duration.
fn paced(rate: u32, duration: Duration) -> u64 {
    (duration.as_secs_f64() * f64::from(rate)) as u64
}

fn silence() -> Error {
    let text = format!("the server did not answer within {ANSWER_TIMEOUT:?}");
    Error::new(ErrorKind::TimedOut, text)
}

/// Returns the number of bytes, or `None` if the socket would block.
fn unless_blocked(result: Result<usize>) -> Result<Option<usize>> {
    match result {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// A connection that has sent part of a request, or received part of an answer.
struct Talking<'a> {
    stream: TcpStream,
    request: &'a [u8],
    answer: usize,
    sent: usize,
    received: usize,
}

impl<'a> Talking<'a> {
    fn new(address: SocketAddr, request: &'a [u8], answer: usize) -> Result<Self> {
        let stream = net::TcpStream::connect(address)?;
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

/// A socket that has sent a datagram and waits for its return.
struct Asking {
    socket: UdpSocket,
    datagram: Vec<u8>,
}

impl Asking {
    fn new(address: SocketAddr, length: usize) -> Result<Self> {
        let socket = connected(address)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: UdpSocket::from_std(socket),
            datagram: vec![7; length],
        })
    }
}

fn connected(address: SocketAddr) -> Result<net::UdpSocket> {
    let socket = net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(address)?;
    Ok(socket)
}

impl Peer for Asking {
    fn source(&mut self) -> &mut impl Source {
        &mut self.socket
    }

    fn begin(&mut self) -> Result<()> {
        self.socket.send(&self.datagram).map(drop)
    }

    fn proceed(&mut self, event: &Event, buffer: &mut [u8]) -> Result<bool> {
        Ok(event.is_readable() && unless_blocked(self.socket.recv(buffer))?.is_some())
    }
}

/// Sends datagrams without waiting, and then asks how many arrived.
fn flood(address: SocketAddr, length: usize, until: Until) -> Result<Done> {
    let socket = connected(address)?;
    let datagram = vec![7; length];
    let start = Instant::now();
    let mut left = match until {
        Until::Each(messages) => messages,
        _ => u64::MAX,
    };
    while left > 0 && !matches!(until, Until::Elapsed(limit) if start.elapsed() >= limit) {
        let burst = left.min(DATAGRAMS_PER_CLOCK_READ);
        for _ in 0..burst {
            socket.send(&datagram)?;
        }
        left -= burst;
    }
    let elapsed = start.elapsed();
    socket.set_read_timeout(Some(ASK_AGAIN))?;
    let mut answer = [0; 8];
    for _ in 0..QUESTIONS {
        socket.send(&[0; QUESTION])?;
        match socket.recv(&mut answer) {
            Ok(_) => {
                return Ok(Done {
                    messages: u64::from_le_bytes(answer),
                    elapsed,
                    latencies: histogram(),
                });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Err(silence())
}

#[cfg(test)]
mod tests;
