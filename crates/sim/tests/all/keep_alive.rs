//! Connections whose peer does not answer: keep-alive probes and `TCP_USER_TIMEOUT`.

use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::time::Duration;

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpSocket, TcpStream};
use raddle::time::{Instant, sleep, timeout};
use raddle_sim::{Sim, millis, secs};
use socket2::{SockRef, TcpKeepalive};

/// Probes after 10 s and from then on each 5 s, of which 3 have no answer.
fn keep_alive() -> TcpKeepalive {
    TcpKeepalive::new()
        .with_time(secs(10))
        .with_interval(secs(5))
        .with_retries(3)
}

/// A host that accepts connections, and sends back what it receives.
fn server(sim: &mut Sim) {
    sim.host("server", || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            raddle::spawn(echo(stream));
        }
    });
}

async fn echo(mut stream: TcpStream) -> Result<(), Error> {
    let (mut reader, mut writer) = stream.split();
    raddle::io::copy(&mut reader, &mut writer).await.map(drop)
}

async fn connect(options: impl FnOnce(SockRef<'_>) -> Result<(), Error>) -> TcpStream {
    let stream = TcpStream::connect("server:7").await.unwrap();
    options(SockRef::from(&stream)).unwrap();
    stream
}

/// Waits until a connection ends by an error, and checks when.
async fn ends_by(stream: &mut TcpStream, kind: ErrorKind, seconds: Range<u64>) {
    let start = Instant::now();
    let error = stream.read(&mut [0]).await.unwrap_err();
    assert_eq!(error.kind(), kind);
    let (time, range) = (start.elapsed(), secs(seconds.start)..secs(seconds.end));
    assert!(range.contains(&time), "after {time:?}");
}

#[test]
fn an_idle_connection_to_a_crashed_host_times_out() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_tcp_keepalive(&keep_alive())).await;
        ends_by(&mut stream, ErrorKind::TimedOut, 25..26).await;
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    });
    let _ = sim.at(secs(2)).crash("server");
    sim.run();
}

#[test]
fn probes_begin_after_the_last_word_of_the_other_end() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_tcp_keepalive(&keep_alive())).await;
        sleep(secs(4)).await;
        stream.write_all(b"x").await.unwrap();
        stream.read_exact(&mut [0]).await.unwrap();
        // The probes at 14 and 24 s are answered, those at 34, 39 and 44 s are not.
        ends_by(&mut stream, ErrorKind::TimedOut, 45..46).await;
    });
    let _ = sim.at(secs(30)).partition_one_way("server", "client");
    sim.run();
}

#[test]
fn the_defaults_are_those_of_linux() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_keepalive(true)).await;
        let seconds = 7200 + 9 * 75;
        ends_by(&mut stream, ErrorKind::TimedOut, seconds..seconds + 1).await;
    });
    let _ = sim.at(secs(2)).partition("client", "server");
    sim.run();
}

#[test]
fn an_answer_to_a_probe_keeps_the_connection() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_tcp_keepalive(&keep_alive())).await;
        // The probes at 10 and 15 s have no answer, and that at 20 s has one.
        let read = timeout(secs(100), stream.read(&mut [0])).await;
        assert!(read.is_err(), "{read:?}");
        stream.write_all(b"x").await.unwrap();
        stream.read_exact(&mut [0]).await.unwrap();
        // Those at 200, 205 and 210 s have none.
        ends_by(&mut stream, ErrorKind::TimedOut, 115..116).await;
    });
    sim.at(secs(5)).partition("client", "server").for_(secs(13));
    sim.at(secs(195))
        .partition("client", "server")
        .for_(secs(1000));
    sim.run();
}

#[test]
fn a_host_that_has_restarted_resets_the_connection() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_tcp_keepalive(&keep_alive())).await;
        ends_by(&mut stream, ErrorKind::ConnectionReset, 10..11).await;
    });
    sim.at(secs(2)).crash("server").for_(secs(1));
    sim.run();
}

