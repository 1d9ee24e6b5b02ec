//! hyper's time-outs on Raddle's timers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use pin_project_lite::pin_project;

/// Makes hyper's sleeps timers of the current runtime.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RaddleTimer;

impl RaddleTimer {
    /// Makes a timer source. It has no state: the runtime is the one that the thread is in when
    /// hyper sleeps.
    pub fn new() -> Self {
        Self
    }
}

pin_project! {
    /// A sleep made by [`RaddleTimer`].
    #[derive(Debug)]
    pub struct RaddleSleep {
        #[pin]
        sleep: raddle::time::Sleep,
    }
}

impl Timer for RaddleTimer {
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime with timers.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(RaddleSleep {
            sleep: raddle::time::sleep(duration),
        })
    }

    /// # Panics
    ///
    /// Panics if the thread is not in a runtime with timers.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(RaddleSleep {
            sleep: raddle::time::sleep_until(deadline.into()),
        })
    }

    fn now(&self) -> Instant {
        raddle::time::Instant::now().into()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<RaddleSleep>() {
            Some(sleep) => sleep.project().sleep.reset(deadline.into()),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl Future for RaddleSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

impl Sleep for RaddleSleep {}
