//! What the live page bears: many slow clients, and long names.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::alone;
use raddle::runtime::{Builder, Runtime};

const LIMIT: Duration = Duration::from_secs(60);

fn runtime() -> (Runtime, SocketAddr, String) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    let runtime = builder.console("127.0.0.1:0").build().unwrap();
    let url = runtime.console_url().unwrap();
    let (address, token) = url.split_once("/?token=").unwrap();
    let address = address.strip_prefix("http://").unwrap().parse().unwrap();
    (runtime, address, token.to_owned())
}

/// Sends a request and reads the response to its end.
fn get(address: SocketAddr, target: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A client that is closed before it is answered sees an error or nothing.
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// Lets the process have many descriptors.
fn raise_the_limit_of_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[test]
fn a_thousand_connections_that_send_a_byte_a_second_do_not_lock_the_page_out() {
    const CONNECTIONS: usize = 1000;
    let _alone = alone();
    raise_the_limit_of_descriptors();
    let (_runtime, address, token) = runtime();
    let (is_done, connected) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let attackers: Vec<_> = (0..4)
        .map(|_| {
            let (is_done, connected) = (is_done.clone(), connected.clone());
            thread::spawn(move || {
                let connect = || {
                    let stream = TcpStream::connect(address).unwrap();
                    stream.set_nonblocking(true).unwrap();
                    stream
                };
                let mut streams: Vec<_> = (0..CONNECTIONS / 4).map(|_| connect()).collect();
                connected.fetch_add(streams.len(), Ordering::Relaxed);
                while !is_done.load(Ordering::Relaxed) {
                    // Each of them sends a byte a second, and comes again once it is closed.
                    for stream in &mut streams {
                        match stream.write(b"x") {
                            Ok(_) => {}
                            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                            Err(_) => *stream = connect(),
                        }
                        thread::sleep(Duration::from_millis(4));
                    }
                }
            })
        })
        .collect();
    while connected.load(Ordering::Relaxed) < CONNECTIONS {
        thread::sleep(Duration::from_millis(10));
    }
    let mut times = Vec::new();
    for _ in 0..40 {
        let start = Instant::now();
        let page = get(address, &format!("/?token={token}"));
        times.push(start.elapsed());
        assert!(
            page.ends_with(b"</html>\n"),
            "load {} has failed: {times:?}",
            times.len()
        );
        let refused = get(address, "/tasks");
        assert!(
            refused.starts_with(b"HTTP/1.1 401 "),
            "{}",
            String::from_utf8_lossy(&refused)
        );
        thread::sleep(Duration::from_millis(50));
    }
    is_done.store(true, Ordering::Relaxed);
    for attacker in attackers {
        attacker.join().unwrap();
    }
    let longest = times.iter().max();
    assert!(longest < Some(&Duration::from_secs(3)), "{times:?}");
}

/// The resident memory of the process.
#[cfg(all(target_os = "linux", not(raddle_sanitize)))]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[cfg(all(target_os = "linux", not(raddle_sanitize)))]
#[test]
fn names_of_a_megabyte_need_neither_memory_nor_large_responses() {
    const TASKS: usize = 500;
    const MIB: usize = 1024 * 1024;
    let _alone = alone();
    let (runtime, address, token) = runtime();
    let before = resident();
    let name = "<script>alert(1)</script>é".repeat(MIB / 27);
    for _ in 0..TASKS {
        let task = raddle::task::Builder::new().name(&name);
        drop(task.spawn_on(std::future::pending::<()>(), runtime.handle()));
    }
    let end = Instant::now() + LIMIT;
    let mut largest = 0;
    for _ in 0..20 {
        for path in ["tasks?limit=200", "groups?", "resources?", "waits?"] {
            let answer = get(address, &format!("/{path}&token={token}"));
            assert!(answer.starts_with(b"HTTP/1.1 200 "));
            largest = largest.max(answer.len());
        }
    }
    assert!(Instant::now() < end);
    assert!(largest > 10_000 && largest < 2 * MIB, "{largest} bytes");
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * MIB, "{grown} bytes more");
}
