//! What happened in a simulation, to compare two runs of a seed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// How many of the last events of a host [`compare_written`] returns.
const LAST_EVENTS: usize = 5;
/// The description of [`Record::Ending`].
const ENDING: &str = "the end of the simulation";

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A worker of a host was stepped.
    Step { host: usize, worker: usize },
    /// A thread that had waited went on.
    Resumed { host: usize },
    /// A thread began to wait.
    Blocked { host: usize },
    /// Bytes were sent by a host to another, with this hash.
    Sent {
        from: usize,
        to: usize,
        bytes: usize,
        hash: u64,
    },
    /// The next event of this kind came.
    Event(&'static str),
    /// The program asked for random bytes.
    Random { bytes: usize },
    /// All clients have ended, or the simulation has failed. What follows is the end of its hosts.
    Ending,
}

/// The records of a run: a number that depends on all of them and, if they are kept, themselves.
pub(crate) struct Trace {
    hash: u64,
    count: u64,
    kept: Option<Vec<(u64, Record)>>,
}

impl Trace {
    pub(crate) fn new(keeps: bool) -> Self {
        Self {
            hash: 0,
            count: 0,
            kept: keeps.then(Vec::new),
        }
    }

    pub(crate) fn add(&mut self, now: u64, record: Record) {
        let (kind, one, other) = match record {
            Record::Step { host, worker } => (1, host, worker),
            Record::Resumed { host } => (2, host, 0),
            Record::Blocked { host } => (3, host, 0),
            Record::Sent {
                from,
                to,
                bytes,
                hash,
            } => (4 ^ hash, from << 32 | to, bytes),
            Record::Event(kind) => (5, kind.len(), usize::from(kind.as_bytes()[0])),
            Record::Random { bytes } => (6, bytes, 0),
            Record::Ending => (7, 0, 0),
        };
        for word in [now, kind, one as u64, other as u64] {
            self.hash = mix(self.hash, word);
        }
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            kept.push((now, record));
        }
    }

    /// Describes the first difference of two runs.
    pub(crate) fn difference(&self, other: &Self, hosts: &[String]) -> Option<String> {
        if (self.hash, self.count) == (other.hash, other.count) {
            return None;
        }
        let (Some(one), Some(two)) = (&self.kept, &other.kept) else {
            return Some("the runs differ".to_owned());
        };
        let at = one.iter().zip(two).position(|(one, two)| one != two);
        let at = at.unwrap_or(one.len().min(two.len()));
        let show = |records: &[(u64, Record)]| {
            let (time, record) = records.get(at)?;
            Some(describe_at(&record.describe(hosts), *time))
        };
        Some(describe_difference(at, show(one), show(two)))
    }

    /// Writes the records that are kept, for [`compare_written`] to read: a line for each.
    pub(crate) fn write(&self, hosts: &[String], into: &mut impl Write) -> io::Result<()> {
        for (time, record) in self.kept.iter().flatten() {
            write!(into, "{time}\t{}", record.describe(hosts))?;
            for host in record.hosts().into_iter().flatten() {
                write!(into, "\t{}", hosts.get(host).map_or("?", String::as_str))?;
            }
            writeln!(into)?;
        }
        Ok(())
    }
}

fn describe_at(text: &str, nanos: u64) -> String {
    format!("{text} at {:?}", Duration::from_nanos(nanos))
}

/// Describes the first difference of two runs. `None`: the run has no such event.
fn describe_difference(at: usize, one: Option<String>, other: Option<String>) -> String {
    let [one, other] = [one, other].map(|event| event.unwrap_or_else(|| "the end".to_owned()));
    format!("event {at} is {one} in one run, and {other} in the other")
}

/// What [`compare_written`] finds in the traces of two runs.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// The first difference.
    pub(crate) difference: Option<String>,
    /// The time at which the first run began to end, if it did.
    pub(crate) end: Option<Duration>,
    /// The name of each host, and its last events before the end of the first run.
    pub(crate) last_events: Vec<(String, VecDeque<String>)>,
}

/// Compares two traces that [`Trace::write`] has written.
pub(crate) fn compare_written(one: impl BufRead, other: impl BufRead) -> io::Result<Comparison> {
    let mut comparison = Comparison::default();
    let (mut one, mut other) = (one.lines(), other.lines());
    for at in 0.. {
        let (one, other) = (one.next().transpose()?, other.next().transpose()?);
        if let Some(line) = &one {
            comparison.add(line);
        } else if other.is_none() || comparison.difference.is_some() {
            break;
        }
        if comparison.difference.is_none() && one != other {
            let show = |line: Option<String>| {
                let line = line?;
                let (nanos, rest) = line.split_once('\t')?;
                let text = rest.split('\t').next()?;
                Some(describe_at(text, nanos.parse().ok()?))
            };
            comparison.difference = Some(describe_difference(at, show(one), show(other)));
        }
    }
    comparison.last_events.sort();
    Ok(comparison)
}

impl Comparison {
    /// Adds the next line of the first trace.
    fn add(&mut self, line: &str) {
        let mut fields = line.split('\t');
        let time = fields.next().and_then(|nanos| nanos.parse().ok());
        let (Some(nanos), Some(text), None) = (time, fields.next(), self.end) else {
            return;
        };
        if text == ENDING {
            self.end = Some(Duration::from_nanos(nanos));
        }
        for host in fields {
            let known = self.last_events.iter().position(|(name, _)| name == host);
            let at = known.unwrap_or_else(|| {
                self.last_events.push((host.to_owned(), VecDeque::new()));
                self.last_events.len() - 1
            });
            let events = &mut self.last_events[at].1;
            if events.len() == LAST_EVENTS {
                events.pop_front();
            }
            events.push_back(describe_at(text, nanos));
        }
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
}

impl Record {
    /// The hosts that take part in it.
    fn hosts(self) -> [Option<usize>; 2] {
        match self {
            Self::Step { host, .. } | Self::Resumed { host } | Self::Blocked { host } => {
                [Some(host), None]
            }
            Self::Sent { from, to, .. } => [Some(from), (to != from).then_some(to)],
            Self::Event(_) | Self::Random { .. } | Self::Ending => [None; 2],
        }
    }

    pub(crate) fn sent(from: usize, to: usize, data: &[u8]) -> Self {
        let mut hash = 0;
        let mut words = data.chunks_exact(8);
        for word in &mut words {
            let word = word.try_into().expect("it has eight bytes");
            hash = mix(hash, u64::from_le_bytes(word));
        }
        for byte in words.remainder() {
            hash = mix(hash, u64::from(*byte));
        }
        Self::Sent {
            from,
            to,
            bytes: data.len(),
            hash,
        }
    }

    fn describe(self, hosts: &[String]) -> String {
        let name = |host: usize| hosts.get(host).map_or("?", String::as_str);
        match self {
            Self::Step { host, worker } => format!("a step of worker {worker} of {}", name(host)),
            Self::Resumed { host } => format!("a thread of {} that goes on", name(host)),
            Self::Blocked { host } => format!("a thread of {} that waits", name(host)),
            Self::Sent {
                from,
                to,
                bytes,
                hash,
            } => {
                let (from, to) = (name(from), name(to));
                format!("{bytes} bytes (hash {hash:016x}) from {from} to {to}")
            }
            Self::Event(kind) => format!("a {kind}"),
            Self::Random { bytes } => format!("a request for {bytes} random bytes"),
            Self::Ending => ENDING.to_owned(),
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} of {} events", self.hash, self.count)
    }
}
