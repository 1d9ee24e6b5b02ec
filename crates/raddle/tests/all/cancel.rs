//! Methods that are cancel safe: no data is lost when their futures are dropped while pending.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::Poll;
use std::time::Duration;

use crate::common::each_flavor;
use raddle::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter,
    copy_buf, duplex,
};
use raddle::net::unix::pipe;
use raddle::net::{
    TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
};
use raddle::runtime::Builder;
use raddle::task::{spawn_blocking, yield_now};
use raddle::time::{self, timeout};

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

/// A caller that drops futures after `max_polls` pending polls, and counts the drops.
struct DroppingCaller {
    max_polls: usize,
    dropped: Cell<usize>,
}

impl DroppingCaller {
    fn new(max_polls: usize) -> Self {
        Self {
            max_polls,
            dropped: Cell::new(0),
        }
    }

    /// Polls one future after the other until one is ready within `max_polls` polls.
    async fn until_ready<T>(&self, mut make: impl AsyncFnMut() -> T) -> T {
        loop {
            {
                let mut future = pin!(make());
                for _ in 0..self.max_polls {
                    let poll = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx)));
                    if let Poll::Ready(output) = poll.await {
                        return output;
                    }
                    yield_now().await;
                }
            }
            self.dropped.set(self.dropped.get() + 1);
            yield_now().await;
        }
    }
}

/// Runs a test with one to three `max_polls`, and checks that futures were dropped.
///
/// The check holds on an idle machine too, because each test has a future that must wait: for bytes
/// that are written later by the same task, or for space that only the same task makes.
fn each_max_polls(test: impl AsyncFn(&DroppingCaller)) {
    each_flavor(|runtime| {
        let mut dropped = 0;
        for max_polls in 1..=3 {
            let caller = DroppingCaller::new(max_polls);
            let test = async { timeout(LIMIT, test(&caller)).await };
            runtime.block_on(test).expect("the test hangs");
            dropped += caller.dropped.get();
        }
        assert!(dropped > 0, "nothing was dropped");
    });
}

type Reader = Pin<Box<dyn AsyncRead>>;
type Writer = Pin<Box<dyn AsyncWrite>>;

async fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connect = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = raddle::join!(connect, listener.accept());
    (near.unwrap(), far.unwrap().0)
}

/// A pair of each kind of stream: the reader returns what is written to the writer.
async fn streams() -> Vec<(&'static str, Reader, Writer)> {
    let (tcp_near, tcp_far) = tcp().await;
    let (unix_near, unix_far) = UnixStream::pair().unwrap();
    let (half_near, half_far) = tcp().await;
    let (sender, receiver) = pipe::pipe().unwrap();
    let (memory_near, memory_far) = duplex(5);
    let (buffered_near, buffered_far) = tcp().await;
    let (file_end, other_end) = rustix::pipe::pipe().unwrap();
    let file = std::fs::File::from(file_end);
    vec![
        ("TcpStream", Box::pin(tcp_near), Box::pin(tcp_far)),
        ("UnixStream", Box::pin(unix_near), Box::pin(unix_far)),
        (
            "halves",
            Box::pin(half_near.into_split().0),
            Box::pin(half_far.into_split().1),
        ),
        ("pipe", Box::pin(receiver), Box::pin(sender)),
        ("duplex", Box::pin(memory_near), Box::pin(memory_far)),
        (
            "BufReader and BufWriter",
            Box::pin(BufReader::with_capacity(7, buffered_near)),
            Box::pin(BufWriter::with_capacity(5, buffered_far)),
        ),
        (
            "File",
            Box::pin(raddle::fs::File::from(file)),
            Box::pin(pipe::Sender::from_owned_fd(other_end).unwrap()),
        ),
    ]
}

/// Lines of several lengths.
fn text() -> String {
    (0..40).map(|n| "x".repeat(n) + "\n").collect()
}

/// Writes the text in pieces, so that the reader waits before each piece.
async fn feed(mut writer: impl AsyncWrite + Unpin) {
    for piece in text().as_bytes().chunks(3) {
        yield_now().await;
        writer.write_all(piece).await.unwrap();
        writer.flush().await.unwrap();
    }
    writer.shutdown().await.unwrap();
}

/// Feeds a stream while `reading` runs, and returns the output of `reading`.
async fn while_fed<R>(writer: impl AsyncWrite + Unpin, reading: impl Future<Output = R>) -> R {
    raddle::join!(feed(writer), reading).1
}

