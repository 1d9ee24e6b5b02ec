//! The crate `redis`, with its connection manager, against a small server.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_sim::Sim;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncTypedCommands as _, RedisResult};
use simulated::{ATTEMPT, disturb, retry};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

const CLIENTS: [&str; 2] = ["alice", "bob"];
const TASKS: usize = 3;
const WRITES: usize = 40;

/// What the server has stored. It outlives the server's process, as a disk does.
type Disk = Arc<Mutex<BTreeMap<String, String>>>;

async fn serve(disk: Disk) -> io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:6379").await?;
    loop {
        let (tcp, _) = listener.accept().await?;
        tokio::spawn(serve_client(BufStream::new(tcp), Arc::clone(&disk)));
    }
}

async fn serve_client(mut stream: BufStream<TcpStream>, disk: Disk) -> io::Result<()> {
    loop {
        let command = read_command(&mut stream).await?;
        let reply = reply(&command, &mut disk.lock().unwrap());
        stream.write_all(reply.as_bytes()).await?;
        stream.flush().await?;
    }
}

/// Reads an array of strings.
async fn read_command(stream: &mut BufStream<TcpStream>) -> io::Result<Vec<String>> {
    let count = read_number(stream, '*').await?;
    let mut command = Vec::new();
    for _ in 0..count {
        let length = read_number(stream, '$').await?;
        // The end of the line follows.
        let mut bytes = vec![0; length + 2];
        stream.read_exact(&mut bytes).await?;
        bytes.truncate(length);
        command.push(String::from_utf8(bytes).map_err(io::Error::other)?);
    }
    Ok(command)
}

async fn read_number(stream: &mut BufStream<TcpStream>, kind: char) -> io::Result<usize> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let number = line.trim_end().strip_prefix(kind);
    let number = number.ok_or(io::ErrorKind::UnexpectedEof)?;
    number.parse().map_err(io::Error::other)
}

fn reply(command: &[String], disk: &mut BTreeMap<String, String>) -> String {
    let command: Vec<_> = command.iter().map(String::as_str).collect();
    match command[..] {
        ["SET", key, value] => {
            disk.insert(key.to_owned(), value.to_owned());
            "+OK\r\n".to_owned()
        }
        ["GET", key] => match disk.get(key) {
            Some(value) => format!("${}\r\n{value}\r\n", value.len()),
            None => "$-1\r\n".to_owned(),
        },
        ["INCRBY", key, by] => {
            let number = disk.entry(key.to_owned()).or_insert_with(|| "0".to_owned());
            let sum = number.parse::<i64>().unwrap() + by.parse::<i64>().unwrap();
            *number = sum.to_string();
            format!(":{sum}\r\n")
        }
        ["PING"] => "+PONG\r\n".to_owned(),
        ["CLIENT", "SETINFO", ..] => "+OK\r\n".to_owned(),
        _ => format!("-ERR unknown command {command:?}\r\n"),
    }
}

async fn connect() -> RedisResult<ConnectionManager> {
    let client = redis::Client::open("redis://server/")?;
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(ATTEMPT))
        .set_response_timeout(Some(ATTEMPT));
    ConnectionManager::new_with_config(client, config).await
}

/// Writes and reads values, and increments the counter once for each. Returns how often it has been
/// incremented: at least as the first number says, and at most as the second does.
async fn run_task(connection: ConnectionManager, name: String) -> (isize, isize) {
    let (mut acknowledged, mut asked) = (0, 0);
    for number in 0..WRITES {
        let (key, value) = (format!("{name}-{number}"), name.repeat(number));
        retry(|| {
            let mut connection = connection.clone();
            let (key, value) = (key.clone(), value.clone());
            async move { connection.set(key, value).await }
        })
        .await;
        let found = retry(|| {
            let mut connection = connection.clone();
            let key = key.clone();
            async move { connection.get(key).await }
        });
        assert_eq!(found.await, Some(value));
        asked += 1;
        let incremented = connection.clone().incr("count", 1).await;
        acknowledged += isize::from(incremented.is_ok());
        sleep(Duration::from_millis(50)).await;
    }
    (acknowledged, asked)
}

async fn run_client(name: &str, disk: Disk, counts: Arc<Mutex<Vec<(isize, isize)>>>) {
    let connection = retry(connect).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        tasks.spawn(run_task(connection.clone(), format!("{name}-{task}")));
    }
    let of_tasks = tasks.join_all().await;
    let mut counts = counts.lock().unwrap();
    counts.extend(of_tasks);
    if counts.len() == CLIENTS.len() * TASKS {
        let least: isize = counts.iter().map(|(acknowledged, _)| acknowledged).sum();
        let most = counts.iter().map(|(_, asked)| asked).sum();
        let count = disk.lock().unwrap()["count"].parse().unwrap();
        assert!(
            (least..=most).contains(&count),
            "{count} of {least} to {most}"
        );
    }
}

fn scenario(sim: &mut Sim) {
    let (disk, counts) = (Disk::default(), Arc::default());
    let of_server = Arc::clone(&disk);
    sim.host("server", move || serve(Arc::clone(&of_server)));
    for name in CLIENTS {
        let client = run_client(name, Arc::clone(&disk), Arc::clone(&counts));
        sim.client(name, client);
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn acknowledged_writes_are_stored_and_counted(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
