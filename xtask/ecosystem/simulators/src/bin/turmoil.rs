//! Messages between hosts of turmoil, and sleeps.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use simulators::{BYTES, LATENCY, Load, MINUTE};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::{TcpListener, TcpStream};

/// Longer than any load takes.
const LIMIT: Duration = Duration::from_secs(1 << 30);

async fn serve() -> turmoil::Result {
    let listener = TcpListener::bind("0.0.0.0:80").await?;
    let (mut stream, _) = listener.accept().await?;
    let mut buf = [0; BYTES];
    while stream.read_exact(&mut buf).await.is_ok() {
        stream.write_all(&buf).await?;
    }
    Ok(())
}

async fn ask(pair: usize, rounds: usize) -> turmoil::Result {
    let mut stream = TcpStream::connect(format!("server{pair}:80")).await?;
    let mut buf = [7; BYTES];
    for _ in 0..rounds {
        stream.write_all(&buf).await?;
        stream.read_exact(&mut buf).await?;
    }
    Ok(())
}

fn main() {
    let load = Load::from_arguments();
    let mut sim = turmoil::Builder::new()
        .simulation_duration(LIMIT)
        .min_message_latency(LATENCY)
        .max_message_latency(LATENCY)
        .build();
    match load {
        Load::Messages { pairs, rounds } => {
            for pair in 0..pairs {
                sim.host(format!("server{pair}"), serve);
            }
            for pair in 0..pairs {
                sim.client(format!("client{pair}"), ask(pair, rounds));
            }
        }
        Load::Minutes(count) => sim.client("sleeper", async move {
            for _ in 0..count {
                tokio::time::sleep(MINUTE).await;
            }
            Ok(())
        }),
    }
    let start = Instant::now();
    sim.run().expect("the simulation ends");
    load.print(start);
}
