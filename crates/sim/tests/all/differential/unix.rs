//! Unix streams.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as std_net;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{UnixListener, UnixStream};

use super::harness::{Log, compared, settle, settle_blocking};

compared! { async
    pair half_close paths path_errors rebind addresses credentials closed_peer unread_and_closed
    full_buffer listener_drop shutdown
}
compared! { blocking abstract_names blocking_streams std_listener removed_path long_path }

/// A directory of its own.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("raddle-sim-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn name(addr: io::Result<raddle::net::unix::SocketAddr>) -> String {
    match addr {
        Ok(addr) if addr.is_unnamed() => "unnamed".to_owned(),
        Ok(addr) => match addr.as_pathname() {
            Some(path) => format!("path {:?}", path.file_name().unwrap()),
            None => "abstract".to_owned(),
        },
        Err(error) => format!("{:?}", error.raw_os_error()),
    }
}

fn std_name(addr: io::Result<std_net::SocketAddr>) -> String {
    match addr {
        Ok(addr) if addr.is_unnamed() => "unnamed".to_owned(),
        Ok(addr) => match addr.as_pathname() {
            Some(path) => format!("path {:?}", path.file_name().unwrap()),
            None => format!("abstract {}", addr.as_abstract_name().unwrap().len()),
        },
        Err(error) => format!("{:?}", error.raw_os_error()),
    }
}

async fn pair(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    log.line("local", name(one.local_addr()));
    log.line("peer", name(one.peer_addr()));
    log.poll("new", &one);
    log.result("write", &one.write(b"abc").await);
    let mut buf = [0; 8];
    log.result("read", &two.read(&mut buf).await);
    log.result("nothing", &two.try_read(&mut buf));
    drop(one);
    log.result("end", &two.read(&mut buf).await);
    log.poll("after the end", &two);
    log.result("write after", &two.write(b"x").await);
    log.result("write again", &two.write(b"x").await);
    log.result("read after", &two.read(&mut buf).await);
}

async fn half_close(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    one.shutdown().await.unwrap();
    settle().await;
    log.poll("one", &one);
    log.poll("two", &two);
    let mut buf = [0; 8];
    log.result("read", &two.read(&mut buf).await);
    log.result("write", &two.write(b"abc").await);
    log.result("own write", &one.write(b"x").await);
    settle().await;
    log.result("own read", &one.read(&mut buf).await);
    two.shutdown().await.unwrap();
    settle().await;
    log.poll("one", &one);
    log.poll("two", &two);
    log.result("second shutdown", &one.shutdown().await);
}

async fn paths(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    log.line("listener", name(listener.local_addr()));
    log.line("exists", path.exists());
    let mut client = UnixStream::connect(&path).await.unwrap();
    let (mut server, from) = listener.accept().await.unwrap();
    log.line("from", name(Ok(from)));
    log.line("client", name(client.local_addr()));
    log.line("client's peer", name(client.peer_addr()));
    log.line("server", name(server.local_addr()));
    log.line("server's peer", name(server.peer_addr()));
    client.write_all(b"abc").await.unwrap();
    let mut buf = [0; 8];
    log.result("read", &server.read(&mut buf).await);
    drop(listener);
    log.line("exists after the drop", path.exists());
    log.result(
        "connect after the drop",
        &UnixStream::connect(&path).await.map(drop),
    );
    log.result("write after the drop", &server.write(b"abc").await);
    log.result("read after the drop", &client.read(&mut buf).await);
    log.result("remove", &std::fs::remove_file(&path));
    log.result(
        "connect after removal",
        &UnixStream::connect(&path).await.map(drop),
    );
}

