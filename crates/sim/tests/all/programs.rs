//! Kinds of programs: other runtimes in a host, threads with sockets of std, C names.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use raddle::time::{Instant, sleep};
use raddle_sim::{Chaos, Sim, millis, secs};

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
        let elapsed = virtual_time();
        assert!(elapsed > secs(6) && elapsed < millis(6_010), "{elapsed:?}");
        std::io::Result::Ok(())
    });
    sim.at(secs(1)).hold("client", "server").for_(secs(5));
    sim.run();
}

/// The virtual time since the start, by the wall clock.
fn virtual_time() -> Duration {
    let start = std::time::UNIX_EPOCH + secs(1_767_225_600);
    std::time::SystemTime::now().duration_since(start).unwrap()
}

#[test]
fn clock_offset_and_drift_apply_to_their_host() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (of_fast, of_true) = (sender.clone(), sender);
    let mut sim = Sim::new(1);
    sim.client("ahead", async {
        assert_eq!(virtual_time(), secs(60));
        sleep(secs(100)).await;
        assert_eq!(virtual_time(), secs(160));
    });
    sim.client("behind", async {
        let start = std::time::UNIX_EPOCH + secs(1_767_225_600 - 60);
        assert_eq!(std::time::SystemTime::now(), start);
    });
    sim.client("fast", async move {
        for _ in 0..2 {
            let start = std::time::Instant::now();
            sleep(secs(50)).await;
            std::thread::sleep(secs(50));
            let elapsed = start.elapsed();
            assert!(
                elapsed >= secs(100) && elapsed < millis(100_003),
                "{elapsed:?}"
            );
            of_fast.send("100 s of the fast clock").unwrap();
        }
    });
    sim.client("true", async move {
        for _ in 0..2 {
            sleep(secs(60)).await;
            of_true.send("60 s").unwrap();
        }
    });
    sim.clock_ahead("ahead", secs(60));
    sim.clock_behind("behind", secs(60));
    sim.clock_drift("fast", 1_000_000);
    sim.run();
    let order: Vec<_> = receiver.into_iter().collect();
    let fast = "100 s of the fast clock";
    assert_eq!(order, [fast, "60 s", fast, "60 s"]);
}

/// Answers with what it gets.
async fn echo() -> std::io::Result<()> {
    let listener = raddle::net::TcpListener::bind("0.0.0.0:7").await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        raddle::spawn(async move {
            let (mut reader, mut writer) = stream.split();
            raddle::io::copy(&mut reader, &mut writer).await
        });
    }
}

/// Asks once, by a connection of its own, and returns whether there was an answer in two seconds.
async fn is_answered() -> bool {
    use raddle::io::{AsyncReadExt, AsyncWriteExt};
    let asked = async {
        let mut stream = raddle::net::TcpStream::connect("server:7").await?;
        stream.write_all(b"hello").await?;
        stream.read_exact(&mut [0; 5]).await
    };
    matches!(raddle::time::timeout(secs(2), asked).await, Ok(Ok(5)))
}

/// Asks each tenth of a second, and returns which requests had no answer.
fn unanswered(seed: u64, chaos: Option<Chaos>) -> Vec<u32> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sim = Sim::new(seed);
    sim.host("server", echo);
    sim.client("client", async move {
        for number in 0..200 {
            sleep(millis(100)).await;
            if !is_answered().await {
                sender.send(number).unwrap();
            }
        }
        assert!(is_answered().await, "the server has not recovered");
    });
    if let Some(chaos) = chaos {
        sim.chaos(chaos);
    }
    sim.run();
    receiver.into_iter().collect()
}

#[test]
fn chaos_disturbs_each_seed_in_its_own_way() {
    let chaos = Chaos {
        end: secs(15),
        ..Chaos::default()
    };
    assert_eq!(unanswered(1, None), Vec::<u32>::new());
    let disturbed = [1, 2, 3].map(|seed| unanswered(seed, Some(chaos)));
    assert!(
        disturbed.iter().all(|missing| !missing.is_empty()),
        "{disturbed:?}"
    );
    assert_ne!(disturbed[0], disturbed[1]);
    assert_eq!(disturbed[0], unanswered(1, Some(chaos)));
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

/// 2975, 7911: descriptors that are sent with bytes are refused, and not dropped.
#[test]
fn descriptors_are_not_sent() {
    let mut sim = Sim::new(1);
    sim.client("a", async {
        let (near, far) = raddle::net::UnixStream::pair().unwrap();
        let error = near.send_with_fds(b"x", &[near.as_fd()]).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP));
        near.send_with_fds(b"plain", &[]).await.unwrap();
        let mut fds = Vec::new();
        assert_eq!(far.recv_with_fds(&mut [0; 8], &mut fds).await.unwrap(), 5);
        assert!(fds.is_empty());
    });
    sim.run();
}