#[test]
fn read_is_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, mut reader, writer) in streams().await {
            let reading = async {
                let mut content = Vec::new();
                let mut buffer = [0; 10];
                loop {
                    let n = caller.until_ready(async || reader.read(&mut buffer).await);
                    match n.await.unwrap() {
                        0 => break content,
                        n => content.extend_from_slice(&buffer[..n]),
                    }
                }
            };
            let content = while_fed(writer, reading).await;
            assert_eq!(content, text().as_bytes(), "{name}");
        }
    });
}

#[test]
fn read_buf_and_read_to_end_are_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, mut reader, writer) in streams().await {
            let mut content = Vec::new();
            let reading = async {
                for _ in 0..3 {
                    let read = async || reader.read_buf(&mut content).await;
                    caller.until_ready(read).await.unwrap();
                }
                caller
                    .until_ready(async || reader.read_to_end(&mut content).await)
                    .await
                    .unwrap();
            };
            while_fed(writer, reading).await;
            assert_eq!(content, text().as_bytes(), "{name}");
        }
    });
}

#[test]
fn read_until_and_fill_buf_are_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, reader, writer) in streams().await {
            let mut reader = BufReader::with_capacity(4, reader);
            let mut content = Vec::new();
            let reading = async {
                for _ in 0..20 {
                    let line = async || reader.read_until(b'\n', &mut content).await;
                    caller.until_ready(line).await.unwrap();
                    assert!(content.ends_with(b"\n"));
                }
                loop {
                    let filled = async || reader.fill_buf().await.map(|filled| filled.to_owned());
                    let filled = caller.until_ready(filled).await.unwrap();
                    if filled.is_empty() {
                        break;
                    }
                    reader.consume(filled.len());
                    content.extend(filled);
                }
            };
            while_fed(writer, reading).await;
            assert_eq!(content, text().as_bytes(), "{name}");
        }
    });
}

#[test]
fn next_line_and_next_segment_are_cancel_safe() {
    each_max_polls(async |caller| {
        for by_line in [true, false] {
            for (name, reader, writer) in streams().await {
                let reader = BufReader::with_capacity(4, reader);
                let reading = async {
                    let mut all = Vec::new();
                    if by_line {
                        let mut lines = reader.lines();
                        let mut next = async || lines.next_line().await.unwrap();
                        while let Some(line) = caller.until_ready(&mut next).await {
                            all.push(line.into_bytes());
                        }
                    } else {
                        let mut segments = reader.split(b'\n');
                        let mut next = async || segments.next_segment().await.unwrap();
                        while let Some(segment) = caller.until_ready(&mut next).await {
                            all.push(segment);
                        }
                    }
                    all
                };
                let lines = while_fed(writer, reading).await;
                let text = text();
                assert!(lines.iter().eq(text.lines().map(str::as_bytes)), "{name}");
            }
        }
    });
}

/// Copies from each kind of stream to an in-memory pipe that is full most of the time.
#[test]
fn copy_buf_is_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, reader, writer) in streams().await {
            let mut reader = BufReader::with_capacity(4, reader);
            let (mut target, mut copied) = duplex(3);
            let copying = async {
                let copy = async || copy_buf(&mut reader, &mut target).await;
                caller.until_ready(copy).await.unwrap();
                drop(target);
            };
            let mut content = String::new();
            let reading = copied.read_to_string(&mut content);
            while_fed(writer, async { raddle::join!(copying, reading) })
                .await
                .1
                .unwrap();
            assert_eq!(content, text(), "{name}");
        }
    });
}

/// More text than the buffer of any of the streams holds.
fn large() -> &'static [u8] {
    static LARGE: OnceLock<Vec<u8>> = OnceLock::new();
    LARGE.get_or_init(|| (0..4_000_000).map(|n| (n % 251) as u8).collect())
}

async fn read_all(mut reader: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        yield_now().await;
        content.reserve(50_000);
        if reader.read_buf(&mut content).await.unwrap() == 0 {
            return content;
        }
    }
}

#[test]
fn write_is_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, reader, mut writer) in streams().await {
            if name == "duplex" {
                // A pipe of five bytes would take too long for this much text.
                continue;
            }
            let large = large();
            let writing = async {
                let mut rest = large;
                let mut turn = 0;
                while !rest.is_empty() {
                    turn += 1;
                    let half = rest.len() / 2;
                    let slices = [IoSlice::new(&rest[..half]), IoSlice::new(&rest[half..])];
                    match turn % 3 {
                        0 => {
                            let write = async || writer.write(rest).await;
                            rest = &rest[caller.until_ready(write).await.unwrap()..];
                        }
                        1 => {
                            let write = async || writer.write_vectored(&slices).await;
                            rest = &rest[caller.until_ready(write).await.unwrap()..];
                        }
                        _ => {
                            let write = async || writer.write_buf(&mut rest).await;
                            caller.until_ready(write).await.unwrap();
                        }
                    }
                }
                let flush = async || writer.flush().await;
                caller.until_ready(flush).await.unwrap();
                let shutdown = async || writer.shutdown().await;
                caller.until_ready(shutdown).await.unwrap();
                drop(writer);
            };
            let ((), content) = raddle::join!(writing, read_all(reader));
            assert!(content == large, "{name}");
        }
    });
}

