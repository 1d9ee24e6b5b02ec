//! tokio-tungstenite: a server that puts the messages of all clients into one order, and sends them
//! to all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use raddle_sim::Sim;
use simulated::{ATTEMPT, disturb, retry};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const CLIENTS: [&str; 3] = ["alice", "bob", "carol"];
const MESSAGES: usize = 60;

/// All messages, in their order. They outlive the server's process, as a disk does.
type Disk = Arc<Mutex<Vec<String>>>;

async fn serve(disk: Disk) -> std::io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:80").await?;
    let (changed, _) = watch::channel(());
    loop {
        let (tcp, _) = listener.accept().await?;
        tokio::spawn(serve_client(tcp, Arc::clone(&disk), changed.clone()));
    }
}

/// The first message of a client is the number of messages that it has. It gets those that follow.
async fn serve_client(tcp: TcpStream, disk: Disk, changed: watch::Sender<()>) -> Result<(), Error> {
    let mut socket = tokio_tungstenite::accept_async(tcp).await?;
    let Some(first) = socket.next().await else {
        return Ok(());
    };
    let mut sent: usize = first?.to_text()?.parse().unwrap();
    let mut change = changed.subscribe();
    loop {
        let new = disk.lock().unwrap()[sent..].to_vec();
        sent += new.len();
        for message in new {
            socket.send(Message::text(message)).await?;
        }
        tokio::select! {
            message = socket.next() => match message {
                Some(message) => {
                    let text = message?.into_text()?.as_str().to_owned();
                    let mut disk = disk.lock().unwrap();
                    // A client sends a message again if it does not know that it is there.
                    if !text.is_empty() && !disk.contains(&text) {
                        disk.push(text);
                    }
                    changed.send_replace(());
                }
                None => return Ok(()),
            },
            _ = change.changed() => {}
        }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect(seen: usize) -> Result<Socket, Error> {
    let (mut socket, _) = tokio_tungstenite::connect_async("ws://server/").await?;
    socket.send(Message::text(seen.to_string())).await?;
    Ok(socket)
}

/// Sends the messages of a client, each once the one before has come back, and receives those of
/// all clients.
async fn exchange(socket: &mut Socket, name: &str, seen: &mut Vec<String>) -> Result<(), Error> {
    loop {
        let own = seen.iter().filter(|message| message.starts_with(name));
        let own = own.count();
        if own < MESSAGES {
            let text = format!("{name} {own} {}", "text ".repeat(own * 10));
            socket.send(Message::text(text)).await?;
            sleep(Duration::from_millis(40)).await;
        }
        loop {
            if seen.len() == MESSAGES * CLIENTS.len() {
                return Ok(());
            }
            let Ok(message) = timeout(ATTEMPT, socket.next()).await else {
                return Err(Error::ConnectionClosed);
            };
            let message = message.ok_or(Error::ConnectionClosed)??;
            if let Message::Text(text) = message {
                let is_own = text.starts_with(name);
                seen.push(text.as_str().to_owned());
                if is_own {
                    break;
                }
            }
        }
    }
}

async fn run_client(name: &str, disk: Disk) {
    let mut seen = Vec::new();
    loop {
        let mut socket = retry(|| connect(seen.len())).await;
        if exchange(&mut socket, name, &mut seen).await.is_ok() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(seen, *disk.lock().unwrap());
    for sender in CLIENTS {
        let mut of_sender = seen.iter().filter(|message| message.starts_with(sender));
        for number in 0..MESSAGES {
            let message = of_sender.next().expect("each message has come");
            assert!(message.starts_with(&format!("{sender} {number} ")));
        }
        assert_eq!(of_sender.next(), None);
    }
}

fn scenario(sim: &mut Sim) {
    let disk = Disk::default();
    let of_server = Arc::clone(&disk);
    sim.host("server", move || serve(Arc::clone(&of_server)));
    for name in CLIENTS {
        sim.client(name, run_client(name, Arc::clone(&disk)));
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn all_clients_see_all_messages_in_one_order(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
