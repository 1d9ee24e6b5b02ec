use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream, UdpSocket};
use raddle::time::{Instant, sleep, timeout};
use raddle_sim::{Latency, Link, Sim};
use std::io::ErrorKind;
use std::time::Duration;

const S: Duration = Duration::from_secs(1);

fn echo_host(sim: &mut Sim) {
    sim.workers(2).host("server", || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            raddle::spawn(async move {
                let mut buf = [0; 1024];
                while let Ok(n @ 1..) = stream.read(&mut buf).await {
                    if stream.write_all(&buf[..n]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
}

async fn ask(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"x").await?;
    stream.read_exact(&mut [0]).await.map(drop)
}

#[test]
fn a_partition_delays_data_and_the_connection_goes_on() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        ask(&mut stream).await.unwrap();
        sleep(3 * S - Instant::now().elapsed()).await;
        let start = Instant::now();
        ask(&mut stream).await.unwrap();
        assert!(start.elapsed() > 4 * S, "{:?}", start.elapsed());
        assert!(start.elapsed() < 15 * S, "{:?}", start.elapsed());
    });
    sim.at(2 * S).partition("client", "server").for_(6 * S);
    sim.run();
}

#[test]
fn a_connection_times_out_in_a_partition_without_end() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        sleep(3 * S).await;
        let error = ask(&mut stream).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(Instant::now().elapsed() < Duration::from_secs(2000));
    });
    let _ = sim.at(2 * S).partition("client", "server");
    sim.run();
}

#[test]
fn a_connection_to_a_host_that_was_restarted_is_reset() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        ask(&mut stream).await.unwrap();
        sleep(5 * S).await;
        let error = ask(&mut stream).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        ask(&mut stream).await.unwrap();
    });
    sim.at(2 * S).crash("server").for_(S);
    sim.run();
}

#[test]
fn a_reset_ends_a_read_that_waits() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        let error = stream.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let error = TcpStream::connect("server:7").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
    let _ = sim.at(2 * S).kill("server");
    sim.run();
}

#[test]
fn a_port_without_a_listener_refuses() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.client("client", async {
        let error = TcpStream::connect("server:8").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
    sim.run();
}

#[test]
fn an_unknown_name_is_in_the_message_of_the_failure() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.client("client", async {
        TcpStream::connect("sever:7").await.map(drop)
    });
    let error = sim.try_run().unwrap_err();
    assert!(error.contains("the address of \"sever\""), "{error}");
}

#[test]
fn a_full_window_blocks_the_writer() {
    let mut sim = Sim::new(1);
    sim.workers(1).host("server", || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        sleep(10 * S).await;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), 3_000_000);
        stream.write_all(b"done").await.unwrap();
    });
    sim.workers(1).client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        let start = Instant::now();
        stream.write_all(&vec![7; 3_000_000]).await.unwrap();
        assert!(start.elapsed() >= 9 * S);
        stream.shutdown().await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "done");
    });
    sim.run();
}

#[test]
fn datagrams_are_lost_duplicated_and_reordered() {
    let mut sim = Sim::new(3);
    sim.default_link(Link {
        latency: Latency::Uniform {
            min: Duration::from_millis(1),
            max: Duration::from_millis(20),
        },
        loss: 0.1,
        duplication: 0.1,
        ..Link::default()
    });
    sim.workers(1).client("server", async {
        let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
        let mut seen = Vec::new();
        let mut buf = [0; 8];
        while let Ok(Ok((n, _))) = timeout(S, socket.recv_from(&mut buf)).await {
            assert_eq!(n, 8);
            seen.push(u64::from_le_bytes(buf));
        }
        let mut sorted = seen.clone();
        sorted.sort();
        assert_ne!(seen, sorted);
        sorted.dedup();
        assert!(sorted.len() < seen.len());
        assert!((800..980).contains(&sorted.len()), "{}", sorted.len());
    });
    sim.workers(1).client("client", async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        for n in 0..1000_u64 {
            socket.send_to(&n.to_le_bytes(), "server:7").await.unwrap();
            sleep(Duration::from_millis(1)).await;
        }
    });
    sim.run();
}

#[test]
fn a_connected_udp_socket_gets_connection_refused() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.connect("server:99").await.unwrap();
        socket.send(b"x").await.unwrap();
        let error = socket.recv(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
    sim.run();
}

#[test]
fn a_paused_host_answers_after_the_pause() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.client("client", async {
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        sleep(2 * S).await;
        let start = Instant::now();
        ask(&mut stream).await.unwrap();
        let elapsed = start.elapsed();
        assert!(elapsed > 3 * S && elapsed < 5 * S, "{elapsed:?}");
    });
    sim.at(S).pause("server").for_(5 * S);
    sim.run();
}

#[test]
fn a_partition_of_one_direction_lets_the_other_pass() {
    let mut sim = Sim::new(1);
    for (name, other) in [("one", "two"), ("two", "one")] {
        sim.client(name, async move {
            let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
            sleep(S).await;
            socket.send_to(b"x", format!("{other}:7")).await.unwrap();
            let received = timeout(S, socket.recv_from(&mut [0])).await;
            assert_eq!(received.is_ok(), name == "two", "{name}");
        });
    }
    let _ = sim.at(Duration::ZERO).partition_one_way("two", "one");
    sim.run();
}

#[test]
fn a_host_that_two_faults_keep_down_starts_after_the_last() {
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.client("client", async {
        let start = Instant::now();
        sleep(2 * S).await;
        while TcpStream::connect("server:7").await.is_err() {}
        let elapsed = start.elapsed();
        assert!(elapsed > 8 * S && elapsed < 12 * S, "{elapsed:?}");
    });
    sim.at(S).crash("server").for_(7 * S);
    sim.at(2 * S).kill("server").for_(S);
    sim.run();
}

