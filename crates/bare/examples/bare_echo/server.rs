//! The tasks of the echo server.

use std::io::{self, ErrorKind};
use std::pin::pin;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use raddle_bare::{Executor, Park, Slab, Spawner};

use super::reactor::{Evented, Reactor};

/// The maximum number of bytes that one read takes.
const BUFFER: usize = 4096;

/// The argument of a task: what it has to do.
enum Job {
    /// Accept this many connections.
    Listen(TcpListener, usize),
    /// Echo what one connection sends.
    Echo(TcpStream),
}

/// Accepts `accepted` connections and echoes what they send, up to `connections` of them at a time;
/// further connections are closed. Calls `parked` before each wait.
///
/// # Errors
///
/// Returns the errors of the listener and of the selector.
pub fn run(
    listener: std::net::TcpListener,
    connections: usize,
    accepted: usize,
    mut parked: impl FnMut(),
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener);
    let reactor = Reactor::new(connections + 1)?;
    let spawner = Spawner::new();
    let storage = Slab::with_capacity(connections + 1);
    let executor = pin!(Executor::new(&spawner, storage, |job| {
        serve(&reactor, &spawner, job)
    }));
    let executor = executor.as_ref();
    executor
        .spawn(Job::Listen(listener, accepted))
        .expect("the executor has no task yet");
    executor.run(|park| {
        parked();
        reactor.poll(match park {
            Park::Wait => None,
            Park::CheckEvents => Some(Duration::ZERO),
        })
    })
}

async fn serve(reactor: &Reactor, spawner: &Spawner<Job>, job: Job) {
    let done = match job {
        Job::Listen(listener, accepted) => listen(reactor, spawner, listener, accepted).await,
        Job::Echo(stream) => echo(reactor, stream).await,
    };
    // A client that disconnects is not an error of the server.
    if let Err(error) = done {
        if error.kind() != ErrorKind::ConnectionReset && error.kind() != ErrorKind::BrokenPipe {
            eprintln!("{error}");
        }
    }
}

async fn listen(
    reactor: &Reactor,
    spawner: &Spawner<Job>,
    listener: TcpListener,
    accepted: usize,
) -> io::Result<()> {
    let mut listener = Evented::new(reactor, listener)?;
    for _ in 0..accepted {
        let stream = listener.accept().await?;
        if let Err(error) = spawner.spawn(Job::Echo(stream)) {
            drop(error.into_argument());
        }
    }
    Ok(())
}

async fn echo(reactor: &Reactor, stream: TcpStream) -> io::Result<()> {
    let mut stream = Evented::new(reactor, stream)?;
    let mut buffer = [0; BUFFER];
    loop {
        let filled = stream.read(&mut buffer).await?;
        if filled == 0 {
            return Ok(());
        }
        let mut written = 0;
        while written < filled {
            written += stream.write(&buffer[written..filled]).await?;
        }
    }
}
