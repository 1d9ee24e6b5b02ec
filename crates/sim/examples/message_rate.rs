//! How many messages a second the simulation passes between hosts: requests and responses of 64
//! bytes over TCP. Also how long virtual minutes with a sleep each take.
//!
//! `cargo run --release -p raddle-sim --example message_rate`, with `messages PAIRS ROUNDS WORKERS`
//! or `minutes COUNT` for one of the two. `cargo xtask bench simulation` runs it beside other
//! simulators.

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next();
    let mut next = |otherwise: usize| {
        let number = arguments.next().map(|argument| argument.parse());
        number.map_or(otherwise, |number| number.expect("a number"))
    };
    match what.as_deref() {
        None => {
            rate::messages(1, 300_000, 2);
            rate::minutes(24 * 60);
        }
        Some("messages") => rate::messages(next(1), next(300_000), next(2)),
        Some("minutes") => rate::minutes(next(24 * 60)),
        Some(_) => panic!("use messages PAIRS ROUNDS WORKERS, or minutes COUNT"),
    }
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
        println!("{rate:.0} messages/s between {pairs} pairs of hosts with {workers} workers");
    }

    pub(crate) fn minutes(count: usize) {
        let mut sim = Sim::new(1);
        let limit = secs(60 * count as u64 + 1);
        sim.limit(limit).client("sleeper", async move {
            for _ in 0..count {
                raddle::time::sleep(secs(60)).await;
            }
        });
        let start = Instant::now();
        sim.run();
        let time = start.elapsed().as_secs_f64() * 1e3;
        println!("{time:.3} ms for {count} virtual minutes with a sleep each");
    }
}
