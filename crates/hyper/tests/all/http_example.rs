//! Tests of the example server over real sockets.
//!
//! `cargo test` builds the binary, as does `cargo build --example http`.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const PAGE: &str = "served by hyper on Raddle";
/// A time limit that detects a hang; each step takes much less.
const LIMIT: Duration = Duration::from_secs(60);

fn command() -> Command {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let name = format!("http{}", std::env::consts::EXE_SUFFIX);
    let path: PathBuf = path.join("examples").join(name);
    assert!(
        path.exists(),
        "no {}; build it: cargo build --example http",
        path.display()
    );
    let mut command = Command::new(path);
    command.env_remove("RUST_LOG");
    command
}

struct Server {
    child: Child,
    address: SocketAddr,
    /// Kept open, so that the server can write to it.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        raise_file_limit();
        Self::from_command(&mut command())
    }

    fn from_command(command: &mut Command) -> Self {
        let mut child = command
            .args(["--addr", "127.0.0.1:0", "--workers", "2"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().parse();
        Self {
            child,
            address: address.unwrap_or_else(|_| panic!("no address in {line:?}")),
            _stdout: stdout,
        }
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Client(BufReader::new(stream))
    }

    fn assert_serves(&self) {
        let mut client = self.connect();
        client.send(GET);
        assert!(client.response().body.contains(PAGE));
    }

    #[cfg(unix)]
    fn send_signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: sends a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    /// Waits until the server ends by itself, and returns its exit code.
    #[cfg(unix)]
    fn exit_code(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < LIMIT, "the server has not exited in time");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client(BufReader<TcpStream>);

struct Response {
    head: String,
    body: String,
}

impl Client {
    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    /// Reads one response with the length that its head states.
    fn response(&mut self) -> Response {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.0.read_line(&mut head).unwrap();
            assert_ne!(read, 0, "the connection ended in the head: {head:?}");
        }
        head.make_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .expect("the response has a content-length");
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        Response {
            head,
            body: String::from_utf8(body).unwrap(),
        }
    }

    fn assert_closed(&mut self) {
        match self.0.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("not closed: {other:?}"),
        }
    }
}

/// A thousand connections need two thousand descriptors in the server and the client.
#[cfg(unix)]
fn raise_file_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writes.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    if known && limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` is valid for reads.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn raise_file_limit() {}

/// Wine 8 loses events where threads share many sockets: `crates/net/tests/all/wine.rs`.
fn is_under_wine() -> bool {
    let is_under_wine = std::env::var_os("RADDLE_WINE").is_some();
    if is_under_wine {
        println!("skipped: Wine loses events of many sockets");
    }
    is_under_wine
}

fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

/// Asserts that the server exits with an error of one line that contains `words`.
#[track_caller]
fn assert_refused(arguments: &[&str], words: &str) {
    let output = run(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with("error: ") && text.contains(words),
        "{text}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn serves_the_page_and_answers_404_to_other_paths() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(GET);
    let response = client.response();
    assert!(
        response.head.starts_with("http/1.1 200 ok"),
        "{}",
        response.head
    );
    assert!(response.head.contains("content-type: text/html"));
    assert!(response.body.contains(PAGE));

    client.send(b"GET /missing HTTP/1.1\r\nhost: test\r\n\r\n");
    assert!(client.response().head.starts_with("http/1.1 404"));

    client.send(b"POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 5\r\n\r\nhello");
    assert_eq!(client.response().body, "hello");

    client.send(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    client.response();
    client.assert_closed();
}

#[test]
fn answers_pipelined_requests_in_order() {
    let server = Server::start();
    let mut client = server.connect();
    let mut requests = Vec::new();
    for i in 0..100 {
        let body = format!("request {i}");
        let length = body.len();
        write!(
            requests,
            "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
    }
    client.send(&requests);
    for i in 0..100 {
        assert_eq!(client.response().body, format!("request {i}"));
    }
}

#[test]
fn serves_after_clients_disconnected_within_a_request() {
    let server = Server::start();
    for length in 0..GET.len() {
        let mut client = server.connect();
        client.send(&GET[..length]);
        if length % 2 == 0 {
            // The drop then resets the connection instead of closing it.
            client.send(b"");
            socket_linger_zero(client.0.get_ref());
        }
    }
    let mut client = server.connect();
    client.send(b"POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 50\r\n\r\nhalf");
    drop(client);
    server.assert_serves();
}

fn socket_linger_zero(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn answers_after_a_half_close() {
    let server = Server::start();
    let mut client = server.connect();
    client.send(GET);
    client.send(GET);
    client.0.get_ref().shutdown(Shutdown::Write).unwrap();
    assert!(client.response().body.contains(PAGE));
    assert!(client.response().body.contains(PAGE));
    client.assert_closed();
}

#[test]
fn serves_after_two_thousand_connections_were_dropped() {
    if is_under_wine() {
        return;
    }
    let server = Server::start();
    for i in 0..2000 {
        let mut client = server.connect();
        if i % 3 == 0 {
            client.send(GET);
        }
        if i % 6 == 0 {
            client.response();
        }
    }
    server.assert_serves();
}

#[test]
fn serves_a_thousand_keep_alive_connections_at_once() {
    if is_under_wine() {
        return;
    }
    let server = Server::start();
    let mut clients: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    for _ in 0..3 {
        for client in &mut clients {
            client.send(GET);
        }
        for client in &mut clients {
            assert!(client.response().body.contains(PAGE));
        }
    }
}

#[cfg(unix)]
#[test]
fn serves_again_after_too_many_open_files() {
    // The shell lowers the limit for itself and for the server that replaces it.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
        .arg(command().get_program())
        .env_remove("RUST_LOG")
        .stderr(Stdio::null());
    let server = Server::from_command(&mut shell);
    let mut clients: Vec<_> = (0..100).map(|_| server.connect()).collect();
    // The first client is connected; the last one waits for a descriptor.
    clients[0].send(GET);
    assert!(clients[0].response().body.contains(PAGE));
    let mut last = clients.pop().unwrap();
    last.send(GET);
    drop(clients);
    assert!(last.response().body.contains(PAGE));
    server.assert_serves();
}

#[cfg(unix)]
#[test]
fn a_signal_lets_the_request_in_flight_finish() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut server = Server::start();
        let mut idle = server.connect();
        idle.send(GET);
        idle.response();
        let mut busy = server.connect();
        busy.send(b"POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n");
        busy.send(b"expect: 100-continue\r\n\r\n");
        // The server sends `100 Continue` when it reads the body, so the request is in flight.
        let mut head = [0; 25];
        busy.0.read_exact(&mut head).unwrap();
        assert!(head.starts_with(b"HTTP/1.1 100"));
        busy.send(b"first");

        server.send_signal(signal);
        idle.assert_closed();
        busy.send(b"other");
        let response = busy.response();
        assert_eq!(response.body, "firstother");
        // The head may contain `connection: close`, depending on which event comes first.
        busy.assert_closed();
        assert_eq!(server.exit_code(), Some(0));
        assert!(TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn a_port_in_use_prints_one_line() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    assert_refused(&["--addr", &address], "choose another port");
}

#[test]
fn a_bad_argument_prints_one_line() {
    assert_refused(&["--addr", "nowhere"], "--addr");
    assert_refused(&["--workers", "0"], "--workers");
    assert_refused(&["--workers"], "--workers");
    assert_refused(&["--frob"], "--frob");
    assert_refused(&["stray"], "stray");
}

#[test]
fn help_exits_with_success() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("--addr") && text.contains("--workers"),
        "{text}"
    );
}
