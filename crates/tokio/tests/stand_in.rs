//! What the stand-in adds to the facade: its name in the code of the attributes.
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
