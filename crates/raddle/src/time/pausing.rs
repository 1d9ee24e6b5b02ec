//! Pausing the clock of a runtime.

use std::future::Future;

use raddle_leaf::misuse::{Misuse, at_caller};

use crate::runtime::{Handle, RuntimeFlavor};
use crate::task;
use crate::time::Duration;

pub use raddle_timer::AutoAdvanceHold;

/// Pauses the clock of the current runtime. Time then advances only by [`advance`], or
/// automatically when the runtime has nothing to do except wait for a timer; with
/// [`hold_auto_advance`] only by [`advance`].
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

/// Prevents the automatic advance of the paused clock until the guard is dropped: then only
/// [`advance`] moves it. A runtime that has nothing to do waits for an event or another thread.
///
/// It is for a test that talks to another process or thread, whose answers take real time, and for
/// one that decides itself when each timer fires. The clock may be paused before or after, by
/// [`pause`] or by [`start_paused`](crate::runtime::Builder::start_paused); while it runs, the
/// guard has no effect. The guard may be moved to another task or thread. With several guards, the
/// last one that is dropped counts.
///
/// # Panics
///
/// Panics if the thread is not in a current-thread runtime that was built with
/// [`enable_time`](crate::runtime::Builder::enable_time).
///
/// # Examples
///
/// ```
/// use raddle::sync::oneshot;
/// use raddle::time::{self, Duration, Instant, sleep, timeout};
///
/// # #[raddle::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hold = time::hold_auto_advance();
/// let start = Instant::now();
/// let (sender, answer) = oneshot::channel();
/// std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_millis(20));
///     sender.send("an answer")
/// });
/// // The runtime is idle until the thread answers. Without the hold, the time-out would pass.
/// assert_eq!(timeout(Duration::from_secs(1), answer).await??, "an answer");
/// assert_eq!(start.elapsed(), Duration::ZERO);
///
/// time::advance(Duration::from_secs(5)).await;
/// assert_eq!(start.elapsed(), Duration::from_secs(5));
/// drop(hold);
/// // From here on, time advances to the next timer again.
/// sleep(Duration::from_secs(60)).await;
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn hold_auto_advance() -> AutoAdvanceHold {
    timers().hold_auto_advance()
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
#[track_caller]
pub fn advance(duration: Duration) -> impl Future<Output = ()> {
    let advanced = async move {
        advance_now(duration)?;
        task::yield_now().await;
        Ok(())
    };
    at_caller(advanced, |advanced| advanced)
}

fn advance_now(duration: Duration) -> Result<(), Misuse> {
    let (handle, timers) = pausable()?;
    if !timers.is_paused() {
        return Err(Misuse::new(
            "the clock is not paused; call time::pause first",
        ));
    }
    if timers.now().checked_add(duration).is_none() {
        return Err(Misuse::new(
            "the clock cannot be advanced that far; advance by less",
        ));
    }
    match handle.scheduler().current_worker() {
        Some(_) => timers.advance_on_owner(duration),
        // Another thread may be parked in the driver.
        None => {
            timers.advance(duration);
            timers.fire_due()
        }
    };
    Ok(())
}

/// The timers of the current runtime, whose clock can be paused.
#[track_caller]
fn timers() -> raddle_timer::Handle {
    match pausable() {
        Ok((_, timers)) => timers,
        Err(misuse) => misuse.panic(),
    }
}

/// The current runtime, and its timers, whose clock can be paused.
fn pausable() -> Result<(Handle, raddle_timer::Handle), Misuse> {
    let handle = Handle::try_current().map_err(|error| Misuse::new(error.to_string()))?;
    if handle.runtime_flavor() != RuntimeFlavor::CurrentThread {
        return Err(Misuse::new(
            "only the clock of a current-thread runtime can be paused; \
             build one with Builder::new_current_thread",
        ));
    }
    match handle.driver(0).timers.clone() {
        Some(timers) => Ok((handle, timers)),
        None => Err(Misuse::new(
            "this runtime has no timers; call Builder::enable_time or Builder::enable_all",
        )),
    }
}
