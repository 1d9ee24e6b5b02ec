//! Programs whose tasks never make progress again.

use std::array;
use std::sync::Arc;

use raddle::runtime::Handle;
use raddle::spawn;
use raddle::sync::{
    Mutex, MutexGuard, OwnedMutexGuard, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};
use raddle::task::{JoinHandle, JoinSet};
use raddle::time::{interval, sleep, timeout};

use super::{Foreign, LIMIT, ms, programs};

type Lock = Arc<Mutex<u32>>;

programs! { finds_a_suspected_deadlock:
    two_locks_in_opposite_orders
    two_owned_locks_in_opposite_orders
    two_mapped_guards_in_opposite_orders
    three_locks_in_a_cycle
    a_lock_that_is_taken_twice
    a_reader_that_becomes_a_writer
    two_readers_with_a_writer_between
    a_writer_behind_a_hundred_readers
    two_semaphores_in_opposite_orders
    a_hundred_holders_that_want_another_permit
    a_lock_of_a_task_that_joins_its_waiter
    a_join_set_behind_a_lock
    a_join_set_of_a_hundred_behind_a_lock
    oneshots_in_a_cycle
    oneshots_of_large_futures
    oneshots_of_tasks_spawned_by_handle_set_and_builder
    oneshots_of_tasks_whose_abort_handles_are_dropped_later
    three_oneshots_in_a_cycle
    watches_in_a_cycle
    broadcasts_in_a_cycle
    the_first_sends_of_bounded_channels
    the_first_sends_of_unbounded_channels
    the_first_sends_of_clones
    full_channels_that_are_never_received
    a_oneshot_behind_a_lock
    locks_behind_sockets
    semaphores_behind_sockets
    a_lock_that_is_taken_twice_behind_a_socket
    locks_behind_a_timeout
    locks_of_a_task_that_is_polled_often
    locks_next_to_foreign_futures
}

/// Takes the first lock, and later the second.
async fn lock_both(first: Lock, second: Lock) {
    let _first = first.lock().await;
    sleep(ms(20)).await;
    drop(second.lock().await);
}

fn locks<const N: usize>() -> [Lock; N] {
    array::from_fn(|_| Lock::default())
}

async fn two_locks_in_opposite_orders() {
    let [a, b] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(lock_both(b, a));
}

async fn two_owned_locks_in_opposite_orders() {
    async fn lock_both(first: Lock, second: Lock) {
        let _first = first.lock_owned().await;
        sleep(ms(20)).await;
        drop(second.lock_owned().await);
    }
    let [a, b] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(lock_both(b, a));
}

async fn two_mapped_guards_in_opposite_orders() {
    async fn lock_both(first: Lock, second: Lock) {
        let _first = OwnedMutexGuard::map(first.lock_owned().await, |value| value);
        sleep(ms(20)).await;
        drop(MutexGuard::map(second.lock().await, |value| value));
    }
    let [a, b] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(lock_both(b, a));
}

async fn three_locks_in_a_cycle() {
    let [a, b, c] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(lock_both(b, c.clone()));
    spawn(lock_both(c, a));
}

async fn a_lock_that_is_taken_twice() {
    let [lock] = locks();
    spawn(lock_both(lock.clone(), lock));
}

async fn a_reader_that_becomes_a_writer() {
    let lock = Arc::new(RwLock::new(0));
    spawn(async move {
        let _read = lock.read().await;
        *lock.write().await += 1;
    });
}

async fn two_readers_with_a_writer_between() {
    let lock = Arc::new(RwLock::new(0));
    let writer = lock.clone();
    spawn(async move {
        let _first = lock.read().await;
        sleep(ms(40)).await;
        let _second = lock.read().await;
    });
    spawn(async move {
        sleep(ms(20)).await;
        *writer.write().await += 1;
    });
}

async fn a_writer_behind_a_hundred_readers() {
    let lock = Arc::new(RwLock::new(0));
    let mutex = Lock::default();
    let guard = mutex.clone().lock_owned().await;
    for _ in 0..100 {
        let (lock, mutex) = (lock.clone(), mutex.clone());
        spawn(async move {
            let _read = lock.read().await;
            let _mutex = mutex.lock().await;
        });
    }
    sleep(ms(20)).await;
    spawn(async move {
        let _guard = guard;
        *lock.write().await += 1;
    });
}

async fn two_semaphores_in_opposite_orders() {
    let semaphores: [_; 2] = array::from_fn(|_| Arc::new(Semaphore::new(1)));
    for i in 0..2 {
        let (first, second) = (semaphores[i].clone(), semaphores[1 - i].clone());
        spawn(async move {
            let _first = first.acquire().await.unwrap();
            sleep(ms(20)).await;
            let _second = second.acquire().await.unwrap();
        });
    }
}