async fn path_errors(log: Log) {
    let directory = Directory::new();
    log.result(
        "missing",
        &UnixStream::connect(directory.file("missing"))
            .await
            .map(drop),
    );
    let file = directory.file("file");
    std::fs::write(&file, b"").unwrap();
    log.result("no socket", &UnixStream::connect(&file).await.map(drop));
    log.result("bind of a file", &UnixListener::bind(&file).map(drop));
    let path = directory.file("no/directory");
    log.result("no directory", &UnixListener::bind(path).map(drop));
    let path = directory.file("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    log.result("bound twice", &UnixListener::bind(&path).map(drop));
}

async fn rebind(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let first = UnixListener::bind(&path).unwrap();
    log.result("remove", &std::fs::remove_file(&path));
    let second = UnixListener::bind(&path).unwrap();
    let _client = UnixStream::connect(&path).await.unwrap();
    settle().await;
    log.poll("first", &first);
    log.poll("second", &second);
    let moved = directory.file("moved");
    log.result("rename", &std::fs::rename(&path, &moved));
    log.result(
        "by the old name",
        &UnixStream::connect(&path).await.map(drop),
    );
    log.result(
        "by the new name",
        &UnixStream::connect(&moved).await.map(drop),
    );
    drop(second);
    log.result("bind over the rest", &UnixListener::bind(&moved).map(drop));
}

async fn addresses(log: Log) {
    let directory = Directory::new();
    let path = directory.file("server");
    let listener = UnixListener::bind(&path).unwrap();
    let socket = raddle::net::UnixSocket::new_stream().unwrap();
    log.result("bind", &socket.bind(directory.file("client")));
    log.result("bind again", &socket.bind(directory.file("another")));
    let client = socket.connect(&path).await.unwrap();
    log.line("client", name(client.local_addr()));
    let (server, from) = listener.accept().await.unwrap();
    log.line("from", name(Ok(from)));
    log.line("peer", name(server.peer_addr()));
    log.result(
        "connect to no listener",
        &UnixStream::connect(directory.file("client"))
            .await
            .map(drop),
    );
    let socket = raddle::net::UnixSocket::new_stream().unwrap();
    log.result("listen without a name", &socket.listen(4).map(drop));
}

async fn credentials(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let client = UnixStream::connect(&path).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    let (one, _two) = UnixStream::pair().unwrap();
    for (who, stream) in [("client", &client), ("server", &server), ("pair", &one)] {
        let cred = stream
            .peer_cred()
            .map(|cred| (cred.uid(), cred.gid(), cred.pid()));
        log.result(who, &cred);
    }
}

async fn closed_peer(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut client = UnixStream::connect(&path).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    drop(server);
    settle().await;
    log.poll("client", &client);
    log.result("write", &client.write(b"x").await);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.line("peer", name(client.peer_addr()));
}

async fn unread_and_closed(log: Log) {
    let (mut one, two) = UnixStream::pair().unwrap();
    one.write_all(b"unread").await.unwrap();
    settle().await;
    drop(two);
    settle().await;
    log.poll("one", &one);
    log.result("read", &one.read(&mut [0; 4]).await);
    log.result("read again", &one.read(&mut [0; 4]).await);
    log.result("write", &one.write(b"x").await);
}

async fn full_buffer(log: Log) {
    let (one, mut two) = UnixStream::pair().unwrap();
    let data = [7; 4096];
    let mut sent = 0;
    loop {
        match one.try_write(&data) {
            Ok(bytes) => sent += bytes,
            Err(error) => {
                log.line("full", (error.kind(), error.raw_os_error()));
                break;
            }
        }
    }
    log.poll("one", &one);
    let mut received = 0;
    let mut buf = [0; 4096];
    while received < sent {
        received += two.read(&mut buf).await.unwrap();
    }
    settle().await;
    log.poll("drained", &one);
    one.writable().await.unwrap();
    log.result("write", &one.try_write(b"abc"));
}

async fn listener_drop(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut client = UnixStream::connect(&path).await.unwrap();
    client.write_all(b"abc").await.unwrap();
    drop(listener);
    settle().await;
    log.poll("client", &client);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.result("read again", &client.read(&mut [0; 4]).await);
    log.result("write", &client.write(b"x").await);
    // And one that has written nothing.
    let path = directory.file("second");
    let listener = UnixListener::bind(&path).unwrap();
    let mut client = UnixStream::connect(&path).await.unwrap();
    drop(listener);
    settle().await;
    log.poll("client", &client);
    log.result("read", &client.read(&mut [0; 4]).await);
}

async fn shutdown(log: Log) {
    let (one, mut two) = UnixStream::pair().unwrap();
    let one = one.into_std().unwrap();
    two.write_all(b"before").await.unwrap();
    settle().await;
    log.result("read", &one.shutdown(std::net::Shutdown::Read));
    settle().await;
    log.poll("one", &one);
    log.poll("two", &two);
    log.result("reads", &(&one).read(&mut [0; 16]));
    log.result("reads again", &(&one).read(&mut [0; 16]));
    log.result("two writes", &two.write(b"x").await);
    log.result("one writes", &(&one).write(b"abc"));
    settle().await;
    log.result("two reads", &two.read(&mut [0; 16]).await);
    log.result("both", &one.shutdown(std::net::Shutdown::Both));
    log.result("again", &one.shutdown(std::net::Shutdown::Both));
    settle().await;
    log.poll("one", &one);
    log.poll("two", &two);
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    log.poll("new", &socket);
    log.result("new", &socket.shutdown(std::net::Shutdown::Both));
    log.result("send on new", &socket.send(b"x"));
    log.result(
        "recv on new",
        &socket.recv(&mut [std::mem::MaybeUninit::uninit(); 4]),
    );
    log.result("accept on new", &socket.accept().map(drop));
    log.result("peer of new", &socket.peer_addr().map(drop));
    log.result("listen of new", &socket.listen(4));
}

fn abstract_names(log: Log) {
    let name = format!(
        "raddle-sim-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    );
    let addr = std_net::SocketAddr::from_abstract_name(&name).unwrap();
    log.result(
        "missing",
        &std_net::UnixStream::connect_addr(&addr).map(drop),
    );
    let listener = std_net::UnixListener::bind_addr(&addr).unwrap();
    let own = listener.local_addr().unwrap();
    log.line("name", own.as_abstract_name() == Some(name.as_bytes()));
    log.result("twice", &std_net::UnixListener::bind_addr(&addr).map(drop));
    let client = std_net::UnixStream::connect_addr(&addr).unwrap();
    let (mut server, from) = listener.accept().unwrap();
    log.line("from", std_name(Ok(from)));
    let peer = client.peer_addr().unwrap();
    log.line("peer", peer.as_abstract_name() == Some(name.as_bytes()));
    (&client).write_all(b"abc").unwrap();
    log.result("read", &server.read(&mut [0; 8]));
    drop(listener);
    log.result(
        "after the drop",
        &std_net::UnixStream::connect_addr(&addr).map(drop),
    );
    log.result(
        "bind again",
        &std_net::UnixListener::bind_addr(&addr).map(drop),
    );
}

fn blocking_streams(log: Log) {
    let (mut one, mut two) = std_net::UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || {
        let mut text = String::new();
        two.read_to_string(&mut text).map(|_| text)
    });
    settle_blocking();
    one.write_all(b"several ").unwrap();
    settle_blocking();
    one.write_all(b"words").unwrap();
    drop(one);
    log.result("read", &thread.join().unwrap());
    let (one, mut two) = std_net::UnixStream::pair().unwrap();
    two.set_read_timeout(Some(std::time::Duration::from_millis(30)))
        .unwrap();
    log.result("time-out", &two.read(&mut [0; 4]));
    let clone = one.try_clone().unwrap();
    drop(one);
    log.result("clone writes", &(&clone).write(b"abc"));
    log.result("read", &two.read(&mut [0; 8]));
    log.result("time-out", &two.read(&mut [0; 4]));
    drop(clone);
    log.result("end", &two.read(&mut [0; 4]));
    // Much data through a small buffer.
    let (mut one, mut two) = std_net::UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || one.write_all(&vec![7; 2_000_000]));
    let mut all = Vec::new();
    log.result("read all", &two.read_to_end(&mut all));
    log.result("written", &thread.join().unwrap());
}

