//! The look-up of one host.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use raddle_primitives::thread;
use raddle_task::JoinHandle;
use raddle_task::blocking::{self, SubmitError};

/// The addresses of a host. A single one, as that of each datagram that is sent, needs no memory.
#[derive(Debug)]
pub struct Addresses(Found);

#[derive(Debug)]
enum Found {
    One(Option<SocketAddr>),
    Many(vec::IntoIter<SocketAddr>),
}

impl Iterator for Addresses {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        match &mut self.0 {
            Found::One(addr) => addr.take(),
            Found::Many(addrs) => addrs.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match &self.0 {
            Found::One(addr) => usize::from(addr.is_some()),
            Found::Many(addrs) => addrs.len(),
        };
        (count, Some(count))
    }
}

impl From<vec::IntoIter<SocketAddr>> for Addresses {
    fn from(addrs: vec::IntoIter<SocketAddr>) -> Self {
        Self(Found::Many(addrs))
    }
}

/// A future that returns the addresses of one host.
///
/// Public in name only: it is in the signature of a sealed trait.
pub struct Lookup(State);

enum State {
    /// The result, until it is taken.
    Ready(Option<io::Result<Addresses>>),
    /// A blocking task looks the name up.
    Pending(JoinHandle<io::Result<Addresses>>),
}

impl Lookup {
    pub(super) fn from_addr(addr: SocketAddr) -> Self {
        Self(State::Ready(Some(Ok(Addresses(Found::One(Some(addr)))))))
    }

    pub(super) fn from_addrs(addrs: &[SocketAddr]) -> Self {
        match addrs {
            [addr] => Self::from_addr(*addr),
            addrs => Self(State::Ready(Some(Ok(Vec::from(addrs).into_iter().into())))),
        }
    }

    pub(super) fn failed(error: io::Error) -> Self {
        Self(State::Ready(Some(Err(error))))
    }

    /// Looks a name up in the operating system. The only interface for this blocks, so the call
    /// runs on a thread of the blocking pool, or outside any runtime on a new thread.
    pub(super) fn resolve(host: &str, port: u16) -> Self {
        let host = host.to_owned();
        let ask = move |taken: io::Result<()>| match taken {
            Ok(()) => Ok((host.as_str(), port).to_socket_addrs()?.into()),
            Err(refused) => Err(not_run(&refused)),
        };
        let mut failed = None;
        let asked = blocking::try_spawn(ask, false, |task| match blocking::submit(task) {
            Err(refused) if refused.is_no_runtime() => {
                failed = run_on_new_thread(refused).err();
                Ok(())
            }
            submitted => submitted,
        });
        match (failed, asked) {
            (Some(error), _) => Self::failed(error),
            (None, Ok(asked)) => Self(State::Pending(asked)),
            (None, Err(refused)) => Self(State::Ready(Some(refused))),
        }
    }
}

/// Runs a look-up on a new thread: there is no runtime.
fn run_on_new_thread(refused: SubmitError) -> io::Result<()> {
    let task = refused.into_runnable();
    let builder = thread::Builder::new().name("raddle-lookup".to_owned());
    let thread = thread::spawn_boxed(builder, Box::new(|| drop(task.run())));
    thread.map(drop).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("no thread for the name look-up: {error}; use an address, or fewer threads"),
        )
    })
}

fn not_run(reason: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("the look-up was not run: {reason}"))
}

impl Future for Lookup {
    type Output = io::Result<Addresses>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            // An operation with an address charges itself, but does not start without one.
            State::Ready(Some(Err(_)))
                if raddle_leaf::coop::poll_consume_budget(cx).is_pending() =>
            {
                Poll::Pending
            }
            State::Ready(answer) => match answer.take() {
                Some(result) => Poll::Ready(result),
                None => panic!("a look-up was polled after it had ended"),
            },
            State::Pending(asked) => match ready!(Pin::new(asked).poll(cx)) {
                Ok(result) => Poll::Ready(result),
                Err(_) => Poll::Ready(Err(not_run(
                    &"the runtime has shut down; look it up while the runtime runs",
                ))),
            },
        }
    }
}

/// A panic does not leave a look-up in an inconsistent state.
impl UnwindSafe for Lookup {}
impl RefUnwindSafe for Lookup {}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}
