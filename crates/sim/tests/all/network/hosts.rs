//! Hosts: their names, ends, crashes and restarts.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::time::{sleep, timeout};
use raddle_sim::{Sim, millis, secs};

use super::{addr_of, since_start};

#[test]
fn names_of_hosts_are_looked_up() {
    let mut sim = Sim::new(1);
    sim.host("server", std::future::pending::<()>);
    sim.client("client", async {
        let found = raddle::net::lookup_host("server:80").await?;
        let expected = SocketAddr::new(addr_of("server").await, 80);
        assert_eq!(Vec::from_iter(found), [expected]);
        for wrong in ["sever:80", "server", "server:port"] {
            assert!(raddle::net::lookup_host(wrong).await.is_err(), "{wrong}");
        }
        io::Result::Ok(())
    });
    sim.run();
}

#[test]
fn the_simulation_lasts_until_the_last_client_has_ended() {
    for last in 0..3 {
        static ENDED: AtomicU32 = AtomicU32::new(0);
        // ORDERING: one thread of a simulation runs at a time, here and below.
        ENDED.store(0, Ordering::Relaxed);
        let mut sim = Sim::new(1);
        for client in 0..3 {
            sim.client(&format!("client{client}"), async move {
                if client == last {
                    sleep(secs(100)).await;
                    assert_eq!(ENDED.load(Ordering::Relaxed), 2);
                }
                ENDED.fetch_add(1, Ordering::Relaxed);
            });
        }
        sim.run();
        assert_eq!(ENDED.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn a_crash_drops_the_tasks_of_a_host() {
    for fault in ["crash", "kill"] {
        let theirs = Arc::new(());
        let of_client = theirs.clone();
        let mut sim = Sim::new(1);
        sim.host("host", move || {
            let theirs = theirs.clone();
            async move {
                raddle::spawn(async move {
                    let _kept = theirs;
                    std::future::pending::<()>().await
                });
                std::future::pending::<()>().await
            }
        });
        sim.client("client", async move {
            sleep(secs(1)).await;
            assert_eq!(Arc::strong_count(&of_client), 3);
            sleep(secs(2)).await;
            assert_eq!(Arc::strong_count(&of_client), 2);
            sleep(secs(2)).await;
            assert_eq!(Arc::strong_count(&of_client), 3);
        });
        let at = sim.at(secs(2));
        let fault = match fault {
            "kill" => at.kill("host"),
            _ => at.crash("host"),
        };
        fault.for_(secs(2));
        sim.run();
    }
}

#[test]
fn the_clocks_of_a_host_go_on_while_it_is_down() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sim = Sim::new(1);
    sim.host("host", move || {
        let sender = sender.clone();
        async move {
            sender.send((Instant::now(), since_start())).unwrap();
            std::future::pending::<()>().await
        }
    });
    sim.client("client", async { sleep(secs(10)).await });
    sim.at(secs(2)).crash("host").for_(secs(3));
    sim.run();
    let (first, second) = (receiver.recv().unwrap(), receiver.recv().unwrap());
    assert_eq!(second.0 - first.0, secs(5));
    assert_eq!((first.1, second.1), (secs(0), secs(5)));
}

#[test]
fn an_error_of_a_host_ends_the_simulation() {
    let mut sim = Sim::new(1);
    sim.host("server", || async {
        sleep(secs(1)).await;
        Err::<(), _>("out of luck")
    });
    sim.client("client", async { sleep(secs(10)).await });
    let error = sim.try_run().unwrap_err();
    assert!(
        error.contains("host \"server\" returned an error: \"out of luck\""),
        "{error}"
    );
}

/// Answers with what it gets.
async fn echo() -> io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:7").await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        raddle::spawn(async move {
            let (mut reader, mut writer) = stream.split();
            raddle::io::copy(&mut reader, &mut writer).await
        });
    }
}

/// The server of an attempt, as a hash of its number.
fn choose(attempt: u64, servers: u64) -> u64 {
    (attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % servers
}

async fn ask(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"how are you").await?;
    let mut answer = [0; 11];
    stream.read_exact(&mut answer).await?;
    assert_eq!(&answer, b"how are you");
    Ok(())
}

#[test]
fn clients_of_a_cluster_find_another_server_when_theirs_has_crashed() {
    const SERVERS: u64 = 50;
    const LEFT: u64 = 10;
    let answered_late = Arc::new(AtomicU32::new(0));
    let counter = answered_late.clone();
    let mut sim = Sim::new(1);
    for server in 0..SERVERS {
        sim.host(&format!("server{server}"), echo);
    }
    sim.client("clients", async move {
        let mut clients = raddle::task::JoinSet::new();
        for client in 0..50 {
            let counter = counter.clone();
            clients.spawn(async move {
                let mut attempt = 1000 * client;
                while since_start() < secs(20) {
                    attempt += 1;
                    let server = format!("server{}:7", choose(attempt, SERVERS));
                    let connect = timeout(secs(1), TcpStream::connect(server)).await;
                    if let Ok(Ok(mut stream)) = connect {
                        while let Ok(Ok(())) = timeout(secs(1), ask(&mut stream)).await {
                            sleep(millis(50)).await;
                            if since_start() > secs(15) {
                                counter.fetch_add(1, Ordering::Relaxed);
                                return;
                            }
                        }
                    }
                    sleep(millis(50)).await;
                }
            });
        }
        clients.join_all().await;
    });
    for server in LEFT..SERVERS {
        let time = millis(250 * (server - LEFT));
        let _ = sim.at(time).crash(&format!("server{server}"));
    }
    sim.run();
    assert_eq!(answered_late.load(Ordering::Relaxed), 50);
}
