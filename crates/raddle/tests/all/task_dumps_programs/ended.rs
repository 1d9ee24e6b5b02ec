//! Programs whose tasks wait for each other, as it seems, until code that a dump does not see ends
//! their waits.

use std::array;
use std::mem;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt};
use raddle::spawn;
use raddle::sync::{
    Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockWriteGuard, RwLock, RwLockWriteGuard, Semaphore,
    SemaphorePermit, mpsc, oneshot,
};
use raddle::task::{JoinHandle, LocalSet, spawn_blocking};
use raddle::time::{sleep, timeout};

use super::{Foreign, LATER, after, ms, poll_once, programs};

programs! { finds_no_certain_deadlock:
    a_select_with_a_foreign_future
    a_foreign_select
    futures_with_their_own_wakers
    an_owned_guard_moved_to_a_task
    an_owned_guard_moved_to_a_boxed_task
    an_owned_guard_moved_to_a_blocking_job
    an_owned_guard_moved_to_a_thread
    an_owned_guard_moved_by_a_channel
    a_mapped_guard_moved_to_a_thread
    a_guard_of_a_static_moved_to_a_task
    a_guard_of_a_leaked_lock_moved_to_a_thread
    a_downgraded_guard_moved_to_a_thread
    a_downgraded_guard_of_a_leaked_lock_moved_to_a_task
    a_future_with_a_guard_that_is_polled_once_and_then_spawned
    a_future_that_is_polled_again
    a_forgotten_guard_and_a_lock_at_the_same_address
    a_forgotten_guard_of_a_lock_that_is_moved
    permits_that_a_thread_adds
    permits_that_are_forgotten_and_added
    permits_moved_to_a_task
    permits_split_and_moved_to_a_thread
    a_timeout
    an_abort_by_another_task
    an_abort_of_joined_tasks
    a_join_handle_that_is_polled_once_and_dropped
    a_join_next_to_a_foreign_future
    a_lock_of_a_local_set
    a_sender_moved_to_a_thread
}

fn locks() -> [Arc<Mutex<()>>; 2] {
    array::from_fn(|_| Arc::default())
}

