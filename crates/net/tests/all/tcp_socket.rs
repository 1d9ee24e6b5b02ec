//! `TcpSocket`: options before a connection.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::TcpSocket;
use raddle_testing::poll;

#[cfg(target_os = "linux")]
use crate::common::run_beside_driver;
use crate::common::{self, both, run};

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[test]
fn two_tcp_sockets_connect() {
    run(async {
        let listening = TcpSocket::new_v4().unwrap();
        listening.set_reuseaddr(true).unwrap();
        listening.bind(any()).unwrap();
        let addr = listening.local_addr().unwrap();
        let listener = listening.listen(16).unwrap();
        assert_eq!(listener.local_addr().unwrap(), addr);

        let connecting = TcpSocket::new_v4().unwrap();
        connecting.set_nodelay(true).unwrap();
        connecting.bind(any()).unwrap();
        let from = connecting.local_addr().unwrap();
        let (near, far) = both(connecting.connect(addr), listener.accept()).await;
        let (mut near, (mut far, peer)) = (near.unwrap(), far.unwrap());
        assert_eq!(peer, from);
        assert!(near.nodelay().unwrap());
        near.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 5];
        far.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"hello");
    });
}

#[test]
fn connecting_without_a_listener_returns_connection_refused() {
    run(async {
        let socket = TcpSocket::new_v4().unwrap();
        let error = socket.connect(common::refusing()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let taken = TcpSocket::new_v4().unwrap();
        taken.bind(any()).unwrap();
        let other = TcpSocket::new_v4().unwrap();
        let error = other.bind(taken.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        // An address of the other family.
        assert!(other.bind("[::1]:0".parse().unwrap()).is_err());
    });
}

/// If the peer does not answer, the attempt is pending until it is dropped.
#[test]
#[cfg(target_os = "linux")]
fn a_connection_attempt_without_an_answer_can_be_dropped() {
    run_beside_driver(async {
        let listening = TcpSocket::new_v4().unwrap();
        listening.bind(any()).unwrap();
        let addr = listening.local_addr().unwrap();
        let _listener = listening.listen(1).unwrap();
        // Fill the queue of connections that are not accepted.
        let first = TcpSocket::new_v4().unwrap().connect(addr).await.unwrap();
        let mut streams = vec![first];
        let mut given_up = false;
        for _ in 0..20 {
            let mut attempt = Box::pin(TcpSocket::new_v4().unwrap().connect(addr));
            let mut polls = 0;
            loop {
                match poll(attempt.as_mut()) {
                    std::task::Poll::Ready(stream) => break streams.push(stream.unwrap()),
                    std::task::Poll::Pending if polls == 50 => break given_up = true,
                    std::task::Poll::Pending => polls += 1,
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            if given_up {
                break;
            }
        }
        assert!(given_up);
    });
}

#[test]
fn options_are_set_on_the_socket() -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    assert!(!socket.keepalive()?);
    socket.set_keepalive(true)?;
    assert!(socket.keepalive()?);
    assert!(!socket.reuseaddr()?);
    socket.set_reuseaddr(true)?;
    assert!(socket.reuseaddr()?);
    #[cfg(target_os = "linux")]
    {
        assert!(!socket.reuseport()?);
        socket.set_reuseport(true)?;
        assert!(socket.reuseport()?);
        assert_eq!(socket.device()?, None);
    }
    socket.set_send_buffer_size(32_768)?;
    assert!(socket.send_buffer_size()? >= 32_768);
    socket.set_recv_buffer_size(32_768)?;
    assert!(socket.recv_buffer_size()? >= 32_768);
    socket.set_linger(Some(Duration::from_secs(2)))?;
    assert_eq!(socket.linger()?, Some(Duration::from_secs(2)));
    socket.set_zero_linger()?;
    assert_eq!(socket.linger()?, Some(Duration::ZERO));
    socket.set_nodelay(true)?;
    assert!(socket.nodelay()?);
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
    Ok(())
}

#[test]
#[cfg(unix)]
fn sockets_convert_from_and_to_other_types() {
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};

    run(async {
        let std_listener = std::net::TcpListener::bind(any()).unwrap();
        let addr = std_listener.local_addr().unwrap();
        let stream = std::net::TcpStream::connect(addr).unwrap();
        let number = stream.as_raw_fd();
        let socket = TcpSocket::from_std_stream(stream);
        assert_eq!(socket.as_fd().as_raw_fd(), number);
        socket.set_zero_linger().unwrap();
        assert_eq!(socket.into_raw_fd(), number);
        // SAFETY: the number has just been given up by its owner.
        let socket = unsafe { TcpSocket::from_raw_fd(number) };
        assert_eq!(socket.as_raw_fd(), number);
    });
}

#[test]
fn options_of_a_stream_are_set_on_its_socket() -> io::Result<()> {
    run(async {
        let listening = TcpSocket::new_v4()?;
        listening.bind(any())?;
        let addr = listening.local_addr()?;
        let listener = listening.listen(16)?;
        let (near, far) = both(TcpSocket::new_v4()?.connect(addr), listener.accept()).await;
        let (near, (mut far, _)) = (near?, far?);
        #[cfg(target_os = "linux")]
        {
            near.set_quickack(false)?;
            assert!(!near.quickack()?);
            near.set_quickack(true)?;
            assert!(near.quickack()?);
        }
        assert!(poll(pin!(far.read(&mut [0; 8]))).is_pending());
        // Closing it now resets the connection.
        near.set_zero_linger()?;
        drop(near);
        if common::has_resets() {
            let error = far.read(&mut [0; 8]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        Ok(())
    })
}