#[test]
fn a_link_of_two_hosts_has_its_own_latency_and_bandwidth() {
    let mut sim = Sim::new(1);
    for name in ["near", "far"] {
        sim.client(name, async move {
            let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
            for _ in 0..10 {
                socket.send_to(&[0; 972], "server:7").await.unwrap();
            }
        });
    }
    sim.client("server", async {
        let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
        let start = Instant::now();
        let mut last = std::collections::HashMap::new();
        for _ in 0..20 {
            let (_, from) = socket.recv_from(&mut [0; 1000]).await.unwrap();
            last.insert(from, start.elapsed());
        }
        let mut last: Vec<_> = last.into_values().collect();
        last.sort();
        assert_eq!(
            last,
            [Duration::from_micros(500), Duration::from_millis(1_100)]
        );
    });
    sim.link_between(
        "far",
        "server",
        Link {
            latency: Latency::Fixed(Duration::from_millis(100)),
            bytes_per_second: Some(10_000),
            ..Link::default()
        },
    );
    sim.run();
}

#[test]
fn bad_input_says_what_to_do() {
    type Build = fn(&mut Sim);
    let failure = |build: Build| {
        let mut sim = Sim::new(1);
        echo_host(&mut sim);
        let built = std::panic::AssertUnwindSafe(|| build(&mut sim));
        match std::panic::catch_unwind(built) {
            Ok(()) => sim.try_run().unwrap_err(),
            Err(payload) => payload.downcast_ref::<String>().unwrap().clone(),
        }
    };
    let cases: [(Build, &str); 6] = [
        (|_| {}, "there is no client; add one"),
        (
            |sim| {
                let _ = sim.at(S).crash("sever");
            },
            "there is no host \"sever\"",
        ),
        (
            |sim| {
                sim.host("server", std::future::pending::<()>);
            },
            "give each its own name",
        ),
        (
            |sim| {
                sim.client("user", async {});
                let _ = sim.at(S).crash("user");
            },
            "add it by Sim::host",
        ),
        (
            |sim| {
                sim.client("user", async { sleep(60 * S).await }).limit(S);
            },
            "raise Sim::limit",
        ),
        (
            |sim| {
                sim.client("user", async { Err::<(), _>("no luck") });
            },
            "host \"user\" returned an error: \"no luck\"",
        ),
    ];
    for (build, words) in cases {
        let failure = failure(build);
        assert!(failure.contains(words), "{failure}");
    }
}

#[test]
fn a_slow_cpu_delays_answers() {
    const SLOW: Duration = Duration::from_millis(20);
    let mut sim = Sim::new(1);
    echo_host(&mut sim);
    sim.workers(1).client("client", async {
        let begin = Instant::now();
        let mut stream = TcpStream::connect("server:7").await.unwrap();
        ask(&mut stream).await.unwrap();
        let mut times = Vec::new();
        for second in 1..4 {
            sleep(second * S - begin.elapsed()).await;
            let start = Instant::now();
            ask(&mut stream).await.unwrap();
            times.push(start.elapsed());
        }
        assert!(times[0] < SLOW, "{times:?}");
        assert!(times[1] >= SLOW && times[1] < 2 * SLOW, "{times:?}");
        assert_eq!(times[2], times[0]);
    });
    sim.at(3 * S / 2).slow_cpu("server", SLOW).for_(S);
    sim.run();
}

#[test]
fn on_a_slow_cpu_polls_run_one_after_the_other_and_time_outs_fire() {
    const SLOW: Duration = Duration::from_millis(10);
    let mut sim = Sim::new(1);
    sim.workers(4).client("client", async {
        let yields = async {
            for _ in 0..9 {
                raddle::task::yield_now().await;
            }
        };
        sleep(S).await;
        let start = Instant::now();
        assert!(timeout(SLOW, yields).await.is_err());
        assert!((SLOW..4 * SLOW).contains(&start.elapsed()));

        let start = Instant::now();
        let tasks = [(); 20].map(|()| raddle::spawn(async { Instant::now() }));
        let mut ends = Vec::new();
        for task in tasks {
            ends.push(task.await.unwrap());
        }
        ends.sort();
        ends.dedup();
        assert_eq!(ends.len(), 20);
        assert!(start.elapsed() >= 20 * SLOW && start.elapsed() < 45 * SLOW);

        // A timer that is due while another poll runs.
        let start = Instant::now();
        let other = raddle::spawn(async { raddle::task::yield_now().await });
        sleep(Duration::from_millis(1)).await;
        assert!(start.elapsed() >= 2 * SLOW, "{:?}", start.elapsed());
        other.await.unwrap();
    });
    let _ = sim.at(S / 2).slow_cpu("client", SLOW);
    sim.run();
}

#[test]
fn a_slow_cpu_delays_threads_and_its_own_host_only() {
    const SLOW: Duration = Duration::from_millis(10);
    let mut sim = Sim::new(1);
    for (name, expected) in [("slow", SLOW), ("other", Duration::ZERO)] {
        sim.client(name, async move {
            sleep(S).await;
            let thread = raddle::task::spawn_blocking(move || {
                let start = Instant::now();
                for _ in 0..5 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                start.elapsed()
            });
            let elapsed = thread.await.unwrap();
            assert_eq!(elapsed, 5 * (expected + Duration::from_millis(1)));
        });
    }
    let _ = sim.at(S / 2).slow_cpu("slow", SLOW);
    sim.run();
}
