//! The look-up of one host.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::vec;

use raddle_std::sync::{Arc, Mutex};
use raddle_std::thread;

type Addresses = vec::IntoIter<SocketAddr>;

/// A future of the addresses of one host.
///
/// Public in name only: it is in the signature of a sealed trait.
pub struct Lookup(State);

enum State {
    /// The answer, until it is taken.
    Known(Option<io::Result<Addresses>>),
    /// A thread is asking.
    Asked(Arc<Question>),
}

/// What the asking thread and the future share.
struct Question(Mutex<Answer>);

#[derive(Default)]
struct Answer {
    result: Option<io::Result<Addresses>>,
    waker: Option<Waker>,
}

impl Lookup {
    pub(super) fn one(addr: SocketAddr) -> Self {
        Self::many(vec![addr])
    }

    pub(super) fn many(addrs: Vec<SocketAddr>) -> Self {
        Self(State::Known(Some(Ok(addrs.into_iter()))))
    }

    pub(super) fn failed(error: io::Error) -> Self {
        Self(State::Known(Some(Err(error))))
    }

    /// Asks the operating system, which blocks and has no other interface: a
    /// thread that lives for this question.
    pub(super) fn name(host: &str, port: u16) -> Self {
        let question = Arc::new(Question(Mutex::new(Answer::default())));
        let asked = question.clone();
        let host = host.to_owned();
        let thread = thread::Builder::new()
            .name("raddle-lookup".to_owned())
            .spawn(move || {
                let result = (host.as_str(), port).to_socket_addrs();
                asked.answer(result);
            });
        match thread {
            Ok(_) => Self(State::Asked(question)),
            Err(error) => Self::failed(io::Error::new(
                error.kind(),
                format!("no thread to look a name up: {error}; use an address, or fewer threads"),
            )),
        }
    }
}

impl Question {
    fn answer(&self, result: io::Result<Addresses>) {
        let mut answer = self.0.lock();
        answer.result = Some(result);
        let waker = answer.waker.take();
        drop(answer);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<io::Result<Addresses>> {
        // Cloned before the lock and the former one dropped after it.
        let waker = cx.waker().clone();
        let mut answer = self.0.lock();
        if let Some(result) = answer.result.take() {
            drop(answer);
            return Poll::Ready(result);
        }
        let former = answer.waker.replace(waker);
        drop(answer);
        drop(former);
        Poll::Pending
    }
}

impl Future for Lookup {
    type Output = io::Result<Addresses>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Known(answer) => match answer.take() {
                Some(result) => Poll::Ready(result),
                None => panic!("a look-up was polled after it had ended"),
            },
            State::Asked(question) => question.poll(cx),
        }
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}