fn std_listener(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = std_net::UnixListener::bind(&path).unwrap();
    log.line("local", std_name(listener.local_addr()));
    let to = path.clone();
    let thread = std::thread::spawn(move || {
        settle_blocking();
        let mut stream = std_net::UnixStream::connect(to)?;
        stream.write_all(b"abc")?;
        io::Result::Ok(std_name(stream.peer_addr()))
    });
    let mut server = listener.incoming().next().unwrap().unwrap();
    let mut text = String::new();
    log.result("read", &server.read_to_string(&mut text));
    log.result("client", &thread.join().unwrap());
    listener.set_nonblocking(true).unwrap();
    log.result("none", &listener.accept().map(drop));
}

fn removed_path(log: Log) {
    let directory = Directory::new();
    let path = directory.file("socket");
    let listener = std_net::UnixListener::bind(&path).unwrap();
    let client = std_net::UnixStream::connect(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    log.line("peer", std_name(client.peer_addr()));
    log.line("local", std_name(listener.local_addr()));
    log.result("accept", &listener.accept().map(drop));
    log.result("connect", &std_net::UnixStream::connect(&path).map(drop));
    // A relative path and another that names the same file.
    let path = directory.file("second");
    let listener = std_net::UnixListener::bind(&path).unwrap();
    let other = directory.file(".").join("second");
    log.result(
        "by another path",
        &std_net::UnixStream::connect(other).map(drop),
    );
    std::os::unix::fs::symlink(&path, directory.file("link")).unwrap();
    log.result(
        "by a link",
        &std_net::UnixStream::connect(directory.file("link")).map(drop),
    );
    std::fs::hard_link(&path, directory.file("hard")).unwrap();
    log.result(
        "by a hard link",
        &std_net::UnixStream::connect(directory.file("hard")).map(drop),
    );
    drop(listener);
}

fn long_path(log: Log) {
    let directory = Directory::new();
    let path = directory.file(&"x".repeat(200));
    log.result("too long", &std_net::UnixListener::bind(&path).map(drop));
    let length = 107 - directory.0.as_os_str().len() - 1;
    let path = directory.file(&"x".repeat(length));
    let listener = std_net::UnixListener::bind(&path);
    log.line("the longest", listener.is_ok());
    let Ok(listener) = listener else { return };
    log.line(
        "name",
        listener.local_addr().unwrap().as_pathname() == Some(path.as_path()),
    );
    log.result("connect", &std_net::UnixStream::connect(&path).map(drop));
}