async fn a_hundred_holders_that_want_another_permit() {
    let semaphore = Arc::new(Semaphore::new(100));
    for _ in 0..100 {
        let semaphore = semaphore.clone();
        spawn(async move {
            let _first = semaphore.acquire().await.unwrap();
            sleep(ms(50)).await;
            let _second = semaphore.acquire().await.unwrap();
        });
    }
}

async fn a_lock_of_a_task_that_joins_its_waiter() {
    let [lock] = locks();
    spawn(async move {
        let _guard = lock.lock().await;
        let lock = lock.clone();
        spawn(async move { drop(lock.lock().await) }).await.unwrap();
    });
}

async fn join_all_behind_a_lock(tasks: usize) {
    let [lock] = locks();
    spawn(async move {
        let _guard = lock.lock().await;
        let mut set = JoinSet::new();
        for _ in 0..tasks {
            let lock = lock.clone();
            set.spawn(async move { drop(lock.lock().await) });
        }
        while set.join_next().await.is_some() {}
    });
}

async fn a_join_set_behind_a_lock() {
    join_all_behind_a_lock(1).await;
}

async fn a_join_set_of_a_hundred_behind_a_lock() {
    join_all_behind_a_lock(100).await;
}

/// Waits for one value, and only then sends the other.
async fn answer(receiver: oneshot::Receiver<u8>, sender: oneshot::Sender<u8>) {
    let value = receiver.await.unwrap();
    sender.send(value).unwrap();
}

async fn oneshots_in_a_cycle() {
    let (a, a_receiver) = oneshot::channel();
    let (b, b_receiver) = oneshot::channel();
    spawn(answer(b_receiver, a));
    spawn(answer(a_receiver, b));
}

async fn oneshots_of_large_futures() {
    async fn answer_later(receiver: oneshot::Receiver<u8>, sender: oneshot::Sender<u8>) {
        let large = [1_u8; 100_000];
        answer(receiver, sender).await;
        assert!(large.iter().all(|byte| *byte == 1));
    }
    let (a, a_receiver) = oneshot::channel();
    let (b, b_receiver) = oneshot::channel();
    spawn(answer_later(b_receiver, a));
    spawn(answer_later(a_receiver, b));
}

async fn oneshots_of_tasks_spawned_by_handle_set_and_builder() {
    let (a, a_receiver) = oneshot::channel();
    let (b, b_receiver) = oneshot::channel();
    let (c, c_receiver) = oneshot::channel();
    Handle::current().spawn(answer(c_receiver, a));
    let mut set = JoinSet::new();
    set.spawn(answer(a_receiver, b));
    set.detach_all();
    let builder = raddle::task::Builder::new().name("third");
    builder.spawn(answer(b_receiver, c)).unwrap();
}

async fn oneshots_of_tasks_whose_abort_handles_are_dropped_later() {
    let (a, a_receiver) = oneshot::channel();
    let (b, b_receiver) = oneshot::channel();
    let first = spawn(answer(b_receiver, a)).abort_handle();
    let second = spawn(answer(a_receiver, b)).abort_handle();
    // Both tasks have been polled by then.
    sleep(ms(20)).await;
    drop((first, second));
}

async fn three_oneshots_in_a_cycle() {
    let mut ends: Vec<_> = (0..3).map(|_| oneshot::channel()).collect();
    let (last, mut receiver) = ends.pop().unwrap();
    for (sender, next) in ends {
        spawn(answer(receiver, sender));
        receiver = next;
    }
    spawn(answer(receiver, last));
}

async fn watches_in_a_cycle() {
    async fn follow(mut from: watch::Receiver<u8>, to: watch::Sender<u8>) {
        while from.changed().await.is_ok() {
            let value = *from.borrow_and_update();
            to.send(value + 1).unwrap();
        }
    }
    let (a, a_receiver) = watch::channel(0);
    let (b, b_receiver) = watch::channel(0);
    spawn(follow(b_receiver, a));
    spawn(follow(a_receiver, b));
}

async fn broadcasts_in_a_cycle() {
    async fn follow(mut from: broadcast::Receiver<u8>, to: broadcast::Sender<u8>) {
        while let Ok(value) = from.recv().await {
            let _ = to.send(value);
        }
    }
    let (a, a_receiver) = broadcast::channel(4);
    let (b, b_receiver) = broadcast::channel(4);
    spawn(follow(b_receiver, a));
    spawn(follow(a_receiver, b));
}

async fn the_first_sends_of_bounded_channels() {
    async fn follow(mut from: mpsc::Receiver<u8>, to: mpsc::Sender<u8>) {
        while let Some(value) = from.recv().await {
            to.send(value).await.unwrap();
        }
    }
    let (a, a_receiver) = mpsc::channel(1);
    let (b, b_receiver) = mpsc::channel(1);
    spawn(follow(b_receiver, a));
    spawn(follow(a_receiver, b));
}

