//! Other programs use the processor. The tasks of the service are quick and its queues short, but
//! its threads are not running when they could.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use raddle::time::interval;

/// How long the other programs run.
const BUSY: Duration = Duration::from_secs(2);

pub(crate) async fn serve() {
    take_the_processor();
    let mut clock = interval(Duration::from_millis(1));
    loop {
        clock.tick().await;
        raddle::spawn(answer());
    }
}

async fn answer() {
    let mut sum = 0_u64;
    for number in 0..20_000 {
        sum = hint::black_box(sum.wrapping_add(number));
    }
}

/// The fault: busy threads in place of other programs, twice as many as processors. More
/// processors, or a quota for the others, mend it.
fn take_the_processor() {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..2 * processors {
        thread::spawn(|| {
            let start = Instant::now();
            while start.elapsed() < BUSY {
                hint::spin_loop();
            }
        });
    }
}
