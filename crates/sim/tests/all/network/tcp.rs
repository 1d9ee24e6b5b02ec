//! TCP between hosts.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpSocket, TcpStream};
use raddle::time::{Instant, sleep, timeout};
use raddle_sim::{Latency, Link, Sim, millis, secs};

use super::{addr_of, until};

async fn listen() -> io::Result<TcpListener> {
    TcpListener::bind("0.0.0.0:7").await
}

/// Answers each number with the numbers below it.
async fn count_down() -> io::Result<()> {
    let listener = listen().await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        raddle::spawn(async move {
            stream.write_u8(b'!').await?;
            while let Ok(number) = stream.read_u8().await {
                for below in (0..number).rev() {
                    stream.write_u8(below).await?;
                }
            }
            io::Result::Ok(())
        });
    }
}

async fn ask(stream: &mut TcpStream, number: u8) -> io::Result<()> {
    stream.write_u8(number).await?;
    for below in (0..number).rev() {
        assert_eq!(stream.read_u8().await?, below);
    }
    Ok(())
}

#[test]
fn a_server_that_speaks_first_serves_several_clients() {
    let mut sim = Sim::new(1);
    sim.host("server", count_down);
    for client in 1..=5 {
        sim.client(&format!("client{client}"), async move {
            sleep(millis(1)).await;
            let mut stream = TcpStream::connect("server:7").await?;
            assert_eq!(stream.read_u8().await?, b'!');
            ask(&mut stream, client).await?;
            ask(&mut stream, 2 * client).await
        });
    }
    sim.run();
}

#[test]
fn connecting_over_a_cut_link_times_out() {
    let mut sim = Sim::new(1);
    sim.host("server", count_down);
    sim.client("client", async {
        let error = TcpStream::connect("server:7").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        // Attempts after 1, 2, 4, .. 32 s, and 64 s for the last.
        until(secs(127)).await;
    });
    let _ = sim.at(secs(0)).partition("client", "server");
    sim.run();
}

#[test]
fn an_attempt_to_connect_goes_on_after_the_link_is_healed() {
    for one_way in [None, Some(("client", "server")), Some(("server", "client"))] {
        let mut sim = Sim::new(1);
        sim.host("server", count_down);
        sim.client("client", async {
            let start = Instant::now();
            let mut stream = TcpStream::connect("server:7").await?;
            assert_eq!(start.elapsed().as_secs(), 3);
            assert_eq!(stream.read_u8().await?, b'!');
            ask(&mut stream, 3).await
        });
        let at = sim.at(secs(0));
        match one_way {
            None => at.partition("client", "server").for_(secs(2)),
            Some((from, to)) => at.partition_one_way(from, to).for_(secs(2)),
        }
        sim.run();
    }
}

#[test]
fn a_client_that_gives_up_before_it_is_connected_is_not_accepted() {
    for fault in ["hold", "partition", "answers lost"] {
        let mut sim = Sim::new(1);
        sim.client("server", async {
            let listener = listen().await?;
            let (mut stream, peer) = listener.accept().await?;
            assert_eq!(peer.ip(), addr_of("patient").await);
            assert_eq!(stream.read_u8().await?, 1);
            assert!(timeout(secs(200), listener.accept()).await.is_err());
            io::Result::Ok(())
        });
        sim.client("hasty", async {
            sleep(millis(1)).await;
            let connect = TcpStream::connect("server:7");
            assert!(timeout(secs(1), connect).await.is_err());
        });
        sim.client("patient", async {
            sleep(secs(10)).await;
            TcpStream::connect("server:7").await?.write_u8(1).await
        });
        let at = sim.at(secs(0));
        let fault = match fault {
            "hold" => at.hold("hasty", "server"),
            "partition" => at.partition("hasty", "server"),
            _ => at.partition_one_way("server", "hasty"),
        };
        fault.for_(secs(5));
        sim.run();
    }
}

