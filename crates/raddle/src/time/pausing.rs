//! Pausing the clock of a runtime.

use crate::runtime::{Handle, RuntimeFlavor};
use crate::task;
use crate::time::Duration;

/// Pauses the clock of the current runtime. Time then advances only by [`advance`], or
/// automatically when the runtime has nothing to do except wait for a timer.
///
/// The clock pauses at the next whole millisecond, so that a sleep of `n` milliseconds takes
/// exactly `n` milliseconds. std's clock and waits of the operating system are not affected.
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

/// Resumes the paused clock from its current time.
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

/// Advances the paused clock by `duration`, fires the timers that are due then, and lets other
/// tasks run.
///
/// The clock advances in one step. If a task that is woken sleeps again, that sleep starts at the
/// end of the step. To see each tick of an interval at its time, advance by less, or await a sleep
/// instead. When the future is ready, all due timers have fired, but the woken tasks may not all
/// have run.
///
/// # Cancel safety
///
/// The first poll advances the clock. Dropping the future after that only stops waiting for the
/// other tasks.
///
/// # Panics
///
/// The poll panics if the clock is not paused, if it cannot count that far, and in the same cases
/// as [`pause`].
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
        match Handle::current().scheduler().current_worker() {
            Some(_) => timers.advance_on_owner(duration),
            // Another thread may be parked in the driver.
            None => {
                timers.advance(duration);
                timers.fire_due()
            }
        };
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
