//! What the crate `tokio` adds to the facade: its attributes and macros generate code that names
//! it.
#![cfg(all(feature = "full", feature = "test-util"))]

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

#[tokio::test]
async fn a_test_runs_on_a_current_thread_runtime() {
    assert_eq!(
        Handle::current().runtime_flavor(),
        RuntimeFlavor::CurrentThread
    );
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_passes_an_hour_at_once() {
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
}

#[tokio::main(worker_threads = 2)]
async fn on_two_workers() -> usize {
    Handle::current().metrics().num_workers()
}

#[test]
fn a_main_function_runs_on_a_multi_thread_runtime() {
    assert_eq!(on_two_workers(), 2);
}

#[tokio::test]
async fn macros_find_their_helpers_in_the_stand_in() {
    tokio::task_local! {
        static NUMBER: u32;
    }
    let ready = async { 1 };
    tokio::pin!(ready);
    let first = tokio::select! {
        number = &mut ready => number,
        number = std::future::pending::<u32>() => number,
    };
    assert_eq!(tokio::join!(async { first }, async { 2 }), (1, 2));
    assert_eq!(tokio::try_join!(async { Ok::<_, ()>(3) }), Ok((3,)));
    assert_eq!(NUMBER.scope(4, async { NUMBER.get() }).await, 4);
}

/// Programs with `#![deny(warnings)]` discard values of these types, which Tokio allows. It
/// suffices that this function compiles.
#[deny(unused_must_use)]
#[tokio::test]
async fn discarded_permits_guards_and_receivers_are_no_warnings() {
    use std::sync::Arc;
    use tokio::sync::{Mutex, OwnedRwLockWriteGuard, RwLock, RwLockWriteGuard, mpsc, oneshot};

    let receiver = || oneshot::channel::<()>().1;
    receiver();

    let (sender, _receiver) = mpsc::channel::<()>(2);
    sender.reserve().await.unwrap();
    sender.reserve_many(2).await.unwrap();
    sender.clone().reserve_owned().await.unwrap();

    let mutex = Arc::new(Mutex::new(0));
    mutex.lock_owned().await;
    let lock = Arc::new(RwLock::new((0, 0)));
    lock.clone().read_owned().await;
    lock.clone().write_owned().await;
    OwnedRwLockWriteGuard::map(lock.clone().write_owned().await, |pair| &mut pair.0);
    RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.1);
}
