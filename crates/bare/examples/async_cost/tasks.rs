//! The server as an async function, for any executor.

use super::fake_io::FakeStream;
use super::reactor::{Listener, Reactor, Stream};

const SOUND: &str = "the fake sources do not fail";

/// What a task is to do.
#[derive(Debug)]
pub enum Job<'c> {
    /// Accept that many connections, and spawn a task for each.
    Listen(usize),
    /// Read a line, and send it back.
    Connection(FakeStream<'c>),
}

/// Adds tasks to an executor.
pub trait Spawn<'c> {
    /// Adds one, whose future is [`serve`]'s.
    fn spawn(&self, job: Job<'c>);
}

/// One function for both kinds of tasks, so that they are of one type. `BUFFER`
/// is how long a line can be.
///
/// # Panics
///
/// If a source fails.
///
/// # Cancel safety
///
/// Dropped, it closes what it has.
pub async fn serve<'c, const BUFFER: usize>(
    reactor: &Reactor<'c>,
    spawner: impl Spawn<'c>,
    job: Job<'c>,
) {
    match job {
        Job::Listen(requests) => {
            let mut listener = Listener::new(reactor);
            for _ in 0..requests {
                let stream = listener.accept().await.expect(SOUND);
                spawner.spawn(Job::Connection(stream));
            }
        }
        Job::Connection(stream) => {
            let mut stream = Stream::new(reactor, stream);
            let mut buffer = [0; BUFFER];
            let mut filled = 0;
            while !buffer[..filled].contains(&b'\n') {
                filled += stream.read(&mut buffer[filled..]).await.expect(SOUND);
            }
            let mut written = 0;
            while written < filled {
                written += stream.write(&buffer[written..filled]).await.expect(SOUND);
            }
        }
    }
}
