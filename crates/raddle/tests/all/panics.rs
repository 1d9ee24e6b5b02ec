//! The location of a panic that is the caller's mistake is the line of the call, or of the
//! `.await` for an async function. If other code polls the future, the text names the call.

mod late;
mod outside;
mod sockets;

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

use raddle::io::{self, ReadBuf};
use raddle::runtime::{Builder, Handle, HistogramConfiguration, LocalOptions, Runtime};
use raddle::sync::{Mutex, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use raddle::task::{self, JoinSet, LocalSet};
use raddle::time::{self, Duration, Instant};

use crate::common::{current_thread, multi_thread, panic_message};

/// The name of a function, and code that calls it wrongly on a line that has the name.
type Case = (&'static str, fn());

const SOON: Duration = Duration::from_millis(1);

thread_local! {
    /// The location of this thread's last panic.
    static PLACE: RefCell<(String, usize)> = const { RefCell::new((String::new(), 0)) };
}

/// Runs a function that panics. Returns the message, and the file and the line of the location.
fn panic_of(run: impl FnOnce()) -> (String, String, usize) {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|at| (at.file(), at.line()));
            let (file, line) = place.unwrap_or_default();
            // The thread-local may be gone on a thread that ends.
            let _ = PLACE.try_with(|place| place.replace((file.to_owned(), line as usize)));
            default(info);
        }));
    });
    let message = panic_message(run);
    let (file, line) = PLACE.take();
    (message, file, line)
}

