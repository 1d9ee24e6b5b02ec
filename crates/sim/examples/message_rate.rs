//! How many messages a second the simulation passes between hosts: requests and responses of 64
//! bytes over TCP. Also how long a virtual day with a sleep each minute takes.
//!
//! `cargo run --release -p raddle-sim --example message_rate -- PAIRS ROUNDS WORKERS`

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn main() {
    let mut numbers = std::env::args().skip(1).map(|argument| {
        let number = argument.parse::<usize>();
        number.expect("the arguments are numbers: PAIRS ROUNDS WORKERS")
    });
    let mut next = |otherwise| numbers.next().unwrap_or(otherwise);
    let (pairs, rounds, workers) = (next(1), next(300_000), next(2));
    rate::messages(pairs, rounds, workers);
    rate::day();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod rate {
    use std::time::Instant;

    use raddle::io::{AsyncReadExt, AsyncWriteExt};
    use raddle::net::{TcpListener, TcpStream};
    use raddle_sim::{Sim, millis, secs};

    pub(crate) fn messages(pairs: usize, rounds: usize, workers: usize) {
        let mut sim = Sim::new(1);
        sim.workers(workers);
        for pair in 0..pairs {
            sim.host(&format!("server{pair}"), || async {
                let listener = TcpListener::bind("0.0.0.0:80").await?;
                let (mut stream, _) = listener.accept().await?;
                let mut buf = [0; 64];
                while stream.read_exact(&mut buf).await.is_ok() {
                    stream.write_all(&buf).await?;
                }
                std::io::Result::Ok(())
            });
        }
        for pair in 0..pairs {
            sim.client(&format!("client{pair}"), async move {
                let mut stream = loop {
                    match TcpStream::connect(format!("server{pair}:80")).await {
                        Ok(stream) => break stream,
                        Err(_) => raddle::time::sleep(millis(10)).await,
                    }
                };
                let mut buf = [7; 64];
                for _ in 0..rounds {
                    stream.write_all(&buf).await?;
                    stream.read_exact(&mut buf).await?;
                }
                std::io::Result::Ok(())
            });
        }
        let start = Instant::now();
        sim.run();
        let rate = (pairs * rounds * 2) as f64 / start.elapsed().as_secs_f64();
        println!("{pairs} pairs of hosts with {workers} workers: {rate:.0} messages/s");
    }

    pub(crate) fn day() {
        let mut sim = Sim::new(1);
        sim.limit(secs(100_000)).client("sleeper", async {
            for _ in 0..24 * 60 {
                raddle::time::sleep(secs(60)).await;
            }
        });
        let start = Instant::now();
        sim.run();
        println!("a virtual day: {:?}", start.elapsed());
    }
}
