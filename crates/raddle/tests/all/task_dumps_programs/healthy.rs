//! Programs whose tasks wait for each other all the time, and make progress.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::spawn;
use raddle::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use raddle::task::{JoinSet, spawn_blocking, yield_now};
use raddle::time::{interval, sleep};

use super::{Foreign, after, ms, programs};

/// How long each program runs.
const TIME: std::time::Duration = std::time::Duration::from_millis(400);

programs! { finds_no_deadlock:
    a_server_with_a_lock_and_a_shutdown_signal
    actors_with_replies
    an_actor_that_replies_later
    a_proxy_between_actors
    a_pipeline_with_backpressure
    tasks_that_wait_for_a_shutdown_signal
    an_idle_service
    an_idle_service_with_a_foreign_shutdown_signal
    permits_moved_to_spawned_tasks
    permits_in_messages_of_two_producers
    permits_and_locks_in_the_same_order
    two_parts_of_one_task_with_a_lock
    two_parts_of_two_tasks_with_a_lock
    readers_and_writers
    a_join_set_of_workers
    a_configuration_that_is_watched
    rounds_at_a_barrier
    tasks_that_notify_each_other
    a_broadcast
    a_sender_that_many_tasks_share
    a_weak_sender
    a_blocking_job_with_a_lock
}

/// Repeats until the time is over.
macro_rules! repeat {
    ($body:expr) => {
        let start = Instant::now();
        while start.elapsed() < TIME {
            $body
        }
    };
}

async fn a_server_with_a_lock_and_a_shutdown_signal() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (shutdown, signal) = watch::channel(false);
    let count = Arc::new(Mutex::new(0_u64));
    let log = Arc::new(Mutex::new(Vec::new()));
    let server = spawn(async move {
        let mut signal = signal;
        let mut connections = JoinSet::new();
        loop {
            let (mut stream, _) = raddle::select! {
                accepted = listener.accept() => accepted.unwrap(),
                _ = signal.changed() => break,
                Some(_) = connections.join_next() => continue,
            };
            let (count, log, mut signal) = (count.clone(), log.clone(), signal.clone());
            connections.spawn(async move {
                let mut request = [0; 8];
                loop {
                    raddle::select! {
                        read = stream.read_exact(&mut request) => {
                            if read.is_err() {
                                return;
                            }
                        }
                        _ = signal.changed() => return,
                    }
                    let mut count = count.lock().await;
                    *count += 1;
                    let mut log = log.lock().await;
                    log.push(*count);
                    yield_now().await;
                    drop((count, log));
                    stream.write_all(&request).await.unwrap();
                }
            });
        }
        connections.shutdown().await;
    });
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let start = Instant::now();
            while start.elapsed() < TIME {
                stream.write_all(&[7; 8]).await.unwrap();
                stream.read_exact(&mut [0; 8]).await.unwrap();
            }
        });
    }
    clients.join_all().await;
    shutdown.send(true).unwrap();
    server.await.unwrap();
}

type Request = (u64, oneshot::Sender<u64>);

async fn actors_with_replies() {
    let (requests, mut received) = mpsc::channel::<Request>(4);
    spawn(async move {
        while let Some((number, reply)) = received.recv().await {
            sleep(ms(1)).await;
            let _ = reply.send(number + 1);
        }
    });
    let mut clients = JoinSet::new();
    for number in 0..8 {
        let requests = requests.clone();
        clients.spawn(async move {
            repeat!({
                let (reply, answer) = oneshot::channel();
                requests.send((number, reply)).await.unwrap();
                assert_eq!(answer.await.unwrap(), number + 1);
            });
        });
    }
    drop(requests);
    clients.join_all().await;
}

/// The actor keeps the replies in a map, and sends them when a timer is due.
async fn an_actor_that_replies_later() {
    let (requests, mut received) = mpsc::channel::<Request>(64);
    spawn(async move {
        let mut waiting = HashMap::new();
        let mut ticks = interval(ms(30));
        loop {
            raddle::select! {
                request = received.recv() => match request {
                    Some((number, reply)) => drop(waiting.insert(number, reply)),
                    None => return,
                },
                _ = ticks.tick() => {
                    for (number, reply) in waiting.drain() {
                        let _ = reply.send(number);
                    }
                }
            }
        }
    });
    let mut clients = JoinSet::new();
    for number in 0..8 {
        let requests = requests.clone();
        clients.spawn(async move {
            repeat!({
                let (reply, answer) = oneshot::channel();
                requests.send((number, reply)).await.unwrap();
                assert_eq!(answer.await.unwrap(), number);
            });
        });
    }
    drop(requests);
    clients.join_all().await;
}

