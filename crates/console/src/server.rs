//! The threads that answer.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::thread;
use serde_json::{Value, json};

use crate::acceptor::Acceptor;
use crate::metrics::{self, Metrics, MetricsSource, WorkerMetrics};
use crate::request::{Refusal, Request, Route};
use crate::response;
use crate::slow::SlowPolls;
use crate::table::{Activity, Table, WorkerState};
use crate::token::Token;
use crate::view;

/// The maximum number of requests that are answered at a time, each by a thread; of those that get
/// events or a recording, which is in memory until it is sent, and of those without a token.
const MAX_CLIENTS: usize = 24;
const MAX_STREAMS: usize = 12;
const MAX_RECORDINGS: usize = 4;
const MAX_WITHOUT_TOKEN: usize = 4;
/// The time after which the page of a further viewer tries again.
const RETRY: Duration = Duration::from_secs(3);
/// The stack size of such a thread, which looks up the names of functions.
const STACK: usize = 1024 * 1024;
/// The length of the text of a stack that was asked for, in bytes.
const MAX_STACK_TEXT: usize = 256 * 1024;
/// The time between two events.
const INTERVAL: Duration = Duration::from_millis(250);

const BUSY: &str = "503 Service Unavailable";

/// The page is one file, which loads nothing else.
const PAGE: &str = concat!(
    include_str!("page/page.html"),
    "<style>\n",
    include_str!("page/style.css"),
    "</style>\n<script>\n",
    include_str!("page/script.js"),
    "</script>\n</body>\n</html>\n",
);

/// The state that all threads share.
pub(crate) struct Server {
    pub(crate) token: Token,
    pub(crate) table: Arc<Table>,
    pub(crate) slow: SlowPolls,
    pub(crate) source: Box<dyn MetricsSource>,
    pub(crate) is_stopped: AtomicBool,
    clients: AtomicUsize,
    streams: AtomicUsize,
    recordings: AtomicUsize,
    without_token: AtomicUsize,
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
            recordings: AtomicUsize::new(0),
            without_token: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        // ORDERING: no other data depends on it; a thread that sees it late answers one more
        // request.
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Accepts clients until the console stops.
    pub(crate) fn run(self: &Arc<Self>, acceptor: Acceptor) {
        let is_stopped = || self.is_stopped();
        acceptor.run(&self.token, is_stopped, |stream, request| {
            self.serve(stream, request);
        });
    }

    /// Starts a thread for a request that has passed all checks, if there are not too many.
    fn serve(self: &Arc<Self>, stream: TcpStream, request: Request) {
        let permit = match request.route {
            // It needs no token, so it has a limit of its own: it takes no place of the page.
            Route::Metrics => {
                ClientPermit::take(self, MAX_WITHOUT_TOKEN, |server| &server.without_token)
            }
            _ => ClientPermit::take(self, MAX_CLIENTS, |server| &server.clients),
        };
        let Some(permit) = permit else {
            response::refuse_at_once(stream, BUSY, "too many clients");
            return;
        };
        let builder = thread::Builder::new()
            .name("raddle-console".to_owned())
            .stack_size(STACK);
        // A client whose thread the system refuses is dropped.
        let _ = builder.spawn(move || {
            let mut stream = stream;
            // An error concerns only the connection of this client.
            let _ = permit.server.answer(&mut stream, &request.route);
            response::close(&stream);
        });
    }

    fn answer(self: &Arc<Self>, stream: &mut TcpStream, route: &Route) -> io::Result<()> {
        let body = match route {
            Route::Page => {
                return response::send(stream, "text/html; charset=utf-8", PAGE.as_bytes());
            }
            Route::Metrics => {
                let body = metrics::prometheus(&[(None, self.source.metrics())]);
                return response::send(stream, "text/plain; version=0.0.4", body.as_bytes());
            }
            Route::Recording => return self.send_recording(stream),
            Route::Events => return self.stream_events(stream),
            Route::Tasks(query) => view::tasks(&self.table.copy(), query),
            Route::Task(id) => match view::task(&self.table.copy(), &self.table.tasks, *id) {
                Some(task) => task,
                None => return refuse(stream, Refusal::NotFound),
            },
            Route::Groups => view::groups(&self.table.copy()),
            Route::Resources => view::resources(&self.table.copy()),
            Route::Waits => view::waits_graph(&self.table.copy()),
            Route::Stack(id) => {
                let stack = self.source.stack(*id);
                json!({ "stack": stack.map(|stack| view::beginning(&stack, MAX_STACK_TEXT)) })
            }
        };
        response::send(stream, "application/json", body.to_string().as_bytes())
    }

    fn send_recording(self: &Arc<Self>, stream: &mut TcpStream) -> io::Result<()> {
        let permit = ClientPermit::take(self, MAX_RECORDINGS, |server| &server.recordings);
        let Some(_permit) = permit else {
            let text = response::text(BUSY, "too many recordings are being sent");
            return stream.write_all(&text);
        };
        match self.source.recording() {
            Some(bytes) => response::send(stream, "application/octet-stream", &bytes),
            None => refuse(stream, Refusal::NotFound),
        }
    }

    /// Sends events until the client disconnects, or says that there are too many viewers.
    fn stream_events(self: &Arc<Self>, stream: &mut TcpStream) -> io::Result<()> {
        response::start_events(stream)?;
        let permit = ClientPermit::take(self, MAX_STREAMS, |server| &server.streams);
        let Some(_permit) = permit else {
            let retry = RETRY.as_millis();
            let event = format!("retry: {retry}\nevent: full\ndata: {MAX_STREAMS}\n\n");
            return stream.write_all(event.as_bytes());
        };
        let mut shown = 0;
        while !self.is_stopped() {
            let (slow, last) = self.slow.after(shown);
            shown = last;
            let event = self.event(view::slow(slow));
            // The JSON text has no line breaks.
            stream.write_all(format!("data: {event}\n\n").as_bytes())?;
            if response::wait_for_end(stream, INTERVAL)? {
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
                "name": found.as_ref().and_then(|task| task.name()).map(view::text),
                "location": found.as_ref().map(|task| view::place(task.spawned_at())),
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

fn refuse(stream: &mut TcpStream, refusal: Refusal) -> io::Result<()> {
    let (status, text) = refusal.status();
    stream.write_all(&response::text(status, text))
}

#[cfg(test)]
mod tests;
