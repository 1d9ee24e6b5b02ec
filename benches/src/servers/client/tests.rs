use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use super::*;

/// A server that sends back what it receives, a few bytes at a time, after a stall.
fn echo_after(stall: Duration) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                thread::sleep(stall);
                let mut piece = [0; 1000];
                while let Ok(length @ 1..) = stream.read(&mut piece) {
                    if stream.write_all(&piece[..length]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn messages_larger_than_a_socket_holds_come_back() {
    let load = Load::Stream(3, vec![7; 1 << 20], 1 << 20);
    let address = echo_after(Duration::ZERO);
    let (done, ()) = load.run(address, Until::Each(10), || Ok(())).unwrap();
    assert_eq!(done.messages, 30);
    assert_eq!(done.latencies.len(), 30);
}

#[test]
fn latency_at_a_stalled_server_counts_from_the_scheduled_time() {
    const STALL: Duration = Duration::from_millis(200);
    let duration = Duration::from_millis(100);
    let latencies = pace(echo_after(STALL), (3, &[7; 64], 64), 1_000, duration).unwrap();
    assert_eq!(latencies.len(), 100);
    // All messages were due in the first half of the stall. A load that waits for each answer would
    // have seen three late answers only.
    assert!(latencies.value_at_percentile(50.0) > STALL.as_nanos() as u64 / 4);
}
