//! Requests that come at fixed times, and the latency of each.
//!
//! A generator that waits for an answer before it sends again sends less while the server stalls,
//! and so misses the latencies that it should measure (coordinated omission). Here the time of each
//! request is fixed beforehand. Its latency counts from that time, whatever the generator, the
//! queues and the workers do meanwhile.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::sync::{mpsc, oneshot};

use crate::executors::{Executor, Spawn, all};
use crate::record::Figure;
use crate::workloads::{self, MICROSECOND, burn};

/// The percentiles that a comparison shows.
pub const PERCENTILES: &[Figure] = &[
    Figure::less("p50", "us"),
    Figure::less("p90", "us"),
    Figure::less("p99", "us"),
    Figure::less("p99.9", "us"),
    Figure::less("worst", "us"),
];

/// A request that is not done this long after the last one came is lost.
const LOSS_TIMEOUT: Duration = Duration::from_secs(20);
/// Marks a request that is not done.
const PENDING: u64 = u64::MAX;

const FAN: usize = 16;
const DEPTH: u32 = 4;
const LINKS: usize = 4;
/// One of this many requests is long, or continues for long.
const RARE: usize = 50;
const LONG: u64 = 2_000 * MICROSECOND;
const SLOW: u64 = 10_000 * MICROSECOND;

/// The work of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A task that computes for 5 us; every 50th computes for 2 ms.
    Skewed,
    /// A tree of tasks with 16 leaves.
    ForkJoin,
    /// 16 tasks, and one that waits for all of them.
    FanOut,
    /// A task that sends a request down a chain of 4 tasks, which all requests share.
    Chain,
    /// A task that spawns another, which finishes the request; every 50th then computes for 10 ms.
    SlowPoll,
}

impl Shape {
    /// All shapes, in the order of tables, and their names.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Skewed, "skewed requests, one in 50 of 2 ms"),
        (Self::ForkJoin, "fork-join of 16 leaves"),
        (Self::FanOut, "fan-out to 16 tasks and in"),
        (Self::Chain, "request and response over 4 tasks"),
        (Self::SlowPoll, "a slow poll of 10 ms in one of 50"),
    ];

    /// Sends `rate` requests a second for `duration`, and returns the latencies in nanoseconds.
    pub fn run<E: Executor>(
        self,
        executor: &E,
        rate: u32,
        duration: Duration,
    ) -> Result<Histogram<u64>> {
        let count = (duration.as_secs_f64() * f64::from(rate)) as u32;
        let spawner = executor.spawner();
        let board = Board::new(count as usize);
        // The calling thread is no worker, so it may sleep.
        executor.block_on(async {
            let chain = (self == Self::Chain).then(|| workloads::chain(spawner, LINKS));
            precise();
            let start = Instant::now();
            for number in 0..count {
                let due = start + Duration::from_secs(1) * number / rate;
                if let Some(early) = due.checked_duration_since(Instant::now()) {
                    thread::sleep(early);
                }
                let pending = Pending {
                    board: Arc::clone(&board),
                    number: number as usize,
                    due,
                };
                self.request(spawner, pending, chain.as_ref());
            }
        });
        let latencies = board.wait();
        // Work that continues after its answer must end before the next contestant runs.
        while Arc::strong_count(&board) > 1 && latencies.is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        latencies
    }

    fn request<S: Spawn>(
        self,
        spawner: S,
        pending: Pending,
        chain: Option<&mpsc::UnboundedSender<workloads::Request>>,
    ) {
        let rare = pending.number % RARE == RARE - 1;
        match self {
            Self::Skewed => spawner.spawn(async move {
                burn(if rare { LONG } else { 5 * MICROSECOND });
                pending.finish();
            }),
            Self::ForkJoin => spawner.spawn(async move {
                workloads::tree(spawner, DEPTH).await;
                pending.finish();
            }),
            Self::FanOut => spawner.spawn(async move {
                let part = |_| spawner.spawn_joined(async { burn(2 * MICROSECOND) });
                all((0..FAN).map(part).collect()).await;
                pending.finish();
            }),
            Self::Chain => {
                let chain = chain.expect("there is a chain for it").clone();
                spawner.spawn(async move {
                    let (request, answer) = oneshot::channel();
                    chain.send(request).expect("the chain is there");
                    answer.await.expect("the chain answers");
                    pending.finish();
                });
            }
            Self::SlowPoll => {
                let board = Arc::clone(&pending.board);
                spawner.spawn(async move {
                    spawner.spawn(async move {
                        burn(5 * MICROSECOND);
                        pending.finish();
                    });
                    if rare {
                        burn(SLOW);
                    }
                    drop(board);
                });
            }
        }
    }
}

/// Returns the [`PERCENTILES`] of latencies in nanoseconds.
pub fn percentiles(latencies: &Histogram<u64>) -> [f64; 5] {
    [50.0, 90.0, 99.0, 99.9, 100.0]
        .map(|percentile| latencies.value_at_percentile(percentile) as f64 / 1e3)
}

/// Makes a histogram of latencies in nanoseconds, up to a minute, with three digits.
pub fn histogram() -> Histogram<u64> {
    let minute = Duration::from_secs(60).as_nanos() as u64;
    Histogram::new_with_bounds(1, minute, 3).expect("the bounds are apart")
}

/// Makes the system wake the calling thread in time, and not some 50 us later.
pub(crate) fn precise() {
    // If this fails, each request of every contestant is a little later.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Holds the latency of each request.
struct Board(Box<[AtomicU64]>);

/// A request in flight.
struct Pending {
    board: Arc<Board>,
    number: usize,
    due: Instant,
}

impl Pending {
    fn finish(self) {
        let latency = self.due.elapsed().as_nanos() as u64;
        // ORDERING: pairs with the load in `Board::wait`; it publishes nothing else.
        self.board.0[self.number].store(latency, Ordering::Relaxed);
    }
}

impl Board {
    fn new(count: usize) -> Arc<Self> {
        let places = (0..count).map(|_| AtomicU64::new(PENDING));
        Arc::new(Self(places.collect()))
    }

    /// Waits until all requests are done.
    fn wait(&self) -> Result<Histogram<u64>> {
        let mut latencies = histogram();
        let last = Instant::now() + LOSS_TIMEOUT;
        for place in &self.0 {
            loop {
                // ORDERING: pairs with the store in `Pending::finish`.
                let latency = place.load(Ordering::Relaxed);
                if latency != PENDING {
                    latencies.saturating_record(latency);
                    break;
                }
                if Instant::now() > last {
                    let text = format!("a request was not done within {LOSS_TIMEOUT:?}");
                    return Err(Error::new(ErrorKind::TimedOut, text));
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests;
