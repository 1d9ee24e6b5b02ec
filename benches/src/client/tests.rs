use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::thread;

use super::*;

const FEW: Until = Until::Each(10);

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

fn echo() -> SocketAddr {
    echo_after(Duration::ZERO)
}

fn stream(connections: usize, length: usize) -> Load {
    Load::Stream {
        connections,
        request: vec![7; length],
        answer: length,
    }
}

#[test]
fn messages_larger_than_a_socket_holds_come_back() {
    let (done, ()) = stream(3, 1 << 20).run(echo(), FEW, || Ok(())).unwrap();
    assert_eq!(done.messages, 30);
    assert_eq!(done.latencies.len(), 30);
}

#[test]
fn datagrams_that_are_sent_back_complete_the_load() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut piece = [0; 100];
        while let Ok((length, from)) = socket.recv_from(&mut piece) {
            let _ = socket.send_to(&piece[..length], from);
        }
    });
    let load = Load::Datagrams {
        sockets: 3,
        length: 64,
    };
    let (done, ()) = load.run(address, FEW, || Ok(())).unwrap();
    assert_eq!(done.messages, 30);
}

#[test]
fn a_flood_repeats_a_request_that_is_lost() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut piece = [0; 100];
        let mut questions = 0;
        while let Ok((length, from)) = socket.recv_from(&mut piece) {
            questions += u32::from(length == 1);
            // The server ignores the first question.
            if length == 1 && questions > 1 {
                let _ = socket.send_to(&17_u64.to_le_bytes(), from);
            }
        }
    });
    let load = Load::Flood { length: 64 };
    let (done, ()) = load.run(address, FEW, || Ok(())).unwrap();
    assert_eq!(done.messages, 17);
}

#[test]
fn a_load_for_a_duration_lasts_at_least_as_long() {
    let load = stream(2, 64);
    for duration in [Duration::ZERO, Duration::from_millis(20)] {
        let until = Until::Elapsed(duration);
        let (done, ()) = load.run(echo(), until, || Ok(())).unwrap();
        assert!(done.elapsed >= duration);
        assert!(done.messages > 0);
    }
}

#[test]
fn a_connection_that_the_server_closes_is_an_error() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read_exact(&mut [0; 64]);
    });
    let load = stream(1, 64);
    let error = load.run(address, FEW, || Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

fn paced(rate: u32) -> Paced {
    Paced {
        connections: 3,
        request: vec![7; 64],
        answer: 64,
        rate,
        duration: Duration::from_millis(100),
    }
}

#[test]
fn a_paced_load_records_each_message_that_is_due() {
    let latencies = paced(1_000).run(echo()).unwrap();
    assert_eq!(latencies.len(), 100);
}

#[test]
fn latency_at_a_stalled_server_counts_from_the_scheduled_time() {
    const STALL: Duration = Duration::from_millis(200);
    let latencies = paced(1_000).run(echo_after(STALL)).unwrap();
    assert_eq!(latencies.len(), 100);
    // All messages were due in the first half of the stall. A load that waits for each answer would
    // have seen three late answers only.
    assert!(latencies.value_at_percentile(50.0) > STALL.as_nanos() as u64 / 4);
}