/// Asserts that the location of each panic is a line of `file` with the name of the function.
fn assert_each_names_its_line(file: &str, text: &str, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (name, run) in cases {
        println!("{name}");
        let (message, at, line) = panic_of(run);
        let function = name.rsplit("::").next().unwrap();
        let code = text.lines().nth(line - 1).unwrap_or_default();
        if at != file || !code.contains(function) {
            wrong.push(format!("{name} at {at}:{line}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn assert_all(cases: &[Case]) {
    assert_each_names_its_line(file!(), include_str!("panics.rs"), cases);
}

/// Runs a future on a runtime without sockets and timers.
fn on_bare<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

fn on_full<T>(future: impl Future<Output = T>) -> T {
    current_thread().build().unwrap().block_on(future)
}

/// Awaits a future outside a runtime, whose result comes in its first poll.
fn outside(future: impl Future) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

fn runtime() -> Runtime {
    multi_thread().build().unwrap()
}

task_local! {
    static NUMBER: u32;
}

use raddle::task_local;

#[test]
fn tasks() {
    assert_all(&[
        ("spawn", || drop(raddle::spawn(async {}))),
        ("task::spawn", || drop(task::spawn(async {}))),
        ("spawn_blocking", || drop(task::spawn_blocking(|| ()))),
        ("spawn_local", || drop(task::spawn_local(async {}))),
        ("block_in_place", || {
            on_bare(async { task::block_in_place(|| ()) })
        }),
        ("task::id", || _ = task::id()),
        ("Builder::spawn", || {
            drop(task::Builder::new().spawn(async {}));
        }),
        ("Builder::spawn_blocking", || {
            drop(task::Builder::new().spawn_blocking(|| ()));
        }),
        ("Builder::spawn_local", || {
            drop(task::Builder::new().spawn_local(async {}));
        }),
        ("JoinSet::spawn", || drop(JoinSet::new().spawn(async {}))),
        ("JoinSet::spawn_blocking", || {
            drop(JoinSet::new().spawn_blocking(|| ()));
        }),
        ("JoinSet::spawn_local", || {
            drop(JoinSet::new().spawn_local(async {}));
        }),
        ("JoinSetBuilder::spawn", || {
            drop(JoinSet::new().build_task().spawn(async {}));
        }),
        ("JoinSetBuilder::spawn_blocking", || {
            drop(JoinSet::new().build_task().spawn_blocking(|| ()));
        }),
        ("JoinSetBuilder::spawn_local", || {
            drop(JoinSet::new().build_task().spawn_local(async {}));
        }),
        ("JoinSet::join_all", || {
            on_bare(async {
                let mut set = JoinSet::new();
                set.spawn(std::future::pending::<()>());
                set.abort_all();
                set.join_all().await;
            });
        }),
        ("LocalSet::block_on", || {
            let runtime = current_thread().build().unwrap();
            on_bare(async { LocalSet::new().block_on(&runtime, async {}) });
        }),
        ("JoinError::into_panic", || {
            on_bare(async {
                let task = raddle::spawn(std::future::pending::<()>());
                task.abort();
                let error = task.await.unwrap_err();
                drop(error.into_panic());
            });
        }),
        ("LocalKey::with", || NUMBER.with(|_| ())),
        ("LocalKey::get", || _ = NUMBER.get()),
    ]);
}

#[test]
fn runtimes() {
    assert_all(&[
        ("Handle::current", || drop(Handle::current())),
        ("Runtime::block_on", || {
            let inner = runtime();
            on_bare(async { inner.block_on(async {}) });
        }),
        ("Handle::block_on", || {
            let inner = runtime();
            on_bare(async { inner.handle().block_on(async {}) });
        }),
        ("LocalRuntime::block_on", || {
            let local = current_thread().build_local(LocalOptions::default());
            let local = local.unwrap();
            on_bare(async { local.block_on(async {}) });
        }),
        ("Handle::spawn_on", || {
            let runtime = runtime();
            drop(runtime.handle().spawn_on(9, || async {}));
        }),
        ("Builder::worker_threads", || {
            Builder::new_multi_thread().worker_threads(0);
        }),
        ("Builder::worker_threads", || {
            Builder::new_multi_thread().worker_threads(usize::MAX);
        }),
        ("Builder::max_spare_workers", || {
            Builder::new_multi_thread().max_spare_workers(usize::MAX);
        }),
        ("Builder::max_blocking_threads", || {
            Builder::new_multi_thread().max_blocking_threads(0);
        }),
        ("Builder::global_queue_interval", || {
            Builder::new_multi_thread().global_queue_interval(0);
        }),
        ("Builder::event_interval", || {
            Builder::new_multi_thread().event_interval(0);
        }),
        ("Builder::max_io_events_per_tick", || {
            Builder::new_multi_thread().max_io_events_per_tick(0);
        }),
        ("Builder::max_io_events_per_busy_tick", || {
            Builder::new_multi_thread().max_io_events_per_busy_tick(0);
        }),
        ("Builder::thread_name", || {
            Builder::new_multi_thread().thread_name("a\0b");
        }),
        ("Builder::blocking_thread_name", || {
            Builder::new_multi_thread().blocking_thread_name("a\0b");
        }),
        ("Builder::name", || {
            Builder::new_multi_thread().name("");
        }),
        ("Builder::build", || {
            let mut builder = multi_thread();
            builder.start_paused(true);
            drop(builder.build());
        }),
        ("Builder::build with timers off", || {
            let mut builder = Builder::new_current_thread();
            builder.start_paused(true);
            drop(builder.build(/* Builder::build with timers off */));
        }),
        ("Builder::build_local", || {
            drop(multi_thread().build_local(LocalOptions::default()));
        }),
        ("RuntimeMetrics::worker_park_count", || {
            runtime().metrics().worker_park_count(9);
        }),
        ("RuntimeMetrics::worker_total_busy_duration", || {
            runtime().metrics().worker_total_busy_duration(9);
        }),
        ("RuntimeMetrics::worker_local_queue_depth", || {
            runtime().metrics().worker_local_queue_depth(9);
        }),
        ("RuntimeMetrics::worker_thread_id", || {
            runtime().metrics().worker_thread_id(9);
        }),
        ("RuntimeMetrics::worker_mean_poll_time", || {
            runtime().metrics().worker_mean_poll_time(9);
        }),
        ("RuntimeMetrics::poll_time_histogram_bucket_range", || {
            let mut builder = multi_thread();
            let runtime = builder.enable_metrics_poll_time_histogram().build();
            let metrics = runtime.unwrap().metrics();
            metrics.poll_time_histogram_bucket_range(999);
        }),
        ("RuntimeMetrics::poll_time_histogram_bucket_count", || {
            runtime().metrics().poll_time_histogram_bucket_count(9, 0);
        }),
        ("HistogramConfiguration::linear", || {
            HistogramConfiguration::linear(SOON, 0);
        }),
    ]);
}

#[test]
fn clocks_and_timers() {
    assert_all(&[
        ("pause", || time::pause()),
        ("pause on a clock that is paused", || {
            on_full(async {
                time::pause();
                time::pause(/* pause on a clock that is paused */);
            });
        }),
        ("time::pause", || {
            runtime().block_on(async { time::pause() })
        }),
        ("resume", || time::resume()),
        ("time::resume", || on_full(async { time::resume() })),
        ("advance", || outside(async { time::advance(SOON).await })),
        ("time::advance", || {
            on_full(async { time::advance(SOON).await });
        }),
        ("time::advance", || {
            on_full(async {
                time::pause();
                time::advance(Duration::MAX).await;
            });
        }),
        ("sleep", || drop(time::sleep(SOON))),
        ("time::sleep", || on_bare(async { drop(time::sleep(SOON)) })),
        ("sleep_until", || drop(time::sleep_until(Instant::now()))),
        ("timeout", || drop(time::timeout(SOON, async {}))),
        ("timeout_at", || {
            drop(time::timeout_at(Instant::now(), async {}))
        }),
        ("interval", || drop(time::interval(SOON))),
        ("time::interval", || drop(time::interval(Duration::ZERO))),
        ("interval_at", || {
            drop(time::interval_at(Instant::now(), SOON));
        }),
        ("time::interval_at", || {
            drop(time::interval_at(Instant::now(), Duration::ZERO));
        }),
        ("Instant::now() +", || _ = Instant::now() + Duration::MAX),
        ("Instant::now() -", || _ = Instant::now() - Duration::MAX),
        ("+= Duration::MAX", || {
            let mut now = Instant::now();
            now += Duration::MAX;
        }),
        ("-= Duration::MAX", || {
            let mut now = Instant::now();
            now -= Duration::MAX;
        }),
    ]);
}

#[test]
fn channels_and_locks() {
    assert_all(&[
        ("broadcast::channel", || drop(broadcast::channel::<u8>(0))),
        ("broadcast::Sender::new", || {
            drop(broadcast::Sender::<u8>::new(0));
        }),
        ("broadcast::Receiver::blocking_recv", || {
            let (_sender, mut receiver) = broadcast::channel::<u8>(1);
            on_bare(async { _ = receiver.blocking_recv() });
        }),
        ("mpsc::channel", || drop(mpsc::channel::<u8>(0))),
        ("mpsc::Sender::blocking_send", || {
            let (sender, _receiver) = mpsc::channel(1);
            on_bare(async { _ = sender.blocking_send(1) });
        }),
        ("mpsc::Receiver::blocking_recv", || {
            let (_sender, mut receiver) = mpsc::channel::<u8>(1);
            on_bare(async { _ = receiver.blocking_recv() });
        }),
        ("mpsc::Receiver::blocking_recv_many", || {
            let (_sender, mut receiver) = mpsc::channel::<u8>(1);
            on_bare(async { receiver.blocking_recv_many(&mut Vec::new(), 1) });
        }),
        ("mpsc::UnboundedReceiver::blocking_recv", || {
            let (_sender, mut receiver) = mpsc::unbounded_channel::<u8>();
            on_bare(async { _ = receiver.blocking_recv() });
        }),
        ("mpsc::UnboundedReceiver::blocking_recv_many", || {
            let (_sender, mut receiver) = mpsc::unbounded_channel::<u8>();
            on_bare(async { receiver.blocking_recv_many(&mut Vec::new(), 1) });
        }),
        ("oneshot::Receiver::blocking_recv", || {
            let (_sender, receiver) = oneshot::channel::<u8>();
            on_bare(async { _ = receiver.blocking_recv() });
        }),
        ("oneshot::Receiver::poll", || {
            let (sender, mut receiver) = oneshot::channel::<u8>();
            sender.send(1).unwrap();
            for _ in 0..2 {
                let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
            }
        }),
        ("Mutex::blocking_lock", || {
            on_bare(async { drop(Mutex::new(1).blocking_lock()) });
        }),
        ("Mutex::blocking_lock_owned", || {
            let lock = Arc::new(Mutex::new(1));
            on_bare(async { drop(lock.blocking_lock_owned()) });
        }),
        ("RwLock::blocking_read", || {
            on_bare(async { drop(RwLock::new(1).blocking_read()) });
        }),
        ("RwLock::blocking_write", || {
            on_bare(async { drop(RwLock::new(1).blocking_write()) });
        }),
        ("RwLock::with_max_readers", || {
            drop(RwLock::with_max_readers(1, u32::MAX));
        }),
        ("RwLock::const_with_max_readers", || {
            drop(RwLock::const_with_max_readers(1, u32::MAX));
        }),
        ("Semaphore::new", || drop(Semaphore::new(usize::MAX))),
        ("Semaphore::const_new", || {
            drop(Semaphore::const_new(usize::MAX))
        }),
        ("Semaphore::add_permits", || {
            Semaphore::new(1).add_permits(Semaphore::MAX_PERMITS);
        }),
        ("Semaphore::blocking_acquire", || {
            on_bare(async { drop(Semaphore::new(1).blocking_acquire()) });
        }),
        ("Semaphore::blocking_acquire_many", || {
            on_bare(async { drop(Semaphore::new(1).blocking_acquire_many(1)) });
        }),
        ("Semaphore::blocking_acquire_owned", || {
            let semaphore = Arc::new(Semaphore::new(1));
            on_bare(async { drop(semaphore.blocking_acquire_owned()) });
        }),
        ("Semaphore::blocking_acquire_many_owned", || {
            let semaphore = Arc::new(Semaphore::new(1));
            on_bare(async { drop(semaphore.blocking_acquire_many_owned(1)) });
        }),
        ("SemaphorePermit::merge", || {
            let (one, two) = (Semaphore::new(1), Semaphore::new(1));
            let mut permit = one.try_acquire().unwrap();
            permit.merge(two.try_acquire().unwrap());
        }),
        ("OwnedSemaphorePermit::merge", || {
            let semaphores = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
            let [mut one, two] = semaphores.map(|it| it.try_acquire_owned().unwrap());
            one.merge(two);
        }),
    ]);
    // A value that the program drops or changes is not this crate's.
    drop(watch::channel(1));
}

#[test]
fn buffers_and_halves() {
    assert_all(&[
        ("ReadBuf::advance", || ReadBuf::new(&mut [0; 1]).advance(2)),
        ("ReadBuf::set_filled", || {
            ReadBuf::new(&mut [0; 1]).set_filled(2);
        }),
        ("ReadBuf::put_slice", || {
            ReadBuf::new(&mut [0; 1]).put_slice(b"two");
        }),
        ("ReadBuf::initialize_unfilled_to", || {
            ReadBuf::new(&mut [0; 1]).initialize_unfilled_to(2);
        }),
        ("BufReader::with_capacity", || {
            drop(io::BufReader::with_capacity(0, io::empty()));
        }),
        ("BufStream::with_capacity", || {
            drop(io::BufStream::with_capacity(0, 1, io::empty()));
        }),
        ("duplex", || drop(io::duplex(0))),
        ("simplex", || drop(io::simplex(0))),
        ("SimplexStream::new_unsplit", || {
            drop(io::SimplexStream::new_unsplit(0));
        }),
        ("ReadHalf::unsplit", || {
            let (one, two) = io::duplex(1);
            let (read, _write) = io::split(one);
            let (_read, write) = io::split(two);
            drop(read.unsplit(write));
        }),
        ("copy_bidirectional_with_sizes", || {
            let (mut one, mut two) = io::duplex(1);
            outside(async { io::copy_bidirectional_with_sizes(&mut one, &mut two, 0, 1).await });
        }),
        ("copy_bidirectional_with_sizes", || {
            let (mut one, mut two) = io::duplex(1);
            outside(async { io::copy_bidirectional_with_sizes(&mut one, &mut two, 1, 0).await });
        }),
        ("File::set_max_buf_size", || {
            let file = raddle::fs::File::from_std(std::fs::File::open("Cargo.toml").unwrap());
            { file }.set_max_buf_size(0);
        }),
    ]);
}

#[test]
fn files_outside_a_runtime() {
    use raddle::fs::{self, File, OpenOptions};

    assert_all(&[
        ("fs::read", || outside(async { fs::read("/").await })),
        ("fs::write", || outside(async { fs::write("/", "").await })),
        ("fs::copy", || outside(async { fs::copy("/", "/").await })),
        ("fs::read_dir", || {
            outside(async { fs::read_dir("/").await })
        }),
        ("fs::metadata", || {
            outside(async { fs::metadata("/").await })
        }),
        ("fs::try_exists", || {
            outside(async { fs::try_exists("/").await })
        }),
        ("fs::create_dir", || {
            outside(async { fs::create_dir("/").await })
        }),
        ("DirBuilder::create", || {
            outside(async { fs::DirBuilder::new().create("/").await });
        }),
        ("File::open", || outside(async { File::open("/").await })),
        ("File::create", || {
            outside(async { File::create("/").await })
        }),
        ("File::create_new", || {
            outside(async { File::create_new("/").await });
        }),
        ("OpenOptions::open", || {
            outside(async { OpenOptions::new().open("/").await });
        }),
        ("File::metadata", || {
            let file = File::from_std(std::fs::File::open("/").unwrap());
            outside(async { file.metadata().await });
        }),
        ("File::sync_all", || {
            let file = File::from_std(std::fs::File::open("/").unwrap());
            outside(async { file.sync_all().await });
        }),
        ("File::set_modified", || {
            let file = File::from_std(std::fs::File::open("/").unwrap());
            let time = std::time::SystemTime::now();
            outside(async { file.set_modified(time).await });
        }),
    ]);
}

#[test]
fn select_without_an_enabled_branch() {
    assert_all(&[("select!", || {
        on_bare(async {
            raddle::select! { _ = async {}, if false => {} }
        });
    })]);
}

/// The location is the line of the poll. `.await` on a reference polls in std's code, so the text
/// says which task it is.
#[test]
fn a_join_handle_that_is_polled_twice_names_the_task() {
    assert_all(&[("Pin::new(&mut task).poll", || {
        let runtime = current_thread().build().unwrap();
        let mut task = runtime.spawn(async {});
        runtime.block_on(async { (&mut task).await.unwrap() });
        let _ = Pin::new(&mut task).poll(&mut Context::from_waker(Waker::noop()));
    })]);
    let polled_twice = |runtime: Runtime| {
        let mut id = None;
        let (message, ..) = panic_of(|| {
            runtime.block_on(async {
                let mut task = raddle::spawn(async {});
                id = Some(task.id());
                (&mut task).await.unwrap();
                (&mut task).await.unwrap();
            });
        });
        let task = format!("the join handle of task {} (`", id.unwrap());
        assert!(message.starts_with(&task), "{message}");
        assert!(message.ends_with(" was polled after it had completed; await it once"));
        message
    };
    let message = polled_twice(current_thread().build().unwrap());
    assert!(message.contains("a_join_handle_that_is_polled_twice"));
    assert!(!message.contains("spawned at"), "{message}");
    // A hook or a tool makes the runtime record the places.
    let mut builder = current_thread();
    builder.on_task_spawn(|_| {});
    let message = polled_twice(builder.build().unwrap());
    let spawn = format!(", spawned at {}:", file!());
    assert!(message.contains(&spawn), "{message}");
}

/// Where other code polls the future, the location cannot be the caller's.
#[test]
fn a_future_that_other_code_polls_names_the_line_that_made_it() {
    let runtime = current_thread().build().unwrap();
    let line = line!() + 2;
    let made: [Pin<Box<dyn Future<Output = ()>>>; 3] = [
        Box::pin(time::advance(SOON)),
        Box::pin(async { _ = raddle::join!(time::advance(SOON)) }),
        Box::pin(async {
            raddle::select! { () = time::advance(SOON) => {} }
        }),
    ];
    for (line, future) in (line..).zip(made) {
        let (message, file, at) = panic_of(|| runtime.block_on(future));
        let called = format!("(called at {}:{line}:", file!());
        let named =
            message.contains(&called) || (file == file!() && at.abs_diff(line as usize) < 3);
        assert!(named, "{line}: {message} at {file}:{at}");
    }
}
