//! Operations that need a runtime, its sockets or its timers panic where these are missing. The
//! message names the method to call.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::net::{TcpListener as StdListener, UdpSocket as StdUdpSocket};
use std::pin::pin;
use std::task::{Context, Waker};

use crate::common::panic_message;
use raddle::io::AsyncWriteExt;
use raddle::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::time::{self, Duration, Instant};

const NO_RUNTIME: &str = "no runtime on this thread; call this";
/// The arguments of `block_on` are evaluated outside of the runtime.
const NO_RUNTIME_FOR_TIMER: &str = "no timers on this thread, which is outside a runtime; create \
    the timer inside `rt.block_on(async { sleep(duration).await })` or after \
    `let _guard = rt.enter()`";
const SOON: Duration = Duration::from_millis(1);

/// An operation that needs a part of a runtime: its name and a call of it.
type Use = (&'static str, fn());

/// Polls a future once, which starts an async function.
fn begin(future: impl Future) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

fn address() -> std::net::SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn listening() -> StdListener {
    let listener = StdListener::bind(address()).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// Functions that need sockets when they are called.
const SOCKETS: &[Use] = &[
    ("TcpListener::from_std", || {
        TcpListener::from_std(listening()).map(drop).unwrap();
    }),
    ("TcpStream::from_std", || {
        let stream = std::net::TcpStream::connect(listening().local_addr().unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        TcpStream::from_std(stream).map(drop).unwrap();
    }),
    ("TcpSocket::listen", || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address()).unwrap();
        socket.listen(1).map(drop).unwrap();
    }),
    ("UdpSocket::from_std", || {
        let socket = StdUdpSocket::bind(address()).unwrap();
        socket.set_nonblocking(true).unwrap();
        UdpSocket::from_std(socket).map(drop).unwrap();
    }),
];

/// Async functions that need sockets when they are polled.
const SOCKETS_LATER: &[Use] = &[
    ("TcpListener::bind", || begin(TcpListener::bind(address()))),
    ("TcpStream::connect", || {
        begin(TcpStream::connect(listening().local_addr().unwrap()));
    }),
    ("TcpSocket::connect", || {
        let socket = TcpSocket::new_v4().unwrap();
        begin(socket.connect(listening().local_addr().unwrap()));
    }),
    ("UdpSocket::bind", || begin(UdpSocket::bind(address()))),
];

/// Functions that need timers when they are called.
const TIMERS: &[Use] = &[
    ("sleep", || drop(time::sleep(SOON))),
    ("sleep of zero", || drop(time::sleep(Duration::ZERO))),
    ("sleep_until", || drop(time::sleep_until(Instant::now()))),
    ("timeout", || drop(time::timeout(SOON, pending::<()>()))),
    ("timeout_at", || {
        drop(time::timeout_at(Instant::now(), pending::<()>()));
    }),
    ("interval", || drop(time::interval(SOON))),
    ("interval_at", || {
        drop(time::interval_at(Instant::now(), SOON));
    }),
];

/// Functions that need a runtime, with or without drivers.
const TASKS: &[Use] = &[
    ("spawn", || drop(raddle::spawn(pending::<()>()))),
    ("Handle::current", || drop(Handle::current())),
    ("spawn_blocking", || {
        drop(raddle::task::spawn_blocking(|| ()))
    }),
];

/// Async functions that need a runtime when they are polled.
const FILES: &[Use] = &[
    ("File::open", || begin(raddle::fs::File::open("/"))),
    ("read_dir", || begin(raddle::fs::read_dir("/"))),
    ("stdout", || {
        begin(async { raddle::io::stdout().write(b"x").await.map(drop) });
    }),
];

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::unix::net;
    use std::path::Path;

    use raddle::io::Interest;
    use raddle::io::unix::AsyncFd;
    use raddle::net::unix::pipe;
    use raddle::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
    use raddle::process::Command;
    use raddle::signal::ctrl_c;
    use raddle::signal::unix::{SignalKind, signal};

    use super::{Use, begin};

    fn descriptor() -> net::UnixStream {
        let (stream, _) = net::UnixStream::pair().unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    /// One end of a pipe as a file.
    fn pipe_end(writer: bool) -> File {
        let (read, write) = rustix::pipe::pipe().unwrap();
        match writer {
            true => File::from(write),
            false => File::from(read),
        }
    }

    /// Passes a path at which no file exists.
    fn at_path(run: impl FnOnce(&Path)) {
        let dir = tempfile::tempdir().unwrap();
        run(&dir.path().join("socket"));
    }

    pub(super) const SOCKETS: &[Use] = &[
        ("UnixListener::bind", || {
            at_path(|path| UnixListener::bind(path).map(drop).unwrap());
        }),
        ("UnixListener::bind_addr", || {
            at_path(|path| {
                let address = net::SocketAddr::from_pathname(path).unwrap();
                UnixListener::bind_addr(&address.into()).map(drop).unwrap();
            });
        }),
        ("UnixListener::from_std", || {
            at_path(|path| {
                let listener = net::UnixListener::bind(path).unwrap();
                listener.set_nonblocking(true).unwrap();
                UnixListener::from_std(listener).map(drop).unwrap();
            });
        }),
        ("UnixStream::pair", || UnixStream::pair().map(drop).unwrap()),
        ("UnixStream::from_std", || {
            UnixStream::from_std(descriptor()).map(drop).unwrap();
        }),
        ("UnixDatagram::bind", || {
            at_path(|path| UnixDatagram::bind(path).map(drop).unwrap());
        }),
        ("UnixDatagram::unbound", || {
            UnixDatagram::unbound().map(drop).unwrap();
        }),
        ("UnixDatagram::pair", || {
            UnixDatagram::pair().map(drop).unwrap();
        }),
        ("UnixSocket::listen", || {
            at_path(|path| {
                let socket = UnixSocket::new_stream().unwrap();
                socket.bind(path).unwrap();
                socket.listen(1).map(drop).unwrap();
            });
        }),
        ("UnixSocket::datagram", || {
            let socket = UnixSocket::new_datagram().unwrap();
            socket.datagram().map(drop).unwrap();
        }),
        ("pipe", || pipe::pipe().map(drop).unwrap()),
        ("Sender::from_file", || {
            pipe::Sender::from_file(pipe_end(true)).map(drop).unwrap();
        }),
        ("Sender::from_owned_fd_unchecked", || {
            let end = pipe_end(true).into();
            pipe::Sender::from_owned_fd_unchecked(end)
                .map(drop)
                .unwrap();
        }),
        ("Receiver::from_owned_fd", || {
            let end = pipe_end(false).into();
            pipe::Receiver::from_owned_fd(end).map(drop).unwrap();
        }),
        ("Receiver::from_file_unchecked", || {
            let end = pipe_end(false);
            pipe::Receiver::from_file_unchecked(end).map(drop).unwrap();
        }),
        ("AsyncFd::new", || {
            AsyncFd::new(descriptor()).map(drop).unwrap();
        }),
        ("AsyncFd::with_interest", || {
            let made = AsyncFd::with_interest(descriptor(), Interest::READABLE);
            made.map(drop).unwrap();
        }),
        ("AsyncFd::try_new", || {
            AsyncFd::try_new(descriptor()).map(drop).unwrap();
        }),
        ("AsyncFd::try_with_interest", || {
            let made = AsyncFd::try_with_interest(descriptor(), Interest::READABLE);
            made.map(drop).unwrap();
        }),
        ("signal", || {
            signal(SignalKind::window_change()).map(drop).unwrap();
        }),
    ];

    /// Functions that need a runtime with sockets.
    pub(super) const PROCESSES: &[Use] = &[
        ("Command::spawn", || {
            Command::new("true").spawn().map(drop).unwrap();
        }),
        ("Command::status", || drop(Command::new("true").status())),
        ("Command::output", || drop(Command::new("true").output())),
    ];

    pub(super) const SOCKETS_LATER: &[Use] = &[
        ("UnixStream::connect", || {
            at_path(|path| {
                let _listener = net::UnixListener::bind(path).unwrap();
                begin(UnixStream::connect(path));
            });
        }),
        ("ctrl_c", || begin(ctrl_c())),
    ];
}

thread_local! {
    /// The file in the location of this thread's last panic.
    static BLAMED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a function that panics. Returns the message and the file of the panic's location.
fn panic_of(run: fn()) -> (String, String) {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if let Some(location) = info.location() {
                BLAMED.with(|file| location.file().clone_into(&mut file.borrow_mut()));
            }
            default(info);
        }));
    });
    (panic_message(run), BLAMED.with(RefCell::take))
}

