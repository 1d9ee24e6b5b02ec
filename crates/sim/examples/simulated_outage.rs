//! A key-value server with a log on its disk, a client, and an outage: the client is cut off, then
//! the server loses its power. Prints what the client sees, in virtual time.
//!
//! ```sh
//! cargo run -p raddle-sim --example simulated_outage -- SEED FILE
//! cargo run -p raddle-recording -- perfetto FILE > trace.perfetto # for https://ui.perfetto.dev
//! ```

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn main() {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse());
    let seed = seed.expect("the first argument is the number of a seed");
    outage::run(seed, std::env::args().nth(2));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod outage {
    use std::io;
    use std::sync::Arc;
    use std::time::Instant;

    use raddle::fs::{File, OpenOptions};
    use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use raddle::net::{TcpListener, TcpStream};
    use raddle::sync::Mutex;
    use raddle::time::{sleep, timeout};
    use raddle_sim::{Sim, millis, secs};

    const LOG: &str = "/var/log/numbers";

    /// Appends each number that it gets to the log, syncs it, and answers with all of the log.
    async fn serve() -> io::Result<()> {
        raddle::fs::create_dir_all("/var/log").await?;
        let mut options = OpenOptions::new();
        let log = options.create(true).append(true).open(LOG).await?;
        let log = Arc::new(Mutex::new(log));
        let listener = TcpListener::bind("0.0.0.0:7000").await?;
        loop {
            let (stream, _) = listener.accept().await?;
            raddle::spawn(answer(stream, log.clone()));
        }
    }

    async fn answer(stream: TcpStream, log: Arc<Mutex<File>>) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let mut log = log.lock().await;
        log.write_all(line.as_bytes()).await?;
        log.sync_data().await?;
        let all = raddle::fs::read(LOG).await?;
        stream.get_mut().write_all(&all).await
    }

    async fn append(number: u32) -> io::Result<String> {
        let mut stream = TcpStream::connect("server:7000").await?;
        stream.write_all(format!("{number}\n").as_bytes()).await?;
        let mut all = String::new();
        stream.read_to_string(&mut all).await?;
        Ok(all)
    }

    pub(crate) fn run(seed: u64, recording: Option<String>) {
        let mut sim = Sim::new(seed);
        if let Some(file) = recording {
            sim.record_to(file);
        }
        sim.host("server", serve);
        sim.client("user", async {
            let start = Instant::now();
            let mut acknowledged = Vec::new();
            for number in 1..=30 {
                sleep(millis(500)).await;
                let outcome = match timeout(secs(1), append(number)).await {
                    Ok(Ok(all)) if all.lines().any(|line| line == number.to_string()) => {
                        acknowledged.push(number);
                        for number in &acknowledged {
                            let is_there = all.lines().any(|line| line == number.to_string());
                            assert!(is_there, "{number} was acknowledged, and is lost: {all:?}");
                        }
                        "stored".to_owned()
                    }
                    Ok(Ok(all)) => format!("not stored: {all:?}"),
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "no answer in a second".to_owned(),
                };
                println!(
                    "{:>7.3} s  {number}: {outcome}",
                    start.elapsed().as_secs_f64()
                );
            }
        });
        sim.at(secs(4)).partition("user", "server").for_(secs(3));
        sim.at(secs(11)).crash("server").for_(secs(2));
        let real = Instant::now();
        sim.run();
        println!("all of this took {:?}", real.elapsed());
    }
}
