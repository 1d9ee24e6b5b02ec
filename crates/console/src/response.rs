//! Writes responses.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The time in which a client has to read something.
pub(crate) const STALL_LIMIT: Duration = Duration::from_secs(10);
/// The time for a whole response, to which its length at [`MIN_RATE`] is added.
const LIMIT: Duration = Duration::from_secs(30);
/// Bytes per second.
const MIN_RATE: usize = 1_000_000;

/// Returns the head of a response.
fn head(status: &str, kind: &str, length: Option<usize>) -> Vec<u8> {
    let length = length.map_or_else(String::new, |length| {
        format!("Content-Length: {length}\r\n")
    });
    let head = format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {kind}\r\n\
         {length}\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; \
         style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n"
    );
    head.into_bytes()
}

/// Returns a whole response with a line of text.
pub(crate) fn text(status: &str, text: &str) -> Vec<u8> {
    let mut response = head(status, "text/plain", Some(text.len()));
    response.extend_from_slice(text.as_bytes());
    response
}

/// Writes the head of a stream of events.
pub(crate) fn start_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(STALL_LIMIT))?;
    stream.write_all(&head("200 OK", "text/event-stream", None))
}

/// Writes a response. The client has to read something every [`STALL_LIMIT`], and everything at
/// [`MIN_RATE`] or a bit less.
pub(crate) fn send(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + LIMIT + Duration::from_secs((body.len() / MIN_RATE) as u64);
    let head = head("200 OK", kind, Some(body.len()));
    write_until(stream, &head, deadline)?;
    write_until(stream, body, deadline)
}

fn write_until(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left.min(STALL_LIMIT)))?;
        // A large write may wait until the client has read nearly all of it.
        match stream.write(&bytes[..bytes.len().min(64 * 1024)]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Refuses a client without waiting for it.
pub(crate) fn refuse_at_once(mut stream: TcpStream, status: &str, reason: &str) {
    if stream.set_nonblocking(true).is_ok() {
        let _ = stream.write(&text(status, reason));
        let _ = stream.shutdown(Shutdown::Write);
    }
}

/// Waits for `time`, or until the client closes the connection. Returns whether it has.
pub(crate) fn wait_for_end(stream: &mut TcpStream, time: Duration) -> io::Result<bool> {
    let end = Instant::now() + time;
    let mut buffer = [0; 256];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(true),
            // Further bytes of a client have no meaning; they are read slowly.
            Ok(_) => std::thread::sleep(left),
            Err(error) if is_time_out(&error) => {}
            Err(_) => return Ok(true),
        }
    }
}

fn is_time_out(error: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Closes a connection so that the client receives the whole response, even if it has sent further
/// bytes.
pub(crate) fn close(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let mut buffer = [0; 4096];
    let mut stream = stream;
    for _ in 0..16 {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