/// A proxy passes requests on, with their replies, to a slow actor, and waits for the next.
async fn a_proxy_between_actors() {
    let (requests, mut received) = mpsc::channel::<Request>(4);
    let (forward, mut forwarded) = mpsc::channel::<Request>(4);
    spawn(async move {
        while let Some(request) = received.recv().await {
            forward.send(request).await.unwrap();
        }
    });
    spawn(async move {
        let mut waiting = Vec::new();
        while let Some((number, reply)) = forwarded.recv().await {
            waiting.push(reply);
            sleep(ms(40)).await;
            let _ = waiting.pop().unwrap().send(number);
        }
    });
    spawn(async move {
        repeat!({
            let (reply, answer) = oneshot::channel();
            requests.send((1, reply)).await.unwrap();
            answer.await.unwrap();
        });
    })
    .await
    .unwrap();
}

async fn a_pipeline_with_backpressure() {
    let (first, mut from_first) = mpsc::channel(1);
    let (second, mut from_second) = mpsc::channel(1);
    spawn(async move {
        let mut number = 0;
        while first.send(number).await.is_ok() {
            number += 1;
        }
    });
    spawn(async move {
        while let Some(number) = from_first.recv().await {
            if second.send(number).await.is_err() {
                return;
            }
        }
    });
    spawn(async move {
        repeat!({
            from_second.recv().await.unwrap();
            sleep(ms(5)).await;
        });
    })
    .await
    .unwrap();
}

async fn tasks_that_wait_for_a_shutdown_signal() {
    let mut signals = Vec::new();
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (signal, shutdown) = oneshot::channel::<()>();
        signals.push(signal);
        tasks.spawn(async move { shutdown.await.unwrap() });
    }
    let (all, mut shutdown) = watch::channel(());
    tasks.spawn(async move { shutdown.changed().await.unwrap() });
    sleep(TIME).await;
    for signal in signals {
        signal.send(()).unwrap();
    }
    all.send(()).unwrap();
    tasks.join_all().await;
}

/// A task distributes requests of a socket, of which there are none, to a worker, and waits for its
/// results.
async fn an_idle_service() {
    let (jobs, mut own_jobs) = mpsc::channel::<u32>(1);
    let (results, mut all_results) = mpsc::channel::<u32>(1);
    let socket = raddle::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let worker = spawn(async move {
        while let Some(job) = own_jobs.recv().await {
            results.send(job).await.unwrap();
        }
    });
    let service = spawn(async move {
        jobs.send(1).await.unwrap();
        loop {
            raddle::select! {
                result = all_results.recv() => assert!(result.is_some()),
                _ = socket.readable() => {}
            }
        }
    });
    sleep(TIME).await;
    service.abort();
    worker.await.unwrap();
}

async fn an_idle_service_with_a_foreign_shutdown_signal() {
    let (jobs, mut own_jobs) = mpsc::channel::<u32>(1);
    let (results, mut all_results) = mpsc::channel::<u32>(1);
    let shutdown = Foreign::default();
    let worker = spawn(async move {
        while let Some(job) = own_jobs.recv().await {
            results.send(job).await.unwrap();
        }
    });
    let signal = shutdown.clone();
    spawn(async move {
        jobs.send(1).await.unwrap();
        loop {
            let signal = signal.clone();
            raddle::select! {
                result = all_results.recv() => assert!(result.is_some()),
                () = signal => break,
            }
        }
    });
    after(TIME, move || shutdown.set());
    worker.await.unwrap();
}

async fn permits_moved_to_spawned_tasks() {
    let semaphore = Arc::new(Semaphore::new(3));
    spawn(async move {
        repeat!({
            let permit = semaphore.clone().acquire_owned().await.unwrap();
            spawn(async move {
                sleep(ms(20)).await;
                drop(permit);
            });
            let permit = semaphore.clone().acquire_owned().await.unwrap();
            spawn(Box::pin(async move {
                sleep(ms(20)).await;
                drop(permit);
            }));
        });
    })
    .await
    .unwrap();
}

async fn permits_in_messages_of_two_producers() {
    let semaphore = Arc::new(Semaphore::new(4));
    let (messages, mut received) = mpsc::unbounded_channel();
    for _ in 0..2 {
        let (semaphore, messages) = (semaphore.clone(), messages.clone());
        spawn(async move {
            loop {
                let permit = semaphore.clone().acquire_owned().await.unwrap();
                if messages.send(permit).is_err() {
                    return;
                }
            }
        });
    }
    repeat!({
        let permit = received.recv().await;
        sleep(ms(10)).await;
        drop(permit);
    });
}

async fn permits_and_locks_in_the_same_order() {
    let semaphore = Arc::new(Semaphore::new(4));
    let lock = Arc::new(Mutex::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let (semaphore, lock) = (semaphore.clone(), lock.clone());
        tasks.spawn(async move {
            repeat!({
                let _permit = semaphore.acquire().await.unwrap();
                let mut count = lock.lock().await;
                *count += 1;
                sleep(ms(1)).await;
            });
        });
    }
    tasks.join_all().await;
}

async fn two_parts_of_one_task_with_a_lock() {
    spawn(async move {
        let lock = Mutex::new(());
        let part = || async {
            repeat!({
                let _guard = lock.lock().await;
                sleep(ms(20)).await;
            });
        };
        raddle::join!(part(), part());
    })
    .await
    .unwrap();
}

