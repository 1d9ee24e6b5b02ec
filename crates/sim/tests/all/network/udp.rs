//! UDP between hosts.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use raddle::net::UdpSocket;
use raddle::time::{sleep, timeout};
use raddle_sim::{Latency, Link, Sim, millis, secs};

use super::{addr_of, since_start, until};

async fn bind(port: u16) -> io::Result<UdpSocket> {
    UdpSocket::bind(("0.0.0.0", port)).await
}

/// Sends each datagram back.
async fn echo() -> io::Result<()> {
    let socket = bind(7).await?;
    let mut buf = [0; 64];
    loop {
        let (bytes, from) = socket.recv_from(&mut buf).await?;
        socket.send_to(&buf[..bytes], from).await?;
    }
}

async fn is_answered(socket: &UdpSocket, limit: Duration) -> io::Result<bool> {
    match timeout(limit, socket.recv_from(&mut [0; 64])).await {
        Ok(received) => received.map(|_| true),
        Err(_) => Ok(false),
    }
}

#[test]
fn datagrams_pass_by_calls_that_do_not_wait() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let socket = bind(7).await?;
        let mut buf = [9; 8];
        let error = socket.try_recv_from(&mut buf).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        socket.readable().await?;
        let (bytes, from) = socket.try_recv_from(&mut buf)?;
        assert_eq!((bytes, &buf), (4, b"ping\x09\x09\x09\x09"));
        assert_eq!(from, SocketAddr::new(addr_of("client").await, 8));
        socket.writable().await?;
        assert_eq!(socket.try_send_to(b"pong", from)?, 4);
        io::Result::Ok(())
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let socket = bind(8).await?;
        socket.writable().await?;
        socket.try_send_to(b"ping", SocketAddr::new(addr_of("server").await, 7))?;
        socket.readable().await?;
        let mut buf = [0; 3];
        assert_eq!(socket.try_recv(&mut buf)?, 3);
        assert_eq!(&buf, b"pon");
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn datagrams_are_kept_by_a_held_link_and_lost_by_a_cut_one() {
    for (fault, is_kept) in [("hold", true), ("partition", false)] {
        let mut sim = Sim::new(1);
        sim.host("server", echo);
        sim.client("client", async move {
            sleep(secs(1)).await;
            let socket = bind(0).await?;
            socket.send_to(b"x", "server:7").await?;
            assert!(!is_answered(&socket, secs(2)).await?);
            assert_eq!(is_answered(&socket, secs(100)).await?, is_kept);
            if is_kept {
                assert_eq!(since_start(), millis(5_001));
            }
            socket.send_to(b"x", "server:7").await?;
            assert!(is_answered(&socket, secs(1)).await?);
            io::Result::Ok(())
        });
        let at = sim.at(millis(500));
        match fault {
            "hold" => at.hold("client", "server").for_(millis(4_500)),
            _ => at.partition("client", "server").for_(millis(4_500)),
        }
        sim.run();
    }
}

#[test]
fn a_fault_of_a_link_is_one_of_the_datagrams_on_their_way() {
    for (fault, arrival) in [
        ("hold", Some(secs(2))),
        ("partition", None),
        ("other way", Some(millis(1_010))),
    ] {
        let mut sim = Sim::new(1);
        sim.default_link(Link {
            latency: Latency::Fixed(millis(20)),
            ..Link::default()
        });
        sim.client("client", async {
            let socket = bind(0).await?;
            until(millis(990)).await;
            socket.send_to(b"x", "server:7").await
        });
        sim.client("server", async move {
            let socket = bind(7).await?;
            let is_there = is_answered(&socket, secs(10)).await?;
            assert_eq!(is_there, arrival.is_some(), "{fault}");
            if let Some(arrival) = arrival {
                let times = arrival..=arrival + millis(20);
                assert!(
                    times.contains(&since_start()),
                    "{fault}: {:?}",
                    since_start()
                );
            }
            io::Result::Ok(())
        });
        let at = sim.at(secs(1));
        let fault = match fault {
            "hold" => at.hold("client", "server"),
            "partition" => at.partition("client", "server"),
            _ => at.partition_one_way("server", "client"),
        };
        fault.for_(secs(1));
        sim.run();
    }
}

