//! Kinds of programs: other runtimes in a host, threads with sockets of std, C names.

use std::io::{Read, Write};
use std::time::Duration;

use raddle::time::{Instant, sleep};
use raddle_sim::{Chaos, Link, Sim, millis, secs};

/// A server of threads, by std alone.
fn echo_threads(port: u16) -> std::io::Result<()> {
    let listener = std::net::TcpListener::bind(("0.0.0.0", port))?;
    for stream in listener.incoming() {
        let mut stream = stream?;
        std::thread::spawn(move || {
            let mut buf = [0; 64];
            while let Ok(bytes @ 1..) = stream.read(&mut buf) {
                if stream.write_all(&buf[..bytes]).is_err() {
                    return;
                }
            }
        });
    }
    Ok(())
}

fn ask(stream: &mut std::net::TcpStream, text: &[u8]) -> std::io::Result<Vec<u8>> {
    stream.write_all(text)?;
    let mut buf = vec![0; text.len()];
    stream.read_exact(&mut buf)?;
    Ok(buf)
}

#[test]
fn threads_of_std_serve_and_ask() {
    let mut sim = Sim::new(1);
    sim.host("server", || async {
        raddle::task::spawn_blocking(|| echo_threads(7))
            .await
            .unwrap()
    });
    for client in 0..3 {
        sim.client(&format!("client{client}"), async move {
            let asked = raddle::task::spawn_blocking(move || {
                std::thread::sleep(millis(1));
                let mut stream = std::net::TcpStream::connect("server:7")?;
                for number in 0..10_u8 {
                    assert_eq!(ask(&mut stream, &[client, number])?, [client, number]);
                }
                std::io::Result::Ok(())
            });
            asked.await.unwrap()
        });
    }
    sim.run();
}

#[test]
fn a_runtime_that_a_host_builds_belongs_to_it() {
    for flavor in ["threads", "current"] {
        let mut sim = Sim::new(1);
        sim.host("server", || async {
            raddle::task::spawn_blocking(|| echo_threads(7))
                .await
                .unwrap()
        });
        sim.client("client", async move {
            let start = Instant::now();
            let inner = std::thread::spawn(move || {
                let mut builder = match flavor {
                    "threads" => raddle::runtime::Builder::new_multi_thread(),
                    _ => raddle::runtime::Builder::new_current_thread(),
                };
                let runtime = builder.worker_threads(2).enable_all().build().unwrap();
                runtime.block_on(async {
                    use raddle::io::{AsyncReadExt, AsyncWriteExt};
                    sleep(millis(5)).await;
                    let asked = raddle::spawn(async {
                        let mut stream = raddle::net::TcpStream::connect("server:7").await.unwrap();
                        stream.write_all(b"inner").await.unwrap();
                        let mut buf = [0; 5];
                        stream.read_exact(&mut buf).await.unwrap();
                        sleep(secs(1)).await;
                        buf
                    });
                    asked.await.unwrap()
                })
            });
            let joined = raddle::task::spawn_blocking(|| inner.join().unwrap());
            assert_eq!(&joined.await.unwrap(), b"inner");
            let elapsed = start.elapsed();
            assert!(
                elapsed >= millis(1006) && elapsed < millis(1020),
                "{flavor}: {elapsed:?}"
            );
        });
        sim.run();
    }
}

#[test]
fn a_host_sees_as_many_processors_as_it_has_workers() {
    let mut sim = Sim::new(1);
    sim.workers(3).client("client", async {
        assert_eq!(std::thread::available_parallelism().unwrap().get(), 3);
    });
    sim.run();
}

#[test]
fn packets_that_are_held_arrive_when_they_are_released() {
    let mut sim = Sim::new(1);
    sim.host("server", || async {
        raddle::task::spawn_blocking(|| echo_threads(7))
            .await
            .unwrap()
    });
    sim.client("client", async {
        use raddle::io::{AsyncReadExt, AsyncWriteExt};
        sleep(millis(1)).await;
        let mut stream = raddle::net::TcpStream::connect("server:7").await?;
        sleep(secs(2)).await;
        for number in 0..100_u8 {
            stream.write_all(&[number]).await?;
        }
        let mut buf = [0; 100];
        stream.read_exact(&mut buf).await?;
        assert_eq!(Vec::from(buf), Vec::from_iter(0..100));
        let elapsed = std::time::Duration::from_secs(0) + virtual_time();
        assert!(elapsed > secs(6) && elapsed < millis(6_010), "{elapsed:?}");
        std::io::Result::Ok(())
    });
    sim.at(secs(1)).hold("client", "server").for_(secs(5));
    sim.run();
}

