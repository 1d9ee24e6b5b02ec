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
