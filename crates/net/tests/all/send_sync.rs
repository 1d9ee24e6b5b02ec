//! Which types and futures are `Send` and `Sync`.

use raddle_net::{TcpListener, TcpSocket, TcpStream, UdpSocket, tcp};

fn anywhere<T: Send + Sync + Unpin>() {}
fn sent<T: Send>(_: &T) {}

#[test]
fn sockets_are_send_and_sync() {
    anywhere::<TcpListener>();
    anywhere::<TcpSocket>();
    anywhere::<TcpStream>();
    anywhere::<UdpSocket>();
    anywhere::<tcp::ReadHalf<'_>>();
    anywhere::<tcp::WriteHalf<'_>>();
    anywhere::<tcp::OwnedReadHalf>();
    anywhere::<tcp::OwnedWriteHalf>();
    anywhere::<tcp::ReuniteError>();
}

#[test]
#[cfg(unix)]
fn unix_sockets_are_send_and_sync() {
    use raddle_net::async_fd::{AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard};
    use raddle_net::{UnixDatagram, UnixListener, UnixSocket, UnixStream, unix};

    anywhere::<UnixListener>();
    anywhere::<UnixSocket>();
    anywhere::<UnixStream>();
    anywhere::<UnixDatagram>();
    anywhere::<unix::ReadHalf<'_>>();
    anywhere::<unix::WriteHalf<'_>>();
    anywhere::<unix::OwnedReadHalf>();
    anywhere::<unix::OwnedWriteHalf>();
    anywhere::<unix::ReuniteError>();
    anywhere::<unix::SocketAddr>();
    anywhere::<unix::UCred>();
    anywhere::<unix::pipe::Sender>();
    anywhere::<unix::pipe::Receiver>();
    anywhere::<AsyncFd<std::fs::File>>();
    anywhere::<AsyncFdReadyGuard<'_, std::fs::File>>();
    anywhere::<AsyncFdReadyMutGuard<'_, std::fs::File>>();
}

/// Futures, which a multi-thread runtime moves between threads.
#[test]
fn futures_are_send() {
    let udp = |socket: UdpSocket| async move {
        let mut buffer = Vec::with_capacity(8);
        socket.recv_buf_from(&mut buffer).await?;
        socket.send_to(&buffer, "127.0.0.1:1").await
    };
    let tcp = |listener: TcpListener| async move {
        let (stream, _) = listener.accept().await?;
        let (read, write) = stream.into_split();
        read.readable().await?;
        write.writable().await
    };
    // Never called: the compiler checks the types.
    let check = |socket, listener| {
        sent(&udp(socket));
        sent(&tcp(listener));
        sent(&TcpStream::connect("127.0.0.1:1"));
    };
    let _ = check;
}
