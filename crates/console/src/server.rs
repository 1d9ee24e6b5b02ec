//! The threads that answer.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::thread;
use serde_json::{Value, json};

use crate::metrics::{Metrics, MetricsSource, WorkerMetrics};
use crate::request::{self, Refusal, Route};
use crate::slow::SlowPolls;
use crate::table::{self, Activity, Query, Table, WorkerState};
use crate::token::Token;

/// The maximum number of clients at a time, each of which has a thread, and of clients that get
/// events.
const MAX_CLIENTS: usize = 24;
const MAX_STREAMS: usize = 12;
/// The stack size of such a thread, which looks up the names of functions.
const STACK: usize = 1024 * 1024;
/// The time that one write may wait for a client.
const WRITE_LIMIT: Duration = Duration::from_secs(2);
/// The time between two events.
const INTERVAL: Duration = Duration::from_millis(250);
/// The time that the listener pauses when the system has no descriptor for a client.
const REST: Duration = Duration::from_millis(50);

const PAGE: &str = include_str!("page.html");

/// The state that all threads share.
pub(crate) struct Server {
    pub(crate) token: Token,
    pub(crate) table: Arc<Table>,
    pub(crate) slow: SlowPolls,
    pub(crate) source: Box<dyn MetricsSource>,
    pub(crate) is_stopped: AtomicBool,
    clients: AtomicUsize,
    streams: AtomicUsize,
}

impl Server {
    pub(crate) fn new(
        token: Token,
        table: Arc<Table>,
        slow: SlowPolls,
        source: Box<dyn MetricsSource>,
    ) -> Self {
        Self {
            token,
            table,
            slow,
            source,
            is_stopped: AtomicBool::new(false),
            clients: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        // ORDERING: no other data depends on it; a thread that sees it late answers one more
        // request.
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Accepts clients until the console stops.
    pub(crate) fn run(self: &Arc<Self>, listener: &TcpListener) {
        while !self.is_stopped() {
            match listener.accept() {
                Ok((stream, _)) if !self.is_stopped() => self.receive(stream),
                Ok(_) => {}
                // A client may disconnect before it is accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => std::thread::sleep(REST),
            }
        }
    }

    /// Starts a thread for a client, if there are not too many.
    fn receive(self: &Arc<Self>, stream: TcpStream) {
        let _ = stream.set_write_timeout(Some(WRITE_LIMIT));
        let Some(permit) = ClientPermit::take(self, MAX_CLIENTS, |server| &server.clients) else {
            return refuse_busy(stream);
        };
        let builder = thread::Builder::new()
            .name("raddle-console".to_owned())
            .stack_size(STACK);
        // A client whose thread the system refuses is dropped.
        let _ = builder.spawn(move || {
            let mut stream = stream;
            // An error concerns only the connection of this client.
            let _ = permit.server.answer(&mut stream);
            close(&stream);
        });
    }

    fn answer(self: &Arc<Self>, stream: &mut TcpStream) -> io::Result<()> {
        let request = match request::read(stream, &self.token)? {
            Ok(request) => request,
            Err(refusal) => return refuse(stream, refusal),
        };
        match request.route {
            Route::Page => send(stream, "text/html; charset=utf-8", PAGE.as_bytes()),
            Route::Tasks(query) => {
                let body = self.tasks(&query).to_string();
                send(stream, "application/json", body.as_bytes())
            }
            Route::Waits => {
                let body = self.table.waits().to_string();
                send(stream, "application/json", body.as_bytes())
            }
            Route::Metrics => {
                let body = self.source.metrics().prometheus();
                send(stream, "text/plain; version=0.0.4", body.as_bytes())
            }
            Route::Recording => match self.source.recording() {
                Some(bytes) => send(stream, "application/octet-stream", &bytes),
                None => refuse(stream, Refusal::NotFound),
            },
            Route::Events => {
                match ClientPermit::take(self, MAX_STREAMS, |server| &server.streams) {
                    Some(_permit) => self.events(stream),
                    None => busy(stream),
                }
            }
        }
    }

    /// Sends events until the client disconnects.
    fn events(&self, stream: &mut TcpStream) -> io::Result<()> {
        head(stream, "200 OK", "text/event-stream", None)?;
        let mut shown = 0;
        while !self.is_stopped() {
            let (slow, last) = self.slow.after(shown);
            shown = last;
            let event = self.event(slow);
            // The JSON text has no line breaks.
            stream.write_all(format!("data: {event}\n\n").as_bytes())?;
            if wait_for_end(stream, INTERVAL)? {
                break;
            }
        }
        Ok(())
    }

    fn event(&self, slow: Vec<Value>) -> Value {
        let now = Instant::now();
        let metrics = self.source.metrics();
        let row = |name: String, state: &WorkerState, counts: Option<&WorkerMetrics>| {
            let (activity, task) = match state.activity {
                Activity::Ready => ("ready", None),
                Activity::Polling(task) => ("polling", Some(task)),
                Activity::Searching => ("searching", None),
                Activity::Parked => ("parked", None),
                Activity::Stopped => ("stopped", None),
            };
            let found = task.and_then(|task| self.table.tasks.task(task));
            let counts = counts.copied().unwrap_or_default();
            json!({
                "worker": name,
                "activity": activity,
                "for": now.saturating_duration_since(state.since).as_secs_f64(),
                "task": task,
                "name": found.as_ref().and_then(|task| task.name()),
                "location": found.as_ref().map(|task| task.spawned_at().to_string()),
                "polls": counts.polls,
                "steals": counts.steals,
                "parks": counts.parks,
                "busy": counts.busy.as_secs_f64(),
                "depth": counts.depth,
            })
        };
        let states = self.table.worker_states();
        let workers = states.iter().enumerate().map(|(number, state)| {
            let counts = metrics.workers.get(number);
            row(format!("W{number}"), state, counts)
        });
        let states = self.table.spare_states();
        let spares = states.iter().map(|(number, state)| {
            let counts = metrics.spare_workers.get(*number);
            row(format!("spare {number}"), state, counts)
        });
        let workers: Vec<Value> = workers.chain(spares).collect();
        // The sums include spare workers that do not serve now: otherwise a rate would leap when
        // one comes and goes.
        let all = || metrics.workers.iter().chain(&metrics.spare_workers);
        let sum = |count: fn(&WorkerMetrics) -> u64| all().map(count).sum::<u64>();
        let busy: Duration = all().map(|worker| worker.busy).sum();
        let totals = json!({
            "polls": sum(|worker| worker.polls),
            "steals": sum(|worker| worker.steals),
            "busy": busy.as_secs_f64(),
            "depth": sum(|worker| worker.depth as u64),
        });
        let Metrics {
            alive_tasks,
            spawned_tasks,
            injection_depth,
            blocking_threads,
            idle_blocking_threads,
            blocking_depth,
            ..
        } = metrics;
        json!({
            "workers": workers,
            "totals": totals,
            "slow": slow,
            "alive": alive_tasks,
            "spawned": spawned_tasks,
            "injection": injection_depth,
            "blocking": blocking_threads - idle_blocking_threads.min(blocking_threads),
            "blocking_queue": blocking_depth,
        })
    }

    fn tasks(&self, query: &Query) -> Value {
        let page = self.table.page(query);
        let tasks: Vec<_> = page.tasks.iter().map(table::to_json).collect();
        json!({
            "total": page.total,
            "matching": page.matching,
            "offset": query.offset,
            "tasks": tasks,
        })
    }
}

/// The right of a client to one of a bounded number of connections or streams.
struct ClientPermit {
    server: Arc<Server>,
    count: fn(&Server) -> &AtomicUsize,
}

impl ClientPermit {
    fn take(server: &Arc<Server>, max: usize, count: fn(&Server) -> &AtomicUsize) -> Option<Self> {
        let taken = count(server)
            // ORDERING: a count on which no other data depends.
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                (taken < max).then_some(taken + 1)
            });
        taken.is_ok().then(|| Self {
            server: Arc::clone(server),
            count,
        })
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        // ORDERING: a count on which no other data depends.
        (self.count)(&self.server).fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for `time`, or until the client closes the connection. Returns whether it has.
fn wait_for_end(stream: &mut TcpStream, time: Duration) -> io::Result<bool> {
    let end = Instant::now() + time;
    let mut buffer = [0; 256];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(true),
            // Further bytes of a client have no meaning; they are read slowly.
            Ok(_) => std::thread::sleep(left),
            Err(_) => {}
        }
    }
}

