/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod process {
        pub use raddle_process::*;
    }
    pub mod signal {
        pub use raddle_process::signal::*;
    }
    pub mod io {
        pub use raddle_io::*;
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
