/// The names of the facade that the examples of this layer use.
mod raddle {
    mod executor {
        include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../raddle/tests/doc/executor.rs"));
    }
    pub mod task {
        pub mod coop {
            pub use raddle_coop::*;
        }
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        executor::run_with(example, std::thread::yield_now)
    }
}
