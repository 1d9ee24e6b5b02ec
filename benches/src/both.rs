//! Messages between tasks of one runtime, which has both ends of each connection.

use std::io::Result;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::executors::{Spawn, all};
use crate::servers::send_back;
use crate::sockets::Sockets;
use crate::timing::{on_worker, processor_time};

/// The cost of all messages.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// The time from the first message to the last.
    pub elapsed: Duration,
    /// The processor time of this process.
    pub processor: Duration,
}

/// Sends `messages` messages of `length` bytes on each connection, on a new runtime. Each is sent
/// when the previous one has come back.
pub fn both_ends<T: Sockets>(
    workers: usize,
    connections: usize,
    length: usize,
    messages: usize,
) -> Result<Took> {
    let ends: Vec<_> = (0..connections).map(|_| pair()).collect::<Result<_>>()?;
    let runtime = T::new(workers);
    let spawner = runtime.spawner();
    let (processor, start) = (processor_time(), Instant::now());
    on_worker(&runtime, async move {
        let tasks = ends.into_iter().map(|(near, far)| {
            let far = T::stream(far).expect("the runtime takes a connection");
            spawner.spawn(send_back::<T>(far));
            let near = T::stream(near).expect("the runtime takes a connection");
            spawner.spawn_joined(talk::<T>(near, length, messages))
        });
        all(tasks.collect()).await;
    });
    Ok(Took {
        elapsed: start.elapsed(),
        processor: processor_time().saturating_sub(processor),
    })
}

/// Two connected sockets.
fn pair() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    for stream in [&near, &far] {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
    }
    Ok((near, far))
}

async fn talk<T: Sockets>(mut stream: T::Stream, length: usize, messages: usize) {
    let message = vec![7; length];
    let mut buffer = vec![0; length];
    for _ in 0..messages {
        let sent = T::write_all(&mut stream, &message).await;
        sent.expect("the other end is there");
        let mut received = 0;
        while received < length {
            let read = T::read(&mut stream, &mut buffer[received..]).await;
            received += read.expect("the other end is there");
        }
    }
}

#[cfg(test)]
mod tests;
