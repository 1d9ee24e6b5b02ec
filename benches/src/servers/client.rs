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
    /// Each of a number of connections sends these bytes, in pieces of at most [`PIECE`], and waits
    /// for a number of bytes.
    Stream(usize, Vec<u8>, usize),
    /// Each of a number of sockets sends a datagram of a length, and waits for it to come back.
    Datagrams(usize, usize),
    /// One socket sends datagrams of this length, and waits for no answer.
    Flood(usize),
}

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After this time, but not before the first answer.
    Elapsed(Duration),
    /// When each connection or socket has sent this many messages.
    Each(u64),
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
            Self::Stream(connections, request, answer) => {
                let new = || Talking::new(address, request, *answer);
                let (done, _open) = exchange(*connections, until, new)?;
                Ok((done, at_end()?))
            }
            Self::Datagrams(sockets, length) => {
                let new = || Asking::new(address, *length);
                let (done, _open) = exchange(*sockets, until, new)?;
                Ok((done, at_end()?))
            }
            Self::Flood(length) => Ok((flood(address, *length, until)?, at_end()?)),
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

/// Makes peers and registers them with a poll.
fn registered<P: Peer>(count: usize, new: impl Fn() -> Result<P>) -> Result<(Poll, Vec<P>)> {
    let poll = Poll::new()?;
    let both = Interest::READABLE | Interest::WRITABLE;
    let peers = (0..count).map(|token| {
        let mut peer = new()?;
        let source = peer.source();
        poll.registry().register(source, Token(token), both)?;
        Ok(peer)
    });
    let peers = peers.collect::<Result<_>>()?;
    Ok((poll, peers))
}

/// Waits for events. A signal does not end the wait.
fn wait(poll: &mut Poll, events: &mut Events, timeout: Duration) -> Result<()> {
    loop {
        match poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Returns the result, and the peers, which are still open.
fn exchange<P: Peer>(
    count: usize,
    until: Until,
    new: impl Fn() -> Result<P>,
) -> Result<(Done, Vec<P>)> {
    let (mut poll, mut peers) = registered(count, new)?;
    let mut events = Events::with_capacity(count);
    let mut buffer = vec![0; PIECE];
    let mut complete = vec![0_u64; count];
    let mut busy = count;
    let mut latencies = histogram();
    let start = Instant::now();
    let mut sent = vec![start; count];
    for peer in &mut peers {
        peer.begin()?;
    }
    let mut messages = 0;
    while busy > 0 && (messages == 0 || !until.is_past(start)) {
        wait(&mut poll, &mut events, ANSWER_TIMEOUT)?;
        if events.is_empty() {
            return Err(silence());
        }
        for event in &events {
            let Token(index) = event.token();
            if peers[index].proceed(event, &mut buffer)? {
                complete[index] += 1;
                messages += 1;
                let now = Instant::now();
                latencies.saturating_record((now - sent[index]).as_nanos() as u64);
                sent[index] = now;
                match until {
                    Until::Each(messages) if complete[index] == messages => busy -= 1,
                    _ => peers[index].begin()?,
                }
            }
        }
    }
    let done = Done {
        messages,
        elapsed: start.elapsed(),
        latencies,
    };
    Ok((done, peers))
}

/// Sends messages over connections at fixed times, `rate` per second, whether earlier ones were
/// answered or not (an open-loop load). Returns for each message, in nanoseconds, the time from
/// when it was due to its answer. This includes the time for which a message waits because all
/// connections are busy. The calling thread does not sleep, so it needs its own core.
pub fn pace(
    address: SocketAddr,
    (connections, request, answer): (usize, &[u8], usize),
    rate: u32,
    duration: Duration,
) -> Result<Histogram<u64>> {
    let new = || Talking::new(address, request, answer);
    let (mut poll, mut peers) = registered(connections, new)?;
    let mut events = Events::with_capacity(connections);
    let mut buffer = vec![0; PIECE];
    let mut latencies = histogram();
    let mut idle: VecDeque<usize> = (0..connections).collect();
    let mut due_of = vec![None; connections];
    let mut waiting = VecDeque::new();
    let count = (duration.as_secs_f64() * f64::from(rate)) as u32;
    let start = Instant::now();
    let due = |number: u32| start + Duration::from_secs(1) * number / rate;
    let last = start + duration + ANSWER_TIMEOUT;
    let mut next = 0;
    while latencies.len() < u64::from(count) {
        let now = Instant::now();
        if now > last {
            let answered = latencies.len();
            let text =
                format!("the server answered {answered} of {count} messages; lower the rate");
            return Err(Error::new(ErrorKind::TimedOut, text));
        }
        while next < count && due(next) <= now {
            waiting.push_back(due(next));
            next += 1;
        }
        while let (Some(&peer), Some(&due)) = (idle.front(), waiting.front()) {
            idle.pop_front();
            waiting.pop_front();
            due_of[peer] = Some(due);
            peers[peer].begin()?;
        }
        wait(&mut poll, &mut events, Duration::ZERO)?;
        for event in &events {
            let Token(peer) = event.token();
            if let Some(due) = due_of[peer]
                && peers[peer].proceed(event, &mut buffer)?
            {
                latencies.saturating_record(due.elapsed().as_nanos() as u64);
                due_of[peer] = None;
                idle.push_back(peer);
            }
        }
    }
    Ok(latencies)
}

impl Until {
    fn is_past(self, start: Instant) -> bool {
        matches!(self, Self::Elapsed(duration) if start.elapsed() >= duration)
    }
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
        Until::Elapsed(_) => u64::MAX,
    };
    while left > 0 && !until.is_past(start) {
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
