//! tokio-rustls at both ends of a connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use scenarios::load::Load;
use scenarios::on_each_policy;
use scenarios::tls::Identity;
use tokio::io::{self, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector};

async fn connect(address: SocketAddr, config: ClientConfig) -> io::Result<TlsStream<TcpStream>> {
    let tcp = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
}

/// Accepts connections, and echoes each in a task.
async fn echo_server(identity: &Identity) -> (SocketAddr, JoinHandle<()>) {
    let acceptor = TlsAcceptor::from(Arc::new(identity.server()));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(tcp).await else {
                    return;
                };
                let (mut reader, mut writer) = io::split(stream);
                io::copy(&mut reader, &mut writer).await.unwrap();
                writer.shutdown().await.unwrap();
            });
        }
    });
    (address, server)
}

#[test]
fn bytes_come_back_unchanged_through_tls() {
    const LENGTH: usize = 2_000_000;
    on_each_policy(|| async {
        let identity = Identity::new();
        let (address, server) = echo_server(&identity).await;
        let mut clients = JoinSet::new();
        for client in 0..8_usize {
            let config = identity.client();
            clients.spawn(async move {
                let stream = connect(address, config).await.unwrap();
                let (mut reader, mut writer) = io::split(stream);
                let sent: Vec<u8> = (0..LENGTH).map(|at| (at * 31 + client) as u8).collect();
                let copy = sent.clone();
                let writing = tokio::spawn(async move {
                    writer.write_all(&copy).await.unwrap();
                    writer.shutdown().await.unwrap();
                });
                let mut received = Vec::new();
                reader.read_to_end(&mut received).await.unwrap();
                assert!(received == sent, "{} bytes differ", received.len());
                writing.await.unwrap();
            });
        }
        clients.join_all().await;
        server.abort();
    });
}

#[test]
fn a_client_refuses_a_certificate_that_it_does_not_know() {
    on_each_policy(|| async {
        let (address, server) = echo_server(&Identity::new()).await;
        let error = connect(address, Identity::new().client()).await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidData);
        server.abort();
    });
}

#[test]
fn a_shutdown_under_load_answers_each_request_that_began() {
    /// Reads numbers and replies with their successors, until it is stopped between two of them.
    async fn serve(
        acceptor: TlsAcceptor,
        tcp: TcpStream,
        load: Load,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut stream = acceptor.accept(tcp).await.unwrap();
        loop {
            let number = tokio::select! {
                biased;
                number = stream.read_u64() => number.unwrap(),
                _ = stop.wait_for(|stop| *stop) => break,
            };
            load.begin();
            tokio::task::yield_now().await;
            stream.write_u64(number + 1).await.unwrap();
            stream.flush().await.unwrap();
        }
        stream.shutdown().await.unwrap();
        // Waits for the client to close, so that no reset overtakes the last reply.
        let _ = io::copy(&mut stream, &mut io::sink()).await;
    }
    on_each_policy(|| async {
        let identity = Identity::new();
        let acceptor = TlsAcceptor::from(Arc::new(identity.server()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let load = Load::default();
        let (stop, stopped) = watch::channel(false);
        let mut clients = JoinSet::new();
        let mut servers = JoinSet::new();
        for _ in 0..8 {
            let (load_here, config) = (load.clone(), identity.client());
            clients.spawn(async move {
                let mut stream = connect(address, config).await.unwrap();
                for number in 0.. {
                    if stream.write_u64(number).await.is_err() || stream.flush().await.is_err() {
                        break;
                    }
                    match stream.read_u64().await {
                        Ok(reply) => assert_eq!(reply, number + 1),
                        Err(_) => break,
                    }
                    load_here.answer();
                }
            });
            let (tcp, _) = listener.accept().await.unwrap();
            servers.spawn(serve(acceptor.clone(), tcp, load.clone(), stopped.clone()));
        }
        load.answered(2_000).await;
        stop.send(true).unwrap();
        servers.join_all().await;
        clients.join_all().await;
        load.assert_no_request_lost();
    });
}