/// Writes the head of a response.
fn head(stream: &mut TcpStream, status: &str, kind: &str, length: Option<usize>) -> io::Result<()> {
    let length = length.map_or_else(String::new, |length| {
        format!("Content-Length: {length}\r\n")
    });
    let head = format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {kind}\r\n\
         {length}\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; \
         style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n"
    );
    stream.write_all(head.as_bytes())
}

/// Writes a response. All of it must be written within the time of one write, even if the client
/// reads slowly.
fn send(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    head(stream, "200 OK", kind, Some(body.len()))?;
    let deadline = Instant::now() + WRITE_LIMIT;
    for part in body.chunks(64 * 1024) {
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.write_all(part)?;
    }
    Ok(())
}

fn refuse(stream: &mut TcpStream, refusal: Refusal) -> io::Result<()> {
    let (status, text) = refusal.status();
    head(stream, status, "text/plain", Some(text.len()))?;
    stream.write_all(text.as_bytes())
}

fn busy(stream: &mut TcpStream) -> io::Result<()> {
    let text = "too many clients";
    head(
        stream,
        "503 Service Unavailable",
        "text/plain",
        Some(text.len()),
    )?;
    stream.write_all(text.as_bytes())
}

/// Refuses a client on the listener's thread, which does not wait for it.
fn refuse_busy(mut stream: TcpStream) {
    if stream.set_nonblocking(true).is_ok() {
        let _ = busy(&mut stream);
    }
}

/// Closes a connection so that the client receives the whole response, even if it has sent further
/// bytes.
fn close(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let mut buffer = [0; 4096];
    let mut stream = stream;
    for _ in 0..16 {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
