//! A small web server: hyper on Raddle's multi-thread runtime.
//! `cargo run --release --example http -- --help` prints its options.

#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use clap::Parser;
use event_listener::Event;
use futures_lite::future::or;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, header::CONTENT_TYPE};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::Runtime;
use raddle::task::JoinSet;
use raddle::time::{Duration, sleep, timeout};
use raddle_hyper::{RaddleIo, RaddleTimer};
use tracing::{debug, info, warn};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Raddle</title>
<h1>Raddle</h1><p>This page was served by hyper on Raddle.</p></html>
";

/// The time that connections have to finish their requests after a signal.
const GRACE: Duration = Duration::from_secs(10);
const MAX_BODY: usize = 64 * 1024;

/// Serves a small page over HTTP/1.1, with hyper on Raddle. Ctrl-C stops.
#[derive(Parser)]
#[command(after_help = "RUST_LOG sets what is logged to stderr, for example RUST_LOG=debug.")]
struct Options {
    /// The address to listen on; port 0 selects a free port.
    #[arg(long, default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// The number of worker threads; by default one for each core.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(help) if !help.use_stderr() => help.exit(),
        Err(error) => {
            let text = error.to_string();
            eprintln!("{}; see --help", text.lines().next().unwrap_or_default());
            return ExitCode::FAILURE;
        }
    };
    if let Err(message) = run(options) {
        eprintln!("error: {message}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(options: Options) -> Result<(), String> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter.from_env_lossy())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    let mut builder = raddle::runtime::Builder::new_multi_thread();
    if let Some(count) = options.workers {
        builder.worker_threads(count.into());
    }
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let stop =
        Stop::on_signals(&runtime).map_err(|error| format!("cannot watch signals: {error}"))?;
    // A task, so that a worker accepts the connections.
    let server = runtime.spawn(async move { serve(bind(options.addr).await?, stop).await });
    runtime
        .block_on(server)
        .map_err(|error| error.to_string())?
}

async fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        format!("cannot listen on {address}: {error}; choose another port, above 1023, with --addr")
    })
}

async fn serve(listener: TcpListener, stop: Arc<Stop>) -> Result<(), String> {
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let text = format!(
        "listening on http://{address}\n\
         try  curl -i http://{address}/\n\
         or   wrk -t1 -c50 -d10 http://{address}/\n"
    );
    let _ = io::stdout().write_all(text.as_bytes());

    // Accepting may fail temporarily, for example for lack of a descriptor.
    let pause = |length| {
        warn!(?length, "cannot accept; pausing");
        sleep(length)
    };
    let mut connections = JoinSet::new();
    while let Some(accepted) = stop.unless_stopped(listener.accept_retrying(pause)).await {
        let (stream, peer) = accepted.map_err(|error| format!("cannot accept: {error}"))?;
        connections.spawn(connection(stream, peer, Arc::clone(&stop)));
        while connections.try_join_next().is_some() {}
    }

    drop(listener);
    info!("stopping");
    let all_end = async { while connections.join_next().await.is_some() {} };
    if timeout(GRACE, all_end).await.is_err() {
        warn!(
            connections = connections.len(),
            "requests did not finish in time; closing"
        );
        connections.shutdown().await;
    }
    Ok(())
}

async fn connection(stream: TcpStream, peer: SocketAddr, stop: Arc<Stop>) {
    let mut connection = pin!(
        http1::Builder::new()
            .timer(RaddleTimer::new())
            .half_close(true)
            .serve_connection(RaddleIo::new(stream), service_fn(answer))
    );
    let result = match stop.unless_stopped(connection.as_mut()).await {
        Some(result) => result,
        None => {
            // Answers the request in flight, if there is one, and closes the connection.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    debug!(%peer, ?result, "closed");
}

async fn answer(request: Request<Incoming>) -> hyper::http::Result<Response<Full<Bytes>>> {
    debug!(method = %request.method(), uri = %request.uri(), "request");
    let (status, kind, body) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/") => (200, "text/html; charset=utf-8", PAGE.into()),
        (&Method::POST, "/echo") => match Limited::new(request, MAX_BODY).collect().await {
            Ok(body) => (200, "application/octet-stream", body.to_bytes()),
            Err(_) => (400, "text/plain", "bad body\n".into()),
        },
        _ => (404, "text/plain", "not found\n".into()),
    };
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, kind)
        .body(Full::new(body))
}

/// The signals SIGINT and SIGTERM.
#[cfg(unix)]
mod signals {
    use raddle::signal::unix::{Signal, SignalKind, signal};

    pub(crate) struct Signals(Signal, Signal);

    impl Signals {
        pub(crate) fn new() -> std::io::Result<Self> {
            Ok(Self(
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            ))
        }

        /// Waits for the next, and returns the exit code of a program that it ends.
        pub(crate) async fn recv(&mut self) -> i32 {
            let kind = raddle::select! {
                _ = self.0.recv() => SignalKind::interrupt(),
                _ = self.1.recv() => SignalKind::terminate(),
            };
            128 + kind.as_raw_value()
        }
    }
}

/// The console events Ctrl-C and Ctrl-Break.
#[cfg(windows)]
mod signals {
    use raddle::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};

    /// STATUS_CONTROL_C_EXIT
    const EXIT: i32 = 0xC000_013A_u32 as i32;

    pub(crate) struct Signals(CtrlC, CtrlBreak);

    impl Signals {
        pub(crate) fn new() -> std::io::Result<Self> {
            Ok(Self(ctrl_c()?, ctrl_break()?))
        }

        /// Waits for the next, and returns the exit code of a program that it ends.
        pub(crate) async fn recv(&mut self) -> i32 {
            raddle::select! {
                _ = self.0.recv() => EXIT,
                _ = self.1.recv() => EXIT,
            }
        }
    }
}

/// Notifies every connection when the server has to stop.
#[derive(Default)]
struct Stop {
    requested: AtomicBool,
    event: Event,
}

impl Stop {
    /// Requests the stop at the first signal, and exits at the second.
    fn on_signals(runtime: &Runtime) -> io::Result<Arc<Self>> {
        let stop = Arc::new(Self::default());
        let stop_of_task = Arc::clone(&stop);
        let _entered = runtime.enter();
        let mut signals = signals::Signals::new()?;
        runtime.spawn(async move {
            loop {
                let code = signals.recv().await;
                if stop_of_task.requested.swap(true, SeqCst) {
                    std::process::exit(code);
                }
                stop_of_task.event.notify(usize::MAX);
            }
        });
        Ok(stop)
    }

    /// Waits for `future`, and returns `None` if the server stops first.
    async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let stopped = async {
            while !self.requested.load(SeqCst) {
                let listener = self.event.listen();
                if !self.requested.load(SeqCst) {
                    listener.await;
                }
            }
            None
        };
        or(stopped, async { Some(future.await) }).await
    }
}