/// A runtime of each kind, with the drivers that `enable` enables.
fn runtimes(enable: impl Fn(&mut Builder) -> &mut Builder) -> [Runtime; 2] {
    let mut builders = [Builder::new_multi_thread(), Builder::new_current_thread()];
    builders
        .each_mut()
        .map(|builder| enable(builder.worker_threads(1)).build().unwrap())
}

/// Asserts that each operation panics with a message that contains `what`, and that the panic's
/// location is in this file if `called` is set.
fn assert_each_says(what: &str, uses: &[Use], called: bool) {
    for (name, run) in uses {
        let (message, file) = panic_of(*run);
        assert!(message.contains(what), "{name}: {message}");
        assert!(!called || file.ends_with("outside.rs"), "{name}: {file}");
    }
}

#[test]
fn creating_a_socket_without_io_panics_and_names_the_remedy() {
    sockets_say(SOCKETS, SOCKETS_LATER);
    #[cfg(unix)]
    sockets_say(unix::SOCKETS, unix::SOCKETS_LATER);
}

fn sockets_say(now: &[Use], later: &[Use]) {
    assert_each_says("enable_io", now, true);
    assert_each_says("enable_io", later, false);
    // An inner runtime without sockets does not use those of the outer runtime.
    let enabled = Builder::new_current_thread().enable_all().build().unwrap();
    let _outer = enabled.enter();
    for runtime in runtimes(Builder::enable_time) {
        let _guard = runtime.enter();
        assert_each_says("enable_io", now, true);
        assert_each_says("enable_io", later, false);
    }
}

