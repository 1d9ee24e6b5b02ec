//! tokio-rustls at both ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sim::Sim;
use simulated::tls::Identity;
use simulated::{disturb, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const TASKS: usize = 2;
const TRANSFERS: usize = 8;
const LENGTH: usize = 30_000;

/// Echoes what each client sends.
async fn serve(identity: Identity) -> io::Result<()> {
    let acceptor = TlsAcceptor::from(Arc::new(identity.server()));
    let listener = TcpListener::bind("0.0.0.0:443").await?;
    loop {
        let (tcp, _) = listener.accept().await?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let stream = acceptor.accept(tcp).await?;
            let (mut reader, mut writer) = tokio::io::split(stream);
            tokio::io::copy(&mut reader, &mut writer).await?;
            writer.shutdown().await
        });
    }
}

/// Sends bytes, and returns what comes back.
async fn transfer(connector: &TlsConnector, sent: &[u8]) -> io::Result<Vec<u8>> {
    let tcp = TcpStream::connect("server:443").await?;
    let name = ServerName::try_from("server").unwrap();
    let mut stream = connector.connect(name, tcp).await?;
    stream.write_all(sent).await?;
    stream.shutdown().await?;
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await?;
    Ok(received)
}

async fn run_client(identity: Identity) {
    let connector = TlsConnector::from(Arc::new(identity.client()));
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let connector = connector.clone();
        tasks.spawn(async move {
            for number in 0..TRANSFERS {
                let byte = |at: usize| (at * 31 + task + number) as u8;
                let sent: Vec<_> = (0..LENGTH).map(byte).collect();
                let received = retry(|| transfer(&connector, &sent)).await;
                assert!(received == sent, "the bytes of transfer {number} differ");
                sleep(Duration::from_millis(500)).await;
            }
        });
    }
    tasks.join_all().await;
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
fn bytes_come_back_unchanged(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
