//! Accepts clients and reads the heads of their requests, on one thread that waits for no client.
//!
//! A client has neither a thread nor anything else of the server before its request has passed all
//! checks. The number of clients without a complete head is bounded, and a new client takes the
//! place of the oldest: a client that sends its request at once is served however many slow
//! clients there are.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Waker};

use crate::request::{self, Refusal, Request};
use crate::response;
use crate::token::Token;

/// The maximum number of clients whose heads are read.
const MAX_CLIENTS: usize = 256;
/// The time that a client has to send the head of its request.
const HEAD_LIMIT: Duration = Duration::from_secs(2);
/// The number of bytes of a refused client that are read, so that it receives the refusal.
const MAX_REST: usize = 256 * 1024;
/// The number of clients that are accepted before heads are read again.
const BATCH: usize = 64;
/// The pause when the system has no descriptor for a client.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

const LISTENER: mio::Token = mio::Token(0);
const WAKER: mio::Token = mio::Token(1);
const FIRST_CLIENT: usize = 2;

/// A listener and the clients whose requests are not complete.
pub(crate) struct Acceptor {
    poll: Poll,
    listener: mio::net::TcpListener,
    /// When to accept again. `None` until the listener is ready.
    accept_at: Option<Instant>,
    /// The clients by the order of their arrival, which is that of their deadlines.
    clients: BTreeMap<usize, Client>,
    next: usize,
}

struct Client {
    stream: mio::net::TcpStream,
    deadline: Instant,
    state: State,
}

enum State {
    /// The bytes of the head that have been read.
    Head(Vec<u8>),
    /// The request was refused. The number of further bytes that have been read: closing a
    /// connection with unread bytes would discard the refusal.
    Refused(usize),
}

/// The next step for a client.
enum Step {
    Wait,
    Refuse(Refusal),
    Serve(Request),
    Close,
}

impl Acceptor {
    pub(crate) fn new(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let mut listener = mio::net::TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            accept_at: Some(Instant::now()),
            clients: BTreeMap::new(),
            next: FIRST_CLIENT,
        })
    }

    /// Returns what makes [`run`](Self::run) check whether it has to stop.
    pub(crate) fn waker(&self) -> io::Result<Waker> {
        Waker::new(self.poll.registry(), WAKER)
    }

    /// Passes each request that is allowed to `serve` with its connection, which blocks. Returns
    /// once `is_stopped` does.
    pub(crate) fn run(
        mut self,
        token: &Token,
        is_stopped: impl Fn() -> bool,
        serve: impl Fn(TcpStream, Request),
    ) {
        let mut events = Events::with_capacity(256);
        while !is_stopped() {
            let timeout = self.timeout(Instant::now());
            if self.poll.poll(&mut events, timeout).is_err() {
                // A signal has interrupted it.
                continue;
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept_at = Some(Instant::now()),
                    WAKER => {}
                    mio::Token(number) => self.advance(number, token, &serve),
                }
            }
            self.accept(Instant::now());
            self.close_late(Instant::now());
        }
    }

    fn timeout(&self, now: Instant) -> Option<Duration> {
        let deadline = self.clients.values().next().map(|client| client.deadline);
        let next = [self.accept_at, deadline].into_iter().flatten().min()?;
        Some(next.saturating_duration_since(now))
    }

    fn accept(&mut self, now: Instant) {
        if self.accept_at.is_none_or(|at| now < at) {
            return;
        }
        self.accept_at = Some(now);
        for _ in 0..BATCH {
            match self.listener.accept() {
                Ok((stream, _)) => self.add(stream, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                Err(error) if may_go_on(&error) => {}
                Err(_) => {
                    self.accept_at = Some(now + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    fn add(&mut self, mut stream: mio::net::TcpStream, now: Instant) {
        if self.clients.len() >= MAX_CLIENTS {
            self.clients.pop_first();
        }
        let number = self.next;
        self.next += 1;
        let registry = self.poll.registry();
        let registered = registry.register(&mut stream, mio::Token(number), Interest::READABLE);
        if registered.is_ok() {
            let client = Client {
                stream,
                deadline: now + HEAD_LIMIT,
                state: State::Head(Vec::new()),
            };
            self.clients.insert(number, client);
        }
    }

    /// Reads from a client, and does what follows from it.
    fn advance(&mut self, number: usize, token: &Token, serve: &impl Fn(TcpStream, Request)) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        match client.read(token) {
            Step::Wait => {}
            Step::Refuse(refusal) => {
                client.refuse(refusal);
                // What has arrived meanwhile raises no further event.
                if let Step::Close = client.read(token) {
                    self.clients.remove(&number);
                }
            }
            Step::Close => drop(self.clients.remove(&number)),
            Step::Serve(request) => {
                let Some(mut client) = self.clients.remove(&number) else {
                    return;
                };
                let _ = self.poll.registry().deregister(&mut client.stream);
                let stream = TcpStream::from(client.stream);
                if stream.set_nonblocking(false).is_ok() {
                    serve(stream, request);
                }
            }
        }
    }

    /// Closes the clients whose time is over.
    fn close_late(&mut self, now: Instant) {
        while let Some(entry) = self.clients.first_entry() {
            if entry.get().deadline > now {
                return;
            }
            entry.remove().refuse(Refusal::TooSlow);
        }
    }
}

impl Client {
    fn read(&mut self, token: &Token) -> Step {
        let mut buffer = [0; 4096];
        loop {
            let count = match self.stream.read(&mut buffer) {
                Ok(0) => return Step::Close,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Wait,
                Err(error) if may_go_on(&error) => continue,
                Err(_) => return Step::Close,
            };
            match &mut self.state {
                State::Refused(rest) => {
                    *rest += count;
                    if *rest > MAX_REST {
                        return Step::Close;
                    }
                }
                State::Head(head) => match request::add_to_head(head, &buffer[..count], token) {
                    Some(Ok(request)) => return Step::Serve(request),
                    Some(Err(refusal)) => return Step::Refuse(refusal),
                    None => {}
                },
            }
        }
    }

    /// Sends the refusal, as far as the connection takes it at once.
    fn refuse(&mut self, refusal: Refusal) {
        if let State::Refused(_) = self.state {
            return;
        }
        let (status, text) = refusal.status();
        let _ = self.stream.write(&response::text(status, text));
        let _ = self.stream.shutdown(Shutdown::Write);
        self.state = State::Refused(0);
    }
}

/// Returns whether the error concerns only this call: a client has disconnected before it was
/// accepted, or a signal has interrupted the call.
fn may_go_on(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::Interrupted
    )
}
