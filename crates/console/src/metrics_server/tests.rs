use super::*;
use crate::metrics::Metrics;
use std::io::{Read, Write};

const LIMIT: Duration = Duration::from_secs(20);

struct Alive(usize);

impl MetricsSource for Alive {
    fn metrics(&self) -> Metrics {
        Metrics {
            alive_tasks: self.0,
            ..Metrics::default()
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_write_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Sends bytes, and returns all that the server sends until it closes the connection.
fn send(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    // The server may answer before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(address: SocketAddr) -> String {
    send(
        address,
        b"GET /metrics HTTP/1.1\r\nHost: scraper.example\r\n\r\n",
    )
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn serve(address: &str, name: Option<&str>, alive: usize) -> MetricsGuard {
    MetricsServer::bind(address)
        .unwrap()
        .serve(name, Alive(alive))
}

#[test]
fn get_and_head_of_the_metrics_are_answered_and_nothing_else() {
    let serving = serve("127.0.0.1:0", None, 7);
    let answer = get(serving.address());
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(answer.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert!(
        answer.contains("\nraddle_alive_tasks{runtime=\"0\"} 7\n"),
        "{answer}"
    );
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())),
        "{head}"
    );

    let answer = send(serving.address(), b"HEAD /metrics?x=y HTTP/1.0\r\n\r\n");
    let (head_of_head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!((head_of_head, body), (head, ""));

    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(100));
    let long = format!("GET /metrics HTTP/1.1\r\na: {}", "b".repeat(10_000));
    let cases: [(&[u8], &str); 7] = [
        (b"GET / HTTP/1.1\r\n\r\n", "404"),
        (b"GET /tasks HTTP/1.1\r\n\r\n", "404"),
        (
            b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            "405",
        ),
        (b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", "400"),
        (b"GET /metrics HTTP/9.9\r\n\r\n", "400"),
        (many.as_bytes(), "431"),
        (long.as_bytes(), "431"),
    ];
    for (request, expected) in cases {
        let answer = send(serving.address(), request);
        assert_eq!(
            status(&answer),
            expected,
            "{}",
            String::from_utf8_lossy(request)
        );
    }
    assert_eq!(status(&get(serving.address())), "200");
}

/// The slow clients would otherwise keep others out until their time is over.
#[test]
fn slow_clients_keep_no_scrape_out() {
    let serving = serve("127.0.0.1:0", None, 1);
    let address = serving.address();
    let slow: Vec<_> = (0..400)
        .map(|number| {
            let mut stream = connect(address);
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n");
            if number % 25 == 0 {
                let start = Instant::now();
                assert_eq!(status(&get(address)), "200", "scrape {number}");
                assert!(
                    start.elapsed() < Duration::from_secs(4),
                    "{:?}",
                    start.elapsed()
                );
            }
            stream
        })
        .collect();
    drop(slow);
    assert_eq!(status(&get(address)), "200");
}

#[test]
fn a_client_that_sends_nothing_is_disconnected() {
    let serving = serve("127.0.0.1:0", None, 1);
    let start = Instant::now();
    let mut silent = connect(serving.address());
    assert_eq!(silent.read(&mut [0; 8]).unwrap_or(0), 0);
    assert!(
        (4..15).contains(&start.elapsed().as_secs()),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn runtimes_with_the_same_address_share_a_server_and_have_labels() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("127.0.0.1:{port}");
    let serving = [None, Some("web"), Some("web"), None].map(|name| serve(&address, name, 1));
    assert!(serving.iter().all(|it| it.address().to_string() == address));
    let answer = get(serving[0].address());
    for label in ["0", "web", "web-2", "1"] {
        let line = format!("\nraddle_alive_tasks{{runtime=\"{label}\"}} 1\n");
        assert!(answer.contains(&line), "{answer}");
    }
    assert_eq!(
        answer.matches("# TYPE raddle_alive_tasks gauge\n").count(),
        1
    );
    let [first, web, ..] = serving;
    drop(first);
    let answer = get(web.address());
    assert!(!answer.contains("runtime=\"0\""), "{answer}");
    assert!(answer.contains("runtime=\"1\""), "{answer}");
}

#[test]
fn the_port_is_free_when_the_last_runtime_is_gone() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for address in [format!("127.0.0.1:{port}"), format!("0.0.0.0:{port}")] {
        for _ in 0..20 {
            let serving = serve(&address, None, 1);
            assert_eq!(serving.address().port(), port);
            assert!(!serving.server.is_moved());
        }
    }
}

#[test]
fn another_port_is_used_if_that_of_the_address_is_taken_by_another_program() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let server = MetricsServer::bind(&address.to_string()).unwrap();
    assert!(server.is_moved());
    let distance = server.address().port().wrapping_sub(address.port());
    assert!((1..=16).contains(&distance), "{distance}");
    // The next runtime joins it, instead of taking a third port.
    let joined = MetricsServer::bind(&address.to_string()).unwrap();
    assert_eq!(joined.address(), server.address());
    assert!(joined.is_joined() && !server.is_joined());
}

#[test]
fn what_is_not_an_address_of_this_machine_is_an_error() {
    for address in ["", "9469", "localhost:9469", "0.0.0.0", "127.0.0.1:70000"] {
        let error = MetricsServer::bind(address).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }
    // TEST-NET-1 (RFC 5737).
    let error = MetricsServer::bind("192.0.2.1:9469").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable, "{error}");
}
