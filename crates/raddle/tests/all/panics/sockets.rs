//! Sockets, pipes, signals and processes, outside a runtime and without `enable_io`.

use std::net::{TcpListener as StdListener, UdpSocket as StdUdpSocket};

use raddle::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use raddle::runtime::Builder;

use super::outside::runtimes;
use super::{Case, assert_each_names_its_line, on_bare, outside, panic_of};

fn address() -> std::net::SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn listening() -> StdListener {
    let listener = StdListener::bind(address()).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn connected() -> std::net::TcpStream {
    let stream = std::net::TcpStream::connect(listening().local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

const CASES: &[Case] = &[
    ("TcpListener::from_std", || {
        drop(TcpListener::from_std(listening()));
    }),
    ("TcpStream::from_std", || {
        drop(TcpStream::from_std(connected()));
    }),
    ("UdpSocket::from_std", || {
        let socket = StdUdpSocket::bind(address()).unwrap();
        socket.set_nonblocking(true).unwrap();
        drop(UdpSocket::from_std(socket));
    }),
    ("TcpSocket::listen", || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address()).unwrap();
        drop(socket.listen(1));
    }),
];

/// Async functions, of which a poll outside a runtime panics.
const LATER: &[Case] = &[
    ("TcpListener::bind", || {
        outside(async { TcpListener::bind(address()).await });
    }),
    ("TcpStream::connect", || {
        outside(async { TcpStream::connect(address()).await });
    }),
    ("TcpSocket::connect", || {
        let socket = TcpSocket::new_v4().unwrap();
        outside(async { socket.connect(address()).await });
    }),
    ("UdpSocket::bind", || {
        outside(async { UdpSocket::bind(address()).await });
    }),
];

/// The same functions in a runtime without `enable_io`.
const LATER_WITHOUT_IO: &[Case] = &[
    ("TcpListener::bind", || {
        drop(on_bare(async { TcpListener::bind(address()).await }));
    }),
    ("TcpStream::connect", || {
        drop(on_bare(async { TcpStream::connect(address()).await }));
    }),
    ("UdpSocket::bind", || {
        drop(on_bare(async { UdpSocket::bind(address()).await }));
    }),
];

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::unix::net;

    use raddle::io::Interest;
    use raddle::io::unix::AsyncFd;
    use raddle::net::unix::pipe;
    use raddle::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
    use raddle::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
    use raddle::signal::ctrl_c;
    use raddle::signal::unix::{SignalKind, signal};

    use super::super::{Case, on_bare, on_full, outside};

    fn stream() -> net::UnixStream {
        let (stream, _) = net::UnixStream::pair().unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    fn datagrams() -> net::UnixDatagram {
        let (socket, _) = net::UnixDatagram::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    }

    fn listener() -> net::UnixListener {
        let dir = tempfile::tempdir().unwrap();
        let listener = net::UnixListener::bind(dir.path().join("socket")).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    }

    /// The ends of a pipe as files, to read and to write.
    fn pipe_ends() -> (File, File) {
        let (read, write) = rustix::pipe::pipe().unwrap();
        (File::from(read), File::from(write))
    }

    fn child() -> std::process::Child {
        std::process::Command::new("true")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// A child that runs when the runtime in which it was spawned has shut down.
    fn running() -> Child {
        let spawned = async { Command::new("sleep").arg("60").kill_on_drop(true).spawn() };
        on_full(spawned).unwrap()
    }

    pub(super) const CASES: &[Case] = &[
        ("UnixListener::bind", || {
            drop(UnixListener::bind("/nowhere/at/all"))
        }),
        ("UnixListener::bind_addr", || {
            let address = net::SocketAddr::from_pathname("/nowhere/at/all").unwrap();
            drop(UnixListener::bind_addr(&address.into()));
        }),
        ("UnixListener::from_std", || {
            drop(UnixListener::from_std(listener()));
        }),
        ("UnixStream::pair", || drop(UnixStream::pair())),
        ("UnixStream::from_std", || {
            drop(UnixStream::from_std(stream()))
        }),
        ("UnixDatagram::bind", || {
            drop(UnixDatagram::bind("/nowhere/at/all"))
        }),
        ("UnixDatagram::unbound", || drop(UnixDatagram::unbound())),
        ("UnixDatagram::pair", || drop(UnixDatagram::pair())),
        ("UnixDatagram::from_std", || {
            drop(UnixDatagram::from_std(datagrams()));
        }),
        ("UnixSocket::listen", || {
            let dir = tempfile::tempdir().unwrap();
            let socket = UnixSocket::new_stream().unwrap();
            socket.bind(dir.path().join("socket")).unwrap();
            drop(socket.listen(1));
        }),
        ("UnixSocket::datagram", || {
            drop(UnixSocket::new_datagram().unwrap().datagram());
        }),
        ("pipe::pipe", || drop(pipe::pipe())),
        ("pipe::Sender::from_file", || {
            drop(pipe::Sender::from_file(pipe_ends().1));
        }),
        ("pipe::Sender::from_file_unchecked", || {
            drop(pipe::Sender::from_file_unchecked(pipe_ends().1));
        }),
        ("pipe::Sender::from_owned_fd", || {
            drop(pipe::Sender::from_owned_fd(pipe_ends().1.into()));
        }),
        ("pipe::Receiver::from_file", || {
            drop(pipe::Receiver::from_file(pipe_ends().0));
        }),
        ("pipe::Receiver::from_owned_fd", || {
            drop(pipe::Receiver::from_owned_fd(pipe_ends().0.into()));
        }),
        ("pipe::Receiver::from_owned_fd_unchecked", || {
            let end = pipe_ends().0.into();
            drop(pipe::Receiver::from_owned_fd_unchecked(end));
        }),
        ("AsyncFd::new", || drop(AsyncFd::new(stream()))),
        ("AsyncFd::with_interest", || {
            drop(AsyncFd::with_interest(stream(), Interest::READABLE));
        }),
        ("AsyncFd::try_new", || drop(AsyncFd::try_new(stream()))),
        ("AsyncFd::try_with_interest", || {
            drop(AsyncFd::try_with_interest(stream(), Interest::READABLE));
        }),
        ("signal", || drop(signal(SignalKind::window_change()))),
        ("Command::spawn", || drop(Command::new("true").spawn())),
        ("Command::status", || drop(Command::new("true").status())),
        ("Command::output", || drop(Command::new("true").output())),
        ("ChildStdin::from_std", || {
            drop(ChildStdin::from_std(child().stdin.unwrap()));
        }),
        ("ChildStdout::from_std", || {
            drop(ChildStdout::from_std(child().stdout.unwrap()));
        }),
        ("ChildStderr::from_std", || {
            drop(ChildStderr::from_std(child().stderr.unwrap()));
        }),
    ];

    pub(super) const LATER: &[Case] = &[
        ("UnixStream::connect", || {
            outside(async { UnixStream::connect("/nowhere").await });
        }),
        ("UnixSocket::connect", || {
            let socket = UnixSocket::new_stream().unwrap();
            outside(async { socket.connect("/nowhere").await });
        }),
        ("ctrl_c", || outside(async { ctrl_c().await })),
        ("signal::ctrl_c", || drop(on_bare(async { ctrl_c().await }))),
        ("Child::wait", || {
            let mut child = running();
            outside(async { child.wait().await });
        }),
        ("Child::wait_with_output", || {
            let child = running();
            outside(async { child.wait_with_output().await });
        }),
    ];
}

fn assert_all(cases: &[Case]) {
    assert_each_names_its_line(file!(), include_str!("sockets.rs"), cases);
}

/// Runs the check outside a runtime, and in each kind of runtime without sockets. One of the latter
/// does not use the sockets of a runtime that is entered around it.
fn each_place_without_sockets(check: impl Fn()) {
    check();
    let enabled = Builder::new_current_thread().enable_all().build().unwrap();
    let _outer = enabled.enter();
    for runtime in runtimes(Builder::enable_time) {
        let _guard = runtime.enter();
        check();
    }
}

#[test]
fn sockets() {
    each_place_without_sockets(|| assert_all(CASES));
    assert_all(LATER);
    assert_all(LATER_WITHOUT_IO);
}

#[test]
#[cfg(unix)]
fn sockets_pipes_and_processes_of_unix() {
    each_place_without_sockets(|| {
        assert_all(unix::CASES);
        for (name, run) in unix::CASES {
            let (message, ..) = panic_of(run);
            assert!(message.contains("enable_io"), "{name}: {message}");
        }
    });
    assert_all(unix::LATER);
}

/// The text says whether the thread is outside a runtime, or the runtime has no sockets.
#[test]
fn the_text_says_what_is_missing() {
    let each = |cases: &[Case], text: &str| {
        for (name, run) in cases {
            let (message, ..) = panic_of(run);
            assert!(message.starts_with(text), "{name}: {message}");
        }
    };
    let outside = "no reactor on this thread, which is outside a runtime; call this inside \
                   `rt.block_on(async { ... })` or after `let _guard = rt.enter()`, where rt is \
                   built with enable_io; without a runtime, enter a raddle_reactor::Handle";
    each(CASES, outside);
    each(LATER, outside);
    let bare = Builder::new_current_thread().build().unwrap();
    let _guard = bare.enter();
    let without_io = "no reactor in this runtime; call Builder::enable_io or Builder::enable_all";
    each(CASES, without_io);
    each(LATER_WITHOUT_IO, without_io);
}
