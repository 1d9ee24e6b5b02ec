//! What polls that take long do to everything else.

use std::io::{Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::executors::{NoSpares, Raddle, Spawn as _, Tokio};
use crate::latency::{histogram, percentiles, precise};
use crate::timing::Timing;
use crate::workloads::{MICROSECOND, burn};

/// A runtime that can serve a socket.
pub trait Serve: Timing + 'static {
    /// Accepts one connection and sends back each byte, until the peer closes it.
    fn echo(listener: TcpListener) -> impl Future<Output = ()> + Send + 'static;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send + 'static;
}

/// Defines the server with a library that has Tokio's names.
macro_rules! serve {
    ($runtime:ident: $library:ident) => {
        impl Serve for $runtime {
            async fn echo(listener: TcpListener) {
                use $library::io::{AsyncReadExt as _, AsyncWriteExt as _};

                let nonblocking = listener.set_nonblocking(true);
                nonblocking.expect("a socket can be nonblocking");
                let listener = $library::net::TcpListener::from_std(listener);
                let accepted = listener.expect("the reactor takes it").accept().await;
                let (mut stream, _) = accepted.expect("the client connects");
                stream.set_nodelay(true).expect("it is connected");
                let mut byte = [0];
                while matches!(stream.read(&mut byte).await, Ok(1)) {
                    if stream.write_all(&byte).await.is_err() {
                        break;
                    }
                }
            }

            fn yield_now() -> impl Future<Output = ()> + Send + 'static {
                $library::task::yield_now()
            }
        }
    };
}

serve!(Raddle: raddle);
serve!(NoSpares: raddle);
serve!(Tokio: tokio);

/// Tasks that compute beside an echo server.
#[derive(Clone, Copy, Debug)]
pub struct Mixed {
    /// The number of tasks, which compute without end.
    pub tasks: usize,
    /// How long each of their polls takes.
    pub poll: Duration,
    /// For how long they compute.
    pub time: Duration,
}

impl Mixed {
    /// Serves on `serving`, computes on `computing`, which may be the same, and sends a byte every
    /// 3 ms. Returns the [percentiles] of the time until the byte came back, in microseconds, and
    /// the computed milliseconds of one processor in each second.
    pub fn run<E: Serve>(self, serving: &E, computing: &E) -> Result<Vec<f64>> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        client.set_nodelay(true)?;
        let spawner = serving.spawner();
        serving.block_on(async { spawner.spawn(E::echo(listener)) });

        let computed = Arc::new((AtomicBool::new(true), AtomicU64::new(0)));
        let spawner = computing.spawner();
        computing.block_on(async {
            for _ in 0..self.tasks {
                spawner.spawn(compute::<E>(Arc::clone(&computed), self.poll));
            }
        });
        precise();
        let mut latencies = histogram();
        let start = Instant::now();
        while start.elapsed() < self.time {
            thread::sleep(Duration::from_millis(3));
            let sent = Instant::now();
            client.write_all(&[0])?;
            client.read_exact(&mut [0])?;
            latencies.saturating_record(sent.elapsed().as_nanos() as u64);
        }
        let (is_wanted, units) = &*computed;
        // ORDERING: a count and a flag that publish nothing.
        let count = units.load(Ordering::Relaxed);
        let rate = count as f64 / 1e2 / start.elapsed().as_secs_f64();
        // ORDERING: as above.
        is_wanted.store(false, Ordering::Relaxed);
        while Arc::strong_count(&computed) > 1 {
            thread::sleep(Duration::from_millis(1));
        }
        Ok([&percentiles(&latencies)[..], &[rate]].concat())
    }
}

/// Computes in polls that take `poll`, and counts units of 10 us.
async fn compute<E: Serve>(computed: Arc<(AtomicBool, AtomicU64)>, poll: Duration) {
    let (is_wanted, units) = &*computed;
    // ORDERING: see `run`.
    while is_wanted.load(Ordering::Relaxed) {
        let start = Instant::now();
        while start.elapsed() < poll {
            burn(10 * MICROSECOND);
            // ORDERING: see `run`.
            units.fetch_add(1, Ordering::Relaxed);
        }
        E::yield_now().await;
    }
}

/// How a poll holds its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It waits, like a call of a synchronous client.
    Sleeping,
    /// It computes.
    Computing,
}

/// Holds each worker in a poll of 500 ms, and returns how long four things wait meanwhile, in
/// milliseconds: a task that one of these polls has spawned; a timer, an event of a socket and a
/// spawn from outside 20 ms later.
pub fn stuck<E: Serve>(runtime: &E, workers: usize, hold: Hold) -> Result<Vec<f64>> {
    const HELD: Duration = Duration::from_millis(500);
    const LATER: Duration = Duration::from_millis(20);

    let spawner = runtime.spawner();
    let (sender, served) = mpsc::channel();
    let answer = move |number: usize, due: Instant| {
        // The receiver is gone if the measurement has failed.
        let _ = sender.send((number, due.elapsed()));
    };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (timed, due) = (answer.clone(), Instant::now() + 3 * LATER);
    runtime.block_on(async {
        spawner.spawn(E::echo(listener));
        spawner.spawn(async move {
            E::sleep(due.saturating_duration_since(Instant::now())).await;
            timed(1, due);
        });
    });
    // The connection is accepted and the timer set.
    thread::sleep(LATER);
    // The polls begin together.
    let (all, ended) = (Arc::new(Barrier::new(workers + 1)), Arc::new(()));
    runtime.block_on(async {
        for number in 0..workers {
            let (all, ended, answer) = (Arc::clone(&all), Arc::clone(&ended), answer.clone());
            spawner.spawn(async move {
                all.wait();
                let start = Instant::now();
                if number == 0 {
                    spawner.spawn(async move { answer(0, start) });
                }
                match hold {
                    Hold::Sleeping => thread::sleep(HELD),
                    Hold::Computing => {
                        while start.elapsed() < HELD {
                            burn(10 * MICROSECOND);
                        }
                    }
                }
                drop(ended);
            });
        }
    });
    all.wait();
    thread::sleep(LATER);
    let (spawned, sent) = (answer.clone(), Instant::now());
    client.write_all(&[0])?;
    runtime.block_on(async { spawner.spawn(async move { spawned(3, sent) }) });
    client.read_exact(&mut [0])?;
    answer(2, sent);
    let mut waits = vec![0.0; 4];
    for _ in 0..4 {
        let (number, wait) = served.recv().expect("this thread has a sender");
        waits[number] = wait.as_secs_f64() * 1e3;
    }
    while Arc::strong_count(&ended) > 1 {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(waits)
}
