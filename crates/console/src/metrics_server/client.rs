//! A client of the server, as a state machine that never blocks.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The maximum size of the head of a request in bytes, and of the number of its headers.
const MAX_HEAD: usize = 4096;
const MAX_HEADERS: usize = 64;
/// The time from the connection of a client to its end.
const LIMIT: Duration = Duration::from_secs(5);
/// The time that a client has to close its connection after the response.
const END_LIMIT: Duration = Duration::from_millis(500);

pub(super) struct Client {
    stream: TcpStream,
    deadline: Instant,
    state: State,
}

enum State {
    /// The head of the request, as far as it has arrived.
    Reading(Vec<u8>),
    /// The response, and the number of bytes that were written.
    Writing(Vec<u8>, usize),
    /// The response was sent. The client closes the connection: if the server closed it first while
    /// bytes of the client arrive, the client might lose the response.
    Ending,
}

impl Client {
    /// Returns `None` if the connection has failed.
    pub(super) fn new(stream: TcpStream) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        Some(Self {
            stream,
            deadline: Instant::now() + LIMIT,
            state: State::Reading(Vec::new()),
        })
    }

    /// Does what is possible without waiting. Returns whether the client stays.
    pub(super) fn advance(&mut self, now: Instant, metrics: impl Fn() -> String) -> bool {
        if now >= self.deadline {
            return false;
        }
        loop {
            match self.step(now, &metrics) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Reads or writes once. Returns `false` at the end of the connection.
    fn step(&mut self, now: Instant, metrics: impl Fn() -> String) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        match &mut self.state {
            State::Reading(head) => {
                let count = self.stream.read(&mut buffer)?;
                head.extend_from_slice(&buffer[..count]);
                if let Some(response) = answer(head, metrics) {
                    self.state = State::Writing(response, 0);
                }
                Ok(count > 0)
            }
            State::Writing(response, written) => {
                *written += self.stream.write(&response[*written..])?;
                if *written == response.len() {
                    self.stream.shutdown(Shutdown::Write)?;
                    self.deadline = self.deadline.min(now + END_LIMIT);
                    self.state = State::Ending;
                }
                Ok(true)
            }
            // A client that sends more is disconnected by the deadline.
            State::Ending => match self.stream.read(&mut buffer)? {
                0 => Ok(false),
                _ => Err(io::ErrorKind::WouldBlock.into()),
            },
        }
    }
}

/// Returns the response, or `None` if the head of the request is not complete.
fn answer(head: &[u8], metrics: impl Fn() -> String) -> Option<Vec<u8>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let error = |status, text: &str| Some(response(status, text, true));
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if head.len() < MAX_HEAD => return None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return error("431 Request Header Fields Too Large", "too many headers");
        }
        Err(_) => return error("400 Bad Request", "not a request"),
    }
    let has_body = match request.method {
        Some("GET") => true,
        Some("HEAD") => false,
        _ => return error("405 Method Not Allowed\r\nAllow: GET, HEAD", "only GET"),
    };
    let path = request.path.unwrap_or_default();
    match path.split('?').next() {
        Some("/metrics") => Some(response("200 OK", &metrics(), has_body)),
        _ => Some(response("404 Not Found", "see /metrics", has_body)),
    }
}

fn response(status: &str, body: &str, has_body: bool) -> Vec<u8> {
    let length = body.len();
    let body = if has_body { body } else { "" };
    format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\n\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n{body}"
    )
    .into_bytes()
}