/// The virtual time since the start, by the calendar.
fn virtual_time() -> Duration {
    let start = std::time::UNIX_EPOCH + secs(1_767_225_600);
    std::time::SystemTime::now().duration_since(start).unwrap()
}

#[test]
fn clock_offset_and_drift_apply_to_their_host() {
    let mut sim = Sim::new(1);
    sim.client("ahead", async {
        assert_eq!(virtual_time(), secs(60));
        let start = std::time::Instant::now();
        sleep(secs(100)).await;
        assert_eq!(start.elapsed(), secs(100));
        assert_eq!(virtual_time(), secs(160));
    });
    sim.client("fast", async {
        let start = std::time::Instant::now();
        sleep(secs(100)).await;
        // Timers follow the clock of the host, which has a millisecond's resolution there.
        assert!(start.elapsed() >= secs(100) && start.elapsed() < millis(100_002));
        std::thread::sleep(secs(100));
        assert!(start.elapsed() >= secs(200) && start.elapsed() < millis(200_004));
    });
    sim.client("true", async {
        sleep(secs(100)).await;
        assert_eq!(virtual_time(), secs(100));
    });
    sim.clock_ahead("ahead", secs(60));
    sim.clock_drift("fast", 1000);
    sim.run();
}

#[test]
fn chaos_differs_by_seed_and_the_program_recovers() {
    for seed in 0..10 {
        let mut sim = Sim::new(seed);
        sim.default_link(Link {
            loss: 0.01,
            ..Link::default()
        });
        sim.host("server", || async {
            use raddle::io::{AsyncReadExt, AsyncWriteExt};
            let listener = raddle::net::TcpListener::bind("0.0.0.0:7").await.unwrap();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                raddle::spawn(async move {
                    let mut buf = [0; 64];
                    while let Ok(bytes @ 1..) = stream.read(&mut buf).await {
                        if stream.write_all(&buf[..bytes]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        for client in 0..2 {
            sim.client(&format!("client{client}"), async move {
                use raddle::io::{AsyncReadExt, AsyncWriteExt};
                let mut answers = 0;
                while Instant::now().elapsed() > Duration::ZERO || virtual_time() < secs(40) {
                    let asked = async {
                        let mut stream = raddle::net::TcpStream::connect("server:7").await?;
                        stream.write_all(b"hello").await?;
                        stream.read_exact(&mut [0; 5]).await
                    };
                    answers += u32::from(matches!(
                        raddle::time::timeout(secs(2), asked).await,
                        Ok(Ok(5))
                    ));
                    sleep(millis(100)).await;
                }
                assert!(answers > 20, "{answers}");
            });
        }
        sim.chaos(Chaos::default());
        sim.run();
    }
}

#[test]
fn a_deadlock_names_the_host_and_its_tasks() {
    let mut sim = Sim::new(1);
    sim.client("stuck", async {
        raddle::spawn(std::future::pending::<()>());
        std::future::pending::<()>().await
    });
    let error = sim.try_run().unwrap_err();
    assert!(
        error.contains("no progress") && error.contains("\"stuck\" has 2 tasks"),
        "{error}"
    );
}

#[test]
fn a_host_may_wait_for_signals_that_never_come() {
    for seed in 0..2 {
        let mut sim = Sim::new(seed);
        sim.client("client", async {
            let mut hangup =
                raddle::signal::unix::signal(raddle::signal::unix::SignalKind::hangup()).unwrap();
            raddle::select! {
                _ = raddle::signal::ctrl_c() => panic!("no signal was sent"),
                _ = hangup.recv() => panic!("no signal was sent"),
                () = sleep(secs(5)) => {}
            }
        });
        sim.run();
    }
}

#[test]
fn a_task_that_waits_by_yielding_lets_the_time_pass() {
    let mut sim = Sim::new(1);
    sim.client("client", async {
        let start = Instant::now();
        while start.elapsed() < millis(5) {
            raddle::task::yield_now().await;
        }
        let slept = raddle::spawn(sleep(millis(5)));
        while !slept.is_finished() {
            raddle::task::yield_now().await;
        }
    });
    sim.run();
}
