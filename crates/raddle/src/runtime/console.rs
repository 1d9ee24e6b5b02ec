//! The live page of a runtime.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use raddle_console::{Console, ConsoleOptions, ServeGuard};
use raddle_watchdog::Report;

use crate::runtime::dumps;
use crate::runtime::measured::{self, RuntimeSource};
use crate::runtime::tools::{self, Running, Tool, Tools};
use crate::runtime::watching::{self, Listener};
use crate::runtime::{Builder, Handle, Runtime};

/// The duration from which a poll counts as slow, if the runtime has no watchdog.
const THRESHOLD: Duration = Duration::from_millis(100);

/// The page of one runtime.
struct Page {
    bound: Option<Console>,
    /// The address that was requested, if its port was taken.
    in_use: Option<String>,
    serving: Option<ServeGuard>,
    url: Url,
    url_file: Option<PathBuf>,
}

/// The address of the page, once it is served.
#[derive(Clone, Default)]
struct Url(Arc<OnceLock<String>>);

/// Binds the address of a page, and collects what it shows.
fn start(options: &ConsoleOptions, tools: &mut Tools) -> io::Result<()> {
    let console = match Console::with_options(options.clone()) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            tools::warn(&format!("this runtime has no console: {error}"));
            return Ok(());
        }
        console => console?,
    };
    measured::start(tools);
    let console = console.with_tasks(dumps::table(tools));
    tools.observers.add_scheduler_observer(console.observer());
    let slow = console.slow_polls();
    let listener = Listener(Arc::new(move |report| slow.push_report(report)));
    tools.shared.add(listener);
    let url = Url::default();
    tools.shared.add(url.clone());
    tools.running.push(Box::new(Page {
        in_use: console.is_moved().then(|| options.address.clone()),
        bound: Some(console),
        serving: None,
        url,
        url_file: options.url_file.clone(),
    }));
    Ok(())
}

impl Running for Page {
    fn serve(&mut self, handle: &Handle) -> io::Result<()> {
        if let Some(console) = self.bound.take() {
            let serving = console.serve(RuntimeSource(handle.clone()))?;
            let url = self.url.0.get_or_init(|| serving.url());
            let place = match &self.url_file {
                Some(file) => format!("at the URL in {}", file.display()),
                None => format!("at {url}"),
            };
            match &self.in_use {
                None => tools::print(&format!("the console is {place}")),
                Some(address) => tools::print(&format!(
                    "the console of this runtime is {place}; {address} is in use"
                )),
            }
            self.serving = Some(serving);
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.serving = None;
    }
}

impl Builder {
    /// Serves a live page of the runtime on a loopback address and a port, such as
    /// `127.0.0.1:6670`; port 0 is any free one. The page shows what the workers do, the tasks and
    /// what they wait for, locks and channels with their queues, deadlocks, slow polls with stacks,
    /// and queue depths and rates, and it downloads the recording of the runtime's flight recorder,
    /// if there is one. Its address, with the token that a browser needs, is printed to standard
    /// error, and [`Runtime::console_url`] returns it. `/metrics` has the counters in Prometheus's
    /// text format, and needs no token.
    ///
    /// If the port is in use, by another runtime or program, the page has one of the 16 ports above
    /// it. If none of them is free, there is no page, and standard error says so.
    ///
    /// Separate threads serve the page, even while all workers are stuck. To see it from another
    /// machine, forward the port (`ssh -L`). The page shows the slow polls that
    /// [`watchdog`](Self::watchdog) reports, or without it those that take more than 100 ms.
    ///
    /// The environment variable `RADDLE_CONSOLE` does the same for [any
    /// runtime](crate::runtime#environment-variables).
    ///
    /// Each spawn, wake and poll of a task takes a lock and reads the clock while a page is served.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails if the text is not such an address, if the address is not a
    /// loopback address, or if browsers refuse the port.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .console("127.0.0.1:0")
    ///     .build()?;
    /// assert!(runtime.console_url().unwrap().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn console(&mut self, address: impl Into<String>) -> &mut Self {
        self.console_options(ConsoleOptions::new(address))
    }

    /// Serves a live page like [`console`](Self::console), with a token of the program, or with a
    /// file for the URL instead of the line on standard error.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails as for `console`, if the token is not at least 16 letters,
    /// digits, `-` and `_`, and if the file cannot be written.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use raddle::runtime::{Builder, ConsoleOptions};
    ///
    /// let mut options = ConsoleOptions::new("127.0.0.1:6670");
    /// options.url_file = Some("/run/service/console-url".into());
    /// let runtime = Builder::new_multi_thread().console_options(options).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn console_options(&mut self, options: ConsoleOptions) -> &mut Self {
        let start = Arc::new(move |tools: &mut Tools| start(&options, tools));
        self.tools.insert(Tool::Console, start);
        let warn = raddle_watchdog::warn();
        let start_watchdog = watching::start(THRESHOLD, move |report| {
            // The page has the slow polls.
            if let Report::NoSpareWorkers(_) = report {
                warn(report);
            }
        });
        let start_without_other = move |tools: &mut Tools| match tools.has(Tool::Watchdog) {
            true => Ok(()),
            false => start_watchdog(tools),
        };
        self.tools
            .insert(Tool::ConsoleWatchdog, Arc::new(start_without_other));
        self
    }
}

impl Runtime {
    /// The address of the live page, with its token, if the runtime has one; see
    /// [`Builder::console`].
    pub fn console_url(&self) -> Option<String> {
        let Url(url) = self.handle().inner.tools.get()?;
        url.get().cloned()
    }
}
