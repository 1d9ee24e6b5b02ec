//! The look-up of one host.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::vec;

use raddle_std::sync::{Arc, Mutex, Rank};

use super::offload;

type Addresses = vec::IntoIter<SocketAddr>;

/// A future of the addresses of one host.
///
/// Public in name only: it is in the signature of a sealed trait.
pub struct Lookup(State);

enum State {
    /// The answer, until it is taken.
    Known(Option<io::Result<Addresses>>),
    /// A thread is asking, or will.
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

    /// Asks the operating system, which blocks and has no other interface, on
    /// a thread for that.
    pub(super) fn name(host: &str, port: u16) -> Self {
        let question = Arc::new(Question(Mutex::ranked(
            Rank::leaf("name look-up"),
            Answer::default(),
        )));
        let mut duty = Duty(Some(question.clone()));
        let host = host.to_owned();
        let job = move || duty.answer((host.as_str(), port).to_socket_addrs());
        match offload::run(Box::new(job)) {
            Ok(()) => Self(State::Asked(question)),
            Err(error) => Self::failed(error),
        }
    }
}

/// The duty to answer, until that is done.
struct Duty(Option<Arc<Question>>);

impl Duty {
    fn answer(&mut self, result: io::Result<Addresses>) {
        if let Some(question) = self.0.take() {
            question.answer(result);
        }
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.answer(Err(io::Error::other(
            "the look-up was not run: the runtime has shut down, or has no thread for it",
        )));
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
