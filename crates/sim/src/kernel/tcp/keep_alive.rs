//! How a connection ends whose peer does not answer: by keep-alive probes (`SO_KEEPALIVE`) and by
//! `TCP_USER_TIMEOUT`, as on Linux.
//!
//! Probes that are answered change nothing, so there are none while the other end can answer. A
//! fault, or the loss of a reset, begins them at the time at which the next one would be sent, and
//! an answer ends them. So an idle connection has no event in the queue: it does not keep a
//! deadlock from being found, nor cost anything. Probes without an answer are few, since they end
//! the connection. The loss of single probes by [`Link::loss`](crate::Link::loss) is not simulated.

use libc::c_int;

use super::{ATTEMPTS, EndpointId, HEADERS, LONGEST_TIME_OUT, TIME_OUT, TcpEvent};
use crate::kernel::files::FileId;
use crate::kernel::link::Fate;
use crate::kernel::{Event, Kernel, Packet};

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// The options of a socket that end a connection, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeOuts {
    /// `SO_KEEPALIVE`.
    has_keep_alive: bool,
    /// `TCP_KEEPIDLE`: the time without a word from the other end before the first probe.
    idle: u64,
    /// `TCP_KEEPINTVL`: the time from one probe without an answer to the next.
    interval: u64,
    /// `TCP_KEEPCNT`: how many of them end the connection.
    count: u32,
    /// `TCP_USER_TIMEOUT`: how long sent data may have no answer. 0: as long as there are attempts.
    user: u64,
}

impl Default for TimeOuts {
    /// The defaults of Linux.
    fn default() -> Self {
        Self {
            has_keep_alive: false,
            idle: 7_200 * SECOND,
            interval: 75 * SECOND,
            count: 9,
            user: 0,
        }
    }
}

impl TimeOuts {
    /// Whether it is one of these options.
    pub(crate) fn has(level: c_int, option: c_int) -> bool {
        Self::default().set(level, option, 1)
    }

    /// Sets an option to a value that the system has accepted. Returns whether it is one of these.
    fn set(&mut self, level: c_int, option: c_int, value: c_int) -> bool {
        let number = value.unsigned_abs();
        match (level, option) {
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => self.has_keep_alive = value != 0,
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => self.idle = u64::from(number) * SECOND,
            (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => self.interval = u64::from(number) * SECOND,
            (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => self.count = number,
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                self.user = u64::from(number) * MILLISECOND;
            }
            _ => return false,
        }
        true
    }
}

/// What a probe finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Alive,
    /// The other host does not know the connection, such as after a restart.
    Reset,
    Nothing,
}

impl Kernel {
    /// A program has set an option of a stream socket.
    pub(crate) fn set_time_out(
        &mut self,
        file: FileId,
        (level, option): (c_int, c_int),
        value: c_int,
    ) {
        self.files.get_mut(file).time_outs.set(level, option, value);
        if let Some(id) = self.connection(file) {
            if let Some(end) = self.ends.get(id) {
                end.probe_at = None;
            }
            self.watch(id);
        }
    }

    fn time_outs(&mut self, id: EndpointId) -> TimeOuts {
        let file = self.ends.get(id).and_then(|end| end.file);
        file.map_or_else(TimeOuts::default, |file| self.files.get(file).time_outs)
    }

    /// A fault has begun or ended: connections may have no answer from now on.
    pub(crate) fn watch_connections(&mut self) {
        let ends = self.ends.ends.iter();
        let ids = ends.map(|(index, end)| EndpointId {
            index,
            generation: end.generation,
        });
        for id in ids.collect::<Vec<_>>() {
            self.watch(id);
        }
    }

    /// Begins to probe a connection with keep-alive, if the other end may not answer.
    pub(super) fn watch(&mut self, id: EndpointId) {
        let time_outs = self.time_outs(id);
        if !time_outs.has_keep_alive || self.probe(id).is_none_or(|it| it == Answer::Alive) {
            return;
        }
        let now = self.now;
        let end = self.ends.of_socket(id);
        if end.probe_at.is_none() {
            // The earlier probes were answered.
            let passed = now - end.last_heard;
            end.last_heard = now - passed % time_outs.idle;
            end.probes = 0;
            let at = end.last_heard + time_outs.idle;
            self.probe_at(id, at);
        }
    }