#[test]
fn write_all_buf_is_cancel_safe() {
    each_max_polls(async |caller| {
        for (name, reader, mut writer) in streams().await {
            let text = text();
            let large = match name {
                "duplex" => text.as_bytes(),
                _ => large(),
            };
            let writing = async {
                let mut rest = large;
                let write = async || writer.write_all_buf(&mut rest).await;
                caller.until_ready(write).await.unwrap();
                let shutdown = async || writer.shutdown().await;
                caller.until_ready(shutdown).await.unwrap();
                drop(writer);
            };
            let ((), content) = raddle::join!(writing, read_all(reader));
            assert!(content == large, "{name}");
        }
    });
}

/// A connection that holds much less than [`large`] in its buffers.
async fn narrow_tcp() -> (TcpStream, TcpStream) {
    let listening = TcpSocket::new_v4().unwrap();
    listening.set_recv_buffer_size(NARROW).unwrap();
    listening.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listening.listen(1).unwrap();
    let connecting = TcpSocket::new_v4().unwrap();
    connecting.set_send_buffer_size(NARROW).unwrap();
    let connect = connecting.connect(listener.local_addr().unwrap());
    let (writer, reader) = raddle::join!(connect, listener.accept());
    (reader.unwrap().0, writer.unwrap())
}

/// The size of a buffer; the system may double it.
const NARROW: u32 = 50_000;

#[test]
fn readable_and_writable_are_cancel_safe() {
    each_max_polls(async |caller| {
        let (near, far) = narrow_tcp().await;
        let large = large();
        let [read_waits, write_waits] = [(); 2].map(|()| DroppingCaller::new(caller.max_polls));
        let writing = async {
            // The reader is polled before there is anything to read.
            yield_now().await;
            let mut rest = large;
            while !rest.is_empty() {
                // Waits when the buffers are full, since the reader does not run in between.
                let writable = async || far.writable().await;
                write_waits.until_ready(writable).await.unwrap();
                if let Ok(n) = far.try_write(rest) {
                    rest = &rest[n..];
                }
            }
            drop(far);
        };
        let reading = async {
            let mut content = Vec::new();
            let mut buffer = [0; 50_000];
            loop {
                let readable = async || near.readable().await;
                read_waits.until_ready(readable).await.unwrap();
                match near.try_read(&mut buffer) {
                    Ok(0) => break content,
                    Ok(n) => content.extend_from_slice(&buffer[..n]),
                    Err(_) => {}
                }
            }
        };
        let ((), content) = raddle::join!(writing, reading);
        assert!(content == large);
        let (reads, writes) = (read_waits.dropped.get(), write_waits.dropped.get());
        caller.dropped.set(reads.min(writes));
    });
}

#[test]
fn peek_is_cancel_safe() {
    each_max_polls(async |caller| {
        let (mut near, far) = tcp().await;
        let reading = async {
            let mut content = Vec::new();
            let mut buffer = [0; 10];
            loop {
                let peek = async || near.peek(&mut buffer).await;
                let n = caller.until_ready(peek).await.unwrap();
                if n == 0 {
                    break content;
                }
                content.extend_from_slice(&buffer[..n]);
                near.read_exact(&mut buffer[..n]).await.unwrap();
            }
        };
        let content = while_fed(far, reading).await;
        assert_eq!(content, text().as_bytes());
    });
}

#[test]
fn accept_is_cancel_safe() {
    each_max_polls(async |caller| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("listener");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let unix_listener = UnixListener::bind(&path).unwrap();
        let address = listener.local_addr().unwrap();
        let connecting = async {
            for n in 0..20_u32 {
                yield_now().await;
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_u32(n).await.unwrap();
                let mut stream = UnixStream::connect(&path).await.unwrap();
                stream.write_u32(n).await.unwrap();
            }
        };
        // The connections arrive in order, and none is missing.
        let accepting = async {
            for n in 0..20 {
                let (mut stream, _) = match n % 2 {
                    0 => caller.until_ready(async || listener.accept().await).await,
                    _ => {
                        let accept = async || listener.accept_retrying(time::sleep).await;
                        caller.until_ready(accept).await
                    }
                }
                .unwrap();
                assert_eq!(stream.read_u32().await.unwrap(), n);
                let accept = async || unix_listener.accept().await;
                let (mut stream, _) = caller.until_ready(accept).await.unwrap();
                assert_eq!(stream.read_u32().await.unwrap(), n);
            }
        };
        raddle::join!(connecting, accepting);
    });
}