/// Two hosts send to each other in the middle of each second. Returns the seconds of what has
/// arrived at each one.
fn seconds_of_arrivals(add_faults: fn(&mut Sim)) -> [Vec<u8>; 2] {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sim = Sim::new(1);
    for (number, (name, other)) in [("a", "b"), ("b", "a")].into_iter().enumerate() {
        let sender = sender.clone();
        sim.client(name, async move {
            let socket = bind(7).await?;
            for second in 0..4 {
                until(millis(1000 * u64::from(second) + 500)).await;
                socket.send_to(&[second], (other, 7)).await?;
                let mut received = [0];
                if timeout(millis(100), socket.recv_from(&mut received))
                    .await
                    .is_ok()
                {
                    sender.send((number, received[0])).unwrap();
                }
            }
            io::Result::Ok(())
        });
    }
    drop(sender);
    add_faults(&mut sim);
    sim.run();
    drop(sim);
    let all: Vec<_> = receiver.into_iter().collect();
    [0, 1].map(|number| {
        let of_host = all.iter().filter(|(at, _)| *at == number);
        of_host.map(|(_, second)| *second).collect()
    })
}

#[test]
fn a_direction_is_open_while_no_fault_cuts_it() {
    type Case = (fn(&mut Sim), [&'static [u8]; 2]);
    let cases: [Case; 6] = [
        (|_| {}, [&[0, 1, 2, 3], &[0, 1, 2, 3]]),
        (
            |sim| sim.at(secs(1)).partition_one_way("a", "b").for_(secs(2)),
            [&[0, 1, 2, 3], &[0, 3]],
        ),
        (
            |sim| sim.at(secs(1)).partition_one_way("b", "a").for_(secs(1)),
            [&[0, 2, 3], &[0, 1, 2, 3]],
        ),
        (
            // The one ends later than the other.
            |sim| {
                sim.at(secs(1)).partition("a", "b").for_(secs(1));
                sim.at(secs(1)).partition_one_way("a", "b").for_(secs(2));
            },
            [&[0, 2, 3], &[0, 3]],
        ),
        (
            |sim| {
                sim.at(secs(0)).partition_one_way("a", "b").for_(secs(2));
                let _ = sim.at(secs(1)).partition_one_way("b", "a");
            },
            [&[0], &[2, 3]],
        ),
        (
            |sim| {
                let _ = sim.at(secs(3)).partition("b", "a");
            },
            [&[0, 1, 2], &[0, 1, 2]],
        ),
    ];
    for (number, (add_faults, expected)) in cases.into_iter().enumerate() {
        let arrived = seconds_of_arrivals(add_faults);
        assert_eq!(arrived, expected.map(<[u8]>::to_vec), "case {number}");
    }
}

#[test]
fn a_server_that_is_restarted_begins_anew() {
    static LIVES: AtomicU32 = AtomicU32::new(0);
    let mut sim = Sim::new(1);
    sim.host("server", || {
        // ORDERING: one thread of a simulation runs at a time.
        let life = LIVES.fetch_add(1, Ordering::Relaxed);
        async move {
            let socket = bind(7).await?;
            for request in 0_u32.. {
                let (_, from) = socket.recv_from(&mut [0; 8]).await?;
                let answer = [life.to_le_bytes(), request.to_le_bytes()].concat();
                socket.send_to(&answer, from).await?;
            }
            io::Result::Ok(())
        }
    });
    sim.client("client", async {
        let socket = bind(0).await?;
        socket.connect("server:7").await?;
        for life in 0..3_u32 {
            until(secs(2 * u64::from(life) + 1)).await;
            for request in 0..2_u32 {
                let mut answer = [0; 8];
                socket.send(b"?").await?;
                socket.recv(&mut answer).await?;
                let expected = [life.to_le_bytes(), request.to_le_bytes()].concat();
                assert_eq!(answer, expected[..]);
            }
        }
        io::Result::Ok(())
    });
    sim.at(secs(2)).kill("server").for_(millis(100));
    sim.at(secs(4)).crash("server").for_(millis(100));
    sim.run();
}

#[test]
fn the_loopback_address_is_for_datagrams_of_its_own_host_only() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let local = UdpSocket::bind("127.0.0.1:7").await?;
        let open = bind(8).await?;
        let (from_other, from_self) = (b"of the other host", b"of this host");
        let mut buf = [0; 64];
        let (bytes, _) = open.recv_from(&mut buf).await?;
        assert_eq!(&buf[..bytes], from_other);
        open.send_to(from_self, "127.0.0.1:7").await?;
        let (bytes, from) = local.recv_from(&mut buf).await?;
        assert_eq!(&buf[..bytes], from_self);
        assert_eq!(from, "127.0.0.1:8".parse().unwrap());
        io::Result::Ok(())
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let socket = bind(0).await?;
        socket.send_to(b"lost", "server:7").await?;
        socket.send_to(b"of the other host", "server:8").await?;
        // A socket that is not connected is not told.
        assert!(!is_answered(&socket, secs(1)).await?);
        socket.connect("server:7").await?;
        socket.send(b"lost").await?;
        let error = socket.recv(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let local = UdpSocket::bind("127.0.0.1:0").await?;
        let sent = local.send_to(b"x", "server:8").await;
        let connected = local.connect("server:8").await;
        for result in [sent.map(drop), connected] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn a_host_reaches_its_own_sockets_by_its_own_address() {
    let mut sim = Sim::new(1);
    sim.client("host", async {
        let own = addr_of("host").await;
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        let any = IpAddr::from(Ipv4Addr::UNSPECIFIED);
        for (bound, to, is_reached) in [
            (any, own, true),
            (any, loopback, true),
            (own, own, true),
            (own, loopback, false),
            (loopback, own, false),
        ] {
            let receiver = UdpSocket::bind((bound, 7)).await?;
            let sender = bind(8).await?;
            sender.send_to(b"x", (to, 7)).await?;
            let received = timeout(secs(1), receiver.recv_from(&mut [0])).await;
            assert_eq!(received.is_ok(), is_reached, "from {to} to {bound}");
            if let Ok(received) = received {
                assert_eq!(received?, (1, SocketAddr::new(to, 8)));
            }
        }
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn a_socket_for_both_families_gets_datagrams_by_name() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let socket = UdpSocket::bind("[::]:7").await?;
        let (_, from) = socket.recv_from(&mut [0]).await?;
        assert!(from.is_ipv6());
        assert_eq!(from.ip().to_canonical(), addr_of("client").await);
        socket.send_to(b"y", from).await
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let socket = UdpSocket::bind("[::]:0").await?;
        socket.send_to(b"x", "server:7").await?;
        assert!(is_answered(&socket, secs(1)).await?);
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn a_connected_socket_receives_from_its_peer_only() {
    let mut sim = Sim::new(1);
    for name in ["peer", "other"] {
        sim.client(name, async move {
            sleep(millis(1)).await;
            let socket = bind(8).await?;
            socket.send_to(name.as_bytes(), "host:7").await
        });
    }
    sim.client("host", async {
        let socket = bind(7).await?;
        socket.connect("peer:8").await?;
        let mut seen = BTreeSet::new();
        let mut buf = [0; 8];
        while let Ok(received) = timeout(secs(5), socket.recv(&mut buf)).await {
            seen.insert(buf[..received?].to_vec());
        }
        assert_eq!(Vec::from_iter(seen), [b"peer"]);
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn a_datagram_to_an_address_of_no_host_is_an_error() {
    let mut sim = Sim::new(1);
    sim.client("client", async {
        let socket = bind(0).await?;
        let sent = socket.send_to(b"x", "10.0.0.2:80").await;
        let connected = socket.connect("10.0.0.2:80").await;
        for result in [sent.map(drop), connected] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::NetworkUnreachable);
        }
        io::Result::Ok(())
    });
    sim.run();
}
