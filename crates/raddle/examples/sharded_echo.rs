//! An echo server with one thread per core: each worker accepts connections from a socket of
//! its own and serves them, with state that needs no lock.
//!
//! All sockets are bound to one address with `SO_REUSEPORT`; the kernel distributes the
//! connections among them. Windows, Solaris and illumos do not have this option.
//!
//! ```sh
//! cargo run --example sharded_echo -- 127.0.0.1:7000
//! ```
#![forbid(unsafe_code)]

#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
fn main() -> std::io::Result<()> {
    unix::main()
}

#[cfg(not(all(unix, not(any(target_os = "solaris", target_os = "illumos")))))]
fn main() {
    eprintln!("sharded_echo needs SO_REUSEPORT, which this system does not have");
}

#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
pub(crate) mod unix {
    use std::cell::Cell;
    use std::io;
    use std::net::SocketAddr;
    use std::rc::Rc;

    use raddle::io::{AsyncReadExt, AsyncWriteExt};
    use raddle::net::{TcpListener, TcpStream};
    use raddle::runtime::{Builder, Policy, Runtime};
    use raddle::task::{JoinHandle, spawn_local};
    use socket2::{Domain, Socket, Type};

    pub(crate) fn main() -> io::Result<()> {
        let address = std::env::args()
            .nth(1)
            .unwrap_or_else(|| "127.0.0.1:7000".to_owned());
        let address: SocketAddr = address.parse().map_err(io::Error::other)?;
        let runtime = Builder::new_multi_thread()
            .scheduler(Policy::Sharded)
            .enable_all()
            .build()?;
        let servers = start(&runtime, address);
        println!("{} workers on {address}", servers.len());
        runtime.block_on(async {
            for server in servers {
                server.await??;
            }
            Ok(())
        })
    }

    /// Starts a server on each worker.
    pub(crate) fn start(runtime: &Runtime, address: SocketAddr) -> Vec<JoinHandle<io::Result<()>>> {
        let workers = 0..runtime.metrics().num_workers();
        let handle = runtime.handle();
        workers
            .map(|worker| handle.spawn_on(worker, move || serve(worker, address)))
            .collect()
    }

    /// A socket that shares its address with those of the other workers.
    fn listen(address: SocketAddr) -> io::Result<TcpListener> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(1024)?;
        TcpListener::from_std(socket.into())
    }

    /// Runs on one worker. Its tasks stay on that worker, and share a count without a lock.
    async fn serve(worker: usize, address: SocketAddr) -> io::Result<()> {
        let listener = listen(address)?;
        let served = Rc::new(Cell::new(0_u64));
        loop {
            let (stream, _) = listener.accept().await?;
            let served = Rc::clone(&served);
            spawn_local(async move {
                if let Err(error) = echo(stream, &served).await {
                    eprintln!("worker {worker}: {error}");
                }
            });
        }
    }

    async fn echo(mut stream: TcpStream, served: &Cell<u64>) -> io::Result<()> {
        let mut buffer = [0; 1024];
        loop {
            let read = stream.read(&mut buffer).await?;
            if read == 0 {
                return Ok(());
            }
            stream.write_all(&buffer[..read]).await?;
            served.set(served.get() + 1);
        }
    }
}