async fn the_first_sends_of_unbounded_channels() {
    async fn follow(mut from: mpsc::UnboundedReceiver<u8>, to: mpsc::UnboundedSender<u8>) {
        while let Some(value) = from.recv().await {
            to.send(value).unwrap();
        }
    }
    let (a, a_receiver) = mpsc::unbounded_channel();
    let (b, b_receiver) = mpsc::unbounded_channel();
    spawn(follow(b_receiver, a));
    spawn(follow(a_receiver, b));
}

/// A task waits for messages of four workers, each of which waits for its first job.
async fn the_first_sends_of_clones() {
    let (results, mut all_results) = mpsc::channel::<u8>(4);
    let mut jobs = Vec::new();
    for _ in 0..4 {
        let (job, mut own_jobs) = mpsc::channel::<u8>(4);
        jobs.push(job);
        let results = results.clone();
        spawn(async move {
            while let Some(job) = own_jobs.recv().await {
                results.send(job).await.unwrap();
            }
        });
    }
    drop(results);
    let [a, b, c, d]: [_; 4] = jobs.try_into().unwrap();
    spawn(async move {
        while let Some(result) = all_results.recv().await {
            for job in [&a, &b, &c, &d] {
                job.send(result).await.unwrap();
            }
        }
    });
}

async fn full_channels_that_are_never_received() {
    async fn fill(to: mpsc::Sender<u8>, mut from: mpsc::Receiver<u8>) {
        for value in 0..8 {
            to.send(value).await.unwrap();
        }
        while from.recv().await.is_some() {}
    }
    let (a, a_receiver) = mpsc::channel(2);
    let (b, b_receiver) = mpsc::channel(2);
    spawn(fill(a, b_receiver));
    spawn(fill(b, a_receiver));
}

async fn a_oneshot_behind_a_lock() {
    let [lock] = locks();
    let (sender, receiver) = oneshot::channel();
    let other = lock.clone();
    spawn(async move {
        let _guard = lock.lock().await;
        receiver.await.unwrap();
    });
    spawn(async move {
        sleep(ms(20)).await;
        let value = *other.lock().await;
        sender.send(value).unwrap();
    });
}

/// As in axum: the task of a connection also waits for its socket.
async fn behind_a_socket(handler: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let socket = raddle::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    spawn(async move {
        raddle::select! {
            () = handler => {}
            _ = socket.readable() => {}
        }
    })
}

async fn locks_behind_sockets() {
    let [a, b] = locks();
    behind_a_socket(lock_both(a.clone(), b.clone())).await;
    behind_a_socket(lock_both(b, a)).await;
}

async fn semaphores_behind_sockets() {
    let semaphores: [_; 2] = array::from_fn(|_| Arc::new(Semaphore::new(1)));
    for i in 0..2 {
        let (first, second) = (semaphores[i].clone(), semaphores[1 - i].clone());
        behind_a_socket(async move {
            let _first = first.acquire().await.unwrap();
            sleep(ms(20)).await;
            drop(second.acquire().await.unwrap());
        })
        .await;
    }
}

async fn a_lock_that_is_taken_twice_behind_a_socket() {
    let [lock] = locks();
    behind_a_socket(lock_both(lock.clone(), lock)).await;
}

async fn locks_behind_a_timeout() {
    let [a, b] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(timeout(10 * LIMIT, lock_both(b, a)));
}

async fn locks_of_a_task_that_is_polled_often() {
    let [a, b] = locks();
    spawn(lock_both(a.clone(), b.clone()));
    spawn(async move {
        let mut both = std::pin::pin!(lock_both(b, a));
        let mut ticks = interval(ms(5));
        loop {
            raddle::select! {
                () = &mut both => break,
                _ = ticks.tick() => {}
            }
        }
    });
}

async fn locks_next_to_foreign_futures() {
    let [a, b] = locks();
    for (first, second) in [(a.clone(), b.clone()), (b, a)] {
        spawn(async move {
            let both = std::pin::pin!(lock_both(first, second));
            futures_util::future::select(both, Foreign::default()).await;
        });
    }
}

/// The only deadlock that is certain: nothing but the end of the one task wakes the other.
mod certain {
    use super::*;

    programs! { finds_a_certain_deadlock:
        two_tasks_that_join_one_another
        three_tasks_that_join_one_another
    }

    async fn joins_in_a_cycle(count: usize) {
        let ends: Vec<_> = (0..count)
            .map(|_| oneshot::channel::<JoinHandle<()>>())
            .collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let tasks = receivers.into_iter().map(|receiver| {
            spawn(async move {
                let other = receiver.await.unwrap();
                other.await.unwrap();
            })
        });
        let mut tasks: Vec<_> = tasks.collect();
        tasks.rotate_left(1);
        for (sender, task) in senders.into_iter().zip(tasks) {
            sender.send(task).unwrap();
        }
    }

    async fn two_tasks_that_join_one_another() {
        joins_in_a_cycle(2).await;
    }

    async fn three_tasks_that_join_one_another() {
        joins_in_a_cycle(3).await;
    }
}
