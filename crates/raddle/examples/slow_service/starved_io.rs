//! Tasks that compute for a long time fill the queues of the workers. A connection whose data has
//! arrived waits behind them.

use std::io;
use std::time::{Duration, Instant};

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::task::yield_now;

/// How many tasks compute.
const WORKLOADS: usize = 8;

pub(crate) async fn serve() {
    for _ in 0..WORKLOADS {
        raddle::spawn(compute());
    }
    // A connection that breaks ends the service.
    let _ = serve_connection().await;
}

async fn serve_connection() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut client = TcpStream::connect(listener.local_addr()?).await?;
    let (server, _) = listener.accept().await?;
    raddle::spawn(echo(server));
    let mut answer = [0];
    loop {
        client.write_all(b"?").await?;
        client.read_exact(&mut answer).await?;
    }
}

async fn echo(mut connection: TcpStream) -> io::Result<()> {
    let mut question = [0];
    loop {
        connection.read_exact(&mut question).await?;
        connection.write_all(&question).await?;
    }
}

/// The fault. Shorter pieces, or threads that only compute, mend it.
async fn compute() {
    loop {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}