    fn probe_at(&mut self, id: EndpointId, at: u64) {
        self.ends.of_socket(id).probe_at = Some(at);
        self.push_at(at, Event::Tcp(TcpEvent::KeepAlive { end: id }));
    }

    /// What a probe finds now. `None`: the connection is not open, or is one of a Unix stream.
    fn probe(&mut self, id: EndpointId) -> Option<Answer> {
        let end = self.ends.get(id)?;
        let (from, to, other) = (end.host, end.peer_host, end.other?);
        if end.is_unix() || end.is_closed || end.has_ended() {
            return None;
        }
        let passes = self.links.passes(from, to) && self.links.passes(to, from);
        let is_open = self
            .ends
            .get(other)
            .is_some_and(|end| !end.is_broken && end.error.is_none());
        Some(match (passes && self.hosts[to].is_up, is_open) {
            (false, _) => Answer::Nothing,
            (true, true) => Answer::Alive,
            (true, false) => Answer::Reset,
        })
    }

    /// It is time for a probe.
    pub(super) fn keep_alive(&mut self, id: EndpointId) {
        let (now, time_outs) = (self.now, self.time_outs(id));
        let answer = self.probe(id);
        let Some(end) = self.ends.get(id) else { return };
        // Otherwise there is a later one.
        if end.probe_at != Some(now) {
            return;
        }
        end.probe_at = None;
        let (true, Some(answer)) = (time_outs.has_keep_alive, answer) else {
            return;
        };
        let elapsed = now - end.last_heard;
        if elapsed < time_outs.idle {
            end.probes = 0;
            let at = end.last_heard + time_outs.idle;
            return self.probe_at(id, at);
        }
        // Data that waits for the link is sent again, and times out by itself.
        if !end.kept.is_empty() {
            return self.probe_at(id, now + time_outs.idle);
        }
        let has_timed_out = match time_outs.user {
            0 => end.probes >= time_outs.count,
            user => end.probes > 0 && elapsed >= user,
        };
        let (other, way) = (end.other, (end.host, end.peer_host));
        if has_timed_out {
            self.fail(id, libc::ETIMEDOUT);
            if let Some(other) = other {
                self.send_reset(way, other);
            }
            return self.ends.remove_if_done(id);
        }
        match answer {
            Answer::Alive => end.last_heard = now,
            Answer::Nothing | Answer::Reset => {
                end.probes += 1;
                self.probe_at(id, now + time_outs.interval);
                if answer == Answer::Reset {
                    self.reset_to(id);
                }
            }
        }
    }

    /// Tells an end at another host that its connection is gone.
    pub(super) fn send_reset(&mut self, way: (usize, usize), end: EndpointId) {
        let reset = Packet::Tcp(TcpEvent::Reset { end });
        if self.send_packet(way, HEADERS, reset) == Fate::Lost {
            self.watch(end);
        }
    }

    /// Schedules the next attempt to send what an end keeps.
    pub(super) fn send_again_later(&mut self, id: EndpointId, attempt: u32) {
        let user = self.time_outs(id).user;
        let (now, end) = (self.now, self.ends.of_socket(id));
        let mut time = LONGEST_TIME_OUT.min(TIME_OUT << (attempt - 1).min(10));
        if user > 0 {
            time = time.min((end.kept_since + user).saturating_sub(now).max(1));
        }
        self.push_in(time, Event::Tcp(TcpEvent::SendAgain { end: id, attempt }));
    }

    /// Whether an end gives up to send what it keeps.
    pub(super) fn has_given_up(&mut self, id: EndpointId, attempt: u32) -> bool {
        let user = self.time_outs(id).user;
        match user {
            0 => attempt > ATTEMPTS,
            user => self.now - self.ends.of_socket(id).kept_since >= user,
        }
    }
}
