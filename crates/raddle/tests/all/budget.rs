//! The budget of a task: each operation that completes without waiting takes from it, so a task
//! that repeats one yields.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::common::each_flavor;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use raddle::fs;
use raddle::io::{
    self, AsyncBufReadExt as _, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufReader,
};
use raddle::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, lookup_host};
use raddle::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use raddle::task::{self, JoinSet, LocalSet};
use raddle::time::{self, Instant};

/// How often a task may repeat an operation before another task has run.
const LIMIT: usize = 1_000;

/// The operations that kept their thread.
#[derive(Default)]
struct Starving(Vec<&'static str>);

impl Starving {
    /// Repeats an operation concurrently with another task of the same thread, until that has run.
    async fn check(&mut self, name: &'static str, mut operation: impl AsyncFnMut()) {
        let has_run = Rc::new(Cell::new(false));
        let other = task::spawn_local({
            let has_run = has_run.clone();
            async move { has_run.set(true) }
        });
        let mut operations = 0;
        while !has_run.get() && operations < LIMIT {
            operation().await;
            operations += 1;
        }
        if !has_run.get() {
            self.0.push(name);
        }
        other.await.unwrap();
    }
}

/// Checks each operation, and panics with those that kept their thread.
macro_rules! assert_yields {
    ($($operation:expr),+ $(,)?) => {{
        let mut starving = Starving::default();
        $( starving.check(stringify!($operation), async || { let _ = $operation.await; }).await; )+
        assert!(starving.0.is_empty(), "these never yield: {:#?}", starving.0);
    }};
}

fn run(test: impl Future<Output = ()>) {
    let runtime = crate::common::current_thread().build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

#[test]
fn a_loop_over_a_channel_that_is_ready_lets_others_run() {
    run(async {
        let (sender, mut receiver) = mpsc::channel(1);
        let (unbounded, mut unbounded_receiver) = mpsc::unbounded_channel();
        let mut buffer = Vec::new();
        assert_yields!(
            sender.send(receiver.try_recv().unwrap_or(0)),
            async {
                let _ = sender.try_send(1);
                receiver.recv().await
            },
            async {
                let _ = sender.try_send(1);
                receiver.recv_many(&mut buffer, 1).await
            },
            receiver.recv_many(&mut buffer, 0),
            poll_fn(|cx| receiver.poll_recv_many(cx, &mut buffer, 0)),
            sender.reserve(),
            sender.reserve_many(0),
            sender.reserve_many(1),
            sender.reserve_many(2),
            sender.clone().reserve_owned(),
            sender.send_timeout(receiver.try_recv().unwrap_or(0), Duration::ZERO),
            async {
                unbounded.send(1).unwrap();
                unbounded_receiver.recv().await
            },
            unbounded_receiver.recv_many(&mut buffer, 0),
            poll_fn(|cx| unbounded_receiver.poll_recv_many(cx, &mut buffer, 0)),
        );
        receiver.close();
        unbounded_receiver.close();
        while receiver.try_recv().is_ok() {}
        while unbounded_receiver.try_recv().is_ok() {}
        assert_yields!(
            sender.send(1),
            sender.send_timeout(1, Duration::from_secs(1)),
            sender.reserve(),
            sender.reserve_many(0),
            sender.reserve_many(1),
            sender.reserve_many(2),
            sender.clone().reserve_owned(),
            sender.closed(),
            unbounded.closed(),
            receiver.recv(),
            receiver.recv_many(&mut buffer, 0),
            receiver.recv_many(&mut buffer, 1),
            unbounded_receiver.recv(),
            unbounded_receiver.recv_many(&mut buffer, 0),
            unbounded_receiver.recv_many(&mut buffer, 1),
        );

        let (mut gone, _) = oneshot::channel::<u32>();
        assert_yields!(
            async {
                let (sender, receiver) = oneshot::channel();
                sender.send(1).unwrap();
                receiver.await
            },
            async {
                let (_, receiver) = oneshot::channel::<u32>();
                receiver.await
            },
            async {
                let (_sender, mut receiver) = oneshot::channel::<u32>();
                receiver.close();
                receiver.await
            },
            gone.closed(),
            poll_fn(|cx| gone.poll_closed(cx)),
        );

        let (values, mut watched) = watch::channel(0);
        let (unwatched, _) = watch::channel(0);
        assert_yields!(
            async {
                values.send_replace(1);
                watched.changed().await
            },
            watched.wait_for(|value| *value == 1),
            unwatched.closed(),
        );
        drop(values);
        assert_yields!(
            watched.changed(),
            watched.wait_for(|value| *value == 1),
            watched.wait_for(|_| false),
        );

        let (news, mut listener) = broadcast::channel(1);
        let (unheard, _) = broadcast::channel::<u32>(1);
        assert_yields!(
            async {
                news.send(1).unwrap();
                listener.recv().await
            },
            async {
                // The second value replaces the first.
                news.send(1).unwrap();
                news.send(2).unwrap();
                listener.recv().await
            },
            unheard.closed(),
        );
        drop(news);
        while listener.try_recv().is_ok() {}
        assert_yields!(listener.recv());
    });
}

#[test]
fn a_loop_over_a_lock_or_signal_that_is_ready_lets_others_run() {
    run(async {
        let semaphore = Arc::new(Semaphore::new(1));
        let closed = Arc::new(Semaphore::new(1));
        closed.close();
        let closed_and_empty = Semaphore::new(0);
        closed_and_empty.close();
        let mutex = Arc::new(Mutex::new(()));
        let lock = Arc::new(RwLock::new(()));
        assert_yields!(
            semaphore.acquire(),
            semaphore.acquire_many(0),
            semaphore.acquire_many(1),
            semaphore.clone().acquire_owned(),
            semaphore.clone().acquire_many_owned(0),
            closed.acquire(),
            closed_and_empty.acquire(),
            closed_and_empty.acquire_many(2),
            closed.acquire_many(0),
            closed.clone().acquire_owned(),
            closed.clone().acquire_many_owned(0),
            mutex.lock(),
            mutex.clone().lock_owned(),
            lock.read(),
            lock.write(),
            lock.clone().read_owned(),
            lock.clone().write_owned(),
        );

        let notify = Arc::new(Notify::new());
        let barrier = Barrier::new(1);
        let (empty_barrier, set, once) = (Barrier::new(0), OnceCell::new(), SetOnce::new());
        set.set(1).unwrap();
        once.set(1).unwrap();
        let failing = OnceCell::<u32>::new();
        assert_yields!(
            async {
                notify.notify_one();
                notify.notified().await;
            },
            async {
                notify.notify_one();
                notify.clone().notified_owned().await;
            },
            async {
                let notified = notify.notified();
                notify.notify_waiters();
                notified.await;
            },
            barrier.wait(),
            empty_barrier.wait(),
            set.get_or_init(async || 2),
            set.get_or_try_init(async || Err::<u32, ()>(())),
            failing.get_or_try_init(async || Err::<u32, ()>(())),
            async { *OnceCell::new().get_or_init(async || 1).await },
            once.wait(),
        );
    });
}

#[test]
fn a_loop_over_ended_tasks_lets_others_run() {
    run(async {
        let mut empty = JoinSet::<()>::new();
        let mut handles: Vec<_> = (0..LIMIT).map(|_| task::spawn_local(async {})).collect();
        let mut blocking: Vec<_> = (0..LIMIT).map(|_| task::spawn_blocking(|| {})).collect();
        let mut set: JoinSet<()> = JoinSet::new();
        for _ in 0..LIMIT {
            set.spawn_local(async {});
        }
        let mut aborted: Vec<_> = (0..LIMIT)
            .map(|_| task::spawn_local(pending::<()>()))
            .collect();
        aborted.iter().for_each(|handle| handle.abort());
        let all = || handles.iter().chain(&blocking).chain(&aborted);
        while !all().all(task::JoinHandle::is_finished) {
            time::sleep(Duration::from_millis(1)).await;
        }
        assert_yields!(
            empty.join_next(),
            empty.join_next_with_id(),
            empty.shutdown(),
            JoinSet::<()>::new().join_all(),
            poll_fn(|cx| empty.poll_join_next(cx)),
            set.join_next(),
            handles.pop().unwrap(),
            blocking.pop().unwrap(),
            aborted.pop().unwrap(),
            task::yield_now(),
            task::coop::consume_budget(),
            task::coop::cooperative(ready(())),
            LocalSet::new(),
        );
    });
}

#[test]
fn a_loop_over_timers_that_are_due_lets_others_run() {
    run(async {
        let start = Instant::now();
        let mut missed = time::interval_at(start, Duration::from_nanos(1));
        let mut due = Box::pin(time::sleep(Duration::ZERO));
        assert_yields!(
            time::sleep(Duration::ZERO),
            time::sleep_until(start),
            missed.tick(),
            poll_fn(|cx| missed.poll_tick(cx)),
            due.as_mut(),
            time::timeout(Duration::ZERO, pending::<()>()),
            time::timeout_at(start, pending::<()>()),
        );
    });
}

#[test]
fn a_loop_over_streams_in_memory_lets_others_run() {
    run(async {
        let (mut near, mut far) = io::duplex(64);
        let (mut end_reader, mut end_writer) = io::simplex(64);
        end_writer.shutdown().await.unwrap();
        let (mut dead_writer, _) = io::duplex(64);
        let mut byte = [0; 1];
        let mut buffered = BufReader::new(&b"line\nline\n"[..]);
        let mut lines = BufReader::new(&b""[..]).lines();
        let mut segments = BufReader::new(&b""[..]).split(b'x');
        let mut text = String::new();
        let mut bytes = Vec::new();
        assert_yields!(
            io::empty().read(&mut byte),
            io::empty().fill_buf(),
            io::empty().read_to_end(&mut bytes),
            io::repeat(1).read(&mut byte),
            io::sink().write(&[1]),
            io::sink().flush(),
            io::sink().shutdown(),
            io::copy(&mut io::empty(), &mut io::sink()),
            io::copy_buf(&mut io::empty(), &mut io::sink()),
            io::copy_bidirectional(
                &mut io::join(io::empty(), io::sink()),
                &mut io::join(io::empty(), io::sink()),
            ),
            far.write(&[]),
            far.flush(),
            async {
                far.write(&[1]).await.unwrap();
                near.read(&mut byte).await
            },
            end_reader.read(&mut byte),
            dead_writer.write(&[1]),
            dead_writer.flush(),
            dead_writer.shutdown(),
            buffered.fill_buf(),
            lines.next_line(),
            segments.next_segment(),
            far.write_all(&[]),
            far.write_all_buf(&mut &[][..]),
            far.write_buf(&mut &[][..]),
            near.read_exact(&mut []),
            near.read_buf::<&mut [u8]>(&mut &mut [][..]),
            (&mut near).take(0).read(&mut byte),
            BufReader::new(&b"x"[..]).read_line(&mut text),
            BufReader::new(&b"x"[..]).read_until(b'x', &mut bytes),
        );
    });
}

#[test]
fn a_loop_over_ready_sockets_lets_others_run() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let refused = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let refused = {
            let addr = refused.local_addr().unwrap();
            drop(refused);
            addr
        };
        let (client, served) = raddle::join!(TcpStream::connect(addr), listener.accept());
        let (mut client, (mut served, _)) = (client.unwrap(), served.unwrap());
        served.write_all(&[0; LIMIT]).await.unwrap();
        client.readable().await.unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let udp_addr = udp.local_addr().unwrap();
        let mut byte = [0; 1];
        assert_yields!(
            lookup_host(addr),
            lookup_host("127.0.0.1:80"),
            lookup_host(("127.0.0.1", 80)),
            lookup_host("no port"),
            TcpListener::bind("127.0.0.1:0"),
            TcpListener::bind(addr),
            TcpListener::bind(&[][..]),
            UdpSocket::bind("127.0.0.1:0"),
            UdpSocket::bind(udp_addr),
            TcpStream::connect(refused),
            TcpStream::connect(&[][..]),
            TcpSocket::new_v4().unwrap().connect(refused),
            TcpSocket::new_v4()
                .unwrap()
                .connect("[::1]:1".parse().unwrap()),
            client.write(&[]),
            client.read(&mut []),
            client.write(&[1]),
            client.flush(),
            client.writable(),
            client.ready(io::Interest::WRITABLE),
            udp.connect(udp_addr),
            udp.connect("no port"),
            udp.send_to(&[], udp_addr),
            udp.send_to(&[], "no port"),
            udp.send(&[]),
            udp.writable(),
            async {
                let (mut reader, _writer) = client.split();
                reader.read(&mut []).await
            },
        );
        drop(served);
        while !matches!(client.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
        assert_yields!(
            client.read(&mut byte),
            client.peek(&mut byte),
            client.readable(),
            client.shutdown(),
            client.write(&[1]),
        );
    });
}

