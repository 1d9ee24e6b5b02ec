//! Messages that are due at fixed times, answered or not: open-loop.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::{Events, Token};

use super::stream::Talking;
use super::{PATIENCE, Peer, registered, silence, wait};
use crate::latency::histogram;

/// What is sent, and when.
#[derive(Clone, Debug)]
pub struct Paced {
    /// How many connections.
    pub connections: usize,
    /// What is sent.
    pub request: Vec<u8>,
    /// How many bytes come back.
    pub answer: usize,
    /// How many messages are due in a second.
    pub rate: u32,
    /// For how long.
    pub duration: Duration,
}

impl Paced {
    /// Loads the server at `address`, and returns in nanoseconds how long after it
    /// was due each message was answered: what had to wait for a connection, since
    /// all had one under way, has waited since then. The calling thread does not
    /// sleep: it wants a core of its own.
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
        let last = start + self.duration + PATIENCE;
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
