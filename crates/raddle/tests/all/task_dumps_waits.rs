//! What tasks wait for according to a dump.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle::runtime::dump::{Dump, Resource, TaskState, Wait};
use raddle::runtime::{Builder, Runtime};
use raddle::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use raddle::time::{interval_at, sleep, timeout};

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().enable_task_dumps().build().unwrap()
}

/// Spawns the future, and returns what it waits for once all tasks wait.
async fn waits_of(future: impl Future + Send + 'static) -> Vec<Wait> {
    let task = raddle::spawn(async {
        future.await;
    });
    for _ in 0..10 {
        raddle::task::yield_now().await;
    }
    let dump = dump();
    let waits = dump
        .tasks()
        .iter()
        .find(|dump| dump.id() == task.id().to_string().parse::<u64>().unwrap())
        .expect("the dump lacks the task")
        .waits()
        .to_vec();
    task.abort();
    let _ = task.await;
    waits
}

fn dump() -> Dump {
    raddle::runtime::Handle::current().dump().unwrap()
}

/// Asserts that there is one wait, of this operation called in this file, and returns its resource.
#[track_caller]
fn only(waits: &[Wait], operation: &str) -> Resource {
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(waits[0].operation(), operation);
    assert!(waits[0].is_direct());
    let name = match operation {
        "oneshot::Receiver" => "oneshot::channel",
        _ => operation.rsplit("::").next().unwrap(),
    };
    let code = code_at(&waits[0]);
    assert!(code.starts_with(name), "{code}");
    waits[0].resource()
}

/// The source text of this file at the location of the wait.
fn code_at(wait: &Wait) -> &'static str {
    let location = wait.location().expect("the operation has no location");
    assert!(
        location.file().ends_with("task_dumps_waits.rs"),
        "{location}"
    );
    let mut lines = include_str!("task_dumps_waits.rs").lines();
    let line = lines.nth(location.line() as usize - 1).unwrap();
    &line[location.column() as usize - 1..]
}

#[test]
fn a_task_that_waits_for_a_lock_names_the_lock_and_the_line() {
    runtime().block_on(async {
        let mutex = Arc::new(Mutex::new(()));
        let _held = mutex.clone().lock_owned().await;
        let task = mutex.clone();
        let waits = waits_of(async move { drop(task.lock().await) }).await;
        let lock = only(&waits, "Mutex::lock");
        assert!(matches!(lock, Resource::Lock(_)));
        let task = mutex.clone();
        let waits = waits_of(async { drop(task.lock_owned().await) }).await;
        assert_eq!(only(&waits, "Mutex::lock_owned"), lock);

        let rwlock = Arc::new(RwLock::new(()));
        let _held = rwlock.clone().read_owned().await;
        let task = rwlock.clone();
        let waits = waits_of(async move { drop(task.write().await) }).await;
        let other = only(&waits, "RwLock::write");
        assert!(matches!(other, Resource::Lock(_)) && other != lock);
    });
}

#[test]
fn a_task_that_waits_for_permits_names_the_semaphore() {
    runtime().block_on(async {
        let semaphore = Arc::new(Semaphore::new(1));
        let task = semaphore.clone();
        let waits = waits_of(async move { task.acquire_many(2).await.is_ok() }).await;
        let resource = only(&waits, "Semaphore::acquire_many");
        assert!(matches!(resource, Resource::Semaphore(_)));
    });
}

#[test]
fn both_ends_of_a_channel_name_the_same_channel() {
    runtime().block_on(async {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        let task = sender.clone();
        let waits = waits_of(async move { task.send(2).await }).await;
        let Resource::Room(sending) = only(&waits, "mpsc::Sender::send") else {
            panic!("{waits:?}");
        };
        let task = sender.clone();
        let waits = waits_of(async move { task.closed().await }).await;
        only(&waits, "mpsc::Sender::closed");
        receiver.recv().await.unwrap();
        let waits = waits_of(async move { receiver.recv().await }).await;
        assert_eq!(
            only(&waits, "mpsc::Receiver::recv"),
            Resource::Messages(sending)
        );

        let (_sender, mut receiver) = mpsc::unbounded_channel::<()>();
        let waits = waits_of(async move { receiver.recv().await }).await;
        only(&waits, "mpsc::UnboundedReceiver::recv");
    });
}

#[test]
fn futures_with_a_name_of_their_own_have_the_line_that_made_them() {
    runtime().block_on(async {
        let notify = Arc::new(Notify::new());
        let waits = waits_of(async move { notify.notified().await }).await;
        assert!(matches!(
            only(&waits, "Notify::notified"),
            Resource::Notification(_)
        ));
        let (_sender, receiver) = oneshot::channel::<()>();
        let waits = waits_of(receiver).await;
        assert!(matches!(
            only(&waits, "oneshot::Receiver"),
            Resource::Messages(_)
        ));
        let waits = waits_of(async { sleep(Duration::from_secs(9)).await }).await;
        let Resource::Deadline(deadline) = only(&waits, "sleep") else {
            panic!("{waits:?}");
        };
        let left = deadline.duration_since(Instant::now());
        assert!(
            left > Duration::from_secs(5) && left <= Duration::from_secs(9),
            "{left:?}"
        );
        assert!(waits[0].to_string().contains(", due in "), "{}", waits[0]);
    });
}