#[cfg(unix)]
#[test]
fn a_loop_over_ready_unix_sockets_lets_others_run() {
    use raddle::io::unix::AsyncFd;
    use raddle::net::unix::pipe;
    use raddle::net::{UnixDatagram, UnixListener, UnixStream};

    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        let absent = dir.path().join("absent");
        let (mut near, mut far) = UnixStream::pair().unwrap();
        far.write_all(&[0; LIMIT]).await.unwrap();
        let (datagram, peer) = UnixDatagram::pair().unwrap();
        let (sender, mut receiver) = pipe::pipe().unwrap();
        drop(sender);
        let fd = AsyncFd::new(std::os::unix::net::UnixStream::pair().unwrap().0).unwrap();
        let mut byte = [0; 1];
        assert_yields!(
            UnixStream::connect(&path),
            UnixStream::connect(&absent),
            near.write(&[]),
            near.read(&mut []),
            near.flush(),
            near.writable(),
            async {
                peer.send(&[]).await.unwrap();
                datagram.recv(&mut byte).await
            },
            datagram.send_to(&[], &absent),
            receiver.read(&mut byte),
            fd.readable(),
            fd.writable(),
        );
        drop(far);
        assert_yields!(near.read(&mut byte), near.shutdown());
    });
}

#[test]
fn a_loop_over_a_file_that_is_buffered_lets_others_run() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![b'x'; 4096]).await.unwrap();
        for number in 0..32 {
            fs::write(dir.path().join(number.to_string()), "")
                .await
                .unwrap();
        }
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .await
            .unwrap();
        let mut byte = [0; 1];
        file.read(&mut byte).await.unwrap();
        let mut entries = fs::read_dir(dir.path()).await.unwrap();
        while entries.next_entry().await.unwrap().is_some() {}
        let mut dirs = Vec::new();
        for _ in 0..LIMIT / 32 + 1 {
            dirs.push(fs::read_dir(dir.path()).await.unwrap());
        }
        let mut line = String::new();
        assert_yields!(
            file.read(&mut byte),
            file.read(&mut []),
            file.write(&[]),
            file.flush(),
            file.shutdown(),
            file.stream_position(),
            BufReader::new(&mut file).read_line(&mut line),
            entries.next_entry(),
            poll_fn(|cx| entries.poll_next_entry(cx)),
            async {
                if dirs
                    .last_mut()
                    .unwrap()
                    .next_entry()
                    .await
                    .unwrap()
                    .is_none()
                {
                    dirs.pop();
                }
            },
            io::stdout().write(&[]),
            io::stdout().flush(),
            io::stderr().flush(),
        );
    });
}

