//! A server of metrics alone, on an address that other machines may reach.

mod client;
mod registry;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::thread::{self, JoinHandle};

use crate::bind;
use crate::metrics::{MetricsSource, prometheus};
use client::Client;

/// The maximum number of clients at a time.
const MAX_CLIENTS: usize = 32;
/// The number of clients that are accepted before those that are there are served.
const MAX_ACCEPTED: usize = 8;
/// The time between two checks of the clients, while there are any.
const INTERVAL: Duration = Duration::from_millis(2);
/// The time that the listener pauses when the system has no descriptor for a client.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The time that stopping the server waits for its own connection.
const WAKE_LIMIT: Duration = Duration::from_millis(200);

/// Serves the metrics of runtimes at `/metrics`, in Prometheus's text format, on an address that
/// other machines may reach.
///
/// There is nothing but the metrics, which have no names of tasks. So requests need no token, and
/// any `Host`. The metrics of all runtimes of the process that use the same address are served
/// together, with the label `runtime`: the name of the runtime, or else a number.
///
/// One thread serves at most 32 clients at a time. If there are more, the one that was accepted
/// first is disconnected, so clients that send no request keep no other client out. Each client has
/// 5 seconds, and the head of its request has at most 4 KiB.
///
/// ```
/// use raddle_console::{Metrics, MetricsServer, MetricsSource};
///
/// struct Counts(raddle_sched::Handle);
///
/// impl MetricsSource for Counts {
///     fn metrics(&self) -> Metrics {
///         let metrics = self.0.metrics();
///         Metrics { alive_tasks: metrics.alive_tasks(), ..Metrics::default() }
///     }
/// }
///
/// let pool = raddle_sched::Pool::start(raddle_sched::Config::default(), None)?;
/// let server = MetricsServer::bind("127.0.0.1:0")?;
/// let serving = server.serve(Some("web"), Counts(pool.handle().clone()));
/// println!("http://{}/metrics", serving.address());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct MetricsServer {
    shared: Arc<Shared>,
    is_joined: bool,
}

/// The metrics of one runtime that are served. Dropping it removes them. When the last ones of an
/// address are removed, its server stops.
pub struct MetricsGuard {
    server: MetricsServer,
    number: usize,
}

struct Shared {
    address: SocketAddr,
    requested: SocketAddr,
    sources: Mutex<Vec<Source>>,
    is_stopped: AtomicBool,
}

struct Source {
    number: usize,
    label: String,
    source: Arc<dyn MetricsSource>,
}

impl MetricsServer {
    /// Listens on an address and port, such as `0.0.0.0:9469` or `[::1]:0`, or joins the server of
    /// this process that does. With port 0 the system chooses a free port. If the port is in use,
    /// one of the 16 ports above it is used.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not an address with a port, if the address is not one of
    /// this machine, if all of these ports are in use ([`io::ErrorKind::AddrInUse`]), or if the
    /// system refuses a thread.
    pub fn bind(address: &str) -> io::Result<Self> {
        let requested = bind::parse(address, "0.0.0.0:9469")?;
        registry::join(requested, || Shared::start(requested))
    }

    /// Returns the address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Returns whether the requested port was in use, so that [`address`](Self::address) has
    /// another one.
    pub fn is_moved(&self) -> bool {
        let requested = self.shared.requested.port();
        requested != 0 && requested != self.shared.address.port()
    }

    /// Returns whether the server was there before, for another runtime.
    pub fn is_joined(&self) -> bool {
        self.is_joined
    }

    /// Serves the metrics of a runtime until the guard is dropped.
    pub fn serve(self, name: Option<&str>, source: impl MetricsSource) -> MetricsGuard {
        let number = self.shared.add(name, Arc::new(source));
        MetricsGuard {
            server: self,
            number,
        }
    }
}

impl MetricsGuard {
    /// Returns the address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

impl Shared {
    /// Starts the thread of a server.
    fn start(requested: SocketAddr) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let listener = bind::bind(requested, |_| true)?;
        let shared = Arc::new(Self {
            address: listener.local_addr()?,
            requested,
            sources: Mutex::ranked(Rank::leaf("sources of metrics"), Vec::new()),
            is_stopped: AtomicBool::new(false),
        });
        let running = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("raddle-metrics".to_owned())
            .spawn(move || running.run(&listener))?;
        Ok((shared, thread))
    }

    /// Adds a source, and returns its number.
    fn add(&self, name: Option<&str>, source: Arc<dyn MetricsSource>) -> usize {
        let mut sources = self.sources.lock();
        let number = sources.iter().map(|it| it.number + 1).max().unwrap_or(0);
        let is_taken = |label: &str| sources.iter().any(|it| it.label == label);
        let numbers = (0..).map(|number: usize| match name {
            None => number.to_string(),
            Some(name) if number == 0 => name.to_owned(),
            Some(name) => format!("{name}-{}", number + 1),
        });
        let mut free = numbers.skip_while(|label| is_taken(label));
        let label = free.next().unwrap_or_default();
        sources.push(Source {
            number,
            label,
            source,
        });
        number
    }

    fn is_stopped(&self) -> bool {
        // ORDERING: no other data depends on it; the thread is woken, and checks it again.
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Serves clients until the server stops.
    fn run(&self, listener: &TcpListener) {
        let mut clients = Vec::new();
        while !self.is_stopped() {
            // Without a client, the thread sleeps until one connects.
            let _ = listener.set_nonblocking(!clients.is_empty());
            for _ in 0..MAX_ACCEPTED {
                match listener.accept() {
                    Ok((stream, _)) => {
                        if clients.len() >= MAX_CLIENTS {
                            clients.remove(0);
                        }
                        clients.extend(Client::new(stream));
                        let _ = listener.set_nonblocking(true);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // A client may disconnect before it is accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(_) => {
                        std::thread::sleep(ACCEPT_PAUSE);
                        break;
                    }
                }
            }
            let now = Instant::now();
            clients.retain_mut(|client| client.advance(now, || self.text()));
            if !clients.is_empty() {
                std::thread::sleep(INTERVAL);
            }
        }
    }

    /// Returns the metrics of all runtimes.
    fn text(&self) -> String {
        let copy = |it: &Source| (it.label.clone(), Arc::clone(&it.source));
        // The sources take locks.
        let sources = Vec::from_iter(self.sources.lock().iter().map(copy));
        let metrics = sources
            .into_iter()
            .map(|(label, source)| (Some(label), source.metrics()));
        prometheus(&Vec::from_iter(metrics))
    }

    /// Has the thread return.
    fn stop(&self) {
        // ORDERING: no other data depends on it; the listener checks it after each client.
        self.is_stopped.store(true, Ordering::Relaxed);
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        // The connection makes the listener check the flag.
        let _ = TcpStream::connect_timeout(&address, WAKE_LIMIT);
    }
}

impl Drop for MetricsGuard {
    fn drop(&mut self) {
        let number = self.number;
        let mut sources = self.server.shared.sources.lock();
        let found = sources.iter().position(|it| it.number == number);
        let removed = found.map(|index| sources.remove(index));
        drop(sources);
        drop(removed);
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        registry::leave(&self.shared);
    }
}

impl fmt::Debug for MetricsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsServer")
            .field("address", &self.shared.address)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MetricsGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsGuard")
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
