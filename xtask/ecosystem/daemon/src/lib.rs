//! Servers from Debian's packages. Each listens on a free port of the loopback address and uses a
//! temporary directory.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The time limit for a server to accept connections, and to exit.
const LIMIT: Duration = Duration::from_secs(60);

/// The database server, from the package `postgresql`.
///
/// The cluster in its temporary directory trusts each local user. Tests that run at the same time
/// share one server, which ends with the last of them.
#[derive(Debug)]
pub struct Postgres(Daemon);

/// The key-value server, from the package `redis-server`.
#[derive(Debug)]
pub struct Redis(Daemon);

impl Postgres {
    /// Returns the running server, or starts one.
    ///
    /// # Panics
    ///
    /// Panics if the package is missing, or the server does not start.
    pub fn get() -> Arc<Self> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        shared(&SHARED, Self::start)
    }

    /// Returns the address on which it listens, besides its Unix socket.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Returns a URL for clients.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.0.port)
    }

    /// Returns the directory of the server's Unix socket.
    pub fn socket(&self) -> &Path {
        self.0.directory.path()
    }

    /// Returns the number in the name of the Unix socket.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    fn start() -> Self {
        let programs = newest_postgres();
        let user = is_root().then_some("postgres");
        let directory = directory(user);
        let data = directory.path().join("data");
        let status = as_user(user, &programs.join("initdb"))
            .current_dir(directory.path())
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        let status = status.expect("initdb starts");
        assert!(status.success(), "initdb: {status}");

        let port = free_port();
        let mut server = as_user(user, &programs.join("postgres"));
        server.current_dir(directory.path());
        server.arg("-D").arg(&data).arg("-k").arg(directory.path());
        server.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        server.args(["-c", "fsync=off", "-c", "max_connections=50"]);
        let daemon = Daemon::start(directory, port, server);
        daemon.wait_until("pg_isready", || {
            let mut probe = Command::new(programs.join("pg_isready"));
            probe.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
            probe.status().is_ok_and(|status| status.success())
        });
        Self(daemon)
    }
}

impl Redis {
    /// Returns the running server, or starts one.
    ///
    /// # Panics
    ///
    /// Panics if the package is missing, or the server does not start.
    pub fn get() -> Arc<Self> {
        static SHARED: Mutex<Weak<Redis>> = Mutex::new(Weak::new());
        shared(&SHARED, Self::start)
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Returns a URL for clients.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.0.port)
    }

    fn start() -> Self {
        let program = find("redis-server", "redis-server");
        let directory = directory(None);
        let port = free_port();
        let mut server = as_user(None, &program);
        server.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        server.args(["--save", "", "--dir"]).arg(directory.path());
        let daemon = Daemon::start(directory, port, server);
        daemon.wait_until("a connection", || {
            std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
        Self(daemon)
    }
}

fn shared<T>(slot: &Mutex<Weak<T>>, start: fn() -> T) -> Arc<T> {
    // A start that panicked has not changed the slot.
    let mut slot = slot.lock().unwrap_or_else(|error| error.into_inner());
    slot.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *slot = Arc::downgrade(&started);
        started
    })
}

/// A child process that is ended when this is dropped, and when this process dies.
#[derive(Debug)]
struct Daemon {
    directory: TempDir,
    port: u16,
    pid: u32,
    ended: Mutex<Receiver<io::Result<ExitStatus>>>,
}

impl Daemon {
    fn start(directory: TempDir, port: u16, mut server: Command) -> Self {
        let log = File::create(directory.path().join("log")).expect("the log is created");
        let errors = log.try_clone().expect("the log's descriptor is cloned");
        server.stdin(Stdio::null()).stdout(log).stderr(errors);
        let (send_pid, pid) = mpsc::channel();
        let (send_end, ended) = mpsc::channel();
        // The kernel signals the child when the thread that started it exits. So that thread lives
        // as long as the child or the process.
        thread::spawn(move || {
            let child = server.spawn();
            let _ = send_pid.send(child.as_ref().map(|c| c.id()).map_err(|e| e.to_string()));
            if let Ok(mut child) = child {
                let _ = send_end.send(child.wait());
            }
        });
        let pid = pid.recv().expect("the thread sends").expect("setpriv runs");
        Self {
            directory,
            port,
            pid,
            ended: Mutex::new(ended),
        }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Waits until the server is ready.
    fn wait_until(&self, what: &str, is_ready: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_ready() {
            let ended = self.ended.lock().expect("no holder panics").try_recv();
            if ended.is_ok() || start.elapsed() > LIMIT {
                let log = std::fs::read_to_string(self.directory.path().join("log"));
                panic!("no {what} ({ended:?}); log: {}", log.unwrap_or_default());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // On an interrupt Postgres closes its connections; on other signals it waits for them.
        let _ = Command::new("kill")
            .args(["-s", "INT", &self.pid.to_string()])
            .status();
        if let Ok(ended) = self.ended.lock() {
            let _ = ended.recv_timeout(LIMIT);
        }
    }
}

/// Makes a command that runs as `user`, or as the caller's user, and is interrupted when this
/// process dies.
fn as_user(user: Option<&str>, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if let Some(user) = user {
        command.args(["--reuid", user, "--regid", user, "--init-groups"]);
    }
    command.args(["--pdeathsig", "INT", "--"]).arg(program);
    command
}

/// Makes a temporary directory that belongs to `user`, or to the caller.
fn directory(user: Option<&str>) -> TempDir {
    let directory = tempfile::Builder::new()
        .prefix("raddle-ecosystem-")
        .tempdir()
        .expect("a temporary directory is made");
    if let Some(user) = user {
        let of = |what| Some(id(&[what, user]));
        chown(directory.path(), of("-u"), of("-g")).expect("root may give a directory away");
    }
    directory
}

/// Returns the directory of the newest installed version of the server in Debian.
fn newest_postgres() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut found: Vec<_> = versions
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version: u32 = path.file_name()?.to_str()?.parse().ok()?;
            let programs = path.join("bin");
            programs
                .join("initdb")
                .is_file()
                .then_some((version, programs))
        })
        .collect();
    found.sort();
    match found.pop() {
        Some((_, programs)) => programs,
        None => missing("initdb", "postgresql"),
    }
}

/// Returns the path of a program from a package.
fn find(program: &str, package: &str) -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| missing(program, package))
}

fn missing(program: &str, package: &str) -> ! {
    panic!("{program} is missing; install Debian's package {package}: apt-get install {package}")
}

fn is_root() -> bool {
    id(&["-u"]) == 0
}

fn id(args: &[impl AsRef<OsStr>]) -> u32 {
    let output = Command::new("id").args(args).output().expect("id runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().expect("id prints a number")
}

/// Returns a port on which nothing listens at the time of the call.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}
