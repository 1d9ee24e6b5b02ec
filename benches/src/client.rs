//! The load of a server: one thread that keeps a message in flight on each of its connections. It
//! is the same for every kind of server.

mod datagram;
mod paced;
mod stream;

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::event::{Event, Source};
use mio::{Events, Interest, Poll, Token};

use crate::latency::histogram;
use datagram::{Asking, flood};
pub use paced::Paced;
use stream::Talking;

/// A server that sends nothing for this time does not answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What the client sends, and what it waits for.
#[derive(Clone, Debug)]
pub enum Load {
    /// Each connection sends these bytes, and waits for a number of bytes.
    Stream {
        /// The number of connections.
        connections: usize,
        /// The message, sent in pieces of at most [`PIECE`](crate::servers::PIECE).
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
    let mut buffer = vec![0; crate::servers::PIECE];
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

#[cfg(test)]
mod tests;
