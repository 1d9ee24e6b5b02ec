/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod task {
        pub mod coop {
            pub use raddle_leaf::coop::*;
        }
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        raddle_testing::executor::run_with(example, std::thread::yield_now)
    }
}
