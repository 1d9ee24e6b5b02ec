//! The owner of a live page.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use raddle_primitives::sync::atomic::Ordering;
use raddle_primitives::thread;

use crate::metrics::MetricsSource;
use crate::observer::ConsoleObserver;
use crate::server::Server;
use crate::slow::SlowPolls;
use crate::table::Table;
use crate::token::Token;

/// The time that dropping a console waits for its own connection.
const WAKE_LIMIT: Duration = Duration::from_millis(200);

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
    table: Arc<Table>,
    slow: SlowPolls,
}

/// A live page that is being served. Dropping it stops the server.
pub struct ServeGuard {
    server: Arc<Server>,
    address: SocketAddr,
}

impl Console {
    /// Listens on an address and port, such as `127.0.0.1:6670` or `[::1]:0`. With port 0 the
    /// system chooses a free port.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not an address with a port, if the address is not a loopback
    /// address, or if it is in use.
    pub fn bind(address: &str) -> io::Result<Self> {
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let parsed: SocketAddr = address.parse().map_err(|_| {
            invalid(format!(
                "{address:?} is not an address with a port; use one such as 127.0.0.1:6670"
            ))
        })?;
        if !parsed.ip().is_loopback() {
            return Err(invalid(format!(
                "{address} can be reached from other machines; give the console a loopback address \
                 and forward a port to it"
            )));
        }
        Ok(Self {
            listener: TcpListener::bind(parsed)?,
            table: Arc::new(Table::new()),
            slow: SlowPolls::new(),
        })
    }

    /// Returns the observer for the scheduler that the page shows.
    pub fn observer(&self) -> Arc<dyn raddle_sched::Observer> {
        Arc::new(ConsoleObserver::new(Arc::clone(&self.table)))
    }

    /// Returns the list of slow polls that the page shows.
    pub fn slow_polls(&self) -> SlowPolls {
        self.slow.clone()
    }

    /// Starts the thread that accepts clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses the thread.
    pub fn serve(self, source: impl MetricsSource) -> io::Result<ServeGuard> {
        let Self {
            listener,
            table,
            slow,
        } = self;
        let address = listener.local_addr()?;
        let server = Server::new(Token::random(), table, slow, Box::new(source));
        let server = Arc::new(server);
        let running = Arc::clone(&server);
        thread::Builder::new()
            .name("raddle-console".to_owned())
            .spawn(move || running.run(&listener))?;
        Ok(ServeGuard { server, address })
    }
}

impl ServeGuard {
    /// Returns the address of the page, with the token.
    pub fn url(&self) -> String {
        let token = self.server.token.as_str();
        format!("http://{}/?token={token}", self.address)
    }
}

impl Drop for ServeGuard {
    fn drop(&mut self) {
        // ORDERING: no other data depends on it; the listener checks it after each client.
        self.server.is_stopped.store(true, Ordering::Relaxed);
        // The connection makes the listener check the flag.
        let _ = TcpStream::connect_timeout(&self.address, WAKE_LIMIT);
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
