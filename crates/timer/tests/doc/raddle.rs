/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod time {
        pub use raddle_timer::*;
        pub use std::time::Duration;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        let mut timers = raddle_timer::Timers::new(std::sync::Arc::new(|| {}));
        let handle = timers.handle();
        let _entered = handle.enter();
        raddle_testing::executor::run_with(example, || {
            std::thread::park_timeout(std::time::Duration::from_millis(1));
            timers.fire_due();
        })
    }
}
