//! The owner of a live page.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use mio::Waker;
use raddle_dump::TaskTable;
use raddle_primitives::sync::atomic::Ordering;
use raddle_primitives::thread::{self, JoinHandle};

use crate::acceptor::Acceptor;
use crate::bind;
use crate::metrics::MetricsSource;
use crate::observer::{ConsoleObserver, NoTasks};
use crate::options::ConsoleOptions;
use crate::server::Server;
use crate::slow::SlowPolls;
use crate::table::Table;
use crate::token::{self, Token};

/// A live page that has an address, but is not served yet.
///
/// ```
/// use std::sync::Arc;
///
/// use raddle_console::{Console, Metrics, MetricsSource};
/// use raddle_sched::{Config, Pool};
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
/// let console = Console::bind("127.0.0.1:0")?;
/// let config = Config { observer: Some(console.observer()), ..Config::default() };
/// let pool = Pool::start(config, None)?;
/// let serving = console.serve(Counts(pool.handle().clone()))?;
/// println!("the page is at {}", serving.url());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Console {
    listener: TcpListener,
    /// The token that the program supplies.
    token: Option<Token>,
    url_file: Option<PathBuf>,
    requested: SocketAddr,
    table: Arc<Table>,
    /// Whether [`observer`](Self::observer) keeps the table of tasks up to date.
    observes_tasks: bool,
    slow: SlowPolls,
}

/// A live page that is being served. Dropping it stops the server.
pub struct ServeGuard {
    server: Arc<Server>,
    address: SocketAddr,
    waker: Waker,
    acceptor: Option<JoinHandle<()>>,
}

/// The ports from 1024 on that browsers block, by the [fetch standard].
///
/// [fetch standard]: https://fetch.spec.whatwg.org/#port-blocking
const BLOCKED_PORTS: [u16; 19] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697, 10080,
];

fn opens_in_browsers(port: u16) -> bool {
    !BLOCKED_PORTS.contains(&port)
}

impl Console {
    /// Listens on an address and port, such as `127.0.0.1:6670` or `[::1]:0`. With port 0 the
    /// system chooses a free port. If the port is in use, one of the 16 ports above it is used.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not an address with a port, if the address is not a loopback
    /// address, if browsers open no page on this port, or if all of these ports are in use
    /// ([`io::ErrorKind::AddrInUse`]).
    pub fn bind(address: &str) -> io::Result<Self> {
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let parsed = bind::parse(address, "127.0.0.1:6670")?;
        if !parsed.ip().is_loopback() {
            return Err(invalid(format!(
                "{address} can be reached from other machines; give the console a loopback address \
                 and forward a port to it"
            )));
        }
        if !opens_in_browsers(parsed.port()) {
            return Err(invalid(format!(
                "browsers open no page on port {}; use another one, such as 6670",
                parsed.port()
            )));
        }
        Ok(Self {
            listener: bind::bind(parsed, opens_in_browsers)?,
            token: None,
            url_file: None,
            requested: parsed,
            table: Arc::new(Table::of(TaskTable::new())),
            observes_tasks: true,
            slow: SlowPolls::new(),
        })
    }

    /// Listens as [`bind`](Self::bind) does, with the token and the file of the options.
    ///
    /// # Errors
    ///
    /// Returns an error like `bind`, and if the token is too short or has other characters than
    /// letters, digits, `-` and `_`.
    pub fn with_options(options: ConsoleOptions) -> io::Result<Self> {
        let token = options.token.map(Token::supplied).transpose()?;
        Ok(Self {
            token,
            url_file: options.url_file,
            ..Self::bind(&options.address)?
        })
    }

    /// Shows the tasks of this table, whose own observer keeps it up to date, instead of a table of
    /// its own.
    #[must_use]
    pub fn with_tasks(self, tasks: TaskTable) -> Self {
        Self {
            table: Arc::new(Table::of(tasks)),
            observes_tasks: false,
            ..self
        }
    }

    /// Returns the observer for the scheduler that the page shows.
    pub fn observer(&self) -> Arc<dyn raddle_sched::Observer> {
        let tasks = match self.observes_tasks {
            true => self.table.tasks.observer(),
            false => Arc::new(NoTasks),
        };
        Arc::new(ConsoleObserver::new(Arc::clone(&self.table), tasks))
    }

    /// Returns whether the requested port was in use, so that the page has another one.
    pub fn is_moved(&self) -> bool {
        let address = self.listener.local_addr();
        self.requested.port() != 0 && address.is_ok_and(|address| address != self.requested)
    }

    /// Returns the list of slow polls that the page shows.
    pub fn slow_polls(&self) -> SlowPolls {
        self.slow.clone()
    }

    /// Writes the file for the URL, and starts the thread that accepts clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses the thread, a descriptor, random bytes or the file.
    pub fn serve(self, source: impl MetricsSource) -> io::Result<ServeGuard> {
        let address = self.listener.local_addr()?;
        let token = match self.token {
            Some(token) => token,
            None => Token::random()?,
        };
        if let Some(path) = &self.url_file {
            token::write_url(path, &url(address, &token))?;
        }
        let acceptor = Acceptor::new(self.listener)?;
        let waker = acceptor.waker()?;
        let server = Server::new(token, self.table, self.slow, Box::new(source));
        let server = Arc::new(server);
        let running = Arc::clone(&server);
        let acceptor = thread::Builder::new()
            .name("raddle-console".to_owned())
            .spawn(move || running.run(acceptor))?;
        Ok(ServeGuard {
            server,
            address,
            waker,
            acceptor: Some(acceptor),
        })
    }
}

fn url(address: SocketAddr, token: &Token) -> String {
    format!("http://{address}/?token={}", token.as_str())
}

impl ServeGuard {
    /// Returns the address of the page, with the token.
    pub fn url(&self) -> String {
        url(self.address, &self.server.token)
    }
}

/// Waits until the port is closed. A client whose response is being written is not waited for.
impl Drop for ServeGuard {
    fn drop(&mut self) {
        // ORDERING: no other data depends on it; the waker makes the acceptor check it.
        self.server.is_stopped.store(true, Ordering::Relaxed);
        if self.waker.wake().is_ok() {
            let _ = self.acceptor.take().map(JoinHandle::join);
        }
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

/// Leaves out the token.
impl fmt::Debug for ServeGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeGuard")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
