/// The names of the facade that the examples of this layer use.
mod raddle {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../raddle/tests/doc/executor.rs"));

    pub mod sync {
        pub use raddle_sync::*;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        run_with(example, || std::thread::park_timeout(std::time::Duration::from_millis(2)))
    }
}
