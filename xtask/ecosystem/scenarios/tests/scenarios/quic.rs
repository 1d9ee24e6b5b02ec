//! quinn at both ends, over UDP on the loopback address.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, VarInt};
use scenarios::load::Load;
use scenarios::on_each_policy;
use scenarios::tls::Identity;
use tokio::sync::watch;
use tokio::task::JoinSet;

const LIMIT: usize = 1_000_000;

fn endpoints() -> (Endpoint, Endpoint) {
    let identity = Identity::new();
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let crypto = QuicServerConfig::try_from(identity.server()).unwrap();
    let server = ServerConfig::with_crypto(Arc::new(crypto));
    let server = Endpoint::server(server, loopback).unwrap();
    let crypto = QuicClientConfig::try_from(identity.client()).unwrap();
    let mut client = Endpoint::client(loopback).unwrap();
    client.set_default_client_config(ClientConfig::new(Arc::new(crypto)));
    (server, client)
}

async fn connect(client: &Endpoint, server: &Endpoint) -> Connection {
    let address = server.local_addr().unwrap();
    client.connect(address, "localhost").unwrap().await.unwrap()
}

/// Accepts connections and streams, and echoes each stream in a task.
async fn echo(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await.unwrap();
            let datagrams = connection.clone();
            tokio::spawn(async move {
                while let Ok(datagram) = datagrams.read_datagram().await {
                    datagrams.send_datagram(datagram).unwrap();
                }
            });
            while let Ok((mut sender, mut receiver)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    let bytes = receiver.read_to_end(LIMIT).await.unwrap();
                    sender.write_all(&bytes).await.unwrap();
                    sender.finish().unwrap();
                });
            }
        });
    }
}

#[test]
fn quic_streams_echo_on_one_connection() {
    on_each_policy(|| async {
        let (server, client) = endpoints();
        let serving = tokio::spawn(echo(server.clone()));
        let connection = connect(&client, &server).await;
        let mut streams = JoinSet::new();
        for stream in 0..64_u8 {
            let connection = connection.clone();
            streams.spawn(async move {
                let sent = vec![stream; 1_000 * usize::from(stream)];
                let (mut sender, mut receiver) = connection.open_bi().await.unwrap();
                sender.write_all(&sent).await.unwrap();
                sender.finish().unwrap();
                assert!(receiver.read_to_end(LIMIT).await.unwrap() == sent);
            });
        }
        streams.join_all().await;

        connection.send_datagram(b"datagram"[..].into()).unwrap();
        assert_eq!(connection.read_datagram().await.unwrap()[..], *b"datagram");

        connection.close(VarInt::from_u32(0), b"finished");
        client.wait_idle().await;
        server.close(VarInt::from_u32(0), b"finished");
        server.wait_idle().await;
        serving.await.unwrap();
    });
}

#[test]
fn a_graceful_shutdown_under_load_answers_each_request_that_began() {
    /// Answers requests until it is stopped, then finishes the requests that have begun.
    async fn serve(connection: Connection, load: Load, mut stop: watch::Receiver<bool>) {
        let mut requests = JoinSet::new();
        loop {
            let (mut sender, mut receiver) = tokio::select! {
                stream = connection.accept_bi() => stream.unwrap(),
                _ = stop.wait_for(|stop| *stop) => break,
            };
            load.begin();
            requests.spawn(async move {
                let bytes = receiver.read_to_end(LIMIT).await.unwrap();
                sender.write_all(&bytes).await.unwrap();
                sender.finish().unwrap();
                // Waits until the client has acknowledged the whole reply.
                assert_eq!(sender.stopped().await.unwrap(), None);
            });
        }
        requests.join_all().await;
        connection.close(VarInt::from_u32(0), b"finished");
    }
    on_each_policy(|| async {
        let (server, client) = endpoints();
        let load = Load::default();
        let (stop, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut clients = JoinSet::new();
        for _ in 0..4 {
            let accept = async { server.accept().await.unwrap().await.unwrap() };
            let (there, here) = tokio::join!(accept, connect(&client, &server));
            connections.spawn(serve(there, load.clone(), stopped.clone()));
            for _ in 0..4 {
                let (here, load) = (here.clone(), load.clone());
                clients.spawn(async move {
                    while let Ok((mut sender, mut receiver)) = here.open_bi().await {
                        if sender.write_all(&[1; 10_000]).await.is_err() {
                            break;
                        }
                        let _ = sender.finish();
                        match receiver.read_to_end(LIMIT).await {
                            Ok(bytes) => assert_eq!(bytes.len(), 10_000),
                            Err(_) => break,
                        }
                        load.answer();
                    }
                });
            }
        }
        load.answered(500).await;
        stop.send(true).unwrap();
        connections.join_all().await;
        clients.join_all().await;
        load.assert_no_request_lost();
        server.wait_idle().await;
    });
}
