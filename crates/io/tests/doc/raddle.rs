/// The names of the facade that the examples of this layer use.
mod raddle {
    pub use raddle_testing::executor::spawn;

    pub mod io {
        pub use raddle_io::*;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        raddle_testing::executor::run_with(example, || std::thread::park_timeout(std::time::Duration::from_millis(2)))
    }
}
