//! Bugs that need an unlucky moment, in whole programs: `docs/regressions.md`.
//!
//! Each program holds for all seeds. With its bug planted, it fails for some of them.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use raddle::fs::File;
use raddle::io::unix::AsyncFd;
use raddle::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream, UdpSocket};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::sync::{mpsc, oneshot};
use raddle::task::{block_in_place, spawn_blocking};
use raddle::time::{Instant, interval, sleep, timeout};
use raddle_sim::{Latency, Link, Sim, millis, secs};

/// A number below `limit`, by the seed.
fn random(limit: u64) -> u64 {
    RandomState::new().hash_one(()) % limit
}

/// A time below `limit` milliseconds, by the seed.
fn random_time(limit: u64) -> Duration {
    Duration::from_micros(random(limit * 1_000))
}

/// Latencies that differ from packet to packet.
fn vary_latencies(sim: &mut Sim) {
    sim.default_link(Link {
        latency: Latency::Uniform {
            min: millis(1),
            max: millis(10),
        },
        ..Link::default()
    });
}

/// Serves each connection in a task of its own.
async fn serve<F, T>(handle: F) -> io::Result<()>
where
    F: Fn(TcpStream) -> T,
    T: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("0.0.0.0:7").await?;
    loop {
        let (stream, _) = listener.accept().await?;
        raddle::spawn(handle(stream));
    }
}

/// Connects to a server that may not listen yet.
async fn connect(server: &str) -> TcpStream {
    loop {
        match TcpStream::connect(server).await {
            Ok(stream) => return stream,
            Err(_) => sleep(millis(5)).await,
        }
    }
}

/// Runs code that blocks on a thread of std, and waits for its end.
async fn on_a_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(f);
    let joined = spawn_blocking(|| thread.join()).await.unwrap();
    if let Err(payload) = joined {
        std::panic::resume_unwind(payload);
    }
}

/// Another runtime than that of the host.
fn two_workers() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// tokio 8056: a program saves its state as often as the threads for blocking work give up.
#[raddle_sim::test(seeds = 10)]
fn a_job_runs_though_it_comes_when_the_idle_thread_gives_up(sim: &mut Sim) {
    sim.client("store", async {
        let mut ticks = interval(secs(10));
        for number in 0..20_u32 {
            ticks.tick().await;
            let saved = spawn_blocking(move || std::fs::write("state", number.to_string()));
            let saved = timeout(secs(5), saved).await;
            saved.expect("the state is saved in time").unwrap()?;
        }
        io::Result::Ok(())
    });
    sim.run();
}

/// tokio 4730, 6315: a handler blocks its thread, perhaps the one that polled the driver last.
#[raddle_sim::test(seeds = 4)]
fn requests_are_answered_while_a_handler_blocks_its_thread(sim: &mut Sim) {
    vary_latencies(sim);
    sim.host("server", || {
        serve(|mut stream| async move {
            while let Ok(request) = stream.read_u8().await {
                match request {
                    b'r' => std::thread::sleep(secs(5)),
                    _ => sleep(millis(3)).await,
                }
                stream.write_u8(request).await?;
            }
            Ok(())
        })
    });
    sim.client("reports", async {
        let mut stream = connect("server:7").await;
        for _ in 0..2 {
            sleep(random_time(500)).await;
            stream.write_u8(b'r').await?;
            stream.read_u8().await?;
        }
        io::Result::Ok(())
    });
    sim.client("user", async {
        let mut stream = connect("server:7").await;
        for _ in 0..50 {
            sleep(random_time(400)).await;
            stream.write_u8(b'q').await?;
            let answered = timeout(secs(1), stream.read_u8()).await;
            answered.expect("an answer within a second")?;
        }
        io::Result::Ok(())
    });
    sim.run();
}