/// Dropping the future closes its connection.
#[test]
fn dropping_connect_closes_the_connection() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            for _ in 0..3 {
                let mut connect = pin!(TcpStream::connect(address));
                // Usually pending; otherwise this drops the stream.
                drop(poll_fn(|cx| Poll::Ready(connect.as_mut().poll(cx))).await);
            }
            for _ in 0..3 {
                let (mut closed, _) = listener.accept().await.unwrap();
                let read = timeout(LIMIT, closed.read(&mut [0])).await;
                assert!(matches!(read.unwrap(), Ok(0) | Err(_)));
            }
        });
    });
}

#[test]
fn udp_send_and_receive_are_cancel_safe() {
    each_max_polls(async |caller| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let sending = async {
            let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            for n in 0..40_u8 {
                yield_now().await;
                let send = async || sender.send_to(&[n], address).await;
                caller.until_ready(send).await.unwrap();
            }
        };
        let receiving = async {
            let mut buffer = [0; 8];
            for n in 0..40 {
                let length = match n % 4 {
                    0 => {
                        caller
                            .until_ready(async || socket.recv(&mut buffer).await)
                            .await
                    }
                    1 => {
                        let receive = async || socket.recv_from(&mut buffer).await;
                        caller.until_ready(receive).await.map(|(length, _)| length)
                    }
                    2 => {
                        let peek = async || socket.peek_sender().await;
                        caller.until_ready(peek).await.unwrap();
                        socket.recv(&mut buffer).await
                    }
                    _ => {
                        let peek = async || socket.peek_from(&mut buffer).await;
                        caller.until_ready(peek).await.unwrap();
                        socket.recv(&mut buffer).await
                    }
                };
                assert_eq!((length.unwrap(), buffer[0]), (1, n));
            }
        };
        raddle::join!(sending, receiving);
    });
}

/// These sends wait for space in the buffer, so pending sends are dropped, too.
#[test]
fn unix_datagram_send_and_receive_are_cancel_safe() {
    each_max_polls(async |caller| {
        let (near, far) = UnixDatagram::pair().unwrap();
        let sending = async {
            for n in 0..2_000_u32 {
                let send = async || far.send(&n.to_le_bytes()).await;
                caller.until_ready(send).await.unwrap();
            }
        };
        let receiving = async {
            let mut buffer = [0; 4];
            for n in 0..2_000_u32 {
                let receive = async || near.recv(&mut buffer).await;
                assert_eq!(caller.until_ready(receive).await.unwrap(), 4);
                assert_eq!(u32::from_le_bytes(buffer), n);
            }
        };
        raddle::join!(sending, receiving);
    });
}

#[test]
fn next_entry_is_cancel_safe() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<_> = (0..100).map(|n| format!("{n:03}")).collect();
    for name in &names {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let mut entries = raddle::fs::read_dir(dir.path()).await.unwrap();
            let (mut found, mut dropped) = (Vec::new(), 0);
            loop {
                // While the pool's only thread is held, no directory is read.
                let (release, held) = std::sync::mpsc::channel::<()>();
                let holds = spawn_blocking(move || held.recv());
                let first = {
                    let mut next = pin!(entries.next_entry());
                    poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await
                };
                drop(release);
                assert!(holds.await.unwrap().is_err());
                let entry = match first {
                    Poll::Ready(entry) => entry,
                    Poll::Pending => {
                        dropped += 1;
                        entries.next_entry().await
                    }
                };
                let Some(entry) = entry.unwrap() else { break };
                found.push(entry.file_name().into_string().unwrap());
            }
            assert!(dropped > 0, "nothing was dropped");
            found.sort();
            assert_eq!(found, names);
        });
    }
}

#[test]
fn interval_tick_is_cancel_safe() {
    each_max_polls(async |caller| {
        let much_later = time::Instant::now() + LIMIT;
        let mut interval = time::interval_at(much_later, Duration::from_millis(1));
        interval.set_missed_tick_behavior(time::MissedTickBehavior::Burst);
        // On a loaded machine all later ticks may be due at once.
        {
            let mut tick = pin!(interval.tick());
            assert!(poll_fn(|cx| Poll::Ready(tick.as_mut().poll(cx).is_pending())).await);
        }
        caller.dropped.set(1);
        interval.reset_immediately();
        let first = interval.tick().await;
        for n in 1..20 {
            let tick = caller.until_ready(async || interval.tick().await).await;
            assert_eq!(tick, first + Duration::from_millis(n));
        }
    });
}
