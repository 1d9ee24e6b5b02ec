//! A task keeps a lock while it waits for something slow. All requests that need the lock wait
//! with it, while the workers are idle.

use std::sync::Arc;
use std::time::Duration;

use raddle::sync::Mutex;
use raddle::time::{interval, sleep};

type Statistics = Arc<Mutex<Vec<u64>>>;

pub(crate) async fn serve() {
    let statistics = Statistics::default();
    raddle::spawn(send_statistics(statistics.clone()));
    let mut clock = interval(Duration::from_millis(20));
    for number in 0.. {
        clock.tick().await;
        raddle::spawn(answer(statistics.clone(), number));
    }
}

async fn answer(statistics: Statistics, number: u64) {
    statistics.lock().await.push(number);
}

/// The fault. To take the values out, unlock and then send mends it.
async fn send_statistics(statistics: Statistics) {
    loop {
        let mut values = statistics.lock().await;
        send(&values).await;
        values.clear();
    }
}

/// A network that is slow today.
async fn send(_values: &[u64]) {
    sleep(Duration::from_secs(10)).await;
}