/// tokio 4941: a handler passes a record on, and then blocks its thread.
#[raddle_sim::test(seeds = 4)]
fn a_task_that_a_handler_wakes_runs_while_the_handler_blocks(sim: &mut Sim) {
    vary_latencies(sim);
    sim.host("server", || async {
        let (records, mut recorded) = mpsc::channel::<(u8, oneshot::Sender<u8>)>(16);
        raddle::spawn(async move {
            while let Some((record, acknowledge)) = recorded.recv().await {
                let _gone = acknowledge.send(record);
            }
        });
        serve(|stream| {
            let (mut reader, mut writer) = stream.into_split();
            let (acknowledge, acknowledged) = oneshot::channel();
            raddle::spawn(async move {
                let record = acknowledged.await.map_err(io::Error::other)?;
                writer.write_u8(record).await
            });
            let records = records.clone();
            async move {
                let record = reader.read_u8().await?;
                let sent = records.send((record, acknowledge)).await;
                sent.map_err(io::Error::other)?;
                if record % 4 == 0 {
                    // It computes.
                    std::thread::sleep(secs(2));
                }
                Ok(())
            }
        })
        .await
    });
    for user in ["alice", "bob"] {
        sim.client(user, async {
            for record in 0..12 {
                sleep(random_time(400)).await;
                let mut stream = connect("server:7").await;
                stream.write_u8(record).await?;
                let acknowledged = timeout(secs(1), stream.read_u8()).await;
                acknowledged.expect("the record is acknowledged within a second")?;
            }
            io::Result::Ok(())
        });
    }
    sim.run();
}

/// tokio 3190, 6682: a thread sets a timer while a worker waits for a later one.
#[raddle_sim::test(seeds = 10)]
fn a_timer_ends_the_wait_for_a_later_one(sim: &mut Sim) {
    sim.client("service", async {
        on_a_thread(|| {
            let runtime = two_workers();
            runtime.spawn(async { sleep(secs(3600)).await });
            for _ in 0..10 {
                std::thread::sleep(random_time(100));
                let waits = runtime.spawn(async {
                    let start = Instant::now();
                    sleep(millis(50)).await;
                    start.elapsed()
                });
                let elapsed = runtime.block_on(waits).unwrap();
                assert!(elapsed < millis(60), "a sleep of 50 ms took {elapsed:?}");
            }
        })
        .await;
    });
    sim.run();
}