#[cfg(unix)]
#[test]
fn a_loop_over_an_ended_child_or_a_signal_lets_others_run() {
    use raddle::process::Command;
    use raddle::signal::unix::{SignalKind, signal};

    run(async {
        let mut child = Command::new("true")
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.wait().await.unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut byte = [0; 1];
        let mut usr2 = signal(SignalKind::user_defined2()).unwrap();
        assert_yields!(child.wait(), child.kill(), output.read(&mut byte), async {
            // Each is delivered before it is received, or the receiver waits for it.
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR2)
                .unwrap();
            usr2.recv().await
        },);
    });
}

#[test]
fn a_loop_over_select_or_a_timeout_of_ready_futures_lets_others_run() {
    run(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        assert_yields!(
            async {
                raddle::select! { () = async {} => {}, () = ready(()) => {} }
            },
            async {
                raddle::select! { biased; () = pending(), if false => {}, else => {} }
            },
            time::timeout(Duration::from_secs(60), async {}),
            socket.send_to(&[1], &[] as &[std::net::SocketAddr]),
        );
    });
}

/// The operations that the other executor polls take nothing from the task.
#[test]
fn a_task_yields_between_calls_of_a_foreign_block_on() {
    run(async {
        assert_yields!(async {
            futures_executor::block_on(task::consume_budget());
            task::consume_budget().await;
        });
    });
}

