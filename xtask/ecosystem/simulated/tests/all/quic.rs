//! quinn at both ends: many streams on a connection, over datagrams that are lost and duplicated.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, Incoming, ServerConfig, TransportConfig};
use raddle_sim::Sim;
use simulated::tls::Identity;
use simulated::{ATTEMPT, disturb, retry};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const ROUNDS: usize = 10;
const STREAMS: usize = 10;
const LIMIT: usize = 100_000;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A connection to a server that has restarted is found out to be gone after this time.
fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.max_idle_timeout(Some(ATTEMPT.try_into().unwrap()));
    transport.into()
}

/// Echoes each stream in a task.
async fn serve(identity: Identity) -> Result<(), Error> {
    let crypto = QuicServerConfig::try_from(identity.server())?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport());
    let endpoint = Endpoint::server(config, "0.0.0.0:443".parse()?)?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(serve_connection(incoming));
    }
    Ok(())
}

async fn serve_connection(incoming: Incoming) -> Result<(), Error> {
    let connection = incoming.await?;
    loop {
        let (mut sender, mut receiver) = connection.accept_bi().await?;
        tokio::spawn(async move {
            let bytes = receiver.read_to_end(LIMIT).await?;
            sender.write_all(&bytes).await?;
            sender.finish()?;
            Ok::<_, Error>(())
        });
    }
}

async fn connect(endpoint: &Endpoint) -> Result<Connection, Error> {
    let server: SocketAddr = tokio::net::lookup_host("server:443")
        .await?
        .next()
        .ok_or("the server has an address")?;
    Ok(endpoint.connect(server, "server")?.await?)
}

async fn transfer(connection: Connection, sent: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut sender, mut receiver) = connection.open_bi().await?;
    sender.write_all(sent).await?;
    sender.finish()?;
    Ok(receiver.read_to_end(LIMIT).await?)
}

/// Sends bytes on a stream for each of `missing`. Returns those that did not come back.
async fn transfer_all(connection: &Connection, round: usize, missing: &[usize]) -> Vec<usize> {
    let mut streams = JoinSet::new();
    for &stream in missing {
        let connection = connection.clone();
        streams.spawn(async move {
            let byte = |at: usize| (at * 31 + round + stream) as u8;
            let sent: Vec<_> = (0..1_000 * stream).map(byte).collect();
            let Ok(Ok(received)) = timeout(ATTEMPT, transfer(connection, &sent)).await else {
                return Some(stream);
            };
            assert!(received == sent, "stream {stream} of round {round} differs");
            None
        });
    }
    streams.join_all().await.into_iter().flatten().collect()
}

async fn run_client(identity: Identity) -> Result<(), Error> {
    let mut endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    let crypto = QuicClientConfig::try_from(identity.client())?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport());
    endpoint.set_default_client_config(config);
    let mut connection = retry(|| connect(&endpoint)).await;
    for round in 0..ROUNDS {
        let mut missing: Vec<_> = (0..STREAMS).collect();
        loop {
            missing = transfer_all(&connection, round, &missing).await;
            if missing.is_empty() {
                break;
            }
            connection = retry(|| connect(&endpoint)).await;
        }
        sleep(Duration::from_millis(400)).await;
    }
    Ok(())
}

fn scenario(sim: &mut Sim) {
    let identity = Identity::default();
    let of_server = identity.clone();
    sim.host("server", move || serve(of_server.clone()));
    for name in CLIENTS {
        sim.client(name, run_client(identity.clone()));
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn streams_come_back_unchanged(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
