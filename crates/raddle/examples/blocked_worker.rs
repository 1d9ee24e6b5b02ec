//! What a handler that blocks does to the other requests of a server, on Tokio and on Raddle in
//! turn.
//!
//! ```sh
//! cargo run --example blocked_worker
//! ```
//!
//! The same server runs on each runtime with two workers. Its handler of `/report` blocks its
//! thread for 200 ms, as a slow query of a synchronous driver would; that of `/health` answers at
//! once. Four clients ask for reports, with pauses, and one checks the health every 10 ms. The
//! program prints how long these checks took.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long each runtime is measured.
const TIME: Duration = Duration::from_secs(5);
const BLOCKED: Duration = Duration::from_millis(200);

/// The server, in terms of one runtime: the code is the same for both.
macro_rules! server {
    ($runtime:ident) => {
        mod $runtime {
            use std::io;
            use std::net::SocketAddr;

            use $runtime::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
            use $runtime::net::{TcpListener, TcpStream};

            /// Serves while `clients` runs, and returns its result.
            pub(crate) fn serve<T>(clients: impl FnOnce(SocketAddr) -> T) -> io::Result<T> {
                let runtime = $runtime::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()?;
                let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
                let address = listener.local_addr()?;
                runtime.spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        $runtime::spawn(answer(stream));
                    }
                });
                Ok(clients(address))
            }

            async fn answer(stream: TcpStream) -> io::Result<()> {
                let mut stream = BufReader::new(stream);
                let mut path = String::new();
                while stream.read_line(&mut path).await? > 0 {
                    if path.trim() == "/report" {
                        // The mistake: it belongs into `spawn_blocking`.
                        std::thread::sleep(crate::BLOCKED);
                    }
                    stream.write_all(b"done\n").await?;
                    path.clear();
                }
                Ok(())
            }
        }
    };
}

server!(raddle);
server!(tokio);

fn main() -> io::Result<()> {
    for (name, times) in [
        ("Tokio", tokio::serve(measure)?),
        ("Raddle", raddle::serve(measure)?),
    ] {
        print(name, &mut times?);
    }
    Ok(())
}

/// Asks for reports on some threads, and returns how long health checks take meanwhile.
fn measure(server: SocketAddr) -> io::Result<Vec<Duration>> {
    let end = Instant::now() + TIME;
    thread::scope(|scope| {
        for number in 1..=4 {
            scope.spawn(move || ask(server, "/report", end, Duration::from_millis(70 * number)));
        }
        ask(server, "/health", end, Duration::from_millis(10))
    })
}

/// Sends requests until the end, with pauses, and returns how long the answers took.
fn ask(server: SocketAddr, path: &str, end: Instant, pause: Duration) -> io::Result<Vec<Duration>> {
    let mut stream = BufReader::new(TcpStream::connect(server)?);
    let mut times = Vec::new();
    let mut answer = String::new();
    while Instant::now() < end {
        thread::sleep(pause);
        let start = Instant::now();
        stream.get_mut().write_all(format!("{path}\n").as_bytes())?;
        stream.read_line(&mut answer)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Prints percentiles, and a bar for each power of two of milliseconds.
fn print(name: &str, times: &mut [Duration]) {
    times.sort();
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!(
        "{name}: {} health checks beside reports that block",
        times.len()
    );
    for percent in [50, 90, 99, 100] {
        println!("  p{percent:<3} {:>9.2?}", percentile(percent));
    }
    let mut low = Duration::ZERO;
    let mut high = Duration::from_micros(500);
    while low <= percentile(100) {
        let count = times.iter().filter(|it| (low..high).contains(it)).count();
        let bar = "#".repeat((count * 60).div_ceil(times.len()));
        println!("  below {high:>6.0?} {count:>5} {bar}");
        (low, high) = (high, high * 2);
    }
    println!();
}