/// A bug of our own: the shutdown dropped a job for which a thread had been started or woken.
#[raddle_sim::test(seeds = 10)]
fn a_shutdown_runs_the_jobs_for_which_threads_were_started(sim: &mut Sim) {
    vary_latencies(sim);
    sim.host("peer", || {
        serve(|mut stream| async move {
            for number in 0..100 {
                sleep(random_time(10)).await;
                stream.write_u8(number).await?;
            }
            Ok(())
        })
    });
    sim.client("journal", async {
        on_a_thread(|| {
            let runtime = two_workers();
            let written = Arc::new(AtomicU64::new(0));
            let count = random(20);
            runtime.block_on(async {
                let mut stream = connect("peer:7").await;
                for _ in 0..count {
                    let number = stream.read_u8().await.unwrap();
                    let written = Arc::clone(&written);
                    spawn_blocking(move || {
                        std::fs::write(format!("entry {number}"), "text").unwrap();
                        // ORDERING: one thread of a simulation runs at a time.
                        written.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            runtime.shutdown_timeout(secs(10));
            // ORDERING: as above.
            let written = written.load(Ordering::Relaxed);
            assert_eq!(written, count, "the number of entries that are written");
        })
        .await;
    });
    sim.run();
}

/// tokio 6133, 8331: while a task keeps the readiness that it has found, as many events come as a
/// short counter needs to return to its value.
#[raddle_sim::test(seeds = 4)]
fn datagrams_are_read_whatever_their_number_was_meanwhile(sim: &mut Sim) {
    sim.host("sensors", || async {
        let socket = UdpSocket::bind("0.0.0.0:9").await?;
        loop {
            let (_, monitor) = socket.recv_from(&mut [0; 8]).await?;
            for _ in 0..230 + random(50) {
                // Each of them is an event of its own.
                sleep(millis(1)).await;
                socket.send_to(b"value", monitor).await?;
            }
            sleep(millis(50)).await;
            socket.send_to(b"", monitor).await?;
        }
        #[allow(unreachable_code, reason = "it gives the type of the error")]
        io::Result::Ok(())
    });
    sim.client("monitor", async {
        sleep(millis(5)).await;
        let mut sensors = raddle::net::lookup_host("sensors:9").await?;
        let sensors: SocketAddr = sensors.next().expect("an address");
        let socket = std::net::UdpSocket::bind("0.0.0.0:9")?;
        socket.set_nonblocking(true)?;
        let socket = AsyncFd::new(socket)?;
        for _ in 0..4 {
            socket.get_ref().send_to(b"more", sensors)?;
            let mut is_last = false;
            while !is_last {
                let mut readable = socket.readable().await?;
                let mut buf = [0; 8];
                loop {
                    match readable.get_inner().recv(&mut buf) {
                        Ok(bytes) => is_last = bytes == 0,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error),
                    }
                }
                // It stores them.
                sleep(millis(400)).await;
                readable.clear_ready();
            }
        }
        io::Result::Ok(())
    });
    sim.run();
}

/// Answers on each connection with a random number of bytes, and then no more.
fn add_peer(sim: &mut Sim) {
    sim.host("peer", || {
        serve(|mut stream| async move {
            for answer in 0..random(20) {
                stream.write_u8(answer as u8).await?;
            }
            std::future::pending().await
        })
    });
}

/// A bug of our own: the drop of a runtime hung while a task in `block_in_place` waited for a
/// socket.
#[raddle_sim::test(seeds = 10)]
fn a_runtime_is_dropped_while_its_tasks_wait_in_place(sim: &mut Sim) {
    vary_latencies(sim);
    add_peer(sim);
    sim.client("service", async {
        on_a_thread(|| {
            let runtime = two_workers();
            for _ in 0..3 {
                runtime.spawn(async {
                    let mut stream = connect("peer:7").await;
                    for _ in 0..20 {
                        // A plugin that is not async.
                        block_in_place(|| Handle::current().block_on(stream.read_u8()))?;
                    }
                    io::Result::Ok(())
                });
            }
            std::thread::sleep(random_time(60));
        })
        .await;
    });
    sim.run();
}

/// tokio 2903: a task that blocks opens a connection while its runtime shuts down.
#[raddle_sim::test(seeds = 10)]
fn a_connection_that_is_opened_during_a_shutdown_fails(sim: &mut Sim) {
    vary_latencies(sim);
    add_peer(sim);
    sim.client("service", async {
        on_a_thread(|| {
            let runtime = two_workers();
            for _ in 0..3 {
                runtime.spawn(async {
                    block_in_place(|| {
                        for _ in 0..20 {
                            let asked = async {
                                let mut stream = TcpStream::connect("peer:7").await?;
                                stream.read_u8().await
                            };
                            if Handle::current().block_on(asked).is_err() {
                                std::thread::sleep(millis(1));
                            }
                        }
                    });
                });
            }
            std::thread::sleep(random_time(60));
        })
        .await;
    });
    sim.run();
}

/// tokio 7591: a program that has awaited its tasks asks how many of them there are.
#[raddle_sim::test(seeds = 10)]
fn no_task_is_counted_after_it_was_joined(sim: &mut Sim) {
    sim.client("service", async {
        on_a_thread(|| {
            let runtime = two_workers();
            for _ in 0..20 {
                let tasks = Vec::from_iter((0..random(4)).map(|_| {
                    let time = random_time(3);
                    runtime.spawn(async move { sleep(time).await })
                }));
                for task in tasks {
                    runtime.block_on(task).unwrap();
                }
                assert_eq!(runtime.metrics().num_alive_tasks(), 0);
            }
        })
        .await;
    });
    sim.run();
}

/// A bug of our own: a `set_len` whose future was dropped ran at the same time as the next
/// operation.
#[raddle_sim::test(seeds = 10)]
fn a_log_that_is_emptied_keeps_what_is_written_afterwards(sim: &mut Sim) {
    vary_latencies(sim);
    sim.host("log", || async {
        let mut options = File::options();
        options.read(true).write(true).create(true);
        let mut file = options.open("log").await?;
        let listener = TcpListener::bind("0.0.0.0:7").await?;
        let (mut stream, _) = listener.accept().await?;
        while let Ok(request) = stream.read_u8().await {
            let mut length = 0;
            match request {
                b'e' => {
                    // It is emptied before the next operation, or not at all.
                    let _late = timeout(random_time(10), file.set_len(0)).await;
                }
                b'w' => {
                    file.rewind().await?;
                    file.write_all(b"line").await?;
                    file.sync_all().await?;
                }
                _ => length = file.metadata().await?.len(),
            }
            stream.write_u8(length as u8).await?;
        }
        io::Result::Ok(())
    });
    sim.client("user", async {
        let mut stream = connect("log:7").await;
        for _ in 0..20 {
            let mut length = 0;
            for request in *b"ewl" {
                stream.write_u8(request).await?;
                length = stream.read_u8().await?;
                sleep(random_time(20)).await;
            }
            assert_eq!(length, 4, "the length of the log");
        }
        io::Result::Ok(())
    });
    for number in 0..40 {
        let at = sim.at(millis(25 * number));
        at.slow_disk("log", millis(40)).for_(millis(12));
    }
    sim.run();
}
