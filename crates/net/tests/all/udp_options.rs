//! The options of UDP sockets, and multicasts on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use raddle_net::UdpSocket;

use crate::common::run;

#[test]
fn options_are_set_on_the_socket() -> io::Result<()> {
    run(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        assert!(!socket.broadcast()?);
        socket.set_broadcast(true)?;
        assert!(socket.broadcast()?);
        socket.set_ttl(42)?;
        assert_eq!(socket.ttl()?, 42);
        socket.set_multicast_ttl_v4(3)?;
        assert_eq!(socket.multicast_ttl_v4()?, 3);
        assert!(socket.multicast_loop_v4()?);
        socket.set_multicast_loop_v4(false)?;
        assert!(!socket.multicast_loop_v4()?);
        #[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
        {
            #[expect(deprecated, reason = "Tokio has these names, too")]
            socket.set_tos(0x14)?;
            #[expect(deprecated, reason = "Tokio has these names, too")]
            let former = socket.tos()?;
            assert_eq!(former, 0x14);
            socket.set_tos_v4(0x10)?;
            assert_eq!(socket.tos_v4()?, 0x10);
        }
        assert!(socket.take_error()?.is_none());
        assert!(socket.peer_addr().is_err());
        #[cfg(target_os = "linux")]
        assert_eq!(socket.device()?, None);
        let none: &[SocketAddr] = &[];
        let error = socket.send_to(b"x", none).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let error = socket.connect(none).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        Ok(())
    })
}

#[test]
fn options_of_ipv6_are_set_on_the_socket() {
    run(async {
        // Not every machine supports it.
        let Ok(socket) = UdpSocket::bind("[::1]:0").await else {
            return;
        };
        socket.set_multicast_loop_v6(false).unwrap();
        assert!(!socket.multicast_loop_v6().unwrap());
        #[cfg(target_os = "linux")]
        {
            socket.set_tclass_v6(96).unwrap();
            assert_eq!(socket.tclass_v6().unwrap(), 96);
        }
        // Not a multicast address.
        assert!(socket.join_multicast_v6(&Ipv6Addr::LOCALHOST, 0).is_err());
        assert!(socket.leave_multicast_v6(&Ipv6Addr::LOCALHOST, 0).is_err());
    });
}

#[test]
fn groups_are_joined_and_left() {
    run(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let group = Ipv4Addr::new(239, 255, 77, 77);
        let error = socket.leave_multicast_v4(group, Ipv4Addr::LOCALHOST);
        assert!(error.is_err());
        socket
            .join_multicast_v4(group, Ipv4Addr::LOCALHOST)
            .unwrap();
        let again = socket.join_multicast_v4(group, Ipv4Addr::LOCALHOST);
        assert!(again.is_err());
        socket
            .leave_multicast_v4(group, Ipv4Addr::LOCALHOST)
            .unwrap();
    });
}
