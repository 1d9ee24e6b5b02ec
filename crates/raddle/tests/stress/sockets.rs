//! Byte streams in pieces of random lengths, over sockets that are opened and closed.

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream, UnixStream};
use raddle::runtime::Handle;
use raddle::task::{JoinSet, yield_now};
use raddle::time::timeout;

use crate::ledger::{Ledger, Ticket};
use crate::random::Random;

/// Spawns a task that reads from a peer that never writes.
pub(crate) fn wait_for_ever(handle: &Handle, ticket: Ticket) {
    drop(handle.spawn(async move {
        let _ticket = ticket;
        // An error if the runtime is shutting down.
        if let Ok((mut near, _far)) = UnixStream::pair() {
            let _ = near.read(&mut [0; 8]).await;
        }
    }));
}

fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

/// Writes `length` bytes; some writes are dropped while pending.
async fn write(mut to: impl AsyncWriteExt + Unpin, length: usize, random: &mut Random) {
    let mut at = 0;
    while at < length {
        let piece: Vec<_> = (at..length.min(at + random.within(1, 5000)))
            .map(byte)
            .collect();
        match random.once_in(3) {
            true => match timeout(random.micros(300), to.write(&piece)).await {
                Ok(written) => at += written.unwrap(),
                Err(_) => continue,
            },
            false => at += to.write(&piece).await.unwrap(),
        }
    }
    to.shutdown().await.unwrap();
}

async fn read(mut from: impl AsyncReadExt + Unpin, length: usize, random: &mut Random) {
    let mut at = 0;
    loop {
        let mut piece = vec![0; random.within(1, 5000)];
        let read = match random.once_in(3) {
            true => match timeout(random.micros(300), from.read(&mut piece)).await {
                Ok(read) => read.unwrap(),
                Err(_) => continue,
            },
            false => from.read(&mut piece).await.unwrap(),
        };
        if read == 0 {
            break;
        }
        for (offset, &read) in piece[..read].iter().enumerate() {
            assert_eq!(read, byte(at + offset), "a byte is lost");
        }
        at += read;
    }
    assert_eq!(at, length);
}

pub(crate) fn round(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let count = random.within(1, 8);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let connect = TcpStream::connect(address);
            let (near, far) = raddle::join!(connect, listener.accept());
            let (near, far) = (near.unwrap(), far.unwrap().0);
            let length = random.within(1, 300_000);
            let (writer, reader) = (ledger.ticket(), ledger.ticket());
            let (mut ours, mut theirs) = (random.split(), random.split());
            tasks.spawn(async move {
                write(near, length, &mut ours).await;
                writer.done();
            });
            tasks.spawn(async move {
                read(far, length, &mut theirs).await;
                reader.done();
            });
        }
        // Meanwhile other sockets are opened and closed, with events pending.
        for _ in 0..random.within(1, 100) {
            let (mut near, mut far) = UnixStream::pair().unwrap();
            let (ticket, gone) = (ledger.ticket(), random.once_in(2));
            let task = raddle::spawn(async move {
                let read = near.read(&mut [0; 8]).await.unwrap();
                assert_eq!(read, usize::from(!gone));
                ticket.done();
            });
            if random.once_in(3) {
                yield_now().await;
            }
            if gone {
                drop(far);
            } else {
                far.write_all(b"x").await.unwrap();
            }
            task.await.unwrap();
        }
        while let Some(joined) = tasks.join_next().await {
            joined.unwrap();
        }
    });
    drop(runtime);
    ledger.check_returned();
    assert!(ledger.done() > 2 * count);
}
