use std::net::Ipv4Addr;

use super::*;

fn requests(pieces: &[&str]) -> usize {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut connection = Connection {
        stream: TcpStream::from_std(stream),
        matched: 0,
    };
    let pieces = pieces.iter();
    pieces
        .map(|piece| connection.requests(piece.as_bytes()))
        .sum()
}

#[test]
fn a_request_ends_with_an_empty_line() {
    assert_eq!(requests(&["GET / HTTP/1.1\r\nHost: here\r\n"]), 0);
    assert_eq!(requests(&["GET / HTTP/1.1\r\nHost: here\r\n\r\n"]), 1);
    assert_eq!(requests(&["\r\r\n\r\r\n\r\n"]), 1);
}

#[test]
fn requests_come_together_and_in_pieces() {
    assert_eq!(requests(&["GET\r\n\r\nGET\r\n\r\nGET\r\n"]), 2);
    assert_eq!(requests(&["GET\r", "\n", "\r", "\nGET\r\n\r", "\n"]), 2);
}
