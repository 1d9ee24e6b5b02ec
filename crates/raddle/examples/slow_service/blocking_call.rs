//! A handler calls a function that blocks its thread. While it does, the other requests of that
//! worker wait.

use std::thread;
use std::time::Duration;

use raddle::time::interval;

pub(crate) async fn serve() {
    let mut clock = interval(Duration::from_millis(10));
    for number in 0.. {
        clock.tick().await;
        if number % 10 == 0 {
            raddle::spawn(hash_a_password());
        }
        raddle::spawn(answer());
    }
}

async fn answer() {
    raddle::task::yield_now().await;
}

/// The fault. `spawn_blocking` mends it.
async fn hash_a_password() {
    thread::sleep(Duration::from_millis(60));
}