#[test]
fn a_held_link_does_not_block_the_others() {
    let mut sim = Sim::new(1);
    sim.host("server", count_down);
    sim.client("far", async {
        sleep(millis(1)).await;
        let connect = TcpStream::connect("server:7");
        assert!(timeout(secs(2), connect).await.is_err());
        let mut stream = TcpStream::connect("server:7").await?;
        assert_eq!(stream.read_u8().await?, b'!');
        until(secs(5)).await;
        io::Result::Ok(())
    });
    sim.client("near", async {
        sleep(secs(1)).await;
        let mut stream = TcpStream::connect("server:7").await?;
        assert_eq!(stream.read_u8().await?, b'!');
        ask(&mut stream, 9).await?;
        assert!(super::since_start() < millis(1_010));
        io::Result::Ok(())
    });
    sim.at(secs(0)).hold("far", "server").for_(secs(5));
    sim.run();
}

#[test]
fn connections_that_have_ended_do_not_block_the_queue_of_a_listener() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let listener = listen().await?;
        until(secs(3)).await;
        for _ in 0..5 {
            let (mut stream, _) = listener.accept().await?;
            assert_eq!(stream.read(&mut [0]).await?, 0);
        }
        let (mut stream, _) = listener.accept().await?;
        assert_eq!(stream.read_u8().await?, 6);
        io::Result::Ok(())
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        for _ in 0..5 {
            TcpStream::connect("server:7").await?;
        }
        TcpStream::connect("server:7").await?.write_u8(6).await
    });
    sim.run();
}