#[test]
fn creating_a_timer_without_enable_time_panics_and_names_the_remedy() {
    assert_each_says(NO_RUNTIME_FOR_TIMER, TIMERS, true);
    let enabled = Builder::new_current_thread().enable_all().build().unwrap();
    let _outer = enabled.enter();
    for runtime in runtimes(Builder::enable_io) {
        let _guard = runtime.enter();
        assert_each_says("enable_time", TIMERS, true);
    }
}

/// The runtime has timers, but is not entered yet when the argument is evaluated.
#[test]
fn a_timer_in_the_arguments_of_block_on_names_the_async_block() {
    let blocks: [fn(&Runtime); 4] = [
        |runtime| runtime.block_on(time::sleep(SOON)),
        |runtime| runtime.block_on(time::sleep_until(Instant::now())),
        |runtime| drop(runtime.block_on(time::timeout(SOON, pending::<()>()))),
        |runtime| {
            runtime.block_on(time::interval(SOON).tick());
        },
    ];
    for runtime in runtimes(Builder::enable_all) {
        for block in blocks {
            assert_eq!(panic_message(|| block(&runtime)), NO_RUNTIME_FOR_TIMER);
        }
        runtime.block_on(async { time::sleep(SOON).await });
    }
}

#[test]
fn spawning_or_opening_a_file_outside_a_runtime_panics_and_names_the_remedy() {
    assert_each_says(NO_RUNTIME, TASKS, true);
    assert_each_says(NO_RUNTIME, FILES, false);
}

#[test]
#[cfg(unix)]
fn spawning_a_process_without_io_panics_and_names_the_remedy() {
    assert_each_says("enable_io", unix::PROCESSES, true);
    for runtime in runtimes(Builder::enable_time) {
        let _guard = runtime.enter();
        assert_each_says("enable_io", unix::PROCESSES, true);
    }
}

/// A `bind` that panics leaves no file at the socket's path.
#[test]
#[cfg(unix)]
fn a_bind_that_panics_leaves_the_port_free() {
    use raddle::net::{UnixDatagram, UnixListener};

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    panic_message(|| UnixListener::bind(&path).map(drop));
    panic_message(|| UnixDatagram::bind(&path).map(drop));
    assert!(!path.exists());
}

#[test]
#[should_panic(expected = "guards of Runtime::enter were dropped out of order")]
fn guards_of_two_runtimes_that_are_dropped_out_of_order_panic() {
    let [first, second] = [(); 2].map(|()| Builder::new_current_thread().build().unwrap());
    let outer = first.enter();
    let _inner = second.enter();
    drop(outer);
}