#[test]
fn a_reset_that_was_lost_is_found_by_a_probe() {
    let mut sim = Sim::new(1);
    sim.host("server", || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        sleep(secs(3)).await;
        SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(stream);
        std::future::pending::<()>().await;
    });
    sim.client("client", async {
        let mut stream = loop {
            match TcpStream::connect("server:7").await {
                Ok(stream) => break stream,
                Err(_) => sleep(millis(10)).await,
            }
        };
        let socket = SockRef::from(&stream);
        socket.set_tcp_keepalive(&keep_alive()).unwrap();
        ends_by(&mut stream, ErrorKind::ConnectionReset, 10..11).await;
    });
    sim.at(secs(2)).partition("client", "server").for_(secs(2));
    sim.run();
}

#[test]
fn an_idle_connection_without_keep_alive_stays() {
    for has_keep_alive in [false, true] {
        let mut sim = Sim::new(1);
        server(&mut sim);
        sim.client("client", async move {
            let mut stream = connect(|socket| {
                socket.set_tcp_keepalive(&keep_alive())?;
                socket.set_keepalive(has_keep_alive)
            })
            .await;
            let read = timeout(secs(80_000), stream.read(&mut [0])).await;
            assert_eq!(read.is_err(), !has_keep_alive, "{read:?}");
        });
        let _ = sim.at(secs(2)).crash("server");
        sim.run();
    }
}

#[test]
fn keep_alive_does_not_hide_a_deadlock() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| socket.set_tcp_keepalive(&keep_alive())).await;
        stream.read(&mut [0]).await
    });
    sim.at(secs(2)).partition("client", "server").for_(secs(5));
    let error = sim.try_run().unwrap_err();
    assert!(error.contains("makes no progress"), "{error}");
}

#[test]
fn sent_data_without_an_answer_times_out_after_the_user_timeout() {
    for (seconds, is_crash) in [(5, false), (7, true), (3600, false)] {
        let mut sim = Sim::new(1);
        server(&mut sim);
        sim.client("client", async move {
            let mut stream =
                connect(|socket| socket.set_tcp_user_timeout(Some(secs(seconds)))).await;
            sleep(secs(3)).await;
            stream.write_all(b"x").await.unwrap();
            ends_by(&mut stream, ErrorKind::TimedOut, seconds..seconds + 1).await;
        });
        let at = sim.at(secs(2));
        let _ = match is_crash {
            true => at.crash("server"),
            false => at.partition("client", "server"),
        };
        sim.run();
    }
}

#[test]
fn the_user_timeout_comes_before_the_number_of_probes() {
    let mut sim = Sim::new(1);
    server(&mut sim);
    sim.client("client", async {
        let mut stream = connect(|socket| {
            socket.set_tcp_keepalive(&keep_alive())?;
            socket.set_tcp_user_timeout(Some(secs(12)))
        })
        .await;
        // The probe at 10 s has no answer, and at 15 s the time is over.
        ends_by(&mut stream, ErrorKind::TimedOut, 15..16).await;
    });
    let _ = sim.at(secs(2)).partition("client", "server");
    sim.run();
}

#[test]
fn options_from_before_the_connection_and_of_the_listener_hold() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let socket = SockRef::from(&listener);
        socket.set_tcp_keepalive(&keep_alive()).unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), 3);
        ends_by(&mut stream, ErrorKind::TimedOut, 25..26).await;
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let socket = TcpSocket::new_v4().unwrap();
        let options = keep_alive().with_time(secs(20));
        SockRef::from(&socket).set_tcp_keepalive(&options).unwrap();
        let server = raddle::net::lookup_host("server:7").await.unwrap().next();
        let mut stream = socket.connect(server.unwrap()).await.unwrap();
        ends_by(&mut stream, ErrorKind::TimedOut, 35..36).await;
    });
    let _ = sim.at(secs(2)).partition("client", "server");
    sim.run();
}