#[test]
fn broadcast_watch_barrier_and_interval_name_their_operation() {
    runtime().block_on(async {
        let (_sender, mut receiver) = broadcast::channel::<()>(1);
        let waits = waits_of(async move { receiver.recv().await.is_ok() }).await;
        only(&waits, "broadcast::Receiver::recv");
        let (_sender, mut receiver) = watch::channel(());
        let waits = waits_of(async move { receiver.changed().await }).await;
        only(&waits, "watch::Receiver::changed");
        let barrier = Barrier::new(2);
        let waits = waits_of(async move { barrier.wait().await.is_leader() }).await;
        only(&waits, "Barrier::wait");
        let hour = Duration::from_secs(3600);
        let mut interval = interval_at(raddle::time::Instant::now() + hour, hour);
        let waits = waits_of(async move { interval.tick().await }).await;
        assert!(matches!(
            only(&waits, "Interval::tick"),
            Resource::Deadline(_)
        ));
    });
}

#[test]
fn a_join_handle_names_the_task_that_it_joins() {
    runtime().block_on(async {
        let joined = raddle::spawn(pending::<()>());
        let id: u64 = joined.id().to_string().parse().unwrap();
        let waits = waits_of(joined).await;
        assert_eq!(waits.len(), 1);
        assert_eq!(waits[0].resource(), Resource::Task(id));
        assert!(waits[0].to_string().ends_with(&format!("task {id}")));
    });
}

#[test]
fn a_task_in_a_select_has_a_wait_for_each_branch() {
    runtime().block_on(async {
        let mutex = Arc::new(Mutex::new(()));
        let _held = mutex.clone().lock_owned().await;
        let waits = waits_of(async move {
            let _ = timeout(Duration::from_secs(9), mutex.lock()).await;
        })
        .await;
        let operations: Vec<_> = waits.iter().map(Wait::operation).collect();
        assert_eq!(operations, ["Mutex::lock", "sleep"]);
    });
}

#[test]
fn only_a_task_that_waits_has_waits_and_the_text_shows_them() {
    let runtime = runtime();
    runtime.block_on(async {
        let notify = Arc::new(Notify::new());
        let task = raddle::spawn({
            let notify = notify.clone();
            async move {
                notify.notified().await;
                assert!(
                    dump().tasks()[0].waits().is_empty(),
                    "a running task has no waits"
                );
                pending::<()>().await;
            }
        });
        raddle::task::yield_now().await;
        let text = dump().to_string();
        let line = text
            .lines()
            .nth(2)
            .expect("the dump has no line for the wait");
        assert!(
            line.starts_with("  waits for Notify::notified at "),
            "{text}"
        );
        notify.notify_one();
        assert_eq!(dump().tasks()[0].state(), TaskState::Queued);
        assert!(dump().tasks()[0].waits().is_empty());
        raddle::task::yield_now().await;
        assert!(!task.is_finished());
        assert_eq!(dump().tasks()[0].state(), TaskState::Waiting);
        assert!(
            dump().tasks()[0].waits().is_empty(),
            "the first wait has ended"
        );
        task.abort();
    });
}

#[cfg(all(feature = "net", feature = "io-util"))]
#[test]
fn a_task_that_waits_for_a_socket_names_the_operation_the_line_and_the_direction() {
    use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use raddle::net::{TcpListener, TcpStream, UdpSocket};
    use raddle::runtime::dump::Direction;

    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().enable_task_dumps().build().unwrap();
    runtime.block_on(async {
        let direction = |waits: &[Wait], operation: &str| match only(waits, operation) {
            Resource::Readiness { direction, .. } => direction,
            other => panic!("{other:?}"),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = Arc::new(listener);
        let task = listener.clone();
        let waits = waits_of(async move { task.accept().await }).await;
        assert_eq!(direction(&waits, "TcpListener::accept"), Direction::Read);

        let mut client = TcpStream::connect(address).await.unwrap();
        let _server = listener.accept().await.unwrap();
        let waits = waits_of(async move { client.read(&mut [0; 8]).await }).await;
        assert_eq!(direction(&waits, "AsyncReadExt::read"), Direction::Read);

        let client = TcpStream::connect(address).await.unwrap();
        let _server = listener.accept().await.unwrap();
        let mut line = String::new();
        let waits =
            waits_of(async move { BufReader::new(client).read_line(&mut line).await }).await;
        assert_eq!(
            direction(&waits, "AsyncBufReadExt::read_line"),
            Direction::Read
        );

        // More bytes than the system buffers.
        let mut client = TcpStream::connect(address).await.unwrap();
        let _server = listener.accept().await.unwrap();
        let waits = waits_of(async move { client.write_all(&[0; 32 << 20]).await }).await;
        assert_eq!(
            direction(&waits, "AsyncWriteExt::write_all"),
            Direction::Write
        );

        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let waits = waits_of(async move { socket.recv_from(&mut [0; 8]).await }).await;
        assert_eq!(direction(&waits, "UdpSocket::recv_from"), Direction::Read);
    });
}