#[test]
fn a_full_queue_of_a_listener_delays_the_next_client() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let socket = TcpSocket::new_v4()?;
        socket.bind("0.0.0.0:7".parse().unwrap())?;
        let listener = socket.listen(1)?;
        until(secs(5)).await;
        for _ in 0..3 {
            listener.accept().await?;
        }
        io::Result::Ok(())
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let _queued = [
            TcpStream::connect("server:7").await?,
            TcpStream::connect("server:7").await?,
        ];
        let start = Instant::now();
        TcpStream::connect("server:7").await?;
        // The attempts are after 0, 1, 3 and 7 s.
        assert_eq!(start.elapsed().as_secs(), 7);
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn the_port_of_a_client_is_free_again_after_either_side_has_ended_the_connection() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let listener = listen().await?;
        for client_ends_first in [true, false] {
            let (mut stream, _) = listener.accept().await?;
            if client_ends_first {
                assert_eq!(stream.read(&mut [0]).await?, 0);
            } else {
                sleep(millis(10)).await;
            }
        }
        io::Result::Ok(())
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        for client_ends_first in [true, false] {
            let mut stream = TcpStream::connect("server:7").await?;
            let port = stream.local_addr()?.port();
            assert!((32_768..=60_999).contains(&port), "{port}");
            let error = TcpListener::bind(("0.0.0.0", port)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            if !client_ends_first {
                assert_eq!(stream.read(&mut [0]).await?, 0);
            }
            drop(stream);
            TcpListener::bind(("0.0.0.0", port)).await?;
        }
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn a_host_reaches_itself_by_its_own_address() {
    let mut sim = Sim::new(1);
    sim.client("host", async {
        let own = addr_of("host").await;
        for (bound, connected, is_reached) in [
            (Ipv4Addr::UNSPECIFIED.into(), own, true),
            (
                Ipv4Addr::UNSPECIFIED.into(),
                Ipv4Addr::LOCALHOST.into(),
                true,
            ),
            (own, own, true),
            (own, Ipv4Addr::LOCALHOST.into(), false),
            (IpAddr::from(Ipv4Addr::LOCALHOST), own, false),
        ] {
            let listener = TcpListener::bind((bound, 7)).await?;
            let start = Instant::now();
            let connect = TcpStream::connect((connected, 7)).await;
            if !is_reached {
                let error = connect.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
                continue;
            }
            let (mut client, (mut server, peer)) = (connect?, listener.accept().await?);
            assert_eq!(peer, client.local_addr()?);
            assert_eq!(client.local_addr()?.ip(), connected);
            assert_eq!(client.peer_addr()?, SocketAddr::from((connected, 7)));
            assert_eq!(server.local_addr()?, client.peer_addr()?);
            server.write_u8(1).await?;
            assert_eq!(client.read_u8().await?, 1);
            assert!(!start.elapsed().is_zero());
        }
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn the_loopback_address_is_for_its_own_host_only() {
    let mut sim = Sim::new(1);
    sim.host("server", || async {
        let _listener = TcpListener::bind("127.0.0.1:7").await?;
        std::future::pending::<io::Result<()>>().await
    });
    sim.host("open", count_down);
    sim.client("client", async {
        sleep(millis(1)).await;
        let error = TcpStream::connect("server:7").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let socket = TcpSocket::new_v4()?;
        socket.bind("127.0.0.1:0".parse().unwrap())?;
        let to = SocketAddr::new(addr_of("open").await, 7);
        let error = socket.connect(to).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn an_address_of_no_host_is_unreachable() {
    let mut sim = Sim::new(1);
    sim.client("client", async {
        let error = TcpStream::connect("10.0.0.2:80").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
    });
    sim.run();
}

#[test]
fn a_listener_for_both_families_is_reached_by_name() {
    let mut sim = Sim::new(1);
    sim.client("server", async {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 7)).await?;
        let (mut stream, peer) = listener.accept().await?;
        assert!(peer.is_ipv6());
        assert_eq!(peer.ip().to_canonical(), addr_of("client").await);
        stream.write_u8(1).await
    });
    sim.client("client", async {
        sleep(millis(1)).await;
        let mut stream = TcpStream::connect("server:7").await?;
        assert_eq!(stream.read_u8().await?, 1);
        io::Result::Ok(())
    });
    sim.run();
}

/// Sends a byte 10 ms before a fault of 2 s begins, over a link that takes 20 ms. Returns when it
/// arrives.
fn arrival_of_a_byte_on_its_way(fault: &str) -> std::time::Duration {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sim = Sim::new(1);
    sim.default_link(Link {
        latency: Latency::Fixed(millis(20)),
        ..Link::default()
    });
    sim.host("server", || async {
        let (mut stream, _) = listen().await?.accept().await?;
        until(millis(990)).await;
        stream.write_all(b"o").await?;
        until(secs(2)).await;
        // Waits for what was sent before.
        stream.write_all(b"k").await?;
        std::future::pending::<io::Result<()>>().await
    });
    sim.client("client", async move {
        sleep(millis(100)).await;
        let mut stream = TcpStream::connect("server:7").await?;
        let mut text = [0; 2];
        stream.read_exact(&mut text[..1]).await?;
        sender.send(super::since_start()).unwrap();
        stream.read_exact(&mut text[1..]).await?;
        assert_eq!(&text, b"ok");
        io::Result::Ok(())
    });
    let at = sim.at(secs(1));
    let fault = match fault {
        "partition" => at.partition("client", "server"),
        "one way" => at.partition_one_way("server", "client"),
        "other way" => at.partition_one_way("client", "server"),
        _ => at.hold("client", "server"),
    };
    fault.for_(secs(2));
    sim.run();
    receiver.recv().unwrap()
}

#[test]
fn a_fault_of_a_link_is_one_of_what_is_on_its_way() {
    for fault in ["partition", "one way", "hold"] {
        let arrival = arrival_of_a_byte_on_its_way(fault);
        assert!(
            arrival >= secs(3) && arrival < secs(7),
            "{fault}: {arrival:?}"
        );
    }
    assert_eq!(arrival_of_a_byte_on_its_way("other way"), millis(1_010));
}

#[test]
fn bytes_on_their_way_stay_in_order_when_a_fault_begins_and_ends() {
    for fault in ["partition", "hold"] {
        let mut sim = Sim::new(1);
        sim.default_link(Link {
            latency: Latency::Fixed(millis(20)),
            ..Link::default()
        });
        sim.host("server", || async {
            let (mut stream, _) = listen().await?.accept().await?;
            until(secs(1)).await;
            for byte in 0..100 {
                stream.write_u8(byte).await?;
                sleep(millis(1)).await;
            }
            std::future::pending::<io::Result<()>>().await
        });
        sim.client("client", async {
            sleep(millis(100)).await;
            let mut stream = TcpStream::connect("server:7").await?;
            for byte in 0..100 {
                assert_eq!(stream.read_u8().await?, byte);
            }
            io::Result::Ok(())
        });
        for begin in [1_005, 1_030, 1_070] {
            let at = sim.at(millis(begin));
            match fault {
                "hold" => at.hold("client", "server").for_(millis(10)),
                _ => at.partition("client", "server").for_(millis(10)),
            }
        }
        sim.run();
    }
}

#[test]
fn a_cut_direction_fills_and_the_other_one_passes() {
    for fault in ["one way", "hold"] {
        let mut sim = Sim::new(1);
        sim.host("server", move || async move {
            let (mut stream, _) = listen().await?.accept().await?;
            until(secs(2)).await;
            stream.write_all(b"hello").await?;
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).await?;
            stream.write_u32(bytes.len() as u32).await
        });
        sim.client("client", async move {
            sleep(millis(1)).await;
            let mut stream = TcpStream::connect("server:7").await?;
            until(secs(1)).await;
            let mut sent = 0;
            let error = loop {
                match stream.try_write(&[7; 1000]) {
                    Ok(bytes) => sent += bytes,
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            let start = Instant::now();
            if fault == "one way" {
                let mut text = [0; 5];
                stream.read_exact(&mut text).await?;
                assert_eq!((&text, start.elapsed().as_secs()), (b"hello", 1));
            }
            assert!(timeout(secs(1), stream.writable()).await.is_err());
            stream.writable().await?;
            assert!(super::since_start() >= secs(10));
            stream.write_all(&[7; 1000]).await?;
            stream.shutdown().await?;
            if fault == "hold" {
                stream.read_exact(&mut [0; 5]).await?;
            }
            assert_eq!(stream.read_u32().await?, sent as u32 + 1000);
            io::Result::Ok(())
        });
        let at = sim.at(millis(500));
        match fault {
            "hold" => at.hold("client", "server").for_(millis(9_500)),
            _ => at.partition_one_way("client", "server").for_(millis(9_500)),
        }
        sim.run();
    }
}

#[test]
fn on_a_link_that_loses_packets_each_connection_is_accepted_once_and_all_bytes_arrive() {
    const CONNECTIONS: usize = 40;
    for seed in 1..=5 {
        let mut sim = Sim::new(seed);
        sim.default_link(Link {
            latency: Latency::Uniform {
                min: millis(1),
                max: millis(30),
            },
            loss: 0.25,
            ..Link::default()
        });
        sim.client("server", async {
            let listener = listen().await?;
            for _ in 0..CONNECTIONS {
                let (mut stream, _) = listener.accept().await?;
                stream.write_all(b"welcome").await?;
                let mut bytes = vec![0; 5000];
                stream.read_exact(&mut bytes).await?;
                stream.write_all(&bytes).await?;
                assert_eq!(stream.read(&mut [0]).await?, 0);
            }
            assert!(timeout(secs(300), listener.accept()).await.is_err());
            io::Result::Ok(())
        });
        sim.client("client", async {
            sleep(millis(1)).await;
            let bytes: Vec<u8> = (0..5000).map(|n| (n % 251) as u8).collect();
            for _ in 0..CONNECTIONS {
                let mut stream = TcpStream::connect("server:7").await?;
                let mut text = [0; 7];
                stream.read_exact(&mut text).await?;
                assert_eq!(&text, b"welcome");
                for part in bytes.chunks(100) {
                    stream.write_all(part).await?;
                }
                let mut answer = vec![0; 5000];
                stream.read_exact(&mut answer).await?;
                assert!(answer == bytes);
                stream.shutdown().await?;
                assert_eq!(stream.read(&mut [0]).await?, 0);
            }
            io::Result::Ok(())
        });
        sim.run();
    }
}
