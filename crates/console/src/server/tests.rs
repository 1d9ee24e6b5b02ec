use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{MAX_RECORDINGS, MAX_STREAMS};
use crate::{Console, ConsoleOptions, Metrics, MetricsSource, ServeGuard};

const LIMIT: Duration = Duration::from_secs(20);
const TOKEN: &str = "the-token-of-a-test";

/// A runtime with a large recording.
struct Runtime;

const RECORDING: usize = 24 * 1024 * 1024;

impl MetricsSource for Runtime {
    fn metrics(&self) -> Metrics {
        Metrics::default()
    }

    fn recording(&self) -> Option<Vec<u8>> {
        Some(vec![7; RECORDING])
    }
}

fn serve() -> ServeGuard {
    let mut options = ConsoleOptions::new("127.0.0.1:0");
    options.token = Some(TOKEN.to_owned());
    Console::with_options(options)
        .unwrap()
        .serve(Runtime)
        .unwrap()
}

fn address(serving: &ServeGuard) -> String {
    let url = serving.url();
    let address = url.strip_prefix("http://").unwrap();
    address.split('/').next().unwrap().to_owned()
}

fn request(serving: &ServeGuard, target: &str) -> TcpStream {
    let address = address(serving);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// The first line of the body of a stream of events.
fn first_lines(stream: TcpStream, count: usize) -> Vec<String> {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let body = lines.skip_while(|line| !line.is_empty()).skip(1);
    body.take(count).collect()
}

#[test]
fn a_recording_is_sent_to_a_client_that_reads_slowly() {
    let serving = serve();
    let mut stream = request(&serving, &format!("/recording?token={TOKEN}"));
    let (mut total, mut buffer) = (0, vec![0; 1024 * 1024]);
    loop {
        // A long pause, and then many short ones.
        let pause = if total == 0 { 3000 } else { 100 };
        std::thread::sleep(Duration::from_millis(pause));
        match stream.read(&mut buffer).unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert!(total > RECORDING, "{total} bytes");
}

#[test]
fn a_viewer_too_many_is_told_so_and_gets_events_when_another_leaves() {
    let serving = serve();
    let target = format!("/events?token={TOKEN}");
    let open = || {
        let stream = request(&serving, &target);
        (stream.try_clone().unwrap(), first_lines(stream, 3))
    };
    let mut viewers: Vec<_> = (0..MAX_STREAMS).map(|_| open().0).collect();
    let (_, lines) = open();
    assert!(lines[0].starts_with("retry: "), "{lines:?}");
    assert_eq!(lines[1..], ["event: full", "data: 12"]);
    drop(viewers.pop());
    let end = Instant::now() + LIMIT;
    while !open().1[0].starts_with("data: {") {
        assert!(Instant::now() < end, "the place of the viewer is not free");
    }
}

#[test]
fn clients_that_do_not_read_delay_no_other_client() {
    let serving = serve();
    let recording = format!("/recording?token={TOKEN}");
    let _recordings: Vec<_> = (0..MAX_RECORDINGS)
        .map(|_| request(&serving, &recording))
        .collect();
    let events = format!("/events?token={TOKEN}");
    let _streams: Vec<_> = (0..MAX_STREAMS)
        .map(|_| request(&serving, &events))
        .collect();
    let status = |target: &str| {
        let mut answer = String::new();
        let mut stream = BufReader::new(request(&serving, target));
        stream.read_line(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let end = Instant::now() + LIMIT;
    while status(&recording) != "503" {
        assert!(Instant::now() < end, "the recordings are not being sent");
    }
    let start = Instant::now();
    assert_eq!(status(&format!("/tasks?token={TOKEN}")), "200");
    assert_eq!(status("/tasks"), "401");
    assert_eq!(status("/metrics"), "200");
    let time = start.elapsed();
    assert!(time < Duration::from_secs(5), "{time:?}");
}

#[test]
fn an_incomplete_head_is_refused_after_two_seconds() {
    let serving = serve();
    let mut stream = TcpStream::connect(address(&serving)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn a_refused_client_that_sends_more_receives_the_refusal() {
    let serving = serve();
    let mut stream = TcpStream::connect(address(&serving)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!("GET / HTTP/1.1\r\nCookie: {}", "x".repeat(64 * 1024));
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[test]
fn a_dropped_page_frees_its_port_at_once() {
    let serving = serve();
    let address = address(&serving);
    let _client = TcpStream::connect(&address).unwrap();
    drop(serving);
    assert!(TcpStream::connect(&address).is_err());
}
