//! Messages between hosts of madsim, and sleeps.
#![forbid(unsafe_code)]

#[cfg(not(madsim))]
fn main() {
    panic!("build it with RUSTFLAGS=\"--cfg madsim\"");
}

#[cfg(madsim)]
fn main() {
    use std::time::Instant;

    use madsim::runtime::Runtime;
    use simulators::{LATENCY, Load};

    let load = Load::from_arguments();
    let mut config = madsim::Config::default();
    config.net.send_latency = LATENCY..LATENCY + std::time::Duration::from_nanos(1);
    let runtime = Runtime::with_seed_and_config(1, config);
    let start = Instant::now();
    runtime.block_on(loads::run(load));
    load.print(start);
}

#[cfg(madsim)]
mod loads {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use madsim::runtime::Handle;
    use madsim_tokio::io::{AsyncReadExt, AsyncWriteExt};
    use madsim_tokio::net::{TcpListener, TcpStream};
    use simulators::{BYTES, Load, MINUTE};

    async fn serve() {
        let listener = TcpListener::bind("0.0.0.0:80").await.expect("a port");
        let (mut stream, _) = listener.accept().await.expect("a client");
        let mut buf = [0; BYTES];
        while stream.read_exact(&mut buf).await.is_ok() {
            stream.write_all(&buf).await.expect("a client");
            stream.flush().await.expect("a client");
        }
    }

    async fn ask(server: IpAddr, rounds: usize) -> std::io::Result<()> {
        // Until the server listens.
        madsim::time::sleep(Duration::from_secs(1)).await;
        let mut stream = TcpStream::connect((server, 80)).await?;
        let mut buf = [7; BYTES];
        for _ in 0..rounds {
            stream.write_all(&buf).await?;
            stream.flush().await?;
            stream.read_exact(&mut buf).await?;
        }
        Ok(())
    }

    pub(crate) async fn run(load: Load) {
        let (pairs, rounds) = match load {
            Load::Messages { pairs, rounds } => (pairs, rounds),
            Load::Minutes(count) => {
                for _ in 0..count {
                    madsim::time::sleep(MINUTE).await;
                }
                return;
            }
        };
        let handle = Handle::current();
        let node = |name: String, number: usize| {
            let ip = IpAddr::from(Ipv4Addr::from_bits(0x0A00_0001 + number as u32));
            (handle.create_node().name(name).ip(ip).build(), ip)
        };
        let mut clients = Vec::new();
        for pair in 0..pairs {
            let (server, ip) = node(format!("server{pair}"), 2 * pair);
            server.spawn(serve());
            let (client, _) = node(format!("client{pair}"), 2 * pair + 1);
            clients.push(client.spawn(ask(ip, rounds)));
        }
        for client in clients {
            client.await.expect("no panic").expect("no error");
        }
    }
}