/// However often: only the executor gives a new budget.
#[test]
fn a_task_without_budget_is_refused_until_its_poll_ends() {
    let refused = || async {
        let mut set = JoinSet::new();
        (0..200).for_each(|_| drop(set.spawn(async {})));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let lock = Mutex::new(());
        for _ in 0..5 {
            task::yield_now().await;
        }
        poll_fn(|cx| {
            sender.send(()).unwrap();
            while poll(cx, task::consume_budget()).is_ready() {}
            for _ in 0..1000 {
                assert!(set.poll_join_next(cx).is_pending());
                assert!(receiver.poll_recv(cx).is_pending());
                assert!(poll(cx, lock.lock()).is_pending());
            }
            Poll::Ready(())
        })
        .await;
    };
    each_flavor(|runtime| {
        runtime.block_on(refused());
        runtime.block_on(runtime.spawn(refused())).unwrap();
        let local = LocalSet::new();
        local.block_on(&runtime, refused());
        local
            .block_on(&runtime, local.spawn_local(refused()))
            .unwrap();
    });
}

fn poll<F: Future>(cx: &mut Context<'_>, future: F) -> Poll<F::Output> {
    pin!(future).poll(cx)
}

/// The task blocks its thread anyway.
#[test]
fn a_foreign_block_on_inside_a_task_ends() {
    each_flavor(|runtime| {
        let task = runtime.spawn(async {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            (0..LIMIT).for_each(|number| sender.send(number).unwrap());
            let receive = async {
                let mut sum = 0;
                for _ in 0..LIMIT {
                    // A lock does not use `poll_proceed`.
                    drop(Mutex::new(()).lock().await);
                    sum += receiver.recv().await.unwrap();
                }
                sum
            };
            futures_executor::block_on(receive)
        });
        let sum = runtime.block_on(task);
        assert_eq!(sum.unwrap(), (0..LIMIT).sum::<usize>());
        // A small block_on that has one waker for each future that it polls.
        let task = runtime.spawn(async {
            let futures: FuturesUnordered<_> = (0..10)
                .map(|_| async {
                    for _ in 0..LIMIT {
                        task::coop::consume_budget().await;
                    }
                })
                .collect();
            futures_executor::block_on(futures.count())
        });
        assert_eq!(runtime.block_on(task).unwrap(), 10);
    });
}

/// A set of futures in one task has wakers of its own, as a foreign `block_on` has.
#[test]
fn futures_of_one_task_that_never_wait_let_other_tasks_run() {
    run(async {
        let steps = Rc::new(Cell::new(0));
        let mut endless: FuturesUnordered<_> = (0..LIMIT)
            .map(|_| {
                let steps = steps.clone();
                async move {
                    loop {
                        task::coop::consume_budget().await;
                        steps.set(steps.get() + 1);
                    }
                }
            })
            .collect();
        let busy = task::spawn_local(async move { endless.next().await });
        task::spawn_local(async {}).await.unwrap();
        assert!(steps.get() < LIMIT, "{} steps", steps.get());
        busy.abort();
    });
}
