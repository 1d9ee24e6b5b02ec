/// The names of the facade that the examples of this layer use.
mod raddle {
    pub use raddle_testing::executor::spawn;

    pub mod net {
        pub use raddle_net::*;
    }
    pub mod time {
        /// Sockets have no timers: no example that runs sleeps.
        pub async fn sleep(_: std::time::Duration) {}
    }
    pub mod io {
        pub use raddle_io::*;
        pub use raddle_net::async_fd as unix;
        pub use raddle_reactor::Interest;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        let mut reactor = raddle_reactor::Reactor::new().unwrap();
        let handle = reactor.handle();
        let _entered = handle.enter();
        raddle_testing::executor::run_with(example, || {
            reactor.turn(Some(std::time::Duration::from_millis(2)), 64).unwrap();
        })
    }
}
