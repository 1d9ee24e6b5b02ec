//! The server as an async function, for any executor.

use super::fake_io::FakeStream;
use super::reactor::{Listener, Reactor, Stream};

const NO_ERRORS: &str = "the fake sources do not fail";

/// The argument of a task: what it has to do.
#[derive(Debug)]
pub enum Job<'c> {
    /// Accept this many connections, and spawn a task for each.
    Listen(usize),
    /// Read a line, and send it back.
    Connection(FakeStream<'c>),
}

/// Spawns tasks on an executor.
pub trait Spawn<'c> {
    /// Spawns a task whose future [`serve`] returns.
    fn spawn(&self, job: Job<'c>);
}

/// Runs a task of either kind. One function has one future type, so all tasks have the same type.
/// `BUFFER` is the maximum length of a line, in bytes.
///
/// # Panics
///
/// Panics if a source fails.
///
/// # Cancel safety
///
/// Dropping the future closes its listener or stream.
pub async fn serve<'c, const BUFFER: usize>(
    reactor: &Reactor<'c>,
    spawner: impl Spawn<'c>,
    job: Job<'c>,
) {
    match job {
        Job::Listen(requests) => {
            let mut listener = Listener::new(reactor);
            for _ in 0..requests {
                let stream = listener.accept().await.expect(NO_ERRORS);
                spawner.spawn(Job::Connection(stream));
            }
        }
        Job::Connection(stream) => {
            let mut stream = Stream::new(reactor, stream);
            let mut buffer = [0; BUFFER];
            let mut filled = 0;
            while !buffer[..filled].contains(&b'\n') {
                filled += stream.read(&mut buffer[filled..]).await.expect(NO_ERRORS);
            }
            let mut written = 0;
            while written < filled {
                written += stream
                    .write(&buffer[written..filled])
                    .await
                    .expect(NO_ERRORS);
            }
        }
    }
}
