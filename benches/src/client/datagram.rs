//! Messages in datagrams.

use std::io::{ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::event::{Event, Source};
use mio::net::UdpSocket;

use super::{Done, Peer, Until, silence, unless_blocked};
use crate::latency::histogram;
use crate::servers::QUESTION;

/// The number of datagrams of a flood between two readings of the clock.
const DATAGRAMS_PER_CLOCK_READ: u64 = 64;
/// A question may be lost in the flood. Then it is sent again after this time.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const QUESTIONS: usize = 50;

/// A socket that has sent a datagram and waits for its return.
pub(super) struct Asking {
    socket: UdpSocket,
    datagram: Vec<u8>,
}

impl Asking {
    pub(super) fn new(address: SocketAddr, length: usize) -> Result<Self> {
        let socket = connected(address)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: UdpSocket::from_std(socket),
            datagram: vec![7; length],
        })
    }
}

fn connected(address: SocketAddr) -> Result<std::net::UdpSocket> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
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
pub(super) fn flood(address: SocketAddr, length: usize, until: Until) -> Result<Done> {
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
