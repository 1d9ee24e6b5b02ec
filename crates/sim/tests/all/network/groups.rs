//! Broadcasts and multicasts.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

use raddle::net::UdpSocket;
use raddle::time::{sleep, timeout};
use raddle_sim::{Sim, millis, secs};

use super::{addr_of, until};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 0, 0, 1);
const ANY: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

/// Returns the first bytes of what comes until nothing does for ten seconds.
async fn receive(socket: &UdpSocket) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while let Ok(received) = timeout(secs(10), socket.recv_from(&mut byte)).await {
        let (_, from) = received?;
        assert_eq!(from.ip(), addr_of("sender").await);
        bytes.push(byte[0]);
    }
    Ok(bytes)
}

#[test]
fn a_broadcast_reaches_the_sockets_of_its_port_on_all_hosts() {
    let mut sim = Sim::new(1);
    for host in 0..3 {
        sim.client(&format!("host{host}"), async move {
            let socket = UdpSocket::bind((ANY, 9)).await?;
            let other = UdpSocket::bind((ANY, 10)).await?;
            let own = UdpSocket::bind((addr_of(&format!("host{host}")).await, 11)).await?;
            let expected: &[u8] = if host == 2 { &[2] } else { &[2, 4] };
            assert_eq!(receive(&socket).await?, expected, "{host}");
            assert_eq!(receive(&other).await?, b"");
            assert_eq!(receive(&own).await?, b"");
            io::Result::Ok(())
        });
    }
    sim.client("sender", async {
        let own = UdpSocket::bind((ANY, 9)).await?;
        let socket = UdpSocket::bind((ANY, 0)).await?;
        until(secs(1)).await;
        let to = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
        for (byte, is_allowed) in [(1, false), (2, true), (3, false)] {
            socket.set_broadcast(is_allowed)?;
            let sent = socket.send_to(&[byte], to).await;
            match is_allowed {
                true => assert_eq!(sent?, 1),
                false => assert_eq!(sent.unwrap_err().kind(), ErrorKind::PermissionDenied),
            }
        }
        until(secs(3)).await;
        socket.set_broadcast(true)?;
        socket.connect(to).await?;
        socket.send(&[4]).await?;
        socket.send_to(&[5], (Ipv4Addr::BROADCAST, 11)).await?;
        assert_eq!(receive(&own).await?, [2, 4]);
        // No port refuses one.
        assert_eq!(socket.take_error()?.map(|error| error.kind()), None);
        io::Result::Ok(())
    });
    let _ = sim.at(secs(2)).partition("sender", "host2");
    sim.run();
}

#[test]
fn a_multicast_reaches_the_hosts_in_the_group() {
    let mut sim = Sim::new(1);
    for host in 0..3 {
        sim.client(&format!("member{host}"), async move {
            let socket = UdpSocket::bind((ANY, 9)).await?;
            // Another one of the host, which is bound to the group and not in it.
            let other = UdpSocket::bind((GROUP, 9)).await;
            assert_eq!(other.unwrap_err().kind(), ErrorKind::AddrInUse);
            let elsewhere = UdpSocket::bind((GROUP, 10)).await?;
            socket.join_multicast_v4(GROUP, ANY)?;
            let error = socket.join_multicast_v4(GROUP, ANY).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            until(secs(2)).await;
            socket.leave_multicast_v4(GROUP, ANY)?;
            let error = socket.leave_multicast_v4(GROUP, ANY).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
            until(secs(4)).await;
            socket.join_multicast_v4(GROUP, ANY)?;
            assert_eq!(receive(&socket).await?, [1, 3]);
            assert_eq!(receive(&elsewhere).await?, [4]);
            io::Result::Ok(())
        });
    }
    sim.client("stranger", async {
        let socket = UdpSocket::bind((ANY, 9)).await?;
        let error = socket.join_multicast_v4(Ipv4Addr::LOCALHOST, ANY);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(receive(&socket).await?, b"");
        io::Result::Ok(())
    });
    sim.client("sender", async {
        let socket = UdpSocket::bind((ANY, 0)).await?;
        for byte in 1..=3 {
            until(secs(2 * u64::from(byte) - 1)).await;
            socket.send_to(&[byte], (GROUP, 9)).await?;
        }
        socket.send_to(&[4], (GROUP, 10)).await?;
        sleep(millis(1)).await;
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn the_sender_gets_its_own_multicasts_unless_it_does_not_want_them() {
    let mut sim = Sim::new(1);
    sim.client("sender", async {
        let socket = UdpSocket::bind((ANY, 9)).await?;
        socket.join_multicast_v4(GROUP, ANY)?;
        for (byte, loops) in [(1, true), (2, false), (3, true)] {
            socket.set_multicast_loop_v4(loops)?;
            assert_eq!(socket.multicast_loop_v4()?, loops);
            socket.send_to(&[byte], (GROUP, 9)).await?;
        }
        assert_eq!(receive(&socket).await?, [1, 3]);
        socket.leave_multicast_v4(GROUP, ANY)?;
        socket.send_to(&[4], (GROUP, 9)).await?;
        assert_eq!(receive(&socket).await?, b"");
        // The end of a socket takes it out of its groups.
        let member = UdpSocket::bind((ANY, 10)).await?;
        member.join_multicast_v4(GROUP, ANY)?;
        drop(member);
        socket.send_to(&[5], (GROUP, 9)).await?;
        assert_eq!(receive(&socket).await?, b"");
        io::Result::Ok(())
    });
    sim.run();
}
