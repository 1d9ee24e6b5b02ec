//! Runs a case on both kernels and compares what it has observed.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use raddle::runtime::Builder;
use raddle_sim::Sim;

/// Where the simulation differs on purpose: the case, the line, and the reason.
const INTENDED: &[(&str, &str, &str)] = &[
    (
        "shutdown_unconnected",
        "new",
        "an unconnected socket keeps no shutdown: no program relies on it",
    ),
    ("shutdown_unconnected", "bound", "as above"),
    (
        "shutdown_of_listener_ends_accept",
        "second connect",
        "the port that the system chose stays the same for a socket that listens again",
    ),
    (
        "take_error_after_refusal",
        "third connect",
        "a socket makes one attempt; programs take another",
    ),
    ("take_error_after_refusal", "connected", "as above"),
    (
        "v6_options",
        "set after bind",
        "the system's socket, which keeps the option, is not bound",
    ),
    (
        "disconnect",
        "local",
        "a datagram socket keeps its port when it is disconnected",
    ),
    ("disconnect", "local of new", "as above"),
    ("disconnect", "local of bound", "as above"),
];

const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// What a case has observed.
#[derive(Clone, Default)]
pub(crate) struct Log {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    lines: Vec<(String, String)>,
    ports: BTreeMap<u16, &'static str>,
}

impl Log {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub(crate) fn line(&self, what: impl Into<String>, value: impl Debug) {
        let line = (what.into(), format!("{value:?}"));
        self.inner().lines.push(line);
    }

    pub(crate) fn result<T: Debug>(&self, what: impl Into<String>, result: &io::Result<T>) {
        match result {
            Ok(value) => self.line(what, value),
            Err(error) => self.line(what, (error.kind(), error.raw_os_error())),
        }
    }

    /// Replaces a port by a name in all addresses that are logged from now on.
    pub(crate) fn name(&self, addr: &io::Result<SocketAddr>, name: &'static str) {
        if let Ok(addr) = addr {
            self.inner().ports.insert(addr.port(), name);
        }
    }

    pub(crate) fn addr(&self, what: impl Into<String>, addr: &io::Result<SocketAddr>) {
        let shown = match addr {
            Ok(addr) if addr.port() == 0 => Ok(addr.to_string()),
            Ok(addr) => {
                let name = self.inner().ports.get(&addr.port()).copied();
                Ok(format!(
                    "{} port of {}",
                    addr.ip(),
                    name.unwrap_or("another")
                ))
            }
            Err(error) => Err((error.kind(), error.raw_os_error())),
        };
        self.line(what, shown);
    }

    /// Logs what `poll` says of a descriptor.
    pub(crate) fn poll(&self, what: impl Into<String>, fd: &impl AsFd) {
        self.line(what, readiness(fd));
    }
}

/// What `poll` says of a descriptor.
pub(crate) fn readiness(fd: &impl AsFd) -> String {
    let events = libc::POLLIN | libc::POLLOUT | libc::POLLRDHUP | libc::POLLPRI;
    let fd = fd.as_fd().as_raw_fd();
    let mut polled = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: the array of one is valid.
    let count = unsafe { libc::poll(&raw mut polled, 1, 0) };
    format!("{count} {}", bits(polled.revents.into()))
}

/// The names of the bits of `poll` and `epoll`.
pub(crate) fn bits(events: i32) -> String {
    const NAMES: [(i32, &str); 7] = [
        (libc::EPOLLIN, "in"),
        (libc::EPOLLPRI, "pri"),
        (libc::EPOLLOUT, "out"),
        (libc::EPOLLERR, "err"),
        (libc::EPOLLHUP, "hup"),
        (libc::EPOLLRDHUP, "rdhup"),
        (libc::POLLNVAL as i32, "nval"),
    ];
    let set = NAMES.iter().filter(|(bit, _)| events & bit != 0);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join("+")
}

