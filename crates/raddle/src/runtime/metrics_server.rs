//! A server of the metrics of a runtime.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use raddle_console::{MetricsGuard, MetricsServer};

use crate::runtime::measured::{self, RuntimeSource};
use crate::runtime::tools::{self, Running, Tool, Tools};
use crate::runtime::{Builder, Handle, Runtime};

/// The server of one runtime.
struct Serving {
    bound: Option<MetricsServer>,
    guard: Option<MetricsGuard>,
}

/// The address of the server.
struct MetricsAddress(SocketAddr);

/// Binds the address of the server, unless its port is taken.
fn start(address: &str, tools: &mut Tools) -> io::Result<()> {
    let server = match MetricsServer::bind(address) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            tools::warn(&format!(
                "the metrics of this runtime are not served: {error}"
            ));
            return Ok(());
        }
        server => server?,
    };
    measured::start(tools);
    let bound = server.address();
    let url = format!("http://{bound}/metrics");
    match (server.is_joined(), server.is_moved()) {
        (true, _) => {}
        (false, true) => tools::print(&format!("the metrics are at {url}; {address} is in use")),
        (false, false) => tools::print(&format!("the metrics are at {url}")),
    }
    tools.shared.add(MetricsAddress(bound));
    tools.running.push(Box::new(Serving {
        bound: Some(server),
        guard: None,
    }));
    Ok(())
}

impl Running for Serving {
    fn serve(&mut self, handle: &Handle) -> io::Result<()> {
        let source = RuntimeSource(handle.clone());
        let bound = self.bound.take();
        self.guard = bound.map(|server| server.serve(handle.name(), source));
        Ok(())
    }

    fn stop(&mut self) {
        self.guard = None;
    }
}

impl Builder {
    /// Serves the metrics of the runtime in Prometheus's text format, at `/metrics` on an address
    /// and a port such as `0.0.0.0:9469`; port 0 is any free one, which
    /// [`Runtime::metrics_address`] returns. Nothing else is served there, requests need no token,
    /// and other machines may reach the address. The environment variable `RADDLE_METRICS` does the
    /// same for [any runtime](crate::runtime#environment-variables).
    ///
    /// Besides the counts of [`RuntimeMetrics`](crate::runtime::RuntimeMetrics) there are
    ///
    /// - `raddle_poll_duration_seconds` and `raddle_scheduling_delay_seconds`, histograms of how
    ///   long polls take, and of how long tasks wait from their wakes to their polls. A worker
    ///   measures each poll and wake if they are 4 us or more apart, and fewer the closer they are,
    ///   at least 1 of 128 at random; each counts for those that are not;
    /// - `raddle_blocking_wait_seconds`, a histogram of how long
    ///   [blocking work](crate::task::spawn_blocking) waits for a thread;
    /// - `raddle_slow_polls_total`, the polls that the [`watchdog`](Self::watchdog) reports, by
    ///   function, if the runtime has one;
    /// - what [spare workers](Self::max_spare_workers) do, and how often there were too few.
    ///
    /// Runtimes of a process that use the same address share it, and each has the label `runtime`:
    /// its [name](Self::name), or else a number. If another program uses the port, one of the 16
    /// ports above it is used. The address is printed to standard error. If none of these ports is
    /// free, the metrics are not served, and standard error says so.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails if the text is not an address with a port, or if the address is
    /// not one of this machine.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_all()
    ///     .serve_metrics("127.0.0.1:0")
    ///     .build()?;
    /// println!("http://{}/metrics", runtime.metrics_address().unwrap());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serve_metrics(&mut self, address: impl Into<String>) -> &mut Self {
        let address = address.into();
        let start = Arc::new(move |tools: &mut Tools| start(&address, tools));
        self.tools.insert(Tool::Metrics, start);
        self
    }
}

impl Runtime {
    /// Returns the address on which the metrics of the runtime are served, if they are; see
    /// [`Builder::serve_metrics`].
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        let MetricsAddress(address) = self.handle().inner.tools.get()?;
        Some(*address)
    }
}
