//! Messages that are due at fixed times, whether earlier ones were answered or not (an open-loop
//! load).

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::{Events, Token};

use super::stream::Talking;
use super::{ANSWER_TIMEOUT, Peer, registered, silence, wait};
use crate::latency::histogram;

/// The messages, and their times.
#[derive(Clone, Debug)]
pub struct Paced {
    /// The number of connections.
    pub connections: usize,
    /// The message.
    pub request: Vec<u8>,
    /// The number of bytes of the answer.
    pub answer: usize,
    /// The number of messages that are due per second.
    pub rate: u32,
    /// The duration of the load.
    pub duration: Duration,
}

impl Paced {
    /// Loads the server at `address`. Returns for each message, in nanoseconds, the time from when
    /// it was due to its answer. This includes the time for which a message waits because all
    /// connections are busy. The calling thread does not sleep, so it needs its own core.
    pub fn run(&self, address: SocketAddr) -> Result<Histogram<u64>> {
        let new = || Talking::new(address, &self.request, self.answer);
        let (mut poll, mut peers) = registered(self.connections, new)?;
        let mut events = Events::with_capacity(self.connections);
        let mut buffer = vec![0; crate::servers::PIECE];
        let mut latencies = histogram();
        let mut idle: VecDeque<usize> = (0..self.connections).collect();
        let mut due_of = vec![None; self.connections];
        let mut waiting = VecDeque::new();
        let count = (self.duration.as_secs_f64() * f64::from(self.rate)) as u32;
        let start = Instant::now();
        let due = |number: u32| start + Duration::from_secs(1) * number / self.rate;
        let last = start + self.duration + ANSWER_TIMEOUT;
        let mut next = 0;
        while latencies.len() < u64::from(count) {
            let now = Instant::now();
            if now > last {
                return Err(match latencies.len() {
                    0 => silence(),
                    answered => slow(answered, count),
                });
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
}

fn slow(answered: u64, count: u32) -> Error {
    let text =
        format!("the server answered {answered} of {count} messages in time; lower the rate");
    Error::new(ErrorKind::TimedOut, text)
}