/// The result of a function of the C library.
pub(crate) fn check(result: impl Into<i64>) -> io::Result<i64> {
    match result.into() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Lets arrive what is on its way.
pub(crate) async fn settle() {
    raddle::time::sleep(Duration::from_millis(20)).await;
}

/// Lets arrive what is on its way.
pub(crate) fn settle_blocking() {
    std::thread::sleep(Duration::from_millis(20));
}

type Lines = Vec<(String, String)>;

fn lines_of(log: &Log) -> Lines {
    std::mem::take(&mut log.inner().lines)
}

fn simulate<F>(main: impl Fn(Log) -> F) -> Vec<(String, Lines)>
where
    F: Future<Output = ()> + Send + 'static,
{
    let run = |seed| {
        let log = Log::default();
        let mut sim = Sim::new(seed);
        sim.client("host", main(log.clone()));
        let outcome = sim.try_run();
        let mut lines = lines_of(&log);
        if let Err(error) = outcome {
            lines.push(("the simulation".to_owned(), error));
        }
        (format!("seed {seed}"), lines)
    };
    SEEDS.map(run).collect()
}

fn compare(case: &str, real: &Lines, simulated: &[(String, Lines)]) {
    let is_intended = |line: &Option<&(String, String)>| {
        let what = line.map(|(what, _)| what.as_str());
        INTENDED
            .iter()
            .any(|(of, line, _)| *of == case && Some(*line) == what)
    };
    let mut differences = String::new();
    for (run, lines) in simulated {
        for at in 0..real.len().max(lines.len()) {
            let (one, other) = (real.get(at), lines.get(at));
            if one != other && !is_intended(&one) {
                let line = at + 1;
                differences += &format!(
                    "\n{case}, {run}, line {line}:\n  Linux     {}\n  simulated {}",
                    show(one),
                    show(other)
                );
            }
        }
        if !differences.is_empty() {
            break;
        }
    }
    assert!(!real.is_empty(), "{case} has observed nothing");
    assert!(differences.is_empty(), "{differences}\n");
}

fn show(line: Option<&(String, String)>) -> String {
    match line {
        Some((what, value)) => format!("{what}: {value}"),
        None => "nothing".to_owned(),
    }
}

/// Compares a case that is a future.
pub(crate) fn compare_async<F>(case: &str, run: impl Fn(Log) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let log = Log::default();
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    let future = run(log.clone());
    let main = async move { raddle::time::timeout(Duration::from_secs(20), future).await };
    let is_over = runtime.block_on(runtime.spawn(main)).unwrap();
    let real = lines_of(&log);
    assert!(is_over.is_ok(), "{case} hangs on Linux after {real:#?}");
    compare(case, &real, &simulate(run));
}

/// Compares a case that blocks: in the simulation on a thread of the runtime's pool, and on one of
/// std's.
pub(crate) fn compare_blocking(case: &str, run: fn(Log)) {
    let log = Log::default();
    let of_thread = log.clone();
    std::thread::spawn(move || run(of_thread)).join().unwrap();
    let real = lines_of(&log);
    let in_pool = simulate(|log| async move {
        raddle::task::spawn_blocking(move || run(log))
            .await
            .unwrap();
    });
    compare(case, &real, &in_pool);
    let on_thread = simulate(|log| async move {
        let (done, is_done) = raddle::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            run(log);
            let _ended = done.send(());
        });
        is_done.await.unwrap();
        thread.join().unwrap();
    });
    compare(case, &real, &on_thread);
}

/// Makes a test of each case.
macro_rules! compared {
    (async $($name:ident)*) => {
        mod compared_async {
            $(#[test] fn $name() {
                crate::differential::harness::compare_async(stringify!($name), super::$name);
            })*
        }
    };
    (blocking $($name:ident)*) => {
        mod compared_blocking {
            $(#[test] fn $name() {
                crate::differential::harness::compare_blocking(stringify!($name), super::$name);
            })*
        }
    };
}
pub(crate) use compared;
