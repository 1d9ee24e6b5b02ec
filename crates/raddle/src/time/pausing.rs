//! Pausing the clock of a runtime.

use crate::runtime::{Handle, RuntimeFlavor};
use crate::task;
use crate::time::Duration;

/// Pauses the clock of the current runtime: time then passes only by [`advance`],
/// or by itself when there is nothing to do but wait for a timer.
///
/// The clock stops at the next whole millisecond of its run, so that a sleep
/// of so many milliseconds takes exactly as many. std's clock, and whatever
/// the operating system waits for, go on.
///
/// ```
/// use raddle::time::{self, Duration, Instant};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// time::pause();
/// let start = Instant::now();
/// time::sleep(Duration::from_secs(60)).await;
/// assert_eq!(start.elapsed(), Duration::from_secs(60));
/// # }
/// ```
///
/// # Panics
///
/// Panics if the clock is already paused, and if the thread is not in a current-thread runtime that
/// was built with [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn pause() {
    timers().pause();
}

/// Lets the paused clock run again, from the time it shows.
///
/// # Panics
///
/// Panics if the clock is not paused, and in the same cases as [`pause`].
///
/// # Examples
///
/// ```
/// use raddle::time::{self, Duration, Instant};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// time::pause();
/// time::sleep(Duration::from_secs(60)).await;
/// // From here on the clock runs.
/// time::resume();
/// let start = Instant::now();
/// time::sleep(Duration::from_millis(1)).await;
/// assert!(start.elapsed() >= Duration::from_millis(1));
/// # }
/// ```
#[track_caller]
pub fn resume() {
    timers().resume();
}

/// Moves the paused clock forward by `duration`, wakes what waits for a deadline
/// that this reaches, and lets other tasks run.
///
/// The clock makes one step. A task that it wakes and that sleeps again counts from the end of that
/// step: to see each tick of an interval at its time, advance by less, or await a sleep instead.
/// The other tasks need not all have run when the future is ready; the timers have all fired.
///
/// # Cancel safety
///
/// Once polled, the clock has moved. Dropping the future is not to wait for the
/// other tasks.
///
/// # Panics
///
/// When polled, if the clock is not paused, if it cannot count that far, or as
/// [`pause`].
///
/// # Examples
///
/// ```
/// use raddle::time::{self, Duration, sleep};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// time::pause();
/// let task = raddle::spawn(sleep(Duration::from_secs(60)));
/// raddle::task::yield_now().await;
/// time::advance(Duration::from_secs(59)).await;
/// assert!(!task.is_finished());
/// time::advance(Duration::from_secs(1)).await;
/// task.await?;
/// # Ok(())
/// # }
/// ```
pub async fn advance(duration: Duration) {
    {
        let timers = timers();
        timers.advance(duration);
        timers.fire_due();
    }
    task::yield_now().await;
}

/// The timers of the current runtime, whose clock can be paused.
#[track_caller]
fn timers() -> raddle_timer::Handle {
    let handle = Handle::current();
    assert!(
        handle.runtime_flavor() == RuntimeFlavor::CurrentThread,
        "only the clock of a current-thread runtime can be paused; \
         build one with Builder::new_current_thread"
    );
    match &handle.driver(0).timers {
        Some(timers) => timers.clone(),
        None => panic!("this runtime has no timers; call Builder::enable_time"),
    }
}