/// Two tasks hold one lock each and run this with the other's, which ends after a while.
async fn crosswise<F>(wait: impl Fn(Arc<Mutex<()>>) -> F + Copy + Send + 'static)
where
    F: Future + Send,
{
    let locks = locks();
    for i in 0..2 {
        let (mine, other) = (locks[i].clone(), locks[1 - i].clone());
        spawn(async move {
            let _mine = mine.lock().await;
            sleep(ms(20)).await;
            wait(other).await;
        });
    }
}

async fn a_select_with_a_foreign_future() {
    crosswise(|other| async move {
        raddle::select! { _ = other.lock() => {}, () = Foreign::set_later() => {} }
    })
    .await;
}

async fn a_foreign_select() {
    crosswise(|other| async move {
        let other = Box::pin(async move { drop(other.lock().await) });
        futures_util::future::select(other, Foreign::set_later()).await;
    })
    .await;
}

async fn futures_with_their_own_wakers() {
    crosswise(|other| async move {
        let mut all = FuturesUnordered::<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>::new();
        all.push(Box::pin(async move { drop(other.lock().await) }));
        all.push(Box::pin(Foreign::set_later()));
        all.next().await;
    })
    .await;
}

async fn an_owned_guard_moved_to_a_task() {
    let lock = Arc::new(Mutex::new(()));
    spawn(async move {
        let guard = lock.clone().lock_owned().await;
        spawn(async move {
            sleep(LATER).await;
            drop(guard);
        });
        spawn(async move { drop(lock.lock().await) }).await.unwrap();
    });
}

async fn an_owned_guard_moved_to_a_boxed_task() {
    let lock = Arc::new(Mutex::new(()));
    spawn(async move {
        let guard = lock.clone().lock_owned().await;
        spawn(Box::pin(async move {
            sleep(LATER).await;
            drop(guard);
        }));
        drop(lock.lock().await);
    });
}

async fn an_owned_guard_moved_to_a_blocking_job() {
    let lock = Arc::new(Mutex::new(()));
    spawn(async move {
        let guard = lock.clone().lock_owned().await;
        spawn_blocking(move || {
            std::thread::sleep(LATER);
            drop(guard);
        });
        drop(lock.lock().await);
    });
}

async fn an_owned_guard_moved_to_a_thread() {
    let lock = Arc::new(Mutex::new(()));
    spawn(async move {
        let guard = lock.clone().lock_owned().await;
        after(LATER, move || drop(guard));
        drop(lock.lock().await);
    });
}

async fn an_owned_guard_moved_by_a_channel() {
    let lock = Arc::new(Mutex::new(()));
    let (sender, receiver) = oneshot::channel::<OwnedMutexGuard<()>>();
    spawn(async move {
        let guard = receiver.await.unwrap();
        sleep(LATER).await;
        drop(guard);
    });
    spawn(async move {
        sender.send(lock.clone().lock_owned().await).unwrap();
        drop(lock.lock().await);
    });
}

async fn a_mapped_guard_moved_to_a_thread() {
    let lock = Arc::new(Mutex::new((1, 2)));
    spawn(async move {
        let guard = OwnedMutexGuard::map(lock.clone().lock_owned().await, |pair| &mut pair.0);
        after(LATER, move || drop(guard));
        drop(lock.lock().await);
    });
}

async fn a_guard_of_a_static_moved_to_a_task() {
    static LOCK: Mutex<()> = Mutex::const_new(());
    spawn(async {
        let guard = LOCK.lock().await;
        spawn(async move {
            sleep(LATER).await;
            drop(guard);
        });
        drop(LOCK.lock().await);
    });
}

async fn a_guard_of_a_leaked_lock_moved_to_a_thread() {
    let lock: &'static Mutex<(u8, u8)> = Box::leak(Box::default());
    spawn(async {
        let guard = MutexGuard::map(lock.lock().await, |pair| &mut pair.0);
        after(LATER, move || drop(guard));
        drop(lock.lock().await);
    });
}

async fn a_downgraded_guard_moved_to_a_thread() {
    let lock = Arc::new(RwLock::new(0));
    spawn(async move {
        let guard = OwnedRwLockWriteGuard::downgrade(lock.clone().write_owned().await);
        after(LATER, move || drop(guard));
        drop(lock.write().await);
    });
}

async fn a_downgraded_guard_of_a_leaked_lock_moved_to_a_task() {
    let lock: &'static RwLock<u8> = Box::leak(Box::default());
    spawn(async {
        let guard = RwLockWriteGuard::downgrade(lock.write().await);
        spawn(async move {
            sleep(LATER).await;
            drop(guard);
        });
        drop(lock.write().await);
    });
}

async fn a_future_with_a_guard_that_is_polled_once_and_then_spawned() {
    let lock = Arc::new(Mutex::new(()));
    spawn(async move {
        let held = lock.clone();
        let mut work = Box::pin(async move {
            let _guard = held.lock().await;
            sleep(LATER).await;
        });
        assert!(poll_once(&mut work).await.is_pending());
        spawn(work);
        drop(lock.lock().await);
    });
}

/// The last poll of each task has polled the lock, and not the foreign future, whose waker remains.
async fn a_future_that_is_polled_again() {
    crosswise(|other| async move {
        let mut foreign = Foreign::set_later();
        let _ = poll_once(&mut foreign).await;
        let mut lock = Box::pin(async move { drop(other.lock().await) });
        std::future::poll_fn(|cx| {
            if let Poll::Ready(()) = lock.as_mut().poll(cx) {
                return Poll::Ready(());
            }
            match foreign.0.lock().unwrap().0 {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    })
    .await;
}

async fn a_forgotten_guard_and_a_lock_at_the_same_address() {
    spawn(async {
        let mut place = Some(Mutex::new(()));
        mem::forget(place.as_ref().unwrap().lock().await);
        // The new lock has the address of the former one.
        place = Some(Mutex::new(()));
        let lock: &'static Mutex<()> = Box::leak(Box::new(place)).as_ref().unwrap();
        let guard = lock.lock().await;
        after(LATER, move || drop(guard));
        drop(lock.lock().await);
    });
}

async fn a_forgotten_guard_of_a_lock_that_is_moved() {
    spawn(async {
        let mut place = Box::new(Arc::new(Mutex::new(())));
        for _ in 0..100 {
            mem::forget(place.clone().lock_owned().await);
            *place = Arc::new(Mutex::new(()));
        }
        let guard = place.clone().lock_owned().await;
        spawn(async move {
            sleep(LATER).await;
            drop(guard);
        });
        drop(place.lock().await);
    });
}

async fn permits_that_a_thread_adds() {
    let semaphore = Arc::new(Semaphore::new(1));
    spawn(async move {
        let _permit = semaphore.acquire().await.unwrap();
        let adds = semaphore.clone();
        after(LATER, move || adds.add_permits(1));
        drop(semaphore.acquire().await.unwrap());
    });
}

async fn permits_that_are_forgotten_and_added() {
    let semaphore = Arc::new(Semaphore::new(2));
    spawn(async move {
        let permit = semaphore.acquire().await.unwrap();
        SemaphorePermit::forget(semaphore.acquire().await.unwrap());
        let adds = semaphore.clone();
        after(LATER, move || adds.add_permits(1));
        drop(semaphore.acquire().await.unwrap());
        drop(permit);
    });
}

async fn permits_moved_to_a_task() {
    let semaphore = Arc::new(Semaphore::new(1));
    spawn(async move {
        let permit = semaphore.clone().acquire_owned().await.unwrap();
        spawn(async move {
            sleep(LATER).await;
            drop(permit);
        });
        drop(semaphore.acquire().await.unwrap());
    });
}

async fn permits_split_and_moved_to_a_thread() {
    let semaphore = Arc::new(Semaphore::new(4));
    spawn(async move {
        let mut permit = semaphore.clone().acquire_many_owned(4).await.unwrap();
        let half = permit.split(2).unwrap();
        after(LATER, move || drop(half));
        drop(semaphore.acquire_many(2).await.unwrap());
    });
}

async fn a_timeout() {
    crosswise(|other| async move {
        let _ = timeout(LATER, other.lock()).await;
    })
    .await;
}

async fn an_abort_by_another_task() {
    let locks = locks();
    let tasks: [_; 2] = array::from_fn(|i| {
        let (mine, other) = (locks[i].clone(), locks[1 - i].clone());
        spawn(async move {
            let _mine = mine.lock().await;
            sleep(ms(20)).await;
            drop(other.lock().await);
        })
    });
    spawn(async move {
        sleep(LATER).await;
        tasks[0].abort();
    });
}

/// Two tasks join one another, until a thread aborts one.
async fn an_abort_of_joined_tasks() {
    let (sender, receiver) = oneshot::channel::<JoinHandle<()>>();
    let first = spawn(async move {
        let _ = receiver.await.unwrap().await;
    });
    let abort = first.abort_handle();
    let second = spawn(async move {
        let _ = first.await;
    });
    sender.send(second).unwrap();
    after(LATER, move || abort.abort());
}

/// Two tasks seem to join one another, but one of them has dropped the handle.
async fn a_join_handle_that_is_polled_once_and_dropped() {
    let (sender, receiver) = oneshot::channel::<JoinHandle<()>>();
    let first = spawn(async move {
        let foreign = Foreign::set_later();
        let mut second = receiver.await.unwrap();
        let _ = poll_once(&mut second).await;
        drop(second);
        foreign.await;
    });
    let second = spawn(async move { first.await.unwrap() });
    sender.send(second).unwrap();
}

async fn a_join_next_to_a_foreign_future() {
    let (sender, receiver) = oneshot::channel::<JoinHandle<()>>();
    let first = spawn(async move {
        let second = receiver.await.unwrap();
        raddle::select! { _ = second => {}, () = Foreign::set_later() => {} }
    });
    let second = spawn(async move { first.await.unwrap() });
    sender.send(second).unwrap();
}

/// The tasks of the set are parts of one task, which seems to wait for a lock that it holds.
async fn a_lock_of_a_local_set() {
    spawn_blocking(|| {
        let handle = raddle::runtime::Handle::current();
        let set = LocalSet::new();
        set.spawn_local(async {
            let lock = std::rc::Rc::new(Mutex::new(()));
            let other = lock.clone();
            let holder = raddle::task::spawn_local(async move {
                let _guard = other.lock().await;
                sleep(LATER).await;
            });
            raddle::task::yield_now().await;
            drop(lock.lock().await);
            holder.await.unwrap();
        });
        handle.block_on(set);
    });
}

/// A task waits for a message of the sender that it has used itself before.
async fn a_sender_moved_to_a_thread() {
    let (sender, mut receiver) = mpsc::channel(1);
    let shared = Arc::new(StdMutex::new(Some(sender)));
    spawn(async move {
        let sender = shared.lock().unwrap().take().unwrap();
        sender.send(1).await.unwrap();
        assert_eq!(receiver.recv().await, Some(1));
        after(LATER, move || sender.try_send(2).unwrap());
        assert_eq!(receiver.recv().await, Some(2));
    });
}
