use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::thread;

use super::*;

const FEW: Until = Until::Each(10);

/// Sends back what comes, a few bytes at a time.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
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
    let load = Load::Stream {
        connections: 3,
        request: vec![7; 1 << 20],
        answer: 1 << 20,
    };
    let (done, ()) = load.run(echo(), FEW, || Ok(())).unwrap();
    assert_eq!(done.messages, 30);
    assert_eq!(done.latencies.len(), 30);
}

#[test]
fn datagrams_come_back() {
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
fn a_flood_counts_what_came() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut piece = [0; 100];
        let mut questions = 0;
        while let Ok((length, from)) = socket.recv_from(&mut piece) {
            questions += u32::from(length == 1);
            // The first question is lost.
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
fn time_passes() {
    let load = Load::Stream {
        connections: 2,
        request: vec![7; 64],
        answer: 64,
    };
    for duration in [Duration::ZERO, Duration::from_millis(20)] {
        let until = Until::Elapsed(duration);
        let (done, ()) = load.run(echo(), until, || Ok(())).unwrap();
        assert!(done.elapsed >= duration);
        assert!(done.messages > 0);
    }
}

#[test]
fn an_end_is_an_error() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read_exact(&mut [0; 64]);
    });
    let load = Load::Stream {
        connections: 1,
        request: vec![7; 64],
        answer: 64,
    };
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
fn each_message_that_is_due_is_answered() {
    let latencies = paced(1_000).run(echo()).unwrap();
    assert_eq!(latencies.len(), 100);
}

#[test]
fn latency_at_a_stalled_server_counts_from_the_scheduled_time() {
    const STALL: Duration = Duration::from_millis(200);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let streams: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        thread::sleep(STALL);
        let echo = |mut stream: std::net::TcpStream| {
            let mut piece = [0; 1000];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                if stream.write_all(&piece[..length]).is_err() {
                    break;
                }
            }
        };
        for stream in streams {
            thread::spawn(move || echo(stream));
        }
    });
    let latencies = paced(1_000).run(address).unwrap();
    assert_eq!(latencies.len(), 100);
    // All were due within half of the stall. A load that asks again when it is
    // answered would have seen three late answers.
    assert!(latencies.value_at_percentile(50.0) > STALL.as_nanos() as u64 / 4);
}
