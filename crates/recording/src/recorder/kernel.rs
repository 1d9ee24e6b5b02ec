//! Linux's statistics on the scheduling of the calling thread.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use crate::Event;

/// The shortest time between two readings of a thread. A reading takes about 30 microseconds.
const INTERVAL: Duration = Duration::from_millis(100);

/// Returns the system's number for the calling thread, or 0 if it is unknown.
pub(crate) fn thread_id() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").ok();
    let name = link.as_deref().and_then(|link| link.file_name()?.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or(0)
}

/// The kernel's counts for the calling thread, and their values at the last reading.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    /// `None` before the first reading, and on systems without these files.
    files: Option<Files>,
    next: Option<Instant>,
    former: Option<Counts>,
}

#[derive(Debug)]
struct Files {
    schedstat: File,
    status: File,
}

/// The kernel's counts since the start of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Nanoseconds in which the thread was runnable and not running.
    delayed: u64,
    voluntary: u64,
    involuntary: u64,
}

impl Delays {
    /// Returns the changes since the last call, or nothing if the last call was less than 100 ms
    /// ago.
    pub(crate) fn read(&mut self) -> impl Iterator<Item = Event> + use<> {
        let now = Instant::now();
        let is_due = self.next.is_none_or(|next| now >= next);
        if is_due {
            self.next = Some(now + INTERVAL);
        }
        let counts = is_due.then(|| self.counts()).flatten();
        let former = self.former;
        self.former = counts.or(former);
        let both = former.zip(counts);
        both.map(|(former, counts)| events(former, counts))
            .into_iter()
            .flatten()
            .flatten()
    }

    fn counts(&mut self) -> Option<Counts> {
        if self.files.is_none() {
            self.files = Some(Files {
                schedstat: File::open("/proc/thread-self/schedstat").ok()?,
                status: File::open("/proc/thread-self/status").ok()?,
            });
        }
        let files = self.files.as_ref()?;
        let mut buffer = [0; 4096];
        let length = files.schedstat.read_at(&mut buffer, 0).ok()?;
        let delayed = delayed(std::str::from_utf8(&buffer[..length]).ok()?)?;
        let length = files.status.read_at(&mut buffer, 0).ok()?;
        let status = String::from_utf8_lossy(&buffer[..length]);
        Some(Counts {
            delayed,
            voluntary: field(&status, "voluntary_ctxt_switches:")?,
            involuntary: field(&status, "nonvoluntary_ctxt_switches:")?,
        })
    }
}

fn events(former: Counts, counts: Counts) -> [Option<Event>; 2] {
    let nanos = counts.delayed.saturating_sub(former.delayed);
    let voluntary = small(counts.voluntary.saturating_sub(former.voluntary));
    let involuntary = small(counts.involuntary.saturating_sub(former.involuntary));
    [
        (nanos > 0).then_some(Event::ThreadDelayed { nanos }),
        (voluntary > 0 || involuntary > 0).then_some(Event::ContextSwitches {
            voluntary,
            involuntary,
        }),
    ]
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the second of the three numbers: the time running, the time waiting to run, and the
/// number of time slices.
fn delayed(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