/// The two tasks hold and want both locks, in parts that make progress.
async fn two_parts_of_two_tasks_with_a_lock() {
    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let (a, b) = (a.clone(), b.clone());
        tasks.spawn(async move {
            let part = |lock: Arc<Mutex<()>>| async move {
                repeat!({
                    let _guard = lock.lock().await;
                    sleep(ms(2)).await;
                });
            };
            raddle::join!(part(a), part(b));
        });
    }
    tasks.join_all().await;
}

async fn readers_and_writers() {
    let lock = Arc::new(RwLock::new(0));
    let mut tasks = JoinSet::new();
    for number in 0..100 {
        let lock = lock.clone();
        tasks.spawn(async move {
            repeat!(match number % 10 {
                0 => *lock.write().await += 1,
                _ => {
                    let _value = lock.read().await;
                    sleep(ms(1)).await;
                }
            });
        });
    }
    tasks.join_all().await;
}

async fn a_join_set_of_workers() {
    let lock = Arc::new(Mutex::new(0));
    spawn(async move {
        let mut set = JoinSet::new();
        repeat!({
            {
                let guard = lock.lock().await;
                for _ in 0..4 {
                    let lock = lock.clone();
                    set.spawn(async move { *lock.lock().await += 1 });
                }
                sleep(ms(1)).await;
                drop(guard);
            }
            while set.join_next().await.is_some() {}
        });
    })
    .await
    .unwrap();
}

async fn a_configuration_that_is_watched() {
    let (config, seen) = watch::channel(0);
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let mut seen = seen.clone();
        tasks.spawn(async move { while seen.changed().await.is_ok() {} });
    }
    tasks.spawn(async move {
        repeat!({
            sleep(ms(10)).await;
            config.send_modify(|number| *number += 1);
        });
    });
    tasks.join_all().await;
}

async fn rounds_at_a_barrier() {
    let barrier = Arc::new(Barrier::new(3));
    let mut tasks = JoinSet::new();
    for number in 0..3 {
        let barrier = barrier.clone();
        tasks.spawn(async move {
            for _ in 0..20 {
                sleep(ms(number * 10)).await;
                barrier.wait().await;
            }
        });
    }
    tasks.join_all().await;
}

async fn tasks_that_notify_each_other() {
    let (ping, pong) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (ping_too, pong_too) = (ping.clone(), pong.clone());
    let other = spawn(async move {
        loop {
            ping_too.notified().await;
            pong_too.notify_one();
        }
    });
    repeat!({
        ping.notify_one();
        pong.notified().await;
    });
    other.abort();
}

async fn a_broadcast() {
    let (sender, _) = broadcast::channel(16);
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let mut receiver = sender.subscribe();
        tasks.spawn(async move { while receiver.recv().await.is_ok() {} });
    }
    tasks.spawn(async move {
        repeat!({
            sleep(ms(10)).await;
            sender.send(()).unwrap();
        });
    });
    tasks.join_all().await;
}

/// A task waits for messages of a sender that all tasks can use, the last of which waits for it.
async fn a_sender_that_many_tasks_share() {
    let (sender, mut receiver) = mpsc::channel::<oneshot::Sender<()>>(1);
    let shared = Arc::new(sender);
    spawn(async move {
        let mut waiting = Vec::new();
        while let Some(reply) = receiver.recv().await {
            waiting.push(reply);
            if waiting.len() == 2 {
                waiting.drain(..).for_each(|reply| reply.send(()).unwrap());
            }
        }
    });
    let mut tasks = JoinSet::new();
    for number in 0..2 {
        let shared = shared.clone();
        tasks.spawn(async move {
            for _ in 0..10 {
                sleep(ms(30 * number)).await;
                let (reply, answer) = oneshot::channel();
                shared.send(reply).await.unwrap();
                answer.await.unwrap();
            }
        });
    }
    tasks.join_all().await;
}

/// A task that waits for messages has the only sender, but other code may get one too.
async fn a_weak_sender() {
    let (sender, mut receiver) = mpsc::channel(1);
    let weak = sender.downgrade();
    let task = spawn(async move {
        sender.send(0).await.unwrap();
        while receiver.recv().await != Some(7) {}
    });
    sleep(TIME).await;
    weak.upgrade().unwrap().send(7).await.unwrap();
    task.await.unwrap();
}

async fn a_blocking_job_with_a_lock() {
    let lock = Arc::new(Mutex::new(0));
    spawn(async move {
        let other = lock.clone();
        let job = spawn_blocking(move || {
            let start = Instant::now();
            while start.elapsed() < TIME {
                *other.blocking_lock() += 1;
                std::thread::sleep(ms(1));
            }
        });
        repeat!({
            let _guard = lock.lock().await;
            sleep(ms(1)).await;
        });
        job.await.unwrap();
    })
    .await
    .unwrap();
}
